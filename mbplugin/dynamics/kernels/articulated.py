"""The articulated-body recursion: M⁻¹ in one sweep to the ground and one back, linear in the bodies.

M is never formed. Inward, every rate takes its share out of the inertia that it carries; a generalised
force leaves innovations u, and q̈ follows outward. A constraint row is a unit wrench, whose innovations,
divided by √D, are a row of G with G Gᵀ = J M⁻¹ Jᵀ.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.model.spatial import Array


@kernel
def factor(solids: Records, rates: Records) -> bool:
    """Fill J, I_A, U and D from poses and axes; return whether every rate carries inertia."""
    for k in range(1, len(solids)):
        me = solids[k]
        _turn_inertia(me)
        for i in range(3):
            for j in range(3):
                me.I_A[i, j] = me.mass if i == j else 0.0
                me.I_A[i, 3 + j] = 0.0
                me.I_A[3 + i, j] = 0.0
                me.I_A[3 + i, 3 + j] = me.J[i, j]
    # the ground carries nothing, its record has room
    regular, T = True, solids[0].I_A
    for k in range(len(solids) - 1, 0, -1):
        me = solids[k]
        for j in range(me.qd_start + me.freedoms - 1, me.qd_start - 1, -1):
            regular = _take_rate(me, rates[j]) and regular
        if me.parent:
            _add_to(solids[me.parent], me, T)
    return regular


@kernel
def _turn_inertia(me: Records) -> None:
    """Fill J with R I Rᵀ."""
    for i in range(3):
        a, b, c = me.R[i, 0], me.R[i, 1], me.R[i, 2]
        x = a * me.inertia[0, 0] + b * me.inertia[1, 0] + c * me.inertia[2, 0]
        y = a * me.inertia[0, 1] + b * me.inertia[1, 1] + c * me.inertia[2, 1]
        z = a * me.inertia[0, 2] + b * me.inertia[1, 2] + c * me.inertia[2, 2]
        for j in range(i + 1):
            me.J[i, j] = x * me.R[j, 0] + y * me.R[j, 1] + z * me.R[j, 2]
            me.J[j, i] = me.J[i, j]


@kernel
def _take_rate(me: Records, one: Records) -> bool:
    """Reduce the inertia of a solid by one of its rates; return whether the rate carried any."""
    x = (one.s[0], one.s[1], one.s[2], one.s[3], one.s[4], one.s[5])
    # held apart from the records, which the compiler must suspect of being one
    U = (_row(me, 0, x), _row(me, 1, x), _row(me, 2, x), _row(me, 3, x), _row(me, 4, x), _row(me, 5, x))
    one.D = one.armature + U[0] * x[0] + U[1] * x[1] + U[2] * x[2] + U[3] * x[3] + U[4] * x[4] + U[5] * x[5]
    one.root = sqrt(one.D)
    for i in range(6):
        one.U[i] = U[i]
    if not one.D > 0.0:
        return False
    share = 1.0 / one.D
    for i in range(6):
        for m in range(6):
            me.I_A[i, m] -= share * U[i] * U[m]
    return True


@kernel
def _row(me: Records, i: int, x: tuple[float, float, float, float, float, float]) -> float:
    I_A = me.I_A
    total: float = I_A[i, 0] * x[0] + I_A[i, 1] * x[1] + I_A[i, 2] * x[2]
    total += I_A[i, 3] * x[3] + I_A[i, 4] * x[4] + I_A[i, 5] * x[5]
    return total


@kernel
def _add_to(on: Records, me: Records, T: Array) -> None:
    """Add Xᵀ I_A X to the parent, X the shift from the parent's centre of mass to this one."""
    x, y, z = me.c[0] - on.c[0], me.c[1] - on.c[1], me.c[2] - on.c[2]
    for j in range(6):
        a, b, c = me.I_A[0, j], me.I_A[1, j], me.I_A[2, j]
        T[0, j], T[1, j], T[2, j] = a, b, c
        T[3, j] = me.I_A[3, j] + y * c - z * b
        T[4, j] = me.I_A[4, j] + z * a - x * c
        T[5, j] = me.I_A[5, j] + x * b - y * a
    for i in range(6):
        a, b, c = T[i, 0], T[i, 1], T[i, 2]
        on.I_A[i, 0] += a
        on.I_A[i, 1] += b
        on.I_A[i, 2] += c
        on.I_A[i, 3] += T[i, 3] + y * c - z * b
        on.I_A[i, 4] += T[i, 4] + z * a - x * c
        on.I_A[i, 5] += T[i, 5] + x * b - y * a


@kernel
def inward(solids: Records, rates: Records, moving: bool) -> None:
    """Fill the innovations u of the forces ``tau`` on rates and the wrenches −``f`` on solids.

    ``moving`` takes the bias accelerations in; without them this is the first half of M⁻¹ tau.
    """
    for k in range(len(solids) - 1, 0, -1):
        me = solids[k]
        for j in range(me.qd_start + me.freedoms - 1, me.qd_start - 1, -1):
            one = rates[j]
            u = one.tau
            for i in range(6):
                u -= one.s[i] * me.f[i]
            one.u = u
            share = u / one.D
            for i in range(6):
                me.f[i] += one.U[i] * share
        if me.parent == 0:
            continue
        if moving:
            for i in range(6):
                total = 0.0
                for m in range(6):
                    total += me.I_A[i, m] * me.bias[m]
                me.f[i] += total
        pass_wrench(solids[me.parent], me)


@kernel
def pass_wrench(on: Records, me: Records) -> None:
    """Add the wrench f of a solid to its parent's."""
    x, y, z = me.c[0] - on.c[0], me.c[1] - on.c[1], me.c[2] - on.c[2]
    on.f[0] += me.f[0]
    on.f[1] += me.f[1]
    on.f[2] += me.f[2]
    on.f[3] += me.f[3] + y * me.f[2] - z * me.f[1]
    on.f[4] += me.f[4] + z * me.f[0] - x * me.f[2]
    on.f[5] += me.f[5] + x * me.f[1] - y * me.f[0]


@kernel
def outward(solids: Records, rates: Records, moving: bool) -> None:
    """Fill accelerations of rates and solids from the innovations."""
    for k in range(1, len(solids)):
        me = solids[k]
        carry_acceleration(solids[me.parent], me, moving)
        for j in range(me.qd_start, me.qd_start + me.freedoms):
            one = rates[j]
            rest = one.u
            for i in range(6):
                rest -= one.U[i] * me.a[i]
            one.qdd = rest / one.D
            for i in range(6):
                me.a[i] += one.s[i] * one.qdd


@kernel
def carry_acceleration(on: Records, me: Records, moving: bool) -> None:
    """Start the acceleration of a solid with what its parent and its motion give it."""
    x, y, z = me.c[0] - on.c[0], me.c[1] - on.c[1], me.c[2] - on.c[2]
    p, q, r = on.a[3], on.a[4], on.a[5]
    me.a[0] = on.a[0] + q * z - r * y
    me.a[1] = on.a[1] + r * x - p * z
    me.a[2] = on.a[2] + p * y - q * x
    me.a[3], me.a[4], me.a[5] = p, q, r
    if moving:
        for i in range(6):
            me.a[i] += me.bias[i]


@kernel
def accelerate(solids: Records, rates: Records) -> None:
    """Fill the accelerations of the solids from those of the rates."""
    for k in range(1, len(solids)):
        me = solids[k]
        carry_acceleration(solids[me.parent], me, True)
        for j in range(me.qd_start, me.qd_start + me.freedoms):
            for i in range(6):
                me.a[i] += rates[j].s[i] * rates[j].qdd


@kernel
def wrench_innovations(solids: Records, rates: Records, k: int, wrench: Array, G: Array) -> None:
    """Add to G (nv,) the innovations over √D of a wrench (6,) at solid k's centre of mass.

    Only the rates on the way to the ground feel it. ``wrench`` is used up.
    """
    while k > 0:
        me = solids[k]
        _rate_innovations(me, rates, me.qd_start + me.freedoms, wrench, G)
        shift_wrench(solids[me.parent], me, wrench)
        k = me.parent


@kernel
def force_innovations(solids: Records, rates: Records, j: int, size: float, G: Array) -> None:
    """Add to G (nv,) the innovations over √D of a force ``size`` on rate j."""
    one = rates[j]
    me = solids[one.solid]
    wrench = np.empty(6)
    G[j] += size / one.root
    for i in range(6):
        wrench[i] = -one.U[i] * size / one.D
    _rate_innovations(me, rates, j, wrench, G)
    shift_wrench(solids[me.parent], me, wrench)
    wrench_innovations(solids, rates, me.parent, wrench, G)


@kernel
def _rate_innovations(me: Records, rates: Records, stop: int, wrench: Array, G: Array) -> None:
    """Let a solid's rates before ``stop`` take their share of a wrench."""
    for j in range(stop - 1, me.qd_start - 1, -1):
        one = rates[j]
        u = 0.0
        for i in range(6):
            u += one.s[i] * wrench[i]
        G[j] += u / one.root
        for i in range(6):
            wrench[i] -= one.U[i] * u / one.D


@kernel
def shift_wrench(on: Records, me: Records, wrench: Array) -> None:
    """Move a wrench from a solid's centre of mass to its parent's."""
    x, y, z = me.c[0] - on.c[0], me.c[1] - on.c[1], me.c[2] - on.c[2]
    wrench[3] += y * wrench[2] - z * wrench[1]
    wrench[4] += z * wrench[0] - x * wrench[2]
    wrench[5] += x * wrench[1] - y * wrench[0]


@kernel
def project_wrench(solids: Records, rates: Records, k: int, wrench: Array, out: Array) -> None:
    """Add to ``out`` (nv,) the generalised force Sᵀ of a wrench (6,) at solid k; ``wrench`` is used up."""
    while k > 0:
        me = solids[k]
        for j in range(me.qd_start, me.qd_start + me.freedoms):
            for i in range(6):
                out[j] += rates[j].s[i] * wrench[i]
        shift_wrench(solids[me.parent], me, wrench)
        k = me.parent
