"""``activate``: constraints close at an instant, by the chosen form of the transition condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.solution import Solution
from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model.spatial import AnyArray, Array, make_read_only
from mbplugin.simulation.impact.full import full
from mbplugin.simulation.impact.minimal import minimal
from mbplugin.simulation.impact.problem import ImpactProblem, Row, find_rows
from mbplugin.simulation.impact.projected import projected
from mbplugin.simulation.impact.transition import Transition

_FORMS: dict[str, Callable[[ImpactProblem], Solution]] = {
    "full": full,
    "projected": projected,
    "minimal": minimal,
}
FORMS = tuple(_FORMS)
#: Relative size below which a singular value that should count is none: the pose is singular.
_LOST = 1e-7
#: Relative gap that velocities may leave in rows that depend on each other, and rates that are rest.
FOLLOWED, REST = 1e-6, 1e-9


def activate(
    equations: Equations,
    qd: Array | None = None,
    rows: Sequence[Row] = (),
    impulse: Array | float = 0.0,
    form: str = "full",
) -> Transition:
    """Return what happens to the velocities when constraints close at an instant.

    The pose is frozen and the velocities jump, so that all constraints hold and the momentum balance
    M Δq̇ = U + J₊ᵀΛ is met (mueller2026 (21), whose Λ is minus ours: ours is given to the successor).
    Without rows it is the answer to an impulse alone; rows that open are simply not among those of the
    equations, and change nothing by themselves.

    Parameters
    ----------
    equations : Equations
        Of the pose, with all rows that hold afterwards, in any coordinates. Its degree of redundancy
        is the generic one; b₊ are its velocity terms.
    qd : (n,) array, optional
        Velocities before, rad/s and m/s; by default those of the equations.
    rows : sequence of str, (constraint, component) or int
        The rows that close now: all of a constraint, or single ones. The others held before.
    impulse : (n,) array or 0
        Impulsive input U on the coordinates, N·s and N·m·s.
    form : "full", "projected" or "minimal"
        mueller2026 (24), (32) or (37); they agree.

    Raises
    ------
    UnknownName
        A form, constraint or row that there is not.
    BadUsage, BadNumber
        A row out of range, vectors of another length, numbers that are not finite.
    """
    if form not in _FORMS:
        raise UnknownName(f"there is no form {form!r} of the transition", remedy=suggestion(form, FORMS))
    before = _vector("velocities", equations, equations.v if qd is None else qd)
    U = _vector(
        "the impulse", equations, np.broadcast_to(impulse, before.shape) if not np.ndim(impulse) else impulse
    )
    problem = ImpactProblem(equations, before, U, find_rows(equations, rows))
    if _loses_rank(equations):
        return _without_answer(problem, form, "singular")
    found = _FORMS[form](problem)
    if not _closes(problem, found.v_dot):
        return _without_answer(problem, form, "contradictory")
    return _transition(problem, form, "regular", found.v_dot, impulses(problem, found))


def _vector(what: str, equations: Equations, value: Array | float) -> Array:
    """Return a value for each rate, (nv,)."""
    out = np.array(value, dtype=float)
    if out.shape != equations.v.shape:
        raise BadUsage(f"{what} have shape {out.shape}", expected=f"{len(equations.v)} numbers")
    if not np.isfinite(out).all():
        raise BadNumber(f"{what}: a number is not finite", expected="SI units")
    return out


def _loses_rank(equations: Equations) -> bool:
    """Whether rows that are independent at the generic pose are not so here."""
    if not equations.rank:
        return False
    sigma = np.linalg.svd(equations.scaled_C, compute_uv=False)
    return bool(len(sigma) < equations.rank or sigma[equations.rank - 1] <= _LOST * sigma[0])


def _closes(problem: ImpactProblem, jump: Array) -> bool:
    """Whether the rates after a ``jump`` (nv,) satisfy all rows, also those that were left out."""
    left = problem.gap - problem.C @ jump
    rates = np.abs(problem.C) @ (np.abs(problem.qd) + np.abs(jump))
    size = max(float(rates.max(initial=0.0)), float(np.abs(problem.gap).max(initial=0.0)))
    return bool(np.abs(left).max(initial=0.0) <= max(FOLLOWED * size, REST))


def impulses(problem: ImpactProblem, found: Solution) -> Array:
    """Return Λ (m,) of all rows, N·s and N·m·s: the smallest of those that the jump allows.

    Persistent rows get what is missing in M Δq̇ = U + J₊ᵀΛ; of the self-stresses nothing is left.
    """
    equations = problem.equations
    size, mu = equations.column_scale, found.multipliers
    held = problem.persistent
    missing = size * (equations.M @ found.v_dot - problem.impulse - problem.C.T @ mu)
    mu = mu.copy()
    if len(held):
        mu[held] += np.linalg.lstsq((problem.C[held] * size).T, missing, rcond=None)[0]
    Z = equations.self_stresses
    return np.asarray(equations.row_scale * (mu - Z @ (Z.T @ mu)))


def determined(equations: Equations) -> AnyArray:
    """Return whether the rigid model determines each multiplier, (m,): row k of Z is zero."""
    p = equations.degree_of_redundancy
    if not p:
        return np.ones(len(equations.C), dtype=bool)
    sigma = np.linalg.svd(equations.scaled_C, compute_uv=False)
    r = equations.rank
    rest = float(sigma[r]) if r < len(sigma) else 0.0
    zero = max(1e-9, 10.0 * rest / float(sigma[r - 1])) if r else 1e-9
    return np.asarray(np.abs(equations.self_stresses).max(axis=1) <= zero)


def _without_answer(problem: ImpactProblem, form: str, outcome: str) -> Transition:
    nothing = np.full(len(problem.qd), np.nan)
    return _transition(problem, form, outcome, nothing, np.full(len(problem.C), np.nan))


def _transition(problem: ImpactProblem, form: str, outcome: str, jump: Array, impulse: Array) -> Transition:
    """Return the transition with a ``jump`` (nv,) of the rates and an ``impulse`` (m,) of the rows."""
    M, before = problem.equations.M, problem.qd
    after = before + jump
    unique = determined(problem.equations) if outcome == "regular" else np.zeros(len(impulse), dtype=bool)
    make_read_only(before, after, impulse, problem.activated, unique)
    return Transition(
        outcome,
        form,
        before,
        after,
        problem.equations.labels,
        problem.activated,
        impulse,
        unique,
        float(0.5 * before @ M @ before),
        float(0.5 * after @ M @ after),
    )
