"""Closures, couplings and closed locks as PyBullet constraints and motors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mbplugin.bullet.build.built import Built, Motor
from mbplugin.model.mechanism import WORLD, Coupling, Mechanism, Pair
from mbplugin.model.mechanism.joint import travel_per_radian
from mbplugin.model.spatial import Array, Pose, quaternion_from_rotation

#: Force (N, N·m) with which a constraint or a locked joint holds: as much as it needs.
UNLIMITED = 1e9


def add_constraints(built: Built) -> tuple[Mapping[str, tuple[int, ...]], tuple[str, ...]]:
    """Create the constraints of all closures and couplings.

    Returns
    -------
    ties : mapping of constraint to tuple of int
    left_out : tuple of str
        One sentence for each constraint that PyBullet has nothing for.
    """
    mech = built.cut
    ties: dict[str, tuple[int, ...]] = {}
    left_out = []
    for pair in mech.tree.cut:
        if pair.type in _CLOSURES:
            ties[pair.name] = tuple(_create(built, pair, *part) for part in constraint_parts(mech, pair))
        else:
            left_out.append(
                f"PyBullet has no constraint for {pair.name!r}, a {pair.type} pair that closes a loop"
            )
    for name, motors in built.motors.items():
        pair = mech.pair_by_name[name]
        if pair.type == "screw":
            turn, travel = (next(m for m in motors if m.step.freedom == c) for c in ("rz", "tz"))
            ties[name] = (_gear(built, travel, turn, -travel_per_radian(pair)),)
    for coupling in mech.couplings:
        members = _members(built, coupling)
        if len(members) == 2:
            (a, c_a), (b, c_b) = members
            ties[coupling.name] = (_gear(built, a, b, c_b / c_a),)
        else:
            left_out.append(
                f"PyBullet has no gear for {coupling.name!r}, which couples other things than two axes"
            )
    left_out += [f"PyBullet has no constraint for {c.name!r} ({c.type})" for c in mech.pfaffians]
    left_out += [f"the driver {driver.name!r} is not built" for driver in mech.drivers]
    return ties, tuple(left_out)


def hold(built: Built, pair: str) -> bool:
    """Let motors hold the rates of a pair at zero; false where it has none that can."""
    motors = built.motors.get(pair, ())
    for motor in motors:
        if motor.step.kind == "spherical":
            return False
        drive(built, motor, 0.0, UNLIMITED)
    return bool(motors)


def drive(built: Built, motor: Motor, rate: float, force: float) -> None:
    """Let a motor lead an axis to a rate (rad/s or m/s) with at most some force (N·m or N)."""
    built.bullet.setJointMotorControl2(
        motor.id,
        motor.link,
        built.bullet.VELOCITY_CONTROL,
        targetVelocity=rate,
        force=force,
        physicsClientId=built.client,
    )


_CLOSURES = ("spherical", "fixed", "prismatic", "revolute", "continuous")


def constraint_parts(mech: Mechanism, pair: Pair) -> list[tuple[str, Array]]:
    """Return PyBullet's kind of constraint and its place along the joint axis, m.

    A hinge is two points of its axis: one row more than it needs, and the same motion.
    """
    if pair.type not in ("revolute", "continuous"):
        return [(pair.type, np.zeros(3))]
    ends = ((pair.body_a, pair.X_AP), (pair.body_b, pair.X_BS))
    arms = [
        float(np.linalg.norm(X.p - mech.bodies[mech.body_index[name]].p_LC))
        for name, X in ends
        if name != WORLD
    ]
    apart = max([0.5 * arm for arm in arms if arm > 0], default=0.1)
    return [("spherical", np.array([0.0, 0.0, sign * apart])) for sign in (-1.0, 1.0)]


def _create(built: Built, pair: Pair, kind: str, shift: Array) -> int:
    """Create one constraint at a ``shift`` (3,) in P and S, m.

    Its frames are given in the inertial frames, the ground's is W.
    """
    move = Pose(np.eye(3), shift)
    ends = [(pair.body_a, pair.X_AP @ move), (pair.body_b, pair.X_BS @ move)]
    if ends[0][0] == WORLD:
        ends.reverse()
    (a, X_A), (b, X_B) = ends
    place_a = built.places[a]
    X_CA = place_a.X_LC.inverse() @ X_A
    id_b, link_b, X_CB = -1, -1, X_B
    if b != WORLD:
        place_b = built.places[b]
        id_b, link_b, X_CB = place_b.id, place_b.link, place_b.X_LC.inverse() @ X_B
    bullet = built.bullet
    types = {
        "spherical": bullet.JOINT_POINT2POINT,
        "fixed": bullet.JOINT_FIXED,
        "prismatic": bullet.JOINT_PRISMATIC,
    }
    uid = bullet.createConstraint(
        place_a.id,
        place_a.link,
        id_b,
        link_b,
        types[kind],
        X_CA.R[:, 2].tolist() if kind == "prismatic" else [0, 0, 0],
        X_CA.p.tolist(),
        X_CB.p.tolist(),
        quaternion_from_rotation(X_CA.R).tolist(),
        quaternion_from_rotation(X_CB.R).tolist(),
        physicsClientId=built.client,
    )
    bullet.changeConstraint(uid, maxForce=UNLIMITED, physicsClientId=built.client)
    return int(uid)


def _members(built: Built, coupling: Coupling) -> list[tuple[Motor, float]]:
    """Return the axes that a coupling binds, or fewer where it binds something else."""
    found = []
    for term in coupling.terms:
        for motor in built.motors.get(term.joint, ()):
            if motor.step.freedom == term.freedom and motor.step.kind != "spherical":
                found.append((motor, term.coefficient))
    return found if len(found) == len(coupling.terms) else []


def _gear(built: Built, a: Motor, b: Motor, ratio: float) -> int:
    """Bind two axes by  q̇_a + ratio · q̇_b = 0."""
    bullet: Any = built.bullet
    zero = [0, 0, 0]
    uid = bullet.createConstraint(
        a.id, a.link, b.id, b.link, bullet.JOINT_GEAR, [0, 0, 1], zero, zero, physicsClientId=built.client
    )
    bullet.changeConstraint(uid, gearRatio=ratio, maxForce=UNLIMITED, physicsClientId=built.client)
    return int(uid)
