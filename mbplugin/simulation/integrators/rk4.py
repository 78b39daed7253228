"""The classical Runge–Kutta method of order four with a fixed step."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.kernels.group import displace, increment_rate
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
    VECTOR,
    KernelState,
    load_struct,
    struct_pointer,
)

#: Degree of the dense output: the cubic of each of x and q̇ through both ends and their slopes.
DEGREE = 3


def advance_rk4(
    evaluate: Evaluate,
    m: KernelState,
    event_functions: Records,
    t: float,
    end: float,
    h: float,
    reselect_below: float,
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
) -> tuple[int, int, float, float]:
    """Take steps of h from (q, qd, qdd), all changed in place, until ``end`` or until the chunk is full.

    Returns status, samples kept, time, and h.
    """
    place = struct_pointer(m)
    m = load_struct(place)
    nv, kept, taken, status = len(qd), 0, 0, DONE
    k1x, k2x, k3x, k4x = np.empty(nv), np.empty(nv), np.empty(nv), np.empty(nv)
    k1v, k2v, k3v, k4v = np.empty(nv), np.empty(nv), np.empty(nv), np.empty(nv)
    k1w, k2w, k3w, k4w = m.power.copy(), np.empty(3), np.empty(3), np.empty(3)
    x, v, at = np.empty(nv), np.empty(nv), np.empty(len(q))
    begun = t
    while kept < len(out_t) and end - t > 1e-9 * h:
        # count steps, so that ten thousand of them end where they should
        now = begun + taken * h
        step = min(h, end - now) if end - now < 1.5 * h else h
        if end - now - step < 1e-9 * h:
            step = end - now
        for j in range(nv):
            k1x[j], k1v[j] = qd[j], qdd[j]
            x[j], v[j] = 0.5 * step * k1x[j], qd[j] + 0.5 * step * k1v[j]
        stage(evaluate, place, now + 0.5 * step, now, q, x, v, at, k2x, k2v, k2w)
        beyond = overloaded(m, event_functions)
        for j in range(nv):
            x[j], v[j] = 0.5 * step * k2x[j], qd[j] + 0.5 * step * k2v[j]
        stage(evaluate, place, now + 0.5 * step, now, q, x, v, at, k3x, k3v, k3w)
        for j in range(nv):
            x[j], v[j] = step * k3x[j], qd[j] + step * k3v[j]
        stage(evaluate, place, now + step, now, q, x, v, at, k4x, k4v, k4w)
        for j in range(nv):
            x[j] = step / 6.0 * (k1x[j] + 2.0 * k2x[j] + 2.0 * k3x[j] + k4x[j])
            v[j] = qd[j] + step / 6.0 * (k1v[j] + 2.0 * k2v[j] + 2.0 * k3v[j] + k4v[j])
        for i in range(3):
            work[i] += step / 6.0 * (k1w[i] + 2.0 * k2w[i] + 2.0 * k3w[i] + k4w[i])
        displace(m.composites, q, x, at)
        if len(dense):
            put(qdd, k1v)
            put(qd, k2v)
            increment_rate(m.composites, x, v, k4x)
        put(at, q)
        put(v, qd)
        taken += 1
        t = now + step
        status = settle(evaluate, place, t, now, projected, q, qd, qdd)
        put(m.power, k1w)
        if len(dense):
            cubic(step, x, k2v, k4x, k2v, qd, k1v, qdd, dense[kept])
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
def rk4_loop() -> Any:
    """Return the compiled loop; it is called with ``evaluate`` in front."""
    dense = types.Array(types.float64, 4, "C")
    numbers = [types.float64] * 4
    state = [VECTOR] * 4 + [VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, dense]
    result: Any = types.Tuple  # the stubs leave it untyped
    result = result((types.int64, types.int64, types.float64, types.float64))
    event_functions = numba.from_dtype(EVENT_FUNCTION)[::1]
    return compiled(
        advance_rk4, result(EVALUATE, KERNEL_STATE, event_functions, *numbers, types.boolean, *state)
    )


@kernel
def cubic(
    h: float,
    x: Array,
    xd0: Array,
    xd1: Array,
    qd0: Array,
    qd1: Array,
    qdd0: Array,
    qdd1: Array,
    out: Array,
) -> None:
    """Fill the cubics (4, 2, nv) through increment and rates at both ends with the slopes there."""
    for j in range(len(x)):
        for part in range(2):
            y0, y1 = (0.0, x[j]) if part == 0 else (qd0[j], qd1[j])
            s0, s1 = (h * xd0[j], h * xd1[j]) if part == 0 else (h * qdd0[j], h * qdd1[j])
            out[0, part, j] = y0
            out[1, part, j] = s0
            out[2, part, j] = 3.0 * (y1 - y0) - 2.0 * s0 - s1
            out[3, part, j] = 2.0 * (y0 - y1) + s0 + s1


def rk4_step(derivative: Derivative, t: float, h: float, y: Array) -> Array:
    """Return the state after one step; y stacks increment, rates and works.

    Parameters
    ----------
    derivative : callable
        dy/dt at (t, y).
    """
    k1 = derivative(t, y)
    k2 = derivative(t + 0.5 * h, y + 0.5 * h * k1)
    k3 = derivative(t + 0.5 * h, y + 0.5 * h * k2)
    k4 = derivative(t + h, y + h * k3)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
