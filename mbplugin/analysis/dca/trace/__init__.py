"""The test in words: its steps, in the order of pekal2024 §4."""

from mbplugin.analysis.dca.trace.steps import explain

__all__ = ["explain"]
