"""Samples at equal intervals, inside the steps."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.steppers.compiled import State, Stepper
from mbplugin.simulation.steppers.follow import follow, inside
from mbplugin.simulation.steppers.kernel_state import KernelState
from mbplugin.simulation.trajectory.record import Record

#: Instants nearer to each other than this part of an interval are the same.
_SAME = 1e-9


class Grid:
    """A record at equal intervals beside that of the steps; what happens at events is kept in both.

    Parameters
    ----------
    interval : float
        s.
    crossings : mapping
        Steps across singular poses, by their start, s.
    """

    def __init__(self, interval: float, crossings: Mapping[float, Step]) -> None:
        self.record = Record()
        self._interval, self._crossings = interval, crossings
        self._done = 0

    def follow(self, stepper: Stepper, kernel_state: KernelState, steps: list[Step], segment: int) -> bool:
        """Sample the steps that are new; return whether there were samples (and the model has moved)."""
        moved = False
        for step in steps[self._done :]:
            for time in self._times(step):
                self.record.add(self._state(stepper, kernel_state, step, time), segment)
                moved = True
        self._done = len(steps)
        return moved

    def back_to(self, time: float, steps: int) -> None:
        """Forget what came after an instant, and the steps beyond a number."""
        self.record.back_to(time)
        self._done = min(self._done, steps)

    def _times(self, step: Step) -> list[float]:
        first = floor(step.start / self._interval + _SAME) + 1
        last = floor((step.start + step.length) / self._interval + _SAME)
        return [k * self._interval for k in range(first, last + 1)]

    def _state(self, stepper: Stepper, kernel_state: KernelState, step: Step, time: float) -> State:
        """Return the state at an instant of a step."""
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
