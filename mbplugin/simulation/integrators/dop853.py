"""The Dormand–Prince method of order 8(5,3) with dense output of order 7 and step control.

The coefficients are those of Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, as
scipy publishes them.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any

import numba
import numpy as np
from numba import types
from scipy.integrate import DOP853

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.kernels.group import displace
from mbplugin.model.spatial import Array
from mbplugin.simulation.events.watch import EVENT_FUNCTION, overloaded, sign_changes
from mbplugin.simulation.integrators.contract import Derivative
from mbplugin.simulation.integrators.stage import keep, put, settle, stage
from mbplugin.simulation.steppers.evaluate import EVALUATE, Evaluate
from mbplugin.simulation.steppers.kernel_state import (
    DONE,
    KERNEL_STATE,
    LOOK,
    MATRIX,
    RESELECT,
    TOO_SMALL,
    VECTOR,
    WEAK,
    KernelState,
    load_struct,
    struct_pointer,
)

#: Degree of the dense output.
DEGREE = 7
_STAGES, _EXTENDED = 12, 16
_A = np.zeros((_EXTENDED, _EXTENDED))
_A[:_STAGES, :_STAGES] = DOP853.A
_A[_STAGES, :_STAGES] = DOP853.B
_A[_STAGES + 1 :, :] = DOP853.A_EXTRA
_C = np.concatenate((DOP853.C, [1.0], DOP853.C_EXTRA))
_B, _E3, _E5, _D = (np.ascontiguousarray(a) for a in (DOP853.B, DOP853.E3, DOP853.E5, DOP853.D))
_SAFETY, _LARGEST, _SMALLEST = 0.9, 10.0, 0.2


def advance_dop853(
    evaluate: Evaluate,
    m: KernelState,
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
    """Take adaptive steps from (q, qd, qdd), all changed in place, until ``end`` or the chunk is full.

    Returns status, samples kept, time, and the next step. ``counts`` (2,) adds up evaluations and
    rejected steps. Near a singular pose — a row has less than ``dependent`` of its own — a rejected step is not
    tried again here: smaller and smaller ones would only home in on the pose.
    """
    place = struct_pointer(m)
    m, nv, kept, status = load_struct(place), len(qd), 0, DONE
    kx, kv, kw = np.empty((_EXTENDED, nv)), np.empty((_EXTENDED, nv)), np.empty((_EXTENDED, 3))
    x, v, at = np.empty(nv), np.empty(nv), np.empty(len(q))
    put(m.power, kw[0])
    while kept < len(out_t) and end - t > 1e-14 * (1.0 + abs(end)):
        put(qd, kx[0])
        put(qdd, kv[0])
        grown, healthy = _LARGEST, m.row_independence[0] >= dependent
        while True:
            h = min(h, largest)
            last, beyond = h >= (end - t) * (1.0 - 1e-12), False
            step = end - t if last else h
            if step < 1e-14 * (1.0 + abs(t)):
                return TOO_SMALL, kept, t, h
            for s in range(1, _STAGES):
                _combine(step, s, _A[s], kx, kv, qd, x, v)
                stage(evaluate, place, t + _C[s] * step, t, q, x, v, at, kx[s], kv[s], kw[s])
                beyond = beyond or overloaded(m, event_functions)
            _combine(step, _STAGES, _B, kx, kv, qd, x, v)
            displace(m.composites, q, x, at)
            stage(evaluate, place, t + step, t, q, x, v, at, kx[_STAGES], kv[_STAGES], kw[_STAGES])
            counts[0] += _STAGES
            error = _error(step, kx, kv, q, qd, at, x, v, m.rates, rtol, atol)
            if error < 1.0:
                break
            counts[1] += 1
            shrunk = _SMALLEST if error != error else max(_SMALLEST, _SAFETY * error ** (-1.0 / 8.0))
            h, grown = step * shrunk, 1.0
            if not healthy:
                return WEAK, kept, t, h
        grown = min(grown, _SAFETY * error ** (-1.0 / 8.0) if error > 0.0 else _LARGEST)
        for i in range(3):
            for s in range(_STAGES):
                work[i] += step * _B[s] * kw[s, i]
        if len(dense):
            for s in range(_STAGES + 1, _EXTENDED):
                _combine(step, s, _A[s], kx, kv, qd, out_qd[kept], out_qdd[kept])
                now = t + _C[s] * step
                stage(evaluate, place, now, t, q, out_qd[kept], out_qdd[kept], at, kx[s], kv[s], kw[s])
            counts[0] += _EXTENDED - _STAGES - 1
            _polynomial(step, kx, kv, qd, x, v, dense[kept])
            displace(m.composites, q, x, at)
        put(at, q)
        put(v, qd)
        begun = t
        t = end if last else t + step
        status = settle(evaluate, place, t, begun, projected, q, qd, qdd)
        put(m.power, kw[0])
        counts[0] += 1
        # a step cut short by the end says nothing about the next one
        h = max(h, step * grown) if last else step * grown
        keep(kept, t, q, qd, qdd, work, out_t, out_q, out_qd, out_qdd, out_work)
        kept += 1
        if status != DONE:
            break
        if len(event_functions) and (sign_changes(m, event_functions, step, q, qd) or beyond):
            status = LOOK
            break
        if m.row_independence[0] < reselect_below:
            status = RESELECT
            break
    return status, kept, t, h


@lru_cache(maxsize=1)
def dop853_loop() -> Any:
    """Return the compiled loop; it is called with ``evaluate`` in front."""
    dense = types.Array(types.float64, 4, "C")
    numbers = [types.float64] * 8
    state = [VECTOR] * 4 + [VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, dense]
    result: Any = types.Tuple  # the stubs leave it untyped
    result = result((types.int64, types.int64, types.float64, types.float64))
    event_functions = numba.from_dtype(EVENT_FUNCTION)[::1]
    return compiled(
        advance_dop853,
        result(EVALUATE, KERNEL_STATE, event_functions, *numbers, types.boolean, *state, VECTOR),
    )


@kernel
def _combine(h: float, s: int, a: Array, kx: Array, kv: Array, qd: Array, x: Array, v: Array) -> None:
    """Fill increment and rates of a stage from the s stages before it."""
    for j in range(len(qd)):
        x[j], v[j] = 0.0, 0.0
    for i in range(s):
        if a[i] != 0.0:
            for j in range(len(qd)):
                x[j] += a[i] * kx[i, j]
                v[j] += a[i] * kv[i, j]
    for j in range(len(qd)):
        x[j] *= h
        v[j] = qd[j] + h * v[j]


@kernel
def _error(
    h: float,
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
    """Return the error of a step relative to the tolerance (order 5 and 3 estimates together)."""
    e5, e3, nv = 0.0, 0.0, len(qd)
    for j in range(nv):
        a5, a3, b5, b3 = 0.0, 0.0, 0.0, 0.0
        for s in range(_STAGES + 1):
            a5 += _E5[s] * kx[s, j]
            a3 += _E3[s] * kx[s, j]
            b5 += _E5[s] * kv[s, j]
            b3 += _E3[s] * kv[s, j]
        i = rates[j].coordinate
        size = max(abs(q[i]), abs(q_new[i])) if i >= 0 else max(1.0, abs(x[j]))
        scale_x = atol + rtol * size
        scale_v = atol + rtol * max(abs(qd[j]), abs(v[j]))
        e5 += (a5 / scale_x) ** 2 + (b5 / scale_v) ** 2
        e3 += (a3 / scale_x) ** 2 + (b3 / scale_v) ** 2
    if e5 == 0.0 and e3 == 0.0:
        return 0.0
    return abs(h) * e5 / sqrt((e5 + 0.01 * e3) * 2 * nv)


@kernel
def _polynomial(h: float, kx: Array, kv: Array, qd: Array, x: Array, v: Array, out: Array) -> None:
    """Fill the dense output (8, 2, nv), lowest power of the fraction first."""
    F, c = np.empty(7), np.empty(8)
    for j in range(len(qd)):
        for part in range(2):
            k = kx if part == 0 else kv
            start = 0.0 if part == 0 else qd[j]
            rise = x[j] if part == 0 else v[j] - qd[j]
            F[0], F[1] = rise, h * k[0, j] - rise
            F[2] = 2.0 * rise - h * (k[_STAGES, j] + k[0, j])
            for n in range(4):
                total = 0.0
                for s in range(_EXTENDED):
                    total += _D[n, s] * k[s, j]
                F[3 + n] = h * total
            c[:] = 0.0
            # Horner in alternating factors θ and 1 − θ
            for i in range(7):
                c[0] += F[6 - i]
                for n in range(7, 0, -1):
                    c[n] = c[n - 1] if i % 2 == 0 else c[n] - c[n - 1]
                if i % 2 == 0:
                    c[0] = 0.0
            c[0] += start
            for n in range(8):
                out[n, part, j] = c[n]


def dop853_step(derivative: Derivative, t: float, h: float, y: Array, first: Array) -> tuple[Array, Array]:
    """Return the state after one step and all 13 derivatives; y stacks increment, rates and works.

    Parameters
    ----------
    derivative : callable
        dy/dt at (t, y).
    first : (n,) array
        dy/dt at the start, known from the step before.
    """
    k = np.zeros((_STAGES + 1, len(y)))
    k[0] = first
    for s in range(1, _STAGES):
        k[s] = derivative(t + _C[s] * h, y + h * _A[s, :s] @ k[:s])
    new = y + h * _B @ k[:_STAGES]
    k[_STAGES] = derivative(t + h, new)
    return new, k


def dop853_error(h: float, k: Array, scale: Array) -> float:
    """Return the error of a step relative to the tolerance ``scale`` (n,) of each state."""
    e5 = float((((_E5 @ k) / scale) ** 2).sum())
    e3 = float((((_E3 @ k) / scale) ** 2).sum())
    return abs(h) * e5 / sqrt((e5 + 0.01 * e3) * len(scale)) if e5 or e3 else 0.0


def dop853_dense(derivative: Derivative, t: float, h: float, y: Array, new: Array, k: Array) -> Array:
    """Return the dense output (8, n) of a step, lowest power of the fraction first."""
    k = np.vstack((k, np.zeros((_EXTENDED - _STAGES - 1, len(y)))))
    for s in range(_STAGES + 1, _EXTENDED):
        k[s] = derivative(t + _C[s] * h, y + h * _A[s, :s] @ k[:s])
    rise = new - y
    F = np.vstack((rise, h * k[0] - rise, 2 * rise - h * (k[_STAGES] + k[0]), h * _D @ k))
    c: Array = np.zeros((8, len(y)))
    for i in range(7):
        c[0] += F[6 - i]
        shifted = np.vstack((np.zeros(len(y)), c[:-1]))
        c = shifted if i % 2 == 0 else c - shifted
    c[0] += y
    return c
