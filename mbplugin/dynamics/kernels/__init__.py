"""Compiled recursions over the spanning tree, and the flat arrays they work on.

World axes throughout, every body's quantities at its centre of mass, so inertias move to the parent by
a shift of reference point and no rotation. Bodies joined by fixed pairs are one composite body here.

Here is the motion of the bodies along the tree.
"""

from __future__ import annotations

from math import cos, sin

from mbplugin.dynamics.compiler import Records, kernel
from mbplugin.dynamics.kernels.composite_bodies import FREE, TRAVEL, TURN, cross, minus, plus, scaled
from mbplugin.model.spatial import Array


@kernel
def move(composites: Records, rates: Records, q: Array, qd: Array) -> None:
    """Fill poses, axes ``s``, twists and bias accelerations at q (nq,) and qd (nv,).

    The acceleration of a composite body is  a = X a_parent + s q̈ + bias  with X the shift of reference
    point.
    """
    for k in range(1, len(composites)):
        body = composites[k]
        branch = body.branch
        if branch == FREE:
            _free(composites, rates, k, q, qd)
            continue
        if branch == TURN:
            _turn(composites, k, q[body.q_start])
            _turn_axes(composites, rates, k, qd[body.qd_start])
            continue
        _inner_frame(composites, k)
        if branch == TRAVEL:
            _travel(composites, k, q[body.q_start])
            _travel_axes(composites, rates, k, qd[body.qd_start])
        else:
            several_pose(composites, k, q)
            several_axes(composites, rates, k)
            _several_rates(composites, rates, k, qd)


@kernel
def move_single(composites: Records, rates: Records, q: Array, qd: Array) -> None:
    """Do the same as :func:`move` for a tree whose joints have one freedom each, with a third of its code.

    ``q`` (nq,) and ``qd`` (nv,).
    """
    for k in range(1, len(composites)):
        body = composites[k]
        if body.branch == TURN:
            _turn(composites, k, q[body.q_start])
            _turn_axes(composites, rates, k, qd[body.qd_start])
        else:
            _inner_frame(composites, k)
            _travel(composites, k, q[body.q_start])
            _travel_axes(composites, rates, k, qd[body.qd_start])


@kernel
def _inner_frame(composites: Records, k: int) -> None:
    """Put the joint's inner frame into R[k] and joint[k]."""
    body = composites[k]
    on = composites[body.parent]
    for i in range(3):
        a, b, c = on.R[i, 0], on.R[i, 1], on.R[i, 2]
        body.joint[i] = on.p[i] + a * body.p_in[0] + b * body.p_in[1] + c * body.p_in[2]
        for j in range(3):
            body.R[i, j] = a * body.R_in[0, j] + b * body.R_in[1, j] + c * body.R_in[2, j]


@kernel
def _place_center(composites: Records, k: int) -> None:
    body = composites[k]
    x, y, z = body.com[0], body.com[1], body.com[2]
    for i in range(3):
        body.c[i] = body.p[i] + body.R[i, 0] * x + body.R[i, 1] * y + body.R[i, 2] * z


@kernel
def _turn(composites: Records, k: int, angle: float) -> None:
    """Fill frame and centre of mass of a composite body for the angle of its revolute or screw joint, rad."""
    body = composites[k]
    on = composites[body.parent]
    angle *= body.sign
    c, s = cos(angle), sin(angle)
    rise = body.pitch * angle
    X, com = body.R_in, body.com
    for i in range(3):
        d, e, f = on.R[i, 0], on.R[i, 1], on.R[i, 2]
        x, y = d * X[0, 0] + e * X[1, 0] + f * X[2, 0], d * X[0, 1] + e * X[1, 1] + f * X[2, 1]
        z = d * X[0, 2] + e * X[1, 2] + f * X[2, 2]
        x, y = c * x + s * y, c * y - s * x
        joint = on.p[i] + d * body.p_in[0] + e * body.p_in[1] + f * body.p_in[2]
        p = joint + rise * z
        body.R[i, 0], body.R[i, 1], body.R[i, 2] = x, y, z
        body.joint[i], body.p[i] = joint, p
        body.c[i] = p + x * com[0] + y * com[1] + z * com[2]


@kernel
def _carry(composites: Records, k: int) -> None:
    """Initialise a composite body's twist with the contribution of its parent."""
    body = composites[k]
    on = composites[body.parent]
    rx, ry, rz = (
        body.c[0] - on.c[0],
        body.c[1] - on.c[1],
        body.c[2] - on.c[2],
    )
    wx, wy, wz = on.v[3], on.v[4], on.v[5]
    body.v[0] = on.v[0] + wy * rz - wz * ry
    body.v[1] = on.v[1] + wz * rx - wx * rz
    body.v[2] = on.v[2] + wx * ry - wy * rx
    body.v[3], body.v[4], body.v[5] = wx, wy, wz


@kernel
def _carried_bias(composites: Records, k: int) -> None:
    """Initialise a composite body's bias with ω_parent × (v − v_parent)."""
    body = composites[k]
    on = composites[body.parent]
    wx, wy, wz = on.v[3], on.v[4], on.v[5]
    dx, dy, dz = (
        body.v[0] - on.v[0],
        body.v[1] - on.v[1],
        body.v[2] - on.v[2],
    )
    body.bias[0] = wy * dz - wz * dy
    body.bias[1] = wz * dx - wx * dz
    body.bias[2] = wx * dy - wy * dx
    body.bias[3], body.bias[4], body.bias[5] = 0.0, 0.0, 0.0


@kernel
def _turn_axes(composites: Records, rates: Records, k: int, rate: float) -> None:
    """Fill axis, twist and bias of a revolute or screw joint, whose axis is fixed in both bodies."""
    body, joint_rate = composites[k], rates[composites[k].qd_start]
    on = composites[body.parent]
    # local copies, because the compiler must assume that the records alias
    sign, pitch = body.sign, body.pitch
    e = (sign * body.R[0, 2], sign * body.R[1, 2], sign * body.R[2, 2])
    c, v_in, w_in = (
        (body.c[0], body.c[1], body.c[2]),
        (on.v[0], on.v[1], on.v[2]),
        (on.v[3], on.v[4], on.v[5]),
    )
    s = plus(cross(e, minus(c, (body.p[0], body.p[1], body.p[2]))), scaled(pitch, e))
    # the twist relative to that of the parent's centre of mass
    v = plus(cross(w_in, minus(c, (on.c[0], on.c[1], on.c[2]))), scaled(rate, s))
    w = plus(w_in, scaled(rate, e))
    # axis and arm turn with the body: ω × s, including the joint's own rotation
    lin, ang = plus(cross(w_in, v), scaled(rate, cross(w, s))), scaled(rate, cross(w, e))
    v = plus(v_in, v)
    joint_rate.s[0], joint_rate.s[1], joint_rate.s[2] = s
    joint_rate.s[3], joint_rate.s[4], joint_rate.s[5] = e
    body.v[0], body.v[1], body.v[2] = v
    body.v[3], body.v[4], body.v[5] = w
    body.bias[0], body.bias[1], body.bias[2] = lin
    body.bias[3], body.bias[4], body.bias[5] = ang


@kernel
def _travel(composites: Records, k: int, travel: float) -> None:
    body = composites[k]
    travel *= body.sign
    axis = body.component[0]
    for i in range(3):
        body.p[i] = body.joint[i] + travel * body.R[i, axis]
    _place_center(composites, k)


@kernel
def _travel_axes(composites: Records, rates: Records, k: int, rate: float) -> None:
    body = composites[k]
    j, axis, sign = body.qd_start, body.component[0], body.sign
    ex, ey, ez = sign * body.R[0, axis], sign * body.R[1, axis], sign * body.R[2, axis]
    rates[j].s[0], rates[j].s[1], rates[j].s[2] = ex, ey, ez
    rates[j].s[3], rates[j].s[4], rates[j].s[5] = 0.0, 0.0, 0.0
    _carry(composites, k)
    body.v[0] += ex * rate
    body.v[1] += ey * rate
    body.v[2] += ez * rate
    _carried_bias(composites, k)
    wx, wy, wz = body.v[3], body.v[4], body.v[5]
    body.bias[0] += rate * (wy * ez - wz * ey)
    body.bias[1] += rate * (wz * ex - wx * ez)
    body.bias[2] += rate * (wx * ey - wy * ex)


@kernel
def _free(composites: Records, rates: Records, k: int, q: Array, qd: Array) -> None:
    """Fill the state of a free root: q (nq,) has the link's centre of mass and quaternion, qd (nv,) the twist there."""
    body = composites[k]
    start, j = body.q_start, body.qd_start
    for i in range(3):
        for m in range(3):
            body.R[i, m] = 1.0 if i == m else 0.0
    turn_by_quaternion(q, start + 3, 1.0, body.R)
    x, y, z = body.rate_point[0], body.rate_point[1], body.rate_point[2]
    for i in range(3):
        body.joint[i] = q[start + i]
        body.p[i] = q[start + i] - body.R[i, 0] * x - body.R[i, 1] * y - body.R[i, 2] * z
    _place_center(composites, k)
    arm = minus((body.c[0], body.c[1], body.c[2]), (body.joint[0], body.joint[1], body.joint[2]))
    for i in range(6):
        for m in range(6):
            rates[j + i].s[m] = 1.0 if i == m else 0.0
        body.bias[i] = 0.0
    # e × arm for the three axes
    rates[j + 3].s[1], rates[j + 3].s[2] = -arm[2], arm[1]
    rates[j + 4].s[0], rates[j + 4].s[2] = arm[2], -arm[0]
    rates[j + 5].s[0], rates[j + 5].s[1] = -arm[1], arm[0]
    wx, wy, wz = qd[j + 3], qd[j + 4], qd[j + 5]
    ux, uy, uz = wy * arm[2] - wz * arm[1], wz * arm[0] - wx * arm[2], wx * arm[1] - wy * arm[0]
    body.v[0], body.v[1], body.v[2] = qd[j] + ux, qd[j + 1] + uy, qd[j + 2] + uz
    body.v[3], body.v[4], body.v[5] = wx, wy, wz
    body.bias[0] = wy * uz - wz * uy
    body.bias[1] = wz * ux - wx * uz
    body.bias[2] = wx * uy - wy * ux


@kernel
def _several_rates(composites: Records, rates: Records, k: int, qd: Array) -> None:
    """Fill twist and bias of a composite body with several freedoms at qd (nv,)."""
    body = composites[k]
    _carry(composites, k)
    for j in range(body.qd_start, body.qd_start + body.freedoms):
        for i in range(6):
            body.v[i] += rates[j].s[i] * qd[j]
    _carried_bias(composites, k)
    several_bias(composites, rates, k, qd)


# Joints of several freedoms: universal, cylindrical, planar, spherical and the like.
#
# Their axes are those of the predecessor's frame P, except that the second cross axis of a universal joint is
# fixed in the successor. P is the inner frame, or the outer one if the tree traverses the pair in reverse.


@kernel
def turn_by_quaternion(q: Array, start: int, sign: float, R: Array) -> None:
    """Rotate R (3, 3) by a quaternion xyzw or its inverse, in local axes.

    Parameters
    ----------
    q : (nq,) array
        Coordinates, with a quaternion of nearly unit length at ``start``.
    start : int
    sign : float
        −1 for the inverse.
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
    """Rotate R (3, 3) about one of its local axes, rad."""
    j, k, c, s = (axis + 1) % 3, (axis + 2) % 3, cos(angle), sin(angle)
    for i in range(3):
        a, b = R[i, j], R[i, k]
        R[i, j], R[i, k] = c * a + s * b, c * b - s * a


@kernel
def _turns(body: Records, q: Array) -> None:
    """Rotate R of a composite body from the inner joint frame to its own frame, by its joint's rotations at q (nq,)."""
    turns = body.freedoms - 3 if body.quaternion else body.freedoms
    for n in range(turns):
        # for a reversed pair the rotations are applied in reverse order
        m = n if body.sign > 0 else turns - 1 - n
        if body.component[m] >= 3:
            _turn_about(body.component[m] - 3, body.sign * q[body.q_start + m], body.R)
    if body.quaternion:
        turn_by_quaternion(q, body.q_start + turns, body.sign, body.R)


@kernel
def _travels(body: Records, q: Array, out: Array) -> None:
    """Shift out (3,) by the travels of a joint at q (nq,), m, along axes of P, whose orientation is R at this point."""
    for m in range(body.freedoms - 3 if body.quaternion else body.freedoms):
        axis = body.component[m]
        if axis < 3:
            for i in range(3):
                out[i] += body.sign * body.R[i, axis] * q[body.q_start + m]


@kernel
def several_pose(composites: Records, k: int, q: Array) -> None:
    """Fill the frame of composite body k at q (nq,); its R and ``joint`` must hold the inner joint frame."""
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
    """Return True if the axis of freedom m is fixed in the composite body (else in its parent)."""
    return bool((body.sign < 0) != (body.carried and m == 1))


@kernel
def several_axes(composites: Records, rates: Records, k: int) -> None:
    """Fill the directions e and twists s of the freedoms of composite body k."""
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
    """Add the bias of composite body k due to rotating axes and arms; qd (nv,)."""
    body = composites[k]
    on = composites[body.parent]
    arm = minus((body.c[0], body.c[1], body.c[2]), (body.joint[0], body.joint[1], body.joint[2]))
    w, w_in = (body.v[3], body.v[4], body.v[5]), (on.v[3], on.v[4], on.v[5])
    arm_dot = _arm_rate(body, on, arm, w, w_in)
    for m in range(body.freedoms):
        joint_rate, rate = rates[body.qd_start + m], qd[body.qd_start + m]
        e = (joint_rate.e[0], joint_rate.e[1], joint_rate.e[2])
        # a carried axis is also turned by the freedoms before it, but not by its own
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
    """Return the time derivative of the arm from the joint point to the centre of mass."""
    if body.sign > 0:
        # the joint point is fixed in the composite body
        return cross(w, arm)
    lever = minus((body.joint[0], body.joint[1], body.joint[2]), (on.c[0], on.c[1], on.c[2]))
    point = plus((on.v[0], on.v[1], on.v[2]), cross(w_in, lever))
    return minus((body.v[0], body.v[1], body.v[2]), point)
