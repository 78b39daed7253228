"""Rank, redundancy, uniqueness of reactions, flexibility and remedies."""

from mbplugin.analysis.analysis import Analysis, analyze_mechanism

__all__ = ["Analysis", "analyze_mechanism"]
