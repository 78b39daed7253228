"""Projected equations (Gauß): the free accelerations, brought onto the constraints in the metric M."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.solution import Solution


def projected(equations: Equations, constraints: Independent) -> Solution:
    """Return v̇ = M⁻¹Nᵀ F + C⁺_M Γ with C⁺_M = M⁻¹Cᵀ(C M⁻¹Cᵀ)⁻¹ and N = I − C⁺_M C (mueller2026 (7)).

    Written out, v̇ = a + M⁻¹Cᵀμ with a = M⁻¹F and C M⁻¹Cᵀ μ = Γ − C a. Only M⁻¹ is asked of the
    equations, which a recursion along the tree supplies where M is never formed.
    """
    solved = equations.solve_M(np.column_stack((equations.F, constraints.C.T)))
    free, effect = solved[:, 0], solved[:, 1:]
    multipliers = np.linalg.solve(constraints.C @ effect, constraints.Gamma - constraints.C @ free)
    return Solution(free + effect @ multipliers, constraints.spread @ multipliers)
