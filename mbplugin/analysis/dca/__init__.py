"""The divide-and-conquer uniqueness test in relative coordinates (pekal2024)."""

from mbplugin.analysis.dca.preconditions import DcaNotApplicable
from mbplugin.analysis.dca.result import DcaResult, DcaVerdict
from mbplugin.analysis.dca.tools import TOOLS, GroupUniqueness
from mbplugin.analysis.dca.trace import explain
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
