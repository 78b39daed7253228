"""The articulated-body recursion: M⁻¹ in one inward and one outward sweep, linear in the number of bodies.

M is never formed. In the inward sweep every rate reduces the articulated inertia that it carries; a generalised
force leaves innovations u, and q̈ follows in the outward sweep. A constraint row is a unit wrench, whose
innovations, divided by √D, are a row of G with G Gᵀ = J M⁻¹ Jᵀ.

A held rate does not reduce the inertia: its body moves with its parent apart from the prescribed acceleration, and
the recursion gives the required force (hybrid dynamics of Featherstone).
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from mbplugin.dynamics.compiler import Records, kernel
from mbplugin.dynamics.kernels import move
from mbplugin.dynamics.kernels.composite_bodies import cross, dot, gather, minus, plus, point_position
from mbplugin.model.spatial import Array

#: Force and moment, N and N·m; a tuple stays in registers, an array would have to be allocated.
Wrench = tuple[float, float, float, float, float, float]


# Inverse dynamics, the mass matrix, and the energies.


@kernel
def inverse_dynamics(composites: Records, rates: Records, out: Array) -> None:
    """Fill ``out`` (nv,) with M q̈ + h − Q at the accelerations ``qdd``; overwrites ``f``.

    ``f`` and ``tau`` must have been gathered at the state.
    """
    accelerate(composites, rates)
    for k in range(1, len(composites)):
        body = composites[k]
        for i in range(3):
            body.f[i] += body.mass * body.a[i]
            for j in range(3):
                body.f[3 + i] += body.J[i, j] * body.a[3 + j]
    for k in range(len(composites) - 1, 0, -1):
        body = composites[k]
        for j in range(body.qd_start, body.qd_start + body.freedoms):
            total = rates[j].armature * rates[j].qdd - rates[j].tau
            for i in range(6):
                total += rates[j].s[i] * body.f[i]
            out[j] = total
        if body.parent:
            pass_wrench(composites[body.parent], body)


@kernel
def mass_matrix(composites: Records, rates: Records, M: Array) -> None:
    """Fill M (nv, nv) by composite inertias, from poses, axes and J."""
    n = len(composites)
    composite, wrench = np.zeros((n, 6, 6)), np.empty(6)
    for k in range(1, n):
        for i in range(3):
            composite[k, i, i] = composites[k].mass
            for j in range(3):
                composite[k, 3 + i, 3 + j] = composites[k].J[i, j]
    for k in range(n - 1, 0, -1):
        body = composites[k]
        for j in range(body.qd_start, body.qd_start + body.freedoms):
            for i in range(6):
                wrench[i] = 0.0
                for m in range(6):
                    wrench[i] += composite[k, i, m] * rates[j].s[m]
            for m in range(len(rates)):
                M[j, m] = 0.0
            project_wrench(composites, rates, k, wrench, M[j])
        if body.parent:
            on = composites[body.parent]
            _add_shifted(
                composite[body.parent],
                composite[k],
                body.c[0] - on.c[0],
                body.c[1] - on.c[1],
                body.c[2] - on.c[2],
            )
    for j in range(len(rates)):
        M[j, j] += rates[j].armature
    # so far only entries with inner rates are filled: make M symmetric
    for j in range(len(rates)):
        for m in range(j):
            both = M[j, m] if M[j, m] != 0.0 else M[m, j]
            M[j, m] = M[m, j] = both


@kernel
def _add_shifted(to: Array, own: Array, x: float, y: float, z: float) -> None:
    """Add Xᵀ I X of ``own`` (6, 6) to ``to`` (6, 6), X the shift by (x, y, z), m."""
    T = own.copy()
    for j in range(6):
        a, b, c = own[0, j], own[1, j], own[2, j]
        T[3, j] += y * c - z * b
        T[4, j] += z * a - x * c
        T[5, j] += x * b - y * a
    for i in range(6):
        a, b, c = T[i, 0], T[i, 1], T[i, 2]
        to[i, 0] += a
        to[i, 1] += b
        to[i, 2] += c
        to[i, 3] += T[i, 3] + y * c - z * b
        to[i, 4] += T[i, 4] + z * a - x * c
        to[i, 5] += T[i, 5] + x * b - y * a


@kernel
def energies(
    composites: Records, rates: Records, springs: Records, q: Array, qd: Array
) -> tuple[float, float]:
    """Return kinetic and potential energy (gravity, springs), J, from poses, twists and inertias.

    At q (nq,) and qd (nv,). The potential of gravity is zero at the world origin.
    """
    kinetic, potential = 0.0, 0.0
    for k in range(1, len(composites)):
        body = composites[k]
        for i in range(3):
            kinetic += 0.5 * body.mass * body.v[i] * body.v[i]
            potential -= body.weight[i] * body.c[i]
            for j in range(3):
                kinetic += 0.5 * body.v[3 + i] * body.J[i, j] * body.v[3 + j]
    for j in range(len(rates)):
        joint_rate = rates[j]
        kinetic += 0.5 * joint_rate.armature * qd[j] * qd[j]
        if joint_rate.stiffness != 0.0:
            potential += 0.5 * joint_rate.stiffness * (q[joint_rate.coordinate] - joint_rate.rest) ** 2
    for n in range(len(springs)):
        spring = springs[n]
        line = minus(
            point_position(composites[spring.composite[1]], spring.point[1]),
            point_position(composites[spring.composite[0]], spring.point[0]),
        )
        potential += 0.5 * spring.stiffness * (sqrt(dot(line, line)) - spring.length) ** 2
    return kinetic, potential


# Momenta of the rates, and the derivative of the Lagrangian along every rate.
#
# A coordinate displaces all outboard bodies as one rigid body. This changes their kinetic energy only through
# the twist V that comes from the parents (and from rates of the same joint whose axes it does not turn): with H
# the momentum of all outboard bodies and s the unit twist of rate j, ∂T/∂q = H · (V × s), the bracket of twists.
# For rotations on the group, the derivative is along exp(θ) R.


@kernel
def momenta(composites: Records, rates: Records, qd: Array) -> None:
    """Fill ``u`` of the rates with M q̇, and ``f`` of the composite bodies with the momentum of all outboard bodies.

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
            # the axes of a rotation on the group are fixed in the parent
            for j in range(straight, end):
                _add(V, rates[j], qd[j])
            for j in range(straight, end):
                rates[j].qdd = _bracket(body.f, V, rates[j].s)
            continue
        # for a reversed pair these axes move with the composite body
        for j in range(straight, end):
            rates[j].qdd = _bracket(body.f, V, rates[j].s)
        for j in range(straight, end):
            _add(V, rates[j], qd[j])
        for j in range(straight - 1, first - 1, -1):
            rates[j].qdd = _bracket(body.f, V, rates[j].s)
            _add(V, rates[j], qd[j])


@kernel
def collect_forces(composites: Records, rates: Records) -> None:
    """Add the wrenches on the composite bodies to ``tau``, without the gyroscopic part of ``f``; overwrites ``f``."""
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
    """Add the twist of a joint rate (rad/s or m/s) to V (6,)."""
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


@kernel
def factor(composites: Records, rates: Records) -> bool:
    """Fill J, I_A, U and D from poses and axes, with all rates free; return True if every rate carries inertia."""
    for j in range(len(rates)):
        rates[j].held = False
    return factor_held(composites, rates)


@kernel
def factor_held(composites: Records, rates: Records) -> bool:
    """Fill J, I_A, U and D from poses and axes, for the held rates set; return True if every rate carries inertia."""
    return _factor(composites, rates, True)


@kernel
def factor_without_roots(composites: Records, rates: Records) -> bool:
    """Do the same as :func:`factor`, except for the square roots of D, which accelerations without rows do not need."""
    for j in range(len(rates)):
        rates[j].held = False
    return _factor(composites, rates, False)


@kernel
def _factor(composites: Records, rates: Records, roots: bool) -> bool:
    """Fill J, I_A, U and D, with the square roots of D if ``roots``; return True if every rate carries inertia."""
    for k in range(1, len(composites)):
        turn_inertia(composites[k])
    # a second loop, because a processor stalls that reads pairs of numbers just after it has written each of them
    for k in range(1, len(composites)):
        body = composites[k]
        # the lower triangle only: nothing reads the other one, and in lanes these stores are what takes time
        for i in range(3):
            for j in range(i + 1):
                body.I_A[i, j] = body.mass if i == j else 0.0
                body.I_A[3 + i, 3 + j] = body.J[i, j]
            for j in range(3):
                body.I_A[3 + i, j] = 0.0
    regular = True
    for k in range(len(composites) - 1, 0, -1):
        body = composites[k]
        for j in range(body.qd_start + body.freedoms - 1, body.qd_start - 1, -1):
            regular = _take_rate(body, rates[j], roots) and regular
        if body.parent:
            _add_to(composites[body.parent], body)
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
def _take_rate(body: Records, joint_rate: Records, roots: bool) -> bool:
    """Reduce the articulated inertia of a composite body by one of its rates; return True if that carries inertia."""
    x = (joint_rate.s[0], joint_rate.s[1], joint_rate.s[2], joint_rate.s[3], joint_rate.s[4], joint_rate.s[5])
    # local copies, because the compiler must assume that the records alias
    U = _times(body.I_A, x)
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
    share = 1.0 / joint_rate.D
    if roots:
        joint_rate.root = sqrt(joint_rate.D)
        joint_rate.per_root = share * joint_rate.root
    for i in range(6):
        for m in range(i + 1):
            body.I_A[i, m] -= share * U[i] * U[m]
    return True


@kernel
def _times(I: Array, x: Wrench) -> Wrench:  # noqa: E741
    """Return I x of a symmetric I (6, 6), reading its lower triangle only."""
    a, b, c, d, e, f = x
    return (
        I[0, 0] * a + I[1, 0] * b + I[2, 0] * c + (I[3, 0] * d + I[4, 0] * e + I[5, 0] * f),
        I[1, 0] * a + I[1, 1] * b + I[2, 1] * c + (I[3, 1] * d + I[4, 1] * e + I[5, 1] * f),
        I[2, 0] * a + I[2, 1] * b + I[2, 2] * c + (I[3, 2] * d + I[4, 2] * e + I[5, 2] * f),
        I[3, 0] * a + I[3, 1] * b + I[3, 2] * c + (I[3, 3] * d + I[4, 3] * e + I[5, 3] * f),
        I[4, 0] * a + I[4, 1] * b + I[4, 2] * c + (I[4, 3] * d + I[4, 4] * e + I[5, 4] * f),
        I[5, 0] * a + I[5, 1] * b + I[5, 2] * c + (I[5, 3] * d + I[5, 4] * e + I[5, 5] * f),
    )


@kernel
def _add_to(on: Records, body: Records) -> None:
    """Add Xᵀ I_A X to the parent (lower triangle only), X the shift from the parent's centre of mass to this one.

    With r from the parent's centre of mass, the blocks (A, Bᵀ; B, C) become B' = B + r × A and
    C' = C + r × Bᵀ + (r × B'ᵀ)ᵀ, column by column.
    """
    r = (body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2])
    I = body.I_A  # noqa: E741
    a, b, c = (I[0, 0], I[1, 0], I[2, 0]), (I[1, 0], I[1, 1], I[2, 1]), (I[2, 0], I[2, 1], I[2, 2])
    p, q, s = (I[3, 0], I[3, 1], I[3, 2]), (I[4, 0], I[4, 1], I[4, 2]), (I[5, 0], I[5, 1], I[5, 2])
    u = plus((p[0], q[0], s[0]), cross(r, a))
    v = plus((p[1], q[1], s[1]), cross(r, b))
    w = plus((p[2], q[2], s[2]), cross(r, c))
    p, q, s = cross(r, p), cross(r, q), cross(r, s)
    x, y, z = cross(r, (u[0], v[0], w[0])), cross(r, (u[1], v[1], w[1])), cross(r, (u[2], v[2], w[2]))
    d = (I[3, 3] + p[0] + x[0], I[4, 3] + p[1] + y[0], I[5, 3] + p[2] + z[0])
    e, f, g = I[4, 4] + q[1] + y[1], I[5, 4] + q[2] + z[1], I[5, 5] + s[2] + z[2]
    for i in range(3):
        on.I_A[i, 0] += a[i]
        on.I_A[3 + i, 0] += u[i]
        on.I_A[3 + i, 1] += v[i]
        on.I_A[3 + i, 2] += w[i]
        on.I_A[3 + i, 3] += d[i]
    on.I_A[1, 1] += b[1]
    on.I_A[2, 1] += b[2]
    on.I_A[2, 2] += c[2]
    on.I_A[4, 4] += e
    on.I_A[5, 4] += f
    on.I_A[5, 5] += g


@kernel
def inward(composites: Records, rates: Records, moving: bool) -> None:
    """Fill the innovations u due to the forces ``tau`` on rates and the wrenches −``f`` on composite bodies.

    ``moving`` includes the bias accelerations; without them this is the first half of M⁻¹ tau. The acceleration of a
    held rate is read from ``qdd``.
    """
    for k in range(len(composites) - 1, 0, -1):
        body = composites[k]
        a, b, c, d, e, f = body.f[0], body.f[1], body.f[2], body.f[3], body.f[4], body.f[5]
        for j in range(body.qd_start + body.freedoms - 1, body.qd_start - 1, -1):
            joint_rate = rates[j]
            s, U = joint_rate.s, joint_rate.U
            u = joint_rate.tau - (a * s[0] + b * s[1] + c * s[2] + (d * s[3] + e * s[4] + f * s[5]))
            share = joint_rate.qdd if joint_rate.held else u / joint_rate.D
            a, b, c = a + share * U[0], b + share * U[1], c + share * U[2]
            d, e, f = d + share * U[3], e + share * U[4], f + share * U[5]
            joint_rate.u = u
        if body.parent == 0:
            continue
        if moving:
            x = body.bias
            p = _times(body.I_A, (x[0], x[1], x[2], x[3], x[4], x[5]))
            a, b, c, d, e, f = a + p[0], b + p[1], c + p[2], d + p[3], e + p[4], f + p[5]
        _add_wrench(composites[body.parent], body, (a, b, c, d, e, f))


@kernel
def _add_wrench(on: Records, body: Records, wrench: Wrench) -> None:
    """Add a wrench at a composite body's centre of mass to ``f`` of its parent."""
    a, b, c, d, e, f = _shifted(on, body, wrench)
    on.f[0] += a
    on.f[1] += b
    on.f[2] += c
    on.f[3] += d
    on.f[4] += e
    on.f[5] += f


@kernel
def pass_wrench(on: Records, body: Records) -> None:
    """Add the wrench f of a composite body to its parent's."""
    f = body.f
    _add_wrench(on, body, (f[0], f[1], f[2], f[3], f[4], f[5]))


@kernel
def outward(composites: Records, rates: Records, moving: bool) -> None:
    """Fill accelerations of rates and composite bodies from innovations; ``u`` of a held rate becomes its force."""
    for k in range(1, len(composites)):
        body = composites[k]
        carry_acceleration(composites[body.parent], body, moving)
        a, b, c, d, e, f = body.a[0], body.a[1], body.a[2], body.a[3], body.a[4], body.a[5]
        for j in range(body.qd_start, body.qd_start + body.freedoms):
            joint_rate = rates[j]
            s, U = joint_rate.s, joint_rate.U
            rest = joint_rate.u - (a * U[0] + b * U[1] + c * U[2] + (d * U[3] + e * U[4] + f * U[5]))
            qdd = joint_rate.qdd
            if joint_rate.held:
                joint_rate.u = joint_rate.D * qdd - rest
            else:
                qdd = rest / joint_rate.D
            a, b, c = a + qdd * s[0], b + qdd * s[1], c + qdd * s[2]
            d, e, f = d + qdd * s[3], e + qdd * s[4], f + qdd * s[5]
            joint_rate.qdd = qdd
        body.a[0], body.a[1], body.a[2], body.a[3], body.a[4], body.a[5] = a, b, c, d, e, f


@kernel
def carry_acceleration(on: Records, body: Records, moving: bool) -> None:
    """Initialise the acceleration of a composite body with the contribution of its parent and, if moving, its bias."""
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

    Only the rates on the path to the ground are affected.
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
    """Add the innovations over √D of a composite body's rates before ``stop``, due to a wrench there, to G (nv,).

    The wrench is at the centre of mass; the rest of it, which the rates transmit, is returned.
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
    """Return a wrench shifted from a composite body's centre of mass to its parent's."""
    x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
    a, b, c, d, e, f = wrench
    return a, b, c, d + y * c - z * b, e + z * a - x * c, f + x * b - y * a


@kernel
def shift_wrench(on: Records, body: Records, wrench: Array) -> None:
    """Shift a wrench (6,) in place from a composite body's centre of mass to its parent's."""
    x, y, z = body.c[0] - on.c[0], body.c[1] - on.c[1], body.c[2] - on.c[2]
    wrench[3] += y * wrench[2] - z * wrench[1]
    wrench[4] += z * wrench[0] - x * wrench[2]
    wrench[5] += x * wrench[1] - y * wrench[0]


@kernel
def project_wrench(composites: Records, rates: Records, k: int, wrench: Array, out: Array) -> None:
    """Add to ``out`` (nv,) the generalised force Sᵀw of a ``wrench`` (6,) at composite body k; overwrites it."""
    while k > 0:
        body = composites[k]
        for j in range(body.qd_start, body.qd_start + body.freedoms):
            for i in range(6):
                out[j] += rates[j].s[i] * wrench[i]
        shift_wrench(composites[body.parent], body, wrench)
        k = body.parent


@kernel
def free_accelerations(
    composites: Records,
    rates: Records,
    loads: Records,
    springs: Records,
    power: Array,
    q: Array,
    qd: Array,
    tau: Array,
    out: Array,
) -> bool:
    """Fill ``out`` (nv,) with the joint accelerations of a tree; return True if every rate moves mass.

    ``q`` (nq,), ``qd`` (nv,), ``tau`` (nv,), the forces of drives; :func:`gather` adds to ``power`` (3,), W.
    """
    move(composites, rates, q, qd)
    regular = factor_without_roots(composites, rates)
    gather(composites, rates, loads, springs, q, qd, power)
    for j in range(len(out)):
        rates[j].tau += tau[j]
    inward(composites, rates, True)
    outward(composites, rates, True)
    for j in range(len(out)):
        out[j] = rates[j].qdd
    return regular


@kernel
def required_forces(
    composites: Records,
    rates: Records,
    loads: Records,
    springs: Records,
    power: Array,
    q: Array,
    qd: Array,
    qdd: Array,
    out: Array,
) -> None:
    """Fill ``out`` (nv,) with the drive forces that accelerate a tree by ``qdd`` (nv,) at ``q`` (nq,), ``qd`` (nv,).

    :func:`gather` adds to ``power`` (3,), W.
    """
    move(composites, rates, q, qd)
    for k in range(1, len(composites)):
        turn_inertia(composites[k])
    gather(composites, rates, loads, springs, q, qd, power)
    for j in range(len(out)):
        rates[j].qdd = qdd[j]
    inverse_dynamics(composites, rates, out)


# Coordinate increments, with rotations on the group so that quaternions keep unit length.
#
# An increment x has one entry per rate. The pose q ∘ x adds scalar coordinates and applies a rotation θ as
# exp(θ) R. The rate of θ follows from ω = dexp(θ) θ̇.


@kernel
def displace(composites: Records, q: Array, x: Array, out: Array) -> None:
    """Fill ``out`` (nq,), which may be q, with q ∘ x; q (nq,), x (nv,)."""
    for k in range(1, len(composites)):
        body = composites[k]
        straight = body.freedoms - 3 if body.quaternion else body.freedoms
        for m in range(straight):
            out[body.q_start + m] = q[body.q_start + m] + x[body.qd_start + m]
        if body.quaternion:
            _turn(q, body.q_start + straight, x, body.qd_start + straight, out)


@kernel
def _turn(q: Array, at: int, x: Array, by: int, out: Array) -> None:
    """Fill a quaternion xyzw of out (nq,) with exp(θ) times that of q (nq,), with θ from x (nv,), rad."""
    a, b, c = x[by], x[by + 1], x[by + 2]
    angle2 = a * a + b * b + c * c
    angle = sqrt(angle2)
    s = sin(0.5 * angle) / angle if angle > 1e-8 else 0.5 - angle2 / 48.0
    a, b, c, d = s * a, s * b, s * c, cos(0.5 * angle)
    x0, y0, z0, w0 = q[at], q[at + 1], q[at + 2], q[at + 3]
    x1 = d * x0 + a * w0 + b * z0 - c * y0
    y1 = d * y0 + b * w0 + c * x0 - a * z0
    z1 = d * z0 + c * w0 + a * y0 - b * x0
    w1 = d * w0 - a * x0 - b * y0 - c * z0
    n = 1.0 / sqrt(x1 * x1 + y1 * y1 + z1 * z1 + w1 * w1)
    out[at], out[at + 1], out[at + 2], out[at + 3] = x1 * n, y1 * n, z1 * n, w1 * n


@kernel
def increment_rate(composites: Records, x: Array, qd: Array, out: Array) -> None:
    """Fill ``out`` (nv,) with ẋ at increment x (nv,) and rates qd (nv,)."""
    for k in range(1, len(composites)):
        body = composites[k]
        straight = body.freedoms - 3 if body.quaternion else body.freedoms
        for j in range(body.qd_start, body.qd_start + straight):
            out[j] = qd[j]
        if body.quaternion:
            _turn_rate(x, qd, body.qd_start + straight, out)


@kernel
def _turn_rate(x: Array, qd: Array, j: int, out: Array) -> None:
    """Fill θ̇ = ω − ½ θ × ω + c θ × (θ × ω) into out (nv,), with θ from x (nv,) and ω from qd (nv,), rad and rad/s."""
    a, b, c = x[j], x[j + 1], x[j + 2]
    p, q, r = qd[j], qd[j + 1], qd[j + 2]
    angle2 = a * a + b * b + c * c
    if angle2 < 1e-4:
        factor = 1.0 / 12.0 + angle2 / 720.0 + angle2 * angle2 / 30240.0
    else:
        half = 0.5 * sqrt(angle2)
        factor = (1.0 - half * cos(half) / sin(half)) / angle2
    u, v, w = b * r - c * q, c * p - a * r, a * q - b * p
    out[j] = p - 0.5 * u + factor * (b * w - c * v)
    out[j + 1] = q - 0.5 * v + factor * (c * u - a * w)
    out[j + 2] = r - 0.5 * w + factor * (a * v - b * u)
