"""Null space: the equations projected onto the motions that the constraints allow."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.solution import Solution
from mbplugin.lapack import solve_triangular


def null_space(equations: Equations, constraints: Independent) -> Solution:
    """Solve VᵀM v̇ = VᵀF with C v̇ = Γ, the columns of V spanning ker C (wojtyra2013 (13)).

    V is orthonormal in dimensionless coordinates, from the QR factorisation of Cᵀ, which also gives
    the accelerations that Γ demands and the multipliers.
    """
    size, r = equations.column_scale, len(constraints.C)
    M, F = size[:, None] * equations.M * size, size * equations.F
    Q, R = np.linalg.qr((constraints.C * size).T, mode="complete")
    Y, V, R = Q[:, :r], Q[:, r:], R[:r]
    demanded = Y @ solve_triangular(R, constraints.Gamma, transposed=True)
    x = demanded + V @ np.linalg.solve(V.T @ M @ V, V.T @ (F - M @ demanded))
    multipliers = solve_triangular(R, Y.T @ (M @ x - F))
    return Solution(size * x, constraints.spread @ multipliers)
