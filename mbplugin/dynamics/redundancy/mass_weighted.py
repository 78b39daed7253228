"""Mass-weighted minimum norm: each multiplier is measured by the acceleration that it causes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.redundancy.independent import Independent
from mbplugin.dynamics.redundancy.minimum_norm import minimum_norm
from mbplugin.model.spatial import Array

#: A row that hardly moves anything weighs at least this fraction of the heaviest.
_LIGHTEST = 1e-6


def mass_weighted(equations: Equations) -> Independent:
    """Return constraints whose multipliers minimise Σ λᵢ² cᵢ M⁻¹ cᵢᵀ, cᵢ being the rows.

    λᵢ² cᵢ M⁻¹ cᵢᵀ is the square of the acceleration M⁻¹cᵢᵀλᵢ in the metric M: unlike the plain norm
    it knows neither units nor how a row is scaled.
    """
    smallest = minimum_norm(equations)
    if not equations.degree_of_redundancy:
        return smallest
    scale, Z = equations.row_scale[:, None], equations.self_stresses
    weight = _weights(scale * equations.C, equations)
    # λ = λ₀ + Z y with the y that makes it smallest
    spread = smallest.spread / scale
    WZ = weight[:, None] * Z
    return replace(smallest, spread=scale * (spread - Z @ np.linalg.solve(Z.T @ WZ, WZ.T @ spread)))


def _weights(C: Array, equations: Equations) -> Array:
    """Return cᵢ M⁻¹ cᵢᵀ (m,) of the rows of C (m, n), bounded below."""
    weight = np.einsum("ij,ji->i", C, equations.solve_M(C.T))
    # a row without effect has no multiplier of its own: what rounding makes of it must not count
    return np.asarray(np.maximum(weight, _LIGHTEST * max(float(weight.max()), np.finfo(float).tiny)))
