"""Which constraints hold now: closed locks, drives, brakes and friction that stick; the rows chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.simulation.act import ACCELERATE, CONFIGURE, do
from mbplugin.simulation.choose import choose_rows, trusted_share
from mbplugin.simulation.event import Event, passing
from mbplugin.simulation.friction import AT_REST, decide, rates_of
from mbplugin.simulation.integrators.contract import Step
from mbplugin.simulation.locking.instant import all_impulses, contradict, grip, gripped, is_singular
from mbplugin.simulation.machine import Machine, machine_of
from mbplugin.simulation.march import March, State
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import Problem
from mbplugin.simulation.projection import jump_rates
from mbplugin.simulation.schedule import BRAKE, LOCK, Change
from mbplugin.simulation.search import function_zeros
from mbplugin.simulation.watch import MULTIPLIER, ROW_RATE, WATCH, read_mark
from mbplugin.spatial import AnyArray, Array

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


class Activation:
    """The rows in force, and the marks at which that changes."""

    def __init__(self, problem: Problem, options: Options) -> None:
        self.problem, self.options = problem, options
        self.model = problem.model
        driven = {drive.driver.name for drive in problem.drives}
        labels = problem.model.table.labels
        self.locked = tuple(i for i, (name, _) in enumerate(labels) if name in driven)
        self.held: AnyArray = np.zeros(len(self.model.resistances), dtype=bool)
        self.in_force: AnyArray = np.ones(len(self.model.resistances), dtype=bool)
        self.machine = problem.machine
        self.marks: AnyArray = np.zeros(0, dtype=WATCH)
        self.trusted = 0.0
        self.missing = 0
        self.segments: list[tuple[str, ...]] = [()]
        #: What ends the motion: a transition that cannot be.
        self.outcome = ""

    @property
    def segment(self) -> int:
        """Index of the present set of constraints."""
        return len(self.segments) - 1

    @property
    def health(self) -> float:
        """Smallest own share of a row that should hold."""
        return 0.0 if self.missing else float(self.machine.health[0])

    def start(self, march: March, state: State) -> None:
        """Decide what friction holds at the start."""
        self._decide(march, state)

    def apply(self, march: March, state: State, change: Change) -> list[Event]:
        """Make a scheduled change."""
        if change.kind == LOCK:
            return self.lock(march, state, change.names)
        if change.kind == BRAKE:
            return self.close_brakes(march, state, change.names)
        return self.release(march, state, change.names)

    def at_rest(self, state: State) -> bool:
        """Return whether nothing moves, and nothing starts to."""
        rates, accelerations = np.abs(state.qd), np.abs(state.qdd)
        return bool(rates.max(initial=0.0) <= AT_REST and accelerations.max(initial=0.0) <= _STILL)

    def refresh(self, march: March, state: State) -> None:
        """Choose rows anew at a state, the set in force being the same."""
        self._choose(state)
        march.settle(self.machine, state)
        self._trust()
        self._mark(state)

    def lock(self, march: March, state: State, names: tuple[str, ...]) -> list[Event]:
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
        self.held = np.zeros_like(self.held)
        said = ", ".join(n.removeprefix("lock ") for n in names)
        if self._is_singular(state, before):
            return [self._refuse(state, "singular", f"{said}: constraints lose rank where they are to close")]
        events = self._jump(march, state, said, closing)
        if not self.outcome:
            self._decide(march, state)
        return events

    def _is_singular(self, state: State, before: tuple[int, ...]) -> bool:
        """Whether the constraints before or after a change are singular at this pose."""
        labels, own = self.model.table.labels, tuple(range(self.model.table.persistent))
        sets = []
        for locked in (before, self.locked):
            names = {labels[i][0] for i in locked}
            held = [gripped(self.model, c) for c in self.problem.held if c.name in names]
            sets.append(((*own, *locked), held))
        tolerance = self.options.tolerance
        found = is_singular(self.model, self.machine, state.t, state.q, sets, tolerance)
        self._configure(state)
        return found

    def _refuse(self, state: State, why: str, text: str) -> Event:
        self.outcome = f"{why}_transition"
        return passing(state.t, why, "", state.qd, text)

    def close_brakes(self, march: March, state: State, pairs: tuple[str, ...]) -> list[Event]:
        """Let brakes grip; a joint at rest is held where its brake can."""
        closing = [brake for _, brake in self.model.brakes if brake.pair in pairs]
        for brake in closing:
            self.model.close_brake(brake)
        self._decide(march, state)
        return [
            passing(state.t, "brake", brake.pair, state.qd, f"the brake of {brake.pair} grips")
            for brake in closing
        ]

    def release(self, march: March, state: State, names: tuple[str, ...]) -> list[Event]:
        """Give up locks or drives; the rates stay, the forces jump."""
        labels = self.model.table.labels
        self.locked = tuple(i for i in self.locked if labels[i][0] not in names)
        self._decide(march, state)
        return [passing(state.t, "release", name, state.qd, f"{name} is given up") for name in names]

    def first_change(self, step: Step, displace: Callable[[Array, Array], Array]) -> tuple[float, int] | None:
        """Return the fraction of a step at which the first mark is passed, and the mark."""
        found: list[tuple[float, int]] = []
        for n, mark in enumerate(self.marks):

            def g(fraction: float, mark: Any = mark) -> float:
                x, qd = step.at(fraction)
                q, t = displace(step.q, x), step.start + fraction * step.length
                self._evaluate(t, step.start, q, qd)
                return float(read_mark(self.machine, mark, q, qd)[0])

            found += [(f, n) for f in function_zeros(g)[:1]]
        return min(found, default=None)

    def change(self, march: March, state: State, mark: int) -> list[Event]:
        """Let friction stick or slip at a passed mark, others at rest with it."""
        before = self.held.copy()
        row = int(self.marks[mark]["index"])
        if self.marks[mark]["kind"] == ROW_RATE:
            self._stop(state, row)
        self._decide(march, state)
        out = []
        for n in np.flatnonzero(self.held != before).tolist():
            name = self._name(n)
            kind = "stick" if self.held[n] else "slip"
            out.append(passing(state.t, kind, name, state.qd, f"{name} starts to {kind}"))
        return out

    def _name(self, n: int) -> str:
        name, component = self.model.table.labels[int(self.model.resistances["row"][n])]
        return f"{name.partition(' ')[2]}.{component}"

    def _stop(self, state: State, row: int) -> None:
        """Set the rate of a row to zero where rounding has left something."""
        self._configure(state)
        choice = choose_rows(self.model, (*self.active(), row), self.problem.own_rank, self.options.tolerance)
        machine = machine_of(self.model, self.machine.stretches, choice.rows)
        jump_rates(machine, state.t, state.q, state.qd)

    def _decide(self, march: March, state: State) -> None:
        """Decide what friction holds, choose rows, and settle the state."""
        if len(self.model.resistances):
            self._configure(state)
            rates = rates_of(self.model, state.qd)
            keep = self.model.table.rows

            def hold(held: AnyArray) -> Machine:
                self.held = held
                self._choose(state)
                march.evaluate(self.machine, state)
                return self.machine

            self.in_force = self._left_to_friction()
            held = decide(self.model, hold, rates, self.in_force)
            for i in self.model.resistances["row"][held & (np.abs(rates) <= AT_REST)]:
                keep["offset"][i] += keep["phi"][i]
            self.held = held
        self.refresh(march, state)
        self._new_segment()

    def _left_to_friction(self) -> AnyArray:
        """Return which resistances act: where a drive or a lock leads a freedom, it takes them over."""
        labels = self.model.table.labels
        led = {(labels[i][0].partition(" ")[2], labels[i][1].partition("_")[0]) for i in self.locked}
        rows = self.model.resistances["row"]
        return np.array([(labels[i][0].partition(" ")[2], labels[i][1]) not in led for i in rows], dtype=bool)

    def active(self) -> tuple[int, ...]:
        """Return all rows in force, redundant ones included."""
        held = self.model.resistances["row"][self.held].tolist()
        return (*range(self.model.table.persistent), *self.locked, *(i for i in held if i not in self.locked))

    def _choose(self, state: State) -> None:
        self._configure(state)
        choice = choose_rows(
            self.model, self.active(), self.problem.own_rank, self.options.tolerance, self.problem.dropped
        )
        self.machine = machine_of(self.model, self.machine.stretches, choice.rows)
        self.missing = choice.missing

    def _jump(self, march: March, state: State, name: str, closing: tuple[int, ...]) -> list[Event]:
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
        march.evaluate(self.machine, state)
        return [Event(state.t, "lock", name, before, after, given, f"{name}: lock", left_open)]

    def _consistent(self, state: State, rows: tuple[int, ...], closing: tuple[int, ...]) -> Impulses:
        """Let the rates jump by momentum balance; return the impulses, and which are open."""
        before, labels = state.qd.copy(), self.model.table.labels
        impulses = jump_rates(self.machine, state.t, state.q, state.qd)
        given = {labels[i]: float(v) for i, v in zip(self.machine.chosen, impulses, strict=True)}
        if len(rows) == len(self.machine.chosen):
            return given, ()
        found, left_open = all_impulses(self.model, self.machine, state.t, state.q, before, rows, closing)
        self._configure(state)
        return found or given, left_open

    def _only_locked(self, state: State, closing: tuple[int, ...]) -> Impulses:
        """Set the rates of closing joints as they ask for, and nothing else; what this takes is not told."""
        rows = self.model.table.rows
        for i in closing:
            if rows["kind"][i] == RATE:
                state.qd[rows["rate"][i]] = -rows["bias"][i]
        self._configure(state)
        return {}, ()

    def _mark(self, state: State) -> None:
        """Watch the rates that slide and the forces that hold."""
        table, place = self.model.table, {int(i): k for k, i in enumerate(self.machine.chosen)}
        marks = []
        for n, one in enumerate(self.model.resistances):
            row = int(one["row"])
            if self.held[n] and row in place:
                marks.append((MULTIPLIER, place[row], 0, _SLIPS * float(one["static"]), 0.0, 0.0))
            elif one["sense"] != 0.0:
                marks.append((ROW_RATE, row, int(table.rows["rate"][row]), 0.0, 0.0, 0.0))
        self.marks = np.array(marks, dtype=WATCH)
        for mark in self.marks:
            mark["value"], mark["slope"] = read_mark(self.machine, mark, state.q, state.qd)
            if mark["kind"] == ROW_RATE and abs(mark["value"]) < AT_REST:
                # it has just started to slide: its sense is that of its acceleration
                mark["value"] = 0.0

    def _new_segment(self) -> None:
        labels = self.model.table.labels
        names = tuple(dict.fromkeys(labels[i][0] for i in self.active() if i >= self.model.table.persistent))
        if names != self.segments[-1]:
            self.segments.append(names)

    def reselect(self, march: March, state: State) -> None:
        """Choose rows anew where those at hand have become weak, unless no others are stronger.

        Near a singular pose all are weak, and the best by chance are the noise of rows that vanish.
        """
        old, weak, trusted = self.machine, self.health, self.trusted
        self.refresh(march, state)
        if self.health < _STRONGER * weak or len(self.machine.chosen) < len(old.chosen):
            self.machine = old
            march.settle(old, state)
            self._mark(state)
            self.trusted = trusted

    def _trust(self) -> None:
        self.trusted = trusted_share(self.health) if self.health > _SINGULAR else 0.0
        self.machine.health[2] = min(_UNSAFE, self.trusted)

    def _configure(self, state: State) -> None:
        do(self.machine, CONFIGURE, state.t, state.q, state.qd)

    def _evaluate(self, t: float, begun: float, q: Array, qd: Array) -> None:
        do(self.machine, ACCELERATE, t, q, qd, begun)
