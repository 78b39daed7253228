"""The compiled loop of the variational integrator, whose step is a function of its own."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled
from mbplugin.dynamics.kernels.group import increment_rate
from mbplugin.model.spatial import Array
from mbplugin.simulation.events.watch import EVENT_FUNCTION, clear_candidates, sign_changes
from mbplugin.simulation.integrators.hermite import cubic
from mbplugin.simulation.integrators.stage import keep, settle
from mbplugin.simulation.integrators.variational_step import ROOM, STEP, Workspace
from mbplugin.simulation.steppers.evaluate import EVALUATE, Evaluate
from mbplugin.simulation.steppers.kernel_state import (
    DONE,
    KERNEL_STATE,
    LOOK,
    MATRIX,
    RESELECT,
    TOO_SMALL,
    VECTOR,
    KernelState,
    load_struct,
    struct_pointer,
)

#: Part of a step that is still tried where the equations of the whole have not been solved.
SMALLEST_PART = 1e-6


def advance_variational(
    evaluate: Evaluate,
    discrete_forces: Evaluate,
    take_step: Any,
    m: KernelState,
    workspace: Workspace,
    event_functions: Records,
    t: float,
    end: float,
    h: float,
    reselect_below: float,
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
    """Take steps of h from (q, qd, qdd), all changed in place, until ``end`` or until the chunk is full.

    A step that is too long for its equations to be solved is taken in parts. Returns status, samples kept,
    time, and h. ``counts`` (2,) adds up evaluations and steps that were tried in vain.

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
        Evaluations and steps that were tried in vain.
    """
    place = struct_pointer(m)
    m, kept, taken, part, status, begun = load_struct(place), 0, 0, 1.0, DONE, t
    nv, driven = len(qd), m.power[2]
    old_qd, old_qdd, slope = np.empty(nv), np.empty(nv), np.empty(nv)
    while kept < len(out_t) and end - t > 1e-9 * h:
        # count steps, so that ten thousand of them end where they should
        now = begun + taken * h
        step = part * (min(h, end - now) if end - now < 1.5 * h else h)
        if end - now - step < 1e-9 * h:
            step = end - now
        for j in range(nv):
            old_qd[j], old_qdd[j] = qd[j], qdd[j]
        tries = take_step(evaluate, discrete_forces, place, now, step, q, qd, qdd, workspace)
        if tries == 0:
            counts[1] += 1
            part *= 0.5
            if part < SMALLEST_PART:
                return TOO_SMALL, kept, t, h
            continue
        counts[0] += tries
        work[0] += step * m.power[0]
        work[1] += step * m.power[1]
        t = now + step
        taken += 1
        if part < 1.0:
            begun, taken, part = t, 0, 2.0 * part
        status = settle(evaluate, place, t, now, True, q, qd, qdd)
        work[2] += 0.5 * step * (driven + m.power[2])
        driven = m.power[2]
        if len(dense):
            increment_rate(m.composites, workspace.x, qd, slope)
            cubic(step, workspace.x, old_qd, slope, old_qd, qd, old_qdd, qdd, dense[kept])
        keep(kept, t, q, qd, qdd, work, out_t, out_q, out_qd, out_qdd, out_work)
        kept += 1
        if status != DONE:
            break
        clear_candidates(event_functions)
        if len(event_functions) and sign_changes(m, event_functions, step, q, qd):
            status = LOOK
            break
        if m.row_independence[0] < reselect_below:
            status = RESELECT
            break
    return status, kept, t, h


@lru_cache(maxsize=1)
def variational_loop() -> Any:
    """Return the compiled loop; it is called with ``evaluate``, ``discrete_forces`` and the step in front."""
    dense = types.Array(types.float64, 4, "C")
    numbers = [types.float64] * 4
    state = [VECTOR] * 4 + [VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, dense]
    result: Any = types.Tuple  # the stubs leave it untyped
    result = result((types.int64, types.int64, types.float64, types.float64))
    event_functions = numba.from_dtype(EVENT_FUNCTION)[::1]
    return compiled(
        advance_variational,
        result(EVALUATE, EVALUATE, STEP, KERNEL_STATE, ROOM, event_functions, *numbers, *state, VECTOR),
    )
