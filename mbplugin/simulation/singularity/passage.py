"""The interval in which a run crosses a singular pose, and the reason if it cannot."""

from __future__ import annotations

from itertools import islice

import numpy as np

from mbplugin.dynamics.kernels.group import displace
from mbplugin.simulation.active_set.activation import Activation
from mbplugin.simulation.singularity.crossing import CollocationStep, collocation_step
from mbplugin.simulation.steppers.compiled import State, Stepper
from mbplugin.simulation.trajectory.record import Record, make_step, sample

#: Rows whose own share falls below this part of the best seen are weak: a singular pose is near.
WEAK = 2e-2
#: A crossing begins and ends where the share is this part of the best seen.
_CLEAR = 6e-2
#: Samples looked back for one that is clear.
_BACK = 2000
#: Other lengths to try, should a node have met the pose.
_LENGTHS = (1.0, 1.17, 0.87)
#: Motion of the step away from a singular pose at which a run starts, rad and m.
_AWAY = (0.1, 0.03, 0.01)
_STEPS = 4096


class Passage:
    """The singular poses of a run."""

    def __init__(self, stepper: Stepper, activation: Activation) -> None:
        self._stepper, self._activation = stepper, activation
        self.best = 0.0
        #: The last instant at which something has changed, s: nothing before it is taken up again.
        self.since = 0.0

    def note(self) -> None:
        """Remember how clear the rows are that have just been chosen."""
        self.best = max(self.best, self._activation.row_independence)

    def is_weak(self) -> bool:
        """Return whether the chosen rows are nearly dependent, as they have just been chosen."""
        self.note()
        return self._activation.row_independence < WEAK * self.best

    def escape(self, state: State) -> CollocationStep | None:
        """Return a step away from a singular pose at which a run starts, along its rates, if there is one."""
        active, speed = self._activation, float(np.abs(state.qd).max(initial=0.0))
        for size in _AWAY if speed > 0 else ():
            ahead = self._ahead(state, size / speed)
            active.refresh(self._stepper, ahead)
            if not active.missing:
                crossed = collocation_step(self._stepper, active.kernel_state, state, size / speed)
                if crossed is not None:
                    return crossed
        return None

    def collocation_step(self, record: Record, state: State, end: float) -> CollocationStep | None:
        """Go back to where the rows were clear, up to the pose again, and across; None where that fails.

        The record is left as it was at the beginning of the step that is returned.
        """
        active, stepper = self._activation, self._stepper
        low = state.copy()
        share_low = self._share(low)
        start, share = self._clear_sample(record)
        if start is None or share <= share_low:
            return None
        slope = (share - share_low) / max(low.t - start.t, 1e-300)
        begin = min(start.t + (share - _CLEAR * self.best) / slope, low.t)
        approach = start.copy()
        steps = []
        active.refresh(stepper, approach)
        if begin > approach.t + 1e-12:
            approach.h = begin - approach.t
            before = approach.copy()
            _, chunk, count = stepper.advance(
                active.kernel_state, active.event_functions[:0], approach, begin, 0.0, _STEPS
            )
            if approach.t < begin * (1 - 1e-12):
                return None
            for k in range(count):
                now = sample(chunk, k)
                steps.append((now, make_step(before, now, chunk.dense[k]) if len(chunk.dense) else None))
                before = now
            active.refresh(stepper, approach)
        crossed = self._across(approach, end)
        if crossed is None:
            return None
        record.back_to(start.t)
        for now, step in steps:
            record.add(now, active.segment)
            if step is not None:
                record.steps.append(step)
        return crossed

    def _across(self, state: State, end: float) -> CollocationStep | None:
        half = self._time_to_pose(state)
        for factor in _LENGTHS if half > 0 else ():
            length = min(2.0 * factor * half, end - state.t)
            crossed = collocation_step(self._stepper, self._activation.kernel_state, state, length)
            if crossed is not None:
                return crossed
        return None

    def _time_to_pose(self, state: State) -> float:
        """Return the time at which the weakest share would vanish, s, or zero where it grows."""
        speed = float(np.abs(state.qd).max(initial=0.0))
        if speed == 0.0:
            return 0.0
        here, time = self._share(state), 1e-3 * _CLEAR / speed
        for _ in range(4):
            ahead = self._share(self._ahead(state, time))
            if ahead >= here:
                return 0.0
            # halfway there is near enough to know the whole
            time *= 0.5 * here / (here - ahead)
        return 2.0 * time

    def _share(self, state: State) -> float:
        self._stepper.evaluate(self._activation.kernel_state, state)
        return float(self._activation.kernel_state.row_independence[0])

    def _ahead(self, state: State, time: float) -> State:
        ahead = state.copy()
        x = time * state.qd + 0.5 * time**2 * state.qdd
        displace(self._activation.kernel_state.composites, state.q, x, ahead.q)
        ahead.qd += time * state.qdd
        ahead.t += time
        return ahead

    def _clear_sample(self, record: Record) -> tuple[State | None, float]:
        """Return the last state of this segment at which the rows were clear, and their share there."""
        for state, segment in islice(record.backwards(), _BACK):
            if segment != self._activation.segment or state.t < self.since:
                break
            share = self._share(state)
            if share > _CLEAR * self.best:
                return state, share
        return None, 0.0


def stays(state: State) -> bool:
    """Return whether nothing moves at a state, and nothing starts to."""
    return not np.any(np.abs(np.concatenate((state.qd, state.qdd))) > 1e-9)
