"""Simulations for a watch: robots that stand, an arm on a constraint, and a biped of MuJoCo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from live_clients import Client, load_minitaur

#: A table of 20 kg whose legs stand on balls, its load off the middle.
CORNERS = ((0.5, 0.3), (-0.5, 0.3), (-0.5, -0.3), (0.5, -0.3))
MASS, COM, HEIGHT, RADIUS = 20.0, (0.1, 0.05), 0.7, 0.03


def table_urdf(corners: tuple[tuple[float, float], ...] = CORNERS) -> str:
    legs = "".join(
        f'<collision><origin xyz="{x} {y} {RADIUS - HEIGHT}"/><geometry><sphere radius="{RADIUS}"/></geometry>'
        "</collision>"
        for x, y in corners
    )
    return (
        f'<robot name="table"><link name="top"><inertial><origin xyz="{COM[0]} {COM[1]} 0"/><mass value="{MASS}"/>'
        f'<inertia ixx="2" iyy="3" izz="4" ixy="0" ixz="0" iyz="0"/></inertial>{legs}</link></robot>'
    )


def table(client: Client, folder: Path, corners: tuple[tuple[float, float], ...] = CORNERS) -> int:
    """Put a table on a plane, and return its body."""
    file = folder / "table.urdf"
    file.write_text(table_urdf(corners))
    client.setGravity(0, 0, -9.81)
    client.load("plane.urdf")
    body = client.load(file, [COM[0], COM[1], HEIGHT])
    client.changeDynamics(body, -1, lateralFriction=0.5)
    return body


def minitaur(client: Client) -> int:
    """Put a Minitaur on a plane, its motors held and its knees free."""
    client.setGravity(0, 0, -9.81)
    client.setTimeStep(1 / 500)
    client.load("plane.urdf")
    body = load_minitaur(client, fixed=False)
    for name, joint in client.joints(body).items():
        if name.startswith("motor"):
            goal = (-1 if "left" in name else 1) * np.pi / 2
            client.setJointMotorControl2(body, joint, client.POSITION_CONTROL, targetPosition=goal, force=20)
        elif name.startswith("knee"):
            client.setJointMotorControl2(body, joint, client.VELOCITY_CONTROL, force=0)
    return body


def husky(client: Client) -> int:
    """Put a Husky on a plane, a little above it."""
    client.setGravity(0, 0, -9.81)
    client.load("plane.urdf")
    return client.load("husky/husky.urdf", [0, 0, 0.15])


def arm(client: Client, point: tuple[float, float, float] = (0.3, 0.1, 0.9)) -> int:
    """Tie the hand of an arm to a point of the world, and let go of its motors."""
    client.setGravity(0, 0, -9.81)
    body = client.load("kuka_iiwa/model.urdf", useFixedBase=True)
    for joint in range(7):
        client.resetJointState(body, joint, 0.3)
        client.setJointMotorControl2(body, joint, client.VELOCITY_CONTROL, force=0)
    hand = client.getLinkState(body, 6)[0] if point is None else point
    client.createConstraint(body, 6, -1, -1, client.JOINT_POINT2POINT, [0, 0, 0], [0, 0, 0], list(hand))
    return body


SCENES = {"minitaur": minitaur, "husky": husky, "arm": arm}


def _leg(side: str, y: float) -> str:
    soft = 'damping="5" stiffness="300"'
    return (
        f'<body name="thigh_{side}" pos="0 {y} -.1"><joint name="hip_x_{side}" axis="1 0 0" {soft}/>'
        f'<joint name="hip_y_{side}" axis="0 1 0" {soft}/><geom type="capsule" fromto="0 0 0 0 0 -.35" size=".05"/>'
        f'<body name="shin_{side}" pos="0 0 -.4"><joint name="knee_{side}" axis="0 1 0" {soft}/>'
        f'<geom type="capsule" fromto="0 0 0 0 0 -.35" size=".04"/>'
        f'<body name="foot_{side}" pos="0 0 -.4"><joint name="ankle_{side}" axis="0 1 0" {soft}/>'
        f'<geom type="box" size=".12 .05 .02" pos=".03 0 -.02"/></body></body></body>'
    )


#: A biped with a ball joint, hips of two hinges, a motor, and springs that hold it up.
BIPED = (
    '<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 1"/><body name="torso" pos="0 0 .96">'
    f'<freejoint/><geom type="box" size=".1 .15 .1"/>{_leg("l", 0.1)}{_leg("r", -0.1)}<body name="head" pos="0 0 .15">'
    '<joint type="ball" name="neck" damping="1" stiffness="50"/><geom type="sphere" size=".09" pos="0 0 .1"/></body>'
    '</body></worldbody><actuator><motor joint="knee_l"/></actuator></mujoco>'
)


def mujoco_table() -> str:
    feet = "".join(
        f'<geom type="sphere" size="{RADIUS}" pos="{x} {y} {RADIUS - HEIGHT}" mass="0"/>' for x, y in CORNERS
    )
    return (
        '<mujoco><option timestep="0.001"/><default><geom friction="0.5 0 0" condim="3"/></default><worldbody>'
        f'<geom type="plane" size="5 5 1"/><body name="top" pos="0 0 {HEIGHT}"><freejoint/>'
        f'<inertial pos="{COM[0]} {COM[1]} 0" mass="{MASS}" diaginertia="2 3 4"/>{feet}</body></worldbody></mujoco>'
    )


def snapshot(client: Client) -> list[Any]:
    """Return all that a client tells of its state and forces, exactly."""
    bodies = [client.getBodyUniqueId(k) for k in range(client.getNumBodies())]
    return [
        [(client.getBasePositionAndOrientation(b), client.getBaseVelocity(b)) for b in bodies],
        [client.getJointState(b, j) for b in bodies for j in range(client.getNumJoints(b))],
        [client.getLinkState(b, j, 1) for b in bodies for j in range(client.getNumJoints(b))],
        client.getContactPoints(),
        [
            client.getConstraintState(client.getConstraintUniqueId(k))
            for k in range(client.getNumConstraints())
        ],
    ]
