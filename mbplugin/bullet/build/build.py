"""Any mechanism as bodies and constraints of a PyBullet client, prepared for an undisturbed motion."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np

from mbplugin.bullet.build.chain import outer_frame
from mbplugin.bullet.build.mass import loaded, movers_without_mass
from mbplugin.bullet.build.split import split
from mbplugin.bullet.build.ties import hold, add_constraints
from mbplugin.bullet.build.tree import TreeText, Visuals, tree_text, trees
from mbplugin.bullet.build.built import Built, Motor, Place, moving_steps
from mbplugin.bullet.session import engine, quiet
from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import rate_vector
from mbplugin.model.plausible import stated_coordinates
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array, Pose, rotation_from_quaternion

_FREE = {"linearDamping": 0, "angularDamping": 0, "maxJointVelocity": 1e9}


def build(
    mech: Scene | Mechanism,
    client: int,
    q: Array | None = None,
    qd: Array | None = None,
    *,
    visuals: Visuals | None = None,
) -> Built:
    """Build a mechanism in a connected client.

    What falsifies a motion is off: damping of bodies, motors, sleeping, collisions, joint limits and
    the bound on joint rates. Viscous damping of the file's joints stays. The gravity, step and solver
    of the client are left alone.

    Parameters
    ----------
    mech : Scene or Mechanism
        Payloads of a scene are carried along.
    client : int
        What ``pybullet.connect`` returned.
    q, qd : (nq,), (nv,) array, optional
        Coordinates and rates to start with; else the scene's, else the home pose at rest.
    visuals : mapping of body to sequence of Visual, optional
        What the bodies look like.

    Raises
    ------
    BrokenModel
        PyBullet refuses it.
    """
    scene = mech if isinstance(mech, Scene) else None
    mechanism = scene.mechanism if scene else mech
    assert isinstance(mechanism, Mechanism)
    heavy, halves = split(loaded(mechanism, scene.payloads if scene else ()))
    bullet = engine()
    places: dict[str, Place] = {}
    motors: dict[str, tuple[Motor, ...]] = {}
    ids = []
    with quiet(), tempfile.TemporaryDirectory() as folder:
        for k, (root, joints) in enumerate(trees(heavy)):
            path = Path(folder) / f"tree{k}"
            path.mkdir()
            text = tree_text(heavy, root, joints, visuals or {}, path)
            ids.append(_load(bullet, client, text, path / "tree.urdf"))
            _find(bullet, client, ids[-1], text, joints, places, motors)
        cut = _with_centres_of(mechanism, heavy, halves)
        built = Built(bullet, client, mechanism, cut, halves, places, motors, {}, tuple(ids))
        built.set_state(*_start(scene, mechanism, q, qd))
        ties, left_out = add_constraints(built)
        left_out = (*_massless(heavy), *left_out, *_held(built), *_dampers(built))
    return replace(built, ties=ties, left_out=left_out)


def _with_centres_of(mech: Mechanism, heavy: Mechanism, halves: dict[str, str]) -> Mechanism:
    """Return the mechanism with the centres of mass to which the coordinates of free bases refer."""
    centre = {body.name: body.p_LC for body in mech.bodies}
    bodies = (replace(body, p_LC=centre[halves.get(body.name, body.name)]) for body in heavy.bodies)
    return replace(heavy, bodies=tuple(bodies))


def _start(scene: Scene | None, mech: Mechanism, q: Array | None, qd: Array | None) -> tuple[Array, Array]:
    """Return coordinates q (nq,) and rates qd (nv,) at the start; None are the scene's."""
    state = scene.state if scene else None
    base = state.q if state else None
    return stated_coordinates(mech, q, base), rate_vector(mech, qd, state.qd if state else None)


def _load(bullet: ModuleType, client: int, text: TreeText, path: Path) -> int:
    path.write_text(text.text, encoding="utf-8")
    fixed = text.root == "world"
    flags = bullet.URDF_USE_INERTIA_FROM_FILE
    try:
        body = int(bullet.loadURDF(str(path), useFixedBase=fixed, flags=flags, physicsClientId=client))
    except bullet.error:
        body = -1
    total = bullet.getNumJoints(body, physicsClientId=client) if body >= 0 else 0
    if body < 0 or total != sum(len(names) for names in text.joints.values()):
        raise BrokenModel(f"PyBullet does not take the tree on {text.root!r}")
    return body


def _find(
    bullet: ModuleType,
    client: int,
    body: int,
    text: TreeText,
    joints: tuple[TreeJoint, ...],
    places: dict[str, Place],
    motors: dict[str, tuple[Motor, ...]],
) -> None:
    """Note where bodies and joints of a tree are, and switch off what falsifies its motion."""
    infos = [
        bullet.getJointInfo(body, k, physicsClientId=client) for k in range(_count(bullet, client, body))
    ]
    link_of_joint = {info[1].decode(): info[0] for info in infos}
    link_of_name = {info[12].decode(): info[0] for info in infos}
    X_SC = {}
    for link in range(-1, len(infos)):
        bullet.changeDynamics(body, link, jointDamping=0, **_FREE, physicsClientId=client)
        X_SC[link] = _inertial_frame(bullet, client, body, link)
    for name, link_name in text.links.items():
        link = link_of_name.get(link_name, -1)
        if link >= 0 or text.root != "world":
            # Bullet sets inertias to zero that it dislikes, and takes them afterwards
            moments = text.inertias[link_name].clip(0.0).tolist()
            bullet.changeDynamics(body, link, localInertiaDiagonal=moments, physicsClientId=client)
        if link < 0 and name == text.root and name != "world":
            places[name] = Place(body, -1, X_SC[-1])
    for joint in joints:
        assert joint.pair is not None
        names = text.joints[joint.pair.name]
        last = link_of_joint[names[-1]]
        places[joint.outer] = Place(body, last, outer_frame(joint) @ X_SC[last])
        found = [
            Motor(body, link_of_joint[names[k]], step, X_SC[link_of_joint[names[k]]].R)
            for k, step in moving_steps(joint)
        ]
        for motor in found:
            _release(bullet, client, motor)
        if found:
            motors[joint.pair.name] = tuple(found)


def _count(bullet: ModuleType, client: int, body: int) -> int:
    return int(bullet.getNumJoints(body, physicsClientId=client))


def _inertial_frame(bullet: ModuleType, client: int, body: int, link: int) -> Pose:
    info = bullet.getDynamicsInfo(body, link, physicsClientId=client)
    return Pose(rotation_from_quaternion(info[4]), np.array(info[3], dtype=float))


def _release(bullet: ModuleType, client: int, motor: Motor) -> None:
    """Take away the motor that PyBullet gives to every joint."""
    if motor.step.kind == "spherical":
        bullet.setJointMotorControlMultiDof(
            motor.id,
            motor.link,
            bullet.POSITION_CONTROL,
            targetPosition=[0, 0, 0, 1],
            positionGain=0,
            velocityGain=0,
            force=[0, 0, 0],
            physicsClientId=client,
        )
        return
    bullet.setJointMotorControl2(
        motor.id, motor.link, bullet.VELOCITY_CONTROL, force=0, physicsClientId=client
    )


def _massless(mech: Mechanism) -> tuple[str, ...]:
    return tuple(
        f"{name!r} is to move without a mass, which PyBullet cannot do" for name in movers_without_mass(mech)
    )


def _held(built: Built) -> tuple[str, ...]:
    """Hold joints that are locked from the start."""
    return tuple(
        f"PyBullet has no motor that locks {lock.joint!r}"
        for lock in built.mechanism.locks
        if not hold(built, lock.joint)
    )


def _dampers(built: Built) -> tuple[str, ...]:
    """Give axes the viscous damping of their pairs."""
    left_out = []
    for pair in built.cut.pairs:
        for freedom, values in zip(pair.kind.free, pair.freedoms, strict=True):
            if not values.damping:
                continue
            found = [m for m in built.motors.get(pair.name, ()) if m.step.freedom == freedom]
            for motor in found:
                built.bullet.changeDynamics(
                    motor.id, motor.link, jointDamping=values.damping, physicsClientId=built.client
                )
            if not found:
                left_out.append(f"PyBullet has no damper for {pair.name!r}")
    return tuple(left_out)
