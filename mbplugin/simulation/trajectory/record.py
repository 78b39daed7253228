"""The record of a run: samples, steps with dense output, and events; integration between samples."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import floor

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model import AnyArray, Array
from mbplugin.simulation.activation import Activation
from mbplugin.simulation.integrators.contract import Chunk, State, Step
from mbplugin.simulation.kernel_state import KernelState
from mbplugin.simulation.options import Options
from mbplugin.simulation.passing_marks import Event
from mbplugin.simulation.steppers import CompiledStepper, Stepper, follow, inside, is_same

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
            raise _cannot_follow(time)
        state.t = time
        return state


def _cannot_follow(time: float) -> BadUsage:
    return BadUsage(
        f"the motion cannot be followed again to t = {time:.9g} s",
        expected="a controller or profile that returns the same at the same state",
    )


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
            raise _cannot_follow(time)
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
