"""The one function through which the step loops reach the recursions.

A loop that the compiler could see through would be compiled together with all recursions below it, once
for every loop. They are compiled once, behind ``evaluate``; loops call it through a pointer.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any

import numpy as np
from numba import types

from mbplugin.dynamics.compiler.jit import Records, compiled, kernel
from mbplugin.dynamics.compiler.pointers import address_of, function_at
from mbplugin.dynamics.kernels.articulated import factor, factor_held, inward, outward
from mbplugin.dynamics.kernels.forces import gather
from mbplugin.dynamics.kernels.held import any_held, hold_rates
from mbplugin.dynamics.kernels.motion import move
from mbplugin.dynamics.kernels.resistance import resist
from mbplugin.dynamics.kernels.row_evaluation import update_rows
from mbplugin.dynamics.kernels.solve import constrain, decompose, impulsive_rates
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.steppers.kernel_state import (
    VECTOR,
    KernelState,
    load_struct,
    words_of,
)

#: What ``evaluate`` does, in this order; the numbers add up.
KINEMATICS, FACTORIZE, ACCELERATE, IMPULSE = 1, 2, 4, 8
FORWARD_DYNAMICS = KINEMATICS | FACTORIZE | ACCELERATE

#: ``evaluate`` as the loops get it: called with (place, what, t, begun, q, qd).
Evaluate = Any


def evaluate(place: int, what: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Evaluate the requested quantities at q (nq,) and qd (nv,); return whether every rate moves mass.

    KINEMATICS fills poses, twists, inertias and rows; FACTORIZE decomposes the chosen rows; ACCELERATE fills
    accelerations, multipliers and power (mueller2026 (7)); IMPULSE fills ``qdd`` with the smallest change of
    rates that closes ``gap``, and multipliers with the impulses.
    """
    m, regular = load_struct(place), True
    held = what == FORWARD_DYNAMICS and hold_rates(m.rates, m.rows, m.independent_rows)
    # what follows an evaluation with held rates needs the factors of all
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
    """Fill accelerations and multipliers from what acts at q (nq,) and qd (nv,).

    The rows must be decomposed, or be those of ``held`` rates.
    """
    m.power[0] = m.power[1] = m.power[2] = 0.0
    gather(m.composites, m.rates, m.loads, m.springs, q, qd, m.power)
    # a call hands on all its arrays, which takes longer than a few joints do
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
        # Cᵀλ works with vᵀCᵀλ = −bᵀλ
        m.power[2] -= m.multipliers[i] * m.rows[m.independent_rows[i]].bias


@kernel
def impulsive_update(m: KernelState) -> None:
    """Fill ``qdd`` with the change of rates that closes ``gap``; rows that are too weak are left alone."""
    R, largest = m.R, 0.0
    for i in range(len(m.independent_rows)):
        size = 0.0
        for k in range(i + 1):
            size += R[k, i] * R[k, i]
        largest = max(largest, sqrt(size))
        if R[i, i] < m.row_independence[1] * largest:
            # as if it were left out, until the change is known
            R[i, i] = -R[i, i]
    impulsive_rates(m.composites, m.rates, m.Q, R, m.gap, m.multipliers)
    for i in range(len(m.independent_rows)):
        R[i, i] = abs(R[i, i])
        m.multipliers[i] *= m.rows[m.independent_rows[i]].unit


@kernel
def prescribe(motion_segments: Records, drive: Array, t: float, begun: float) -> None:
    """Fill ``drive`` (d, 3) at time t with the segments in force at the time the step has begun."""
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


#: How ``evaluate`` is called.
SIGNATURE = types.boolean(types.intp, types.int64, types.float64, types.float64, VECTOR, VECTOR)
#: ``evaluate`` as the compiler knows it: a pointer.
EVALUATE = types.FunctionType(SIGNATURE)
#: In a loop: ``evaluate`` at its address.
evaluate_from = function_at(EVALUATE)
#: Kernel states that are stored for loops, by their identity; so many at most.
_stored: dict[int, tuple[KernelState, AnyArray, int]] = {}
_MOST_STORED = 16


@lru_cache(maxsize=1)
def compiled_evaluate() -> Evaluate:
    """Return ``evaluate``, compiled or from the cache."""
    return compiled(evaluate, SIGNATURE, address=True)


@lru_cache(maxsize=1)
def evaluate_address() -> int:
    """Return where the compiled ``evaluate`` is, for loops."""
    return address_of(compiled_evaluate(), SIGNATURE)


def place_of(m: KernelState) -> int:
    """Return the address at which loops read a kernel state; the caller keeps the kernel state."""
    found = _stored.get(id(m))
    if found is None:
        if len(_stored) >= _MOST_STORED:
            _stored.clear()
        words = np.array(words_of(m), dtype=np.int64)
        found = _stored[id(m)] = (m, words, words.ctypes.data)
    return found[2]


def evaluate_at(m: KernelState, what: int, t: float, q: Array, qd: Array, begun: float | None = None) -> bool:
    """Let ``evaluate`` do something at a state q (nq,), qd (nv,), from Python."""
    return bool(compiled_evaluate()(place_of(m), what, t, t if begun is None else begun, q, qd))
