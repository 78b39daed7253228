"""The equations of motion at a state, as a value: M v̇ = F + Cᵀλ with C v̇ = Γ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

import numpy as np

from mbplugin.lapack import pivot_order
from mbplugin.model.enumerations import Coordinates
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.spatial import AnyArray, Array

COORDINATES: tuple[Coordinates, ...] = get_args(Coordinates)


@dataclass(frozen=True, eq=False)
class Equations:
    """Mass, forces and constraints of a mechanism at a state, in one kind of coordinates.

    Parameters
    ----------
    coordinates : "absolute" or "joint"
        Twists [v; ω] of all bodies, world axes at the centres of mass (n = 6N, or 3N in a plane); or
        joint rates of the spanning tree (n = nv), where only closures and the like are rows.
    labels : tuple of (constraint, component)
        One per row.
    v : (n,) array
        Velocities, m/s and rad/s.
    M : (n, n) array
        Mass matrix, kg, kg·m and kg·m².
    F : (n,) array
        Applied, gyroscopic and centrifugal forces, N and N·m.
    C : (m, n) array
        Constraint matrix: C v + b = 0.
    b, Gamma : (m,) array
        Velocity term, and right-hand side of C v̇ = Γ.
    row_scale, column_scale : (m,), (n,) array
        ``row_scale · C · column_scale`` is dimensionless; ranks are decided on it.
    degree_of_redundancy : int
        p of the rows, decided on the scaled closure Jacobian at the tolerance of the analysis.
    solver : callable
        M⁻¹ applied to (n,) or (n, k).
    """

    coordinates: str
    labels: tuple[RowLabel, ...]
    v: Array
    M: Array
    F: Array
    C: Array
    b: Array
    Gamma: Array
    row_scale: Array
    column_scale: Array
    degree_of_redundancy: int
    solver: Callable[[Array], Array]

    def solve_M(self, rhs: Array) -> Array:
        """Return M⁻¹ rhs, for rhs (n,) or (n, k)."""
        return self.solver(rhs)

    @property
    def rank(self) -> int:
        """Rank of C as the analysis decided it."""
        return len(self.C) - self.degree_of_redundancy

    @cached_property
    def scaled_C(self) -> Array:
        """The dimensionless constraint matrix (m, n)."""
        return np.asarray(self.row_scale[:, None] * self.C * self.column_scale)

    @cached_property
    def independent_rows(self) -> AnyArray:
        """Indices (r,) of r = ``rank`` rows that are well independent (pivoted QR of the scaled rows)."""
        if not self.degree_of_redundancy or not self.rank:
            return np.arange(self.rank)
        return np.sort(pivot_order(self.scaled_C.T)[: self.rank])

    @cached_property
    def singular_vectors(self) -> Array:
        """Left singular vectors (m, m) of the scaled rows; the first ``rank`` span the range."""
        rows, columns = self.C.shape
        if not self.C.size:
            return np.eye(rows)
        return np.asarray(np.linalg.svd(self.scaled_C, full_matrices=rows > columns)[0])

    @property
    def self_stresses(self) -> Array:
        """Left null space Z (m, p) of the scaled rows, orthonormal: (row_scale · C)ᵀ Z = 0."""
        return self.singular_vectors[:, self.rank :]


# Result of a formulation: accelerations and multipliers.


@dataclass(frozen=True, eq=False)
class Solution:
    """Accelerations and Lagrange multipliers at a state.

    Parameters
    ----------
    v_dot : (n,) array
        v̇ in the coordinates of the equations, m/s² and rad/s².
    multipliers : (m,) array
        λ of all rows, N and N·m, acting on the successor. Non-unique reactions are those chosen by the
        redundancy handling.
    """

    v_dot: Array
    multipliers: Array
