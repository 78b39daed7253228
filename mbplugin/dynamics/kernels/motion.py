"""Poses, twists and velocity-dependent accelerations of all solids, outwards along the tree."""

from __future__ import annotations

from math import cos, sin

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.several import rotation_of_quaternion, several_axes, several_bias, several_pose
from mbplugin.dynamics.kernels.tree import FREE, TRAVEL, TURN
from mbplugin.model.spatial import Array


@kernel
def move(solids: Records, rates: Records, q: Array, qd: Array) -> None:
    """Fill poses, axes ``s``, twists and bias accelerations at a state.

    The acceleration of a solid is  a = X a_parent + s q̈ + bias  with X the shift of reference point.
    """
    for k in range(1, len(solids)):
        me = solids[k]
        branch = me.branch
        if branch == FREE:
            _free(solids, rates, k, q, qd)
            continue
        _inner_frame(solids, k)
        if branch == TURN:
            _turn(solids, k, q[me.q_start])
            _turn_axes(solids, rates, k, qd[me.qd_start])
        elif branch == TRAVEL:
            _travel(solids, k, q[me.q_start])
            _travel_axes(solids, rates, k, qd[me.qd_start])
        else:
            several_pose(solids, k, q)
            several_axes(solids, rates, k)
            _several_rates(solids, rates, k, qd)


@kernel
def _inner_frame(solids: Records, k: int) -> None:
    """Put the joint's inner frame into R[k] and joint[k]."""
    me = solids[k]
    on = solids[me.parent]
    for i in range(3):
        a, b, c = on.R[i, 0], on.R[i, 1], on.R[i, 2]
        me.joint[i] = on.p[i] + a * me.p_in[0] + b * me.p_in[1] + c * me.p_in[2]
        for j in range(3):
            me.R[i, j] = a * me.R_in[0, j] + b * me.R_in[1, j] + c * me.R_in[2, j]


@kernel
def _place_center(solids: Records, k: int) -> None:
    me = solids[k]
    x, y, z = me.com[0], me.com[1], me.com[2]
    for i in range(3):
        me.c[i] = me.p[i] + me.R[i, 0] * x + me.R[i, 1] * y + me.R[i, 2] * z


@kernel
def _turn(solids: Records, k: int, angle: float) -> None:
    me = solids[k]
    angle *= me.sign
    c, s = cos(angle), sin(angle)
    rise = me.pitch * angle
    for i in range(3):
        x, y = me.R[i, 0], me.R[i, 1]
        me.R[i, 0] = c * x + s * y
        me.R[i, 1] = c * y - s * x
        me.p[i] = me.joint[i] + rise * me.R[i, 2]
    _place_center(solids, k)


@kernel
def _carry(solids: Records, k: int) -> None:
    """Start a solid's twist with what its parent gives it."""
    me = solids[k]
    on = solids[me.parent]
    rx, ry, rz = (
        me.c[0] - on.c[0],
        me.c[1] - on.c[1],
        me.c[2] - on.c[2],
    )
    wx, wy, wz = on.v[3], on.v[4], on.v[5]
    me.v[0] = on.v[0] + wy * rz - wz * ry
    me.v[1] = on.v[1] + wz * rx - wx * rz
    me.v[2] = on.v[2] + wx * ry - wy * rx
    me.v[3], me.v[4], me.v[5] = wx, wy, wz


@kernel
def _carried_bias(solids: Records, k: int) -> None:
    """Start a solid's bias with ω_parent × (v − v_parent)."""
    me = solids[k]
    on = solids[me.parent]
    wx, wy, wz = on.v[3], on.v[4], on.v[5]
    dx, dy, dz = (
        me.v[0] - on.v[0],
        me.v[1] - on.v[1],
        me.v[2] - on.v[2],
    )
    me.bias[0] = wy * dz - wz * dy
    me.bias[1] = wz * dx - wx * dz
    me.bias[2] = wx * dy - wy * dx
    me.bias[3], me.bias[4], me.bias[5] = 0.0, 0.0, 0.0


@kernel
def _turn_axes(solids: Records, rates: Records, k: int, rate: float) -> None:
    """Axis of a revolute or screw joint: fixed in both bodies, through the joint point."""
    me = solids[k]
    j = me.qd_start
    sign, pitch = me.sign, me.pitch
    ex, ey, ez = sign * me.R[0, 2], sign * me.R[1, 2], sign * me.R[2, 2]
    ax, ay, az = (
        me.c[0] - me.p[0],
        me.c[1] - me.p[1],
        me.c[2] - me.p[2],
    )
    sx, sy, sz = (
        ey * az - ez * ay + pitch * ex,
        ez * ax - ex * az + pitch * ey,
        ex * ay - ey * ax + pitch * ez,
    )
    rates[j].s[0], rates[j].s[1], rates[j].s[2] = sx, sy, sz
    rates[j].s[3], rates[j].s[4], rates[j].s[5] = ex, ey, ez
    _carry(solids, k)
    for i in range(6):
        me.v[i] += rates[j].s[i] * rate
    _carried_bias(solids, k)
    # of an axis and arm that turn with the body: ω × s, the part of the turn itself included
    wx, wy, wz = me.v[3], me.v[4], me.v[5]
    me.bias[0] += rate * (wy * sz - wz * sy)
    me.bias[1] += rate * (wz * sx - wx * sz)
    me.bias[2] += rate * (wx * sy - wy * sx)
    me.bias[3] += rate * (wy * ez - wz * ey)
    me.bias[4] += rate * (wz * ex - wx * ez)
    me.bias[5] += rate * (wx * ey - wy * ex)


@kernel
def _travel(solids: Records, k: int, travel: float) -> None:
    me = solids[k]
    travel *= me.sign
    axis = me.component[0]
    for i in range(3):
        me.p[i] = me.joint[i] + travel * me.R[i, axis]
    _place_center(solids, k)


@kernel
def _travel_axes(solids: Records, rates: Records, k: int, rate: float) -> None:
    me = solids[k]
    j, axis, sign = me.qd_start, me.component[0], me.sign
    ex, ey, ez = sign * me.R[0, axis], sign * me.R[1, axis], sign * me.R[2, axis]
    rates[j].s[0], rates[j].s[1], rates[j].s[2] = ex, ey, ez
    rates[j].s[3], rates[j].s[4], rates[j].s[5] = 0.0, 0.0, 0.0
    _carry(solids, k)
    me.v[0] += ex * rate
    me.v[1] += ey * rate
    me.v[2] += ez * rate
    _carried_bias(solids, k)
    wx, wy, wz = me.v[3], me.v[4], me.v[5]
    me.bias[0] += rate * (wy * ez - wz * ey)
    me.bias[1] += rate * (wz * ex - wx * ez)
    me.bias[2] += rate * (wx * ey - wy * ex)


@kernel
def _free(solids: Records, rates: Records, k: int, q: Array, qd: Array) -> None:
    """A free root: position of its link's centre of mass and quaternion; twist at that point."""
    me = solids[k]
    start, j = me.q_start, me.qd_start
    rotation_of_quaternion(q, start + 3, me.R)
    x, y, z = me.rate_point[0], me.rate_point[1], me.rate_point[2]
    for i in range(3):
        me.joint[i] = q[start + i]
        me.p[i] = q[start + i] - me.R[i, 0] * x - me.R[i, 1] * y - me.R[i, 2] * z
    _place_center(solids, k)
    arm = np.empty(3)
    for i in range(3):
        arm[i] = me.c[i] - me.joint[i]
    for i in range(6):
        for m in range(6):
            rates[j + i].s[m] = 1.0 if i == m else 0.0
        me.bias[i] = 0.0
    # e × arm for the three axes
    rates[j + 3].s[1], rates[j + 3].s[2] = -arm[2], arm[1]
    rates[j + 4].s[0], rates[j + 4].s[2] = arm[2], -arm[0]
    rates[j + 5].s[0], rates[j + 5].s[1] = -arm[1], arm[0]
    wx, wy, wz = qd[j + 3], qd[j + 4], qd[j + 5]
    ux, uy, uz = wy * arm[2] - wz * arm[1], wz * arm[0] - wx * arm[2], wx * arm[1] - wy * arm[0]
    me.v[0], me.v[1], me.v[2] = qd[j] + ux, qd[j + 1] + uy, qd[j + 2] + uz
    me.v[3], me.v[4], me.v[5] = wx, wy, wz
    me.bias[0] = wy * uz - wz * uy
    me.bias[1] = wz * ux - wx * uz
    me.bias[2] = wx * uy - wy * ux


@kernel
def _several_rates(solids: Records, rates: Records, k: int, qd: Array) -> None:
    me = solids[k]
    _carry(solids, k)
    for j in range(me.qd_start, me.qd_start + me.freedoms):
        for i in range(6):
            me.v[i] += rates[j].s[i] * qd[j]
    _carried_bias(solids, k)
    several_bias(solids, rates, k, qd)
