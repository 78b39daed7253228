"""Pivoted QR: the left null space is the last columns of Q (wojtyra2013 (21)–(27))."""

from __future__ import annotations

from mbplugin.analysis.tools.verdict import RowVerdict, from_left_null_basis
from mbplugin.constraints.reduction.reduce import ReducedBlock


def row_uniqueness(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the QR decomposition J E = Q R."""
    # here, because linting a robot without loops needs no scipy, which takes long to import
    import scipy.linalg

    Q = scipy.linalg.qr(reduced.J, pivoting=True)[0]
    return from_left_null_basis(reduced, Q[:, len(Q) - redundancy :], zero)
