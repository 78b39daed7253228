"""Pieces that the compiled integrators share: one stage, the end of a step, a cubic dense output."""

from __future__ import annotations

from math import isfinite

from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.dynamics.kernels.jit import kernel
from mbplugin.simulation.machine import ACCELERATE, DONE, MASSLESS, NOT_FINITE, PUSH, Act, Machine
from mbplugin.simulation.projection import project
from mbplugin.spatial import Array


@kernel
def stage(
    act: Act,
    m: Machine,
    t: float,
    begun: float,
    q: Array,
    x: Array,
    qd: Array,
    at: Array,
    kx: Array,
    kv: Array,
    kw: Array,
) -> bool:
    """Fill the derivatives of increment, rates and works; ``at`` (nq,) is room for q ∘ x."""
    displace(m.solids, q, x, at)
    regular: bool = act(m, ACCELERATE, t, begun, at, qd)
    increment_rate(m.solids, x, qd, kx)
    for j in range(len(qd)):
        kv[j] = m.rates[j].qdd
    for i in range(3):
        kw[i] = m.power[i]
    return regular


@kernel
def settle(
    act: Act, m: Machine, t: float, begun: float, projected: bool, q: Array, qd: Array, qdd: Array
) -> int:
    """End a step at (q, qd): project in place, and fill the accelerations there."""
    if projected:
        if not project(act, m, t, begun, q, qd):
            return MASSLESS
        act(m, PUSH, t, begun, q, qd)
    elif not act(m, ACCELERATE, t, begun, q, qd):
        return MASSLESS
    total = 0.0
    for j in range(len(qd)):
        qdd[j] = m.rates[j].qdd
        total += qdd[j] + qd[j]
    return DONE if isfinite(total) else NOT_FINITE
