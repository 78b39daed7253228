"""Singular value decomposition: the left null space is the last left singular vectors."""

from __future__ import annotations

import numpy as np

from mbplugin.analysis.tools.verdict import RowVerdict, from_left_null_basis
from mbplugin.constraints.reduction.reduce import ReducedBlock


def row_uniqueness(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the decomposition J = U Σ Vᵀ."""
    U = np.linalg.svd(reduced.J)[0]
    return from_left_null_basis(reduced, U[:, len(U) - redundancy :], zero)
