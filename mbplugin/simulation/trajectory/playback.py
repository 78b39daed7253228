"""Integration of a motion between its samples: the same equations, from the sample before.

Between two samples of a run the set of constraints does not change, every prescribed motion is one
polynomial, and the state is smooth. A part of the step that was accepted there ends on the constraints and
solves the equations at least as well as the whole step did. Nothing is interpolated, so nothing runs
across a jump of rates or accelerations.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model.spatial import AnyArray
from mbplugin.simulation.active_set.activation import Activation
from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.options import Options
from mbplugin.simulation.steppers.compiled import CompiledStepper, State, Stepper
from mbplugin.simulation.steppers.follow import follow, inside, is_same
from mbplugin.simulation.steppers.kernel_state import KernelState
from mbplugin.simulation.trajectory.record import Record


@dataclass(frozen=True, eq=False)
class Phase:
    """The equations in force from an instant on.

    Parameters
    ----------
    start : float
        s.
    kernel_state : KernelState
        With the rows that were chosen.
    sticking, carrying : (n,) array of bool
        Which resistances stick, and which of these have a multiplier.
    locked : tuple of int
        Rows of locks and drives.
    rows, joint_frames, resistances : record arrays
        As they were.
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
    """The equations of a run, one after the other."""

    def __init__(self, activation: Activation) -> None:
        self.activation = activation
        self._phases: list[Phase] = []
        self._starts: list[float] = []
        self._in_force: Phase | None = None
        #: Steps across singular poses, by the time at which they begin, s.
        self.crossings: dict[float, Step] = {}

    def note(self, time: float) -> None:
        """Remember what is in force from an instant on, where that is something new."""
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
        """Put into force what held from a time on, s; return its kernel state."""
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
    """Return records (n,) as they are now; numpy would copy them field by field, which takes five times as long."""
    return np.asarray(records.view(f"V{records.dtype.itemsize}").copy().view(records.dtype))


class Playback:
    """What a trajectory needs to be followed again.

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
        """Whether its steps are compiled."""
        return isinstance(self._stepper, CompiledStepper)

    def at(self, time: float) -> tuple[State, int]:
        """Return the state at an instant that is no event, and which set of constraints holds there.

        Raises
        ------
        BadUsage
            The equations cannot be solved again there: a user's function does not return what it did.
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
