"""Joint wrenches and drive torques of a tree arm, against PyBullet's joint feedback and inverse dynamics."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.bullet import session
from mbplugin.joint_reactions.values import Reactions
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array
from places import BULLET_DATA

IIWA = str(BULLET_DATA / "kuka_iiwa" / "model.urdf")
POSES = np.array(
    [
        [0.3, 0.7, -0.4, -1.1, 0.5, 0.9, 0.2],
        [-1.2, -0.5, 0.8, 1.3, -0.7, -1.0, 2.0],
        [0.0, 1.5, 0.0, 0.0, 0.0, 1.5, 0.0],
    ]
)
PAYLOAD, OFFSET = 5.0, np.array([0.04, -0.03, 0.12])


def arm(pb: ModuleType, client: int, q: Array) -> int:
    """The arm in PyBullet with everything switched off that falsifies a comparison."""
    pb.setGravity(0, 0, -9.81, physicsClientId=client)
    flags = pb.URDF_USE_INERTIA_FROM_FILE
    body = int(pb.loadURDF(IIWA, useFixedBase=True, flags=flags, physicsClientId=client))
    for j, angle in enumerate(q):
        pb.resetJointState(body, j, angle, 0, physicsClientId=client)
        pb.enableJointForceTorqueSensor(body, j, True, physicsClientId=client)
        pb.changeDynamics(body, j, linearDamping=0, angularDamping=0, jointDamping=0, physicsClientId=client)
        pb.setJointMotorControl2(body, j, pb.VELOCITY_CONTROL, force=0, physicsClientId=client)
    return body


def in_bullet_s_frame(result: Reactions, name: str) -> Array:
    """Our wrench with its drive torque, at the child's centre of mass in the child's axes."""
    mech = result.mechanism
    poses, pair = forward(mech, result.q), mech.pair_by_name[name]
    R_WP = (poses.of(mech.body_index[pair.body_a]) @ pair.X_AP).R
    wrench = result[name].wrench.copy()
    wrench[5] += result.value(f"lock {name}", "rz_lock")
    force, moment = R_WP @ wrench[:3], R_WP @ wrench[3:]
    child = mech.body_index[pair.body_b]
    moment = moment - np.cross(poses.p_WC[child] - result[name].point, force)
    return np.concatenate((poses.R_WL[child].T @ force, poses.R_WL[child].T @ moment))


@pytest.mark.bullet
@pytest.mark.parametrize("q", POSES, ids=["bent", "other way", "stretched"])
def test_joint_feedback_of_an_arm_with_a_payload_at_rest(q: Array) -> None:
    payload = {"body": "lbr_iiwa_link_7", "mass": PAYLOAD, "com": OFFSET}
    ours = mb.reactions(mb.load(IIWA, base="fixed"), q, payloads=[payload])
    names = ours.held
    assert len(names) == 7
    with session() as (pb, client):
        body = arm(pb, client, q)
        state = pb.getLinkState(body, 6, physicsClientId=client)
        R = np.array(pb.getMatrixFromQuaternion(state[5])).reshape(3, 3)
        tool = np.array(state[4]) + R @ OFFSET
        pb.applyExternalForce(
            body, 6, [0, 0, -PAYLOAD * 9.81], tool.tolist(), pb.WORLD_FRAME, physicsClientId=client
        )
        for j, name in enumerate(names):
            torque = ours.value(f"lock {name}", "rz_lock")
            pb.setJointMotorControl2(body, j, pb.TORQUE_CONTROL, force=torque, physicsClientId=client)
        pb.stepSimulation(physicsClientId=client)
        states = [pb.getJointState(body, j, physicsClientId=client) for j in range(7)]
    # our torques hold the arm, as far as Bullet places the weight
    assert np.abs([s[1] for s in states]).max() < 1e-5
    for name, measured in zip(names, states, strict=True):
        theirs = np.array(measured[2])
        difference = in_bullet_s_frame(ours, name) - theirs
        assert np.abs(difference[:3]).max() < 1e-6 * np.linalg.norm(theirs[:3])
        assert np.abs(difference[3:]).max() < 1e-6 * max(np.linalg.norm(theirs[3:]), 1.0)


@pytest.mark.bullet
@pytest.mark.parametrize("q", POSES, ids=["bent", "other way", "stretched"])
def test_drive_torques_of_a_moving_arm(q: Array) -> None:
    rng = np.random.default_rng(1)
    qd, qdd = rng.normal(size=7), rng.normal(size=7)
    ours = mb.reactions(mb.load(IIWA, base="fixed"), q, qd, qdd)
    assert ours.mode == "inverse dynamics"
    with session() as (pb, client):
        body = arm(pb, client, q)
        theirs = pb.calculateInverseDynamics(
            body, q.tolist(), qd.tolist(), qdd.tolist(), physicsClientId=client
        )
    torques = [ours.value(f"lock {name}", "rz_lock") for name in ours.held]
    assert torques == pytest.approx(np.array(theirs), rel=1e-6, abs=1e-6)
