"""Pivoted QR: the left null space is the last columns of Q (wojtyra2013 (21)–(27))."""

from __future__ import annotations

import scipy.linalg

from mbplugin.analysis.tools.verdict import RowVerdict, from_left_null_basis
from mbplugin.constraints.reduction.reduce import ReducedBlock


def row_uniqueness(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the QR decomposition J E = Q R."""
    Q = scipy.linalg.qr(reduced.J, pivoting=True)[0]
    return from_left_null_basis(reduced, Q[:, len(Q) - redundancy :], zero)
