"""Many category-0 stops of one arm side by side, eight at a time.

Each lane of the vectors has a stop of its own, with its own brakes, time, step and stage of the step. Whatever a stop
does next, it needs the accelerations at one state with some joints held; those of all lanes are computed together
(:mod:`mbplugin.stopping.lanes`). Between two evaluations a lane does alone what the loop in
:mod:`mbplugin.stopping.compiled` does, with the same kernels, so its steps, events and decisions are those of that
loop, and they do not depend on the other lanes. Only if brakes at rest cannot hold, or a load may exceed its bound
within a step, does a lane evaluate its model alone. A lane whose stop has ended takes the next one.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, isfinite, sqrt
from typing import Any

import numpy as np
from numba import types

from mbplugin.dynamics.compiler import (
    Records,
    compiled,
    kernel,
    named_tuple,
    record_array,
    words_of,
)
from mbplugin.dynamics.compiler.lanes import LANES, aligned, as_lanes
from mbplugin.dynamics.kernels.solve import RESISTANCE
from mbplugin.dynamics.tree_calls import in_lanes
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.events import (
    COORDINATE,
    EVENT_FUNCTION,
    ROW_RATE,
    clear_candidates,
    locate_from,
    mark_overloaded,
    sign_changes,
    watch_from,
)
from mbplugin.simulation.friction import is_at_rest, solve_from
from mbplugin.simulation.integrators.explicit_loop import (
    LEAST,
    METHOD,
    MOST,
    SAFETY,
    SHORTEST,
    growth,
    is_motion,
    motion_at,
)
from mbplugin.simulation.kernel_state import (
    FORWARD_DYNAMICS,
    INDICES,
    MATRIX,
    VECTOR,
    KernelState,
    evaluate_from,
    load_struct,
)
from mbplugin.stopping.compiled import (
    AT_ONCE,
    BROKEN,
    FIRST_STEP,
    LIMIT,
    MOVING,
    SHORT,
    STEPS,
    STOPPED,
    STOPPING,
    UNDECIDED,
    StopWorkspace,
    all_at_rest_hold,
    all_switched,
    begin_motion,
    can_hold,
    keep_curved,
    keep_parts,
    keep_step,
    load_workspace,
    methods,
    motion_inside,
    next_switch,
    put_all,
    solve_brakes,
    switch_due,
    watch,
)
from mbplugin.stopping.lanes import (
    LANE,
    LANED_COMPOSITE,
    LANED_RATE,
    LANED_RESISTANCE,
    Lanes,
    LanesStarts,
    clear_lane,
    evaluate_lanes,
    load_lanes,
    put_brakes,
    put_state,
    read_accelerations,
    read_multipliers,
    records_type,
)
from mbplugin.stopping.many import CARRIED, ENDED, SETTINGS, Settings, put_end, put_start
from mbplugin.stopping.stiff import (
    PARTS,
    WARY,
    begin_stiff_step,
    difference,
    error_shifts,
    longest_step,
    note_stage,
    set_decay,
    shifts,
    stiffest,
    weigh,
)

#: Status of a stop that has to be computed alone: in a trial step its numbers overflowed.
ALONE = 5
#: What a lane does next, beside the statuses with which a stop ends: it waits for an evaluation, takes another stop, or
#: goes on with an instant (the head of the loop), a stretch up to the next switch, a step, a trial of the step, or the
#: end of the stretch, in whose last step an event may have passed.
_WAITS, _EMPTY, _INSTANT, _STRETCH, _STEP, _TRIAL, _STRETCHED, _PASSED = -1, *range(10, 17)


class StopLanes:
    """Computes many stops of a tree of one-freedom joints without springs, eight at a time.

    Parameters
    ----------
    kernel_state : KernelState
        With enough memory for all resistances to hold; that of each stop is a copy.
    workspace : StopWorkspace
    s : (n,) record array
        The joints.
    """

    def __init__(self, kernel_state: KernelState, workspace: StopWorkspace, s: AnyArray) -> None:
        nv, n = len(kernel_state.rates), len(s)
        stages = int(methods()["s"].max())
        assert not methods()["errors"][:, 1].any()
        self._states = [_copied(kernel_state) for _ in range(LANES)]
        self._workspaces = [_copied(workspace)._replace(constants=workspace.constants) for _ in range(LANES)]
        rows = np.zeros((LANES, n), dtype=np.int64)
        self._states = [
            state._replace(independent_rows=own) for state, own in zip(self._states, rows, strict=True)
        ]
        words = np.array([words_of(state) for state in self._states], dtype=np.int64)
        self._workspace_words = np.array([words_of(one) for one in self._workspaces], dtype=np.int64)
        places = [
            [own.ctypes.data for own in both] for both in zip(words, self._workspace_words, strict=True)
        ]
        sizes = (3, nv, nv, nv, nv, nv, 1, stages, (stages + 1) * nv, (stages + 1) * nv, nv, 2)
        power, *numbers = (aligned((size, LANES), float) for size in sizes)
        laned = (
            in_lanes(kernel_state.composites, LANED_COMPOSITE),
            in_lanes(kernel_state.rates, LANED_RATE),
            in_lanes(kernel_state.resistances, LANED_RESISTANCE),
        )
        parts: tuple[Any, ...] = (
            *laned,
            kernel_state.loads,
            kernel_state.springs,
            *(as_lanes(values) for values in (power, *numbers)),
            *laned,
            *numbers,
            np.ascontiguousarray(s["rate"]),
            np.zeros(LANES, LANE),
            np.zeros((LANES, n), STOPPING),
            rows,
            words,
            np.zeros((LANES, 3 * n), EVENT_FUNCTION),
            np.zeros((LANES, STEPS + 2, 7, nv)),
            np.array(places, dtype=np.int64),
        )
        self._lanes = Lanes._make(parts)
        self._words = np.array(words_of(self._lanes), dtype=np.int64)

    def load(self, composites: AnyArray, names: tuple[str, ...], s: AnyArray) -> None:
        """Replace the named fields of ``composites`` (b,), and the joints ``s`` (n,), in every lane."""
        for name in names:
            values = composites[name]
            self._lanes.composites[name] = values[..., None]
            for state in self._states:
                state.composites[name] = values
        self._lanes.s[:] = s

    def compute(
        self,
        addresses: AnyArray,
        method: AnyArray,
        settings: Settings,
        path_place: int,
        point: Array,
        own: AnyArray,
        starts: LanesStarts,
    ) -> bool:
        """Compute all stops; return False if a brake breaks away that nothing compiled so far can decide on.

        Arguments as for :func:`~mbplugin.stopping.many.stop_many`: ``addresses`` (6,), ``method`` (2,), ``point`` (3,)
        and ``own`` (n,).
        """
        arguments = (addresses, method, settings, path_place, point, own, starts)
        return bool(compiled_lanes()(self._words.ctypes.data, *arguments))


def _copied(state: Any) -> Any:
    """Return a copy of nested named tuples of arrays."""
    return type(state)(*(_copied(one) if isinstance(one, tuple) else one.copy() for one in state))


def stops_in_lanes(
    place: int,
    addresses: AnyArray,
    method: Records,
    settings: Settings,
    path_place: int,
    point: Array,
    own: AnyArray,
    starts: LanesStarts,
) -> bool:
    """Compute all stops; return False if a brake breaks away that nothing compiled so far can decide on.

    ``place`` is the address of :class:`Lanes`; the other arguments are those of
    :func:`~mbplugin.stopping.many.stop_many`: ``addresses`` (6,), ``method`` (2,), ``point`` (3,) and ``own`` (n,). A
    stop whose status becomes ``ALONE`` is not computed.
    """
    m, given, working = load_lanes(place), 0, 0
    for i in range(LANES):
        m.lane[i].number = -1
        clear_lane(m, i)
    while True:
        for i in range(LANES):
            lane = m.lane[i]
            code = _EMPTY
            if lane.number >= 0:
                if lane.stage > 0:
                    code = _after_stage(m, i, method, settings)
                else:
                    decides = lane.stage == 0
                    code = _decide(m, i, addresses, settings) if decides else _after_difference(m, i)
            while code != _WAITS:
                if code == _EMPTY:
                    if given == len(starts.q):
                        break
                    code = _begin(m, i, given, settings, own, starts)
                    given, working = given + 1, working + 1
                elif code == _INSTANT:
                    code = _instant(m, i)
                elif code == _STRETCH:
                    code = _stretch(m, i, settings)
                elif code == _STEP:
                    code = _begin_step(m, i)
                elif code == _TRIAL:
                    code = _try_step(m, i, method, settings)
                elif code in (_STRETCHED, _PASSED):
                    code = _end_stretch(m, i, code == _PASSED, addresses)
                elif code == UNDECIDED:
                    return False
                else:
                    _end(m, i, code, settings, path_place, point, own, starts)
                    code, working = _EMPTY, working - 1
        if working == 0:
            return True
        while not evaluate_lanes(m):
            working -= _leave_out(m, starts)


@kernel
def _leave_out(m: Lanes, starts: LanesStarts) -> int:
    """Empty the lanes in which a rate moves no mass or a number has overflowed; return their number."""
    count = 0
    for i in range(LANES):
        is_bad = False
        for j in range(len(m.q)):
            is_bad |= not m.rates_of[j].D[i] > 0.0
        if is_bad:
            if m.lane[i].number >= 0:
                starts.ended[m.lane[i].number].status = ALONE
                m.lane[i].number = -1
                count += 1
            clear_lane(m, i)
            # the lane has no mass until its next stop: hold all of its joints
            for j in range(len(m.q)):
                m.rates_of[j].armature[i] = inf
    return count


# One stop: its start, its end, and what it does between two evaluations.


@kernel
def _begin(m: Lanes, i: int, number: int, settings: Settings, own: AnyArray, starts: LanesStarts) -> int:
    """Begin a stop in lane i; return what it does next.

    ``own`` (n,) as for :func:`stops_in_lanes`.
    """
    state, workspace = load_struct(m.places[i, 0]), load_workspace(m.places[i, 1])
    k, lane, carried = number, m.lane[i], starts.carried[number]
    put_start(
        m.s[i],
        own,
        starts.braked[k],
        starts.power_off[k],
        starts.engagement[k],
        state,
        carried,
        starts.q[k],
        starts.qd[k],
        workspace,
    )
    for n in range(len(carried)):
        body, out = state.composites[carried[n].composite], m.composites_of[carried[n].composite]
        out.mass[i] = body.mass
        for c in range(3):
            out.com[c, i], out.weight[c, i] = body.com[c], body.weight[c]
            for d in range(3):
                out.inertia[c, d, i] = body.inertia[c, d]
    clear_lane(m, i)
    lane.number, lane.kept, lane.rounds, lane.evaluations, lane.watched = number, 0, 0, 0, 0
    lane.h, lane.short, lane.changed, lane.at_zero = FIRST_STEP, SHORT, True, -1
    put_all(workspace.now, workspace.old)
    lane.t, lane.kept, limited = begin_motion(
        state.resistances, m.s[i], workspace.now, workspace.old, settings.end, m.pieces[i]
    )
    if limited:
        return LIMIT
    return _INSTANT


@kernel
def _end(
    m: Lanes,
    i: int,
    status: int,
    settings: Settings,
    path_place: int,
    point: Array,
    own: AnyArray,
    starts: LanesStarts,
) -> None:
    """Store the result of the stop in lane i, which is empty then; ``point`` (3,) and ``own`` (n,)."""
    lane, k = m.lane[i], m.lane[i].number
    put_end(
        (status, lane.t, lane.evaluations),
        m.s[i],
        settings,
        load_struct(m.places[i, 0]),
        path_place,
        point,
        own,
        m.pieces[i],
        starts.q[k],
        load_workspace(m.places[i, 1]),
        starts.ended[k],
        starts.joints[k],
    )
    lane.number = -1
    clear_lane(m, i)


@kernel
def _instant(m: Lanes, i: int) -> int:
    """Wait for the decision on the holding brakes if something has changed; return what the lane does next."""
    lane = m.lane[i]
    lane.rounds += 1
    if lane.rounds > STEPS:
        return BROKEN
    if not lane.changed:
        return _STRETCH
    workspace = load_workspace(m.places[i, 1])
    lane.controlled = all_at_rest_hold(
        m.places[i, 0], m.words[i], m.rows[i], m.s[i], workspace.now, workspace.friction, lane.at_zero
    )
    # the number of active rows has changed
    put_brakes(m, i, load_struct(m.places[i, 0]))
    put_state(m, i, workspace.now)
    lane.stage, m.h_of[0, i] = 0, 0.0
    return _WAITS


@kernel
def _decide(m: Lanes, i: int, addresses: AnyArray, settings: Settings) -> int:
    """Decide which brakes hold, all of those at rest if they can; return what the lane does next.

    ``addresses`` (6,) as for :func:`stops_in_lanes`.
    """
    place, lane, s = m.places[i, 0], m.lane[i], m.s[i]
    state, workspace = load_struct(place), load_workspace(m.places[i, 1])
    now, friction, functions = workspace.now, workspace.friction, m.event_functions[i]
    read_accelerations(m, i, state, now)
    read_multipliers(m, i, state)
    spent = 1
    for n in range(len(s)):
        # D of a joint that is held is infinite, so that it is not damped
        j = s[n].rate
        s[n].damped = (state.rates[j].viscous + state.resistances[n].viscous) / m.rates_of[j].D[i]
    if not can_hold(place, s, lane.controlled, friction):
        spent, decided = solve_brakes(
            evaluate_from(addresses[0]),
            solve_from(addresses[3]),
            addresses[5],
            place,
            m.words[i],
            m.rows[i],
            s,
            lane.t,
            now,
            friction,
            settings.tolerance,
            lane.at_zero,
        )
        if not decided:
            return UNDECIDED
        put_brakes(m, i, load_struct(place))
    lane.watched = watch(watch_from(addresses[4]), place, s, now, friction, functions)
    lane.evaluations += spent
    lane.changed, lane.at_zero, lane.carries = False, -1, False
    for n in range(len(s)):
        lane.carries |= friction.carrying[n]
    return _STRETCH


@kernel
def _stretch(m: Lanes, i: int, settings: Settings) -> int:
    """End the stop, or begin a stretch up to the next switch; return what the lane does next."""
    lane, workspace = m.lane[i], load_workspace(m.places[i, 1])
    now, t = workspace.now, lane.t
    if all_switched(m.s[i], t) and is_at_rest(now.qd, now.qdd):
        return STOPPED
    if t >= settings.end:
        return MOVING
    if lane.kept + (PARTS + 1) * AT_ONCE > STEPS:
        return BROKEN
    put_all(now, workspace.old)
    lane.begin, lane.goal, lane.taken = t, next_switch(m.s[i], t, settings.end), 0
    lane.last_error = 0.0
    # in one short step the method of low order is exact enough with half the evaluations
    lane.once, lane.stiff, workspace.stiff[0].joint = lane.goal - t <= lane.short, -1, -1
    if not lane.once:
        return _careful(m, i, settings)
    lane.method, lane.own = 1, lane.goal - t
    return _STEP


@kernel
def _careful(m: Lanes, i: int, settings: Settings) -> int:
    """Begin a stretch with the method of high order; return what the lane does next."""
    lane, workspace = m.lane[i], load_workspace(m.places[i, 1])
    lane.once, lane.method, lane.own = False, 0, lane.h
    lane.stiff = stiffest(m.s[i], lane.goal - lane.t, settings.rtol)
    if lane.stiff < 0:
        return _STEP
    put_state(m, i, workspace.now)
    rate = workspace.now.qd[lane.stiff]
    m.qd_of[lane.stiff, i] = rate + difference(rate)
    lane.stage, m.h_of[0, i] = -1, 0.0
    return _WAITS


@kernel
def _after_difference(m: Lanes, i: int) -> int:
    """Store the derivatives of the accelerations by the rate of the stiff joint; return what the lane does next."""
    lane, workspace = m.lane[i], load_workspace(m.places[i, 1])
    now, column, one, j = workspace.now, workspace.column, workspace.stiff[0], lane.stiff
    for k in range(len(m.q)):
        column[k] = (m.rates_of[k].qdd[i] - now.qdd[k]) / (m.v_of[j, i] - now.qd[j])
        m.column_of[k, i] = column[k]
    set_decay(one, j, column)
    lane.stiff = one.joint
    lane.evaluations += 1
    return _STEP


@kernel
def _begin_step(m: Lanes, i: int) -> int:
    """Begin a step, or end the stretch; return what the lane does next."""
    lane, now = m.lane[i], load_workspace(m.places[i, 1]).now
    if lane.taken == AT_ONCE or not lane.goal - lane.t > SHORTEST * (1.0 + abs(lane.goal)):
        return _STRETCHED
    put_state(m, i, now)
    for j in range(len(m.q)):
        m.kx_of[j, i], m.kv_of[j, i] = now.qd[j], now.qdd[j]
    if lane.stiff >= 0:
        begin_stiff_step(load_workspace(m.places[i, 1]).stiff[0], now.qdd[lane.stiff])
    lane.grown = MOST
    return _TRIAL


@kernel
def _try_step(m: Lanes, i: int, method: Records, settings: Settings) -> int:
    """Begin a trial of a step; return what the lane does next: it waits for its first stage.

    ``method`` (2,) as for :func:`stops_in_lanes`.
    """
    lane = m.lane[i]
    remaining = lane.goal - lane.t
    lane.own = min(lane.own, settings.end)
    if lane.stiff >= 0:
        lane.own = min(lane.own, longest_step(load_workspace(m.places[i, 1]).stiff[0]))
    lane.last = lane.own >= remaining * (1.0 - 1e-12)
    lane.step = remaining if lane.last else lane.own
    if lane.step < SHORTEST * (1.0 + abs(lane.t)):
        return BROKEN
    clear_candidates(m.event_functions[i, : lane.watched])
    m.h_of[0, i] = lane.step
    if lane.stiff >= 0:
        workspace = load_workspace(m.places[i, 1])
        weigh(workspace.stiff[0], workspace.constants[0], lane.step)
    _put_stage(m, i, method[lane.method], 1)
    return _WAITS


@kernel
def _put_stage(m: Lanes, i: int, method: Records, stage: int) -> None:
    """Write the weights with which a lane forms the state of a stage."""
    m.lane[i].stage = stage
    for k in range(len(m.a)):
        m.a_of[k, i] = method.A[stage, k]
    if m.lane[i].stiff >= 0:
        workspace = load_workspace(m.places[i, 1])
        m.shift_of[0, i], m.shift_of[1, i] = shifts(
            workspace.stiff[0], workspace.constants[0], stage, m.lane[i].step
        )


@kernel
def _after_stage(m: Lanes, i: int, method: Records, settings: Settings) -> int:
    """Store an evaluated stage, and end the step with its last one; return what the lane does next.

    ``method`` (2,) as for :func:`stops_in_lanes`.
    """
    lane, nv = m.lane[i], len(m.q)
    own, stage, state = method[lane.method], lane.stage, load_struct(m.places[i, 0])
    for j in range(nv):
        m.kx_of[stage * nv + j, i], m.kv_of[stage * nv + j, i] = m.v_of[j, i], m.rates_of[j].qdd[i]
    if lane.stiff >= 0:
        j = lane.stiff
        one = load_workspace(m.places[i, 1]).stiff[0]
        note_stage(one, stage, m.v_of[j, i] - m.qd_of[j, i], m.rates_of[j].qdd[i])
    if lane.carries:
        read_multipliers(m, i, state)
    if stage < own.s:
        if lane.carries:
            # the functions of the brakes come first
            mark_overloaded(state, m.event_functions[i, : min(lane.watched, len(m.joint))])
        _put_stage(m, i, own, stage + 1)
        return _WAITS
    lane.evaluations += own.s
    error = _error(m, i, own, state.rates, settings)
    if not error < 1.0:
        shrunk = LEAST if error != error else max(LEAST, SAFETY * error**own.exponent)
        lane.own, lane.grown = lane.step * shrunk, 1.0
        if not lane.once:
            return _TRIAL
        # the step is not short enough for the method of low order
        lane.h, lane.short = max(lane.h, lane.own), min(SHORT, lane.own)
        return _careful(m, i, settings)
    lane.grown = min(lane.grown, growth(error, lane.step, lane.last_error, lane.last_step, own.exponent))
    lane.last_error, lane.last_step = error, lane.step
    return _end_step(m, i, state)


@kernel
def _error(m: Lanes, i: int, method: Records, rates: Records, settings: Settings) -> float:
    """Return the error of the step of a lane relative to the tolerance, as a root mean square."""
    total, nv, r, s, factor = 0.0, len(m.q), 0.0, 0.0, 1.0
    if m.lane[i].stiff >= 0:
        factor = WARY
        workspace = load_workspace(m.places[i, 1])
        r, s = error_shifts(workspace.stiff[0], workspace.constants[0])
    for j in range(nv):
        x, v = r * m.column_of[j, i], s * m.column_of[j, i]
        for n in range(method.s + 1):
            x += method.errors[0, n] * m.kx_of[n * nv + j, i]
            v += method.errors[0, n] * m.kv_of[n * nv + j, i]
        k = rates[j].coordinate
        x /= settings.atol + settings.rtol * max(abs(m.q_of[k, i]), abs(m.at_of[k, i]))
        v /= settings.atol + settings.rtol * max(abs(m.qd_of[j, i]), abs(m.v_of[j, i]))
        total += x * x + v * v
    return float(factor * m.lane[i].step * sqrt(total / (2 * nv)))


@kernel
def _end_step(m: Lanes, i: int, state: KernelState) -> int:
    """Move lane i to the end of its step; return what it does next."""
    lane, workspace, watched = m.lane[i], load_workspace(m.places[i, 1]), m.event_functions[i]
    now = workspace.now
    for j in range(len(m.q)):
        now.q[j], now.qd[j] = m.at_of[j, i], m.v_of[j, i]
    lane.t = lane.goal if lane.last else lane.t + lane.step
    # a step that was shortened to hit the end does not limit the next one
    grown = lane.step * lane.grown
    lane.own = max(lane.own, grown) if lane.last else grown
    read_accelerations(m, i, state, now)
    finite = is_motion(now.q, now.qd)
    for j in range(len(m.q)):
        finite &= isfinite(now.qdd[j])
    if finite and sign_changes(state, watched[: lane.watched], lane.step, now.q, now.qd):
        return _PASSED
    pieces, kept, begin = m.pieces[i], lane.kept, lane.begin
    if lane.stiff < 0:
        lane.kept, lane.begin = keep_step(pieces, kept, m.s[i], begin, lane.t, workspace.old, now)
    else:
        lane.kept, lane.begin = keep_curved(pieces, kept, m.s[i], begin, lane.t, workspace)
    lane.taken += 1
    return _STEP if finite else BROKEN


@kernel
def _end_stretch(m: Lanes, i: int, look: bool, addresses: AnyArray) -> int:
    """End the stretch of lane i, at an event if there is one in its last step; return what the lane does next.

    ``look`` is True if an event function may have changed its sign. ``addresses`` (6,) as for :func:`stops_in_lanes`.
    """
    place, lane, s = m.places[i, 0], m.lane[i], m.s[i]
    state, workspace = load_struct(place), load_workspace(m.places[i, 1])
    now, old, inside, watched = workspace.now, workspace.old, workspace.inside, m.event_functions[i]
    if lane.once:
        lane.h, lane.short = max(lane.h, lane.own), min(SHORT, lane.own)
    else:
        lane.h = lane.own
    if lane.stiff >= 0:
        m.shift_of[0, i] = m.shift_of[1, i] = 0.0
    if look:
        length = lane.t - lane.begin
        powers = motion_inside(workspace, length)
        fraction, which = locate_from(addresses[2])(
            addresses[0], place, watched[: lane.watched], lane.begin, length, old.q, inside[:powers]
        )
        if which < 0:
            # the event search has evaluated the model at other states
            evaluate_from(addresses[0])(place, FORWARD_DYNAMICS, lane.t, lane.t, now.q, now.qd)
            lane.evaluations += 1
            fraction = 1.0
        else:
            lane.t = lane.begin + fraction * length
            motion_at(length, fraction, old.q, inside[:powers], now.q, now.qd, now.qdd)
            lane.changed = True
        lane.kept, lane.begin = keep_parts(
            m.pieces[i], lane.kept, s, lane.begin, lane.t, workspace, length, fraction, powers
        )
        if which >= 0 and watched[which].kind == COORDINATE:
            return LIMIT
        if which >= 0 and watched[which].kind == ROW_RATE:
            lane.at_zero = watched[which].index
            now.qd[watched[which].rate] = 0.0
    lane.changed = switch_due(s, state.resistances, lane.t, now.q, now.qd) or lane.changed
    return _INSTANT


# The compiled function.

_STARTS = named_tuple(
    [
        *(MATRIX, MATRIX, records_type(RESISTANCE, 2), MATRIX, MATRIX, records_type(CARRIED, 2)),
        *(record_array(ENDED), types.float64[:, :, ::1]),
    ],
    LanesStarts,
)


@lru_cache(maxsize=1)
def compiled_lanes() -> Any:
    """Return the compiled :func:`stops_in_lanes`."""
    signature = types.boolean(types.intp, INDICES, METHOD, SETTINGS, types.intp, VECTOR, INDICES, _STARTS)
    return compiled(stops_in_lanes, signature, in_threads=True)
