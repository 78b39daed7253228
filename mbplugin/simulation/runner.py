"""The run: steps between scheduled instants, events in their order, and what is kept of it all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbplugin.dynamics.kernels.group import displace
from mbplugin.errors import BadNumber, MbPluginError
from mbplugin.model.spatial import Array
from mbplugin.simulation.active_set.activation import Activation
from mbplugin.simulation.budget import Budget
from mbplugin.simulation.events.event import passing
from mbplugin.simulation.events.passing_marks import Limits, joint_limits, passings
from mbplugin.simulation.events.schedule import Schedule
from mbplugin.simulation.integrators.contract import Chunk, Step
from mbplugin.simulation.integrators.registry import find_integrator
from mbplugin.simulation.interrupt import ctrl_c_waits
from mbplugin.simulation.loop_integrity import GapWatch, Opened
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import Problem
from mbplugin.simulation.singularity.crossing import CollocationStep
from mbplugin.simulation.singularity.passage import Passage, stays
from mbplugin.simulation.steppers.compiled import State, Stepper
from mbplugin.simulation.steppers.kernel_state import LOOK, MASSLESS, NOT_FINITE, RESELECT, TOO_SMALL, WEAK
from mbplugin.simulation.steppers.python import PythonStepper
from mbplugin.simulation.trajectory.grid import Grid
from mbplugin.simulation.trajectory.playback import Phases
from mbplugin.simulation.trajectory.record import Record, make_step, make_steps, sample

#: Steps taken between looks at rows that are singular now.
_CAUTIOUS = 4
#: Room for the steps that repeat one up to an event.
_AGAIN = 64

#: Told (time, duration) after every chunk.
Progress = Callable[[float, float], None]


class Runner:
    """A motion under way."""

    def __init__(
        self, problem: Problem, stepper: Stepper, options: Options, activation: Activation, schedule: Schedule
    ) -> None:
        self.problem, self.stepper, self.options = problem, stepper, options
        self.limits = Limits(joint_limits(problem.model.mech, options))
        self.record = Record()
        self.activation = activation
        self.schedule = schedule
        self.passage = Passage(stepper, activation)
        self.phases = Phases(activation)
        #: Called between chunks: there a Ctrl-C loses nothing.
        self._let_interrupt: Callable[[], None] = lambda: None
        #: What ended the motion before its time, in a sentence.
        self.failure = ""
        #: Where rows are dependent, projections do not see all of them.
        self.gaps = None
        if problem.degree_of_redundancy:
            table = problem.model.table
            units = table.rows["unit"][: table.persistent].copy()
            projected = options.stabilization == "projection"
            self.gaps = GapWatch(table.labels[: table.persistent], units, problem.rounded, projected)
        crossings = self.phases.crossings
        self.grid = Grid(options.duration / options.samples, crossings) if options.samples else None
        nv = len(problem.qd)
        # a sample has q, q̇ and q̈, its step x(τ) and q̇(τ) up to the seventh power
        self.budget = Budget(options.max_seconds, len(problem.q) + 20 * nv)
        self.state = State(0.0, problem.q.copy(), problem.qd.copy(), np.zeros(nv), h=_first_step(options))

    def run(self, progress: Progress | None = None) -> str:
        """Move to the end of the duration; return the outcome."""
        self.activation.start(self.stepper, self.state)
        self._keep()
        self._opens_at(self.state)
        self._look_here()
        try:
            with ctrl_c_waits() as self._let_interrupt:
                outcome = self._run(progress)
        except KeyboardInterrupt:
            outcome = "interrupted"
        except MbPluginError as error:
            self.failure, outcome = error.sentence(), "failed"
        self._keep_last()
        return outcome

    def _run(self, progress: Progress | None) -> str:
        active = self.activation
        if active.missing and (outcome := self._escape()):
            return outcome
        for time, changes in self.schedule.instants(self.options.duration):
            outcome = self._advance_to(time, progress)
            if outcome:
                return outcome
            jumps = bool(changes) or time in self.schedule.breaks
            if jumps:
                self._keep_last()
            if changes:
                self.record.events += active.switch(self.stepper, self.state, changes)
                if active.outcome:
                    return active.outcome
            else:
                active.refresh(self.stepper, self.state)
            if jumps:
                # the sample before has the accelerations of before
                self._keep()
            if self._rests():
                return "stopped"
        return "completed"

    def _budget_spent(self) -> bool:
        """Whether the motion may not go on; says why."""
        self.failure = self.budget.spent(self.record, self.state.t)
        return bool(self.failure)

    def _keep(self) -> None:
        self.record.add(self.state, self.activation.segment)
        self.passage.note()
        self.passage.since = self.state.t
        if self.grid is not None:
            self._follow()
            self.grid.record.add(self.state, self.activation.segment)

    def _follow(self) -> None:
        """Let samples at equal intervals follow the steps."""
        active = self.activation
        if self.grid is not None and self.grid.follow(
            self.stepper, active.kernel_state, self.record.steps, active.segment
        ):
            # the model has been read elsewhere
            self.stepper.evaluate(active.kernel_state, self.state)

    def _keep_last(self) -> None:
        """Let the samples at equal intervals end where the motion does."""
        if self.grid is not None and self.grid.record.last().t < self.record.last().t:
            self.grid.record.add(self.record.last(), self.activation.segment)

    def _advance_to(self, end: float, progress: Progress | None) -> str:
        """Take steps to a scheduled instant; return an outcome that ends the motion, or nothing."""
        while self.state.t < end - 1e-13 * (1.0 + end):
            if self._budget_spent():
                return "budget_spent"
            if outcome := self._advance_a_chunk(end):
                return outcome
            if progress is not None:
                progress(self.state.t, self.options.duration)
            self._let_interrupt()
        return ""

    def _advance_a_chunk(self, end: float) -> str:
        before, active = self.state.copy(), self.activation
        self.phases.note(before.t)
        status, chunk, kept = self.stepper.advance(
            active.kernel_state,
            active.event_functions,
            self.state,
            end,
            active.reselect_below,
            0 if active.reselect_below > 0 else _CAUTIOUS,
        )
        # what is not finite is no sample
        outcome = self._take(before, chunk, kept - (status == NOT_FINITE), status)
        self._follow()
        return self._opened(before.t) or outcome or self._answer(status, end)

    def _opened(self, since: float) -> str:
        """End the motion before the first new sample at which a row of a loop no longer holds."""
        if self.gaps is None or not self._opens_at(self.record.last()):
            self._look_here()
            return ""
        new = []
        for state, _ in self.record.backwards():
            if state.t <= since:
                break
            new.append(state)
        first = next(state for state in reversed(new) if self._opens_at(state))
        opened = self._opens_at(first)
        assert opened is not None
        self.record.back_to(max(since, float(np.nextafter(first.t, since))))
        last = self.record.last()
        if self.grid is not None:
            self.grid.back_to(last.t, len(self.record.steps))
        self.state, self.failure = last, opened.text
        self._look_here()
        return "loop_opened"

    def _opens_at(self, state: State) -> Opened | None:
        if self.gaps is None:
            return None
        if isinstance(self.stepper, PythonStepper) and self.options.profiles:
            self.stepper.prescribe(self.activation.kernel_state, state.t)
        return self.gaps.opened(self.activation.kernel_state, state.t, state.q, state.qd)

    def _look_here(self) -> None:
        """Let the model be read at the present state again."""
        if self.gaps is not None:
            self.stepper.evaluate(self.activation.kernel_state, self.state)

    def _take(self, before: State, chunk: Chunk, kept: int, status: int) -> str:
        """Keep the samples of a chunk, up to what ends the motion or changes it."""
        if not len(chunk.dense):
            self.record.add_chunk(chunk, kept, self.activation.segment)
            return ""
        plain = 0 if self.options.events else self.limits.first_in_reach(before.q, chunk, kept)
        plain = min(plain, kept - 1 if status == LOOK else kept)
        self._take_plain(before, chunk, plain)
        start = sample(chunk, plain - 1) if plain else before
        for k in range(plain, kept):
            now = sample(chunk, k)
            step = make_step(start, now, chunk.dense[k])
            found = self._first_change(step) if status == LOOK and k == kept - 1 else None
            if outcome := self._look_at(step, found[0] if found else 1.0):
                return outcome
            if found:
                self._interrupt(step, *found)
                return "stopped" if self._rests() else ""
            self.record.steps.append(step)
            self.record.add(now, self.activation.segment)
            start = now
        return ""

    def _take_plain(self, before: State, chunk: Chunk, count: int) -> None:
        """Keep the first samples of a chunk, whose steps pass nothing."""
        if not count:
            return
        self.record.steps += make_steps(before, chunk, count)
        self.record.add_chunk(chunk, count, self.activation.segment)

    def _rests(self) -> bool:
        """Whether the run is over: everything stands still, and nothing is going to change."""
        last = self.schedule.last <= self.state.t * (1.0 + 1e-12)
        return self.schedule.to_rest and last and self.activation.at_rest(self.state)

    def _look_at(self, step: Step, until: float = 1.0) -> str:
        """Record what a step passes up to a fraction; where that ends the motion, cut the step there."""
        for one in passings(step, self.limits, self.options, self._displace):
            if one.fraction > until + 1e-12:
                break
            _, qd = step.at(one.fraction)
            time = step.start + one.fraction * step.length
            self.record.events.append(passing(time, one.kind, one.name, qd, one.text))
            if one.terminal:
                self._cut(step, one.fraction)
                self._keep()
                return "limit_hit" if one.kind == "limit" else "event"
        return ""

    def _first_change(self, step: Step) -> tuple[float, int] | None:
        """Return where in a step friction starts or stops to hold first, and the event function that tells."""
        active = self.activation
        found = self.stepper.first_change(active.kernel_state, active.event_functions, step)
        if found is None:
            # the search has read the model elsewhere
            self.stepper.evaluate(self.activation.kernel_state, self.state)
        return found

    def _interrupt(self, step: Step, fraction: float, event_function: int) -> None:
        """Cut a step where friction starts or stops to hold."""
        self._cut(step, fraction)
        self._keep()
        self.record.events += self.activation.change(self.stepper, self.state, event_function)
        self._keep()

    def _cut(self, step: Step, fraction: float) -> None:
        """Take a step again, only up to a fraction of it: the works have no dense output."""
        active = self.activation
        again = State(step.start, step.q.copy(), step.qd.copy(), np.zeros_like(step.qd), step.work[0].copy())
        again.h = fraction * step.length
        self.stepper.evaluate(active.kernel_state, again)
        start = again.copy()
        _, chunk, kept = self.stepper.advance(
            active.kernel_state, active.event_functions[:0], again, step.start + again.h, 0.0, _AGAIN
        )
        for k in range(kept):
            now = sample(chunk, k)
            self.record.steps.append(make_step(start, now, chunk.dense[k]))
            start = now
        again.h = self.state.h
        self.state = again

    def _answer(self, status: int, end: float) -> str:
        """Return the outcome that a status means, or nothing where the motion goes on."""
        if status == MASSLESS:
            return "singular"
        if status == NOT_FINITE:
            raise BadNumber(f"the motion is no longer finite at t = {self.state.t:.9g} s")
        if status in (RESELECT, TOO_SMALL, WEAK) or self.activation.reselect_below <= 0:
            self.record.events += self.activation.reselect(self.stepper, self.state)
            if self.passage.is_weak() or status == WEAK:
                return self._pass(status, end)
        return "step_too_small" if status == TOO_SMALL else ""

    def _pass(self, status: int, end: float) -> str:
        """Cross a singular pose that is near; where that fails, go on as long as that is possible."""
        crossed = self.passage.collocation_step(self.record, self.state, end)
        if crossed is not None:
            if self.grid is not None:
                self.grid.back_to(self.record.last().t, len(self.record.steps))
            return self._across(crossed)
        if status == TOO_SMALL:
            return self._undecided()
        return ""

    def _escape(self) -> str:
        """Leave a singular pose at which the run starts."""
        if stays(self.state):
            return ""
        crossed = self.passage.escape(self.state)
        if crossed is None:
            return self._undecided()
        self.record.blocks[-1][3][-1] = crossed.step.polynomial[1, 1] / crossed.step.length
        return self._across(crossed)

    def _across(self, crossed: CollocationStep) -> str:
        """Keep a step across a singular pose."""
        end, self.state = self.state, crossed.end
        self.state.h = end.h
        if outcome := self._look_at(crossed.step):
            return outcome
        text = f"a pose with dependent constraints is crossed in one step of {crossed.step.length:.3g} s"
        self.record.events.append(passing(self.state.t, "singular", "", self.state.qd, text))
        self.record.steps.append(crossed.step)
        self.phases.crossings[crossed.step.start] = crossed.step
        self.activation.refresh(self.stepper, self.state)
        self._keep()
        return ""

    def _undecided(self) -> str:
        """Say that more than one motion is possible."""
        text = "the constraints lose rank here: from this pose more than one motion may be possible"
        self.record.events.append(passing(self.state.t, "singular", "", self.state.qd, text))
        return "singular"

    def _displace(self, q: Array, x: Array) -> Array:
        """Return q (nq,) moved by an increment x (nv,)."""
        out = np.empty_like(q)
        displace(self.problem.model.composites, q, x, out)
        return out


def _first_step(options: Options) -> float:
    if find_integrator(options.integrator).adaptive:
        return min(1e-3, options.largest_step, options.duration)
    return 1e-3 if options.step is None else options.step
