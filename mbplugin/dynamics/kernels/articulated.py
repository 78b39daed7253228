"""The articulated-body recursion: M⁻¹ in one sweep to the ground and one back, linear in the bodies.

M is never formed. Inward, every rate takes its share out of the inertia that it carries; a generalised
force leaves innovations u, and q̈ follows outward. A constraint row is a unit wrench, whose innovations,
divided by √D, are a row of G with G Gᵀ = J M⁻¹ Jᵀ.

A rate that is held takes nothing out: its body is one with its parent but for the prescribed acceleration, and the
recursion gives the force that this needs (the hybrid dynamics of Featherstone).
"""

from __future__ import annotations

from math import sqrt

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.model.spatial import Array

#: Force and moment, N and N·m, in registers: an array would have to be allocated.
Wrench = tuple[float, float, float, float, float, float]


@kernel
def factor(composites: Records, rates: Records) -> bool:
    """Fill J, I_A, U and D from poses and axes, all rates free; return whether every rate carries inertia."""
    for j in range(len(rates)):
        rates[j].held = False
    return factor_held(composites, rates)


@kernel
def factor_held(composites: Records, rates: Records) -> bool:
    """Fill J, I_A, U and D from poses and axes, some rates being held; return whether every rate carries inertia."""
    for k in range(1, len(composites)):
        body = composites[k]
        turn_inertia(body)
        for i in range(3):
            for j in range(3):
                body.I_A[i, j] = body.mass if i == j else 0.0
                body.I_A[i, 3 + j] = 0.0
                body.I_A[3 + i, j] = 0.0
                body.I_A[3 + i, 3 + j] = body.J[i, j]
    # the ground carries nothing, its record has room
    regular, T = True, composites[0].I_A
    for k in range(len(composites) - 1, 0, -1):
        body = composites[k]
        for j in range(body.qd_start + body.freedoms - 1, body.qd_start - 1, -1):
            regular = _take_rate(body, rates[j]) and regular
        if body.parent:
            _add_to(composites[body.parent], body, T)
    return regular


@kernel
def turn_inertia(body: Records) -> None:
    """Fill J with R I Rᵀ."""
    for i in range(3):
        a, b, c = body.R[i, 0], body.R[i, 1], body.R[i, 2]
        x = a * body.inertia[0, 0] + b * body.inertia[1, 0] + c * body.inertia[2, 0]
        y = a * body.inertia[0, 1] + b * body.inertia[1, 1] + c * body.inertia[2, 1]
        z = a * body.inertia[0, 2] + b * body.inertia[1, 2] + c * body.inertia[2, 2]
        for j in range(i + 1):
            body.J[i, j] = x * body.R[j, 0] + y * body.R[j, 1] + z * body.R[j, 2]
            body.J[j, i] = body.J[i, j]


@kernel
def _take_rate(body: Records, joint_rate: Records) -> bool:
    """Reduce the inertia of a composite body by one of its rates; return whether the rate carried any."""
    x = (joint_rate.s[0], joint_rate.s[1], joint_rate.s[2], joint_rate.s[3], joint_rate.s[4], joint_rate.s[5])
    # held apart from the records, which the compiler must suspect of being one
    U = (
        _row(body, 0, x),
        _row(body, 1, x),
        _row(body, 2, x),
        _row(body, 3, x),
        _row(body, 4, x),
        _row(body, 5, x),
    )
    joint_rate.D = (
        joint_rate.armature
        + U[0] * x[0]
        + U[1] * x[1]
        + U[2] * x[2]
        + U[3] * x[3]
        + U[4] * x[4]
        + U[5] * x[5]
    )
    for i in range(6):
        joint_rate.U[i] = U[i]
    if not joint_rate.D > 0.0:
        return False
    if joint_rate.held:
        return True
    joint_rate.root = sqrt(joint_rate.D)
    share = 1.0 / joint_rate.D
    joint_rate.per_root = share * joint_rate.root
    for i in range(6):
        for m in range(6):
            body.I_A[i, m] -= share * U[i] * U[m]
    return True


@kernel
def _row(body: Records, i: int, x: tuple[float, float, float, float, float, float]) -> float:
    I_A = body.I_A
    total: float = I_A[i, 0] * x[0] + I_A[i, 1] * x[1] + I_A[i, 2] * x[2]
    total += I_A[i, 3] * x[3] + I_A[i, 4] * x[4] + I_A[i, 5] * x[5]
    return total


@kernel
def _add_to(on: Records, body: Records, T: Array) -> None:
    """Add Xᵀ I_A X to the parent, X the shift from the parent's centre of mass to this one.

    T (6, 6) is room for Xᵀ I_A.
    """
    x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
    for j in range(6):
        a, b, c = body.I_A[0, j], body.I_A[1, j], body.I_A[2, j]
        T[0, j], T[1, j], T[2, j] = a, b, c
        T[3, j] = body.I_A[3, j] + y * c - z * b
        T[4, j] = body.I_A[4, j] + z * a - x * c
        T[5, j] = body.I_A[5, j] + x * b - y * a
    for i in range(6):
        a, b, c = T[i, 0], T[i, 1], T[i, 2]
        on.I_A[i, 0] += a
        on.I_A[i, 1] += b
        on.I_A[i, 2] += c
        on.I_A[i, 3] += T[i, 3] + y * c - z * b
        on.I_A[i, 4] += T[i, 4] + z * a - x * c
        on.I_A[i, 5] += T[i, 5] + x * b - y * a


@kernel
def inward(composites: Records, rates: Records, moving: bool) -> None:
    """Fill the innovations u of the forces ``tau`` on rates and the wrenches −``f`` on composite bodies.

    ``moving`` takes the bias accelerations in; without them this is the first half of M⁻¹ tau. A held rate has its
    acceleration in ``qdd``.
    """
    for k in range(len(composites) - 1, 0, -1):
        body = composites[k]
        for j in range(body.qd_start + body.freedoms - 1, body.qd_start - 1, -1):
            joint_rate = rates[j]
            u = joint_rate.tau
            for i in range(6):
                u -= joint_rate.s[i] * body.f[i]
            joint_rate.u = u
            share = joint_rate.qdd if joint_rate.held else u / joint_rate.D
            for i in range(6):
                body.f[i] += joint_rate.U[i] * share
        if body.parent == 0:
            continue
        if moving:
            for i in range(6):
                total = 0.0
                for m in range(6):
                    total += body.I_A[i, m] * body.bias[m]
                body.f[i] += total
        pass_wrench(composites[body.parent], body)


@kernel
def pass_wrench(on: Records, body: Records) -> None:
    """Add the wrench f of a composite body to its parent's."""
    x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
    on.f[0] += body.f[0]
    on.f[1] += body.f[1]
    on.f[2] += body.f[2]
    on.f[3] += body.f[3] + y * body.f[2] - z * body.f[1]
    on.f[4] += body.f[4] + z * body.f[0] - x * body.f[2]
    on.f[5] += body.f[5] + x * body.f[1] - y * body.f[0]


@kernel
def outward(composites: Records, rates: Records, moving: bool) -> None:
    """Fill accelerations of rates and composite bodies from innovations; ``u`` of held rates becomes their force."""
    for k in range(1, len(composites)):
        body = composites[k]
        carry_acceleration(composites[body.parent], body, moving)
        for j in range(body.qd_start, body.qd_start + body.freedoms):
            joint_rate = rates[j]
            rest = joint_rate.u
            for i in range(6):
                rest -= joint_rate.U[i] * body.a[i]
            if joint_rate.held:
                joint_rate.u = joint_rate.D * joint_rate.qdd - rest
            else:
                joint_rate.qdd = rest / joint_rate.D
            for i in range(6):
                body.a[i] += joint_rate.s[i] * joint_rate.qdd


@kernel
def carry_acceleration(on: Records, body: Records, moving: bool) -> None:
    """Start the acceleration of a composite body with what its parent and its motion give it."""
    x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
    p, q, r = on.a[3], on.a[4], on.a[5]
    body.a[0] = on.a[0] + q * z - r * y
    body.a[1] = on.a[1] + r * x - p * z
    body.a[2] = on.a[2] + p * y - q * x
    body.a[3], body.a[4], body.a[5] = p, q, r
    if moving:
        for i in range(6):
            body.a[i] += body.bias[i]


@kernel
def accelerate(composites: Records, rates: Records) -> None:
    """Fill the accelerations of the composite bodies from those of the rates."""
    for k in range(1, len(composites)):
        body = composites[k]
        carry_acceleration(composites[body.parent], body, True)
        for j in range(body.qd_start, body.qd_start + body.freedoms):
            for i in range(6):
                body.a[i] += rates[j].s[i] * rates[j].qdd


@kernel
def wrench_innovations(composites: Records, rates: Records, k: int, wrench: Wrench, G: Array) -> None:
    """Add to G (nv,) the innovations over √D of a wrench at composite body k's centre of mass.

    Only the rates on the way to the ground feel it.
    """
    while k > 0:
        body = composites[k]
        wrench = _rate_innovations(body, rates, body.qd_start + body.freedoms, wrench, G)
        wrench = _shifted(composites[body.parent], body, wrench)
        k = body.parent


@kernel
def force_innovations(composites: Records, rates: Records, j: int, size: float, G: Array) -> None:
    """Add to G (nv,) the innovations over √D of a force ``size`` on rate j."""
    joint_rate = rates[j]
    if joint_rate.held:
        return
    body, U = composites[joint_rate.composite], joint_rate.U
    G[j] += size / joint_rate.root
    share = -size / joint_rate.D
    wrench = (share * U[0], share * U[1], share * U[2], share * U[3], share * U[4], share * U[5])
    wrench = _rate_innovations(body, rates, j, wrench, G)
    wrench_innovations(composites, rates, body.parent, _shifted(composites[body.parent], body, wrench), G)


@kernel
def _rate_innovations(body: Records, rates: Records, stop: int, wrench: Wrench, G: Array) -> Wrench:
    """Let a composite body's rates before ``stop`` take their share of a wrench at its centre of mass.

    What they take is added over √D to G (nv,); what they pass on is returned.
    """
    a, b, c, d, e, f = wrench
    for j in range(stop - 1, body.qd_start - 1, -1):
        joint_rate = rates[j]
        if joint_rate.held:
            continue
        s, U = joint_rate.s, joint_rate.U
        share = (a * s[0] + b * s[1] + c * s[2] + (d * s[3] + e * s[4] + f * s[5])) * joint_rate.per_root
        G[j] += share
        share *= joint_rate.per_root
        a, b, c = a - share * U[0], b - share * U[1], c - share * U[2]
        d, e, f = d - share * U[3], e - share * U[4], f - share * U[5]
    return a, b, c, d, e, f


@kernel
def _shifted(on: Records, body: Records, wrench: Wrench) -> Wrench:
    """Return a wrench moved from a composite body's centre of mass to its parent's."""
    x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
    a, b, c, d, e, f = wrench
    return a, b, c, d + y * c - z * b, e + z * a - x * c, f + x * b - y * a


@kernel
def shift_wrench(on: Records, body: Records, wrench: Array) -> None:
    """Move a wrench (6,) from a composite body's centre of mass to its parent's."""
    x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
    wrench[3] += y * wrench[2] - z * wrench[1]
    wrench[4] += z * wrench[0] - x * wrench[2]
    wrench[5] += x * wrench[1] - y * wrench[0]


@kernel
def project_wrench(composites: Records, rates: Records, k: int, wrench: Array, out: Array) -> None:
    """Add to ``out`` (nv,) the generalised force Sᵀ of a wrench (6,) at composite body k; ``wrench`` is used up."""
    while k > 0:
        body = composites[k]
        for j in range(body.qd_start, body.qd_start + body.freedoms):
            for i in range(6):
                out[j] += rates[j].s[i] * wrench[i]
        shift_wrench(composites[body.parent], body, wrench)
        k = body.parent
