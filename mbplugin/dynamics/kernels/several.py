"""Joints of several freedoms: universal, cylindrical, planar, spherical and the like.

Their axes are those of the predecessor's frame P, except that the successor carries the second cross axis
of a universal joint. P is the inner frame, or the outer one where the tree runs against the pair.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.vectors import cross, minus, plus
from mbplugin.model.spatial import Array


@kernel
def turn_matrix(axis: int, angle: float, R: Array) -> None:
    """Fill R (3, 3) with the turn about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    c, s = cos(angle), sin(angle)
    R[:] = 0.0
    R[axis, axis] = 1.0
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s


@kernel
def rotation_of_quaternion(q: Array, start: int, R: Array) -> None:
    """Fill R (3, 3) from a quaternion xyzw of nearly unit length at ``q[start]``."""
    x, y, z, w = q[start], q[start + 1], q[start + 2], q[start + 3]
    n = 2.0 / (x * x + y * y + z * z + w * w)
    R[0, 0], R[0, 1], R[0, 2] = 1 - n * (y * y + z * z), n * (x * y - z * w), n * (x * z + y * w)
    R[1, 0], R[1, 1], R[1, 2] = n * (x * y + z * w), 1 - n * (x * x + z * z), n * (y * z - x * w)
    R[2, 0], R[2, 1], R[2, 2] = n * (x * z - y * w), n * (y * z + x * w), 1 - n * (x * x + y * y)


@kernel
def relative_pose(me: Records, q: Array, R_PS: Array, d: Array) -> None:
    """Fill orientation and displacement (in P) of a joint of several freedoms."""
    turn = np.empty((3, 3))
    d[:] = 0.0
    turn_matrix(0, 0.0, R_PS)
    travels = me.freedoms - 3 if me.quaternion else me.freedoms
    for m in range(travels):
        component, value = me.component[m], q[me.q_start + m]
        if component < 3:
            d[component] += value
        else:
            turn_matrix(component - 3, value, turn)
            _turn_further(R_PS, turn)
    if me.quaternion:
        rotation_of_quaternion(q, me.q_start + travels, R_PS)


@kernel
def _turn_further(R: Array, turn: Array) -> None:
    """Replace R (3, 3) by R times another turn."""
    for i in range(3):
        a, b, c = R[i, 0], R[i, 1], R[i, 2]
        for j in range(3):
            R[i, j] = a * turn[0, j] + b * turn[1, j] + c * turn[2, j]


@kernel
def several_pose(solids: Records, k: int, q: Array) -> None:
    """Fill the frame of solid k, whose R and joint hold the inner joint frame."""
    me = solids[k]
    R_PS, R_in, d = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    relative_pose(me, q, R_PS, d)
    for i in range(3):
        for j in range(3):
            R_in[i, j] = me.R[i, j]
            if me.sign < 0 and j > i:
                R_PS[i, j], R_PS[j, i] = R_PS[j, i], R_PS[i, j]
    _turn_further(me.R, R_PS)
    for i in range(3):
        if me.sign > 0:
            me.joint[i] += R_in[i, 0] * d[0] + R_in[i, 1] * d[1] + R_in[i, 2] * d[2]
            me.p[i] = me.joint[i]
        else:
            # travels are along axes of P, the outer frame here
            me.p[i] = me.joint[i] - me.R[i, 0] * d[0] - me.R[i, 1] * d[1] - me.R[i, 2] * d[2]
    for i in range(3):
        me.c[i] = me.p[i] + me.R[i, 0] * me.com[0] + me.R[i, 1] * me.com[1] + me.R[i, 2] * me.com[2]


@kernel
def _outer(me: Records, m: int) -> bool:
    """Whether freedom m has its axis fixed in the solid (else in its parent)."""
    return bool((me.sign < 0) != (me.carried and m == 1))


@kernel
def several_axes(solids: Records, rates: Records, k: int) -> None:
    """Fill directions e and twists s of the freedoms of solid k."""
    me = solids[k]
    on = solids[me.parent]
    arm = minus((me.c[0], me.c[1], me.c[2]), (me.joint[0], me.joint[1], me.joint[2]))
    for m in range(me.freedoms):
        j, axis = me.qd_start + m, me.component[m] % 3
        one = rates[j]
        for i in range(3):
            if _outer(me, m):
                one.e[i] = me.sign * me.R[i, axis]
            else:
                along = on.R[i, 0] * me.R_in[0, axis] + on.R[i, 1] * me.R_in[1, axis]
                one.e[i] = me.sign * (along + on.R[i, 2] * me.R_in[2, axis])
        turns = me.component[m] >= 3
        e = (one.e[0], one.e[1], one.e[2])
        lin = cross(e, arm) if turns else e
        for i in range(3):
            one.s[i] = lin[i]
            one.s[3 + i] = e[i] if turns else 0.0


@kernel
def several_bias(solids: Records, rates: Records, k: int, qd: Array) -> None:
    """Add to the bias of solid k what comes from axes and arms that turn."""
    me = solids[k]
    on = solids[me.parent]
    arm = minus((me.c[0], me.c[1], me.c[2]), (me.joint[0], me.joint[1], me.joint[2]))
    w, w_in = (me.v[3], me.v[4], me.v[5]), (on.v[3], on.v[4], on.v[5])
    arm_dot = _arm_rate(me, on, arm, w, w_in)
    for m in range(me.freedoms):
        one, rate = rates[me.qd_start + m], qd[me.qd_start + m]
        e = (one.e[0], one.e[1], one.e[2])
        # the freedoms before a carried axis turn it too, the axis itself does not
        e_dot = cross(w if _outer(me, m) else w_in, e)
        if me.component[m] < 3:
            for i in range(3):
                me.bias[i] += rate * e_dot[i]
            continue
        lin = plus(cross(e_dot, arm), cross(e, arm_dot))
        for i in range(3):
            me.bias[i] += rate * lin[i]
            me.bias[3 + i] += rate * e_dot[i]


@kernel
def _arm_rate(
    me: Records,
    on: Records,
    arm: tuple[float, float, float],
    w: tuple[float, float, float],
    w_in: tuple[float, float, float],
) -> tuple[float, float, float]:
    """Return the rate of the arm from the joint point to the centre of mass."""
    if me.sign > 0:
        # the joint point is fixed in the solid
        return cross(w, arm)
    lever = minus((me.joint[0], me.joint[1], me.joint[2]), (on.c[0], on.c[1], on.c[2]))
    point = plus((on.v[0], on.v[1], on.v[2]), cross(w_in, lever))
    return minus((me.v[0], me.v[1], me.v[2]), point)
