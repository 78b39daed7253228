"""The uniqueness tools behind one contract: what the rigid model leaves open in a block.

A tool takes a reduced block, its degree of redundancy p — decided beforehand and the same for all tools
— and the size below which an entry of a unit self-stress is zero. It returns a :class:`RowVerdict`.
"""

from __future__ import annotations

from collections.abc import Callable

from mbplugin.analysis.tools import null_space, qr, rank_comparison, svd
from mbplugin.analysis.tools.verdict import RowVerdict
from mbplugin.constraints.reduction.reduce import ReducedBlock

Tool = Callable[[ReducedBlock, int, float], RowVerdict]

#: By the name of the option ``method``.
TOOLS: dict[str, Tool] = {
    "qr": qr.judge,
    "svd": svd.judge,
    "nullspace": null_space.judge,
    "rank": rank_comparison.judge,
}

__all__ = ["TOOLS", "RowVerdict", "Tool"]
