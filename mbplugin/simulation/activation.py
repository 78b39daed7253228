"""The active constraints: closed locks, drives, sticking brakes and friction; the independent rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.model import AnyArray, Holder, freedom_held, make_read_only
from mbplugin.simulation import friction
from mbplugin.simulation.events import EVENT_FUNCTION, ROW_RATE, compiled_watch
from mbplugin.simulation.impact import all_impulses, contradict, grip, gripped, is_singular
from mbplugin.simulation.integrators.contract import State
from mbplugin.simulation.kernel_state import (
    FACTORIZE,
    KINEMATICS,
    UNKNOWN_INDEPENDENCE,
    evaluate_at,
    kernel_state_of,
    place_of,
)
from mbplugin.simulation.options import Options
from mbplugin.simulation.passing_marks import (
    BRAKE,
    RELEASE,
    Change,
    Event,
    EventKind,
    freedom_words,
    passing,
    release_words,
)
from mbplugin.simulation.problem import Problem, jump_rates
from mbplugin.simulation.steppers import Stepper

_SINGULAR = 1e-9
#: Largest number of stick-slip decisions until they agree with the loads, and the relative change at which they do.
_AGREEING, _SAME = 10, 1e-9
#: Other rows replace the present ones only if their independence is this much larger.
_STRONGER = 10.0
#: A row of smaller independence is not used to correct a step, unless the threshold for choosing rows is lower.
_UNSAFE = 1e-4
#: Bound of the rates of rows that stick without a multiplier, in units of ``AT_REST``, with projection and without;
#: larger rates are not due to rounding.
_DRIFT, _UNPROJECTED = 4.0, 1e4
#: Impulses by row, and the rows whose impulses a rigid model leaves open.
Impulses = tuple[dict[tuple[str, str], float], tuple[tuple[str, str], ...]]


class Activation:
    """The rows in force, and the event functions that change them."""

    def __init__(self, problem: Problem, options: Options) -> None:
        self.problem, self.options = problem, options
        self.model = problem.model
        driven = {drive.driver.name for drive in problem.drives}
        labels = problem.model.table.labels
        resisted = [labels[i] for i in self.model.resistances["row"].tolist()]
        #: Joint and freedom of every resistance.
        self._resisted = [freedom_held(label) for label in resisted]
        self.locked = tuple(i for i, (name, _) in enumerate(labels) if name in driven)
        #: Rows of drives.
        self._driven = self.locked
        self._drift = _DRIFT if options.stabilization == "projection" else _UNPROJECTED
        #: Which resistances stick, and which of these have a multiplier.
        self.sticking: AnyArray = np.zeros(len(self.model.resistances), dtype=bool)
        self.carrying: AnyArray = self.sticking
        self.kernel_state = problem.kernel_state
        #: Friction that depends on the joint load.
        self.by_load = friction.LoadFriction(problem.model)
        self._leading: AnyArray = problem.kernel_state.independent_rows
        self.event_functions: AnyArray = np.zeros(0, dtype=EVENT_FUNCTION)
        self.reselect_below = 0.0
        self.missing = 0
        self.segments: list[tuple[str, ...]] = [()]
        #: Set if an impossible transition ends the motion.
        self.outcome = ""

    @property
    def segment(self) -> int:
        """Index of the present set of constraints."""
        return len(self.segments) - 1

    @property
    def row_independence(self) -> float:
        """Independence of the rows in force: the smallest part of one that no other row explains."""
        return 0.0 if self.missing else float(self.kernel_state.row_independence[0])

    def start(self, stepper: Stepper, state: State) -> None:
        """Decide which resistances stick at the start."""
        self._decide(stepper, state)

    def switch(self, stepper: Stepper, state: State, changes: Sequence[Change]) -> list[Event]:
        """Make the changes of one instant, in their order; then decide which resistances stick; return the events."""
        before, moving = self.sticking, self._moving(state)
        events: list[Event] = []
        for change in changes:
            if change.kind == RELEASE:
                events += self._release(state, change.names)
            elif change.kind == BRAKE:
                closing = [brake for _, brake in self.model.brakes if brake.joint in change.names]
                for brake in closing:
                    self.model.close_brake(brake)
                events += [
                    passing(state.t, "brake", brake.joint, state.qd, f"the brake of {brake.joint} grips")
                    for brake in closing
                ]
            else:
                events += close_locks(self, stepper, state, change.names)
            if self.outcome:
                return events
        self._decide(stepper, state)
        return events + self._stick_slip_events(state, before, moving)

    def _moving(self, state: State) -> AnyArray:
        """Return flags (n,) of the resistances that move."""
        self.configure(state)
        return np.abs(friction.rates_of(self.model, state.qd)) > friction.AT_REST

    def at_rest(self, state: State) -> bool:
        """Return True if all rates and accelerations are zero."""
        return bool(friction.is_at_rest(state.qd, state.qdd))

    def refresh(self, stepper: Stepper, state: State) -> None:
        """Choose independent rows again at a state; the rows in force stay the same."""
        self.choose(state)
        self._settle(stepper, state)

    def _release(self, state: State, names: tuple[str, ...]) -> list[Event]:
        """Release locks or drives; rates stay continuous, forces jump. Return the events."""
        labels = self.model.table.labels
        self.locked = tuple(i for i in self.locked if labels[i][0] not in names)
        return [passing(state.t, "release", name, state.qd, release_words(name)) for name in names]

    def change(self, stepper: Stepper, state: State, event_function: int) -> list[Event]:
        """Change to stick or slip at a sign change of an event function; return the events.

        All resistances at rest are decided together.
        """
        before, at_zero = self.sticking, -1
        if self.event_functions[event_function]["kind"] == ROW_RATE:
            at_zero = int(self.event_functions[event_function]["index"])
            self._stop(state, at_zero)
        self._decide(stepper, state, at_zero)
        return self._stick_slip_events(state, before, self.sticking)

    def _stick_slip_events(self, state: State, before: AnyArray, came_to_rest: AnyArray) -> list[Event]:
        """Return events for the joints that start to stick or slip.

        ``before`` (n,) flags those that stuck before, ``came_to_rest`` (n,) those for which sticking is an event.
        """
        out = []
        for n in np.flatnonzero(self.sticking != before).tolist():
            if self.sticking[n] and not came_to_rest[n]:
                # it was at rest before, and now its brake holds it
                continue
            joint, freedom = self._resisted[n]
            kind: EventKind = "stick" if self.sticking[n] else "slip"
            words = f"{freedom_words(self.model.mech.pair_by_name[joint], freedom)} starts to {kind}"
            out.append(passing(state.t, kind, f"{joint}.{freedom}", state.qd, words))
        return out

    def _stop(self, state: State, row: int) -> None:
        """Remove the rounding error from the zero rate of a row, unless the row depends on those in force."""
        evaluate_at(self.kernel_state, KINEMATICS | FACTORIZE, state.t, state.q, state.qd)
        if (
            friction.compiled_stick_slip().own_share(place_of(self.kernel_state), row)
            > self.options.tolerance
        ):
            kernel_state = kernel_state_of(
                self.model,
                self.kernel_state.motion_segments,
                np.append(self.kernel_state.independent_rows, row),
            )
            jump_rates(kernel_state, state.t, state.q, state.qd)
            rows = self.model.table.rows
            if rows["kind"][row] == RATE:
                # the projection has a rounding error of its own
                state.qd[rows["rate"][row]] = 0.0

    def _decide(self, stepper: Stepper, state: State, at_zero: int = -1) -> None:
        """Decide which resistances stick, choose rows, and project the state.

        Row ``at_zero`` counts as at rest, as its rate passes zero here.
        """
        if len(self.model.resistances):
            self._solve_stick_slip(stepper, state, at_zero)
        else:
            self.choose(state)
        self._settle(stepper, state)
        labels = self.model.table.labels
        names = tuple(dict.fromkeys(labels[i][0] for i in self.active() if i >= self.model.table.persistent))
        if names != self.segments[-1]:
            self.segments.append(names)

    def _solve_stick_slip(self, stepper: Stepper, state: State, at_zero: int) -> None:
        """Decide stick or slip of the resistances, with constraints and locks in force."""
        self.configure(state)
        kernels, resting = friction.compiled_stick_slip(), self.carrying.copy()
        kernels.let_slide(place_of(self.kernel_state), state.qd, self._left_to_friction(), at_zero, resting)
        self.carrying = np.zeros_like(resting)
        self.choose(state)
        stepper.fill(self.kernel_state, state)
        self.sticking, self.carrying = np.zeros_like(resting), np.zeros_like(resting)
        self._stick_or_slip(state, resting)
        if self.by_load and resting.any():
            self._agree_on_loads(stepper, state, resting)

    def _agree_on_loads(self, stepper: Stepper, state: State, resting: AnyArray) -> None:
        """Repeat the stick-slip decision until it agrees with the loads of friction; resting (n,) of bool."""
        static = self.model.resistances["static"]
        for _ in range(_AGREEING):
            used = static.copy()
            stepper.fill(self.kernel_state, state)
            if np.abs(static - used).max() <= _SAME * (1.0 + static.max()):
                return
            senses = self.model.resistances["sense"].copy()
            senses[resting] = 0.0
            self.model.resistances["sense"] = senses
            self.model.resistances["stuck"][resting] = 0.0
            self.by_load.frozen = True
            self.sticking, self.carrying = np.zeros_like(resting), np.zeros_like(resting)
            self.choose(state)
            stepper.fill(self.kernel_state, state)
            self.by_load.frozen = False
            self._stick_or_slip(state, resting)

    def _stick_or_slip(self, state: State, resting: AnyArray) -> None:
        """Decide stick or slip from the loads of the kernel state; resting (n,) of bool."""
        friction.decide_stick_slip(
            *(place_of(self.kernel_state), state.qd, resting, self.options.tolerance),
            *(self.sticking, self.carrying),
        )
        self._hold()

    def _left_to_friction(self) -> AnyArray:
        """Return flags (n,) of the resistances that act: those of freedoms without a drive or lock."""
        labels = self.model.table.labels
        led = {freedom_held(labels[i]) for i in self.locked if labels[i].holder}
        return np.array([freedom not in led for freedom in self._resisted], dtype=bool)

    def active(self) -> tuple[int, ...]:
        """Return all rows in force, including redundant ones."""
        sticking = self.model.resistances["row"][self.sticking].tolist()
        return (*range(self.model.table.persistent), *self.locked, *sticking)

    def choose(self, state: State) -> None:
        """Choose independent rows of the constraints and locks; rows of sticking resistances are added to them."""
        self.configure(state)
        leading = (*range(self.model.table.persistent), *self.locked)
        choice = friction.choose_rows(
            self.model,
            leading,
            self.problem.own_rank,
            self.options.tolerance,
            self.problem.dropped,
            self._driven,
        )
        self._leading, self.missing = choice.rows, choice.missing
        self._hold()

    def _hold(self) -> None:
        """Put into force the rows chosen last, and those of sticking resistances with multipliers."""
        rows = np.append(self._leading, self.model.resistances["row"][self.carrying])
        if np.array_equal(rows, self.kernel_state.independent_rows):
            self.kernel_state.row_independence[:] = UNKNOWN_INDEPENDENCE
        else:
            self.kernel_state = kernel_state_of(self.model, self.kernel_state.motion_segments, rows)

    def _settle(self, stepper: Stepper, state: State) -> None:
        """Project the state, fill its accelerations, and set thresholds and event functions."""
        stepper.settle(self.kernel_state, state)
        self.reselect_below = (
            friction.trusted_share(self.row_independence) if self.row_independence > _SINGULAR else 0.0
        )
        self.kernel_state.row_independence[2] = min(_UNSAFE, self.reselect_below)
        self._watch(state)

    def _watch(self, state: State) -> None:
        functions = np.zeros(len(self.model.resistances), dtype=EVENT_FUNCTION)
        count = compiled_watch()(
            *(place_of(self.kernel_state), state.q, state.qd),
            *(self.sticking, self.carrying, self._drift, functions),
        )
        self.event_functions = functions[:count]

    def reselect(self, stepper: Stepper, state: State) -> list[Event]:
        """Choose rows again if the present ones have become weak and others are clearly stronger; return the events.

        Near a singular pose all rows are weak, and a choice among them would follow rounding noise. If resistances
        stick, stick and slip are decided anew, as a row that has become dependent carries no force.
        """
        if self.sticking.any():
            before = self.sticking
            self._decide(stepper, state)
            return self._stick_slip_events(state, before, self.sticking)
        old, dependent, reselect_below = self.kernel_state, self.row_independence, self.reselect_below
        self.refresh(stepper, state)
        if self.row_independence < _STRONGER * dependent or len(self.kernel_state.independent_rows) < len(
            old.independent_rows
        ):
            self.kernel_state = old
            stepper.settle(old, state)
            self._watch(state)
            self.reselect_below = reselect_below
        return []

    def configure(self, state: State) -> None:
        """Evaluate the kinematics of the model at a state."""
        evaluate_at(self.kernel_state, KINEMATICS, state.t, state.q, state.qd)


# Locks and other constraints that close during a motion: the rates jump so that all constraints hold.


def close_locks(active: Activation, stepper: Stepper, state: State, names: tuple[str, ...]) -> list[Event]:
    """Close locks; the rates jump so that all constraints hold (mueller2026 (22), (24)). Return the events.

    Sticking friction and brakes do not resist the jump, as their forces are bounded.
    """
    table = active.model.table
    behind = enumerate(table.labels[table.persistent :], table.persistent)
    closing = tuple(i for i, (name, _) in behind if name in names and i not in active.locked)
    active.configure(state)
    grip(active.model, closing)
    active.configure(state)
    for i in closing:
        # a lock keeps the present value
        table.rows["offset"][i] += table.rows["phi"][i]
    before, active.locked = active.locked, active.locked + closing
    active.sticking = active.carrying = np.zeros_like(active.sticking)
    listed = ", ".join(holder.joint if (holder := Holder.of(name)) else name for name in names)
    if _is_singular(active, state, before):
        text = f"{listed}: constraints lose rank where they are to close"
        return [_refuse(active, state, "singular", text)]
    return _jump(active, stepper, state, listed, closing)


def _is_singular(active: Activation, state: State, before: tuple[int, ...]) -> bool:
    """Return True if the constraints before or after a change are singular at this pose."""
    labels, own = active.model.table.labels, tuple(range(active.model.table.persistent))
    sets = []
    for locked in (before, active.locked):
        names = {labels[i][0] for i in locked}
        held = [gripped(active.model, c) for c in active.problem.held if c.name in names]
        sets.append(((*own, *locked), held))
    tolerance = active.options.tolerance
    found = is_singular(active.model, active.kernel_state, state.t, state.q, sets, tolerance)
    active.configure(state)
    return found


def _refuse(active: Activation, state: State, why: EventKind, text: str) -> Event:
    active.outcome = f"{why}_transition"
    return passing(state.t, why, "", state.qd, text)


def _jump(
    active: Activation, stepper: Stepper, state: State, name: str, closing: tuple[int, ...]
) -> list[Event]:
    before, rows = state.qd.copy(), active.active()
    active.choose(state)
    if active.options.transition == "naive":
        given, left_open = _only_locked(active, state, closing)
    else:
        given, left_open = _consistent(active, state, rows, closing)
    if contradict(active.model, rows, state.qd) and active.options.transition != "naive":
        state.qd[:] = before
        return [_refuse(active, state, "contradictory", f"{name}: no rates satisfy all that is to hold")]
    after = state.qd.copy()
    make_read_only(before, after)
    stepper.evaluate(active.kernel_state, state)
    return [Event(state.t, "lock", name, before, after, given, f"{name}: lock", left_open)]


def _consistent(
    active: Activation, state: State, rows: tuple[int, ...], closing: tuple[int, ...]
) -> Impulses:
    """Let the rates jump by momentum balance; return the impulses, and those that the rigid model leaves open."""
    before, labels = state.qd.copy(), active.model.table.labels
    impulses = jump_rates(active.kernel_state, state.t, state.q, state.qd)
    given = {labels[i]: float(v) for i, v in zip(active.kernel_state.independent_rows, impulses, strict=True)}
    if len(rows) == len(active.kernel_state.independent_rows):
        return given, ()
    found, left_open = all_impulses(
        active.model, active.kernel_state, state.t, state.q, before, rows, closing
    )
    active.configure(state)
    return found or given, left_open


def _only_locked(active: Activation, state: State, closing: tuple[int, ...]) -> Impulses:
    """Set only the rates of closing joints, with no impulses and no jump of other rates."""
    rows = active.model.table.rows
    for i in closing:
        if rows["kind"][i] == RATE:
            state.qd[rows["rate"][i]] = -rows["bias"][i]
    active.configure(state)
    return {}, ()
