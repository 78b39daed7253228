"""Many category-0 stops of one arm side by side: every evaluation of the model is that of eight stops in one.

Each lane of the vectors has a stop of its own, with its own brakes, time, step and stage of the step. Whatever a stop
does next, it needs the accelerations at one state with some joints held; those of all lanes are computed together.
Between two evaluations a lane does alone what the loop in :mod:`mbplugin.stopping.compiled` does, with the same
kernels, so its steps, events and decisions are those of that loop, and they do not depend on the other lanes. Only if
brakes at rest cannot hold, or a load may exceed its bound within a step, does a lane evaluate its model alone. A lane
whose stop has ended takes the next one.

A held joint has an infinite armature here: then 1/D is zero, and no kernel needs to branch.
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler import (
    Records,
    compiled,
    kernel,
    named_tuple,
    record_array,
    struct_loader,
    words_of,
)
from mbplugin.dynamics.compiler.lanes import LANES, VECTOR_OF_LANES, LanesRecord, aligned, as_lanes
from mbplugin.dynamics.kernels import move_single
from mbplugin.dynamics.kernels.articulated import factor_without_roots, inward, outward
from mbplugin.dynamics.kernels.composite_bodies import COMPOSITE, LOAD, RATE, SPRING, gather
from mbplugin.dynamics.kernels.solve import RESISTANCE
from mbplugin.dynamics.many_states import OF_COMPOSITE, OF_RATE, in_lanes
from mbplugin.model.brake_law import PARTS, rate_force
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
    is_motion,
    quintic,
    quintic_at,
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
    Motion,
    StopWorkspace,
    all_at_rest_hold,
    all_switched,
    begin_motion,
    can_hold,
    keep_step,
    load_workspace,
    methods,
    next_switch,
    put_all,
    solve_brakes,
    switch_due,
    watch,
)
from mbplugin.stopping.many import CARRIED, ENDED, SETTINGS, Settings, put_end, put_start

#: Status of a stop that has to be computed alone: in a trial step its numbers overflowed.
ALONE = 5
#: What a lane does next, beside the statuses with which a stop ends: it waits for an evaluation, takes another stop, or
#: goes on with an instant (the head of the loop), a stretch up to the next switch, a step, a trial of the step, or the
#: end of the stretch, in whose last step an event may have passed.
_WAITS, _EMPTY, _INSTANT, _STRETCH, _STEP, _TRIAL, _STRETCHED, _PASSED = -1, *range(10, 17)
_rate_force = kernel(rate_force)
#: The records of all lanes: in contrast to those of many states, masses differ, and which joints are held.
_COMPOSITE = LanesRecord(COMPOSITE, (*OF_COMPOSITE, "com", "mass", "weight", "inertia"))
_RATE = LanesRecord(RATE, (*OF_RATE, "armature"))
_RESISTANCE = LanesRecord(RESISTANCE, (*PARTS, "sense", "stuck"))
#: One lane. ``number`` is that of its stop, −1 if there is none; ``stage`` is that of the evaluation it waits for, 0
#: to decide which brakes hold; ``method`` is the index of its integrator, the second one for a stretch in ``once``
#: step. ``t`` is the time, ``begin`` that of the last stored step, ``goal`` the end of the stretch, ``h`` the length
#: of the next step, ``own`` that within this stretch, and ``step`` the step being taken, s, which may then grow by the
#: factor ``grown``. ``kept`` counts stored pieces, ``taken`` steps of this stretch, ``watched`` event functions,
#: ``controlled`` driven joints, and ``rounds`` stretches. ``carries``: a brake at rest carries a load.
_LANE = np.dtype(
    [
        *((name, np.int64) for name in ("number", "stage", "method", "kept", "taken", "watched")),
        *((name, np.int64) for name in ("controlled", "rounds", "at_zero", "evaluations")),
        *((name, np.bool_) for name in ("once", "exact", "last", "changed", "carries")),
        *((name, np.float64) for name in ("t", "begin", "goal", "h", "own", "step", "grown")),
    ],
    align=True,
)


class Lanes(NamedTuple):
    """Memory of the stops in all lanes.

    Parameters
    ----------
    composites, rates, resistances : record arrays
        Some of their fields are numbers of each lane.
    loads, springs : record arrays
    power : (3,) array
    q, qd, at, v : (nv,) array
        State at the start of the step, and at the stage; numbers of each lane, as all of these.
    needed : (nv,) array
        Force that a joint needs if it is held, N·m and N.
    h, a : (1,), (s,) array
        Length of the step, s, and weights of the stages in the state of the present one.
    kx, kv : ((s + 1) * nv,) array
        Rates and accelerations at the stages.
    composites_of, rates_of, resistances_of : record arrays
    q_of, qd_of, at_of, v_of, needed_of, h_of, a_of, kx_of, kv_of : (..., LANES) array
        The same memory as single numbers.
    joint : (n,) array of int
        The rate on which each resistance acts.
    lane : (LANES,) record array
    s : (LANES, n) record array
        The joints of each stop, see ``STOPPING``.
    rows, words : (LANES, n), (LANES, w) array of int
        Active rows, and the kernel state as stored.
    event_functions : (LANES, 3n) record array
    pieces : (LANES, STEPS + 2, 7, nv) array
    places : (LANES, 2) array of int
        Addresses of the kernel state and of the workspace of each stop.
    """

    composites: Records
    rates: Records
    resistances: Records
    loads: Records
    springs: Records
    power: AnyArray
    q: AnyArray
    qd: AnyArray
    at: AnyArray
    v: AnyArray
    needed: AnyArray
    h: AnyArray
    a: AnyArray
    kx: AnyArray
    kv: AnyArray
    composites_of: Records
    rates_of: Records
    resistances_of: Records
    q_of: Array
    qd_of: Array
    at_of: Array
    v_of: Array
    needed_of: Array
    h_of: Array
    a_of: Array
    kx_of: Array
    kv_of: Array
    joint: AnyArray
    lane: Records
    s: Records
    rows: AnyArray
    words: AnyArray
    event_functions: Records
    pieces: Array
    places: AnyArray


def _records(kind: Any, axes: int = 1) -> Any:
    """Return the compiler's type of an array of records."""
    return types.Array(numba.from_dtype(kind), axes, "C")


_LANED = (_COMPOSITE, _RATE, _RESISTANCE)
_load: Any = struct_loader(
    named_tuple(
        [types.Array(kind, 1, "C") for kind in _LANED]
        + [record_array(LOAD), record_array(SPRING)]
        + [VECTOR_OF_LANES] * 10
        + [_records(kind.laned) for kind in _LANED]
        + [MATRIX] * 9
        + [INDICES, _records(_LANE), _records(STOPPING, 2)]
        + [types.int64[:, ::1]] * 2
        + [_records(EVENT_FUNCTION, 2), types.Array(types.float64, 4, "C"), types.int64[:, ::1]],
        Lanes,
    )
)


class LanesStarts(NamedTuple):
    """The starts of many stops, and memory for their results; see :func:`~mbplugin.stopping.many.stop_many`.

    Parameters
    ----------
    q, qd : (k, nv) array
    braked : (k, n) record array
    power_off, engagement : (k, n) array
    carried : (k, c) record array
    ended : (k,) record array
    joints : (k, 4, n) array
    """

    q: Array
    qd: Array
    braked: Records
    power_off: Array
    engagement: Array
    carried: Records
    ended: Records
    joints: Array


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
        self._workspaces = [_copied(workspace) for _ in range(LANES)]
        rows = np.zeros((LANES, n), dtype=np.int64)
        self._states = [
            state._replace(independent_rows=own) for state, own in zip(self._states, rows, strict=True)
        ]
        words = np.array([words_of(state) for state in self._states], dtype=np.int64)
        self._workspace_words = np.array([words_of(one) for one in self._workspaces], dtype=np.int64)
        places = [[own.ctypes.data for own in both] for both in zip(words, self._workspace_words, strict=True)]
        sizes = (3, nv, nv, nv, nv, nv, 1, stages, (stages + 1) * nv, (stages + 1) * nv)
        power, *numbers = (aligned((size, LANES), float) for size in sizes)
        laned = (
            in_lanes(kernel_state.composites, _COMPOSITE),
            in_lanes(kernel_state.rates, _RATE),
            in_lanes(kernel_state.resistances, _RESISTANCE),
        )
        self._lanes = Lanes(
            *laned,
            kernel_state.loads,
            kernel_state.springs,
            *(as_lanes(values) for values in (power, *numbers)),
            *laned,
            *numbers,
            np.ascontiguousarray(s["rate"]),
            np.zeros(LANES, _LANE),
            np.zeros((LANES, n), STOPPING),
            rows,
            words,
            np.zeros((LANES, 3 * n), EVENT_FUNCTION),
            np.zeros((LANES, STEPS + 2, 7, nv)),
            np.array(places, dtype=np.int64),
        )
        self._words = np.array(words_of(self._lanes), dtype=np.int64)

    def load(self, composites: AnyArray, names: tuple[str, ...], s: AnyArray) -> None:
        """Replace the named fields of all composite bodies (b,), and the joints s (n,), of every lane."""
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
    m, given, working = _load(place), 0, 0
    for i in range(LANES):
        m.lane[i].number = -1
        _clear(m, i)
    while True:
        for i in range(LANES):
            lane = m.lane[i]
            code = _EMPTY
            if lane.number >= 0:
                if lane.stage:
                    code = _after_stage(m, i, method, settings)
                else:
                    code = _decide(m, i, addresses, settings)
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
                elif code == _STRETCHED or code == _PASSED:
                    code = _end_stretch(m, i, code == _PASSED, addresses)
                elif code == UNDECIDED:
                    return False
                else:
                    _end(m, i, code, settings, path_place, point, own, starts)
                    code, working = _EMPTY, working - 1
        if working == 0:
            return True
        while not _evaluate(m):
            working -= _leave_out(m, starts)


# The evaluation of all lanes, and what is read from it and written for it in one lane.


@kernel
def _evaluate(m: Lanes) -> bool:
    """Fill the accelerations of all lanes at their present stages; return True if every rate moves mass in all lanes."""
    nv, h = len(m.q), m.h[0]
    for j in range(nv):
        dx, dv = m.a[0] * m.kx[j], m.a[0] * m.kv[j]
        for i in range(1, len(m.a)):
            dx += m.a[i] * m.kx[i * nv + j]
            dv += m.a[i] * m.kv[i * nv + j]
        m.at[j], m.v[j] = m.q[j] + h * dx, m.qd[j] + h * dv
    move_single(m.composites, m.rates, m.at, m.v)
    regular = factor_without_roots(m.composites, m.rates)
    m.power[0] = m.power[1] = 0.0
    gather(m.composites, m.rates, m.loads, m.springs, m.at, m.v, m.power)
    for n in range(len(m.resistances)):
        one, j = m.resistances[n], m.joint[n]
        # a comparison is true if it holds in all lanes
        by_rate = one.viscous * m.v[j] if one.short_circuit == 0.0 else _rate_force(one, m.v[j])
        m.rates[j].tau += one.stuck - by_rate - one.sense * one.sliding
    inward(m.composites, m.rates, True)
    outward(m.composites, m.rates, True)
    for j in range(nv):
        a, U = m.composites[m.rates[j].composite].a, m.rates[j].U
        along = a[0] * U[0] + a[1] * U[1] + a[2] * U[2] + (a[3] * U[3] + a[4] * U[4] + a[5] * U[5])
        m.needed[j] = along - m.rates[j].u
    return bool(regular)


@kernel
def _leave_out(m: Lanes, starts: LanesStarts) -> int:
    """Take the stops out of the lanes in which a rate moves no mass, or whose numbers overflowed; return how many."""
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
            _clear(m, i)
    return count


@kernel
def _clear(m: Lanes, i: int) -> None:
    """Put an empty lane at rest, so that its numbers stay finite."""
    for j in range(len(m.q)):
        m.q_of[j, i] = m.qd_of[j, i] = 0.0
    for k in range(len(m.kx)):
        m.kx_of[k, i] = m.kv_of[k, i] = 0.0
    m.h_of[0, i] = 0.0


@kernel
def _put_brakes(m: Lanes, i: int, state: KernelState) -> None:
    """Write which joints are held, and the forces of all brakes, for the evaluations of a lane."""
    for j in range(len(m.q)):
        m.rates_of[j].armature[i] = state.rates[j].armature
    for k in range(len(state.independent_rows)):
        m.rates_of[state.rows[state.independent_rows[k]].rate].armature[i] = inf
    for n in range(len(m.joint)):
        one, out = state.resistances[n], m.resistances_of[n]
        out.sense[i], out.stuck[i], out.sliding[i] = one.sense, one.stuck, one.sliding
        out.viscous[i], out.short_circuit[i] = one.viscous, one.short_circuit
        out.short_circuit_rate[i] = one.short_circuit_rate


@kernel
def _put_state(m: Lanes, i: int, now: Motion) -> None:
    """Write the state from which the evaluations of a lane start."""
    for j in range(len(m.q)):
        m.q_of[j, i], m.qd_of[j, i] = now.q[j], now.qd[j]


@kernel
def _read_multipliers(m: Lanes, i: int, state: KernelState) -> None:
    """Fill the multipliers of a kernel state from the evaluation of a lane: the forces that its held joints need."""
    for k in range(len(state.independent_rows)):
        state.multipliers[k] = m.needed_of[state.rows[state.independent_rows[k]].rate, i]


@kernel
def _read_accelerations(m: Lanes, i: int, state: KernelState, now: Motion) -> None:
    """Fill the accelerations of a state and of its kernel state from the evaluation of a lane."""
    for j in range(len(m.q)):
        now.qdd[j] = state.rates[j].qdd = m.rates_of[j].qdd[i]


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
    _clear(m, i)
    lane.number, lane.kept, lane.rounds, lane.evaluations, lane.watched = number, 0, 0, 0, 0
    lane.h, lane.exact, lane.changed, lane.at_zero = FIRST_STEP, True, True, -1
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
    _clear(m, i)


@kernel
def _instant(m: Lanes, i: int) -> int:
    """Wait for a decision which brakes hold if something has changed; return what the lane does next."""
    lane = m.lane[i]
    lane.rounds += 1
    if lane.rounds > STEPS:
        return BROKEN
    if not lane.changed:
        return _STRETCH
    state, workspace = load_struct(m.places[i, 0]), load_workspace(m.places[i, 1])
    lane.controlled = all_at_rest_hold(
        m.places[i, 0], m.words[i], m.rows[i], m.s[i], workspace.now, workspace.friction, lane.at_zero
    )
    # the number of active rows has changed
    _put_brakes(m, i, load_struct(m.places[i, 0]))
    _put_state(m, i, workspace.now)
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
    _read_accelerations(m, i, state, now)
    _read_multipliers(m, i, state)
    spent = 1
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
        _put_brakes(m, i, load_struct(place))
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
    if lane.kept + 2 * AT_ONCE > STEPS:
        return BROKEN
    put_all(now, workspace.old)
    lane.begin, lane.goal, lane.taken = t, next_switch(m.s[i], t, settings.end), 0
    # in one short step the method of low order is exact enough with half the evaluations, unless a joint is stiff
    lane.once = lane.exact and lane.goal - t <= SHORT
    lane.method = 1 if lane.once else 0
    lane.own = lane.goal - t if lane.once else lane.h
    return _STEP


@kernel
def _begin_step(m: Lanes, i: int) -> int:
    """Begin a step, or end the stretch; return what the lane does next."""
    lane, now = m.lane[i], load_workspace(m.places[i, 1]).now
    if lane.taken == AT_ONCE or not lane.goal - lane.t > SHORTEST * (1.0 + abs(lane.goal)):
        return _STRETCHED
    _put_state(m, i, now)
    for j in range(len(m.q)):
        m.kx_of[j, i], m.kv_of[j, i] = now.qd[j], now.qdd[j]
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
    lane.last = lane.own >= remaining * (1.0 - 1e-12)
    lane.step = remaining if lane.last else lane.own
    if lane.step < SHORTEST * (1.0 + abs(lane.t)):
        return BROKEN
    clear_candidates(m.event_functions[i, : lane.watched])
    m.h_of[0, i] = lane.step
    _put_stage(m, i, method[lane.method], 1)
    return _WAITS


@kernel
def _put_stage(m: Lanes, i: int, method: Records, stage: int) -> None:
    """Write the weights with which a lane forms the state of a stage."""
    m.lane[i].stage = stage
    for k in range(len(m.a)):
        m.a_of[k, i] = method.A[stage, k]


@kernel
def _after_stage(m: Lanes, i: int, method: Records, settings: Settings) -> int:
    """Store an evaluated stage, and end the step with its last one; return what the lane does next.

    ``method`` (2,) as for :func:`stops_in_lanes`.
    """
    lane, nv = m.lane[i], len(m.q)
    own, stage, state = method[lane.method], lane.stage, load_struct(m.places[i, 0])
    for j in range(nv):
        m.kx_of[stage * nv + j, i], m.kv_of[stage * nv + j, i] = m.v_of[j, i], m.rates_of[j].qdd[i]
    if lane.carries:
        _read_multipliers(m, i, state)
    if stage < own.s:
        if lane.carries:
            mark_overloaded(state, m.event_functions[i, : lane.watched])
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
        lane.h, lane.exact, lane.once, lane.method = max(lane.h, lane.own), False, False, 0
        lane.own = lane.h
        return _STEP
    lane.grown = min(lane.grown, SAFETY * error**own.exponent if error > 0.0 else MOST)
    return _end_step(m, i, state)


@kernel
def _error(m: Lanes, i: int, method: Records, rates: Records, settings: Settings) -> float:
    """Return the error of the step of a lane relative to the tolerance, as a root mean square."""
    total, nv = 0.0, len(m.q)
    for j in range(nv):
        x, v = 0.0, 0.0
        for s in range(method.s + 1):
            x += method.errors[0, s] * m.kx_of[s * nv + j, i]
            v += method.errors[0, s] * m.kv_of[s * nv + j, i]
        k = rates[j].coordinate
        x /= settings.atol + settings.rtol * max(abs(m.q_of[k, i]), abs(m.at_of[k, i]))
        v /= settings.atol + settings.rtol * max(abs(m.qd_of[j, i]), abs(m.v_of[j, i]))
        total += x * x + v * v
    return m.lane[i].step * sqrt(total / (2 * nv))


@kernel
def _end_step(m: Lanes, i: int, state: KernelState) -> int:
    """Move lane i to the end of its step; return what it does next."""
    lane, workspace, watched = m.lane[i], load_workspace(m.places[i, 1]), m.event_functions[i]
    now, old = workspace.now, workspace.old
    for j in range(len(m.q)):
        now.q[j], now.qd[j] = m.at_of[j, i], m.v_of[j, i]
    lane.t = lane.goal if lane.last else lane.t + lane.step
    # a step that was shortened to hit the end does not limit the next one
    grown = lane.step * lane.grown
    lane.own = max(lane.own, grown) if lane.last else grown
    _read_accelerations(m, i, state, now)
    finite = is_motion(now.q, now.qd)
    for j in range(len(m.q)):
        finite &= isfinite(now.qdd[j])
    if finite and sign_changes(state, watched[: lane.watched], lane.step, now.q, now.qd):
        return _PASSED
    lane.kept, lane.begin = keep_step(m.pieces[i], lane.kept, m.s[i], lane.begin, lane.t, old, now)
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
    lane.h = max(lane.h, lane.own) if lane.once else lane.own
    if look:
        length = lane.t - lane.begin
        quintic(length, old.q, now.q, old.qd, now.qd, old.qdd, now.qdd, inside)
        fraction, which = locate_from(addresses[2])(
            addresses[0], place, watched[: lane.watched], lane.begin, length, old.q, inside
        )
        if which < 0:
            # the event search has evaluated the model at other states
            evaluate_from(addresses[0])(place, FORWARD_DYNAMICS, lane.t, lane.t, now.q, now.qd)
            lane.evaluations += 1
        else:
            lane.t = lane.begin + fraction * length
            quintic_at(length, fraction, old.q, inside, now.q, now.qd, now.qdd)
            lane.changed = True
        lane.kept, lane.begin = keep_step(m.pieces[i], lane.kept, s, lane.begin, lane.t, old, now)
        if which >= 0 and watched[which].kind == COORDINATE:
            return LIMIT
        if which >= 0 and watched[which].kind == ROW_RATE:
            lane.at_zero = watched[which].index
            now.qd[watched[which].rate] = 0.0
    lane.changed = switch_due(s, state.resistances, lane.t, now.q, now.qd) or lane.changed
    return _INSTANT


# The compiled function.

_STARTS = named_tuple(
    [MATRIX, MATRIX, _records(RESISTANCE, 2), MATRIX, MATRIX, _records(CARRIED, 2)]
    + [record_array(ENDED), types.float64[:, :, ::1]],
    LanesStarts,
)


@lru_cache(maxsize=1)
def compiled_lanes() -> Any:
    """Return the compiled :func:`stops_in_lanes`."""
    signature = types.boolean(types.intp, INDICES, METHOD, SETTINGS, types.intp, VECTOR, INDICES, _STARTS)
    return compiled(stops_in_lanes, signature, in_threads=True)
