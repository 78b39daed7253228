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
    """Fill R (3, 3) from a quaternion xyzw of nearly unit length that starts at ``start`` in q (nq,)."""
    x, y, z, w = q[start], q[start + 1], q[start + 2], q[start + 3]
    n = 2.0 / (x * x + y * y + z * z + w * w)
    R[0, 0], R[0, 1], R[0, 2] = 1 - n * (y * y + z * z), n * (x * y - z * w), n * (x * z + y * w)
    R[1, 0], R[1, 1], R[1, 2] = n * (x * y + z * w), 1 - n * (x * x + z * z), n * (y * z - x * w)
    R[2, 0], R[2, 1], R[2, 2] = n * (x * z - y * w), n * (y * z + x * w), 1 - n * (x * x + y * y)


@kernel
def relative_pose(body: Records, q: Array, R_PS: Array, d: Array) -> None:
    """Fill orientation R_PS (3, 3) and displacement d (3,) in P, m, of a joint of several freedoms; q (nq,)."""
    turn = np.empty((3, 3))
    d[:] = 0.0
    turn_matrix(0, 0.0, R_PS)
    travels = body.freedoms - 3 if body.quaternion else body.freedoms
    for m in range(travels):
        component, value = body.component[m], q[body.q_start + m]
        if component < 3:
            d[component] += value
        else:
            turn_matrix(component - 3, value, turn)
            _turn_further(R_PS, turn)
    if body.quaternion:
        rotation_of_quaternion(q, body.q_start + travels, R_PS)


@kernel
def _turn_further(R: Array, turn: Array) -> None:
    """Replace R (3, 3) by R times another turn (3, 3)."""
    for i in range(3):
        a, b, c = R[i, 0], R[i, 1], R[i, 2]
        for j in range(3):
            R[i, j] = a * turn[0, j] + b * turn[1, j] + c * turn[2, j]


@kernel
def several_pose(composites: Records, k: int, q: Array) -> None:
    """Fill the frame of composite body k at q (nq,), whose R and joint hold the inner joint frame."""
    body = composites[k]
    R_PS, R_in, d = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    relative_pose(body, q, R_PS, d)
    for i in range(3):
        for j in range(3):
            R_in[i, j] = body.R[i, j]
            if body.sign < 0 and j > i:
                R_PS[i, j], R_PS[j, i] = R_PS[j, i], R_PS[i, j]
    _turn_further(body.R, R_PS)
    for i in range(3):
        if body.sign > 0:
            body.joint[i] += R_in[i, 0] * d[0] + R_in[i, 1] * d[1] + R_in[i, 2] * d[2]
            body.p[i] = body.joint[i]
        else:
            # travels are along axes of P, the outer frame here
            body.p[i] = body.joint[i] - body.R[i, 0] * d[0] - body.R[i, 1] * d[1] - body.R[i, 2] * d[2]
    for i in range(3):
        body.c[i] = (
            body.p[i] + body.R[i, 0] * body.com[0] + body.R[i, 1] * body.com[1] + body.R[i, 2] * body.com[2]
        )


@kernel
def _outer(body: Records, m: int) -> bool:
    """Whether freedom m has its axis fixed in the composite body (else in its parent)."""
    return bool((body.sign < 0) != (body.carried and m == 1))


@kernel
def several_axes(composites: Records, rates: Records, k: int) -> None:
    """Fill directions e and twists s of the freedoms of composite body k."""
    body = composites[k]
    on = composites[body.parent]
    arm = minus((body.c[0], body.c[1], body.c[2]), (body.joint[0], body.joint[1], body.joint[2]))
    for m in range(body.freedoms):
        j, axis = body.qd_start + m, body.component[m] % 3
        joint_rate = rates[j]
        for i in range(3):
            if _outer(body, m):
                joint_rate.e[i] = body.sign * body.R[i, axis]
            else:
                along = on.R[i, 0] * body.R_in[0, axis] + on.R[i, 1] * body.R_in[1, axis]
                joint_rate.e[i] = body.sign * (along + on.R[i, 2] * body.R_in[2, axis])
        turns = body.component[m] >= 3
        e = (joint_rate.e[0], joint_rate.e[1], joint_rate.e[2])
        lin = cross(e, arm) if turns else e
        for i in range(3):
            joint_rate.s[i] = lin[i]
            joint_rate.s[3 + i] = e[i] if turns else 0.0


@kernel
def several_bias(composites: Records, rates: Records, k: int, qd: Array) -> None:
    """Add to the bias of composite body k what comes from axes and arms that turn; qd (nv,)."""
    body = composites[k]
    on = composites[body.parent]
    arm = minus((body.c[0], body.c[1], body.c[2]), (body.joint[0], body.joint[1], body.joint[2]))
    w, w_in = (body.v[3], body.v[4], body.v[5]), (on.v[3], on.v[4], on.v[5])
    arm_dot = _arm_rate(body, on, arm, w, w_in)
    for m in range(body.freedoms):
        joint_rate, rate = rates[body.qd_start + m], qd[body.qd_start + m]
        e = (joint_rate.e[0], joint_rate.e[1], joint_rate.e[2])
        # the freedoms before a carried axis turn it too, the axis itself does not
        e_dot = cross(w if _outer(body, m) else w_in, e)
        if body.component[m] < 3:
            for i in range(3):
                body.bias[i] += rate * e_dot[i]
            continue
        lin = plus(cross(e_dot, arm), cross(e, arm_dot))
        for i in range(3):
            body.bias[i] += rate * lin[i]
            body.bias[3 + i] += rate * e_dot[i]


@kernel
def _arm_rate(
    body: Records,
    on: Records,
    arm: tuple[float, float, float],
    w: tuple[float, float, float],
    w_in: tuple[float, float, float],
) -> tuple[float, float, float]:
    """Return the rate of the arm from the joint point to the centre of mass."""
    if body.sign > 0:
        # the joint point is fixed in the composite body
        return cross(w, arm)
    lever = minus((body.joint[0], body.joint[1], body.joint[2]), (on.c[0], on.c[1], on.c[2]))
    point = plus((on.v[0], on.v[1], on.v[2]), cross(w_in, lever))
    return minus((body.v[0], body.v[1], body.v[2]), point)
