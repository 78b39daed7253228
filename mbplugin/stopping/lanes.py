"""Memory and evaluations of stops side by side: one evaluation of the model is that of eight stops, one in each lane.

Each stop has its own state, stage, payload and brakes. A held joint has an infinite armature here: then 1/D is zero,
and no kernel needs to branch.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler import (
    Records,
    kernel,
    named_tuple,
    record_array,
    struct_loader,
)
from mbplugin.dynamics.compiler.lanes import VECTOR_OF_LANES, LanesRecord, lane_writer
from mbplugin.dynamics.kernels import move_single
from mbplugin.dynamics.kernels.articulated import factor_without_roots, inward, outward
from mbplugin.dynamics.kernels.composite_bodies import COMPOSITE, LOAD, RATE, SPRING, gather
from mbplugin.dynamics.kernels.solve import RESISTANCE
from mbplugin.dynamics.tree_calls import OF_COMPOSITE, OF_RATE
from mbplugin.model.brake_law import PARTS, rate_force
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.events import (
    EVENT_FUNCTION,
)
from mbplugin.simulation.kernel_state import (
    INDICES,
    MATRIX,
    KernelState,
)
from mbplugin.stopping.compiled import (
    STOPPING,
    Motion,
)

_rate_force = kernel(rate_force)
#: The records of all lanes: in contrast to those of many states, masses differ, and which joints are held.
LANED_COMPOSITE = LanesRecord(COMPOSITE, (*OF_COMPOSITE, "com", "mass", "weight", "inertia"))
LANED_RATE = LanesRecord(RATE, (*OF_RATE, "armature"))
LANED_RESISTANCE = LanesRecord(RESISTANCE, (*PARTS, "sense", "stuck"))
_write_resistance = lane_writer(LANED_RESISTANCE)
#: One lane. ``number`` is that of its stop, −1 if there is none; ``stage`` is that of the evaluation it waits for, 0
#: to decide which brakes hold, −1 to differentiate by the rate of a stiff joint, which is ``stiff`` or −1; ``method``
#: is the index of its integrator, the second one for a stretch in ``once`` step. ``t`` is the time, ``begin`` that of
#: the last stored step, ``goal`` the end of the stretch, ``h`` the length of the next step, ``own`` that within this
#: stretch, ``short`` the longest stretch for the second method, and ``step`` the step being taken, s, which may then
#: grow by the factor ``grown``; ``last_error`` and ``last_step`` are those of the step before in this stretch. ``kept``
#: counts stored pieces, ``taken`` steps of this stretch, ``watched`` event functions, ``controlled`` driven joints, and
#: ``rounds`` stretches. ``carries``: a brake at rest carries a load.
LANE = np.dtype(
    [
        *((name, np.int64) for name in ("number", "stage", "method", "kept", "taken", "watched")),
        *((name, np.int64) for name in ("controlled", "rounds", "at_zero", "evaluations", "stiff")),
        *((name, np.bool_) for name in ("once", "last", "changed", "carries")),
        *((name, np.float64) for name in ("t", "begin", "goal", "h", "own", "short", "step", "grown")),
        *((name, np.float64) for name in ("last_error", "last_step")),
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
    column, shift : (nv,), (2,) array
        Derivatives of the accelerations by the rate of a stiff joint, 1/s, and their multiples in the coordinates and
        rates of the present stage, see :mod:`mbplugin.stopping.stiff`.
    composites_of, rates_of, resistances_of : record arrays
    q_of, qd_of, at_of, v_of, needed_of, h_of, a_of, kx_of, kv_of, column_of, shift_of : (..., LANES) array
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
    column: AnyArray
    shift: AnyArray
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
    column_of: Array
    shift_of: Array
    joint: AnyArray
    lane: Records
    s: Records
    rows: AnyArray
    words: AnyArray
    event_functions: Records
    pieces: Array
    places: AnyArray


def records_type(kind: Any, axes: int = 1) -> Any:
    """Return the compiler's type of an array of records."""
    return types.Array(numba.from_dtype(kind), axes, "C")


_LANED, _WORDS = (LANED_COMPOSITE, LANED_RATE, LANED_RESISTANCE), types.int64[:, ::1]
load_lanes: Any = struct_loader(
    named_tuple(
        [
            *(types.Array(kind, 1, "C") for kind in _LANED),
            *(record_array(LOAD), record_array(SPRING)),
            *[VECTOR_OF_LANES] * 12,
            *(records_type(kind.laned) for kind in _LANED),
            *[MATRIX] * 11,
            *(INDICES, records_type(LANE), records_type(STOPPING, 2), _WORDS, _WORDS),
            *(records_type(EVENT_FUNCTION, 2), types.Array(types.float64, 4, "C"), _WORDS),
        ],
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


# The evaluation of all lanes, and what is read from it and written for it in one lane.


@kernel
def evaluate_lanes(m: Lanes) -> bool:
    """Fill the accelerations of all lanes at their present stages; return True if every rate moves mass in each."""
    nv, h = len(m.q), m.h[0]
    for j in range(nv):
        dx, dv = m.a[0] * m.kx[j], m.a[0] * m.kv[j]
        for i in range(1, len(m.a)):
            dx += m.a[i] * m.kx[i * nv + j]
            dv += m.a[i] * m.kv[i * nv + j]
        m.at[j] = m.q[j] + (h * dx + m.shift[0] * m.column[j])
        m.v[j] = m.qd[j] + (h * dv + m.shift[1] * m.column[j])
    move_single(m.composites, m.rates, m.at, m.v)
    regular = factor_without_roots(m.composites, m.rates)
    m.power[0] = m.power[1] = 0.0
    gather(m.composites, m.rates, m.loads, m.springs, m.at, m.v, m.power)
    for n in range(len(m.resistances)):
        one, j = m.resistances[n], m.joint[n]
        m.rates[j].tau += one.stuck - _rate_force(one, m.v[j]) - one.sense * one.sliding
    inward(m.composites, m.rates, True)
    outward(m.composites, m.rates, True)
    for j in range(nv):
        a, U = m.composites[m.rates[j].composite].a, m.rates[j].U
        along = a[0] * U[0] + a[1] * U[1] + a[2] * U[2] + (a[3] * U[3] + a[4] * U[4] + a[5] * U[5])
        m.needed[j] = along - m.rates[j].u
    return bool(regular)


@kernel
def clear_lane(m: Lanes, i: int) -> None:
    """Put an empty lane at rest, so that its numbers stay finite."""
    for j in range(len(m.q)):
        m.q_of[j, i] = m.qd_of[j, i] = 0.0
    for k in range(len(m.kx)):
        m.kx_of[k, i] = m.kv_of[k, i] = 0.0
    for j in range(len(m.q)):
        m.column_of[j, i] = 0.0
    m.h_of[0, i] = m.shift_of[0, i] = m.shift_of[1, i] = 0.0


@kernel
def put_brakes(m: Lanes, i: int, state: KernelState) -> None:
    """Write which joints are held, and the forces of all brakes, for the evaluations of a lane."""
    for j in range(len(m.q)):
        m.rates_of[j].armature[i] = state.rates[j].armature
    for k in range(len(state.independent_rows)):
        m.rates_of[state.rows[state.independent_rows[k]].rate].armature[i] = inf
    for n in range(len(m.joint)):
        _write_resistance(m.resistances_of[n], i, state.resistances[n])


@kernel
def put_state(m: Lanes, i: int, now: Motion) -> None:
    """Write the state from which the evaluations of a lane start."""
    for j in range(len(m.q)):
        m.q_of[j, i], m.qd_of[j, i] = now.q[j], now.qd[j]


@kernel
def read_multipliers(m: Lanes, i: int, state: KernelState) -> None:
    """Fill the multipliers of a kernel state from the evaluation of a lane: the forces that its held joints need."""
    for k in range(len(state.independent_rows)):
        state.multipliers[k] = m.needed_of[state.rows[state.independent_rows[k]].rate, i]


@kernel
def read_accelerations(m: Lanes, i: int, state: KernelState, now: Motion) -> None:
    """Fill the accelerations of a state and of its kernel state from the evaluation of a lane."""
    for j in range(len(m.q)):
        now.qdd[j] = state.rates[j].qdd = m.rates_of[j].qdd[i]
