"""The uniqueness tools behind one contract: the non-unique reactions of a block.

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
    "qr": qr.row_uniqueness,
    "svd": svd.row_uniqueness,
    "nullspace": null_space.row_uniqueness,
    "rank": rank_comparison.row_uniqueness,
}

__all__ = ["TOOLS", "RowVerdict", "Tool"]
