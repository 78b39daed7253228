"""The equations of motion at a state, M v̇ = F + Cᵀλ with C v̇ = Γ, and :func:`solve` for all formulations of them.

Redundant rows are handled before: independent constraints replace them, and all rows get multipliers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np
import scipy.linalg

from mbplugin.errors import BadUsage, MbPluginError, UnknownName, suggestion
from mbplugin.model import Coordinates, RowLabel
from mbplugin.model.spatial import AnyArray, Array, pivot_order, solve_triangular

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
    C = scale * equations.C
    weight = np.einsum("ij,ji->i", C, equations.solve_M(C.T))
    # the weight of a row without effect would be rounding noise
    weight = np.asarray(np.maximum(weight, _LIGHTEST * max(float(weight.max()), np.finfo(float).tiny)))
    # λ = λ₀ + Z y with the y that makes it smallest
    spread = smallest.spread / scale
    WZ = weight[:, None] * Z
    return replace(smallest, spread=scale * (spread - Z @ np.linalg.solve(Z.T @ WZ, WZ.T @ spread)))


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


#: Independent coordinates stay the same while their independence is at least this fraction of the best:
#: a change costs no accuracy, but switching back and forth between equally good sets gains nothing.
_KEPT = 0.5
_HANDLINGS: dict[str, Callable[[Equations], Independent]] = {
    "eliminate": eliminate,
    "minimum-norm": minimum_norm,
    "mass-weighted": mass_weighted,
}
_EACH = tuple(_HANDLINGS)
_NO_ITERATION = "the augmented Lagrangian is a way of solving the kkt equations; here no multipliers are left"


# Coordinate partitioning: independent coordinates by the projective criterion, changed when it becomes small.


def partitioning(
    equations: Equations, constraints: Independent, independent: AnyArray | None = None
) -> Solution:
    """Solve M_d v̇_I = h_d, v̇ = Dᵀ v̇_I + [0; ξ] (blajer1994 (9)–(14)).

    Parameters
    ----------
    independent : (k,) array of int, optional
        Independent coordinates, such as those :func:`independent_coordinates` tracks along a motion; by
        default the best ones at this state.
    """
    chosen = independent_coordinates(equations, constraints) if independent is None else independent
    return motion_in(equations, constraints, partition(constraints, chosen))


def independent_coordinates(
    equations: Equations, constraints: Independent, current: AnyArray | None = None
) -> AnyArray:
    """Return the independent coordinates (k,) to continue with: the current ones while good, else the best.

    All coordinates and rates are known at every state, so a change needs no new initial values
    and the accelerations do not jump.

    Parameters
    ----------
    current : (k,) array of int, optional
        Those used so far.
    """
    projections = tangents(equations, constraints)
    best = best_coordinates(projections)
    if current is None or len(current) != len(best):
        return best
    bound = _KEPT * independence(projections, best)
    return np.asarray(current) if independence(projections, current) >= bound else best


# The projective criterion: suitability of each coordinate as an independent one.
#
# A coordinate is a direction kᵢ in the space of velocities, whose metric is M. The closer it is to the motions
# that the constraints allow, the better: with cos²αᵢ = 1 it is one of them, with 0 it cannot be independent.
# The choice depends on the masses.


def tangents(equations: Equations, constraints: Independent) -> Array:
    """Return the projections (k, n) of the unit vectors kᵢ/|kᵢ| onto the allowed motions.

    The basis is orthonormal in the metric M: column i has the length cos αᵢ, and the columns of a good
    independent set form a well-conditioned matrix.
    """
    H = partition(constraints, pivoted_coordinates(equations, constraints)).H
    lower = np.asarray(np.linalg.cholesky(H.T @ equations.M @ H), dtype=float)
    projected = solve_triangular(lower, H.T, lower=True)
    return np.asarray(projected / np.sqrt(inverse_diagonal(equations)))


def independence(projections: Array, chosen: AnyArray) -> float:
    """Return the independence of a set of coordinates, from 0 to 1.

    The squared smallest singular value of the columns ``chosen`` (k,) of projections (k, n); for one freedom, the
    criterion itself.
    """
    if not len(projections):
        return 1.0
    return float(np.linalg.svd(projections[:, chosen], compute_uv=False)[-1] ** 2)


def best_coordinates(projections: Array) -> AnyArray:
    """Return k independent coordinates (k,) by the criterion from projections (k, n), in ascending order.

    The first has the largest cos²αᵢ, each further one the largest after the chosen ones are projected out;
    the coordinates of the k largest values alone may depend on each other.
    """
    return np.sort(pivot_order(projections)[: len(projections)])


def inverse_diagonal(equations: Equations) -> Array:
    """Return the diagonal (n,) of M⁻¹."""
    return np.asarray(np.diagonal(equations.solve_M(np.eye(len(equations.M)))))


# Voronets equations: minimal coordinates, chosen by the geometry of the constraints.


def voronets(equations: Equations, constraints: Independent) -> Solution:
    """Solve M̄ s̈ = Hᵀ(F − M Ḣṡ), M̄ = HᵀMH, with q̇ = H ṡ (mueller2026 (10)–(13), whose F is H).

    Γ gives Ḣṡ, the acceleration that the constraints require for s̈ = 0.
    """
    return motion_in(
        equations, constraints, partition(constraints, pivoted_coordinates(equations, constraints))
    )


def pivoted_coordinates(equations: Equations, constraints: Independent) -> AnyArray:
    """Return independent coordinates (k,): the columns that a pivoted QR of the scaled C does not select.

    The selected columns are well conditioned, so H stays moderate; masses are not considered.
    """
    return pivot_order(constraints.C * equations.column_scale)[len(constraints.C) :]


# Projected equations (Gauß): the free accelerations, projected onto the constraints in the metric M.


def projected(equations: Equations, constraints: Independent) -> Solution:
    """Return v̇ = M⁻¹Nᵀ F + C⁺_M Γ with C⁺_M = M⁻¹Cᵀ(C M⁻¹Cᵀ)⁻¹ and N = I − C⁺_M C (mueller2026 (7)).

    Written out, v̇ = a + M⁻¹Cᵀμ with a = M⁻¹F and C M⁻¹Cᵀ μ = Γ − C a. M enters only as M⁻¹, which a
    recursion along the tree applies without forming M.
    """
    solved = equations.solve_M(np.column_stack((equations.F, constraints.C.T)))
    free, effect = solved[:, 0], solved[:, 1:]
    multipliers = np.linalg.solve(constraints.C @ effect, constraints.Gamma - constraints.C @ free)
    return Solution(free + effect @ multipliers, constraints.spread @ multipliers)


# Null space: the equations projected onto the motions that the constraints allow.


def null_space(equations: Equations, constraints: Independent) -> Solution:
    """Solve VᵀM v̇ = VᵀF with C v̇ = Γ, the columns of V spanning ker C (wojtyra2013 (13)).

    V is orthonormal in dimensionless coordinates, from the QR factorisation of Cᵀ, which also gives
    the accelerations that Γ requires, and the multipliers.
    """
    size, r = equations.column_scale, len(constraints.C)
    M, F = size[:, None] * equations.M * size, size * equations.F
    Q, R = np.linalg.qr((constraints.C * size).T, mode="complete")
    Y, V, R = Q[:, :r], Q[:, r:], R[:r]
    demanded = Y @ solve_triangular(R, constraints.Gamma, transposed=True)
    x = demanded + V @ np.linalg.solve(V.T @ M @ V, V.T @ (F - M @ demanded))
    multipliers = solve_triangular(R, Y.T @ (M @ x - F))
    return Solution(size * x, constraints.spread @ multipliers)


# Newton–Euler equations and constraints in one system, solved for v̇ and λ together.


def kkt(equations: Equations, constraints: Independent) -> Solution:
    """Solve [[M, −Cᵀ], [C, 0]] [v̇; μ] = [F; Γ] (wojtyra2013 (11), mueller2026 (5)).

    M may be singular: a massless body is allowed if constraints determine its motion.

    Raises
    ------
    MbPluginError
        A massless body can move.
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


_FORMULATIONS: dict[str, Callable[[Equations, Independent], Solution]] = {
    "kkt": kkt,
    "null-space": null_space,
    "projected": projected,
    "voronets": voronets,
    "partitioning": partitioning,
}


@dataclass(frozen=True)
class Meaning:
    """Valid combinations of a formulation.

    Parameters
    ----------
    redundancy : tuple of str
        Redundancy handlings.
    coordinates : tuple of str
        Kinds of coordinates.
    why_not : str
        Reason why there are no others.
    """

    redundancy: tuple[str, ...]
    coordinates: tuple[str, ...]
    why_not: str


#: All valid combinations, by formulation.
TABLE: dict[str, Meaning] = {
    "kkt": Meaning((*_EACH, "augmented"), COORDINATES, "there is no other"),
    "null-space": Meaning(_EACH, COORDINATES, _NO_ITERATION),
    "projected": Meaning(_EACH, COORDINATES, _NO_ITERATION),
    "voronets": Meaning(_EACH, COORDINATES, _NO_ITERATION),
    "partitioning": Meaning(_EACH, COORDINATES, _NO_ITERATION),
    "closing": Meaning(
        ("eliminate",),
        ("joint",),
        "closed forms give the dependent joints, and rows they do not need are left out",
    ),
}
REDUNDANCY = TABLE["kkt"].redundancy


def solve(
    equations: Equations,
    formulation: str = "projected",
    redundancy: str = "eliminate",
    dropped: Sequence[Row] = (),
    independent: AnyArray | None = None,
) -> Solution:
    """Return accelerations and multipliers of a mechanism at a state.

    Parameters
    ----------
    equations : Equations
        At a state that satisfies the constraints.
    formulation, redundancy : str
        As in ``TABLE``; they change the computation, not the motion.
    dropped : sequence of int (from 0) or (constraint, component)
        Rows to eliminate; by default they are chosen automatically.
    independent : (k,) array of int, optional
        Independent coordinates of formulation ``partitioning``; by default the best at this state.

    Raises
    ------
    BadUsage
        An invalid combination, or rows that cannot be dropped.
    UnknownName
        An unknown formulation, redundancy handling or row.
    MbPluginError
        The equations cannot be solved in double precision.
    """
    _require_meaning(equations, formulation, redundancy, dropped)
    if not equations.rank and not dropped:
        return Solution(equations.solve_M(equations.F), np.zeros(len(equations.C)))
    if redundancy == "augmented":
        return augmented(equations)
    constraints = eliminate(equations, dropped) if dropped else _HANDLINGS[redundancy](equations)
    try:
        if independent is not None and formulation == "partitioning":
            return partitioning(equations, constraints, independent)
        return _FORMULATIONS[formulation](equations, constraints)
    except np.linalg.LinAlgError:
        raise MbPluginError(
            f"the equations of motion of formulation {formulation!r} are singular to machine precision here",
            remedy="compare masses, lengths and centres of mass: some differ by many orders of magnitude",
        ) from None


def _require_meaning(equations: Equations, formulation: str, redundancy: str, dropped: Sequence[Row]) -> None:
    if formulation not in TABLE:
        raise UnknownName(
            f"there is no formulation {formulation!r}", remedy=suggestion(formulation, list(TABLE))
        )
    if redundancy not in REDUNDANCY:
        raise UnknownName(
            f"there is no redundancy handling {redundancy!r}", remedy=suggestion(redundancy, REDUNDANCY)
        )
    meaning = TABLE[formulation]
    if redundancy not in meaning.redundancy or equations.coordinates not in meaning.coordinates:
        raise BadUsage(
            f"formulation {formulation!r} with {redundancy!r} in {equations.coordinates} coordinates"
            f" has no meaning: {meaning.why_not}",
            expected=f"{_either(meaning.redundancy)} in {_either(meaning.coordinates)} coordinates",
        )
    if dropped and redundancy != "eliminate":
        raise BadUsage(f"rows are to be dropped, but {redundancy!r} keeps all", expected="'eliminate'")
    if formulation not in _FORMULATIONS:
        raise BadUsage(
            "closing conditions come from the geometry of a mechanism, not from its equations at a state",
            remedy="use mbplugin.dynamics.explicit_closure.minimal_accelerations",
        )


def _either(names: Sequence[str]) -> str:
    return " or ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]


# A partition of the coordinates into independent and dependent ones, and the motion in it.


@dataclass(frozen=True, eq=False)
class Partition:
    """v̇ = H v̇_I + [0; ξ] for independent coordinates I and dependent ones D.

    Parameters
    ----------
    independent, dependent : (k,), (r,) array of int
        Indices of the coordinates.
    H : (n, k) array
        Identity in the independent rows and A = −C_D⁻¹C_I in the dependent ones: a basis of ker C.
        It is Dᵀ of blajer1994 (9) and F of mueller2026 (10).
    xi : (n,) array
        [0; ξ] with ξ = C_D⁻¹Γ (blajer1994 (8), (10)).
    """

    independent: AnyArray
    dependent: AnyArray
    H: Array
    xi: Array


def partition(constraints: Independent, independent: AnyArray) -> Partition:
    """Return the partition with given coordinates ``independent`` (k,) (blajer1994 (5)–(10)).

    Raises
    ------
    BadUsage
        The coordinates depend on each other through the constraints, or are too few or too many.
    """
    r, n = constraints.C.shape
    chosen = np.asarray(independent, dtype=int)
    dependent = np.delete(np.arange(n), chosen)
    if len(dependent) != r:
        raise BadUsage(f"{len(chosen)} independent coordinates are given", expected=f"{n - r}")
    sides = np.column_stack((constraints.C[:, chosen], constraints.Gamma))
    try:
        solved = np.linalg.solve(constraints.C[:, dependent], sides)
    except np.linalg.LinAlgError:
        raise BadUsage(
            "the chosen independent coordinates depend on each other at this pose",
            remedy="choose others, for example those with the largest projective criterion",
        ) from None
    H, xi = np.zeros((n, len(chosen))), np.zeros(n)
    H[chosen, np.arange(len(chosen))] = 1.0
    H[dependent], xi[dependent] = -solved[:, :-1], solved[:, -1]
    return Partition(chosen, dependent, H, xi)


def motion_in(equations: Equations, constraints: Independent, parts: Partition) -> Solution:
    """Solve HᵀMH v̇_I = Hᵀ(F − M[0; ξ]) (blajer1994 (12)–(14), mueller2026 (12), (13)).

    The multipliers follow from the rows of the dependent coordinates, C_Dᵀ μ = (M v̇ − F)_D.
    """
    H, M = parts.H, equations.M
    MH = M @ H
    reduced = np.linalg.solve(H.T @ MH, H.T @ equations.F - MH.T @ parts.xi)
    v_dot = H @ reduced + parts.xi
    D = parts.dependent
    multipliers = np.linalg.solve(constraints.C[:, D].T, M[D] @ v_dot - equations.F[D])
    return Solution(v_dot, constraints.spread @ multipliers)
