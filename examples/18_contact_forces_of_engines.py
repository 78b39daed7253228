"""Which force does each foot carry? PyBullet and MuJoCo print different numbers, and both are possible.

A table on four legs, a gripper that holds a block between two pads on each side, and PyBullet's Husky and Minitaur at
rest. Each normal force stands beside the interval of all values that hold the robot without pulling or slipping. Draws
them to out/contact_forces.png where matplotlib is installed; without MuJoCo there is PyBullet alone.

Run it from anywhere: python examples/18_contact_forces_of_engines.py
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pybullet as p
import pybullet_data

import mbplugin as mb

OUT = Path(__file__).resolve().parent.parent / "out"
GRAVITY = 9.81

#: The table: its mass, centre of mass, and feet, which are balls (kg, m).
TABLE, CENTRE, HEIGHT, BALL = 20.0, (0.1, 0.05), 0.7, 0.03
FEET = {
    "left front": (0.5, 0.3),
    "left rear": (-0.5, 0.3),
    "right rear": (-0.5, -0.3),
    "right front": (0.5, -0.3),
}
#: The gripper: mass of the block, half its width, pads, which are balls, force of either finger and its limit (N).
BLOCK, HALF, PAD, SQUEEZE, LIMIT = 0.2, 0.02, 0.005, 10.0, 20.0
PADS = (-0.03, 0.03)
MARKS = {"PyBullet": ("o", "tab:orange"), "MuJoCo": ("D", "tab:blue")}


@dataclass(frozen=True)
class Contact:
    """The normal force of a contact, N: smallest and largest possible value, and the engine's."""

    point: tuple[float, float, float]
    name: str
    lower: float
    upper: float
    engine: float


def normal_forces(watch: mb.Watch) -> list[Contact]:
    """Return the contacts of the last update, in the order of their places."""
    update = watch.latest
    normal = [force for force in update.forces if force.component == "cn"]
    found = []
    for point, force in zip(update.numbers.reading.touching.point, normal, strict=True):
        may = update.intervals[force.constraint, "cn"]
        name = force.constraint.removeprefix("contact ")
        found.append(Contact(tuple(point.tolist()), name, may.lower, may.upper, force.engine))
    return sorted(found, key=lambda contact: tuple(np.round(contact.point, 2) + 0.0))


# PyBullet


def in_pybullet(build: Callable[[int], None], steps: int) -> list[Contact]:
    """Build a scene in a client of its own, let it come to rest, and return its contacts."""
    client = p.connect(p.DIRECT)
    try:
        p.setAdditionalSearchPath(pybullet_data.getDataPath(), physicsClientId=client)
        p.setGravity(0, 0, -GRAVITY, physicsClientId=client)
        build(client)
        with mb.watch(client) as watch:
            for _ in range(steps - 1):
                p.stepSimulation(physicsClientId=client)
            watch.update()
            p.stepSimulation(physicsClientId=client)
            watch.update()
            return normal_forces(watch)
    finally:
        p.disconnect(client)


def loaded(client: int, urdf: str, place: list[float], fixed: bool = False) -> int:
    """Load a robot that is given as text."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "robot.urdf"
        file.write_text(urdf)
        return p.loadURDF(str(file), place, useFixedBase=fixed, physicsClientId=client)


def inertial(mass: float, inertia: tuple[float, float, float], place: str = "0 0 0") -> str:
    """Return the mass of a link as URDF."""
    ixx, iyy, izz = inertia
    return (
        f'<inertial><origin xyz="{place}"/><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="0" ixz="0" iyz="0"/></inertial>'
    )


def balls(radius: float, places: list[str]) -> str:
    """Return balls that a link touches with as URDF."""
    return "".join(
        f'<collision><origin xyz="{place}"/><geometry><sphere radius="{radius}"/></geometry></collision>'
        for place in places
    )


def table(client: int) -> None:
    """Put the table on a plane."""
    p.loadURDF("plane.urdf", physicsClientId=client)
    feet = balls(BALL, [f"{x} {y} {BALL - HEIGHT}" for x, y in FEET.values()])
    mass = inertial(TABLE, (2, 3, 4), f"{CENTRE[0]} {CENTRE[1]} 0")
    body = loaded(client, f'<robot name="table"><link name="top">{mass}{feet}</link></robot>', [0, 0, HEIGHT])
    p.changeDynamics(body, -1, lateralFriction=0.5, physicsClientId=client)


def gripper(client: int) -> None:
    """Let two fingers on slides press on a block in the air."""
    # before the motors: PyBullet multiplies their force by the time step that it has then
    p.setTimeStep(1 / 1000, physicsClientId=client)
    p.setPhysicsEngineParameter(numSolverIterations=200, solverResidualThreshold=0, physicsClientId=client)
    fingers = "".join(
        f'<link name="{name}">{inertial(0.1, (1e-4, 1e-4, 1e-4))}{balls(PAD, [f"{x} 0 0" for x in PADS])}</link>'
        f'<joint name="{name}" type="prismatic"><parent link="palm"/><child link="{name}"/>'
        f'<origin xyz="0 {way * (HALF + PAD)} 0"/><axis xyz="0 {-way} 0"/>'
        f'<limit lower="-0.05" upper="0.05" effort="{LIMIT}" velocity="1"/></joint>'
        for name, way in (("left", 1), ("right", -1))
    )
    palm = f'<link name="palm">{inertial(1, (1, 1, 1))}</link>'
    hand = loaded(client, f'<robot name="gripper">{palm}{fingers}</robot>', [0, 0, 0.5], fixed=True)
    box = f'<collision><geometry><box size="0.08 {2 * HALF} 0.06"/></geometry></collision>'
    mass = inertial(BLOCK, (4e-4, 4e-4, 4e-4), "0.01 0 0")
    block = loaded(client, f'<robot name="block"><link name="block">{mass}{box}</link></robot>', [0, 0, 0.5])
    p.changeDynamics(block, -1, lateralFriction=0.6, physicsClientId=client)
    for joint in range(2):
        p.changeDynamics(hand, joint, lateralFriction=1.0, physicsClientId=client)
        p.setJointMotorControl2(
            hand, joint, p.VELOCITY_CONTROL, targetVelocity=0.05, force=SQUEEZE, physicsClientId=client
        )


def husky(client: int) -> None:
    """Put PyBullet's Husky on a plane."""
    p.loadURDF("plane.urdf", physicsClientId=client)
    p.loadURDF("husky/husky.urdf", [0, 0, 0.15], physicsClientId=client)


def minitaur(client: int) -> None:
    """Put PyBullet's Minitaur on a plane, its legs closed and its motors held."""
    own = {"physicsClientId": client}
    p.setTimeStep(1 / 500, **own)
    p.loadURDF("plane.urdf", **own)
    robot = p.loadURDF("quadruped/minitaur.urdf", [0, 0, 0.2], **own)
    index = {p.getJointInfo(robot, j, **own)[1].decode(): j for j in range(p.getNumJoints(robot, **own))}
    for leg, way in (("front_left", -1), ("back_left", -1), ("front_right", 1), ("back_right", 1)):
        for side in "LR":
            motor, knee = index[f"motor_{leg}{side}_joint"], index[f"knee_{leg}{side}_link"]
            p.resetJointState(robot, motor, way * math.pi / 2, **own)
            p.resetJointState(robot, knee, -way * 2.1834, **own)
            p.setJointMotorControl2(robot, motor, p.POSITION_CONTROL, way * math.pi / 2, force=20, **own)
            p.setJointMotorControl2(robot, knee, p.VELOCITY_CONTROL, force=0, **own)
        feet = index[f"knee_{leg}R_link"], index[f"knee_{leg}L_link"]
        pivots = [0, 0.005, 0.2], [0, 0.01, 0.2]
        p.createConstraint(robot, feet[0], robot, feet[1], p.JOINT_POINT2POINT, [0, 0, 0], *pivots, **own)


# MuJoCo


def in_mujoco(mjcf: str, steps: int, force: float = 0.0) -> list[Contact]:
    """Let a scene come to rest with a force of all motors, N, and return its contacts."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf)
    data = mujoco.MjData(model)
    data.ctrl[:] = force
    for _ in range(steps):
        mujoco.mj_step(model, data)
    with mb.watch(model, data) as watch:
        watch.update()
        return normal_forces(watch)


def table_mjcf() -> str:
    """Return the table as MJCF."""
    feet = "".join(
        f'<geom type="sphere" size="{BALL}" pos="{x} {y} {BALL - HEIGHT}" mass="0"/>'
        for x, y in FEET.values()
    )
    return (
        '<mujoco><option timestep="0.001"/><default><geom friction="0.5 0 0" condim="3"/></default><worldbody>'
        f'<geom type="plane" size="5 5 1"/><body name="top" pos="0 0 {HEIGHT}"><freejoint/>'
        f'<inertial pos="{CENTRE[0]} {CENTRE[1]} 0" mass="{TABLE}" diaginertia="2 3 4"/>{feet}</body>'
        "</worldbody></mujoco>"
    )


def gripper_mjcf() -> str:
    """Return the gripper with its block as MJCF."""
    pads = "".join(f'<geom type="sphere" size="{PAD}" pos="{x} 0 0" mass="0"/>' for x in PADS)
    fingers = "".join(
        f'<body name="{name}" pos="0 {way * (HALF + PAD)} 0.5"><inertial pos="0 0 0" mass="0.1" '
        f'diaginertia="1e-4 1e-4 1e-4"/><joint name="{name}" type="slide" axis="0 {-way} 0" '
        f'actuatorfrcrange="{-LIMIT} {LIMIT}"/>{pads}</body>'
        for name, way in (("left", 1), ("right", -1))
    )
    return (
        '<mujoco><option timestep="0.001" cone="elliptic" impratio="10"/><default><geom friction="0.6 0 0" condim="3"/>'
        f'</default><worldbody>{fingers}<body name="block" pos="0 0 0.5"><freejoint/><inertial pos="0.01 0 0" '
        f'mass="{BLOCK}" diaginertia="4e-4 4e-4 4e-4"/><geom type="box" size="0.04 {HALF} 0.03"/></body></worldbody>'
        '<actuator><motor joint="left"/><motor joint="right"/></actuator></mujoco>'
    )


def all_contacts() -> dict[str, dict[str, list[Contact]]]:
    """Return the contacts by scene and engine."""
    found = {
        "table on four legs": {"PyBullet": in_pybullet(table, 1000)},
        "gripper with a block": {"PyBullet": in_pybullet(gripper, 1000)},
        "Husky": {"PyBullet": in_pybullet(husky, 1000)},
        "Minitaur": {"PyBullet": in_pybullet(minitaur, 1000)},
    }
    try:
        found["table on four legs"]["MuJoCo"] = in_mujoco(table_mjcf(), 3000)
        found["gripper with a block"]["MuJoCo"] = in_mujoco(gripper_mjcf(), 1000, SQUEEZE)
    except ImportError:
        print("MuJoCo is not installed: PyBullet alone")
    return found


def report(found: dict[str, dict[str, list[Contact]]]) -> None:
    """Print the interval of each contact and the engines' numbers, N."""
    print(f"{'normal forces, N':<40}{'smallest':>9} {'largest':>9}{'PyBullet':>10}{'MuJoCo':>9}")
    for scene, engines in found.items():
        print(scene)
        for k, contact in enumerate(engines["PyBullet"]):
            numbers = [engines[engine][k].engine for engine in engines]
            shown = "".join(f"{number:{width}.2f}" for number, width in zip(numbers, (10, 9), strict=False))
            # no minus sign before a zero
            lower, upper = round(contact.lower, 2) + 0.0, round(contact.upper, 2) + 0.0
            print(f"  {contact.name:<40}{lower:7.2f} …{upper:8.2f}{shown}")


def draw(found: dict[str, dict[str, list[Contact]]], file: Path) -> None:
    """Draw the interval of each contact as a bar, and the engines' numbers as marks."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(found), figsize=(15, 4.5), layout="constrained")
    for plot, (scene, engines) in zip(axes, found.items(), strict=True):
        contacts = engines["PyBullet"]
        at = np.arange(len(contacts))
        lower, upper = (np.array([getattr(c, end) for c in contacts]) for end in ("lower", "upper"))
        plot.bar(at, upper - lower, 0.5, bottom=lower, color="0.82", label="all possible values")
        for engine, own in engines.items():
            mark, color = MARKS[engine]
            style = {"color": color, "markeredgecolor": "white", "markersize": 9, "zorder": 3}
            plot.plot(at, [c.engine for c in own], mark, label=engine, **style)
        plot.set_xticks(at, [str(k + 1) for k in at])
        plot.set(title=scene, xlabel="contact")
        plot.set_ylim(bottom=min(0.0, *plot.get_ylim()))
    axes[0].set_ylabel("normal force, N")
    axes[0].legend()
    file.parent.mkdir(exist_ok=True)
    figure.savefig(file, dpi=120)
    print(f"drawn to out/{file.name}")


if __name__ == "__main__":
    contacts_found = all_contacts()
    report(contacts_found)
    try:
        draw(contacts_found, OUT / "contact_forces.png")
    except ImportError:
        print("no figure: pip install matplotlib")
