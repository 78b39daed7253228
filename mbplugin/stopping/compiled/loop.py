"""A stop of category 0 in one compiled call, for trees: the basis of series of stops.

The same kernels as those of the runner take the steps, find the events in them, and decide which brakes hold:
led joints and holding brakes are rows, sliding brakes act against the rate.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.stick_slip import is_at_rest, solve_address, solve_from
from mbplugin.simulation.events.locate import locate_address, locate_from
from mbplugin.simulation.events.watch import COORDINATE, EVENT_FUNCTION, ROW_RATE, watch_address, watch_from
from mbplugin.simulation.integrators.explicit_loop import METHOD, advance_address, advance_from
from mbplugin.simulation.integrators.hermite import QUINTIC, quintic, quintic_at
from mbplugin.simulation.steppers.evaluate import FORWARD_DYNAMICS, evaluate_address, evaluate_from
from mbplugin.simulation.steppers.kernel_state import (
    DONE,
    INDICES,
    LOOK,
    MATRIX,
    VECTOR,
    load_struct,
    named_tuple,
    struct_loader,
)
from mbplugin.stopping.compiled.brakes import Friction, room_for_friction, solve_brakes, watch
from mbplugin.stopping.compiled.joints import (
    STOPPING,
    all_switched,
    controlled_until,
    limit_time,
    next_switch,
    reset_joints,
    switch_due,
    track_travel,
)
from mbplugin.stopping.compiled.pieces import (
    AT_ONCE,
    Motion,
    Taken,
    keep_all,
    keep_piece,
    keep_step,
    motion_at_rest,
    put_all,
    room_for_steps,
)

#: How a stop ends; UNDECIDED: a brake breaks away, and what decides that is not compiled yet.
STOPPED, LIMIT, MOVING, BROKEN, UNDECIDED = range(5)
#: The most steps of a stop.
STEPS = 4000
#: The first step, s.
_FIRST_STEP = 1e-3


class StopWorkspace(NamedTuple):
    """The state now and at the last step, and memory for a stop.

    Parameters
    ----------
    now, old : Motion
    taken : Taken
    friction : Friction
    inside : (6, 2, nv) array
        The quintics of a step.
    counts : (2,) array
        Evaluations and rejected steps.
    """

    now: Motion
    old: Motion
    taken: Taken
    friction: Friction
    inside: Array
    counts: Array


def workspace_for_stop(n: int, nv: int) -> StopWorkspace:
    """Return memory for a stop of n joints with brakes and nv rates."""
    inside = np.zeros((QUINTIC + 1, 2, nv))
    motions = motion_at_rest(nv), motion_at_rest(nv)
    return StopWorkspace(*motions, room_for_steps(nv), room_for_friction(n), inside, np.zeros(2))


_MOTION = named_tuple([VECTOR] * 4, Motion)
_TAKEN = named_tuple([VECTOR, *[MATRIX] * 4, types.float64[:, :, :, ::1]], Taken)
_FRICTION = named_tuple([types.boolean[::1]] * 4, Friction)
_load_workspace = struct_loader(
    named_tuple([_MOTION, _MOTION, _TAKEN, _FRICTION, types.float64[:, :, ::1], VECTOR], StopWorkspace)
)


def stop_loop(
    addresses: AnyArray,
    place: int,
    words: AnyArray,
    workspace_place: int,
    method: Records,
    rows: AnyArray,
    event_functions: Records,
    s: Records,
    end: float,
    rtol: float,
    atol: float,
    tolerance: float,
    pieces: Array,
) -> tuple[int, float, int]:
    """Move the state in a workspace to rest; return how it ends, when (s), and how many evaluations it took.

    Parameters
    ----------
    addresses : (6,) array of int
        Of ``evaluate``, of the loop of explicit methods, of the search for events, and of what decides
        which brakes hold, fills what is watched, and decides what breaks away; the last one may be 0.
    place : int
        Of a kernel state with room for all resistances to hold: those whose rows are in ``rows``.
    words : (k,) array of int
        The kernel state as it lies there.
    workspace_place : int
        Of a :class:`StopWorkspace`, all zero but for the state at the start.
    method : (1,) record array
        The table of the integrator.
    rows : (n,) array of int
        Room for the rows that hold.
    event_functions : (3n,) record array
        Room for what is watched.
    s : (n,) record array
        The joints.
    end, rtol, atol, tolerance : float
        s; those of the integrator; share of its own below which a row depends on others.
    pieces : (STEPS + 2, 7, nv) array
        Becomes the motion, see :func:`keep_piece`.
    """
    address = addresses[0]
    evaluate, advance, locate = evaluate_from(address), advance_from(addresses[1]), locate_from(addresses[2])
    solve, watch_brakes = solve_from(addresses[3]), watch_from(addresses[4])
    resistances, h = load_struct(place).resistances, _FIRST_STEP
    workspace, control = _load_workspace(workspace_place), (end, rtol, atol)
    now, old, taken, friction, inside, counts = workspace
    put_all(now, old)
    q, qd = now.q, now.qd
    t, kept, limited = _start(resistances, s, now, old, end, pieces)
    if limited:
        return LIMIT, t, 0
    watched, changed, at_zero = event_functions[:0], True, -1
    for _ in range(STEPS):
        if changed:
            spent, decided = solve_brakes(
                evaluate, solve, addresses[5], place, words, rows, s, t, now, friction, tolerance, at_zero
            )
            if not decided:
                return UNDECIDED, t, 0
            watched = event_functions[: watch(watch_brakes, place, s, now, friction, event_functions)]
            counts[0] += spent
            changed, at_zero = False, -1
        if all_switched(s, t) and is_at_rest(qd, now.qdd):
            return STOPPED, t, int(counts[0])
        if t >= end:
            return MOVING, t, int(counts[0])
        if kept + 2 * AT_ONCE > STEPS:
            break
        put_all(now, old)
        begin, which, goal = t, -1, next_switch(s, t, end)
        status, count, t, h = _advance(
            advance, address, place, method, watched, t, goal, h, control, now, taken, counts
        )
        kept, begin = keep_all(pieces, kept, s, begin, old, taken, count - 1 if status == LOOK else count)
        if status == LOOK:
            length = t - begin
            quintic(length, old.q, now.q, old.qd, now.qd, old.qdd, now.qdd, inside)
            fraction, which = locate(address, place, watched, begin, length, old.q, inside)
            if which < 0:
                # the search has read the model elsewhere
                evaluate(place, FORWARD_DYNAMICS, t, t, q, qd)
                counts[0] += 1
                kept, begin = keep_step(pieces, kept, s, begin, t, old, now)
        elif status != DONE:
            break
        if which >= 0:
            t = begin + fraction * length
            quintic_at(length, fraction, old.q, inside, now.q, now.qd, now.qdd)
            kept, begin = keep_step(pieces, kept, s, begin, t, old, now)
            if watched[which].kind == COORDINATE:
                return LIMIT, t, int(counts[0])
            if watched[which].kind == ROW_RATE:
                at_zero = watched[which].index
                qd[watched[which].rate] = 0.0
            changed = True
        changed = switch_due(s, resistances, t, q, qd) or changed
    return BROKEN, t, int(counts[0])


@kernel
def _advance(
    advance: Any,
    address: int,
    place: int,
    method: Records,
    watched: Records,
    t: float,
    goal: float,
    h: float,
    control: tuple[float, float, float],
    now: Motion,
    taken: Taken,
    counts: Array,
) -> tuple[int, int, float, float]:
    """Take steps of about h to a goal, s, where nothing changes before; ``control``: largest step, tolerances.

    The rates that a row leads are constant: nothing has to be projected. ``counts`` (2,) adds up evaluations and
    rejected steps.
    """
    largest, rtol, atol = control
    status, count, t, h = advance(
        address,
        place,
        method,
        watched,
        t,
        goal,
        h,
        largest,
        rtol,
        atol,
        0.0,
        0.0,
        False,
        now.q,
        now.qd,
        now.qdd,
        now.work,
        taken.t,
        taken.q,
        taken.qd,
        taken.qdd,
        taken.work,
        taken.dense,
        counts,
    )
    return status, count, t, h


@kernel
def _start(
    resistances: Records, s: Records, now: Motion, old: Motion, end: float, pieces: Array
) -> tuple[float, int, bool]:
    """Move at constant rates until the first drive gives up; return when that is (s), and the number of pieces.

    The third value tells whether the motion ends there, at a limit. ``pieces`` (STEPS + 2, 7, nv) gets the
    first one.
    """
    reset_joints(resistances, s, now.q)
    t = controlled_until(s, end)
    limit = limit_time(s, now.q, now.qd)
    for j in range(len(now.q)):
        now.q[j] += min(t, limit) * now.qd[j]
    kept = keep_piece(pieces, 0, min(t, limit), old, now)
    if limit <= t:
        return limit, kept, True
    switch_due(s, resistances, t, now.q, now.qd)
    for j in range(len(now.q)):
        old.qd[j] = 0.0
    track_travel(s, t, old.qd, now.q, now.qd)
    return t, kept, False


@lru_cache(maxsize=1)
def compiled_loop() -> Any:
    """Return the compiled loop; it is called with :func:`called_addresses` in front."""
    joints, functions = numba.from_dtype(STOPPING)[::1], numba.from_dtype(EVENT_FUNCTION)[::1]
    result: Any = types.Tuple  # the stubs leave it untyped
    result = result((types.int64, types.float64, types.int64))
    numbers = [types.float64] * 4
    pieces = types.float64[:, :, ::1]
    return compiled(
        stop_loop,
        result(
            INDICES, types.intp, INDICES, types.intp, METHOD, INDICES, functions, joints, *numbers, pieces
        ),
    )


@lru_cache(maxsize=1)
def called_addresses() -> AnyArray:
    """Return the addresses (6,) of the compiled functions that the loop calls; the last is 0."""
    called = (evaluate_address(), advance_address(), locate_address(), solve_address(), watch_address(), 0)
    return np.array(called, dtype=np.int64)
