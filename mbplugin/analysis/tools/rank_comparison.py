"""Rank comparison in absolute coordinates: X is unique iff rank C_X + rank C_Y = rank C."""

from __future__ import annotations

import numpy as np

from mbplugin.analysis.tools.verdict import RowVerdict
from mbplugin.constraints.reduction.reduce import ReducedBlock
from mbplugin.model.spatial import AnyArray, Array


def row_uniqueness(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row and every constraint of a block by what its removal does to the rank.

    The excess of rank C_X + rank C_Y over rank C is the dimension that X and the rest share, the
    dimension of X's indeterminate reaction. Ranks of parts are counted in the gap of the whole C, whose
    rank was decided beforehand.
    """
    C = reduced.dense()
    rank = len(C) - redundancy
    threshold = gap_threshold(C, rank, 1e3)

    def shared(rows: AnyArray) -> int:
        return rank_above(C[rows], threshold) + rank_above(np.delete(C, rows, axis=0), threshold) - rank

    dims: dict[str, int] = {}
    unique = np.ones(len(C), dtype=bool)
    start = 0
    for rows in reduced.rows:
        mine = np.arange(start, start + len(rows.components))
        start += len(mine)
        dims[rows.constraint] = max(0, shared(mine))
        if dims[rows.constraint]:
            unique[mine] = [shared(mine[k : k + 1]) <= 0 for k in range(len(mine))]
    return RowVerdict(unique, dims)


def gap_threshold(C: Array, rank: int, rounding: float) -> float:
    """Return a bound in the middle of the gap between the singular values of C (m, n) that count and the rest.

    ``rounding`` is what the smallest of them may be by rounding, in units of it beside the largest.
    """
    sigma = np.linalg.svd(C, compute_uv=False)
    floor = rounding * np.finfo(float).eps * float(sigma[0])
    beyond = max(float(sigma[rank]) if rank < len(sigma) else 0.0, floor)
    return float(np.sqrt(beyond * max(float(sigma[rank - 1]), beyond))) if rank else 2 * beyond


def rank_above(C: Array, threshold: float) -> int:
    """Return how many singular values of C (m, n) exceed a threshold."""
    return int((np.linalg.svd(C, compute_uv=False) > threshold).sum()) if C.size else 0
