"""Joints of several freedoms: universal, cylindrical, planar, spherical and the like.

Their axes are those of the predecessor's frame P, except that the successor carries the second cross axis
of a universal joint. P is the inner frame, or the outer one where the tree runs against the pair.
"""

from __future__ import annotations

from math import cos, sin

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.vectors import cross, minus, plus
from mbplugin.model.spatial import Array


@kernel
def turn_by_quaternion(q: Array, start: int, sign: float, R: Array) -> None:
    """Turn R (3, 3) further by a quaternion xyzw, or back.

    Parameters
    ----------
    q : (nq,) array
        With the quaternion, of nearly unit length, from ``start`` on.
    start : int
    sign : float
        −1 for back.
    R : (3, 3) array
    """
    x, y, z, w = q[start], q[start + 1], q[start + 2], sign * q[start + 3]
    n = 2.0 / (x * x + y * y + z * z + w * w)
    for i in range(3):
        a, b, c = R[i, 0], R[i, 1], R[i, 2]
        R[i, 0] = a * (1 - n * (y * y + z * z)) + b * n * (x * y + z * w) + c * n * (x * z - y * w)
        R[i, 1] = a * n * (x * y - z * w) + b * (1 - n * (x * x + z * z)) + c * n * (y * z + x * w)
        R[i, 2] = a * n * (x * z + y * w) + b * n * (y * z - x * w) + c * (1 - n * (x * x + y * y))


@kernel
def _turn_about(axis: int, angle: float, R: Array) -> None:
    """Turn R (3, 3) further about one of its own axes, rad."""
    j, k, c, s = (axis + 1) % 3, (axis + 2) % 3, cos(angle), sin(angle)
    for i in range(3):
        a, b = R[i, j], R[i, k]
        R[i, j], R[i, k] = c * a + s * b, c * b - s * a


@kernel
def _turns(body: Records, q: Array) -> None:
    """Turn R of a composite body, the inner joint frame, by the turns of its joint at q (nq,): then it is its own."""
    turns = body.freedoms - 3 if body.quaternion else body.freedoms
    for n in range(turns):
        # against the pair they come backwards, last one first
        m = n if body.sign > 0 else turns - 1 - n
        if body.component[m] >= 3:
            _turn_about(body.component[m] - 3, body.sign * q[body.q_start + m], body.R)
    if body.quaternion:
        turn_by_quaternion(q, body.q_start + turns, body.sign, body.R)


@kernel
def _travels(body: Records, q: Array, out: Array) -> None:
    """Move out (3,) by the travels of a joint at q (nq,), m: along axes of P, whose orientation is R by now."""
    for m in range(body.freedoms - 3 if body.quaternion else body.freedoms):
        axis = body.component[m]
        if axis < 3:
            for i in range(3):
                out[i] += body.sign * body.R[i, axis] * q[body.q_start + m]


@kernel
def several_pose(composites: Records, k: int, q: Array) -> None:
    """Fill the frame of composite body k at q (nq,), whose R and joint hold the inner joint frame."""
    body = composites[k]
    if body.sign > 0:
        _travels(body, q, body.joint)
    _turns(body, q)
    for i in range(3):
        body.p[i] = body.joint[i]
    if body.sign < 0:
        _travels(body, q, body.p)
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
