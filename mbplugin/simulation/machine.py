"""What the compiled step loops work on, and the one function through which they reach the recursions.

A loop that the compiler could see through would be compiled together with all recursions below it, once
for every loop. They are compiled once, behind ``act``; loops call it through a pointer.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.kernels.articulated import factor, inward, outward
from mbplugin.dynamics.kernels.closing import update_rows
from mbplugin.dynamics.kernels.forces import LOAD, SPRING, gather
from mbplugin.dynamics.kernels.jit import Records, compiled, kernel
from mbplugin.dynamics.kernels.motion import move
from mbplugin.dynamics.kernels.resistance import RESISTANCE, resist
from mbplugin.dynamics.kernels.rows import END, ROW, TERM
from mbplugin.dynamics.kernels.solve import constrain, decompose, jump
from mbplugin.dynamics.kernels.tree import RATE, SOLID
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.spatial import AnyArray, Array

#: One stretch of a prescribed motion: from ``start`` (s) on, a polynomial in t − start, lowest power first.
STRETCH = np.dtype([("drive", np.int64), ("start", np.float64), ("c", np.float64, (6,))], align=True)

#: Why a loop came back.
DONE, LOOK, MASSLESS, RESELECT, TOO_SMALL, NOT_FINITE, WEAK = range(7)


class Machine(NamedTuple):
    """The records of a tree model, the rows that hold now, and room for their decomposition.

    Parameters
    ----------
    solids, rates, ends, rows, terms, loads, springs, resistances : record arrays
    stretches : record array
        Prescribed motions; sorted by drive, then by start.
    drive : (d, 3) array
    chosen : (r,) array of int
        Independent rows that hold.
    Q, R : (r, nv), (r, r) array
    multipliers, gap : (r,) array
        λ of the chosen rows; what a jump has to close, in scaled rows.
    power : (3,) array
        Of dampers and friction, of applied forces, of drivers, W.
    health : (3,) array
        Smallest own share of a chosen row at the last decomposition; the share below which a jump leaves a
        row alone; and that for the corrections of steps.
    """

    solids: Records
    rates: Records
    ends: Records
    rows: Records
    terms: Records
    loads: Records
    springs: Records
    resistances: Records
    stretches: Records
    drive: Array
    chosen: AnyArray
    Q: Array
    R: Array
    multipliers: Array
    gap: Array
    power: Array
    health: Array


#: What ``act`` does, in this order; the numbers add up.
CONFIGURE, SPLIT, PUSH, LEAP = 1, 2, 4, 8
ACCELERATE = CONFIGURE | SPLIT | PUSH

#: ``act`` as the loops get it: called with (machine, what, t, begun, q, qd).
Act = Any


def machine_of(model: TreeModel, stretches: AnyArray, chosen: AnyArray) -> Machine:
    """Return the machine of a model with the given rows holding."""
    r, nv = len(chosen), len(model.rates)
    return Machine(
        model.solids,
        model.rates,
        model.table.ends,
        model.table.rows,
        model.table.terms,
        model.loads,
        model.springs,
        model.resistances,
        stretches,
        model.drive,
        np.asarray(chosen, dtype=np.int64),
        np.zeros((r, nv)),
        np.zeros((r, r)),
        np.zeros(r),
        np.zeros(r),
        model.power,
        np.array([1.0, 0.0, 0.0]),
    )


def act(m: Machine, what: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Do what is asked at a state; return whether every rate moves mass.

    CONFIGURE fills poses, twists, inertias and rows; SPLIT decomposes the chosen rows; PUSH fills
    accelerations, multipliers and power (mueller2026 (7)); LEAP fills ``qdd`` with the smallest change of
    rates that closes ``gap``, and multipliers with the impulses.
    """
    regular = True
    if what & CONFIGURE:
        move(m.solids, m.rates, q, qd)
        regular = factor(m.solids, m.rates)
        if len(m.rows):
            prescribe(m.stretches, m.drive, t, begun)
            update_rows(m.solids, m.ends, m.rows, m.terms, m.drive, q)
    if what & SPLIT and len(m.chosen):
        m.health[0] = decompose(m.solids, m.rates, m.rows, m.terms, m.chosen, m.Q, m.R)
    if what & PUSH:
        push(m, q, qd)
    if what & LEAP:
        leap(m)
    return regular


@kernel
def push(m: Machine, q: Array, qd: Array) -> None:
    """Fill accelerations and multipliers from what acts; the rows must be decomposed."""
    m.power[:] = 0.0
    gather(m.solids, m.rates, m.loads, m.springs, q, qd, m.power)
    resist(m.solids, m.rates, m.rows, m.terms, m.resistances, qd, m.power)
    inward(m.solids, m.rates, True)
    outward(m.solids, m.rates, True)
    if len(m.chosen):
        constrain(m.solids, m.rates, m.rows, m.terms, m.chosen, m.Q, m.R, m.multipliers)
        for i in range(len(m.chosen)):
            # Cᵀλ works with vᵀCᵀλ = −bᵀλ
            m.power[2] -= m.multipliers[i] * m.rows[m.chosen[i]].bias


@kernel
def leap(m: Machine) -> None:
    """Fill ``qdd`` with the change of rates that closes ``gap``; rows that are too weak are left alone."""
    R, largest = m.R.copy(), 0.0
    for i in range(len(m.chosen)):
        size = 0.0
        for k in range(i + 1):
            size += R[k, i] * R[k, i]
        largest = max(largest, sqrt(size))
        if R[i, i] < m.health[1] * largest:
            R[i, i] = 0.0
    jump(m.solids, m.rates, m.Q, R, m.gap, m.multipliers)
    for i in range(len(m.chosen)):
        m.multipliers[i] *= m.rows[m.chosen[i]].unit


@kernel
def prescribe(stretches: Records, drive: Array, t: float, begun: float) -> None:
    """Fill ``drive`` at time t with the stretches in force at the time the step has begun."""
    for n in range(len(stretches)):
        one = stretches[n]
        first = n == 0 or stretches[n - 1].drive != one.drive
        if not first and one.start > begun + 1e-12 * (1.0 + abs(begun)):
            continue
        s = t - one.start
        value, rate, acceleration = 0.0, 0.0, 0.0
        for k in range(5, -1, -1):
            acceleration = acceleration * s + 2.0 * rate
            rate = rate * s + value
            value = value * s + one.c[k]
        drive[one.drive, 0] = value
        drive[one.drive, 1] = rate
        drive[one.drive, 2] = acceleration


def _records(dtype: np.dtype[Any]) -> Any:
    record: Any = numba.from_dtype(dtype)
    return record[::1]


_named_tuple: Any = types.NamedTuple


VECTOR, MATRIX, INDICES = types.float64[::1], types.float64[:, ::1], types.int64[::1]
#: The machine as the compiler knows it.
MACHINE = _named_tuple(
    [_records(d) for d in (SOLID, RATE, END, ROW, TERM, LOAD, SPRING, RESISTANCE, STRETCH)]
    + [MATRIX, INDICES, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR],
    Machine,
)
#: How ``act`` is called.
SIGNATURE = types.boolean(MACHINE, types.int64, types.float64, types.float64, VECTOR, VECTOR)
#: ``act`` as the compiler knows it: a pointer.
ACT = types.FunctionType(SIGNATURE)


@lru_cache(maxsize=1)
def compiled_act() -> Act:
    """Return ``act``, compiled or from the cache."""
    return compiled(act, SIGNATURE)


def do(m: Machine, what: int, t: float, q: Array, qd: Array) -> bool:
    """Let ``act`` do something at a state, from Python."""
    return bool(compiled_act()(m, what, t, t, q, qd))
