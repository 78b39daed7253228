"""Which brakes hold in a stop, and what is watched: decided by the kernels of the runner."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.model.spatial import AnyArray
from mbplugin.simulation.active_set.stick_slip import let_slide
from mbplugin.simulation.events.watch import COORDINATE, read_event_function
from mbplugin.simulation.steppers.evaluate import FORWARD_DYNAMICS, Evaluate
from mbplugin.simulation.steppers.kernel_state import KernelState, load_struct, struct_pointer
from mbplugin.stopping.compiled.pieces import Motion

#: Rates of rows that stick without a multiplier, in units of rest, that no rounding explains.
_DRIFT = 1e4


class Friction(NamedTuple):
    """Which resistances act, rest, stick, and have a multiplier: arrays of bool (n,)."""

    acting: AnyArray
    resting: AnyArray
    sticking: AnyArray
    carrying: AnyArray


def room_for_friction(n: int) -> Friction:
    """Return arrays for n resistances."""
    return Friction(*(np.zeros(n, dtype=np.bool_) for _ in Friction._fields))


@kernel
def solve_brakes(
    evaluate: Evaluate,
    solve: Any,
    breaking: int,
    whole: KernelState,
    rows: AnyArray,
    s: Records,
    t: float,
    now: Motion,
    friction: Friction,
    tolerance: float,
    at_zero: int,
) -> tuple[KernelState, int, bool]:
    """Decide which brakes hold, and fill the accelerations; return the kernel state with the rows that hold.

    ``rows`` (n,) becomes those rows. Further values are the number of evaluations, and whether it is decided: not where
    a brake breaks away, and ``breaking`` is 0.
    """
    r, n, controlled = 0, len(s), 0
    for k in range(n):
        friction.acting[k], friction.resting[k] = not s[k].controlled, friction.carrying[k]
        if s[k].controlled:
            rows[controlled] = whole.resistances[k].row
            controlled += 1
    m = _holding(whole, rows, controlled)
    # rows of rates need no kinematics
    let_slide(m, now.qd, friction.acting, at_zero, friction.resting)
    # most often all that rests is held: then the forces which that needs are within the bounds, and nothing else is
    r = _let_hold(whole, rows, controlled, s, now, friction.resting)
    m = _holding(whole, rows, r)
    evaluate(struct_pointer(m), FORWARD_DYNAMICS, t, t, now.q, now.qd)
    if _within_bounds(m, controlled, friction.resting):
        for k in range(n):
            friction.sticking[k] = friction.carrying[k] = friction.resting[k]
        _take(m, now)
        return m, 1, True
    m = _holding(whole, rows, controlled)
    evaluate(struct_pointer(m), FORWARD_DYNAMICS, t, t, now.q, now.qd)
    place, qd = struct_pointer(m), now.qd
    if not solve(breaking, place, qd, friction.resting, tolerance, friction.sticking, friction.carrying):
        return m, 2, False
    r = _let_hold(whole, rows, controlled, s, now, friction.carrying)
    m = _holding(whole, rows, r)
    evaluate(struct_pointer(m), FORWARD_DYNAMICS, t, t, now.q, now.qd)
    _take(m, now)
    return m, 3, True


@kernel
def _let_hold(whole: KernelState, rows: AnyArray, r: int, s: Records, now: Motion, holding: AnyArray) -> int:
    """Put the rows that are ``holding`` (n,), at rest, behind the first r of ``rows`` (n,); return their number."""
    for k in range(len(s)):
        if holding[k]:
            rows[r] = whole.resistances[k].row
            r += 1
            now.qd[s[k].rate] = 0.0
    return r


@kernel
def _within_bounds(m: KernelState, controlled: int, holding: AnyArray) -> bool:
    """Return whether the forces on the rows behind the first ``controlled``, those ``holding`` (n,), can be held."""
    i = controlled
    for k in range(len(holding)):
        if holding[k]:
            if not abs(m.multipliers[i]) <= m.resistances[k].static:
                return False
            i += 1
    return True


@kernel
def _take(m: KernelState, now: Motion) -> None:
    """Take the accelerations of a kernel state."""
    for j in range(len(now.qd)):
        now.qdd[j] = m.rates[j].qdd


@kernel
def _holding(m: KernelState, rows: AnyArray, r: int) -> KernelState:
    """Return a kernel state in which the first r of some rows (n,) hold."""
    part = KernelState(
        m.composites,
        m.rates,
        m.joint_frames,
        m.rows,
        m.terms,
        m.loads,
        m.springs,
        m.resistances,
        m.motion_segments,
        m.drive,
        rows[:r],
        m.Q[:r],
        m.R,
        m.multipliers[:r],
        m.gap[:r],
        m.power,
        m.row_independence,
        m.kx,
        m.kv,
        m.kw,
        m.x,
        m.v,
        m.slope,
        m.at,
    )
    # of the same type as every other
    return load_struct(struct_pointer(part))


@kernel
def watch(
    watch_brakes: Any, m: KernelState, s: Records, now: Motion, friction: Friction, event_functions: Records
) -> int:
    """Fill the event functions of brakes and of limits; return their number."""
    q, qd = now.q, now.qd
    sticking, carrying = friction.sticking, friction.carrying
    count: int = watch_brakes(struct_pointer(m), q, qd, sticking, carrying, _DRIFT, event_functions)
    for n in range(len(s)):
        for upper in range(2):
            level = s[n].upper if upper else s[n].lower
            if isfinite(level):
                function = event_functions[count]
                function.kind, function.index, function.rate = COORDINATE, s[n].rate, s[n].rate
                function.level, function.sense = level, 2.0 * upper - 1.0
                function.value, function.slope = read_event_function(m, function, q, qd)
                count += 1
    return count
