"""A mechanism in a PyBullet client: the ids of its parts, and its state in our coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from mbplugin.bullet.build.chain import Step, steps_of
from mbplugin.bullet.build.split import split_state
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.joint import travel_per_radian
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import Array, Pose, quaternion_from_rotation, rotation_from_quaternion


@dataclass(frozen=True, eq=False)
class Place:
    """Where a body is in the client.

    Parameters
    ----------
    id, link : int
        Unique id of the multibody, and index of the link in it; −1 is its base.
    X_LC : Pose
        The inertial frame, which is what PyBullet moves, in the link frame of the body.
    """

    id: int
    link: int
    X_LC: Pose


@dataclass(frozen=True, eq=False)
class Motor:
    """One joint of PyBullet that carries a freedom of a pair, or several by a ball.

    Parameters
    ----------
    R_JC : (3, 3) array
        Orientation of the inertial frame of its link in the joint frame that turns with it.
    """

    id: int
    link: int
    step: Step
    R_JC: Array


@dataclass(frozen=True, eq=False)
class Built:
    """What :func:`mbplugin.bullet.build.build.build` has put into a client.

    Parameters
    ----------
    bullet : module
        pybullet.
    mechanism : Mechanism
        Whose coordinates the state is in.
    cut : Mechanism
        What stands in the client: some bodies in two halves that are held together.
    halves : mapping of half to whole
    places : mapping of body to Place
    motors : mapping of tree pair to tuple of Motor
        From the inner body outwards; the joints of fixed pairs are left out.
    ties : mapping of closure or coupling to tuple of int
        Ids of the constraints that stand for it.
    ids : tuple of int
        Unique ids of the multibodies.
    left_out : tuple of str
        What PyBullet cannot hold, one sentence each.
    """

    bullet: ModuleType
    client: int
    mechanism: Mechanism
    cut: Mechanism
    halves: Mapping[str, str]
    places: Mapping[str, Place]
    motors: Mapping[str, tuple[Motor, ...]]
    ties: Mapping[str, tuple[int, ...]]
    ids: tuple[int, ...]
    left_out: tuple[str, ...] = ()

    def set_state(self, q: Array, qd: Array | None = None) -> None:
        """Put all joints and free bases where they belong; at rest if no rates are given.

        Parameters
        ----------
        q, qd : (nq,), (nv,) array
            In the order of ``q_names`` and ``qd_names``. Loops are not closed here.
        """
        qd = np.zeros(len(self.mechanism.qd_names)) if qd is None else qd
        q, rates = split_state(self.mechanism, self.cut, self.halves, q, qd)
        poses = forward(self.cut, q)
        for joint in self.cut.tree.joints:
            if joint.pair is None:
                self._set_base(joint.outer, poses, rates[joint.qd])
            else:
                self._set_joint(joint, q[joint.q], rates[joint.qd])

    def state(self) -> tuple[Array, Array]:
        """Return q (nq,) and qd (nv,) as PyBullet holds them; quaternions have w ≥ 0."""
        q, qd = np.zeros(len(self.mechanism.q_names)), np.zeros(len(self.mechanism.qd_names))
        for joint in self.mechanism.tree.joints:
            read = self._base(joint.outer) if joint.pair is None else self._joint(joint)
            q[joint.q], qd[joint.qd] = read
        return q, qd

    def pose(self, body: str) -> Pose:
        """Return X_WL of a body as PyBullet computes it."""
        place = self.places[body]
        return self._inertial_pose(place) @ place.X_LC.inverse()

    def remove(self) -> None:
        """Take everything out of the client again."""
        for constraint in (i for ids in self.ties.values() for i in ids):
            self.bullet.removeConstraint(constraint, physicsClientId=self.client)
        for body in self.ids:
            self.bullet.removeBody(body, physicsClientId=self.client)

    def _inertial_pose(self, place: Place) -> Pose:
        if place.link < 0:
            found = self.bullet.getBasePositionAndOrientation(place.id, physicsClientId=self.client)
        else:
            found = self.bullet.getLinkState(
                place.id, place.link, computeForwardKinematics=1, physicsClientId=self.client
            )
        return Pose(rotation_from_quaternion(found[1]), np.array(found[0], dtype=float))

    def _set_base(self, body: str, poses: BodyPoses, twist: Array) -> None:
        """Set the pose and the twist (6,), world axes, of a root body."""
        place, i = self.places[body], self.cut.body_index[body]
        X_WC = poses.of(i) @ place.X_LC
        turn = quaternion_from_rotation(X_WC.R).tolist()
        self.bullet.resetBasePositionAndOrientation(
            place.id, X_WC.p.tolist(), turn, physicsClientId=self.client
        )
        # PyBullet's reference point is its own centre of mass, which a payload may have moved
        v = twist[:3] + np.cross(twist[3:], X_WC.p - poses.p_WC[i])
        self.bullet.resetBaseVelocity(place.id, v.tolist(), twist[3:].tolist(), physicsClientId=self.client)

    def _base(self, body: str) -> tuple[Array, Array]:
        place, own = self.places[body], self.mechanism.bodies[self.mechanism.body_index[body]]
        X_WL = self._inertial_pose(place) @ place.X_LC.inverse()
        p_WC = X_WL.apply(own.p_LC)
        v, w = (np.array(x) for x in self.bullet.getBaseVelocity(place.id, physicsClientId=self.client))
        v = v + np.cross(w, p_WC - X_WL.apply(place.X_LC.p))
        return np.concatenate((p_WC, quaternion_from_rotation(X_WL.R))), np.concatenate((v, w))

    def _set_joint(self, joint: TreeJoint, q: Array, qd: Array) -> None:
        """Set the motors of a joint to its part of q (nq,) and qd (nv,)."""
        for motor in self.motors.get(_name(joint), ()):
            if motor.step.kind == "spherical":
                position, rate = _to_ball(joint, motor, q[-4:], qd[-3:])
                self.bullet.resetJointStateMultiDof(
                    motor.id, motor.link, position, rate, physicsClientId=self.client
                )
                continue
            k, factor = freedom_of(joint, motor.step)
            self.bullet.resetJointState(
                motor.id, motor.link, factor * q[k], factor * qd[k], physicsClientId=self.client
            )

    def _joint(self, joint: TreeJoint) -> tuple[Array, Array]:
        q = np.zeros(joint.q.stop - joint.q.start)
        qd = np.zeros(joint.qd.stop - joint.qd.start)
        for motor in self.motors.get(_name(joint), ()):
            position, rate = self.bullet.getJointStateMultiDof(
                motor.id, motor.link, physicsClientId=self.client
            )[:2]
            if motor.step.kind == "spherical":
                q[-4:], qd[-3:] = _from_ball(joint, motor, np.array(position), np.array(rate))
                continue
            k, factor = freedom_of(joint, motor.step)
            if factor == 1.0:
                q[k], qd[k] = position[0], rate[0]
        return q, qd


def freedom_of(joint: TreeJoint, step: Step) -> tuple[int, float]:
    """Return which freedom of a pair an axis carries, and its motion for one unit of it."""
    assert joint.pair is not None
    free = joint.pair.kind.free
    if step.freedom in free:
        return free.index(step.freedom), 1.0
    return 0, travel_per_radian(joint.pair)


def moving_steps(joint: TreeJoint) -> list[tuple[int, Step]]:
    """Return the steps of a joint that move, with their place in its chain."""
    return [(k, step) for k, step in enumerate(steps_of(joint)) if step.kind != "fixed"]


def _name(joint: TreeJoint) -> str:
    assert joint.pair is not None
    return joint.pair.name


def _to_ball(joint: TreeJoint, motor: Motor, q: Array, w_P: Array) -> tuple[list[float], list[float]]:
    """Return a ball's turn and rate in axes of the inertial frame C, as PyBullet takes them.

    They follow from the quaternion q (4,), xyzw, and the rate ``w_P`` (3,) in axes of P.
    """
    R_PS = rotation_from_quaternion(q)
    R = R_PS.T if joint.reversed else R_PS
    w = -R_PS.T @ w_P if joint.reversed else w_P
    turn = quaternion_from_rotation(motor.R_JC.T @ R @ motor.R_JC)
    rate = motor.R_JC.T @ R.T @ w
    return turn.tolist(), rate.tolist()


def _from_ball(joint: TreeJoint, motor: Motor, turn: Array, rate: Array) -> tuple[Array, Array]:
    """Return quaternion (4,) and rate (3,) in P of a ball from its ``turn`` (4,) and ``rate`` (3,) in C."""
    R = motor.R_JC @ rotation_from_quaternion(turn) @ motor.R_JC.T
    w = R @ motor.R_JC @ rate
    if joint.reversed:
        return quaternion_from_rotation(R.T), -R.T @ w
    return quaternion_from_rotation(R), w
