"""Which brakes hold in a stop, and what is watched: decided by the kernels of the runner."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.model.spatial import AnyArray
from mbplugin.simulation.active_set.stick_slip import let_slide
from mbplugin.simulation.events.watch import COORDINATE
from mbplugin.simulation.steppers.evaluate import FORWARD_DYNAMICS, Evaluate
from mbplugin.simulation.steppers.kernel_state import held_words, load_struct
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


#: Where the words of a kernel state have the numbers of rows that hold, and the size of Q.
_ROWS, _Q_SIZE = held_words()


@kernel
def solve_brakes(
    evaluate: Evaluate,
    solve: Any,
    breaking: int,
    place: int,
    words: AnyArray,
    rows: AnyArray,
    s: Records,
    t: float,
    now: Motion,
    friction: Friction,
    tolerance: float,
    at_zero: int,
) -> tuple[int, bool]:
    """Decide which brakes hold, let these rows hold in the kernel state, and fill the accelerations.

    The kernel state is at ``place``, as ``words`` (k,); ``rows`` (n,) are those that hold in it. Values are the
    number of evaluations, and whether it is decided: not where a brake breaks away, and ``breaking`` is 0.
    """
    n, controlled, resistances = len(s), 0, load_struct(place).resistances
    for k in range(n):
        friction.acting[k], friction.resting[k] = not s[k].controlled, friction.carrying[k]
        if s[k].controlled:
            rows[controlled] = resistances[k].row
            controlled += 1
    # rows of rates need no kinematics
    let_slide(place, now.qd, friction.acting, at_zero, friction.resting)
    # most often all that rests is held: then the forces which that needs are within the bounds, and nothing else is
    _hold(words, _let_hold(resistances, rows, controlled, s, now, friction.resting), len(now.qd))
    _accelerate(evaluate, place, t, now)
    if _within_bounds(place, controlled, friction.resting):
        for k in range(n):
            friction.sticking[k] = friction.carrying[k] = friction.resting[k]
        return 1, True
    _hold(words, controlled, len(now.qd))
    _accelerate(evaluate, place, t, now)
    if not solve(breaking, place, now.qd, friction.resting, tolerance, friction.sticking, friction.carrying):
        return 2, False
    _hold(words, _let_hold(resistances, rows, controlled, s, now, friction.carrying), len(now.qd))
    _accelerate(evaluate, place, t, now)
    return 3, True


@kernel
def _let_hold(
    resistances: Records, rows: AnyArray, r: int, s: Records, now: Motion, holding: AnyArray
) -> int:
    """Put the rows that are ``holding`` (n,), at rest, behind the first r of ``rows`` (n,); return their number."""
    for k in range(len(s)):
        if holding[k]:
            rows[r] = resistances[k].row
            r += 1
            now.qd[s[k].rate] = 0.0
    return r


@kernel
def _within_bounds(place: int, controlled: int, holding: AnyArray) -> bool:
    """Return whether the forces on the rows behind the first ``controlled``, those ``holding`` (n,), can be held."""
    m, i = load_struct(place), controlled
    for k in range(len(holding)):
        if holding[k]:
            if not abs(m.multipliers[i]) <= m.resistances[k].static:
                return False
            i += 1
    return True


@kernel
def _accelerate(evaluate: Evaluate, place: int, t: float, now: Motion) -> None:
    """Fill the accelerations of a state at t, s."""
    evaluate(place, FORWARD_DYNAMICS, t, t, now.q, now.qd)
    rates = load_struct(place).rates
    for j in range(len(now.qd)):
        now.qdd[j] = rates[j].qdd


@kernel
def _hold(words: AnyArray, r: int, nv: int) -> None:
    """Let the first r rows of a kernel state hold, which is given as words (k,)."""
    for k in range(len(_ROWS)):
        words[_ROWS[k]] = r
    words[_Q_SIZE] = r * nv


@kernel
def watch(
    watch_brakes: Any, place: int, s: Records, now: Motion, friction: Friction, event_functions: Records
) -> int:
    """Fill the event functions of brakes and of limits; return their number."""
    q, qd = now.q, now.qd
    sticking, carrying = friction.sticking, friction.carrying
    count: int = watch_brakes(place, q, qd, sticking, carrying, _DRIFT, event_functions)
    for n in range(len(s)):
        for upper in range(2):
            level = s[n].upper if upper else s[n].lower
            if isfinite(level):
                function, rate = event_functions[count], s[n].rate
                function.kind, function.index, function.rate = COORDINATE, rate, rate
                function.level, function.sense = level, 2.0 * upper - 1.0
                function.value, function.slope = q[rate] - level, qd[rate]
                count += 1
    return count
