"""The run: steps between scheduled instants, events in their order, and what is kept of it all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbplugin.dynamics.kernels.group import displace
from mbplugin.errors import BadNumber
from mbplugin.simulation.activation import Activation
from mbplugin.simulation.event import passing
from mbplugin.simulation.integrators.contract import Chunk, Step
from mbplugin.simulation.machine import DONE, LOOK, MASSLESS, NOT_FINITE, RESELECT, TOO_SMALL, WEAK
from mbplugin.simulation.march import March, State
from mbplugin.simulation.options import Options
from mbplugin.simulation.passing_marks import joint_limits, passings
from mbplugin.simulation.problem import Problem
from mbplugin.simulation.record import Record
from mbplugin.simulation.schedule import Schedule
from mbplugin.simulation.singular import approach, leap_length, time_to_singular
from mbplugin.spatial import Array

_SINGULAR = 1e-9
#: Steps taken between looks at rows that are singular now.
_CAUTIOUS = 4
#: Room for the steps that repeat one up to an event.
_AGAIN = 64

#: Told (time, duration) after every chunk.
Progress = Callable[[float, float], None]


class Runner:
    """A motion under way."""

    def __init__(
        self, problem: Problem, march: March, options: Options, activation: Activation, schedule: Schedule
    ) -> None:
        self.problem, self.march, self.options = problem, march, options
        self.limits = joint_limits(problem.model.mech, options)
        self.record = Record()
        self.activation = activation
        self.schedule = schedule
        nv = len(problem.qd)
        self.state = State(0.0, problem.q.copy(), problem.qd.copy(), np.zeros(nv), h=_first_step(options))

    def run(self, progress: Progress | None = None) -> str:
        """Move to the end of the duration; return the outcome."""
        act = self.activation
        act.start(self.march, self.state)
        self._keep()
        try:
            for time, changes in self.schedule.instants(self.options.duration):
                outcome = self._advance_to(time, progress)
                if outcome:
                    return outcome
                for change in changes:
                    self.record.events += act.apply(self.march, self.state, change)
                    if act.outcome:
                        return act.outcome
                if changes:
                    self._keep()
                else:
                    act.refresh(self.march, self.state)
                if self._rests():
                    return "stopped"
        except KeyboardInterrupt:
            return "interrupted"
        return "completed"

    def _keep(self) -> None:
        self.record.add(self.state, self.activation.segment)

    def _advance_to(self, end: float, progress: Progress | None) -> str:
        """Take steps to a scheduled instant; return an outcome that ends the motion, or nothing."""
        while self.state.t < end - 1e-13 * (1.0 + end):
            before = self.state.copy()
            act = self.activation
            status, chunk, kept = self.march.advance(
                act.machine, act.marks, self.state, end, act.trusted, 0 if act.trusted > 0 else _CAUTIOUS
            )
            outcome = self._take(before, chunk, kept, status)
            if outcome or (outcome := self._answer(status)):
                return outcome
            if progress is not None:
                progress(self.state.t, self.options.duration)
        return ""

    def _take(self, before: State, chunk: Chunk, kept: int, status: int) -> str:
        """Keep the samples of a chunk, up to what ends the motion or changes it."""
        if not len(chunk.dense):
            self.record.add_chunk(chunk, kept, self.activation.segment)
            return ""
        start = before
        for k in range(kept):
            now = _sample(chunk, k)
            step = _step(start, now, chunk.dense[k])
            if outcome := self._look_at(step):
                return outcome
            if status == LOOK and k == kept - 1 and self._interrupt(step):
                return "stopped" if self._rests() else ""
            self.record.steps.append(step)
            self.record.add(now, self.activation.segment)
            start = now
        return ""

    def _rests(self) -> bool:
        """Whether the run is over: everything stands still, and nothing is going to change."""
        last = self.schedule.last <= self.state.t * (1.0 + 1e-12)
        return self.schedule.to_rest and last and self.activation.at_rest(self.state)

    def _look_at(self, step: Step) -> str:
        """Record what a step passes; where that ends the motion, cut the step there."""
        for one in passings(step, self.limits, self.options, self._displace):
            _, qd = step.at(one.fraction)
            time = step.start + one.fraction * step.length
            self.record.events.append(passing(time, one.kind, one.name, qd, one.text))
            if one.terminal:
                self._cut(step, one.fraction)
                self._keep()
                return "limit_hit" if one.kind == "limit" else "event"
        return ""

    def _interrupt(self, step: Step) -> bool:
        """Cut a step where friction starts or stops to hold; return whether it did."""
        found = self.activation.first_change(step, self._displace)
        if found is None:
            # the search has read the model elsewhere
            self.march.evaluate(self.activation.machine, self.state)
            return False
        fraction, mark = found
        self._cut(step, fraction)
        self._keep()
        self.record.events += self.activation.change(self.march, self.state, mark)
        self._keep()
        return True

    def _cut(self, step: Step, fraction: float) -> None:
        """Take a step again, only up to a fraction of it: the works have no dense output."""
        act = self.activation
        again = State(step.start, step.q.copy(), step.qd.copy(), np.zeros_like(step.qd), step.work[0].copy())
        again.h = fraction * step.length
        self.march.evaluate(act.machine, again)
        start = again.copy()
        _, chunk, kept = self.march.advance(
            act.machine, act.marks[:0], again, step.start + again.h, 0.0, _AGAIN
        )
        for k in range(kept):
            now = _sample(chunk, k)
            self.record.steps.append(_step(start, now, chunk.dense[k]))
            start = now
        again.h = self.state.h
        self.state = again

    def _answer(self, status: int) -> str:
        """Return the outcome that a status means, or nothing where the motion goes on."""
        if status in (DONE, LOOK):
            if self.activation.trusted <= 0:
                self._reselect()
            return ""
        if status == RESELECT:
            self._reselect()
            return ""
        if status == WEAK:
            self._pass_singular()
            return ""
        if status == TOO_SMALL:
            return "step_too_small"
        if status == MASSLESS:
            return "singular"
        assert status == NOT_FINITE
        raise BadNumber(f"the motion is no longer finite at t = {self.state.t:.9g} s")

    def _pass_singular(self) -> None:
        """Go up to a singular pose, or across it where it is near."""
        state, machine = self.state, self.activation.machine
        step = self.record.steps[-1] if self.record.steps else None
        ahead = time_to_singular(machine, step, state) if step else None
        if step is not None and ahead is not None:
            length = leap_length(step, ahead)
            if length is None:
                state.h = min(state.h, approach(ahead))
            else:
                x, state.qd[:] = step.at(1.0 + length / step.length)
                state.q[:] = self._displace(step.q, x)
                state.t += length
                text = "a singular pose is passed; the motion goes on as it came"
                self.record.events.append(passing(state.t - ahead, "singular", "", state.qd, text))
                self.march.settle(machine, state)
                self._keep()
                return
        self.march.evaluate(machine, state)

    def _reselect(self) -> None:
        """Choose rows anew; a pose where even the best are dependent is told once."""
        act, was_singular = self.activation, self.activation.trusted <= 0
        act.reselect(self.march, self.state)
        if act.health < _SINGULAR and not was_singular:
            text = "the constraints lose rank here: from this pose more than one motion may be possible"
            self.record.events.append(passing(self.state.t, "singular", "", self.state.qd, text))

    def _displace(self, q: Array, x: Array) -> Array:
        out = np.empty_like(q)
        displace(self.problem.model.solids, q, x, out)
        return out


def _step(start: State, end: State, dense: Array) -> Step:
    return Step(start.t, end.t - start.t, start.q, start.qd, dense.copy(), np.array([start.work, end.work]))


def _sample(chunk: Chunk, k: int) -> State:
    values = (chunk.q[k].copy(), chunk.qd[k].copy(), chunk.qdd[k].copy(), chunk.work[k].copy())
    return State(float(chunk.time[k]), *values)


def _first_step(options: Options) -> float:
    if options.integrator == "dop853":
        return min(1e-3, options.largest_step, options.duration)
    return 1e-3 if options.step is None else options.step
