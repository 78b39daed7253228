"""Pivoted QR: the left null space is the last columns of Q (wojtyra2013 (21)–(27))."""

from __future__ import annotations

from mbplugin.analysis.tools.verdict import RowVerdict, from_left_null_basis
from mbplugin.constraints.reduction.reduce import ReducedBlock
from mbplugin.lapack import pivoted_qr
from mbplugin.model.spatial import Array


def row_uniqueness(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the QR decomposition J E = Q R."""
    return from_left_null_basis(reduced, left_null_basis(reduced.J, redundancy), zero)


def left_null_basis(J: Array, redundancy: int) -> Array:
    """Return an orthonormal basis (k, p) of the left null space of J (k, f)."""
    Q = pivoted_qr(J)[0]
    return Q[:, len(Q) - redundancy :]
