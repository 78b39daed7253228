"""Trees of hinges with ball joints that close loops, as PyBullet moves them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array, Pose

_LINK = (
    '<link name="{name}"><inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass!r}"/>'
    '<inertia ixx="{I[0]!r}" iyy="{I[1]!r}" izz="{I[2]!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
_JOINT = (
    '<joint name="{name}" type="continuous"><parent link="{a}"/><child link="{b}"/>'
    '<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/></joint>'
)


def _rpy(R: Array) -> str:
    """Fixed-axis roll, pitch and yaw."""
    pitch = np.arcsin(-R[2, 0])
    return f"{np.arctan2(R[2, 1], R[2, 2])!r} {pitch!r} {np.arctan2(R[1, 0], R[0, 0])!r}".replace(
        "np.float64(", ""
    ).replace(")", "")


def _xyz(p: Array) -> str:
    return " ".join(repr(float(x)) for x in p)


class BulletTree:
    """A mechanism in a PyBullet client: link frames are joint frames S, its inertia in principal axes."""

    def __init__(self, p: Any, client: int, mech: Mechanism, q: Array, qd: Array) -> None:
        self.p, self.client, self.mech = p, client, mech
        frame = {joint.outer: joint.pair.X_BS for joint in mech.tree.joints if joint.pair is not None}
        frame[WORLD] = Pose.identity()
        self.principal: dict[str, Pose] = {}
        parts = ['<link name="world"/>']
        for body in mech.bodies:
            X_SL = frame[body.name].inverse()
            values, axes = np.linalg.eigh(X_SL.R @ body.I_C @ X_SL.R.T)
            axes = axes * np.sign(np.linalg.det(axes))
            self.principal[body.name] = frame[body.name] @ Pose(axes, X_SL.apply(body.p_LC))
            inertial = {"xyz": _xyz(X_SL.apply(body.p_LC)), "rpy": _rpy(axes)}
            parts.append(_LINK.format(name=body.name, mass=float(body.mass), I=values.tolist(), **inertial))
        for joint in mech.tree.joints:
            assert joint.pair is not None and not joint.reversed
            X = frame[joint.inner].inverse() @ joint.pair.X_AP
            joint_frames = {"name": joint.pair.name, "a": joint.inner, "b": joint.outer}
            parts.append(_JOINT.format(**joint_frames, xyz=_xyz(X.p), rpy=_rpy(X.R)))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "tree.urdf"
            path.write_text(f'<robot name="tree">{"".join(parts)}</robot>', encoding="utf-8")
            flags = p.URDF_USE_INERTIA_FROM_FILE
            self.body = p.loadURDF(str(path), useFixedBase=True, flags=flags, physicsClientId=client)
        infos = [p.getJointInfo(self.body, k, physicsClientId=client) for k in range(len(mech.bodies))]
        self.joint = {info[1].decode(): k for k, info in enumerate(infos)}
        self.link = {info[12].decode(): k for k, info in enumerate(infos)}
        p.setGravity(*mech.gravity, physicsClientId=client)
        for name, position, rate in zip(mech.q_names, q, qd, strict=True):
            k = self.joint[name]
            quiet = {"jointDamping": 0, "linearDamping": 0, "angularDamping": 0}
            p.changeDynamics(self.body, k, maxJointVelocity=1e9, **quiet, physicsClientId=client)
            p.resetJointState(self.body, k, position, rate, physicsClientId=client)
            p.setJointMotorControl2(self.body, k, p.VELOCITY_CONTROL, force=0, physicsClientId=client)
        for pair in mech.tree.cut:
            self._tie(pair.name, q)

    def _tie(self, name: str, q: Array) -> None:
        pair, poses = self.mech.pair_by_name[name], forward(self.mech, q)
        assert pair.type == "spherical"
        point = poses.of(self.mech.body_index[pair.body_b]).apply(pair.X_BS.p)
        pivots = []
        for body in (pair.body_a, pair.body_b):
            X = poses.of(self.mech.body_index[body]) @ self.principal[body]
            pivots.append(X.inverse().apply(point).tolist())
        a, b = self.link[pair.body_a], self.link[pair.body_b]
        tie = self.p.createConstraint(
            self.body,
            a,
            self.body,
            b,
            self.p.JOINT_POINT2POINT,
            [0, 0, 0],
            *pivots,
            physicsClientId=self.client,
        )
        self.p.changeConstraint(tie, maxForce=1e12, physicsClientId=self.client)

    def brake(self, joint: str) -> None:
        """Hold a joint by a motor that is as strong as it needs to be."""
        self.p.setJointMotorControl2(
            self.body,
            self.joint[joint],
            self.p.VELOCITY_CONTROL,
            targetVelocity=0,
            force=1e9,
            physicsClientId=self.client,
        )

    def rates(self) -> Array:
        """Joint rates in the order of the mechanism."""
        states = [
            self.p.getJointState(self.body, self.joint[n], physicsClientId=self.client)
            for n in self.mech.q_names
        ]
        return np.array([state[1] for state in states])
