"""Rows of a knife edge or a rolling wheel at a state (wojtyra2013 (30), (31))."""

from __future__ import annotations

from math import sqrt

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.forces import point_position, point_velocity
from mbplugin.dynamics.kernels.rows import KNIFE, NORMAL, ROLL
from mbplugin.dynamics.kernels.vectors import Vector, cross, dot, minus, plus
from mbplugin.model.spatial import Array


@kernel
def touch_ground(body: Records, row: Records) -> None:
    """Fill entry, Γ and Φ of a row between a composite body and the ground."""
    if row.kind == KNIFE:
        _knife_edge(body, row)
    else:
        _rolling(body, row)


@kernel
def _knife_edge(body: Records, row: Records) -> None:
    w = (body.v[3], body.v[4], body.v[5])
    e = _turned(body, row.vectors[1])
    p = point_position(body, row.vectors[0])
    arm = minus(p, (body.c[0], body.c[1], body.c[2]))
    row.gamma = -dot(cross(w, e), point_velocity(body, p)) - dot(e, cross(w, cross(w, arm)))
    row.phi = 0.0
    _enter(body, row, e, arm)


@kernel
def _rolling(body: Records, row: Records) -> None:
    """The lowest point of the wheel's circle; it slides along the rim as the wheel rolls."""
    w = (body.v[3], body.v[4], body.v[5])
    n = (row.vectors[2, 0], row.vectors[2, 1], row.vectors[2, 2])
    axis = _turned(body, row.vectors[1])
    axis_dot = cross(w, axis)
    center = point_position(body, row.vectors[0])
    along, along_dot = dot(n, axis), dot(n, axis_dot)
    fall = (along * axis[0] - n[0], along * axis[1] - n[1], along * axis[2] - n[2])
    fall_dot = (
        along_dot * axis[0] + along * axis_dot[0],
        along_dot * axis[1] + along * axis_dot[1],
        along_dot * axis[2] + along * axis_dot[2],
    )
    down, down_dot = _unit(fall, fall_dot)
    roll, roll_dot = _unit(cross(axis, n), cross(axis_dot, n))
    r = row.radius
    contact = plus(center, (r * down[0], r * down[1], r * down[2]))
    rho_dot = (r * down_dot[0], r * down_dot[1], r * down_dot[2])
    e, e_dot = cross(n, roll), cross(n, roll_dot)
    if row.kind == NORMAL:
        e, e_dot = n, (0.0, 0.0, 0.0)
    elif row.kind == ROLL:
        e, e_dot = roll, roll_dot
    bias = cross(w, plus(cross(w, minus(center, (body.c[0], body.c[1], body.c[2]))), rho_dot))
    row.gamma = -dot(e_dot, point_velocity(body, contact)) - dot(e, bias)
    plane = (row.vectors[3, 0], row.vectors[3, 1], row.vectors[3, 2])
    row.phi = dot(n, minus(contact, plane)) if row.kind == NORMAL else 0.0
    _enter(body, row, e, minus(contact, (body.c[0], body.c[1], body.c[2])))


@kernel
def _unit(a: Vector, a_dot: Vector) -> tuple[Vector, Vector]:
    """Return a vector made unit, and the derivative of that."""
    s = 1.0 / sqrt(dot(a, a))
    u = (a[0] * s, a[1] * s, a[2] * s)
    along = dot(u, a_dot)
    return u, (s * (a_dot[0] - u[0] * along), s * (a_dot[1] - u[1] * along), s * (a_dot[2] - u[2] * along))


@kernel
def _turned(body: Records, a: Array) -> Vector:
    """Return a vector (3,) of a composite body, ``a`` (3,) in its frame, along the world's axes."""
    return (
        body.R[0, 0] * a[0] + body.R[0, 1] * a[1] + body.R[0, 2] * a[2],
        body.R[1, 0] * a[0] + body.R[1, 1] * a[1] + body.R[1, 2] * a[2],
        body.R[2, 0] * a[0] + body.R[2, 1] * a[1] + body.R[2, 2] * a[2],
    )


@kernel
def _enter(body: Records, row: Records, e: Vector, arm: Vector) -> None:
    moment = cross(arm, e)
    for i in range(3):
        row.on_a[i], row.on_a[3 + i] = 0.0, 0.0
        row.on_b[i], row.on_b[3 + i] = e[i], moment[i]
