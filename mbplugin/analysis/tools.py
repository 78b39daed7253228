"""The uniqueness tools, with a common signature: each finds the non-unique reactions of a block.

A tool takes a reduced block, its degree of redundancy p (decided beforehand, so the same for all tools)
and the size below which an entry of a unit self-stress counts as zero. It returns a :class:`RowVerdict`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.reduction.reduce import ReducedBlock
from mbplugin.lapack import pivot_order, pivoted_qr
from mbplugin.model.spatial import AnyArray, Array

# Rank comparison in absolute coordinates: X is unique iff rank C_X + rank C_Y = rank C.


def uniqueness_by_rank(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row and every constraint of a block by the ranks of the row itself and of all others.

    The excess of rank C_X + rank C_Y over rank C is the dimension of the intersection of the row spaces of X and
    the rest Y, which is the dimension of X's indeterminate reaction. The threshold for the ranks of parts lies in
    the gap between the singular values of the whole C, whose rank was decided beforehand.
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
    """Return the geometric mean of the singular values of C (m, n) on both sides of the gap below number ``rank``.

    ``rounding`` is the size of rounding errors, in machine epsilons relative to the largest singular value.
    """
    sigma = np.linalg.svd(C, compute_uv=False)
    floor = rounding * np.finfo(float).eps * float(sigma[0])
    beyond = max(float(sigma[rank]) if rank < len(sigma) else 0.0, floor)
    return float(np.sqrt(beyond * max(float(sigma[rank - 1]), beyond))) if rank else 2 * beyond


def rank_above(C: Array, threshold: float) -> int:
    """Return the number of singular values of C (m, n) above a threshold."""
    return int((np.linalg.svd(C, compute_uv=False) > threshold).sum()) if C.size else 0


# Null space by elimination: every dependent row of J is a combination of the independent ones.


def uniqueness_by_null_space(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the dependent rows, written as combinations of the independent ones."""
    return from_left_null_basis(reduced, left_null_basis_by_elimination(reduced.J, redundancy), zero)


def left_null_basis_by_elimination(J: Array, redundancy: int) -> Array:
    """Return a basis (k, p) of the left null space of J (k, f): one vector for each dependent row."""
    order = pivot_order(J.T)
    independent, dependent = order[: len(J) - redundancy], order[len(J) - redundancy :]
    mu = np.zeros((len(J), redundancy))
    mu[dependent] = np.eye(redundancy)
    mu[independent] = -np.linalg.lstsq(J[independent].T, J[dependent].T, rcond=None)[0]
    return mu


# Pivoted QR: the left null space is the last columns of Q (wojtyra2013 (21)–(27)).


def uniqueness_by_qr(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the QR decomposition J E = Q R."""
    return from_left_null_basis(reduced, left_null_basis_by_qr(reduced.J, redundancy), zero)


def left_null_basis_by_qr(J: Array, redundancy: int) -> Array:
    """Return an orthonormal basis (k, p) of the left null space of J (k, f)."""
    Q = pivoted_qr(J)[0]
    return Q[:, len(Q) - redundancy :]


# Singular value decomposition: the left null space is the last left singular vectors.


def uniqueness_by_svd(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the decomposition J = U Σ Vᵀ."""
    return from_left_null_basis(reduced, left_null_basis_by_svd(reduced.J, redundancy), zero)


def left_null_basis_by_svd(J: Array, redundancy: int) -> Array:
    """Return an orthonormal basis (k, p) of the left null space of J (k, f)."""
    U = np.linalg.svd(J)[0]
    return np.asarray(U[:, len(U) - redundancy :])


@dataclass(frozen=True, eq=False)
class RowVerdict:
    """Uniqueness of the multipliers of one block.

    Parameters
    ----------
    unique : (m,) bool array
        Per row, in the order of ``ReducedBlock.labels``.
    indeterminate_dim : dict of constraint name to int
        Dimension of the family of possible reactions.
    """

    unique: AnyArray
    indeterminate_dim: dict[str, int]


def from_self_stresses(reduced: ReducedBlock, Z: Array, zero: float) -> RowVerdict:
    """Return the verdict from self-stresses Z (m, s): a basis, or at least six random ones.

    A row is unique iff it is zero in Z; the rank of a constraint's rows is the dimension of its
    indeterminate reaction. A random vector of the left null space is zero in a row exactly when that
    row is unique, with probability one.
    """
    unique = np.linalg.norm(Z, axis=1) <= zero
    first = np.cumsum([0, *(len(rows.components) for rows in reduced.rows)])
    dims = {rows.constraint: 0 for rows in reduced.rows}
    alike: dict[int, list[int]] = {}
    for k, rows in enumerate(reduced.rows):
        if not unique[first[k] : first[k + 1]].all():
            alike.setdefault(len(rows.components), []).append(k)
    for count, members in alike.items():
        Z_X = Z[first[members][:, None] + np.arange(count)]
        ranks = (np.linalg.svd(Z_X, compute_uv=False) > zero).sum(axis=1)
        dims.update((reduced.rows[k].constraint, max(1, int(r))) for k, r in zip(members, ranks, strict=True))
    return RowVerdict(unique, dims)


def from_left_null_basis(reduced: ReducedBlock, mu: Array, zero: float) -> RowVerdict:
    """Extend a left null basis mu (k, p) of J to all rows by statics, and return the verdict from it."""
    Z = np.linalg.qr(reduced.self_stresses(mu))[0]
    return from_self_stresses(reduced, np.asarray(Z), zero)


Tool = Callable[[ReducedBlock, int, float], RowVerdict]

#: Tools by the value of the option ``method``.
TOOLS: dict[str, Tool] = {
    "qr": uniqueness_by_qr,
    "svd": uniqueness_by_svd,
    "nullspace": uniqueness_by_null_space,
    "rank": uniqueness_by_rank,
}
