"""Rank, redundancy, uniqueness of reactions, flexibility and remedies."""

from mbplugin.analysis.analysis import analyze_mechanism
from mbplugin.analysis.result import Analysis

__all__ = ["Analysis", "analyze_mechanism"]
