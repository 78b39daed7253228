"""The one function through which the step loops reach the recursions.

A loop that the compiler could see through would be compiled together with all recursions below it, once
for every loop. They are compiled once, behind ``act``; loops call it through a pointer.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.kernels.articulated import factor, inward, outward
from mbplugin.dynamics.kernels.forces import gather
from mbplugin.dynamics.kernels.motion import move
from mbplugin.dynamics.kernels.resistance import resist
from mbplugin.dynamics.kernels.row_evaluation import update_rows
from mbplugin.dynamics.kernels.solve import constrain, decompose, jump
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.steppers.kernel_state import INDICES, MACHINE, VECTOR, WORDS, Machine, lay_down, lent

#: What ``act`` does, in this order; the numbers add up.
CONFIGURE, SPLIT, PUSH, LEAP = 1, 2, 4, 8
ACCELERATE = CONFIGURE | SPLIT | PUSH

#: ``act`` as the loops get it: called with (place, what, t, begun, q, qd).
Act = Any


def act(place: int, what: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Do what is asked at a state; return whether every rate moves mass.

    CONFIGURE fills poses, twists, inertias and rows; SPLIT decomposes the chosen rows; PUSH fills
    accelerations, multipliers and power (mueller2026 (7)); LEAP fills ``qdd`` with the smallest change of
    rates that closes ``gap``, and multipliers with the impulses.
    """
    m, regular = lent(place), True
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


#: How ``act`` is called.
SIGNATURE = types.boolean(types.intp, types.int64, types.float64, types.float64, VECTOR, VECTOR)
#: ``act`` as the compiler knows it: a pointer.
ACT = types.FunctionType(SIGNATURE)


@lru_cache(maxsize=1)
def compiled_act() -> Act:
    """Return ``act``, compiled or from the cache."""
    return compiled(act, SIGNATURE)


def do(m: Machine, what: int, t: float, q: Array, qd: Array, begun: float | None = None) -> bool:
    """Let ``act`` do something at a state, from Python."""
    place = np.empty(WORDS, dtype=np.int64)
    _layer()(m, place)
    return bool(compiled_act()(place.ctypes.data, what, t, t if begun is None else begun, q, qd))


def _lay(m: Machine, words: AnyArray) -> None:
    lay_down(m, words)


@lru_cache(maxsize=1)
def _layer() -> Any:
    return compiled(_lay, types.void(MACHINE, INDICES))
