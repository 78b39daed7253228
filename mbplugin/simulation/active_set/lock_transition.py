"""Locks and other constraints that close during a motion: the rates jump so that all that holds is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.model.mechanism.identity import Holder
from mbplugin.model.spatial import make_read_only
from mbplugin.simulation.events.event import Event, EventKind, passing
from mbplugin.simulation.impact.instant import all_impulses, contradict, grip, gripped, is_singular
from mbplugin.simulation.projection import jump_rates
from mbplugin.simulation.steppers.compiled import State, Stepper

if TYPE_CHECKING:
    from mbplugin.simulation.active_set.activation import Activation

#: Impulses by row, and the rows whose impulses a rigid model leaves open.
Impulses = tuple[dict[tuple[str, str], float], tuple[tuple[str, str], ...]]


def close_locks(active: Activation, stepper: Stepper, state: State, names: tuple[str, ...]) -> list[Event]:
    """Close locks: the rates jump so that they and everything else hold (mueller2026 (22), (24)).

    What friction or a brake holds gives way for that instant, as its force is bounded.
    """
    table = active.model.table
    behind = enumerate(table.labels[table.persistent :], table.persistent)
    closing = tuple(i for i, (name, _) in behind if name in names and i not in active.locked)
    active.configure(state)
    grip(active.model, closing)
    active.configure(state)
    for i in closing:
        # a lock keeps the value that it finds
        table.rows["offset"][i] += table.rows["phi"][i]
    before, active.locked = active.locked, active.locked + closing
    active.sticking = active.carrying = np.zeros_like(active.sticking)
    listed = ", ".join(holder.joint if (holder := Holder.of(name)) else name for name in names)
    if _is_singular(active, state, before):
        text = f"{listed}: constraints lose rank where they are to close"
        return [_refuse(active, state, "singular", text)]
    return _jump(active, stepper, state, listed, closing)


def _is_singular(active: Activation, state: State, before: tuple[int, ...]) -> bool:
    """Whether the constraints before or after a change are singular at this pose."""
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
    """Let the rates jump by momentum balance; return the impulses, and which are open."""
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
    """Set the rates of closing joints alone, without the impulses."""
    rows = active.model.table.rows
    for i in closing:
        if rows["kind"][i] == RATE:
            state.qd[rows["rate"][i]] = -rows["bias"][i]
    active.configure(state)
    return {}, ()
