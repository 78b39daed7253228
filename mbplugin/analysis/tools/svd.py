"""Singular value decomposition: the left null space is the last left singular vectors."""

from __future__ import annotations

import numpy as np

from mbplugin.analysis.tools.verdict import RowVerdict, from_left_null_basis
from mbplugin.constraints.reduction.reduce import ReducedBlock
from mbplugin.model.spatial import Array


def row_uniqueness(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the decomposition J = U Σ Vᵀ."""
    return from_left_null_basis(reduced, left_null_basis(reduced.J, redundancy), zero)


def left_null_basis(J: Array, redundancy: int) -> Array:
    """Return an orthonormal basis (k, p) of the left null space of J (k, f)."""
    U = np.linalg.svd(J)[0]
    return np.asarray(U[:, len(U) - redundancy :])
