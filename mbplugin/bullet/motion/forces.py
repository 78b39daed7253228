"""Forces in PyBullet, applied before every step: loads, torques, springs, laws of brakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mbplugin.bullet.build.built import Built, Motor
from mbplugin.bullet.motion.task import Task
from mbplugin.model.brake_law import BrakeLaw, rate_force
from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.identity import freedom_name
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import Array, cross
from mbplugin.model.spring import Spring


def axes(built: Built) -> Iterator[tuple[str, Freedom, Motor]]:
    """Yield every freedom that has a motor of its own: pair, what the file says of it, motor."""
    for name, motors in built.motors.items():
        pair = built.cut.pair_by_name[name]
        freedoms = dict(zip(pair.kind.free, pair.freedoms, strict=True))
        for motor in motors:
            if motor.step.freedom in freedoms and motor.step.kind != "spherical":
                yield name, freedoms[motor.step.freedom], motor


def apply_forces(task: Task, built: Built, laws: Mapping[str, BrakeLaw]) -> None:
    """Apply loads, torques, springs and laws of brakes for one step, as they are at its start.

    Parameters
    ----------
    laws : mapping of str to BrakeLaw
        By joint, without the parts that motors and dampers do.
    """
    for load in task.loads:
        X_WL = built.pose(load.body)
        turn = X_WL.R if load.frame != "world" else np.eye(3)
        point, force, torque = X_WL.apply(load.point), turn @ load.force, turn @ load.torque
        for f, p in [(force, point), *_couple(torque, point)]:
            _pull(built, load.body, f, p)
    for spring in task.springs:
        _stretch(built, spring)
    efforts = dict(task.torques or {})
    if task.joint_springs or laws:
        mech, (q, qd) = task.mech, built.state()
        for one in task.joint_springs:
            own = one.force(float(q[mech.q_names.index(one.joint)]))
            efforts[one.joint] = efforts.get(one.joint, 0.0) + own
        for joint, law in laws.items():
            rate = float(qd[mech.qd_names.index(joint)])
            efforts[joint] = efforts.get(joint, 0.0) - rate_force(law, rate)
    if efforts:
        _turn(built, efforts)


def _turn(built: Built, efforts: dict[str, float]) -> None:
    for pair, _, motor in axes(built):
        for name in (pair, freedom_name(pair, motor.step.freedom)):
            if name in efforts:
                built.bullet.setJointMotorControl2(
                    motor.id,
                    motor.link,
                    built.bullet.TORQUE_CONTROL,
                    force=float(efforts[name]),
                    physicsClientId=built.client,
                )


def _pull(built: Built, body: str, force: Array, point: Array) -> None:
    """Apply a force (3,) at a point (3,), both in world axes, N and m."""
    if body == WORLD:
        return
    place = built.places[body]
    built.bullet.applyExternalForce(
        place.id,
        place.link,
        force.tolist(),
        point.tolist(),
        built.bullet.WORLD_FRAME,
        physicsClientId=built.client,
    )


def _couple(torque: Array, point: Array) -> list[tuple[Array, Array]]:
    """Return two forces and their places about a point (3,) that together are a torque (3,), N·m.

    PyBullet confuses frames of torques.
    """
    if not torque.any():
        return []
    arm = cross(torque, np.eye(3)[np.argmin(np.abs(torque))])
    arm = arm / np.linalg.norm(arm)
    force = 0.5 * cross(torque, arm)
    return [(force, point + arm), (-force, point - arm)]


def _stretch(built: Built, spring: Spring) -> None:
    """Pull both ends of a spring and damper along the line between them."""
    (p_a, v_a), (p_b, v_b) = (
        _end(built, body, point)
        for body, point in ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b))
    )
    force = spring.force_on_a(p_b - p_a, v_b - v_a)
    _pull(built, spring.body_a, force, p_a)
    _pull(built, spring.body_b, -force, p_b)


def _end(built: Built, body: str, point: Array) -> tuple[Array, Array]:
    """Return where a point (3,) of a body is, and how fast, in world axes."""
    if body == WORLD:
        return point, np.zeros(3)
    place, where = built.places[body], {"physicsClientId": built.client}
    if place.link < 0:
        v, w = built.bullet.getBaseVelocity(place.id, **where)
    else:
        state: Any = built.bullet.getLinkState(place.id, place.link, computeLinkVelocity=1, **where)
        v, w = state[6:8]
    X_WL = built.pose(body)
    p = X_WL.apply(point)
    return p, np.array(v) + cross(np.array(w), p - X_WL.apply(place.X_LC.p))
