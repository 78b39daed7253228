"""The active constraints: closed locks, drives, sticking brakes and friction; the independent rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.choose import choose_rows, trusted_share
from mbplugin.simulation.active_set.stick_slip import (
    AT_REST,
    StickSlip,
    own_innovations,
    rates_of,
    solve_stick_slip,
)
from mbplugin.simulation.events.event import Event, EventKind, passing
from mbplugin.simulation.events.schedule import BRAKE, RELEASE, Change
from mbplugin.simulation.events.search import LOOKS, START, early_zero, first_zero
from mbplugin.simulation.events.watch import (
    DRIFT,
    EVENT_FUNCTION,
    MULTIPLIER,
    ROW_RATE,
    WRONG,
    read_event_function,
)
from mbplugin.simulation.impact.instant import all_impulses, contradict, grip, gripped, is_singular
from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import Problem
from mbplugin.simulation.projection import jump_rates
from mbplugin.simulation.steppers.compiled import State, Stepper
from mbplugin.simulation.steppers.evaluate import FACTORIZE, KINEMATICS, evaluate_at
from mbplugin.simulation.steppers.kernel_state import kernel_state_of

#: Impulses by row, and the rows whose impulses a rigid model leaves open.
Impulses = tuple[dict[tuple[str, str], float], tuple[tuple[str, str], ...]]

_SINGULAR = 1e-9
#: What holds is watched up to this share of its static part: there it no longer holds for certain.
_SLIPS = 1.0 + 1e-8
#: Other rows are taken only when the weakest of them is this much stronger.
_STRONGER = 10.0
#: A row of which less is its own is not used to correct a step, wherever it has been more.
_UNSAFE = 1e-4
#: Accelerations below this are those of a mechanism at rest, rad/s² and m/s².
_STILL = 1e-6
#: Rates of rows that stick without a multiplier, in units of rest, that no rounding explains: with
#: projection, and without.
_DRIFT, _UNPROJECTED = 4.0, 1e4


class Activation:
    """The rows in force, and the event functions at which that changes."""

    def __init__(self, problem: Problem, options: Options) -> None:
        self.problem, self.options = problem, options
        self.model = problem.model
        driven = {drive.driver.name for drive in problem.drives}
        labels = problem.model.table.labels
        self.locked = tuple(i for i, (name, _) in enumerate(labels) if name in driven)
        self._drift = _DRIFT if options.stabilization == "projection" else _UNPROJECTED
        #: Which resistances stick, and which of these have a multiplier.
        self.sticking: AnyArray = np.zeros(len(self.model.resistances), dtype=bool)
        self.carrying: AnyArray = self.sticking
        self.kernel_state = problem.kernel_state
        self.event_functions: AnyArray = np.zeros(0, dtype=EVENT_FUNCTION)
        self.reselect_below = 0.0
        self.missing = 0
        self.segments: list[tuple[str, ...]] = [()]
        #: What ends the motion: a transition that cannot be.
        self.outcome = ""

    @property
    def segment(self) -> int:
        """Index of the present set of constraints."""
        return len(self.segments) - 1

    @property
    def row_independence(self) -> float:
        """Smallest own share of a row that should hold."""
        return 0.0 if self.missing else float(self.kernel_state.row_independence[0])

    def start(self, stepper: Stepper, state: State) -> None:
        """Decide what friction holds at the start."""
        self._decide(stepper, state)

    def switch(self, stepper: Stepper, state: State, changes: Sequence[Change]) -> list[Event]:
        """Make the changes of one instant, in their order; then decide what sticks."""
        before, moving = self.sticking, self._moving(state)
        events: list[Event] = []
        for change in changes:
            if change.kind == RELEASE:
                events += self._release(state, change.names)
            elif change.kind == BRAKE:
                events += self._close_brakes(state, change.names)
            else:
                events += self._lock(stepper, state, change.names)
            if self.outcome:
                return events
        self._decide(stepper, state)
        return events + self._stick_slip_events(state, before, moving)

    def _moving(self, state: State) -> AnyArray:
        """Return which resistances move."""
        self._configure(state)
        return np.abs(rates_of(self.model, state.qd)) > AT_REST

    def at_rest(self, state: State) -> bool:
        """Return whether nothing moves, and nothing starts to."""
        rates, accelerations = np.abs(state.qd), np.abs(state.qdd)
        return bool(rates.max(initial=0.0) <= AT_REST and accelerations.max(initial=0.0) <= _STILL)

    def refresh(self, stepper: Stepper, state: State) -> None:
        """Choose rows anew at a state, the set in force being the same."""
        self._choose(state)
        stepper.settle(self.kernel_state, state)
        self._trust()
        self._mark(state)

    def _lock(self, stepper: Stepper, state: State, names: tuple[str, ...]) -> list[Event]:
        """Close locks: the rates jump so that they and everything else hold (mueller2026 (22), (24)).

        What friction or a brake holds gives way for that instant, as its force is bounded.
        """
        table = self.model.table
        behind = enumerate(table.labels[table.persistent :], table.persistent)
        closing = tuple(i for i, (name, _) in behind if name in names and i not in self.locked)
        self._configure(state)
        grip(self.model, closing)
        self._configure(state)
        for i in closing:
            # a lock keeps the value that it finds
            table.rows["offset"][i] += table.rows["phi"][i]
        before, self.locked = self.locked, self.locked + closing
        self.sticking = self.carrying = np.zeros_like(self.sticking)
        listed = ", ".join(n.removeprefix("lock ") for n in names)
        if self._is_singular(state, before):
            text = f"{listed}: constraints lose rank where they are to close"
            return [self._refuse(state, "singular", text)]
        return self._jump(stepper, state, listed, closing)

    def _is_singular(self, state: State, before: tuple[int, ...]) -> bool:
        """Whether the constraints before or after a change are singular at this pose."""
        labels, own = self.model.table.labels, tuple(range(self.model.table.persistent))
        sets = []
        for locked in (before, self.locked):
            names = {labels[i][0] for i in locked}
            held = [gripped(self.model, c) for c in self.problem.held if c.name in names]
            sets.append(((*own, *locked), held))
        tolerance = self.options.tolerance
        found = is_singular(self.model, self.kernel_state, state.t, state.q, sets, tolerance)
        self._configure(state)
        return found

    def _refuse(self, state: State, why: EventKind, text: str) -> Event:
        self.outcome = f"{why}_transition"
        return passing(state.t, why, "", state.qd, text)

    def _close_brakes(self, state: State, pairs: tuple[str, ...]) -> list[Event]:
        """Let brakes grip."""
        closing = [brake for _, brake in self.model.brakes if brake.joint in pairs]
        for brake in closing:
            self.model.close_brake(brake)
        return [
            passing(state.t, "brake", brake.joint, state.qd, f"the brake of {brake.joint} grips")
            for brake in closing
        ]

    def _release(self, state: State, names: tuple[str, ...]) -> list[Event]:
        """Give up locks or drives; the rates stay, the forces jump."""
        labels = self.model.table.labels
        self.locked = tuple(i for i in self.locked if labels[i][0] not in names)
        return [passing(state.t, "release", name, state.qd, f"{name} is given up") for name in names]

    def first_change(
        self, stepper: Stepper, step: Step, displace: Callable[[Array, Array], Array]
    ) -> tuple[float, int] | None:
        """Return the fraction of a step at which the first event function changes sign, and which."""
        found: list[tuple[float, int]] = []
        looks: dict[float, Array] = {}

        def values(fraction: float, which: Sequence[int]) -> Array:
            x, qd = step.at(fraction)
            q, t = displace(step.q, x), step.start + fraction * step.length
            stepper.fill(self.kernel_state, State(t, q, qd, np.empty_like(qd)), step.start)
            functions = self.event_functions
            return np.array([read_event_function(self.kernel_state, functions[n], q, qd)[0] for n in which])

        everything = range(len(self.event_functions))
        for n, event_function in enumerate(self.event_functions):

            def g(fraction: float, n: int = n) -> float:
                # all functions are looked at where one is: the accelerations there cost most
                if fraction not in looks and fraction in LOOKS:
                    looks[fraction] = values(fraction, everything)
                return float(looks[fraction][n] if fraction in looks else values(fraction, (n,))[0])

            # a rate that starts to move is zero at the start, others may be soon after
            slides = event_function["kind"] == ROW_RATE
            zero = first_zero(g, START if not slides or abs(g(0.0)) <= AT_REST else 0.0)
            if zero is None and slides and g(1.0) * event_function["sense"] < -WRONG:
                zero = early_zero(g, float(event_function["sense"]))
            if zero is not None:
                found.append((zero, n))
        return min(found, default=None)

    def change(self, stepper: Stepper, state: State, event_function: int) -> list[Event]:
        """Let friction stick or slip where an event function changes sign, others at rest with it."""
        before, at_zero = self.sticking, -1
        if self.event_functions[event_function]["kind"] == ROW_RATE:
            at_zero = int(self.event_functions[event_function]["index"])
            self._stop(state, at_zero)
        self._decide(stepper, state, at_zero)
        return self._stick_slip_events(state, before, self.sticking)

    def _stick_slip_events(self, state: State, before: AnyArray, came_to_rest: AnyArray) -> list[Event]:
        """Return what starts to stick or slip, as against what stuck before."""
        out = []
        for n in np.flatnonzero(self.sticking != before).tolist():
            if self.sticking[n] and not came_to_rest[n]:
                # its brake holds what has been at rest
                continue
            name = self._name(n)
            kind: EventKind = "stick" if self.sticking[n] else "slip"
            out.append(passing(state.t, kind, name, state.qd, f"{name} starts to {kind}"))
        return out

    def _name(self, n: int) -> str:
        name, component = self.model.table.labels[int(self.model.resistances["row"][n])]
        return f"{name.partition(' ')[2]}.{component}"

    def _stop(self, state: State, row: int) -> None:
        """Set the rate of a row to zero where rounding has left something, unless the pose sees to that."""
        evaluate_at(self.kernel_state, KINEMATICS | FACTORIZE, state.t, state.q, state.qd)
        _, (share,) = own_innovations(self.model, self.kernel_state, np.array([row]))
        if share > self.options.tolerance:
            kernel_state = kernel_state_of(
                self.model,
                self.kernel_state.motion_segments,
                np.append(self.kernel_state.independent_rows, row),
            )
            jump_rates(kernel_state, state.t, state.q, state.qd)
            rows = self.model.table.rows
            if rows["kind"][row] == RATE:
                # the projection leaves rounding of itself
                state.qd[rows["rate"][row]] = 0.0

    def _decide(self, stepper: Stepper, state: State, at_zero: int = -1) -> None:
        """Decide what friction holds, choose rows, and settle the state.

        The rate of row ``at_zero`` has been found to pass zero here.
        """
        if len(self.model.resistances):
            self._configure(state)
            resistances, rates = self.model.resistances, rates_of(self.model, state.qd)
            dry = self._left_to_friction() & (resistances["static"] > 0.0)
            still = (np.abs(rates) <= AT_REST) | self.carrying | (resistances["row"] == at_zero)
            sense = np.where(dry & ~still, np.sign(rates), 0.0)
            found = self._stick_slip(stepper, state, sense, dry & still)
            resistances["sense"], resistances["stuck"] = found.sense, found.force
            self.sticking, self.carrying = found.sticking, found.carrying
            rows = self.model.table.rows
            for i in resistances["row"][self.sticking]:
                rows["offset"][i] += rows["phi"][i]
        self.refresh(stepper, state)
        self._new_segment()

    def _stick_slip(self, stepper: Stepper, state: State, sense: Array, resting: AnyArray) -> StickSlip:
        """Return what the resistances do, the constraints and locks holding."""
        resistances = self.model.resistances
        resistances["sense"], resistances["stuck"] = sense, 0.0
        self.carrying = np.zeros_like(resting)
        self._choose(state)
        stepper.fill(self.kernel_state, state)
        return solve_stick_slip(
            self.model, self.kernel_state, state.qd, sense, resting, self.options.tolerance
        )

    def _left_to_friction(self) -> AnyArray:
        """Return which resistances act: where a drive or a lock leads a freedom, it takes them over."""
        labels = self.model.table.labels
        led = {(labels[i][0].partition(" ")[2], labels[i][1].partition("_")[0]) for i in self.locked}
        rows = self.model.resistances["row"]
        return np.array([(labels[i][0].partition(" ")[2], labels[i][1]) not in led for i in rows], dtype=bool)

    def active(self) -> tuple[int, ...]:
        """Return all rows in force, redundant ones included."""
        sticking = self.model.resistances["row"][self.sticking].tolist()
        return (*range(self.model.table.persistent), *self.locked, *sticking)

    def _choose(self, state: State) -> None:
        """Choose independent rows of the constraints and locks; those that friction holds come on top."""
        self._configure(state)
        leading = (*range(self.model.table.persistent), *self.locked)
        choice = choose_rows(
            self.model, leading, self.problem.own_rank, self.options.tolerance, self.problem.dropped
        )
        carried = self.model.resistances["row"][self.carrying]
        self.kernel_state = kernel_state_of(
            self.model, self.kernel_state.motion_segments, np.append(choice.rows, carried)
        )
        self.missing = choice.missing

    def _jump(self, stepper: Stepper, state: State, name: str, closing: tuple[int, ...]) -> list[Event]:
        before, rows = state.qd.copy(), self.active()
        self._choose(state)
        if self.options.transition == "naive":
            given, left_open = self._only_locked(state, closing)
        else:
            given, left_open = self._consistent(state, rows, closing)
        if contradict(self.model, rows, state.qd) and self.options.transition != "naive":
            state.qd[:] = before
            return [self._refuse(state, "contradictory", f"{name}: no rates satisfy all that is to hold")]
        after = state.qd.copy()
        before.setflags(write=False)
        after.setflags(write=False)
        stepper.evaluate(self.kernel_state, state)
        return [Event(state.t, "lock", name, before, after, given, f"{name}: lock", left_open)]

    def _consistent(self, state: State, rows: tuple[int, ...], closing: tuple[int, ...]) -> Impulses:
        """Let the rates jump by momentum balance; return the impulses, and which are open."""
        before, labels = state.qd.copy(), self.model.table.labels
        impulses = jump_rates(self.kernel_state, state.t, state.q, state.qd)
        given = {
            labels[i]: float(v) for i, v in zip(self.kernel_state.independent_rows, impulses, strict=True)
        }
        if len(rows) == len(self.kernel_state.independent_rows):
            return given, ()
        found, left_open = all_impulses(
            self.model, self.kernel_state, state.t, state.q, before, rows, closing
        )
        self._configure(state)
        return found or given, left_open

    def _only_locked(self, state: State, closing: tuple[int, ...]) -> Impulses:
        """Set the rates of closing joints alone, without the impulses."""
        rows = self.model.table.rows
        for i in closing:
            if rows["kind"][i] == RATE:
                state.qd[rows["rate"][i]] = -rows["bias"][i]
        self._configure(state)
        return {}, ()

    def _mark(self, state: State) -> None:
        """Watch the rates that slide, the forces that hold, and rates that should stay zero."""
        table, place = self.model.table, {int(i): k for k, i in enumerate(self.kernel_state.independent_rows)}
        event_functions = []
        drift = self._drift * AT_REST * (1.0 + float(np.abs(state.qd).max(initial=0.0)))
        for n, one in enumerate(self.model.resistances):
            row = int(one["row"])
            if self.carrying[n]:
                event_functions.append(
                    (MULTIPLIER, place[row], 0, _SLIPS * float(one["static"]), 0.0, 0.0, 0.0)
                )
            elif self.sticking[n]:
                event_functions.append((DRIFT, row, 0, drift, 0.0, 0.0, 0.0))
            elif one["sense"] != 0.0:
                event_functions.append(
                    (ROW_RATE, row, int(table.rows["rate"][row]), 0.0, float(one["sense"]), 0.0, 0.0)
                )
        self.event_functions = np.array(event_functions, dtype=EVENT_FUNCTION)
        for event_function in self.event_functions:
            event_function["value"], event_function["slope"] = read_event_function(
                self.kernel_state, event_function, state.q, state.qd
            )
            if (
                event_function["kind"] == ROW_RATE
                and event_function["value"] * event_function["sense"] < AT_REST
            ):
                # it has just started to slide: its sense is that of its acceleration
                event_function["value"] = 0.0

    def _new_segment(self) -> None:
        labels = self.model.table.labels
        names = tuple(dict.fromkeys(labels[i][0] for i in self.active() if i >= self.model.table.persistent))
        if names != self.segments[-1]:
            self.segments.append(names)

    def reselect(self, stepper: Stepper, state: State) -> list[Event]:
        """Choose rows anew where those at hand have become weak, unless no others are stronger.

        Near a singular pose all are weak, and the best by chance are the noise of rows that vanish. Where
        friction holds, it is decided anew: a row that depends on others by now holds nothing.
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
            self._mark(state)
            self.reselect_below = reselect_below
        return []

    def _trust(self) -> None:
        self.reselect_below = (
            trusted_share(self.row_independence) if self.row_independence > _SINGULAR else 0.0
        )
        self.kernel_state.row_independence[2] = min(_UNSAFE, self.reselect_below)

    def _configure(self, state: State) -> None:
        evaluate_at(self.kernel_state, KINEMATICS, state.t, state.q, state.qd)
