"""Samples at equal intervals, from the dense output of the steps."""

from __future__ import annotations

from collections.abc import Callable
from math import floor

import numpy as np

from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.machine import Machine
from mbplugin.simulation.march import March, State
from mbplugin.simulation.record import Record
from mbplugin.spatial import Array

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
#: Instants nearer to each other than this part of an interval are the same.
_SAME = 1e-9


class Grid:
    """A record at equal intervals beside that of the steps; what happens at events is kept in both."""

    def __init__(self, interval: float, displace: Callable[[Array, Array], Array]) -> None:
        self.record = Record()
        self._interval, self._displace = interval, displace
        self._done = 0

    def follow(self, march: March, machine: Machine, steps: list[Step], segment: int) -> bool:
        """Sample the steps that are new; return whether there were samples (and the model has moved)."""
        moved = False
        for step in steps[self._done :]:
            for time in self._times(step):
                self.record.add(self._state(march, machine, step, time), segment)
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

    def _state(self, march: March, machine: Machine, step: Step, time: float) -> State:
        """Return the settled state at an instant of a step; works by quadrature from its start."""
        part = min((time - step.start) / step.length, 1.0)
        power = np.zeros(3)
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            march.evaluate(machine, self._at(step, 0.5 * part * (1.0 + node)), step.start)
            power += 0.5 * weight * machine.power
        state = self._at(step, part)
        march.settle(machine, state, step.start)
        state.work[:] += part * step.length * power
        return state

    def _at(self, step: Step, part: float) -> State:
        x, qd = step.at(part)
        time = step.start + part * step.length
        return State(time, self._displace(step.q, x), qd, np.zeros_like(qd), step.work[0].copy())
