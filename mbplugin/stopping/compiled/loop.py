"""A stop of category 0 in one compiled call, for trees: the basis of series of stops.

The same mechanics as the runner's: led joints and holding brakes are rows, sliding brakes act against the
rate, and at every instant at which one sticks, slips or grips the others are decided anew. Steps are those
of Dormand and Prince, order 5(4); an event ends a step, found by Newton's method on the step's length.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any

import numba
import numpy as np
from numba import types
from scipy.integrate import RK45

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.kernels.resistance import RESISTANCE
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.steppers.evaluate import EVALUATE, FORWARD_DYNAMICS, Evaluate
from mbplugin.simulation.steppers.kernel_state import (
    INDICES,
    KERNEL_STATE,
    VECTOR,
    KernelState,
    struct_pointer,
)

#: One resistance in a stop, as it is before (``free``) and after (``braked``) its brake grips. ``power_off``:
#: when its drive gives up; ``engagement_time``: when its brake grips, s. ``direction``: the sense of its
#: motion when braking starts; ``position_at_braking``: the coordinate there; ``max_travel``: the farthest along that
#: sense; ``rest``: the last instant at which it moved, s.
STOPPING = np.dtype(
    [
        ("rate", np.int64),
        ("free", RESISTANCE),
        ("braked", RESISTANCE),
        ("power_off", np.float64),
        ("engagement_time", np.float64),
        ("lower", np.float64),
        ("upper", np.float64),
        ("holding", np.bool_),
        ("controlled", np.bool_),
        ("direction", np.float64),
        ("position_at_braking", np.float64),
        ("max_travel", np.float64),
        ("rest", np.float64),
        ("force", np.float64),
    ],
    align=True,
)

#: How a stop ends.
STOPPED, LIMIT, MOVING, BROKEN = range(4)
#: The most steps of a stop.
STEPS = 4000
_RATE, _FORCE, _BOUND = 0, 1, 2
#: A brake holds up to this share of its static part; it is watched up to a little more, where it no
#: longer holds for certain.
_AT_REST, _HOLDS, _SLIPS = 1e-9, 1.0 + 1e-9, 1.0 + 1e-8
#: By how much an event may be missed, for a slope of one.
_FOUND = 1e-10
_A = np.ascontiguousarray(RK45.A)
_B, _E = np.ascontiguousarray(RK45.B), np.ascontiguousarray(RK45.E)


def stop_loop(
    evaluate: Evaluate,
    m: KernelState,
    workspace: AnyArray,
    s: Records,
    q: Array,
    qd: Array,
    end: float,
    rtol: float,
    atol: float,
    pieces: Array,
) -> tuple[int, float, int]:
    """Move (q, qd) in place to rest; return how it ends, when, and how many evaluations it took.

    ``workspace`` (n,) is for the rows that hold; the kernel state's own independent rows, Q, R and multipliers have
    room for n. ``pieces`` (STEPS + 2, 7, nv) takes the motion, one piece per step; see :func:`_keep`.
    """
    nv = len(qd)
    k, old = np.zeros((7, 2, nv)), np.zeros((2, nv))
    a0, f0 = np.zeros(nv), np.zeros(len(s))
    t, h, count = 0.0, 1e-3, 0
    _reset(m, s, q, qd)
    t = _all_controlled(s, end)
    for j in range(nv):
        old[0, j], old[1, j] = q[j], qd[j]
        q[j] += t * qd[j]
        m.rates[j].qdd = 0.0
    kept = _keep(pieces, 0, t, old, a0, m, q, qd)
    old[:] = 0.0
    _switch(s, m, t, q, qd)
    _track_travel(s, t, old, q, qd)
    count += _solve_stick_slip(evaluate, m, workspace, s, q, qd)
    for _ in range(STEPS):
        if _rests(m, s, t, qd):
            return STOPPED, t, count
        if t >= end:
            return MOVING, t, count
        goal = _next(s, t, end)
        for n in range(len(s)):
            f0[n] = s[n].force
        for j in range(nv):
            old[0, j], old[1, j] = q[j], qd[j]
            a0[j] = m.rates[j].qdd
            k[0, 0, j], k[0, 1, j] = qd[j], a0[j]
        step, next_step, evaluations = _step(
            evaluate, m, workspace, s, k, old, q, qd, min(h, goal - t), rtol, atol
        )
        longest, count = step, count + evaluations
        if step <= 0.0:
            return BROKEN, t, count
        kind, n, length = _first(m, s, old, a0, f0, q, qd, step)
        tries = 0
        while kind >= 0 and tries < 24:
            _retake(evaluate, m, workspace, s, k, old, q, qd, length)
            count += 6
            step, tries = length, tries + 1
            gap, slope = _gap(m, s[n], _SLIPS * m.resistances[n].static, f0[n], kind, step, q, qd)
            length = step - gap / slope if slope != 0.0 else step
            found = abs(gap) <= _FOUND * (1.0 + abs(slope)) or abs(length - step) < 1e-15 + 1e-13 * step
            if not 0.0 < length < 1.5 * longest:
                length, found = 0.5 * step, False
            if found:
                # another event may have been passed before this one
                other, before, sooner = _first(m, s, old, a0, f0, q, qd, step)
                if other < 0 or before == n:
                    break
                kind, n, length = other, before, min(sooner, 0.999 * step)
        kept = _keep(pieces, kept, step, old, a0, m, q, qd)
        whole = kind < 0 and step >= goal - t
        t = goal if whole else t + step
        # a step cut short says nothing about the next one
        h = next_step if kind < 0 and not whole else max(next_step, h)
        _track_travel(s, t, old, q, qd)
        if kind == _BOUND:
            return LIMIT, t, count
        changed = _switch(s, m, t, q, qd)
        if kind == _RATE:
            qd[s[n].rate] = 0.0
        if kind >= 0 or changed:
            count += _solve_stick_slip(evaluate, m, workspace, s, q, qd)
    return BROKEN, t, count


@kernel
def _keep(
    pieces: Array, k: int, length: float, old: Array, a0: Array, m: KernelState, q: Array, qd: Array
) -> int:
    """Keep a step as piece k; return the number of pieces.

    A piece (7, nv) has its length (s) in [0, 0], then q, q̇, q̈ at its start and q, q̇, q̈ at its end; behind
    the last piece stands one of length 0.
    """
    if length > 0.0:
        piece = pieces[k]
        piece[0, 0] = length
        for j in range(len(q)):
            piece[1, j], piece[2, j], piece[3, j] = old[0, j], old[1, j], a0[j]
            piece[4, j], piece[5, j], piece[6, j] = q[j], qd[j], m.rates[j].qdd
        k += 1
    pieces[k, 0, 0] = 0.0
    return k


@kernel
def _reset(m: KernelState, s: Records, q: Array, qd: Array) -> None:
    for n in range(len(s)):
        joint = s[n]
        joint.controlled, joint.holding = joint.power_off > 0.0, False
        joint.direction, joint.position_at_braking, joint.max_travel, joint.force = (
            0.0,
            q[joint.rate],
            0.0,
            0.0,
        )
        joint.rest = 0.0
        m.resistances[n] = joint.free


@kernel
def _all_controlled(s: Records, end: float) -> float:
    """Return until when every joint is led at its rate, s."""
    until = end
    for n in range(len(s)):
        until = min(until, s[n].power_off)
    return max(until, 0.0)


@kernel
def _switch(s: Records, m: KernelState, t: float, q: Array, qd: Array) -> bool:
    """Let drives give up and brakes grip that are due; return whether any did."""
    changed = False
    for n in range(len(s)):
        joint = s[n]
        if joint.controlled and joint.power_off <= t + 1e-12:
            joint.controlled, changed = False, True
        if joint.direction == 0.0 and joint.engagement_time <= t + 1e-12:
            sense = m.resistances[n].sense
            m.resistances[n] = joint.braked
            m.resistances[n].sense = sense
            v = qd[joint.rate]
            # 2 stands for at rest: it has no sense to come back from
            joint.direction = 2.0 if abs(v) <= _AT_REST else (1.0 if v > 0.0 else -1.0)
            joint.position_at_braking, joint.max_travel = q[joint.rate], 0.0
            changed = True
    return changed


@kernel
def _next(s: Records, t: float, end: float) -> float:
    goal = end
    for n in range(len(s)):
        for at in (s[n].power_off, s[n].engagement_time):
            if t + 1e-12 < at < goal:
                goal = at
    return goal


@kernel
def _rests(m: KernelState, s: Records, t: float, qd: Array) -> bool:
    for n in range(len(s)):
        if s[n].engagement_time > t + 1e-12 or s[n].controlled:
            return False
    moving = 0.0
    for j in range(len(qd)):
        moving = max(moving, abs(qd[j]) - _AT_REST, abs(m.rates[j].qdd) - 1e-6)
    return moving <= 0.0


@kernel
def _track_travel(s: Records, t: float, old: Array, q: Array, qd: Array) -> None:
    for n in range(len(s)):
        joint = s[n]
        if max(abs(old[1, joint.rate]), abs(qd[joint.rate])) > 1e-7:
            joint.rest = t
        if abs(joint.direction) == 1.0:
            joint.max_travel = max(
                joint.max_travel, joint.direction * (q[joint.rate] - joint.position_at_braking)
            )


@kernel
def _accelerate(
    evaluate: Evaluate, m: KernelState, workspace: AnyArray, s: Records, q: Array, qd: Array
) -> None:
    """Fill the accelerations with led and held rates constant, and the forces that hold."""
    r = 0
    for n in range(len(s)):
        if s[n].controlled or s[n].holding:
            workspace[r] = m.resistances[n].row
            r += 1
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
        workspace[:r],
        m.Q[:r],
        m.R,
        m.multipliers[:r],
        m.gap[:r],
        m.power,
        m.row_independence,
    )
    evaluate(struct_pointer(part), FORWARD_DYNAMICS, 0.0, 0.0, q, qd)
    r = 0
    for n in range(len(s)):
        s[n].force = 0.0
        if s[n].controlled or s[n].holding:
            s[n].force = m.multipliers[r]
            m.rates[s[n].rate].qdd = 0.0
            r += 1


@kernel
def _solve_stick_slip(
    evaluate: Evaluate, m: KernelState, workspace: AnyArray, s: Records, q: Array, qd: Array
) -> int:
    """Decide which brakes hold, the worst first; return the number of evaluations."""
    count = 0
    for n in range(len(s)):
        r, v = m.resistances[n], qd[s[n].rate]
        dry = r.static > 0.0 and not s[n].controlled
        s[n].holding = dry and abs(v) <= _AT_REST
        r.sense = (1.0 if v > 0.0 else -1.0) if dry and not s[n].holding else 0.0
        if s[n].holding:
            qd[s[n].rate] = 0.0
    for _ in range(4 * len(s) + 4):
        _accelerate(evaluate, m, workspace, s, q, qd)
        count += 1
        worst, which = _HOLDS, -1
        for n in range(len(s)):
            if s[n].holding and abs(s[n].force) > worst * m.resistances[n].static:
                worst, which = abs(s[n].force) / m.resistances[n].static, n
        if which >= 0:
            s[which].holding = False
            m.resistances[which].sense = -1.0 if s[which].force > 0.0 else 1.0
            continue
        for n in range(len(s)):
            r = m.resistances[n]
            starting = r.sense != 0.0 and abs(qd[s[n].rate]) <= _AT_REST
            if starting and m.rates[s[n].rate].qdd * r.sense < 0.0:
                which = n
        if which < 0:
            break
        m.resistances[which].sense = 0.0
        s[which].holding = True
    return count


@kernel
def _step(
    evaluate: Evaluate,
    m: KernelState,
    workspace: AnyArray,
    s: Records,
    k: Array,
    old: Array,
    q: Array,
    qd: Array,
    h: float,
    rtol: float,
    atol: float,
) -> tuple[float, float, int]:
    """Take a step of at most h; return its length (0 where none is small enough), the next, evaluations."""
    nv, count, most = len(qd), 0, 5.0
    while h > 1e-14:
        _retake(evaluate, m, workspace, s, k, old, q, qd, h)
        count += 6
        total = 0.0
        for i in range(2):
            for j in range(nv):
                error = 0.0
                for stage in range(7):
                    error += _E[stage] * k[stage, i, j]
                new = q[j] if i == 0 else qd[j]
                total += (h * error / (atol + rtol * max(abs(old[i, j]), abs(new)))) ** 2
        total = sqrt(total / (2 * nv))
        if total < 1.0:
            factor = min(most, 0.9 * total ** (-0.2)) if total > 0.0 else most
            return h, h * factor, count
        h *= max(0.2, 0.9 * total ** (-0.2)) if total == total else 0.2
        most = 1.0
    return 0.0, 0.0, count


@kernel
def _retake(
    evaluate: Evaluate,
    m: KernelState,
    workspace: AnyArray,
    s: Records,
    k: Array,
    old: Array,
    q: Array,
    qd: Array,
    h: float,
) -> None:
    """Fill q, qd, the stages and the accelerations at the end of a step from ``old``."""
    nv = len(qd)
    for stage in range(1, 7):
        for j in range(nv):
            x, v = 0.0, 0.0
            for i in range(stage):
                w = _A[stage, i] if stage < 6 else _B[i]
                x += w * k[i, 0, j]
                v += w * k[i, 1, j]
            q[j], qd[j] = old[0, j] + h * x, old[1, j] + h * v
        _accelerate(evaluate, m, workspace, s, q, qd)
        for j in range(nv):
            k[stage, 0, j], k[stage, 1, j] = qd[j], m.rates[j].qdd


@kernel
def _gap(
    m: KernelState, joint: Records, static: float, f0: float, kind: int, step: float, q: Array, qd: Array
) -> tuple[float, float]:
    """Return by how much an event is passed after a step, and how fast that grows with its length."""
    j = joint.rate
    if kind == _RATE:
        return qd[j], m.rates[j].qdd
    if kind == _BOUND:
        bound = joint.upper if qd[j] > 0.0 else joint.lower
        return q[j] - bound, qd[j]
    gap = abs(joint.force) - static
    return gap, (gap - abs(f0) + static) / step


@kernel
def _first(
    m: KernelState, s: Records, old: Array, a0: Array, f0: Array, q: Array, qd: Array, h: float
) -> tuple[int, int, float]:
    """Return kind, resistance and (about) length of the step to the first event passed; −1 for none."""
    kind, which, length = -1, -1, h
    for n in range(len(s)):
        joint, r = s[n], m.resistances[n]
        j = joint.rate
        if r.sense != 0.0 and not joint.controlled:
            before, after = old[1, j], qd[j]
            starting = abs(before) <= _AT_REST
            if (not starting and before * after <= 0.0) or (starting and after * r.sense < 0.0):
                at = _root(0.0 if starting else before, h * a0[j], after, h * m.rates[j].qdd)
                if h * at < length or kind < 0:
                    kind, which, length = _RATE, n, h * at
        if joint.holding and abs(joint.force) > _SLIPS * r.static:
            rise = abs(joint.force) - abs(f0[n])
            at = (_SLIPS * r.static - abs(f0[n])) / rise if rise > 0.0 else 1.0
            if h * at < length or kind < 0:
                kind, which, length = _FORCE, n, h * at
        if (q[j] > joint.upper and qd[j] > 0.0) or (q[j] < joint.lower and qd[j] < 0.0):
            bound = joint.upper if qd[j] > 0.0 else joint.lower
            at = (bound - old[0, j]) / (q[j] - old[0, j])
            if h * at < length or kind < 0:
                kind, which, length = _BOUND, n, h * at
    return kind, which, max(length, 1e-3 * h)


@kernel
def _root(v0: float, d0: float, v1: float, d1: float) -> float:
    """Return a fraction at which the cubic through rates v and slopes d at both ends is zero.

    A rate that starts at zero is zero once more behind that: x is divided out.
    """
    low, high = 0.0, 1.0
    for _ in range(40):
        x = 0.5 * (low + high)
        y = 1.0 - x
        value = x * y * y * d0 + x * x * (3 - 2 * x) * v1 - x * x * y * d1
        value = value / x if v0 == 0.0 else value + (1 + 2 * x) * y * y * v0
        if value * (d0 if v0 == 0.0 else v0) > 0.0:
            low = x
        else:
            high = x
    return 0.5 * (low + high)


@lru_cache(maxsize=1)
def compiled_loop() -> Any:
    """Return the compiled loop; it is called with ``evaluate`` in front."""
    record: Any = numba.from_dtype(STOPPING)
    result: Any = types.Tuple
    result = result((types.int64, types.float64, types.int64))
    numbers = [types.float64] * 3
    pieces = types.float64[:, :, ::1]
    return compiled(
        stop_loop, result(EVALUATE, KERNEL_STATE, INDICES, record[::1], VECTOR, VECTOR, *numbers, pieces)
    )
