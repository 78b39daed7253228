"""Rank of a reduced block at a tolerance, and the left null space of the whole matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.matrix import ConstraintMatrix
from mbplugin.constraints.reduction.blocks import find_blocks
from mbplugin.constraints.reduction.reduce import ReducedBlock, reduce_blocks
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Singular values of a block's scaled closure Jacobian, relative to its largest.

    Parameters
    ----------
    rows : int
        Rows of J; missing singular values are zero.
    relative : (min(k, f),) array
        Decreasing. Where even the largest is small against one — a row of J is a unit wrench times
        unit twists — the whole block is redundant, and one is the reference.
    """

    rows: int
    relative: Array

    def rank(self, tolerance: float) -> int:
        """Return how many singular values exceed a relative tolerance."""
        return int((self.relative > tolerance).sum())

    def redundancy(self, tolerance: float) -> int:
        """Return rows minus rank at a tolerance."""
        return self.rows - self.rank(tolerance)


def spectrum(J: Array) -> Spectrum:
    """Return the singular values of a scaled closure Jacobian J (k, f)."""
    if 0 in J.shape:
        return Spectrum(len(J), np.zeros(0))
    sigma = np.linalg.svd(J, compute_uv=False)
    return Spectrum(len(J), np.asarray(sigma / max(float(sigma[0]), 1.0), dtype=float))


def block_null_space(reduced: ReducedBlock, redundancy: int) -> Array:
    """Return an orthonormal basis (m, p) of the scaled self-stresses of a block (p decided before)."""
    if redundancy == 0:
        return np.zeros((len(reduced.labels), 0))
    U = np.linalg.svd(reduced.J)[0]
    return np.asarray(np.linalg.qr(reduced.self_stresses(U[:, len(U) - redundancy :]))[0])


def left_null_space(matrix: ConstraintMatrix, tolerance: float) -> Array:
    """Return Z (m, p) of a constraint matrix: unit self-stresses, block by block."""
    poses = forward(matrix.mechanism, matrix.q)
    columns = plane_columns(matrix.planar)
    position = {label: k for k, label in enumerate(matrix.rows)}
    parts = []
    for reduced in reduce_blocks(matrix.mechanism, poses, find_blocks(matrix.mechanism), columns, matrix.q):
        Z_scaled = block_null_space(reduced, spectrum(reduced.J).redundancy(tolerance))
        Z = np.zeros((len(matrix.rows), Z_scaled.shape[1]))
        Z[[position[label] for label in reduced.labels]] = Z_scaled * reduced.scale[:, None]
        parts.append(Z / np.linalg.norm(Z, axis=0))
    return np.hstack(parts) if parts else np.zeros((len(matrix.rows), 0))
