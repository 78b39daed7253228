"""The compiled loop of all explicit Runge–Kutta methods: their coefficients are an argument."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any

import numba
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.compiler.pointers import address_of, function_at
from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.events.watch import EVENT_FUNCTION, clear_candidates, mark_overloaded, sign_changes
from mbplugin.simulation.integrators.hermite import cubic
from mbplugin.simulation.integrators.stage import keep, put, put_row, settle, stage, take_accelerations
from mbplugin.simulation.integrators.tableau import TABLE
from mbplugin.simulation.steppers.evaluate import evaluate_from
from mbplugin.simulation.steppers.kernel_state import (
    DONE,
    LOOK,
    MATRIX,
    RESELECT,
    TOO_SMALL,
    VECTOR,
    WEAK,
    load_struct,
)

#: The next step is this part of the one that would just be accepted, and at most and at least this many
#: times the last one.
SAFETY, MOST, LEAST = 0.9, 10.0, 0.2
#: Where a remaining time is no step any more: of an adaptive method, relative to 1 s and the time; of a
#: fixed step, relative to it.
SHORTEST, REMAINDER = 1e-14, 1e-9


def advance_explicit(
    address: int,
    place: int,
    table: Records,
    event_functions: Records,
    t: float,
    end: float,
    h: float,
    largest: float,
    rtol: float,
    atol: float,
    reselect_below: float,
    dependent: float,
    projected: bool,
    q: Array,
    qd: Array,
    qdd: Array,
    work: Array,
    out_t: Array,
    out_q: Array,
    out_qd: Array,
    out_qdd: Array,
    out_work: Array,
    dense: Array,
    counts: Array,
) -> tuple[int, int, float, float]:
    """Take steps from (q, qd, qdd), all changed in place, until ``end`` or the chunk is full.

    Returns status, samples kept, time (s), and the next step (s). ``counts`` (2,) adds up evaluations and
    rejected steps. Near a singular pose — a row has less than ``dependent`` of its own — a rejected step is
    not tried again here: smaller and smaller ones would only home in on the pose.

    Parameters
    ----------
    q, qd, qdd : (nq,), (nv,), (nv,) array
        The state; rad, m and s.
    work : (3,) array
        Of dampers, applied forces and drivers, J.
    out_t, out_q, out_qd, out_qdd, out_work : (c,), (c, nq), (c, nv), (c, nv), (c, 3) array
        The chunk.
    dense : (c, d, 2, nv) array
        Its polynomials; empty without dense output.
    counts : (2,) array
        Evaluations and rejected steps.
    """
    evaluate = evaluate_from(address)
    m, kept, taken, status, begun = load_struct(place), 0, 0, DONE, t
    method = table[0]
    adaptive, hermite, n = method.adaptive, method.powers == 0, method.n
    # the last stage is the end of the step, unless that has to be projected
    evaluated_end = n == method.s + 1
    kx, kv, kw, x, v, slope, at = m.kx, m.kv, m.kw, m.x, m.v, m.slope, m.at
    put_row(m.power, kw, 0)
    while kept < len(out_t) and end - t > (SHORTEST * (1.0 + abs(end)) if adaptive else REMAINDER * h):
        put_row(qd, kx, 0)
        put_row(qdd, kv, 0)
        # count fixed steps, so that ten thousand of them end where they should
        now = t if adaptive else begun + taken * h
        grown, independent, regular = MOST, m.row_independence[0] >= dependent, True
        while True:
            if adaptive:
                h = min(h, largest)
                last = h >= (end - t) * (1.0 - 1e-12)
                step = end - t if last else h
                if step < SHORTEST * (1.0 + abs(t)):
                    return TOO_SMALL, kept, t, h
            else:
                last, step = False, fixed_step(end - now, h)
            clear_candidates(event_functions)
            # row s of A leads to the end of the step, which not every method evaluates
            for s in range(1, method.s + 1):
                _combine(step, s, method.A[s], kx, kv, qd, x, v)
                if s == n:
                    displace(m.composites, q, x, at)
                    break
                regular = stage(evaluate, place, now + method.c[s] * step, now, q, x, v, s)
                if s < method.s:
                    mark_overloaded(m, event_functions)
            counts[0] += min(method.s, n - 1)
            if not adaptive:
                break
            error = _error(step, method, kx, kv, q, qd, at, x, v, m.rates, rtol, atol)
            if error < 1.0:
                grown = min(grown, SAFETY * error**method.exponent if error > 0.0 else MOST)
                break
            counts[1] += 1
            shrunk = LEAST if error != error else max(LEAST, SAFETY * error**method.exponent)
            h, grown = step * shrunk, 1.0
            if not independent:
                return WEAK, kept, t, h
        for s in range(method.s):
            for i in range(3):
                work[i] += step * method.b[s] * kw[s, i]
        if len(dense):
            if hermite:
                increment_rate(m.composites, x, v, slope)
            else:
                # the sample that is kept next is where the states of the further stages have room
                further = (out_qd[kept], out_qdd[kept])
                for s in range(method.s + 1, n):
                    _combine(step, s, method.A[s], kx, kv, qd, further[0], further[1])
                    then = now + method.c[s] * step
                    stage(evaluate, place, then, now, q, further[0], further[1], s)
                counts[0] += n - method.s - 1
                _polynomial(step, method, kx, kv, qd, dense[kept])
                displace(m.composites, q, x, at)
        put(at, q)
        put(v, qd)
        taken += 1
        t = end if last else now + step
        if evaluated_end and not (projected and len(m.independent_rows)):
            status = take_accelerations(place, regular, q, qd, qdd)
        else:
            status = settle(evaluate, place, t, now, projected, q, qd, qdd)
            counts[0] += 1
        put_row(m.power, kw, 0)
        if adaptive:
            # a step cut short by the end says nothing about the next one
            h = max(h, step * grown) if last else step * grown
        if hermite and len(dense):
            cubic(step, x, kx[0], slope, kx[0], qd, kv[0], qdd, dense[kept])
        keep(kept, t, q, qd, qdd, work, out_t, out_q, out_qd, out_qdd, out_work)
        kept += 1
        if status != DONE:
            break
        if len(event_functions) and sign_changes(m, event_functions, step, q, qd):
            status = LOOK
            break
        if m.row_independence[0] < reselect_below:
            status = RESELECT
            break
    return status, kept, t, h


#: The table of a method, and how the loop is called.
METHOD: Any = types.Array(numba.from_dtype(TABLE), 1, "C", readonly=True)
_tuple: Any = types.Tuple  # the stubs leave it untyped
_SIGNATURE = _tuple((types.int64, types.int64, types.float64, types.float64))(
    *(types.intp, types.intp, METHOD, numba.from_dtype(EVENT_FUNCTION)[::1]),
    *([types.float64] * 8),
    types.boolean,
    *([VECTOR] * 5 + [MATRIX] * 4),
    *(types.Array(types.float64, 4, "C"), VECTOR),
)
#: In a loop around this one: this one at its address.
advance_from = function_at(types.FunctionType(_SIGNATURE))


@lru_cache(maxsize=1)
def explicit_loop() -> Any:
    """Return the compiled loop; it is called with the addresses of ``evaluate`` and the kernel state in front."""
    return compiled(advance_explicit, _SIGNATURE, address=True)


@lru_cache(maxsize=1)
def advance_address() -> int:
    """Return where the compiled loop is, for a loop around it."""
    return address_of(explicit_loop(), _SIGNATURE)


@kernel
def fixed_step(remaining: float, h: float) -> float:
    """Return the next step (s) where a time remains: h, or what remains if that is little more."""
    step = min(h, remaining) if remaining < 1.5 * h else h
    return remaining if remaining - step < REMAINDER * h else step


@kernel
def _combine(h: float, s: int, a: Array, kx: Array, kv: Array, qd: Array, x: Array, v: Array) -> None:
    """Fill increment x and rates v of a stage from the s stages before it.

    a (MOST_STAGES,) is a row of the tableau, kx and kv (n, nv) rates and accelerations of the stages;
    qd, x and v (nv,).
    """
    for j in range(len(qd)):
        dx, dv = 0.0, 0.0
        for i in range(s):
            if a[i] != 0.0:
                dx += a[i] * kx[i, j]
                dv += a[i] * kv[i, j]
        x[j], v[j] = h * dx, qd[j] + h * dv


@kernel
def _error(
    h: float,
    method: Records,
    kx: Array,
    kv: Array,
    q: Array,
    qd: Array,
    q_new: Array,
    x: Array,
    v: Array,
    rates: Records,
    rtol: float,
    atol: float,
) -> float:
    """Return the error of a step relative to the tolerance, both estimates (2, s+1) together.

    That is h e₁²/√((e₁² + e₂²/100) n); without a second estimate, the root mean square. kx and kv (n, nv) are
    rates and accelerations of the stages; q and q_new (nq,) and qd and v (nv,) the state before and after, x (nv,)
    the increment.
    """
    first, second, nv = 0.0, 0.0, len(qd)
    for j in range(nv):
        a5, a3, b5, b3 = 0.0, 0.0, 0.0, 0.0
        for s in range(method.s + 1):
            a5 += method.errors[0, s] * kx[s, j]
            a3 += method.errors[1, s] * kx[s, j]
            b5 += method.errors[0, s] * kv[s, j]
            b3 += method.errors[1, s] * kv[s, j]
        i = rates[j].coordinate
        size = max(abs(q[i]), abs(q_new[i])) if i >= 0 else max(1.0, abs(x[j]))
        scale_x = atol + rtol * size
        scale_v = atol + rtol * max(abs(qd[j]), abs(v[j]))
        first += (a5 / scale_x) ** 2 + (b5 / scale_v) ** 2
        second += (a3 / scale_x) ** 2 + (b3 / scale_v) ** 2
    if first == 0.0 and second == 0.0:
        return 0.0
    return abs(h) * first / sqrt((first + 0.01 * second) * 2 * nv)


@kernel
def _polynomial(h: float, method: Records, kx: Array, kv: Array, qd: Array, out: Array) -> None:
    """Fill the dense output (d+1, 2, nv), lowest power of the fraction of the step first.

    kx and kv (n, nv) are rates and accelerations of the stages, qd (nv,) the rates at the start; out (d+1, 2, nv).
    """
    for n in range(method.powers):
        for j in range(len(qd)):
            out[n, 0, j], out[n, 1, j] = 0.0, 0.0
        for s in range(method.n):
            w = h * method.dense[s, n]
            if w != 0.0:
                for j in range(len(qd)):
                    out[n, 0, j] += w * kx[s, j]
                    out[n, 1, j] += w * kv[s, j]
    for j in range(len(qd)):
        out[0, 1, j] += qd[j]
