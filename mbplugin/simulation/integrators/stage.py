"""Pieces that the compiled integrators share: one stage, the end of a step, a cubic dense output."""

from __future__ import annotations

from math import isfinite

from mbplugin.dynamics.kernels.group import displace, increment_rate
from mbplugin.dynamics.kernels.jit import kernel
from mbplugin.simulation.machine import DONE, MASSLESS, NOT_FINITE, PUSH, Code, Machine, accelerations
from mbplugin.simulation.projection import project
from mbplugin.spatial import Array


@kernel
def stage(
    code: Code,
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
    regular = accelerations(code, m, t, begun, at, qd)
    increment_rate(m.solids, x, qd, kx)
    for j in range(len(qd)):
        kv[j] = m.rates[j].qdd
    for i in range(3):
        kw[i] = m.power[i]
    return regular


@kernel
def settle(
    code: Code, m: Machine, t: float, begun: float, projected: bool, q: Array, qd: Array, qdd: Array
) -> int:
    """End a step at (q, qd): project in place, and fill the accelerations there."""
    if projected:
        if not project(code, m, t, begun, q, qd):
            return MASSLESS
        code[PUSH](m, t, begun, q, qd)
    elif not accelerations(code, m, t, begun, q, qd):
        return MASSLESS
    total = 0.0
    for j in range(len(qd)):
        qdd[j] = m.rates[j].qdd
        total += qdd[j] + qd[j]
    return DONE if isfinite(total) else NOT_FINITE
