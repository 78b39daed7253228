"""``activate``: the jump of velocities when constraints close, by a chosen form of the transition condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mbplugin.constraints.rank import sample_poses
from mbplugin.constraints.reduction import body_twists
from mbplugin.dynamics.formulations import Equations, Independent, Solution, kkt, partition
from mbplugin.dynamics.kernels.rows import DISTANCE, MEASURED, RATE
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.dynamics.tree_model import TreeModel, equations_of
from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model import Pair, coordinates_of, forward
from mbplugin.model.mechanism import (
    WORLD,
    Constraint,
    Coupling,
    Driver,
    KnifeEdge,
    Lock,
    Mechanism,
    Rolling,
    TimedConstraint,
)
from mbplugin.model.spatial import AnyArray, Array, Pose, make_read_only, pivot_order, solve_triangular
from mbplugin.simulation.friction import rank_of
from mbplugin.simulation.kernel_state import KINEMATICS, KernelState, evaluate_at

#: Additional poses at which the rank is computed.
_SAMPLES = 4
#: A constraint (all its rows), a row by label, or a row by number.
Row = str | tuple[str, str] | int
#: A self-stress whose part on the closing rows is below this acts on the persistent rows only.
_SHARED = 1e-8
#: The pose is singular if the last singular value of the generic rank is below this, relative to the largest.
_LOST = 1e-7
#: Allowed gap of dependent rows, relative to the velocities, and as a rate at rest.
FOLLOWED, REST = 1e-6, 1e-9


# Constraints that close during a motion: their frames at that instant, and checks that they can close.


def grip(model: TreeModel, rows: Sequence[int]) -> None:
    """Set the successor frames of closures among the rows so that they close at the configured pose."""
    table = model.table
    own = [i for i in rows if table.rows["joint_frame"][i] >= 0 and table.rows["angles"][i] != MEASURED]
    for n in {int(table.rows["joint_frame"][i]) for i in own if table.rows["kind"][i] != DISTANCE}:
        joint_frame = table.joint_frames[n]
        R, p = model.composites["R"][joint_frame["b"]], model.composites["p"][joint_frame["b"]]
        joint_frame["R_bS"], joint_frame["p_bS"] = R.T @ joint_frame["P"], R.T @ (joint_frame["p_P"] - p)


def gripped(model: TreeModel, constraint: Constraint) -> Constraint:
    """Return a constraint as it is in force: a closure with the successor frame at which it has gripped."""
    if not isinstance(constraint, Pair):
        return constraint
    labels, rows = model.table.labels, model.table.rows
    (n, *_) = (int(rows["joint_frame"][i]) for i, label in enumerate(labels) if label[0] == constraint.name)
    joint_frame = model.table.joint_frames[n]
    _, X_KL = model.composites_of.frame(model.mech, constraint.body_b, Pose.identity())
    return replace(
        constraint, X_BS=X_KL.inverse() @ Pose(joint_frame["R_bS"].copy(), joint_frame["p_bS"].copy())
    )


def is_singular(
    model: TreeModel,
    kernel_state: KernelState,
    t: float,
    q: Array,
    sets: Sequence[tuple[Sequence[int], Sequence[Constraint]]],
    tolerance: float,
) -> bool:
    """Return True if rows lose rank at this pose (mueller2026 Def. 1).

    The rank of a set of rows is compared with that at nearby poses. As locks may act at any coordinate, those
    poses satisfy closures and couplings only.

    Parameters
    ----------
    q : (nq,) array
        The pose.
    sets : sequence of (rows, constraints)
        Before and after the instant: the rows in force, and the timed constraints among them.
    """
    rates = np.zeros(len(model.rates))
    for rows, held in sets:
        if not len(rows) or (model.table.rows["kind"][list(rows)] == RATE).all():
            continue
        evaluate_at(kernel_state, KINEMATICS, t, q, rates)
        here = rank_of(model, list(rows), tolerance)
        mech = with_constraints(replace(model.mech, locks=(), drivers=()), held)
        for pose in sample_poses(mech, q, _SAMPLES):
            evaluate_at(kernel_state, KINEMATICS, t, pose, rates)
            if rank_of(model, list(rows), 10 * tolerance) > here:
                return True
    return False


def contradict(model: TreeModel, rows: Sequence[int], qd: Array) -> bool:
    """Return True if the rates qd (nv,) violate one of the rows at the configured pose, so that rows contradict."""
    table = model.table
    gaps = [
        table.rows["unit"][i]
        * (row_rate(model.composites, table.rows, table.terms, i, qd) + table.rows["bias"][i])
        for i in rows
    ]
    return bool(np.abs(gaps).max(initial=0.0) > max(FOLLOWED * float(np.abs(qd).max(initial=0.0)), REST))


def all_impulses(
    model: TreeModel,
    kernel_state: KernelState,
    t: float,
    q: Array,
    qd: Array,
    rows: Sequence[int],
    closing: Sequence[int],
) -> tuple[dict[tuple[str, str], float], tuple[tuple[str, str], ...]]:
    """Return the impulses of all rows in force at q (nq,) and qd (nv,), and those that a rigid model leaves open.

    If the transition is not regular, no impulses are returned and all are open.
    """
    p = len(rows) - len(kernel_state.independent_rows)
    drive = kernel_state.drive.copy()
    equations = equations_of(
        model, q, qd, time=t, degree_of_redundancy=p, rows=rows, drive=drive, decided=True
    )
    found = activate(equations, None, [k for k, i in enumerate(rows) if i in closing])
    if found.outcome != "regular":
        return {}, found.labels
    return found.impulse, found.open_impulses


# The projected transition condition: the persistent rows are projected out, and only closing rows have multipliers.


def projected(problem: ImpactProblem) -> Solution:
    """Solve [[M, −N₁ᵀJ₂ᵀ], [J₂N₁, 0]] [Δq̇; Λ₂] = [N₁ᵀU; −(J₂q̇₋ + b₂)] (mueller2026 (28), (32)).

    N₁ = I − C⁺J₁ with the pseudoinverse C⁺ of J₁ in the metric M, which redundant rows of J₁ do not affect.
    The residual of J₁q̇₋ + b₁ = 0 is first corrected by C⁺. This form does not compute the multipliers of the
    persistent rows; they are zero.
    """
    equations, closing = problem.equations, np.flatnonzero(problem.activated)
    inverse, N = _projector(problem)
    corrected = inverse @ problem.gap[~problem.activated]
    J2N1 = problem.C[closing] @ N
    gap = problem.gap[closing] - problem.C[closing] @ corrected
    best = best_rows(J2N1 * equations.column_scale, problem.added)
    constraints = problem.pose(closing[best], J2N1[best], gap[best])
    found = kkt(problem.impulsive(N.T @ problem.impulse), constraints)
    return Solution(found.v_dot + corrected, found.multipliers)


def _projector(problem: ImpactProblem) -> tuple[Array, Array]:
    """Return C⁺ (n, m₁) of the persistent rows and N₁ (n, n), through M = LLᵀ and the SVD of J₁L⁻ᵀ."""
    J1, rank = problem.C[~problem.activated], len(problem.persistent)
    L = np.linalg.cholesky(problem.equations.M)
    G = solve_triangular(L, J1.T, lower=True).T
    U, sigma, Vt = np.linalg.svd(G, full_matrices=False)
    U, sigma, Vt = U[:, :rank], sigma[:rank], Vt[:rank]
    V = solve_triangular(L, Vt.T, lower=True, transposed=True)
    return V @ (U / sigma).T, np.eye(len(L)) - V @ (L @ Vt.T).T


# The transition condition in minimal coordinates: as few unknowns as the persistent constraints leave freedoms.


def minimal(problem: ImpactProblem) -> Solution:
    """Solve [[M̄, −H₁ᵀJ₂ᵀ], [J₂H₁, 0]] [Δṡ; Λ₂] = [H₁ᵀU; −(J₂H₁ṡ₋ + b₂)] (mueller2026 (35)–(37)).

    Δq̇ = H₁Δṡ + [0; ξ], where ξ corrects the residual of J₁q̇₋ + b₁ = 0, which is zero after an exact motion. The
    minimal coordinates are those that a pivoted factorisation of J₁ leaves independent. This form does not compute
    the multipliers of the persistent rows; they are zero.
    """
    equations, size = problem.equations, problem.equations.column_scale
    held, closing = problem.persistent, np.flatnonzero(problem.activated)
    J1 = problem.pose(held, problem.C[held], problem.gap[held])
    parts = partition(J1, pivot_order(J1.C * size)[len(held) :] if len(held) else np.arange(len(size)))
    H, free = parts.H, size[parts.independent]
    J2H1 = problem.C[closing] @ H
    gap = problem.gap[closing] - problem.C[closing] @ parts.xi
    best = best_rows(J2H1 * free, problem.added)
    reduced = replace(
        equations,
        M=H.T @ equations.M @ H,
        F=H.T @ (problem.impulse - equations.M @ parts.xi),
        column_scale=free,
    )
    if not len(free):
        return Solution(parts.xi, np.zeros(len(problem.C)))
    found = kkt(reduced, problem.pose(closing[best], J2H1[best], gap[best]))
    return Solution(H @ found.v_dot + parts.xi, found.multipliers)


# The general transition condition: momentum balance and all constraints in one system.


def full(problem: ImpactProblem) -> Solution:
    """Solve [[M, −J₊ᵀ], [J₊, 0]] [Δq̇; Λ] = [U; −(J₊q̇₋ + b₊)] (mueller2026 (22), (24)).

    The matrix is that of the equations of motion with multipliers; dependent rows are left out.
    """
    rows = problem.equations.independent_rows
    constraints = problem.pose(rows, problem.C[rows], problem.gap[rows])
    return kkt(problem.impulsive(problem.impulse), constraints)


# An instant at which constraints close, with its ranks decided: the common data of all forms.


@dataclass(frozen=True, eq=False)
class ImpactProblem:
    """The persistent and the closing rows at an instant, dimensionless.

    Parameters
    ----------
    equations : Equations
        With all rows that hold afterwards.
    qd : (n,) array
        Velocities before, rad/s and m/s.
    impulse : (n,) array
        Impulsive input U, N·s and N·m·s.
    activated : (m,) array of bool
        Which rows close now.
    """

    equations: Equations
    qd: Array
    impulse: Array
    activated: AnyArray

    @cached_property
    def C(self) -> Array:
        """All rows J₊ (m, n), scaled to be dimensionless."""
        return np.asarray(self.equations.row_scale[:, None] * self.equations.C)

    @cached_property
    def gap(self) -> Array:
        """Right-hand side of the jump, −(J₊q̇₋ + b₊) (m,)."""
        return np.asarray(-(self.C @ self.qd + self.equations.row_scale * self.equations.b))

    @cached_property
    def persistent(self) -> AnyArray:
        """Indices (k,) of well independent rows among those of J₁, the rows that held before."""
        rows = np.flatnonzero(~self.activated)
        Z = self.equations.self_stresses
        # self-stresses without a part on closing rows are those of the persistent rows alone
        shared = np.linalg.svd(Z[self.activated], compute_uv=False)
        alone = Z.shape[1] - int((shared > _SHARED).sum())
        return rows[best_rows(self.C[rows] * self.equations.column_scale, len(rows) - alone)]

    @property
    def added(self) -> int:
        """Number of freedoms that the closing rows remove."""
        return self.equations.rank - len(self.persistent)

    def pose(self, rows: AnyArray, C: Array, gap: Array) -> Independent:
        """Return some rows (k,) as constraints, with multipliers spread over all m scaled rows.

        The dimensionless rows are C (k, n), with right-hand sides ``gap`` (k,).
        """
        spread = np.zeros((len(self.C), len(rows)))
        spread[rows, np.arange(len(rows))] = 1.0
        return Independent(C, gap, spread)

    def impulsive(self, F: Array) -> Equations:
        """Return the equations with the forces replaced by an impulse F (n,)."""
        return replace(self.equations, F=F)


def best_rows(scaled: Array, count: int) -> AnyArray:
    """Return the indices (count,) of well independent rows of ``scaled`` (m, n) by pivoted QR, in ascending order."""
    if count == len(scaled):
        return np.arange(count)
    return np.sort(pivot_order(scaled.T)[:count])


def find_rows(equations: Equations, rows: Sequence[Row]) -> AnyArray:
    """Return flags (m,) of the requested rows of the equations.

    Raises
    ------
    UnknownName
        A constraint or row that the equations do not have.
    BadUsage
        A row index out of range.
    """
    out = np.zeros(len(equations.labels), dtype=bool)
    names = [name for name, _ in equations.labels]
    for row in rows:
        if isinstance(row, int | np.integer):
            if not 0 <= row < len(out):
                raise BadUsage(f"there is no row {row}", expected=f"0 to {len(out) - 1}")
            out[row] = True
            continue
        hits = [row == (name if isinstance(row, str) else (name, c)) for name, c in equations.labels]
        if not any(hits):
            said = row if isinstance(row, str) else " ".join(row)
            raise UnknownName(f"there is no constraint {said!r} to close", remedy=suggestion(said, names))
        out |= hits
    return out


_FORMS: dict[str, Callable[[ImpactProblem], Solution]] = {
    "full": full,
    "projected": projected,
    "minimal": minimal,
}
FORMS = tuple(_FORMS)


def activate(
    equations: Equations,
    qd: Array | None = None,
    rows: Sequence[Row] = (),
    impulse: Array | float = 0.0,
    form: str = "full",
) -> Transition:
    """Return the jump of velocities when constraints close at an instant.

    The pose stays the same, and the velocities jump so that all constraints hold and the momentum balance
    M Δq̇ = U + J₊ᵀΛ is satisfied (mueller2026 (21), whose Λ has the opposite sign: ours acts on the successor).
    Without rows, the result is the response to the impulse alone. Rows that open must not be among those of the
    equations; on their own they cause no jump.

    Parameters
    ----------
    equations : Equations
        Equations at the pose, with all rows that hold afterwards, in any coordinates. Its degree of redundancy
        is the generic one; b₊ are its velocity terms.
    qd : (n,) array, optional
        Velocities before, rad/s and m/s; by default those of the equations.
    rows : sequence of str, (constraint, component) or int
        The rows that close now: all rows of a constraint, or single ones. The others were in force before.
    impulse : (n,) array or 0
        Impulsive input U on the coordinates, N·s and N·m·s.
    form : "full", "projected" or "minimal"
        mueller2026 (24), (32) or (37); they agree.

    Raises
    ------
    UnknownName
        An unknown form, constraint or row.
    BadUsage, BadNumber
        A row out of range, vectors of the wrong length, numbers that are not finite.
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
    """Return a value as a checked vector with one number for each rate, (nv,)."""
    out = np.array(value, dtype=float)
    if out.shape != equations.v.shape:
        raise BadUsage(f"{what} have shape {out.shape}", expected=f"{len(equations.v)} numbers")
    if not np.isfinite(out).all():
        raise BadNumber(f"{what}: a number is not finite", expected="SI units")
    return out


def _loses_rank(equations: Equations) -> bool:
    """Return True if the rank of the rows is lower here than at a generic pose."""
    if not equations.rank:
        return False
    sigma = np.linalg.svd(equations.scaled_C, compute_uv=False)
    return bool(len(sigma) < equations.rank or sigma[equations.rank - 1] <= _LOST * sigma[0])


def _closes(problem: ImpactProblem, jump: Array) -> bool:
    """Return True if the rates after a ``jump`` (nv,) satisfy all rows, including dependent ones."""
    left = problem.gap - problem.C @ jump
    rates = np.abs(problem.C) @ (np.abs(problem.qd) + np.abs(jump))
    size = max(float(rates.max(initial=0.0)), float(np.abs(problem.gap).max(initial=0.0)))
    return bool(np.abs(left).max(initial=0.0) <= max(FOLLOWED * size, REST))


def impulses(problem: ImpactProblem, found: Solution) -> Array:
    """Return Λ (m,) of all rows, N·s and N·m·s: the smallest of those that agree with the jump.

    Persistent rows get the missing part of M Δq̇ = U + J₊ᵀΛ; then all self-stresses are removed.
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
    """Return flags (m,) of the multipliers that the rigid model determines: those whose row of Z is zero."""
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
    """Return the transition with a ``jump`` (nv,) of the rates and the ``impulse`` (m,) of the rows."""
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


# The result of a transition.


@dataclass(frozen=True, eq=False)
class Transition:
    """Velocities before and after an instant at which constraints close, and the impulses.

    Parameters
    ----------
    outcome : str
        ``regular``; ``singular`` if the constraints lose rank at this pose (mueller2026 Def. 1), so that the
        momentum balance has no unique solution; ``contradictory`` if no velocities satisfy them all.
        Unless it is regular, velocities after, impulses and energy after are NaN.
    form : str
        Form of the transition condition.
    qd_minus, qd_plus : (n,) array
        Velocities in the coordinates of the equations, rad/s and m/s.
    labels : tuple of (constraint, component)
        One per row, including persistent rows.
    activated : (m,) array of bool
        Which rows close now.
    impulses : (m,) array
        Λ with M Δq̇ = U + CᵀΛ, N·s and N·m·s, acting on the successor. If they are not unique, the
        smallest ones (lengths scaled by the characteristic length).
    unique : (m,) array of bool
        Whether the rigid model determines each impulse.
    energy_before, energy_after : float
        Kinetic energy, J.
    """

    outcome: str
    form: str
    qd_minus: Array
    qd_plus: Array
    labels: tuple[tuple[str, str], ...]
    activated: AnyArray
    impulses: Array
    unique: AnyArray
    energy_before: float
    energy_after: float

    @property
    def jump(self) -> Array:
        """Δq̇ (n,), rad/s and m/s."""
        return self.qd_plus - self.qd_minus

    @property
    def loss(self) -> float:
        """Loss of kinetic energy, J."""
        return self.energy_before - self.energy_after

    @property
    def impulse(self) -> dict[tuple[str, str], float]:
        """Impulses by (constraint, component), N·s and N·m·s."""
        return dict(zip(self.labels, self.impulses.tolist(), strict=True))

    @property
    def open_impulses(self) -> tuple[tuple[str, str], ...]:
        """The rows whose impulse the rigid model does not determine."""
        return tuple(label for label, one in zip(self.labels, self.unique.tolist(), strict=True) if not one)


# Timed constraints, active only for an interval: a mechanism without and with them.


def without_constraints(
    mech: Mechanism, holds: Iterable[TimedConstraint]
) -> tuple[Mechanism, tuple[Constraint, ...]]:
    """Return a mechanism without its timed constraints, and these constraints.

    Raises
    ------
    UnknownName
        There is no such constraint.
    BadUsage
        A lock (which has times of its own), or a constraint named twice.
    """
    names = [hold.constraint for hold in holds]
    own = {constraint.name: constraint for constraint in mech.constraints()}
    for k, name in enumerate(names):
        if name not in own:
            raise UnknownName(
                f"there is no constraint {name!r} to hold for a while",
                remedy=suggestion(name, list(own)),
            )
        if isinstance(own[name], Lock):
            raise BadUsage(
                f"{name!r} is a lock", remedy="give the lock its own times: Lock(joint, at, until)"
            )
        if name in names[:k]:
            raise BadUsage(f"constraint {name!r} is to hold twice", expected="one time each")
    # a wheel stays on its plane: only its rolling rows are timed
    rolling = [replace(w, holonomic=()) for w in mech.pfaffians if w.name in names and isinstance(w, Rolling)]
    taken = [own[n] for n in names if not isinstance(own[n], Rolling)]
    pfaffians = tuple(
        replace(w, nonholonomic=()) if isinstance(w, Rolling) and w.name in names else w
        for w in mech.pfaffians
        if isinstance(w, Rolling) or w.name not in names
    )
    rest = replace(
        mech,
        pairs=tuple(p for p in mech.pairs if p.name not in names),
        couplings=tuple(c for c in mech.couplings if c.name not in names),
        drivers=tuple(d for d in mech.drivers if d.name not in names),
        pfaffians=pfaffians,
    )
    return rest, (*taken, *rolling)


def state_in(mech: Mechanism, q: Array, qd: Array, rest: Mechanism) -> tuple[Array, Array]:
    """Return a state q (nq,), qd (nv,) in the coordinates of ``rest``, the mechanism without some constraints."""
    poses = forward(mech, q)
    twists = body_twists(mech, poses, qd)
    new_q, new_qd = coordinates_of(rest, poses), np.zeros(len(rest.qd_names))
    for joint in rest.tree.joints:
        if joint.pair is None:
            new_qd[joint.qd] = twists[rest.body_index[joint.outer]]
    for names, old, new, values in (
        (mech.q_names, q, rest.q_names, new_q),
        (mech.qd_names, qd, rest.qd_names, new_qd),
    ):
        for k, name in enumerate(new):
            if name in names:
                values[k] = old[names.index(name)]
    return new_q, new_qd


def with_constraints(rest: Mechanism, constraints: Sequence[Constraint]) -> Mechanism:
    """Return a mechanism with constraints added, and its coordinates unchanged.

    Free roots get floating pairs, which have the same coordinates, so that a new closure does not become a
    joint of the tree.
    """
    pairs = [replace(c, closure=True) for c in constraints if isinstance(c, Pair)]
    floats = []
    if pairs:
        roots = [joint.outer for joint in rest.tree.joints if joint.pair is None]
        bodies = {body.name: body for body in rest.bodies}
        ground = Pose.identity()
        floats = [
            Pair(f"free {name}", "floating", WORLD, name, ground, Pose(np.eye(3), bodies[name].p_LC))
            for name in roots
        ]
    wheels = {c.name: c for c in constraints if isinstance(c, Rolling)}
    return replace(
        rest,
        pairs=(*floats, *rest.pairs, *pairs),
        couplings=(*rest.couplings, *(c for c in constraints if isinstance(c, Coupling))),
        drivers=(*rest.drivers, *(c for c in constraints if isinstance(c, Driver))),
        pfaffians=(
            *(
                replace(w, nonholonomic=wheels[w.name].nonholonomic)
                if isinstance(w, Rolling) and w.name in wheels
                else w
                for w in rest.pfaffians
            ),
            *(c for c in constraints if isinstance(c, KnifeEdge)),
        ),
    )
