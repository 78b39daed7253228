"""Two rods whose brakes stick and slip, integrated from one change to the next: shares no line with us."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from mbplugin.model.spatial import Array
from rod_arms import two_rods


class Slide(NamedTuple):
    """When the arm and each rod (2,) come to rest, s, and the pose (2,) in which they do, rad."""

    time: float
    times: Array
    q: Array


class Mode:
    """A time in which each brake holds (sense 0), or slides against a sense."""

    def __init__(self, senses: tuple[int, ...], torques: Array, begun: float) -> None:
        self.senses, self.torques, self.begun = senses, torques, begun

    def solve(self, y: Array) -> tuple[Array, Array]:
        """Return q̈ (2,) and brake torques (2,), N·m, of a state (4,)."""
        M, h = two_rods(y[:2], y[2:])
        free = [k for k in range(2) if self.senses[k]]
        held = [k for k in range(2) if not self.senses[k]]
        tau, qdd = -np.array(self.senses) * self.torques, np.zeros(2)
        if free:
            qdd[free] = np.linalg.solve(M[np.ix_(free, free)], (tau - h)[free])
        tau[held] = (M @ qdd + h)[held]
        return qdd, tau

    def rates(self, _: float, y: Array) -> Array:
        return np.concatenate((y[2:], self.solve(y)[0]))

    def consistent(self, y: Array) -> bool:
        qdd, tau = self.solve(y)
        return all(
            qdd[k] * sense > 0 if sense else abs(tau[k]) <= self.torques[k]
            for k, sense in enumerate(self.senses)
            if not y[2 + k]
        )

    def first(self, time: float, y: Array) -> float:
        """Return what is left until rod 0 sticks or slips; negative behind it."""
        return self._left(0, time, y)

    def second(self, time: float, y: Array) -> float:
        return self._left(1, time, y)

    def _left(self, k: int, time: float, y: Array) -> float:
        if self.senses[k]:
            # one that starts from rest has not turned
            return float(self.senses[k] * y[2 + k]) if time > self.begun + 1e-9 else 1.0
        return float(self.torques[k] - abs(self.solve(y)[1][k]))


def terminal(value: object) -> object:
    def event(time: float, y: Array) -> float:
        return float(value(time, y))  # type: ignore[operator]

    event.terminal, event.direction = True, -1.0  # type: ignore[attr-defined]
    return event


def slide_to_rest(q: Array, qd: Array, torques: Array) -> Slide:
    """Return how two rods stop that are braked from t = 0 on with equal sliding and static torques (2,)."""
    t, y, times = 0.0, np.concatenate((q, qd)), np.zeros(2)
    while True:
        choices = [(int(np.sign(v)),) if v else (0, 1, -1) for v in y[2:]]
        modes = [Mode(senses, torques, t) for senses in product(*choices)]
        mode = next(mode for mode in modes if mode.consistent(y))
        if not any(mode.senses):
            return Slide(t, times, y[:2])
        events = [terminal(mode.first), terminal(mode.second)]
        found = solve_ivp(mode.rates, (t, 5.0), y, "DOP853", rtol=1e-11, atol=1e-12, events=events)
        t, y = float(found.t[-1]), found.y[:, -1].copy()
        for k in range(2):
            if mode.senses[k]:
                times[k] = t
                y[2 + k] = 0.0 if len(found.t_events[k]) else y[2 + k]
