"""The run: steps between scheduled instants, events in their order, and the samples that are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from mbplugin.dynamics.kernels.articulated import displace, increment_rate
from mbplugin.errors import BadNumber, MbPluginError
from mbplugin.model import Array
from mbplugin.simulation.activation import Activation
from mbplugin.simulation.integrators import find_integrator
from mbplugin.simulation.integrators.contract import Chunk, State, Step
from mbplugin.simulation.kernel_state import (
    LOOK,
    MASSLESS,
    NOT_FINITE,
    RESELECT,
    TOO_SMALL,
    WEAK as TOO_WEAK,
    KernelState,
)
from mbplugin.simulation.options import Budget, Options, ctrl_c_waits
from mbplugin.simulation.passing_marks import Limits, Schedule, joint_limits, passing, passings
from mbplugin.simulation.problem import GapWatch, Opened, Problem
from mbplugin.simulation.steppers import Stepper
from mbplugin.simulation.trajectory.record import Grid, Phases, Record, make_step, make_steps, sample

#: Steps per chunk while rows are singular.
_CAUTIOUS = 4
#: Chunk size for repeating a step up to an event.
_AGAIN = 64
#: Called with (time, duration) after every chunk.
Progress = Callable[[float, float], None]
#: Rows are weak, and a singular pose is near, if their independence is below this fraction of the best so far.
WEAK = 2e-2
#: A crossing begins and ends where the independence is this fraction of the best so far.
_CLEAR = 6e-2
#: Largest number of samples to go back in search of independent rows.
_BACK = 2000
#: Factors of the length of a crossing, tried in turn in case a node hits the singular pose.
_LENGTHS = (1.0, 1.17, 0.87)
#: Lengths of the step away from a singular initial pose, as motion of the fastest coordinate, rad and m.
_AWAY = (0.1, 0.03, 0.01)
_STEPS = 4096
#: Collocation stages; an even number, so that none lies at the centre of the step.
_STAGES = 6
_ITERATIONS = 60
#: The iteration has converged when rates change by less than this fraction.
_STILL = 1e-13
#: If the projection at the end of the step exceeds this fraction of its motion, the step has left its branch.
_ASTRAY = 1e-5


class Runner:
    """Run one motion: take steps, make the scheduled changes, and record samples and events."""

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
        #: Called between chunks, where a Ctrl-C loses nothing.
        self._let_interrupt: Callable[[], None] = lambda: None
        #: Message on why the motion ended early.
        self.failure = ""
        #: Needed if rows are dependent: the projection ignores some of them.
        self.gaps = None
        if problem.degree_of_redundancy:
            table = problem.model.table
            units = table.rows["unit"][: table.persistent].copy()
            projected = options.stabilization == "projection"
            self.gaps = GapWatch(table.labels[: table.persistent], units, problem.rounded, projected)
        crossings = self.phases.crossings
        self.grid = Grid(options.duration / options.samples, crossings) if options.samples else None
        nv = len(problem.qd)
        # a sample holds q, q̇ and q̈; its step holds x(τ) and q̇(τ) up to the seventh power
        self.budget = Budget(options.max_seconds, len(problem.q) + 20 * nv)
        self.state = State(0.0, problem.q.copy(), problem.qd.copy(), np.zeros(nv), h=_first_step(options))

    def run(self, progress: Progress | None = None) -> str:
        """Run to the end of the duration; return the outcome."""
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
                # the sample above has the accelerations before the change, this one those after it
                self._keep()
            if self._rests():
                return "stopped"
        return "completed"

    def _keep(self) -> None:
        self.record.add(self.state, self.activation.segment)
        self.passage.note()
        self.passage.since = self.state.t
        if self.grid is not None:
            self._follow()
            self.grid.record.add(self.state, self.activation.segment)

    def _follow(self) -> None:
        """Fill in the samples at equal intervals up to the present step."""
        active = self.activation
        if self.grid is not None and self.grid.follow(
            self.stepper, active.kernel_state, self.record.steps, active.segment
        ):
            # sampling has moved the model to another state
            self.stepper.evaluate(active.kernel_state, self.state)

    def _keep_last(self) -> None:
        """Add the last sample to those at equal intervals."""
        if self.grid is not None and self.grid.record.last().t < self.record.last().t:
            self.grid.record.add(self.record.last(), self.activation.segment)

    def _advance_to(self, end: float, progress: Progress | None) -> str:
        """Take steps to a scheduled instant; return the outcome if the motion ends, or an empty string."""
        while self.state.t < end - 1e-13 * (1.0 + end):
            self.failure = self.budget.spent(self.record.count, len(self.record.events), self.state.t)
            if self.failure:
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
        # a state that is not finite is not kept
        outcome = self._take(before, chunk, kept - (status == NOT_FINITE), status)
        self._follow()
        return self._opened(before.t) or outcome or self._answer(status, end)

    def _opened(self, since: float) -> str:
        """End the motion before the first new sample at which a loop is open; return the outcome or an empty string."""
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
        if self.options.profiles:
            self.stepper.prescribe(self.activation.kernel_state, state.t)
        return self.gaps.opened(self.activation.kernel_state, state.t, state.q, state.qd)

    def _look_here(self) -> None:
        """Evaluate the model at the present state again."""
        if self.gaps is not None:
            self.stepper.evaluate(self.activation.kernel_state, self.state)

    def _take(self, before: State, chunk: Chunk, kept: int, status: int) -> str:
        """Keep the samples of a chunk up to an event that ends or changes the motion.

        Return the outcome, or an empty string if the motion goes on.
        """
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
        """Keep the first samples of a chunk, whose steps contain no event."""
        if not count:
            return
        self.record.steps += make_steps(before, chunk, count)
        self.record.add_chunk(chunk, count, self.activation.segment)

    def _rests(self) -> bool:
        """Return True if the run is to end here: all is at rest and no change is scheduled."""
        last = self.schedule.last <= self.state.t * (1.0 + 1e-12)
        return self.schedule.to_rest and last and self.activation.at_rest(self.state)

    def _look_at(self, step: Step, until: float = 1.0) -> str:
        """Record the limits and user events in a step up to a fraction; return the outcome or an empty string.

        A terminal event cuts the step and ends the motion.
        """
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
        """Return the fraction of a step at which a joint first starts to stick or slip, and its event function."""
        active = self.activation
        found = self.stepper.first_change(active.kernel_state, active.event_functions, step)
        if found is None:
            # the search has moved the model to another state
            self.stepper.evaluate(self.activation.kernel_state, self.state)
        return found

    def _interrupt(self, step: Step, fraction: float, event_function: int) -> None:
        """Cut a step where a joint starts to stick or slip, and make that change."""
        self._cut(step, fraction)
        self._keep()
        self.record.events += self.activation.change(self.stepper, self.state, event_function)
        self._keep()

    def _cut(self, step: Step, fraction: float) -> None:
        """Integrate a step again up to a fraction of its length, because the works have no dense output."""
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
        """Respond to the status of a chunk; return the outcome, or an empty string if the motion goes on."""
        if status == MASSLESS:
            return "singular"
        if status == NOT_FINITE:
            raise BadNumber(f"the motion is no longer finite at t = {self.state.t:.9g} s")
        if status in (RESELECT, TOO_SMALL, TOO_WEAK) or self.activation.reselect_below <= 0:
            self.record.events += self.activation.reselect(self.stepper, self.state)
            if self.passage.is_weak() or status == TOO_WEAK:
                return self._pass(status, end)
        return "step_too_small" if status == TOO_SMALL else ""

    def _pass(self, status: int, end: float) -> str:
        """Cross a nearby singular pose, or else go on as long as possible; return the outcome or an empty string."""
        crossed = self.passage.collocation_step(self.record, self.state, end)
        if crossed is not None:
            if self.grid is not None:
                self.grid.back_to(self.record.last().t, len(self.record.steps))
            return self._across(crossed)
        if status == TOO_SMALL:
            return self._undecided()
        return ""

    def _escape(self) -> str:
        """Leave a singular initial pose; return the outcome or an empty string."""
        if stays(self.state):
            return ""
        crossed = self.passage.escape(self.state)
        if crossed is None:
            return self._undecided()
        self.record.blocks[-1][3][-1] = crossed.step.polynomial[1, 1] / crossed.step.length
        return self._across(crossed)

    def _across(self, crossed: CollocationStep) -> str:
        """Keep a step across a singular pose; return the outcome or an empty string."""
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
        """Record that more than one motion is possible, and return the outcome."""
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


# Crossing of singular poses during a run.


class Passage:
    """Handle the singular poses of a run."""

    def __init__(self, stepper: Stepper, activation: Activation) -> None:
        self._stepper, self._activation = stepper, activation
        self.best = 0.0
        #: Time of the last change, s; steps before it are not repeated.
        self.since = 0.0

    def note(self) -> None:
        """Update the best independence with that of the rows just chosen."""
        self.best = max(self.best, self._activation.row_independence)

    def is_weak(self) -> bool:
        """Return True if the rows just chosen are nearly dependent."""
        self.note()
        return self._activation.row_independence < WEAK * self.best

    def escape(self, state: State) -> CollocationStep | None:
        """Return a step away from a singular initial pose, along its rates, or None."""
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
        """Return a step across a singular pose that is near, or None if that fails.

        The run goes back to the last sample with clearly independent rows and approaches the pose again; the record
        then ends at the start of the step that is returned.
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
        """Return the time until the smallest independence would vanish, s, or zero if it grows."""
        speed = float(np.abs(state.qd).max(initial=0.0))
        if speed == 0.0:
            return 0.0
        here, time = self._share(state), 1e-3 * _CLEAR / speed
        for _ in range(4):
            ahead = self._share(self._ahead(state, time))
            if ahead >= here:
                return 0.0
            # aim at half the way: the extrapolation from there is accurate enough
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
        """Return the last state of this segment with clearly independent rows, and their independence there."""
        for state, segment in islice(record.backwards(), _BACK):
            if segment != self._activation.segment or state.t < self.since:
                break
            share = self._share(state)
            if share > _CLEAR * self.best:
                return state, share
        return None, 0.0


def stays(state: State) -> bool:
    """Return True if all rates and accelerations of a state are zero."""
    return not np.any(np.abs(np.concatenate((state.qd, state.qdd))) > 1e-9)


# Crossing a singular pose in one step, between poses with a well-conditioned branch.
#
# Near a pose at which closing rows become dependent, rounding hides the difference between branches: if positions are
# closed to ε, the rates are only known to ε/δ² at a distance δ. Small steps make that worse. So one long step of Gauss
# collocation is taken instead, with nodes on both sides of the pose, each projected onto the constraints.


def _collocation() -> tuple[Array, Array]:
    """Return nodes (s,) in (0, 1) and the integrals (s, s+1) of their Lagrange polynomials, as powers."""
    nodes = 0.5 * (np.polynomial.legendre.leggauss(_STAGES)[0] + 1.0)
    integrals = np.zeros((_STAGES, _STAGES + 1))
    for i, c in enumerate(nodes):
        others = np.delete(nodes, i)
        lagrange = np.polynomial.polynomial.polyfromroots(others) / np.prod(c - others)
        integrals[i] = np.polynomial.polynomial.polyint(lagrange)
    return nodes, integrals


NODES, _INTEGRALS = _collocation()
_TO_NODES = np.array([[np.polynomial.polynomial.polyval(c, p) for p in _INTEGRALS] for c in NODES])
_TO_END = _INTEGRALS.sum(axis=1)


@dataclass(frozen=True, eq=False)
class CollocationStep:
    """A step across a singular pose.

    Parameters
    ----------
    end : State
        State at the end, projected.
    step : Step
        With dense output.
    weakest : float
        Smallest independence of the rows at the nodes and at the end.
    """

    end: State
    step: Step
    weakest: float


def collocation_step(
    stepper: Stepper, kernel_state: KernelState, start: State, length: float
) -> CollocationStep | None:
    """Return the collocation step of a length (s) from a state, or None if it does not stay on one branch."""
    nv = len(start.qd)
    slopes, accelerations = np.tile(start.qd, (_STAGES, 1)), np.zeros((_STAGES, nv))
    powers, row_independence, change = np.zeros((_STAGES, 3)), np.zeros(_STAGES), np.inf
    for _ in range(_ITERATIONS):
        before = accelerations.copy()
        for i in range(_STAGES):
            x = length * _TO_NODES[i] @ slopes
            at = _moved(kernel_state, start, NODES[i] * length, x, length * _TO_NODES[i] @ accelerations)
            stepper.settle(kernel_state, at)
            increment_rate(kernel_state.composites, x, at.qd, slopes[i])
            accelerations[i], powers[i], row_independence[i] = (
                at.qdd,
                kernel_state.power,
                kernel_state.row_independence[0],
            )
        last, change = change, length * float(np.abs(accelerations - before).max(initial=0.0))
        if not change < last or change <= _STILL * (1.0 + np.abs(slopes).max(initial=0.0)):
            break
    x, dqd = length * _TO_END @ slopes, length * _TO_END @ accelerations
    end = _moved(kernel_state, start, length, x, dqd)
    aimed = end.copy()
    stepper.settle(kernel_state, end)
    end.work += length * _TO_END @ powers
    end.h = start.h
    size = max(float(np.abs(x).max(initial=0.0)), float(np.abs(dqd).max(initial=0.0)))
    errors = (np.abs(end.q - aimed.q).max(initial=0.0), np.abs(end.qd - aimed.qd).max(initial=0.0), change)
    if not all(np.isfinite(e) and e <= _ASTRAY * size for e in errors):
        return None
    polynomial = length * np.stack((_INTEGRALS.T @ slopes, _INTEGRALS.T @ accelerations), axis=1)
    polynomial[0, 1] += start.qd
    step = Step(start.t, length, start.q, start.qd, polynomial, np.array([start.work, end.work]))
    return CollocationStep(
        end, step, min(float(row_independence.min()), float(kernel_state.row_independence[0]))
    )


def _moved(kernel_state: KernelState, start: State, time: float, x: Array, rise: Array) -> State:
    """Return the state after a time (s), displaced by x (nv,), its rates changed by rise (nv,)."""
    q = np.empty_like(start.q)
    displace(kernel_state.composites, start.q, x, q)
    return State(start.t + time, q, start.qd + rise, np.zeros_like(start.qd), start.work.copy())
