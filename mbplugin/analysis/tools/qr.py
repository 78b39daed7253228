"""Pivoted QR: the left null space is the last columns of Q (wojtyra2013 (21)–(27))."""

from __future__ import annotations

from mbplugin.analysis.tools.verdict import RowVerdict, from_left_null_basis
from mbplugin.constraints.reduction.reduce import ReducedBlock
from mbplugin.model.spatial import Array


def row_uniqueness(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the QR decomposition J E = Q R."""
    return from_left_null_basis(reduced, left_null_basis(reduced.J, redundancy), zero)


def left_null_basis(J: Array, redundancy: int) -> Array:
    """Return an orthonormal basis (k, p) of the left null space of J (k, f)."""
    # here, because linting a robot without loops needs no scipy, which takes long to import
    import scipy.linalg

    Q: Array = scipy.linalg.qr(J, pivoting=True)[0]
    return Q[:, len(Q) - redundancy :]
