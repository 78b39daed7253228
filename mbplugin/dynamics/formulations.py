"""Formulations of the equations of motion, their valid combinations, and :func:`solve` for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.equations import COORDINATES, Equations, Solution
from mbplugin.dynamics.redundancy import Independent, Row, augmented, eliminate, mass_weighted, minimum_norm
from mbplugin.errors import BadUsage, MbPluginError, UnknownName, suggestion
from mbplugin.lapack import pivot_order, solve_triangular
from mbplugin.model.spatial import AnyArray, Array

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
            "the coordinates that are to be independent depend on each other at this pose",
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
