"""Forces in the recursion: gravity, gyroscopic terms, loads, springs, and what works on joint rates."""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.composite_bodies import Composites
from mbplugin.dynamics.kernels.vectors import Vector, cross, dot, minus, plus
from mbplugin.model.applied_forces import AppliedForces, rate_values, rest_values
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import AnyArray, Array, Pose

#: A constant wrench on a composite body at a point of its frame; ``turns`` with it, or stays in world axes.
LOAD = np.dtype(
    [
        ("composite", np.int64),
        ("turns", np.bool_),
        ("point", np.float64, (3,)),
        ("force", np.float64, (3,)),
        ("torque", np.float64, (3,)),
    ],
    align=True,
)
#: A spring and damper between points of two composite bodies.
SPRING = np.dtype(
    [
        ("composite", np.int64, (2,)),
        ("point", np.float64, (2, 3)),
        ("stiffness", np.float64),
        ("length", np.float64),
        ("damping", np.float64),
    ],
    align=True,
)


def fill_rate_forces(mech: Mechanism, rates: AnyArray, actions: AppliedForces) -> None:
    """Write into the rate records ``rates`` (nv,) what acts on them; dry friction and controllers are elsewhere."""
    rates["constant"] = rate_values(mech, actions.torques, "a torque")
    rates["stiffness"], rates["rest"] = rest_values(mech, actions.joint_springs)
    if actions.damping:
        for joint in mech.tree.joints:
            if joint.pair is not None:
                rates["viscous"][joint.qd] = [f.damping for f in joint.pair.freedoms]


def load_records(mech: Mechanism, composites: Composites, actions: AppliedForces) -> AnyArray:
    """Return the l loads of a mechanism's actions as records (l,)."""
    out = np.zeros(len(actions.loads), dtype=LOAD)
    for record, load in zip(out, actions.loads, strict=True):
        point = Pose(np.eye(3), np.asarray(load.point, dtype=float))
        record["composite"], X = composites.frame(mech, load.body, point)
        turn = X.R if load.frame == "body" else np.eye(3)
        record["turns"], record["point"] = load.frame == "body", X.p
        record["force"], record["torque"] = turn @ load.force, turn @ load.torque
    return out


def spring_records(mech: Mechanism, composites: Composites, actions: AppliedForces) -> AnyArray:
    """Return the s springs of a mechanism's actions as records (s,)."""
    out = np.zeros(len(actions.springs), dtype=SPRING)
    for record, spring in zip(out, actions.springs, strict=True):
        for end, (body, point) in enumerate(
            ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b))
        ):
            record["composite"][end], X = composites.frame(mech, body, Pose(np.eye(3), point))
            record["point"][end] = X.p
        record["stiffness"], record["length"] = spring.stiffness, spring.length
        record["damping"] = spring.damping
    return out


@kernel
def point_position(body: Records, local: Array) -> Vector:
    """Return the world position of a point ``local`` (3,) of a composite body's frame, m."""
    x, y, z = local[0], local[1], local[2]
    return (
        body.p[0] + body.R[0, 0] * x + body.R[0, 1] * y + body.R[0, 2] * z,
        body.p[1] + body.R[1, 0] * x + body.R[1, 1] * y + body.R[1, 2] * z,
        body.p[2] + body.R[2, 0] * x + body.R[2, 1] * y + body.R[2, 2] * z,
    )


@kernel
def point_velocity(body: Records, p: Vector) -> Vector:
    """Return the velocity of a composite body's material point at world position p."""
    arm = minus(p, (body.c[0], body.c[1], body.c[2]))
    return plus((body.v[0], body.v[1], body.v[2]), cross((body.v[3], body.v[4], body.v[5]), arm))


@kernel
def apply_wrench(body: Records, p: Vector, force: Vector, torque: Vector) -> None:
    """Add a wrench at a world point to what acts on a composite body."""
    moment = plus(torque, cross(minus(p, (body.c[0], body.c[1], body.c[2])), force))
    for i in range(3):
        body.f[i] -= force[i]
        body.f[3 + i] -= moment[i]


@kernel
def gather(
    composites: Records, rates: Records, loads: Records, springs: Records, q: Array, qd: Array, power: Array
) -> None:
    """Fill ``f`` and ``tau``; add the power of dampers to ``power[0]``, of applied forces to ``power[1]``.

    ``q`` (nq,), ``qd`` (nv,); ``power`` (3,), W.
    """
    for k in range(1, len(composites)):
        body = composites[k]
        w = (body.v[3], body.v[4], body.v[5])
        spin = (
            body.J[0, 0] * w[0] + body.J[0, 1] * w[1] + body.J[0, 2] * w[2],
            body.J[1, 0] * w[0] + body.J[1, 1] * w[1] + body.J[1, 2] * w[2],
            body.J[2, 0] * w[0] + body.J[2, 1] * w[1] + body.J[2, 2] * w[2],
        )
        gyroscopic = cross(w, spin)
        for i in range(3):
            body.f[i] = -body.weight[i]
            body.f[3 + i] = gyroscopic[i]
    for j in range(len(rates)):
        joint_rate = rates[j]
        damping = -joint_rate.viscous * qd[j]
        joint_rate.tau = damping + joint_rate.constant
        power[0] += damping * qd[j]
        power[1] += joint_rate.constant * qd[j]
        if joint_rate.stiffness != 0.0:
            joint_rate.tau -= joint_rate.stiffness * (q[joint_rate.coordinate] - joint_rate.rest)
    for n in range(len(loads)):
        if loads[n].composite:
            _apply_load(composites[loads[n].composite], loads[n], power)
    for n in range(len(springs)):
        _apply_spring(composites, springs[n], power)


@kernel
def _apply_load(body: Records, load: Records, power: Array) -> None:
    """Apply a load to a composite body and add its power to that of applied forces in power (3,), W."""
    p = point_position(body, load.point)
    force = (load.force[0], load.force[1], load.force[2])
    torque = (load.torque[0], load.torque[1], load.torque[2])
    if load.turns:
        force, torque = _turned(body, force), _turned(body, torque)
    apply_wrench(body, p, force, torque)
    power[1] += dot(force, point_velocity(body, p)) + dot(torque, (body.v[3], body.v[4], body.v[5]))


@kernel
def _turned(body: Records, a: Vector) -> Vector:
    return (
        body.R[0, 0] * a[0] + body.R[0, 1] * a[1] + body.R[0, 2] * a[2],
        body.R[1, 0] * a[0] + body.R[1, 1] * a[1] + body.R[1, 2] * a[2],
        body.R[2, 0] * a[0] + body.R[2, 1] * a[1] + body.R[2, 2] * a[2],
    )


@kernel
def _apply_spring(composites: Records, spring: Records, power: Array) -> None:
    """Apply a spring to the bodies at its ends and add the power of its damper to power (3,), W."""
    a, b = composites[spring.composite[0]], composites[spring.composite[1]]
    p_a, p_b = point_position(a, spring.point[0]), point_position(b, spring.point[1])
    line = minus(p_b, p_a)
    length = sqrt(dot(line, line))
    if length == 0.0:
        return
    e = (line[0] / length, line[1] / length, line[2] / length)
    rate = dot(e, minus(point_velocity(b, p_b), point_velocity(a, p_a)))
    tension = spring.stiffness * (length - spring.length) + spring.damping * rate
    power[0] -= spring.damping * rate * rate
    apply_wrench(a, p_a, (tension * e[0], tension * e[1], tension * e[2]), (0.0, 0.0, 0.0))
    apply_wrench(b, p_b, (-tension * e[0], -tension * e[1], -tension * e[2]), (0.0, 0.0, 0.0))
