"""Null space by elimination: every dependent row of J is a combination of the independent ones."""

from __future__ import annotations

import numpy as np

from mbplugin.analysis.tools.verdict import RowVerdict, from_left_null_basis
from mbplugin.constraints.reduction.reduce import ReducedBlock
from mbplugin.lapack import pivot_order
from mbplugin.model.spatial import Array


def row_uniqueness(reduced: ReducedBlock, redundancy: int, zero: float) -> RowVerdict:
    """Judge every row of a block from the weights with which others replace the dependent rows."""
    return from_left_null_basis(reduced, left_null_basis(reduced.J, redundancy), zero)


def left_null_basis(J: Array, redundancy: int) -> Array:
    """Return a basis (k, p) of the left null space of J (k, f): a vector for each dependent row."""
    order = pivot_order(J.T)
    independent, dependent = order[: len(J) - redundancy], order[len(J) - redundancy :]
    mu = np.zeros((len(J), redundancy))
    mu[dependent] = np.eye(redundancy)
    mu[independent] = -np.linalg.lstsq(J[independent].T, J[dependent].T, rcond=None)[0]
    return mu
