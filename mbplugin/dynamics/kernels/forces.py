"""Forces in the recursion: gravity, gyroscopic terms, loads, springs, and what works on joint rates."""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.solids import Solids
from mbplugin.dynamics.kernels.vectors import Vector, cross, dot, minus, plus
from mbplugin.model.applied_forces import Actions, rate_values, rest_values
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import AnyArray, Array, Pose

#: A constant wrench on a solid at a point of its frame; ``turns`` with it, or stays in world axes.
LOAD = np.dtype(
    [
        ("solid", np.int64),
        ("turns", np.bool_),
        ("point", np.float64, (3,)),
        ("force", np.float64, (3,)),
        ("torque", np.float64, (3,)),
    ],
    align=True,
)
#: A spring and damper between points of two solids.
SPRING = np.dtype(
    [
        ("solid", np.int64, (2,)),
        ("point", np.float64, (2, 3)),
        ("stiffness", np.float64),
        ("length", np.float64),
        ("damping", np.float64),
    ],
    align=True,
)


def fill_rate_forces(mech: Mechanism, rates: AnyArray, actions: Actions) -> None:
    """Write into the rate records what acts on them; dry friction and controllers are elsewhere."""
    rates["constant"] = rate_values(mech, actions.torques, "a torque")
    rates["stiffness"], rates["rest"] = rest_values(mech, actions.joint_springs)
    if actions.damping:
        for joint in mech.tree.joints:
            if joint.pair is not None:
                rates["viscous"][joint.qd] = [f.damping for f in joint.pair.freedoms]


def load_records(mech: Mechanism, solids: Solids, actions: Actions) -> AnyArray:
    """Return the loads of a mechanism's actions as records."""
    out = np.zeros(len(actions.loads), dtype=LOAD)
    for record, load in zip(out, actions.loads, strict=True):
        point = Pose(np.eye(3), np.asarray(load.point, dtype=float))
        record["solid"], X = solids.frame(mech, load.body, point)
        turn = X.R if load.frame == "body" else np.eye(3)
        record["turns"], record["point"] = load.frame == "body", X.p
        record["force"], record["torque"] = turn @ load.force, turn @ load.torque
    return out


def spring_records(mech: Mechanism, solids: Solids, actions: Actions) -> AnyArray:
    """Return the springs of a mechanism's actions as records."""
    out = np.zeros(len(actions.springs), dtype=SPRING)
    for record, spring in zip(out, actions.springs, strict=True):
        for end, (body, point) in enumerate(
            ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b))
        ):
            record["solid"][end], X = solids.frame(mech, body, Pose(np.eye(3), point))
            record["point"][end] = X.p
        record["stiffness"], record["length"] = spring.stiffness, spring.length
        record["damping"] = spring.damping
    return out


@kernel
def point_position(me: Records, local: Array) -> Vector:
    """Return the world position of a point of a solid's frame."""
    x, y, z = local[0], local[1], local[2]
    return (
        me.p[0] + me.R[0, 0] * x + me.R[0, 1] * y + me.R[0, 2] * z,
        me.p[1] + me.R[1, 0] * x + me.R[1, 1] * y + me.R[1, 2] * z,
        me.p[2] + me.R[2, 0] * x + me.R[2, 1] * y + me.R[2, 2] * z,
    )


@kernel
def point_velocity(me: Records, p: Vector) -> Vector:
    """Return the velocity of a solid's material point at world position p."""
    arm = minus(p, (me.c[0], me.c[1], me.c[2]))
    return plus((me.v[0], me.v[1], me.v[2]), cross((me.v[3], me.v[4], me.v[5]), arm))


@kernel
def apply_wrench(me: Records, p: Vector, force: Vector, torque: Vector) -> None:
    """Add a wrench at a world point to what acts on a solid."""
    moment = plus(torque, cross(minus(p, (me.c[0], me.c[1], me.c[2])), force))
    for i in range(3):
        me.f[i] -= force[i]
        me.f[3 + i] -= moment[i]


@kernel
def gather(
    solids: Records, rates: Records, loads: Records, springs: Records, q: Array, qd: Array, power: Array
) -> None:
    """Fill ``f`` and ``tau``; add the power of dampers to ``power[0]``, of applied forces to ``power[1]``."""
    for k in range(1, len(solids)):
        me = solids[k]
        w = (me.v[3], me.v[4], me.v[5])
        spin = (
            me.J[0, 0] * w[0] + me.J[0, 1] * w[1] + me.J[0, 2] * w[2],
            me.J[1, 0] * w[0] + me.J[1, 1] * w[1] + me.J[1, 2] * w[2],
            me.J[2, 0] * w[0] + me.J[2, 1] * w[1] + me.J[2, 2] * w[2],
        )
        gyroscopic = cross(w, spin)
        for i in range(3):
            me.f[i] = -me.weight[i]
            me.f[3 + i] = gyroscopic[i]
    for j in range(len(rates)):
        one = rates[j]
        damping = -one.viscous * qd[j]
        one.tau = damping + one.constant
        power[0] += damping * qd[j]
        power[1] += one.constant * qd[j]
        if one.stiffness != 0.0:
            one.tau -= one.stiffness * (q[one.coordinate] - one.rest)
    for n in range(len(loads)):
        if loads[n].solid:
            _apply_load(solids[loads[n].solid], loads[n], power)
    for n in range(len(springs)):
        _apply_spring(solids, springs[n], power)


@kernel
def _apply_load(me: Records, load: Records, power: Array) -> None:
    p = point_position(me, load.point)
    force = (load.force[0], load.force[1], load.force[2])
    torque = (load.torque[0], load.torque[1], load.torque[2])
    if load.turns:
        force, torque = _turned(me, force), _turned(me, torque)
    apply_wrench(me, p, force, torque)
    power[1] += dot(force, point_velocity(me, p)) + dot(torque, (me.v[3], me.v[4], me.v[5]))


@kernel
def _turned(me: Records, a: Vector) -> Vector:
    return (
        me.R[0, 0] * a[0] + me.R[0, 1] * a[1] + me.R[0, 2] * a[2],
        me.R[1, 0] * a[0] + me.R[1, 1] * a[1] + me.R[1, 2] * a[2],
        me.R[2, 0] * a[0] + me.R[2, 1] * a[1] + me.R[2, 2] * a[2],
    )


@kernel
def _apply_spring(solids: Records, spring: Records, power: Array) -> None:
    a, b = solids[spring.solid[0]], solids[spring.solid[1]]
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
