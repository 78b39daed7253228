"""The divide-and-conquer uniqueness test in relative coordinates (pekal2024)."""

from mbplugin.analysis.dca.propagation import TOOLS, DcaNotApplicable, GroupUniqueness
from mbplugin.analysis.dca.trace import DcaResult, DcaVerdict, explain
from mbplugin.analysis.dca.uniqueness import dca_uniqueness

__all__ = [
    "TOOLS",
    "DcaNotApplicable",
    "DcaResult",
    "DcaVerdict",
    "GroupUniqueness",
    "dca_uniqueness",
    "explain",
]
