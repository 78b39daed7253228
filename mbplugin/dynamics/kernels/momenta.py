"""Momenta of the rates, and what changes them: the derivative of the Lagrangian along every rate.

A rate moves all that it carries as one rigid whole. That leaves the kinetic energy of this whole as it is,
but for the twist it was given from within: with H the momentum of all that rate j carries, s the twist it
gives, and V the twist that reaches it from parents (and from rates of its own joint that it does not
turn), ∂T/∂q = H · (V × s), the bracket of twists. Where turns are on the group, the derivative is along
exp(θ) R.
"""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.articulated import pass_wrench
from mbplugin.model.spatial import Array


@kernel
def momenta(solids: Records, rates: Records, qd: Array) -> None:
    """Fill ``u`` of the rates with M q̇, and ``f`` of the solids with the momentum of all they carry."""
    for k in range(1, len(solids)):
        me = solids[k]
        for i in range(3):
            me.f[i] = me.mass * me.v[i]
            me.f[3 + i] = me.J[i, 0] * me.v[3] + me.J[i, 1] * me.v[4] + me.J[i, 2] * me.v[5]
    for k in range(len(solids) - 1, 0, -1):
        me = solids[k]
        for j in range(me.qd_start, me.qd_start + me.freedoms):
            rates[j].u = rates[j].armature * qd[j] + _along(me, rates[j])
        if me.parent:
            pass_wrench(solids[me.parent], me)


@kernel
def kinetic_slopes(solids: Records, rates: Records, qd: Array) -> None:
    """Fill ``qdd`` of the rates with ∂T/∂q; ``f`` must hold momenta."""
    V = np.empty(6)
    for k in range(1, len(solids)):
        me, on = solids[k], solids[solids[k].parent]
        x, y, z = me.c[0] - on.c[0], me.c[1] - on.c[1], me.c[2] - on.c[2]
        for i in range(6):
            V[i] = on.v[i]
        V[0] += on.v[4] * z - on.v[5] * y
        V[1] += on.v[5] * x - on.v[3] * z
        V[2] += on.v[3] * y - on.v[4] * x
        first = me.qd_start
        end = first + me.freedoms
        straight = end - 3 if me.quaternion else end
        if me.sign > 0.0:
            for j in range(first, straight):
                rates[j].qdd = _bracket(me.f, V, rates[j].s)
                _add(V, rates[j], qd[j])
            # axes of a turn on the group stay, whichever of them is turned about
            for j in range(straight, end):
                _add(V, rates[j], qd[j])
            for j in range(straight, end):
                rates[j].qdd = _bracket(me.f, V, rates[j].s)
            continue
        # seen from the other side the axes of such a turn go with the solid
        for j in range(straight, end):
            rates[j].qdd = _bracket(me.f, V, rates[j].s)
        for j in range(straight, end):
            _add(V, rates[j], qd[j])
        for j in range(straight - 1, first - 1, -1):
            rates[j].qdd = _bracket(me.f, V, rates[j].s)
            _add(V, rates[j], qd[j])


@kernel
def collect_forces(solids: Records, rates: Records) -> None:
    """Add what acts on the solids to ``tau``; ``f``, gathered with its gyroscopic part, is used up."""
    for k in range(len(solids) - 1, 0, -1):
        me = solids[k]
        p, q, r = me.v[3], me.v[4], me.v[5]
        a = me.J[0, 0] * p + me.J[0, 1] * q + me.J[0, 2] * r
        b = me.J[1, 0] * p + me.J[1, 1] * q + me.J[1, 2] * r
        c = me.J[2, 0] * p + me.J[2, 1] * q + me.J[2, 2] * r
        me.f[3] -= q * c - r * b
        me.f[4] -= r * a - p * c
        me.f[5] -= p * b - q * a
        for j in range(me.qd_start, me.qd_start + me.freedoms):
            rates[j].tau -= _along(me, rates[j])
        if me.parent:
            pass_wrench(solids[me.parent], me)


@kernel
def _along(me: Records, one: Records) -> float:
    total = 0.0
    for i in range(6):
        total += one.s[i] * me.f[i]
    return total


@kernel
def _add(V: Array, one: Records, rate: float) -> None:
    for i in range(6):
        V[i] += one.s[i] * rate


@kernel
def _bracket(H: Array, V: Array, s: Array) -> float:
    """Return H · (V × s) = [p; L] · [ω × s_v + v × s_ω; ω × s_ω]."""
    total = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        linear = V[3 + j] * s[k] - V[3 + k] * s[j] + V[j] * s[3 + k] - V[k] * s[3 + j]
        total += H[i] * linear + H[3 + i] * (V[3 + j] * s[3 + k] - V[3 + k] * s[3 + j])
    return total
