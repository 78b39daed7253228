"""A category-0 stop of a tree in one compiled call: the basis of series of stops.

The kernels that take the steps, locate the events and decide which brakes hold are those of the runner. Driven joints
and holding brakes are constraint rows; sliding brakes act against the rate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from numba import types

from mbplugin.dynamics.compiler import Records, compiled, kernel, named_tuple, record_array, struct_loader
from mbplugin.dynamics.kernels.solve import RESISTANCE
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.events import (
    COORDINATE,
    EVENT_FUNCTION,
    ROW_RATE,
    locate_address,
    locate_from,
    sign_changes,
    watch_address,
    watch_from,
)
from mbplugin.simulation.friction import AT_REST, is_at_rest, let_slide, solve_address, solve_from
from mbplugin.simulation.integrators.explicit_loop import (
    METHOD,
    SHORTEST,
    Tableau,
    advance_address,
    advance_from,
    motion_at,
    put,
)
from mbplugin.simulation.integrators.methods.dopri5 import INTEGRATOR
from mbplugin.simulation.kernel_state import (
    DONE,
    FORWARD_DYNAMICS,
    INDICES,
    LOOK,
    MATRIX,
    VECTOR,
    WEAK,
    Evaluate,
    evaluate_address,
    evaluate_from,
    held_words,
    load_struct,
)
from mbplugin.stopping.stiff import (
    CONSTANT_RECORDS,
    PARTS,
    POWERS,
    STIFF,
    STIFF_RECORDS,
    constants,
    differentiate,
    motion_of_step,
    parts_of,
    stiffest,
    take_stiff_step,
)

#: Rate of a row that sticks without a multiplier beyond which it is not rounding, in units of ``AT_REST``.
_DRIFT = 1e4
#: Indices into the words of a kernel state: those of the numbers of active rows, and that of the size of Q.
_ROWS, _Q_SIZE = held_words()
#: Number of steps per call of the integrator.
AT_ONCE = 8
#: Status at the end of a stop; UNDECIDED: a brake breaks away, and the function that decides this is not compiled yet.
STOPPED, LIMIT, MOVING, BROKEN, UNDECIDED = range(5)
#: Largest number of steps of a stop.
STEPS = 8000
#: Length of the first step, s.
FIRST_STEP = 1e-3
#: A stretch this short, s, needs no method of high order: while drives are powered off one after the other.
SHORT = 3e-3
#: One joint in a stop, with its resistance before (``free``) and after (``braked``) its brake engages. ``power_off``:
#: time at which its drive is powered off; ``engagement_time``: time at which its brake engages, s. ``lower``,
#: ``upper``: coordinates beyond which it has passed its limits. ``controlled``: its drive is still powered.
#: ``direction``: sense of its motion when braking starts; ``position_at_braking``: its coordinate then;
#: ``max_travel``: largest travel since then in that sense; ``rest``: last time at which it moved, s; ``damped``: rate
#: of decay of its rate by damping alone, as at the last decision, 1/s.
STOPPING = np.dtype(
    [
        ("rate", np.int64),
        ("free", RESISTANCE),
        ("braked", RESISTANCE),
        ("power_off", np.float64),
        ("engagement_time", np.float64),
        ("lower", np.float64),
        ("upper", np.float64),
        ("controlled", np.bool_),
        ("direction", np.float64),
        ("position_at_braking", np.float64),
        ("max_travel", np.float64),
        ("rest", np.float64),
        ("damped", np.float64),
    ],
    align=True,
)


# The brakes that hold, and the event functions: both are determined by the kernels of the runner.


class Friction(NamedTuple):
    """Flags (n,) of the resistances: acting, resting, sticking, and with a multiplier (``carrying``)."""

    acting: AnyArray
    resting: AnyArray
    sticking: AnyArray
    carrying: AnyArray


def room_for_friction(n: int) -> Friction:
    """Allocate the flags of n resistances, all False."""
    return Friction(*(np.zeros(n, dtype=np.bool_) for _ in Friction._fields))


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
    """Decide which brakes hold, activate their rows in the kernel state, and fill the accelerations.

    The kernel state lies at address ``place``, with the words ``words`` (k,); ``rows`` (n,) becomes its active rows.
    Return the number of evaluations, and whether a decision was made: not if a brake breaks away and ``breaking`` is 0.
    """
    controlled = all_at_rest_hold(place, words, rows, s, now, friction, at_zero)
    _accelerate(evaluate, place, t, now)
    _note_damping(place, s)
    if can_hold(place, s, controlled, friction):
        return 1, True
    hold_rows(words, controlled, len(now.qd))
    _accelerate(evaluate, place, t, now)
    if not solve(breaking, place, now.qd, friction.resting, tolerance, friction.sticking, friction.carrying):
        return 2, False
    resistances = load_struct(place).resistances
    hold_rows(words, _let_hold(resistances, rows, controlled, s, now, friction.carrying), len(now.qd))
    _accelerate(evaluate, place, t, now)
    return 3, True


@kernel
def all_at_rest_hold(
    place: int, words: AnyArray, rows: AnyArray, s: Records, now: Motion, friction: Friction, at_zero: int
) -> int:
    """Activate the rows of all driven joints and of all brakes at rest; return the number of driven joints.

    Arguments as for :func:`solve_brakes`: ``words`` (k,), ``rows`` (n,). Usually all resting joints are held: if their
    forces are within the bounds, nothing else has to be tried.
    """
    n, controlled, resistances = len(s), 0, load_struct(place).resistances
    for k in range(n):
        friction.acting[k], friction.resting[k] = not s[k].controlled, friction.carrying[k]
        if s[k].controlled:
            rows[controlled] = resistances[k].row
            controlled += 1
    # the rows are single rates, so no kinematics are needed
    let_slide(place, now.qd, friction.acting, at_zero, friction.resting)
    hold_rows(words, _let_hold(resistances, rows, controlled, s, now, friction.resting), len(now.qd))
    return controlled


@kernel
def can_hold(place: int, s: Records, controlled: int, friction: Friction) -> bool:
    """Return True if all brakes at rest hold within their static bounds; then they stick.

    Their multipliers in the kernel state at ``place`` follow those of the driven joints, ``controlled`` in number.
    """
    if not _within_bounds(place, controlled, friction.resting):
        return False
    for k in range(len(s)):
        friction.sticking[k] = friction.carrying[k] = friction.resting[k]
    return True


@kernel
def _let_hold(
    resistances: Records, rows: AnyArray, r: int, s: Records, now: Motion, holding: AnyArray
) -> int:
    """Append the rows that are ``holding`` (n,) to the first r of ``rows`` (n,), at rest; return the new number."""
    for k in range(len(s)):
        if holding[k]:
            rows[r] = resistances[k].row
            r += 1
            now.qd[s[k].rate] = 0.0
    return r


@kernel
def _within_bounds(place: int, controlled: int, holding: AnyArray) -> bool:
    """Return True if the rows ``holding`` (n,), which follow the first ``controlled``, are within static bounds."""
    m, i = load_struct(place), controlled
    for k in range(len(holding)):
        if holding[k]:
            if not abs(m.multipliers[i]) <= m.resistances[k].static:
                return False
            i += 1
    return True


@kernel
def _accelerate(evaluate: Evaluate, place: int, t: float, now: Motion) -> None:
    """Fill the accelerations of a state at time t, s."""
    evaluate(place, FORWARD_DYNAMICS, t, t, now.q, now.qd)
    rates = load_struct(place).rates
    for j in range(len(now.qd)):
        now.qdd[j] = rates[j].qdd


@kernel
def _note_damping(place: int, s: Records) -> None:
    """Fill the rates of decay of all joints from the last evaluation."""
    m = load_struct(place)
    for n in range(len(s)):
        rate = m.rates[s[n].rate]
        s[n].damped = 0.0 if rate.held else (rate.viscous + m.resistances[n].viscous) / rate.D


@kernel
def hold_rows(words: AnyArray, r: int, nv: int) -> None:
    """Set the number of active rows of a kernel state, given as words (k,), to r."""
    for k in range(len(_ROWS)):
        words[_ROWS[k]] = r
    words[_Q_SIZE] = r * nv


@kernel
def watch(
    watch_brakes: Any, place: int, s: Records, now: Motion, friction: Friction, event_functions: Records
) -> int:
    """Fill the event functions of the brakes and limits; return their number."""
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


# The motion of a stop, step by step: states, buffers for steps, and stored pieces.


class Motion(NamedTuple):
    """A state of the robot: q, q̇, q̈ (nv,) and the accumulated work (3,)."""

    q: Array
    qd: Array
    qdd: Array
    work: Array


class Taken(NamedTuple):
    """Buffers for the steps of one call, see :class:`~mbplugin.simulation.integrators.contract.Chunk`."""

    t: Array
    q: Array
    qd: Array
    qdd: Array
    work: Array
    dense: Array


def motion_at_rest(nv: int) -> Motion:
    """Return a state of nv rates, all zero."""
    return Motion(np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(3))


def room_for_steps(nv: int) -> Taken:
    """Allocate buffers for steps of nv rates, without dense output: the ends of a step define its quintic."""
    n = AT_ONCE
    return Taken(
        np.zeros(n),
        np.zeros((n, nv)),
        np.zeros((n, nv)),
        np.zeros((n, nv)),
        np.zeros((n, 3)),
        np.zeros((0, 1, 2, nv)),
    )


@kernel
def put_all(of: Motion, out: Motion) -> None:
    """Copy q, q̇ and q̈ of a state."""
    put(of.q, out.q)
    put(of.qd, out.qd)
    put(of.qdd, out.qdd)


@kernel
def keep_all(
    pieces: Array, kept: int, s: Records, begin: float, old: Motion, taken: Taken, count: int
) -> tuple[int, float]:
    """Store the first ``count`` steps in ``pieces`` (k, 7, nv); return the number of pieces and the time, s.

    ``old`` becomes the end of the last step.
    """
    for k in range(count):
        now = Motion(taken.q[k], taken.qd[k], taken.qdd[k], taken.work[k])
        kept, begin = keep_step(pieces, kept, s, begin, taken.t[k], old, now)
    return kept, begin


@kernel
def keep_step(
    pieces: Array, kept: int, s: Records, begin: float, t: float, old: Motion, now: Motion
) -> tuple[int, float]:
    """Store a step from ``old`` to ``now`` in ``pieces`` (k, 7, nv); return the number of pieces and the time, s.

    ``old`` becomes the end of the step.
    """
    kept = keep_piece(pieces, kept, t - begin, old, now)
    track_travel(s, t, old, now.q, now.qd)
    put_all(now, old)
    return kept, t


@kernel
def motion_inside(workspace: StopWorkspace, length: float) -> int:
    """Fill the polynomials of a step of the given length, s, in the workspace; return the number of their powers."""
    now, old = workspace.now, workspace.old
    return motion_of_step(
        workspace.stiff[0],
        workspace.constants[0],
        workspace.column,
        length,
        old.q,
        now.q,
        old.qd,
        now.qd,
        old.qdd,
        now.qdd,
        workspace.inside,
    )


@kernel
def keep_curved(
    pieces: Array, kept: int, s: Records, begin: float, t: float, workspace: StopWorkspace
) -> tuple[int, float]:
    """Store a step of the workspace in ``pieces`` (k, 7, nv), in several pieces where a joint is stiff."""
    length, powers = t - begin, 0
    if parts_of(workspace.stiff[0], length) > 1:
        powers = motion_inside(workspace, length)
    return keep_parts(pieces, kept, s, begin, t, workspace, length, 1.0, powers)


@kernel
def keep_parts(
    pieces: Array,
    kept: int,
    s: Records,
    begin: float,
    t: float,
    workspace: StopWorkspace,
    length: float,
    fraction: float,
    powers: int,
) -> tuple[int, float]:
    """Store a fraction of a step, up to t (s), in ``pieces`` (k, 7, nv), in several pieces where a joint is stiff.

    The step of the given length, s, has polynomials with a number of powers in the workspace.
    """
    old, taken, n = workspace.old, workspace.taken, parts_of(workspace.stiff[0], fraction * length)
    for k in range(n - 1):
        x = fraction * (k + 1) / n
        taken.t[k] = begin + x * length
        motion_at(length, x, old.q, workspace.inside[:powers], taken.q[k], taken.qd[k], taken.qdd[k])
    kept, begin = keep_all(pieces, kept, s, begin, old, taken, n - 1)
    return keep_step(pieces, kept, s, begin, t, old, workspace.now)


@kernel
def keep_piece(pieces: Array, k: int, length: float, old: Motion, now: Motion) -> int:
    """Store a step as piece k of ``pieces`` (most, 7, nv); return the number of pieces.

    A piece (7, nv) has its duration (s) in [0, 0], then q, q̇, q̈ at its start and q, q̇, q̈ at its end. A piece of
    duration 0 follows the last one.
    """
    if length > 0.0:
        piece = pieces[k]
        piece[0, 0] = length
        for j in range(len(now.q)):
            piece[1, j], piece[2, j], piece[3, j] = old.q[j], old.qd[j], old.qdd[j]
            piece[4, j], piece[5, j], piece[6, j] = now.q[j], now.qd[j], now.qdd[j]
        k += 1
    pieces[k, 0, 0] = 0.0
    return k


class StopWorkspace(NamedTuple):
    """The current state, the state at the last step, and work memory of a stop.

    Parameters
    ----------
    now, old : Motion
    taken : Taken
    friction : Friction
    inside : (POWERS, 2, nv) array
        Coefficients of the polynomials of a step.
    stiff : (1,) record array
        The stiff joint and its step, see :data:`~mbplugin.stopping.stiff.STIFF`.
    constants : (1,) record array
        Those of the method for a stiff joint, which all stops share.
    column : (nv,) array
        Derivatives of the accelerations by its rate, 1/s.
    counts : (2,) array
        Evaluations and rejected steps.
    """

    now: Motion
    old: Motion
    taken: Taken
    friction: Friction
    inside: Array
    stiff: Records
    constants: Records
    column: Array
    counts: Array


def workspace_for_stop(n: int, nv: int) -> StopWorkspace:
    """Allocate the workspace of a stop of n joints with brakes and nv rates."""
    inside, motions = np.zeros((POWERS, 2, nv)), (motion_at_rest(nv), motion_at_rest(nv))
    stiff = np.zeros(1, STIFF), constants(), np.zeros(nv)
    return StopWorkspace(*motions, room_for_steps(nv), room_for_friction(n), inside, *stiff, np.zeros(2))


_MOTION = named_tuple([VECTOR] * 4, Motion)
_TAKEN = named_tuple([VECTOR, *[MATRIX] * 4, types.float64[:, :, :, ::1]], Taken)
_FRICTION = named_tuple([types.boolean[::1]] * 4, Friction)
#: In a kernel: the workspace at an address.
load_workspace: Callable[[int], StopWorkspace] = struct_loader(
    named_tuple(
        [
            _MOTION,
            _MOTION,
            _TAKEN,
            _FRICTION,
            types.float64[:, :, ::1],
            STIFF_RECORDS,
            CONSTANT_RECORDS,
            VECTOR,
            VECTOR,
        ],
        StopWorkspace,
    )
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
    """Integrate the state in a workspace to rest; return status, time (s) and number of evaluations.

    Parameters
    ----------
    addresses : (6,) array of int
        Of ``evaluate``, the loop of explicit methods, the event search, and the functions that decide which brakes
        hold, fill the event functions, and decide which brakes break away; the last may be 0.
    place : int
        Address of a kernel state with enough memory for all resistances to hold; its active rows are in ``rows``.
    words : (k,) array of int
        The kernel state as stored there.
    workspace_place : int
        Address of a :class:`StopWorkspace`, all zero but for the initial state.
    method : (2,) record array
        The tables of an integrator, and of one of lower order for short steps.
    rows : (n,) array of int
        Buffer for the active rows.
    event_functions : (3n,) record array
        Buffer for the event functions.
    s : (n,) record array
        The joints, see ``STOPPING``.
    end, rtol, atol, tolerance : float
        Longest time, s; tolerances of the integrator; relative remainder below which a row depends on others.
    pieces : (STEPS + 2, 7, nv) array
        Filled with the motion, see :func:`keep_piece`.
    """
    address = addresses[0]
    evaluate, advance, locate = evaluate_from(address), advance_from(addresses[1]), locate_from(addresses[2])
    solve, watch_brakes = solve_from(addresses[3]), watch_from(addresses[4])
    resistances, h = load_struct(place).resistances, FIRST_STEP
    workspace, control = load_workspace(workspace_place), (end, rtol, atol)
    now, old, taken, friction, inside, stiff, _, column, counts = workspace
    put_all(now, old)
    q, qd, one = now.q, now.qd, stiff[0]
    t, kept, limited = begin_motion(resistances, s, now, old, end, pieces)
    if limited:
        return LIMIT, t, 0
    watched, changed, at_zero, short = event_functions[:0], True, -1, SHORT
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
        if kept + (PARTS + 1) * AT_ONCE > STEPS:
            break
        put_all(now, old)
        begin, which, goal, count = t, -1, next_switch(s, t, end), 0
        # in one short step the method of low order is exact enough with half the evaluations
        status, one.joint = WEAK, -1
        if goal - t <= short:
            status, count, t, length = _advance(
                advance,
                address,
                place,
                method[1:],
                watched,
                t,
                goal,
                goal - t,
                control,
                True,
                now,
                taken,
                counts,
            )
            h, short = max(h, length), min(SHORT, length)
        if status == WEAK:
            one.joint = stiffest(s, goal - t, rtol)
            if one.joint >= 0:
                differentiate(evaluate, place, one, t, q, qd, now.qdd, column)
                counts[0] += 1
        if one.joint >= 0:
            status, t, h, kept, begin = _stiff_stretch(
                evaluate, place, method, watched, t, goal, h, control, workspace, s, pieces, kept
            )
        elif status == WEAK:
            status, count, t, h = _advance(
                advance, address, place, method[:1], watched, t, goal, h, control, False, now, taken, counts
            )
        kept, begin = keep_all(pieces, kept, s, begin, old, taken, count - 1 if status == LOOK else count)
        if status == LOOK:
            length = t - begin
            powers = motion_inside(workspace, length)
            fraction, which = locate(address, place, watched, begin, length, old.q, inside[:powers])
            if which < 0:
                # the event search has evaluated the model at other states
                evaluate(place, FORWARD_DYNAMICS, t, t, q, qd)
                counts[0] += 1
                kept, begin = keep_parts(pieces, kept, s, begin, t, workspace, length, 1.0, powers)
        elif status != DONE:
            break
        if which >= 0:
            t = begin + fraction * length
            motion_at(length, fraction, old.q, inside[:powers], now.q, now.qd, now.qdd)
            kept, begin = keep_parts(pieces, kept, s, begin, t, workspace, length, fraction, powers)
            if watched[which].kind == COORDINATE:
                return LIMIT, t, int(counts[0])
            if watched[which].kind == ROW_RATE:
                at_zero = watched[which].index
                qd[watched[which].rate] = 0.0
            changed = True
        changed = switch_due(s, resistances, t, q, qd) or changed
    return BROKEN, t, int(counts[0])


@kernel
def _stiff_stretch(
    evaluate: Evaluate,
    place: int,
    method: Records,
    watched: Records,
    t: float,
    goal: float,
    h: float,
    control: tuple[float, float, float],
    workspace: StopWorkspace,
    s: Records,
    pieces: Array,
    kept: int,
) -> tuple[int, float, float, int, float]:
    """Take steps with a stiff joint up to ``goal``, s, or to an event, and store them but for one with an event.

    Return status, time, next step (s), number of pieces, and the time up to which the motion is stored, s. Arguments
    as for :func:`stop_loop`: ``method`` (2,), ``watched`` (n,), ``s`` (n,), ``pieces`` (k, 7, nv).
    """
    now, one, column = workspace.now, workspace.stiff[0], workspace.column
    status, begin, one.last_error = DONE, t, 0.0
    for _ in range(AT_ONCE):
        if not goal - t > SHORTEST * (1.0 + abs(goal)):
            break
        status, t, h = take_stiff_step(
            evaluate,
            place,
            method,
            one,
            workspace.constants[0],
            column,
            watched,
            t,
            goal,
            h,
            control,
            now.q,
            now.qd,
            now.qdd,
            workspace.counts,
        )
        if status != DONE:
            break
        length = t - begin
        if sign_changes(load_struct(place), watched, length, now.q, now.qd):
            status = LOOK
            break
        kept, begin = keep_curved(pieces, kept, s, begin, t, workspace)
    return status, t, h, kept, begin


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
    once: bool,
    now: Motion,
    taken: Taken,
    counts: Array,
) -> tuple[int, int, float, float]:
    """Take steps of about h up to ``goal``, s, or to an event; ``control``: largest step, tolerances.

    With ``once``, a step with too large an error is not tried again: the status is WEAK, and the state is that before.
    Driven rates are constant, so no projection is needed. ``counts`` (2,) accumulates evaluations and rejected steps.
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
        inf if once else 0.0,
        False,
        True,
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
def begin_motion(
    resistances: Records, s: Records, now: Motion, old: Motion, end: float, pieces: Array
) -> tuple[float, int, bool]:
    """Move at constant rates until the first drive is powered off; return that time (s) and the number of pieces.

    The third value is True if the motion ends at a limit instead. The first of ``pieces`` (STEPS + 2, 7, nv) becomes
    this motion.
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
    track_travel(s, t, old, now.q, now.qd)
    return t, kept, False


#: The method of Bogacki and Shampine of order 3(2), with half the evaluations of Dormand and Prince's.
_LOW_ORDER = Tableau(
    A=((), (1 / 2,), (0, 3 / 4)),
    b=(2 / 9, 1 / 3, 4 / 9),
    c=(0, 1 / 2, 3 / 4),
    errors=((-5 / 72, 1 / 12, 1 / 9, -1 / 8),),
    error_order=2,
)


@lru_cache(maxsize=1)
def methods() -> AnyArray:
    """Return the tables (2,) of the methods of a stop: that of most steps, and that of short ones."""
    tables = np.concatenate((INTEGRATOR.tableau.table, _LOW_ORDER.table))
    tables.setflags(write=False)
    return tables


_tuple: Any = types.Tuple  # the stubs leave it untyped
#: Signature of the loop.
LOOP_SIGNATURE = _tuple((types.int64, types.float64, types.int64))(
    *(INDICES, types.intp, INDICES, types.intp, METHOD, INDICES),
    *(record_array(EVENT_FUNCTION), record_array(STOPPING)),
    *([types.float64] * 4),
    types.float64[:, :, ::1],
)


@lru_cache(maxsize=1)
def compiled_loop() -> Any:
    """Return the compiled loop; its first argument is :func:`called_addresses`."""
    return compiled(stop_loop, LOOP_SIGNATURE, address=True)


@lru_cache(maxsize=1)
def called_addresses() -> AnyArray:
    """Return the addresses (6,) of the compiled functions that the loop calls; the last is 0."""
    called = (evaluate_address(), advance_address(), locate_address(), solve_address(), watch_address(), 0)
    return np.array(called, dtype=np.int64)


# The joints during a stop: their drives, brakes and travels.


@kernel
def reset_joints(resistances: Records, s: Records, q: Array) -> None:
    """Reset all joints to their state before the stop, at q (nv,), rad and m."""
    for n in range(len(s)):
        joint = s[n]
        joint.controlled, joint.rest = joint.power_off > 0.0, 0.0
        joint.direction, joint.position_at_braking, joint.max_travel = 0.0, q[joint.rate], 0.0
        resistances[n] = joint.free


@kernel
def controlled_until(s: Records, end: float) -> float:
    """Return the time until which every joint is driven at its rate, s."""
    until = end
    for n in range(len(s)):
        until = min(until, s[n].power_off)
    return max(until, 0.0)


@kernel
def limit_time(s: Records, q: Array, qd: Array) -> float:
    """Return the time at which the first joint passes a limit, from q (nv,) at constant rates qd (nv,), s."""
    first = np.inf
    for n in range(len(s)):
        v = qd[s[n].rate]
        gap = (s[n].upper if v > 0.0 else s[n].lower) - q[s[n].rate]
        if gap * v > 0.0:
            first = min(first, gap / v)
    return first


@kernel
def switch_due(s: Records, resistances: Records, t: float, q: Array, qd: Array) -> bool:
    """Power off the drives and engage the brakes due at t (s), q (nv,), qd (nv,); return True if there were any."""
    changed = False
    for n in range(len(s)):
        joint = s[n]
        if joint.controlled and joint.power_off <= t + 1e-12:
            joint.controlled, changed = False, True
        if joint.direction == 0.0 and joint.engagement_time <= t + 1e-12:
            sense = resistances[n].sense
            resistances[n] = joint.braked
            resistances[n].sense = sense
            v = qd[joint.rate]
            # 2 marks a joint at rest: it has no sense in which to slip back
            joint.direction = 2.0 if abs(v) <= AT_REST else (1.0 if v > 0.0 else -1.0)
            joint.position_at_braking, joint.max_travel = q[joint.rate], 0.0
            changed = True
    return changed


@kernel
def next_switch(s: Records, t: float, end: float) -> float:
    """Return the time of the next power-off or brake engagement, at most ``end``, s."""
    goal = end
    for n in range(len(s)):
        for at in (s[n].power_off, s[n].engagement_time):
            if t + 1e-12 < at < goal:
                goal = at
    return goal


@kernel
def track_travel(s: Records, t: float, old: Motion, q: Array, qd: Array) -> None:
    """Update travels and rest times with q (nv,), qd (nv,) at t (s); ``old`` is the motion before.

    A joint that breaks away and sticks again in between has no rate at either end.
    """
    for n in range(len(s)):
        joint = s[n]
        moved = abs(q[joint.rate] - old.q[joint.rate]) > 1e-9
        if moved or max(abs(old.qd[joint.rate]), abs(qd[joint.rate])) > 1e-7:
            joint.rest = t
        if abs(joint.direction) == 1.0:
            joint.max_travel = max(
                joint.max_travel, joint.direction * (q[joint.rate] - joint.position_at_braking)
            )


@kernel
def all_switched(s: Records, t: float) -> bool:
    """Return True if all drives are powered off and all brakes engaged at t, s."""
    waiting = 0
    for n in range(len(s)):
        waiting += s[n].engagement_time > t + 1e-12 or s[n].controlled
    return waiting == 0
