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
    threshold = _gap(C, rank)

    def shared(rows: AnyArray) -> int:
        return _rank(C[rows], threshold) + _rank(np.delete(C, rows, axis=0), threshold) - rank

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


def _gap(C: Array, rank: int) -> float:
    """Return a bound in the middle of the gap between the singular values of C (m, n) that count and the rest."""
    sigma = np.linalg.svd(C, compute_uv=False)
    floor = 1e3 * np.finfo(float).eps * float(sigma[0])
    beyond = max(float(sigma[rank]) if rank < len(sigma) else 0.0, floor)
    return float(np.sqrt(beyond * max(float(sigma[rank - 1]), beyond)))


def _rank(C: Array, threshold: float) -> int:
    """Return how many singular values of C (m, n) exceed a threshold."""
    return int((np.linalg.svd(C, compute_uv=False) > threshold).sum()) if C.size else 0
