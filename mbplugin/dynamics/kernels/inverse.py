"""The other way round: forces from accelerations, the mass matrix, and the energies."""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.articulated import accelerate, pass_wrench, project_wrench
from mbplugin.dynamics.kernels.forces import point_position
from mbplugin.dynamics.kernels.vectors import dot, minus
from mbplugin.model.spatial import Array


@kernel
def inverse_dynamics(composites: Records, rates: Records, out: Array) -> None:
    """Fill ``out`` (nv,) with M q̈ + h − Q at the accelerations ``qdd``; ``f`` is used up.

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
    # inner rates know nothing yet of the rates that they carry
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

    At q (nq,) and qd (nv,). Gravity has none at the origin of the world.
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
