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
def momenta(composites: Records, rates: Records, qd: Array) -> None:
    """Fill ``u`` of the rates with M q̇, and ``f`` of the composite bodies with the momentum of all they carry.

    ``qd`` (nv,).
    """
    for k in range(1, len(composites)):
        body = composites[k]
        for i in range(3):
            body.f[i] = body.mass * body.v[i]
            body.f[3 + i] = body.J[i, 0] * body.v[3] + body.J[i, 1] * body.v[4] + body.J[i, 2] * body.v[5]
    for k in range(len(composites) - 1, 0, -1):
        body = composites[k]
        for j in range(body.qd_start, body.qd_start + body.freedoms):
            rates[j].u = rates[j].armature * qd[j] + _along(body, rates[j])
        if body.parent:
            pass_wrench(composites[body.parent], body)


@kernel
def kinetic_slopes(composites: Records, rates: Records, qd: Array) -> None:
    """Fill ``qdd`` of the rates with ∂T/∂q; ``f`` must hold momenta; ``qd`` (nv,)."""
    V = np.empty(6)
    for k in range(1, len(composites)):
        body, on = composites[k], composites[composites[k].parent]
        x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
        for i in range(6):
            V[i] = on.v[i]
        V[0] += on.v[4] * z - on.v[5] * y
        V[1] += on.v[5] * x - on.v[3] * z
        V[2] += on.v[3] * y - on.v[4] * x
        first = body.qd_start
        end = first + body.freedoms
        straight = end - 3 if body.quaternion else end
        if body.sign > 0.0:
            for j in range(first, straight):
                rates[j].qdd = _bracket(body.f, V, rates[j].s)
                _add(V, rates[j], qd[j])
            # axes of a turn on the group stay, whichever of them is turned about
            for j in range(straight, end):
                _add(V, rates[j], qd[j])
            for j in range(straight, end):
                rates[j].qdd = _bracket(body.f, V, rates[j].s)
            continue
        # seen from the other side the axes of such a turn go with the composite body
        for j in range(straight, end):
            rates[j].qdd = _bracket(body.f, V, rates[j].s)
        for j in range(straight, end):
            _add(V, rates[j], qd[j])
        for j in range(straight - 1, first - 1, -1):
            rates[j].qdd = _bracket(body.f, V, rates[j].s)
            _add(V, rates[j], qd[j])


@kernel
def collect_forces(composites: Records, rates: Records) -> None:
    """Add what acts on the composite bodies to ``tau``; ``f``, gathered with its gyroscopic part, is used up."""
    for k in range(len(composites) - 1, 0, -1):
        body = composites[k]
        p, q, r = body.v[3], body.v[4], body.v[5]
        a = body.J[0, 0] * p + body.J[0, 1] * q + body.J[0, 2] * r
        b = body.J[1, 0] * p + body.J[1, 1] * q + body.J[1, 2] * r
        c = body.J[2, 0] * p + body.J[2, 1] * q + body.J[2, 2] * r
        body.f[3] -= q * c - r * b
        body.f[4] -= r * a - p * c
        body.f[5] -= p * b - q * a
        for j in range(body.qd_start, body.qd_start + body.freedoms):
            rates[j].tau -= _along(body, rates[j])
        if body.parent:
            pass_wrench(composites[body.parent], body)


@kernel
def _along(body: Records, joint_rate: Records) -> float:
    total = 0.0
    for i in range(6):
        total += joint_rate.s[i] * body.f[i]
    return total


@kernel
def _add(V: Array, joint_rate: Records, rate: float) -> None:
    """Add the twist of one joint rate, rad/s or m/s, to V (6,)."""
    for i in range(6):
        V[i] += joint_rate.s[i] * rate


@kernel
def _bracket(H: Array, V: Array, s: Array) -> float:
    """Return H · (V × s) = [p; L] · [ω × s_v + v × s_ω; ω × s_ω] of H, V and s (6,)."""
    total = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        linear = V[3 + j] * s[k] - V[3 + k] * s[j] + V[j] * s[3 + k] - V[k] * s[3 + j]
        total += H[i] * linear + H[3 + i] * (V[3 + j] * s[3 + k] - V[3 + k] * s[3 + j])
    return total
