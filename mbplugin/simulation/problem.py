"""The initial-value problem of a motion: a closed state, and a model with its independent rows."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from typing import Any

import numpy as np
from numba import types

from mbplugin.constraints import unsatisfied
from mbplugin.constraints.rank import View
from mbplugin.constraints.rows import plane_columns
from mbplugin.constraints.stated_state import consistent_state
from mbplugin.dynamics.compiler import compiled, kernel
from mbplugin.dynamics.kernels.articulated import displace
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.dynamics.tree_model import TreeModel, massless_joint, tree_model, without_mass
from mbplugin.errors import BadUsage
from mbplugin.model import AnyArray, AppliedForces, Array, Constraint, Lock, Mechanism, State
from mbplugin.phrases import listed
from mbplugin.simulation.friction import choose_rows, generic_redundancy
from mbplugin.simulation.kernel_state import (
    FACTORIZE,
    IMPULSE,
    KINEMATICS,
    MOTION_SEGMENT,
    VECTOR,
    Evaluate,
    KernelState,
    evaluate_address,
    evaluate_at,
    evaluate_from,
    kernel_state_of,
    load_struct,
    measure,
    place_of,
)
from mbplugin.simulation.options import Options
from mbplugin.simulation.passing_marks import TimedDrive

#: Constraints contradict each other if their relative velocity residual exceeds this.
_FOLLOWED = 1e-3
#: Allowed gap of a dependent row: multiples of the gap due to rounding, and, without projection, of the largest gap of
#: the independent rows.
_ROUNDED, _DRIFTED = 10.0, 100.0
#: Scaled position residual that counts as closed.
CLOSED = 1e-13
#: Allowed gap of a dependent row, scaled: the residual of the projection, divided by the independence of a weak row.
_EXACT = 1e6 * CLOSED
_ITERATIONS = 8


@dataclass(frozen=True, eq=False)
class Problem:
    """A model and an initial state from which to integrate.

    Parameters
    ----------
    kernel_state : KernelState
        With the independent rows among the persistent ones.
    q, qd : (nq,), (nv,) array
        A state that satisfies them.
    degree_of_redundancy : int
        p of the persistent rows in joint rates, at a generic pose.
    dropped : tuple of int
        Rows that the user eliminates.
    locks : tuple of Lock
        Those that close later.
    drives : tuple of TimedDrive
        Those that act from the start and may be released.
    held : tuple of Constraint
        Other constraints that are active only for an interval.
    rounded : float
        Scaled gap of dependent rows that rounding of the model's numbers explains.
    """

    model: TreeModel
    kernel_state: KernelState
    q: Array
    qd: Array
    degree_of_redundancy: int
    dropped: tuple[int, ...]
    locks: tuple[Lock, ...]
    notes: tuple[str, ...]
    drives: tuple[TimedDrive, ...] = ()
    held: tuple[Constraint, ...] = ()
    rounded: float = 0.0

    @property
    def own_rank(self) -> int:
        """Generic rank of the persistent rows."""
        return self.model.table.persistent - self.degree_of_redundancy


def pose_problem(
    mech: Mechanism,
    actions: AppliedForces,
    stated: State,
    locks: tuple[Lock, ...],
    options: Options,
    drives: tuple[TimedDrive, ...] = (),
    held: tuple[Constraint, ...] = (),
) -> Problem:
    """Return the problem that starts from the stated values, see :mod:`mbplugin.constraints.stated_state`.

    Raises
    ------
    CannotClose
        A loop that cannot be closed.
    ContradictedState
        Stated values that contradict each other.
    BadUsage
        Rates that no motion follows: a driver that contradicts a closure.
    BrokenModel
        A joint that moves no mass.
    """
    state = consistent_state(mech, stated, plane_columns(options.planar))
    q, notes, rounded = state.q, list(state.notes), 0.0
    p = generic_redundancy(mech, q, options.planar, options.tolerance)
    if p:
        timed = {*(lock.joint for lock in locks), *(d.driver.joint for d in drives)}
        mech, shaky, rounded = hold_shaky_joints(mech, q, state.qd, options, timed)
        notes += shaky
        if shaky:
            p = generic_redundancy(mech, q, options.planar, options.tolerance)
    model = tree_model(
        mech, actions, locks=(*locks, *held, *(d.driver for d in drives)), planar=options.planar, q=q
    )
    motion_segments = motion_segments_of(model, drives)
    empty = kernel_state_of(model, motion_segments, np.zeros(0, dtype=np.int64))
    start, rates = np.array(q), np.array(state.qd, dtype=float)
    if not evaluate_at(empty, KINEMATICS, 0.0, start, rates):
        raise massless_joint(model)
    if (still := without_mass(model.composites, model.rates)).any():
        raise massless_joint(model, still)
    _keep_given_values(model, motion_segments)
    dropped = row_indices(model, options)
    own = tuple(range(model.table.persistent))
    choice = choose_rows(model, own, len(own) - p, options.tolerance, dropped)
    kernel_state = kernel_state_of(model, motion_segments, choice.rows)
    project_state(kernel_state, 0.0, start, rates.copy())
    project_state(kernel_state, 0.0, start, rates)
    _require_followed(model, kernel_state, rates)
    return Problem(model, kernel_state, start, rates, p, dropped, locks, tuple(notes), drives, held, rounded)


def motion_segments_of(model: TreeModel, drives: tuple[TimedDrive, ...]) -> AnyArray:
    """Return the prescribed motions as records (k,), in the order of the drivers and of time."""
    own = {drive.driver.name: drive.motion_segments for drive in drives}
    out = []
    for d, (driver, _) in enumerate(model.table.driven):
        for start, polynomial in own.get(driver.name, driver.segments()):
            out.append((d, start, (*polynomial, *(6 - len(polynomial)) * (0.0,))))
    return np.array(out, dtype=MOTION_SEGMENT)


def _keep_given_values(model: TreeModel, motion_segments: AnyArray) -> None:
    """Fix locks, and drivers without a value, at the present coordinates, which Φ gives.

    The values of the drivers are written to motion_segments (k,).
    """
    for row, label in zip(model.table.rows, model.table.labels, strict=False):
        if label.of_lock:
            row["offset"] += row["phi"]
        # a driver without a value has one segment
        if row["drive"] >= 0 and model.table.driven[row["drive"]][0].value is None:
            motion_segments["c"][motion_segments["drive"] == row["drive"], 0] = row["phi"]


def row_indices(model: TreeModel, options: Options) -> tuple[int, ...]:
    """Return the indices of the rows to drop, among the rows of the model.

    Raises
    ------
    BadUsage
        A row that is not a closing row.
    """
    if options.coordinates != "joint":
        return ()
    labels = model.table.labels[: model.table.persistent]
    if other := [row for row in options.dropped if row not in labels]:
        raise BadUsage(
            f"row {' '.join(other[0])!r} cannot be dropped: it is not a closing row",
            expected="one of " + ", ".join(" ".join(label) for label in labels),
            remedy="use coordinates='absolute' to drop rows of any pair",
        )
    return tuple(labels.index(row) for row in options.dropped)


def _require_followed(model: TreeModel, kernel_state: KernelState, rates: Array) -> None:
    """Raise if the rates (nv,) violate any persistent row, dependent ones included."""
    table = model.table
    gaps = np.array(
        [
            table.rows["unit"][i]
            * (row_rate(model.composites, table.rows, table.terms, i, rates) + table.rows["bias"][i])
            for i in range(table.persistent)
        ]
    )
    size = max(float(np.abs(rates).max(initial=0.0)), float(np.abs(table.rows["bias"]).max(initial=0.0)))
    if gaps.size and np.abs(gaps).max() > _FOLLOWED * max(size, 1e-9):
        name = table.labels[int(np.abs(gaps).argmax())][0]
        raise unsatisfied("rates", name, "change what its drivers prescribe")


# Check that all rows of the loops stay closed during a motion, including those that the rank decision calls dependent.
#
# A step projects onto the independent rows only. That also closes the dependent rows if they are dependent at all
# nearby poses, but lets them open along a freedom that is only infinitesimal. Since no finite motion has such a
# freedom, it is locked at the start; rows that open for any other reason end the motion.


@dataclass(frozen=True)
class Opened:
    """A row of a loop that is no longer satisfied.

    Parameters
    ----------
    time : float
        s.
    constraint, component : str
    gap : float
        m or rad.
    """

    time: float
    constraint: str
    component: str
    gap: float

    @property
    def text(self) -> str:
        """Message for reports."""
        unit = "m" if self.component[:1] in ("t", "d") else "rad"
        return (
            f"the loops open at t = {self.time:.6g} s: {self.constraint} {self.component} by {self.gap:.3g} {unit};"
            " what moves is a freedom to first order only, which no motion of the mechanism has (see MB506)"
        )


def hold_shaky_joints(
    mech: Mechanism, q: Array, qd: Array, options: Options, timed: Container[str]
) -> tuple[Mechanism, list[str], float]:
    """Lock the joints that are free to first order only (shaky), at a closed pose q (nq,).

    Parameters
    ----------
    qd : (nv,) array
        Rates at the start, rad/s and m/s.
    timed : container of str
        Joints that other constraints lock or drive for an interval; they get no lock here.

    Returns
    -------
    Mechanism
        With a lock on these joints.
    list of str
        A note if there are any.
    float
        Scaled gap of dependent rows that rounding of the model's numbers explains.

    Raises
    ------
    BadUsage
        Such a joint has a non-zero rate.
    """
    view = View(mech, q, plane_columns(options.planar), options.tolerance)
    if not any(block.redundancy for block in view.blocks):
        return mech, [], 0.0
    # the analysis is loaded only for redundant loops
    from mbplugin.analysis.mobility import finite_mobility

    rounded = max((b.sigma_next for b in view.blocks if b.redundancy), default=0.0)
    rates = [
        rate for block in finite_mobility(view, 0).shaky for rate in (block.shaky_rates, block.held_rates)
    ]
    names = list(mech.qd_names)
    fixed, held = ({name for group in rates[k::2] for name in group} for k in (0, 1))
    if not held:
        return mech, [], rounded
    scale = max(1.0, float(np.abs(qd).max(initial=0.0)))
    if moving := [name for name in names if name in fixed and abs(qd[names.index(name)]) > 1e-9 * scale]:
        raise BadUsage(
            f"{listed(moving, 4)} cannot move: free to first order only, as the loops have no other pose nearby",
            expected="a rate of 0",
            remedy="start along a freedom of motion, or weaken a closure of the loop (mbplugin lint names it)",
        )
    locks = []
    for joint in mech.tree.joints:
        if joint.pair is None or joint.pair.name in timed:
            continue
        freedoms = tuple(
            freedom
            for freedom, name in zip(joint.pair.kind.free, names[joint.qd], strict=True)
            if name in held
        )
        if freedoms:
            locks.append(Lock(joint.pair.name, freedoms=freedoms))
    note = (
        f"{listed(sorted(fixed, key=names.index), 6)} cannot move and "
        f"{'stays' if len(fixed) == 1 else 'stay'}: free to first order only (see MB506); forces along that freedom"
        " have no finite reactions in a rigid model, those of the lock stand for them"
    )
    return replace(mech, locks=(*mech.locks, *locks)), [note] if locks else [], rounded


class GapWatch:
    """Check that all persistent rows of the mechanism stay satisfied.

    Parameters
    ----------
    labels : sequence of (str, str)
        Constraint and component of each row.
    units : (m,) array
        Factors that make the residuals of rows dimensionless.
    rounded : float
        Scaled gap that rounding of the model's numbers explains.
    projected : bool
        Whether the steps are projected onto the rows.
    """

    def __init__(
        self, labels: Sequence[tuple[str, str]], units: Array, rounded: float, projected: bool
    ) -> None:
        self._labels, self._units = labels, units
        self._rounded, self._projected = rounded, projected
        self._start: Array | None = None

    def opened(self, m: KernelState, time: float, q: Array, qd: Array) -> Opened | None:
        """Return the row that exceeds its allowed gap most at a state q (nq,), qd (nv,), or None.

        The first call sets the reference gaps.
        """
        gaps = measure(m, len(self._labels), np.array([time]), q[None], qd[None])[2]
        if self._start is None:
            self._start = gaps
        scaled = self._units * gaps
        allowed = max(_EXACT, _ROUNDED * self._rounded)
        if not self._projected:
            kept = m.independent_rows[m.independent_rows < len(scaled)]
            allowed = max(allowed, _DRIFTED * float(scaled[kept].max(initial=0.0)))
        over = scaled - np.maximum(allowed, _ROUNDED * self._units * self._start)
        k = int(over.argmax())
        if over[k] <= 0.0:
            return None
        return Opened(time, self._labels[k][0], self._labels[k][1], float(gaps[k]))


# Projection onto the constraints after a step: the smallest correction in the mass metric.


@kernel
def project(evaluate: Evaluate, place: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Correct q (nq,) and qd (nv,) in place so that Φ = 0 and C v + b = 0; return whether M is regular.

    Afterwards, poses, rows and their factorisation are those of the corrected state.
    """
    m = load_struct(place)
    if not evaluate(place, KINEMATICS | FACTORIZE, t, begun, q, qd):
        return False
    if len(m.independent_rows) == 0:
        return True
    # near a singular pose the correction of a weak row would be huge
    m.row_independence[1] = m.row_independence[2]
    if project_position(evaluate, place, t, begun, q, qd):
        evaluate(place, FACTORIZE, t, begun, q, qd)
    project_velocity(evaluate, place, t, begun, q, qd)
    m.row_independence[1] = 0.0
    return True


@kernel
def project_position(evaluate: Evaluate, place: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Project q (nq,) by Newton steps with the existing factorisation, at qd (nv,); return True if q has changed."""
    m, moved, last = load_struct(place), False, inf
    step = m.v
    for _ in range(_ITERATIONS):
        worst = 0.0
        for i in range(len(m.independent_rows)):
            row = m.rows[m.independent_rows[i]]
            m.gap[i] = -row.unit * row.phi
            worst = max(worst, abs(m.gap[i]))
        if worst <= CLOSED or worst > 0.5 * last:
            break
        last, moved = worst, True
        evaluate(place, IMPULSE, t, begun, q, qd)
        for j in range(len(qd)):
            step[j] = m.rates[j].qdd
        displace(m.composites, q, step, q)
        evaluate(place, KINEMATICS, t, begun, q, qd)
    return moved


@kernel
def project_velocity(evaluate: Evaluate, place: int, t: float, begun: float, q: Array, qd: Array) -> None:
    """Project qd (nv,) in place at q (nq,), with the rows factorised; ``multipliers`` then holds the impulses."""
    m = load_struct(place)
    for i in range(len(m.independent_rows)):
        row = m.rows[m.independent_rows[i]]
        m.gap[i] = -row.unit * (row_rate(m.composites, m.rows, m.terms, m.independent_rows[i], qd) + row.bias)
    evaluate(place, IMPULSE, t, begun, q, qd)
    for j in range(len(qd)):
        qd[j] += m.rates[j].qdd
    evaluate(place, KINEMATICS, t, begun, q, qd)


def _project_alone(address: int, place: int, t: float, position: bool, q: Array, qd: Array) -> bool:
    """Project q (nq,) and qd (nv,) in place, or qd only; return True if M is regular."""
    evaluate = evaluate_from(address)
    if position:
        return project(evaluate, place, t, t, q, qd)
    regular = evaluate(place, KINEMATICS | FACTORIZE, t, t, q, qd)
    if len(load_struct(place).independent_rows):
        project_velocity(evaluate, place, t, t, q, qd)
    return bool(regular)


@lru_cache(maxsize=1)
def _projector() -> Any:
    numbers = (types.float64, types.boolean, VECTOR, VECTOR)
    return compiled(_project_alone, types.boolean(types.intp, types.intp, *numbers))


def project_state(m: KernelState, t: float, q: Array, qd: Array) -> bool:
    """Project a state q (nq,), qd (nv,) in place, as after a step; return True if M is regular."""
    return bool(_projector()(evaluate_address(), place_of(m), t, True, q, qd))


def jump_rates(m: KernelState, t: float, q: Array, qd: Array) -> Array:
    """Project the rates qd (nv,) at q (nq,) in place onto the independent rows.

    Returns the impulses (r,), N·s and N·m·s.
    """
    _projector()(evaluate_address(), place_of(m), t, False, q, qd)
    return np.array(m.multipliers)
