"""The kernel state of the compiled step loops, passed between them by address.

Passing one address instead of a hundred numbers is fast, and a function that loads the state from there does not
count references.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import types

from mbplugin.dynamics.compiler import (
    Records,
    address_of,
    compiled,
    function_at,
    kernel,
    named_tuple,
    record_array,
    struct_loader,
    struct_pointer_of,
    words_of,
)
from mbplugin.dynamics.kernels import move
from mbplugin.dynamics.kernels.articulated import energies, factor, factor_held, inward, outward
from mbplugin.dynamics.kernels.composite_bodies import COMPOSITE, LOAD, RATE, SPRING, gather
from mbplugin.dynamics.kernels.rows import JOINT_FRAME, ROW, TERM, any_held, hold_rates, update_rows
from mbplugin.dynamics.kernels.solve import RESISTANCE, constrain, decompose, impulsive_rates, resist
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.model import AnyArray, Array

#: One segment of a prescribed motion: a polynomial in t − start from ``start`` (s) on, lowest power first.
MOTION_SEGMENT = np.dtype([("drive", np.int64), ("start", np.float64), ("c", np.float64, (6,))], align=True)
#: Status with which a loop returns.
DONE, LOOK, MASSLESS, RESELECT, TOO_SMALL, NOT_FINITE, WEAK = range(7)
#: Increments and rates above this, in rad, m and s, are not a motion: products of three would overflow.
BEYOND = 1e100
#: ``row_independence`` of rows that have not been factorised yet.
UNKNOWN_INDEPENDENCE = (1.0, 0.0, 0.0)
VECTOR, MATRIX, INDICES = types.float64[::1], types.float64[:, ::1], types.int64[::1]
#: Parts of ``evaluate``, in this order; flags to be combined.
KINEMATICS, FACTORIZE, ACCELERATE, IMPULSE = 1, 2, 4, 8
FORWARD_DYNAMICS = KINEMATICS | FACTORIZE | ACCELERATE
#: ``evaluate`` as the loops get it, called with (place, what, t, begun, q, qd): the address of the kernel state, the
#: parts to evaluate, the time, the time at which the step began, and the state.
Evaluate = Any
#: Signature of ``evaluate``.
SIGNATURE = types.boolean(types.intp, types.int64, types.float64, types.float64, VECTOR, VECTOR)
#: Compiler's type of ``evaluate``, a function pointer.
EVALUATE = types.FunctionType(SIGNATURE)
#: In a loop: get ``evaluate`` from its address.
evaluate_from = function_at(EVALUATE)
_MOST_STORED = 16
#: Largest number of stages of a Runge–Kutta step, including those of dense output.
MOST_STAGES = 16


class KernelState(NamedTuple):
    """The records of a tree model, the independent rows in force, and workspace for their factorisation and for a step.

    Parameters
    ----------
    composites, rates, joint_frames, rows, terms, loads, springs, resistances : record arrays
    motion_segments : record array
        Prescribed motions; sorted by drive, then by start.
    drive : (d, 3) array
        Prescribed values, rates and accelerations.
    independent_rows : (r,) array of int
        Indices of the independent rows in force.
    Q, R : (r, nv), (r, r) array
        Factors of these rows, see :func:`~mbplugin.dynamics.kernels.solve.decompose`.
    multipliers, gap : (r,) array
        λ of the independent rows; residuals that a jump has to close, in scaled rows.
    power : (3,) array
        Power of dampers and friction, of applied forces, and of drivers, W.
    row_independence : (3,) array
        Smallest part of an independent row that no other one explains, relative to the largest row, at the last
        factorisation; the value below which a jump does not correct a row; and that for the corrections of steps.
    kx, kv, kw : (MOST_STAGES, nv), (MOST_STAGES, nv), (MOST_STAGES, 3) array
        Rates of the increment, accelerations and power at each stage of a step.
    x, v, slope, at : (nv,), (nv,), (nv,), (nq,) array
        Increment, rates, rates of the increment, and coordinates of one stage.
    """

    composites: Records
    rates: Records
    joint_frames: Records
    rows: Records
    terms: Records
    loads: Records
    springs: Records
    resistances: Records
    motion_segments: Records
    drive: Array
    independent_rows: AnyArray
    Q: Array
    R: Array
    multipliers: Array
    gap: Array
    power: Array
    row_independence: Array
    kx: Array
    kv: Array
    kw: Array
    x: Array
    v: Array
    slope: Array
    at: Array


def kernel_state_of(model: TreeModel, motion_segments: AnyArray, independent_rows: AnyArray) -> KernelState:
    """Return the kernel state of a model with ``independent_rows`` (r,) in force.

    ``motion_segments`` (g,) are the records of the prescribed motions.
    """
    r, nv = len(independent_rows), len(model.rates)
    return KernelState(
        model.composites,
        model.rates,
        model.table.joint_frames,
        model.table.rows,
        model.table.terms,
        model.loads,
        model.springs,
        model.resistances,
        motion_segments,
        model.drive,
        np.asarray(independent_rows, dtype=np.int64),
        np.zeros((r, nv)),
        np.zeros((r, r)),
        np.zeros(r),
        np.zeros(r),
        model.power,
        np.array(UNKNOWN_INDEPENDENCE),
        *(np.zeros((MOST_STAGES, n)) for n in (nv, nv, 3)),
        *(np.zeros(n) for n in (nv, nv, nv, len(model.mech.q_names))),
    )


def held_words() -> tuple[tuple[int, ...], int]:
    """Return the indices of the words of a kernel state with the number of rows, and of that with the size of Q."""
    starts = np.cumsum([0, *(5 + 2 * kind.ndim for kind in KERNEL_STATE)]).tolist()
    at = dict(zip(KernelState._fields, starts, strict=False))
    vectors = [at[name] for name in ("independent_rows", "multipliers", "gap")]
    return (*(start + n for start in vectors for n in (2, 5)), at["Q"] + 5), at["Q"] + 2


#: Compiler's type of the kernel state.
KERNEL_STATE = named_tuple(
    [
        record_array(d)
        for d in (COMPOSITE, RATE, JOINT_FRAME, ROW, TERM, LOAD, SPRING, RESISTANCE, MOTION_SEGMENT)
    ]
    + [MATRIX, INDICES, MATRIX, MATRIX, *[VECTOR] * 4, *[MATRIX] * 3, *[VECTOR] * 4],
    KernelState,
)


#: In a loop: the address of a kernel state, valid until the calling function returns.
struct_pointer: Callable[[KernelState], int] = struct_pointer_of()
#: In a kernel: the kernel state at an address.
load_struct: Callable[[int], KernelState] = struct_loader(KERNEL_STATE)


# The single function through which the step loops call the recursions.
#
# If the compiler could inline them, all recursions would be compiled again with every loop. Instead they are
# compiled once, behind ``evaluate``, and loops call it through a pointer.


def evaluate(place: int, what: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Evaluate the requested quantities at q (nq,) and qd (nv,); return True if every rate moves mass.

    KINEMATICS fills poses, twists, inertias and rows; FACTORIZE factorises the independent rows; ACCELERATE fills
    accelerations, multipliers and power (mueller2026 (7)); IMPULSE fills ``qdd`` with the smallest change of
    rates that closes ``gap``, and multipliers with the impulses. ``begun`` is the time at which the step began.
    """
    m, regular = load_struct(place), True
    held = what == FORWARD_DYNAMICS and hold_rates(m.rates, m.rows, m.independent_rows)
    # if some rates were locked in the last evaluation, the factors of all rates are needed now
    refactor = not what & KINEMATICS and any_held(m.rates)
    if what & KINEMATICS:
        move(m.composites, m.rates, q, qd)
        regular = factor_held(m.composites, m.rates) if held else factor(m.composites, m.rates)
        if len(m.rows):
            prescribe(m.motion_segments, m.drive, t, begun)
            update_rows(m.composites, m.joint_frames, m.rows, m.terms, m.drive, q)
    elif refactor:
        factor(m.composites, m.rates)
    if (what & FACTORIZE or refactor) and len(m.independent_rows) and not held:
        m.row_independence[0] = decompose(
            m.composites, m.rates, m.rows, m.terms, m.independent_rows, m.Q, m.R
        )
    if what & ACCELERATE:
        forward_accelerations(m, q, qd, held)
    if what & IMPULSE:
        impulsive_update(m)
    return regular


@kernel
def forward_accelerations(m: KernelState, q: Array, qd: Array, held: bool) -> None:
    """Fill accelerations, multipliers and power from the forces at q (nq,) and qd (nv,).

    The rows must be factorised; or ``held`` is True, and they lock single rates.
    """
    m.power[0] = m.power[1] = m.power[2] = 0.0
    gather(m.composites, m.rates, m.loads, m.springs, q, qd, m.power)
    # passing all the arrays to a call costs more than the work for a few joints
    if len(m.resistances):
        resist(m.composites, m.rates, m.rows, m.terms, m.resistances, qd, m.power)
    r = len(m.independent_rows)
    if held:
        for i in range(r):
            row = m.rows[m.independent_rows[i]]
            m.rates[row.rate].qdd = row.gamma
    inward(m.composites, m.rates, True)
    outward(m.composites, m.rates, True)
    if held:
        for i in range(r):
            m.multipliers[i] = m.rates[m.rows[m.independent_rows[i]].rate].u
    elif r:
        constrain(m.composites, m.rates, m.rows, m.terms, m.independent_rows, m.Q, m.R, m.multipliers)
    for i in range(r):
        # the power of Cᵀλ is vᵀCᵀλ = −bᵀλ
        m.power[2] -= m.multipliers[i] * m.rows[m.independent_rows[i]].bias


@kernel
def impulsive_update(m: KernelState) -> None:
    """Fill ``qdd`` with the change of rates that closes ``gap``; nearly dependent rows are not corrected."""
    R, largest = m.R, 0.0
    for i in range(len(m.independent_rows)):
        size = 0.0
        for k in range(i + 1):
            size += R[k, i] * R[k, i]
        largest = max(largest, sqrt(size))
        if R[i, i] < m.row_independence[1] * largest:
            # a negative pivot excludes the row from the solution; it is restored below
            R[i, i] = -R[i, i]
    impulsive_rates(m.composites, m.rates, m.Q, R, m.gap, m.multipliers)
    for i in range(len(m.independent_rows)):
        R[i, i] = abs(R[i, i])
        m.multipliers[i] *= m.rows[m.independent_rows[i]].unit


@kernel
def prescribe(motion_segments: Records, drive: Array, t: float, begun: float) -> None:
    """Fill ``drive`` (d, 3) at time t, s, from the segments in force at ``begun``, the start of the step."""
    for n in range(len(motion_segments)):
        segment = motion_segments[n]
        first = n == 0 or motion_segments[n - 1].drive != segment.drive
        if not first and segment.start > begun + 1e-12 * (1.0 + abs(begun)):
            continue
        s = t - segment.start
        value, rate, acceleration = 0.0, 0.0, 0.0
        for k in range(5, -1, -1):
            acceleration = acceleration * s + 2.0 * rate
            rate = rate * s + value
            value = value * s + segment.c[k]
        drive[segment.drive, 0] = value
        drive[segment.drive, 1] = rate
        drive[segment.drive, 2] = acceleration


#: Kernel states stored for loops, by their identity.
_stored: dict[int, tuple[KernelState, AnyArray, int]] = {}


@lru_cache(maxsize=1)
def compiled_evaluate() -> Evaluate:
    """Return the compiled ``evaluate``."""
    return compiled(evaluate, SIGNATURE, address=True)


@lru_cache(maxsize=1)
def evaluate_address() -> int:
    """Return the address of the compiled ``evaluate``, for loops."""
    return address_of(compiled_evaluate(), SIGNATURE)


def place_of(m: KernelState) -> int:
    """Return the address from which loops load a kernel state; the caller must keep a reference to it."""
    found = _stored.get(id(m))
    if found is None:
        if len(_stored) >= _MOST_STORED:
            _stored.clear()
        words = np.array(words_of(m), dtype=np.int64)
        found = _stored[id(m)] = (m, words, words.ctypes.data)
    return found[2]


def evaluate_at(m: KernelState, what: int, t: float, q: Array, qd: Array, begun: float | None = None) -> bool:
    """Call ``evaluate`` from Python at a state q (nq,), qd (nv,); return True if every rate moves mass."""
    return bool(compiled_evaluate()(place_of(m), what, t, t if begun is None else begun, q, qd))


# Energies and residuals at the states of a motion.


def _measure(
    address: int,
    place: int,
    time: Array,
    q: Array,
    qd: Array,
    kinetic: Array,
    potential: Array,
    largest: Array,
) -> None:
    """Fill the energies kinetic and potential (T,), J, and the largest (m,) |Φ| of the first rows, m or rad.

    The samples are time, q and qd (T,), (T, nq), (T, nv).
    """
    evaluate = evaluate_from(address)
    m = load_struct(place)
    for n in range(len(time)):
        evaluate(place, KINEMATICS, time[n], time[n], q[n], qd[n])
        kinetic[n], potential[n] = energies(m.composites, m.rates, m.springs, q[n], qd[n])
        for i in range(len(largest)):
            if m.rows[i].holonomic:
                largest[i] = max(largest[i], abs(m.rows[i].phi))


@lru_cache(maxsize=1)
def _measurer() -> Any:
    matrices = (VECTOR, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR)
    return compiled(_measure, types.none(types.intp, types.intp, *matrices))


def measure(m: KernelState, rows: int, time: Array, q: Array, qd: Array) -> tuple[Array, Array, Array]:
    """Return kinetic and potential energy (T,), J, and the largest |Φ| of the first rows, m or rad.

    The samples are ``time`` (T,), ``q`` (T, nq) and ``qd`` (T, nv).
    """
    kinetic, potential, largest = np.zeros(len(time)), np.zeros(len(time)), np.zeros(rows)
    _measurer()(evaluate_address(), place_of(m), time, q, qd, kinetic, potential, largest)
    return kinetic, potential, largest
