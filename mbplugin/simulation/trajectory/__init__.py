"""The trajectory of a motion: the record of its run, its samples, and the wrenches on the axes of its joints."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.dynamics.kernels import move
from mbplugin.dynamics.kernels.composite_bodies import composite_records, find_composites, rate_records
from mbplugin.errors import BadUsage
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Constraint, Lock, Mechanism
from mbplugin.model.mechanism.identity import Holder, pair_and_freedom
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array, make_read_only
from mbplugin.simulation import MotionRange
from mbplugin.simulation.activation import Activation
from mbplugin.simulation.impact import with_constraints
from mbplugin.simulation.integrators.contract import Chunk, State, Step
from mbplugin.simulation.kernel_state import KernelState
from mbplugin.simulation.options import Options, Outcome
from mbplugin.simulation.passing_marks import Event
from mbplugin.simulation.steppers import CompiledStepper, Stepper, follow, inside, is_same

if TYPE_CHECKING:
    from mbplugin.joint_reactions.stiffness_estimate import Section
    from mbplugin.simulation.steppers import Leading


#: Times closer than this fraction of an interval are the same.
_SAME = 1e-9
#: Times closer than this, relative to 1 s plus the time, are one instant.
_ROUNDING = 1e-12


# Samples at equal intervals, inside the steps.


class Grid:
    """A record at equal intervals, in addition to that of the steps; both contain the samples at events.

    Parameters
    ----------
    interval : float
        s.
    crossings : mapping
        Steps across singular poses, by their start time, s.
    """

    def __init__(self, interval: float, crossings: Mapping[float, Step]) -> None:
        self.record = Record()
        self._interval, self._crossings = interval, crossings
        self._done = 0

    def follow(self, stepper: Stepper, kernel_state: KernelState, steps: list[Step], segment: int) -> bool:
        """Sample the new steps; return True if there were samples, so that the model has moved."""
        moved = False
        for step in steps[self._done :]:
            for time in self._times(step):
                self.record.add(self._state(stepper, kernel_state, step, time), segment)
                moved = True
        self._done = len(steps)
        return moved

    def back_to(self, time: float, steps: int) -> None:
        """Drop the samples after a time (s); ``steps`` is the number of steps that remain."""
        self.record.back_to(time)
        self._done = min(self._done, steps)

    def _times(self, step: Step) -> list[float]:
        first = floor(step.start / self._interval + _SAME) + 1
        last = floor((step.start + step.length) / self._interval + _SAME)
        return [k * self._interval for k in range(first, last + 1)]

    def _state(self, stepper: Stepper, kernel_state: KernelState, step: Step, time: float) -> State:
        """Return the state at a time inside a step, s."""
        if self._crossings.get(step.start) is step:
            return inside(kernel_state, step, time)
        qd = step.qd.copy()
        state = State(step.start, step.q.copy(), qd, np.zeros_like(qd), step.work[0].copy())
        if not follow(stepper, kernel_state, state, min(time, step.start + step.length)):
            raise BadUsage(
                f"the motion cannot be followed again to t = {time:.9g} s",
                expected="a controller or profile that returns the same at the same state",
            )
        state.t = time
        return state


# Integration of a motion between its samples, with the same equations from the sample before.
#
# Between two samples of a run, the set of constraints does not change, every prescribed motion is one
# polynomial, and the state is smooth. A part of the accepted step ends on the constraints and
# solves the equations at least as accurately as the whole step. Nothing is interpolated, so no polynomial crosses
# a jump of rates or accelerations.


@dataclass(frozen=True, eq=False)
class Phase:
    """The equations in force from a time on.

    Parameters
    ----------
    start : float
        s.
    kernel_state : KernelState
        With the independent rows chosen then.
    sticking, carrying : (n,) array of bool
        Which resistances stick, and which of these have a multiplier.
    locked : tuple of int
        Rows of locks and drives.
    rows, joint_frames, resistances : record arrays
        Copies of those of the model at that time.
    """

    start: float
    kernel_state: KernelState
    sticking: AnyArray
    carrying: AnyArray
    locked: tuple[int, ...]
    rows: AnyArray
    joint_frames: AnyArray
    resistances: AnyArray


class Phases:
    """The phases of a run, in the order of time."""

    def __init__(self, activation: Activation) -> None:
        self.activation = activation
        self._phases: list[Phase] = []
        self._starts: list[float] = []
        self._in_force: Phase | None = None
        #: Steps across singular poses, by their start time, s.
        self.crossings: dict[float, Step] = {}

    def note(self, time: float) -> None:
        """Record the equations in force from a time on (s), if they have changed."""
        active, model = self.activation, self.activation.model
        self._in_force = None
        if self._phases:
            last = self._phases[-1]
            same = (
                last.kernel_state is active.kernel_state
                and last.locked == active.locked
                and np.array_equal(last.resistances, model.resistances)
                and np.array_equal(last.rows["offset"], model.table.rows["offset"])
            )
            if same:
                return
        self._starts.append(time)
        kept = map(_copied, (model.table.rows, model.table.joint_frames, model.resistances))
        self._phases.append(
            Phase(time, active.kernel_state, active.sticking, active.carrying, active.locked, *kept)
        )

    def take_up(self, time: float) -> KernelState:
        """Restore the equations in force at a time, s; return their kernel state."""
        one = self._phases[max(0, bisect_right(self._starts, time) - 1)]
        if one is self._in_force:
            return one.kernel_state
        self._in_force = one
        active, model = self.activation, self.activation.model
        active.kernel_state, active.locked = one.kernel_state, one.locked
        active.sticking, active.carrying = one.sticking, one.carrying
        model.table.rows[:], model.table.joint_frames[:] = one.rows, one.joint_frames
        model.resistances[:] = one.resistances
        return one.kernel_state


def _copied(records: AnyArray) -> AnyArray:
    """Return a copy of records (n,), made bytewise: numpy copies field by field, which takes five times as long."""
    return np.asarray(records.view(f"V{records.dtype.itemsize}").copy().view(records.dtype))


class Playback:
    """Integrate a motion again between the samples of its run.

    Parameters
    ----------
    record : Record
        All steps of the run.
    """

    def __init__(self, phases: Phases, stepper: Stepper, options: Options, record: Record) -> None:
        self._phases = phases
        if isinstance(stepper, CompiledStepper):
            stepper = CompiledStepper(options, False, stepper.absolute)
        self._stepper = stepper
        self._samples = record.arrays()
        self._times: list[float] = self._samples[0].tolist()
        self._segment = record.segment()

    @property
    def compiled(self) -> bool:
        """True if its steps are compiled."""
        return isinstance(self._stepper, CompiledStepper)

    def at(self, time: float) -> tuple[State, int]:
        """Return the state at a time (s) without an event, and the index of its set of constraints.

        Raises
        ------
        BadUsage
            The equations cannot be solved again: a user function returns other values than before.
        """
        k = max(0, bisect_right(self._times, time) - 1)
        state = State(self._times[k], *(values[k].copy() for values in self._samples[1:]))
        segment = int(self._segment[k])
        if is_same(state.t, time):
            return state, segment
        kernel_state = self._phases.take_up(state.t)
        step = self._phases.crossings.get(state.t)
        if step is not None:
            return inside(kernel_state, step, time), segment
        if not follow(self._stepper, kernel_state, state, time):
            raise BadUsage(
                f"the motion cannot be followed again to t = {time:.9g} s",
                expected="a controller or profile that returns the same at the same state",
            )
        return state, segment


@dataclass
class Record:
    """Samples in blocks, in the order of time.

    Parameters
    ----------
    blocks : list of (time, q, qd, qdd, work)
        Each with a leading axis over its samples.
    segments : list of (index, samples)
        Set of constraints in force, and number of samples, of each block.
    count : int
        Number of samples that were added.
    """

    blocks: list[tuple[Array, ...]] = field(default_factory=list)
    segments: list[tuple[int, int]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    count: int = 0

    def add(self, state: State, segment: int) -> None:
        """Add a state; a time that is too small by rounding is set to that of the last sample."""
        time = state.t
        if self.blocks and 0.0 < self.blocks[-1][0][-1] - time < _ROUNDING * (1.0 + abs(time)):
            time = float(self.blocks[-1][0][-1])
        values = (np.array(time), state.q, state.qd, state.qdd, state.work)
        self.blocks.append(tuple(v.copy()[None] for v in values))
        self.segments.append((segment, 1))
        self.count += 1

    def add_chunk(self, chunk: Chunk, kept: int, segment: int) -> None:
        """Add the first samples of a chunk."""
        values = (chunk.time, chunk.q, chunk.qd, chunk.qdd, chunk.work)
        self.blocks.append(tuple(v[:kept].copy() for v in values))
        self.segments.append((segment, kept))
        self.count += kept

    def arrays(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return time (T,), q, qd, qdd and works (T, 3) of all samples."""
        time, q, qd, qdd, work = (np.concatenate(parts) for parts in zip(*self.blocks, strict=True))
        return time, q, qd, qdd, work

    def segment(self) -> AnyArray:
        """Return the index of the set of constraints at each sample, (T,)."""
        return np.concatenate([np.full(n, k) for k, n in self.segments])

    def last(self) -> State:
        """Return the last state."""
        return _state(self.blocks[-1], -1)

    def backwards(self) -> Iterator[tuple[State, int]]:
        """Yield all states with the index of their set of constraints, the last one first."""
        for block, (segment, count) in zip(reversed(self.blocks), reversed(self.segments), strict=True):
            for k in range(count - 1, -1, -1):
                yield _state(block, k), segment

    def back_to(self, time: float) -> None:
        """Drop samples, steps and events after a time (s)."""
        while self.blocks[-1][0][-1] > time:
            count = int((self.blocks[-1][0] <= time).sum())
            self.blocks[-1] = tuple(v[:count] for v in self.blocks[-1])
            self.segments[-1] = (self.segments[-1][0], count)
            if not count:
                del self.blocks[-1], self.segments[-1]
        self.steps = [step for step in self.steps if step.start < time]
        self.events = [event for event in self.events if event.time <= time]


def _state(block: tuple[Array, ...], k: int) -> State:
    time, *values = (v[k].copy() for v in block)
    return State(float(time), *values)


def make_step(start: State, end: State, dense: Array) -> Step:
    """Return the step between two states, with its ``dense`` (d, 2, nv) output."""
    return Step(start.t, end.t - start.t, start.q, start.qd, dense.copy(), np.array([start.work, end.work]))


def make_steps(start: State, chunk: Chunk, count: int) -> list[Step]:
    """Return the first ``count`` steps of a chunk that begins at a state."""
    time = np.append(start.t, chunk.time[:count])
    q, qd, work = (
        np.vstack((first, rest[:count]))
        for first, rest in ((start.q, chunk.q), (start.qd, chunk.qd), (start.work, chunk.work))
    )
    dense, starts, lengths = chunk.dense[:count].copy(), time.tolist(), np.diff(time).tolist()
    return [Step(starts[k], lengths[k], q[k], qd[k], dense[k], work[k : k + 2]) for k in range(count)]


def sample(chunk: Chunk, k: int) -> State:
    """Return sample k of a chunk as a state."""
    values = (chunk.q[k].copy(), chunk.qd[k].copy(), chunk.qdd[k].copy(), chunk.work[k].copy())
    return State(float(chunk.time[k]), *values)


@dataclass(frozen=True, eq=False)
class StatedStiffness:
    """Stated flexibility: compliance (6, 6) of pairs and sections of bodies, by name."""

    pairs: Mapping[str, Array]
    sections: Mapping[str, Section]

    def __bool__(self) -> bool:
        return bool(self.pairs or self.sections)


@dataclass(frozen=True, eq=False)
class Samples:
    """The fields of :class:`~mbplugin.simulation.trajectory.trajectory.Trajectory`, which documents them."""

    mechanism: Mechanism
    actions: AppliedForces
    time: Array
    q: Array
    qd: Array
    qdd: Array
    kinetic: Array
    potential: Array
    dissipated: Array
    applied: Array
    driven: Array
    active: tuple[tuple[str, ...], ...]
    segment: Array
    residuals: dict[str, float]
    events: tuple[Event, ...] = ()
    outcome: Outcome = "completed"
    notes: tuple[str, ...] = ()
    planar: str | None = None
    redundancy: str = "eliminate"
    degree_of_redundancy: int = 0
    statistics: dict[str, float] = field(default_factory=dict)
    held: tuple[Constraint, ...] = ()
    coordinates: str = "joint"
    dropped: tuple[tuple[str, str], ...] = ()
    tolerance: float = DEFAULT_TOLERANCE
    independent: tuple[Leading, ...] = ()
    playback: Playback | None = field(default=None, repr=False)
    stiffness: StatedStiffness | None = field(default=None, repr=False)
    motion_range: MotionRange | None = field(default=None, repr=False)

    @property
    def pair_names(self) -> tuple[str, ...]:
        """Names of all pairs, including timed closures."""
        return (*self.mechanism.pair_by_name, *(c.name for c in self.held if isinstance(c, Pair)))

    @cached_property
    def momenta(self) -> Array:
        """Generalised momenta M(q) q̇ (T, nv), in the order of ``qd``: N·m·s for rotations, N·s for translations.

        M includes the payloads and the inertia of the drives. It is that of the tree in space: a planar view, closures
        and drivers do not change it. When a constraint closes, momenta change by the generalised impulses along the
        rates; momenta without an impulse are continuous.
        """
        # pages of lints import this module, and no kernels
        from mbplugin.dynamics.kernels import move
        from mbplugin.dynamics.kernels.articulated import factor, mass_matrix
        from mbplugin.dynamics.tree_model import tree_model

        model = tree_model(self.mechanism, self.actions)
        out, M = np.empty(self.qd.shape), np.empty((len(model.rates), len(model.rates)))
        for k, (q, qd) in enumerate(zip(self.q, self.qd, strict=True)):
            move(model.composites, model.rates, q, qd)
            factor(model.composites, model.rates)
            mass_matrix(model.composites, model.rates, M)
            out[k] = M @ qd
        make_read_only(out)
        return out


# The active constraints of each segment of a motion: the mechanism with closed locks, brakes and sticking joints.


@dataclass(frozen=True, eq=False)
class Held:
    """A mechanism with one set of active constraints, and the samples at which they apply.

    Parameters
    ----------
    mech : Mechanism
        With locks for additional constraints; locked freedoms have no dry friction, as the lock includes it.
    active : tuple of str
        Names of the active constraints besides the mechanism's own.
    samples : (s,) array of int
        Indices of the samples.
    """

    mech: Mechanism
    active: tuple[str, ...]
    samples: AnyArray

    def spread(self, most: int) -> list[int]:
        """Return up to ``most`` of the samples, evenly spread."""
        at = np.linspace(0, len(self.samples) - 1, min(most, len(self.samples)))
        return [int(k) for k in self.samples[at.round().astype(int)]]


def held_mechanisms(trajectory: Samples) -> Iterator[Held]:
    """Yield every segment of a motion that has samples."""
    for k, active in enumerate(trajectory.active):
        samples = np.flatnonzero(trajectory.segment == k)
        if samples.size:
            yield Held(_closed(trajectory.mechanism, active, trajectory.held), active, samples)


def _closed(mech: Mechanism, active: tuple[str, ...], for_a_while: tuple[Constraint, ...]) -> Mechanism:
    """Return the mechanism with the additional active constraints.

    These are locks for ``lock j``, ``friction j``, ``brake j`` and the like, and timed constraints.
    """
    mech = with_constraints(mech, [c for c in for_a_while if c.name in active])
    own = {constraint.name for constraint in mech.constraints()}
    holders = (Holder.of(name) for name in active if name not in own)
    joints = dict.fromkeys(holder.joint for holder in holders if holder)
    locks = tuple(_lock(mech, joint) for joint in joints)
    held = {(lock.joint, freedom) for lock in locks for freedom in _freedoms(mech, lock)}
    pairs = tuple(_without_friction(pair, held) for pair in mech.pairs)
    return replace(mech, pairs=pairs, locks=(*mech.locks, *locks))


def _lock(mech: Mechanism, joint: str) -> Lock:
    """Return the lock of a joint, or of one freedom for a name ``joint.freedom``."""
    pair, freedom = pair_and_freedom(joint, mech.pair_by_name)
    return Lock(pair, freedoms=(freedom,) if freedom else ())


def _freedoms(mech: Mechanism, lock: Lock) -> tuple[str, ...]:
    return lock.freedoms or mech.pair_by_name[lock.joint].kind.free


def _without_friction(pair: Pair, held: set[tuple[str, str]]) -> Pair:
    freedoms = tuple(
        replace(freedom, friction=0.0, load_friction=0.0) if (pair.name, name) in held else freedom
        for name, freedom in zip(pair.kind.free, pair.freedoms, strict=True)
    )
    return pair if freedoms == pair.freedoms else replace(pair, freedoms=freedoms)


# Poses and twists of all bodies along a motion.


@dataclass(frozen=True, eq=False)
class PointMotion:
    """The path of a point fixed in a body, world axes.

    Parameters
    ----------
    p_W, v_W : (T, 3) array
        Position and velocity at the samples, m and m/s.
    """

    p_W: Array
    v_W: Array


@dataclass(frozen=True, eq=False)
class BodyMotions:
    """Poses and twists of all bodies at the samples of a motion, world axes.

    Parameters
    ----------
    R_WL, p_WL : (T, N, 3, 3), (T, N, 3) array
        Link frames, m.
    p_WC : (T, N, 3) array
        Centres of mass, m.
    twists : (T, N, 6) array
        [v; ω] at the centres of mass, m/s and rad/s.
    """

    R_WL: Array
    p_WL: Array
    p_WC: Array
    twists: Array

    def point(self, body: int, p_L: Array) -> tuple[Array, Array]:
        """Return positions and velocities (T, 3) of a body's point p_L (3,) in its link frame, m and m/s."""
        path = self.p_WL[:, body] + self.R_WL[:, body] @ p_L
        twist = self.twists[:, body]
        return path, twist[:, :3] + np.cross(twist[:, 3:], path - self.p_WC[:, body])


def body_motions(mech: Mechanism, q: Array, qd: Array | None = None) -> BodyMotions:
    """Return poses and twists of all bodies at coordinates q (T, nq) and rates qd (T, nv), by default at rest."""
    of = find_composites(mech, apart=True)
    composites = composite_records(mech, of)
    rates = rate_records(mech, of, np.zeros(len(mech.qd_names)))
    rows = np.zeros((len(q), len(rates))) if qd is None else qd
    bodies = list(of.of_body)
    out = np.empty((len(q), len(bodies), 3, 3)), *(np.empty((len(q), len(bodies), n)) for n in (3, 3, 6))
    for k in range(len(q)):
        # copied, as the kernel would be compiled again for read-only arrays
        move(composites, rates, q[k].copy(), rows[k].copy())
        for values, part in zip(out, ("R", "p", "c", "v"), strict=True):
            values[k] = composites[part][bodies]
    R_WK, p_WK, p_WC, twists = out
    R_KL, p_KL = (np.array([getattr(X, part) for X in of.X_KL]) for part in ("R", "p"))
    return BodyMotions(R_WK @ R_KL, p_WK + np.einsum("tnij,nj->tni", R_WK, p_KL), p_WC, twists)
