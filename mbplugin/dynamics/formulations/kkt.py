"""Newton–Euler equations and constraints in one system, solved for v̇ and λ together."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.solution import Solution
from mbplugin.errors import MbPluginError


def kkt(equations: Equations, constraints: Independent) -> Solution:
    """Solve [[M, −Cᵀ], [C, 0]] [v̇; μ] = [F; Γ] (wojtyra2013 (11), mueller2026 (5)).

    M itself may be singular: a body without mass is allowed where constraints carry it.

    Raises
    ------
    MbPluginError
        A body without mass can move.
    """
    n, r = len(equations.M), len(constraints.C)
    size = equations.column_scale
    mass = float(np.trace(equations.M * size**2)) / n or 1.0
    K = np.zeros((n + r, n + r))
    K[:n, :n] = size[:, None] * equations.M * (size / mass)
    K[n:, :n] = constraints.C * size
    K[:n, n:] = -K[n:, :n].T
    try:
        x = np.linalg.solve(K, np.concatenate((size * equations.F / mass, constraints.Gamma)))
    except np.linalg.LinAlgError:
        raise MbPluginError("a massless body can move", remedy="give every moving body a mass") from None
    return Solution(size * x[:n], constraints.spread @ (mass * x[n:]))
