"""Augmented Lagrangian: a penalty on the constraints, and multipliers iterated until they are met."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.minimum_norm import minimum_norm
from mbplugin.dynamics.solution import Solution
from mbplugin.errors import MbPluginError
from mbplugin.model.spatial import Array

#: Constraints are met when this is left of the accelerations, or of those without constraints, …
_MET = 1e-13
#: … or this, when one more iteration gains nothing.
_ROUNDING = 1e-10
_ITERATIONS = 50
#: The penalty rises where an iteration leaves more of the misfit than this, up to the highest.
_SLOW = 0.1
_FIRST, _STEP, _HIGHEST = 1e2, 10.0, 1e8


def augmented(equations: Equations) -> Solution:
    """Return accelerations and multipliers from (M + α CᵀC) v̇ = F + Cᵀ(αΓ + λ), λ ← λ + α(Γ − C v̇).

    The fixed point is the exact solution at any α > 0, and rows may be redundant: started from zero,
    the multipliers stay the smallest ones. The penalty α starts near the masses and rises while the
    misfit falls slowly, so no value has to be guessed. No M⁻¹ is needed, and a body without mass is
    allowed where constraints carry it.

    Raises
    ------
    MbPluginError
        The constraints cannot be met, or something moves that has no mass.
    """
    constraints = minimum_norm(equations)
    size = equations.column_scale
    C, Gamma = constraints.C * size, constraints.Gamma
    M, F = size[:, None] * equations.M * size, size * equations.F
    mass = float(np.trace(M)) / len(M) or 1.0
    alpha = _FIRST * mass
    factor = _factor(M, C, alpha)
    multipliers, left = np.zeros(len(C)), np.inf
    for _ in range(_ITERATIONS):
        v_dot = scipy.linalg.cho_solve(factor, F + C.T @ (alpha * Gamma + multipliers))
        misfit = Gamma - C @ v_dot
        multipliers = multipliers + alpha * misfit
        size_of_motion = max(float(np.abs(a).max()) for a in (v_dot, Gamma, F / mass))
        before, left = left, float(np.abs(misfit).max()) / max(size_of_motion, np.finfo(float).tiny)
        if left <= _MET or (left <= _ROUNDING and left > 0.5 * before):
            return Solution(size * v_dot, constraints.spread @ multipliers)
        if left > _SLOW * before and alpha < _HIGHEST * mass:
            alpha *= _STEP
            factor = _factor(M, C, alpha)
    raise MbPluginError(
        f"the augmented Lagrangian leaves {left:.1e} of the constraints unmet after {_ITERATIONS} iterations",
        remedy="use another redundancy handling",
    )


def _factor(M: Array, C: Array, alpha: float) -> tuple[Array, bool]:
    """Return the Cholesky factor of M + α CᵀC, M (n, n) and C (r, n)."""
    try:
        factor: tuple[Array, bool] = scipy.linalg.cho_factor(M + alpha * (C.T @ C))
    except np.linalg.LinAlgError:
        raise MbPluginError("a massless body can move", remedy="give every moving body a mass") from None
    return factor
