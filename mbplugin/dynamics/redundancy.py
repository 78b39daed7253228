"""Handling of redundant rows: independent constraints in their place, and the multipliers of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from mbplugin.dynamics.equations import Equations, Solution
from mbplugin.errors import BadUsage, MbPluginError, UnknownName, suggestion
from mbplugin.model.spatial import AnyArray, Array

#: Constraints are satisfied when their residual is this fraction of the accelerations (constrained or free), …
_MET = 1e-13
#: … or this fraction, when one more iteration does not halve it.
_ROUNDING = 1e-10
_ITERATIONS = 50
#: The penalty is raised, up to its maximum, when an iteration leaves more than this fraction of the residual.
_SLOW = 0.1
_FIRST, _STEP, _HIGHEST = 1e2, 10.0, 1e8
#: Smallest weight of a row, as a fraction of the largest weight.
_LIGHTEST = 1e-6
#: A row: its index from 0, or (constraint, component).
Row = int | tuple[str, str]
#: Rows can be dropped when the smallest singular value of the self-stresses on them is at least this.
ADMISSIBLE = 1e-6


# Augmented Lagrangian: a penalty on the constraints, and multipliers iterated until they are met.


def augmented(equations: Equations) -> Solution:
    """Return accelerations and multipliers from (M + α CᵀC) v̇ = F + Cᵀ(αΓ + λ), λ ← λ + α(Γ − C v̇).

    The fixed point is the exact solution for any α > 0, and rows may be redundant: started from zero,
    the multipliers remain the smallest ones. The penalty α starts at 100 times the mean mass and is raised
    while the residual falls slowly, so it need not be chosen. No M⁻¹ is needed, and a massless body is
    allowed if constraints determine its motion.

    Raises
    ------
    MbPluginError
        The iteration does not satisfy the constraints, or a massless body can move.
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


# Mass-weighted minimum norm: each multiplier is weighted by the acceleration that it causes.


def mass_weighted(equations: Equations) -> Independent:
    """Return constraints whose multipliers minimise Σ λᵢ² cᵢ M⁻¹ cᵢᵀ, cᵢ being the rows.

    λᵢ² cᵢ M⁻¹ cᵢᵀ is the square of the acceleration M⁻¹cᵢᵀλᵢ in the metric M: unlike the plain norm,
    it depends neither on units nor on the scaling of rows.
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
    # the weight of a row without effect would be rounding noise
    return np.asarray(np.maximum(weight, _LIGHTEST * max(float(weight.max()), np.finfo(float).tiny)))


# Elimination: p redundant rows are dropped and carry nothing (wojtyra2013 §4.4).


def eliminate(equations: Equations, dropped: Sequence[Row] = ()) -> Independent:
    """Return r of the rows: well-conditioned ones, or all but ``dropped``.

    Parameters
    ----------
    dropped : sequence of int or (constraint, component)
        The p rows to drop; if empty, a pivoted factorisation chooses them.

    Raises
    ------
    BadUsage
        Without these rows the others are still redundant, or constrain less than all rows do.
    UnknownName
        A row does not exist.
    """
    if not equations.degree_of_redundancy and not dropped:
        return as_they_are(equations)
    rows = _all_but(equations, dropped) if dropped else equations.independent_rows
    scale = equations.row_scale[rows]
    spread = np.zeros((len(equations.C), len(rows)))
    spread[rows, np.arange(len(rows))] = scale
    return Independent(scale[:, None] * equations.C[rows], scale * equations.Gamma[rows], spread)


def _all_but(equations: Equations, dropped: Sequence[Row]) -> AnyArray:
    """Return the rows (r,) that remain after dropping one row for each self-stress."""
    out = sorted({_index(equations, row) for row in dropped})
    p = equations.degree_of_redundancy
    stress = equations.self_stresses[out]
    if len(out) != p or np.linalg.svd(stress, compute_uv=False)[-1] < ADMISSIBLE:
        names = ", ".join(str(equations.labels[k]) for k in out)
        raise BadUsage(
            f"rows {{{names}}} cannot be dropped together: the other rows are then redundant or too few",
            expected=f"{p} {'row' if p == 1 else 'rows'}, one for each self-stress",
        )
    return np.delete(np.arange(len(equations.C)), out)


def _index(equations: Equations, row: Row) -> int:
    if isinstance(row, int | np.integer):
        if not 0 <= row < len(equations.C):
            raise BadUsage(f"there is no row {row}", expected=f"0 to {len(equations.C) - 1}")
        return row
    label = (str(row[0]), str(row[1]))
    if label not in equations.labels:
        known = [label.dotted for label in equations.labels]
        raise UnknownName(f"there is no row {row}", remedy=suggestion(".".join(label), known))
    return equations.labels.index(label)


# Minimum norm: of all multipliers that give the motion, the smallest.


def minimum_norm(equations: Equations) -> Independent:
    """Return the r left singular vectors of the scaled rows as constraints.

    They are orthonormal and orthogonal to every self-stress, so the multipliers of all rows have minimum norm,
    with moments measured in characteristic lengths. Non-unique reactions therefore depend on that length.
    """
    if not equations.degree_of_redundancy:
        return as_they_are(equations)
    U = equations.singular_vectors[:, : equations.rank]
    combine = (equations.row_scale[:, None] * U).T
    return Independent(combine @ equations.C, combine @ equations.Gamma, combine.T)


@dataclass(frozen=True, eq=False)
class Independent:
    """r independent constraints that are equivalent to all m rows.

    Parameters
    ----------
    C : (r, n) array
        Dimensionless rows on the coordinates of the equations.
    Gamma : (r,) array
        C v̇ = Γ.
    spread : (m, r) array
        Maps the multipliers μ of these constraints to those of all rows, λ = spread μ, N and N·m.
    """

    C: Array
    Gamma: Array
    spread: Array


def as_they_are(equations: Equations) -> Independent:
    """Return the scaled rows themselves, which are independent if p = 0."""
    scale = equations.row_scale
    return Independent(scale[:, None] * equations.C, scale * equations.Gamma, np.diag(scale))
