"""Build a mechanism in a PyBullet client, and read and set its state in mbplugin's coordinates."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from mbplugin.bullet import engine, quiet, tree
from mbplugin.errors import BrokenModel
from mbplugin.model import BodyPoses, Pair, Scene, forward, rate_vector, stated_coordinates, travel_per_radian
from mbplugin.model.mechanism import WORLD, Coupling, Mechanism, TreeJoint
from mbplugin.model.spatial import Array, Pose, quaternion_from_rotation, rotation_from_quaternion

_FREE = {"linearDamping": 0, "angularDamping": 0, "maxJointVelocity": 1e9}
#: Force limit (N, N·m) of constraints and locked joints, too large to be reached.
UNLIMITED = 1e9
_CLOSURES = ("spherical", "fixed", "prismatic", "revolute", "continuous")


# A mechanism as bodies and constraints of a PyBullet client, without PyBullet's own disturbances of the motion.


def build(
    mech: Scene | Mechanism,
    client: int,
    q: Array | None = None,
    qd: Array | None = None,
    *,
    visuals: tree.Visuals | None = None,
) -> Built:
    """Build a mechanism in a connected client.

    Everything that would falsify the motion is switched off: damping of bodies, motors, sleeping, collisions, joint
    limits and the limit on joint rates. The viscous joint damping of the file stays. Gravity, time step and solver
    settings of the client are not changed.

    Parameters
    ----------
    mech : Scene or Mechanism
        The payloads of a scene are included.
    client : int
        Client id from ``pybullet.connect``.
    q, qd : (nq,), (nv,) array, optional
        Initial coordinates and rates; default: those of the scene, or else the home pose at rest.
    visuals : mapping of body to sequence of Visual, optional
        Appearance of the bodies.

    Raises
    ------
    BrokenModel
        PyBullet refuses the model.
    """
    scene = mech if isinstance(mech, Scene) else None
    mechanism = scene.mechanism if scene else mech
    assert isinstance(mechanism, Mechanism)
    heavy, halves = tree.split(tree.loaded(mechanism, scene.payloads if scene else ()))
    bullet = engine()
    places: dict[str, Place] = {}
    motors: dict[str, tuple[Motor, ...]] = {}
    ids, merged = [], list[str]()
    with quiet(), tempfile.TemporaryDirectory() as folder:
        for k, (root, joints) in enumerate(tree.trees(heavy)):
            path = Path(folder) / f"tree{k}"
            path.mkdir()
            text = tree.tree_text(heavy, root, joints, visuals or {}, path)
            ids.append(_load(bullet, client, text, path / "tree.urdf"))
            _find(bullet, client, ids[-1], text, joints, places, motors)
            merged += [_name(joint) for joint in joints if joint.outer in text.carriers]
        cut = _with_centres_of(mechanism, heavy, halves)
        built = Built(
            bullet, client, mechanism, cut, halves, places, motors, {}, tuple(ids), merged=tuple(merged)
        )
        built.set_state(*_start(scene, mechanism, q, qd))
        ties, left_out = add_constraints(built)
        massless = (
            f"{name!r} moves no mass, which PyBullet cannot simulate"
            for name in tree.movers_without_mass(heavy)
        )
        left_out = (*massless, *left_out, *_held(built), *_dampers(built))
    return replace(built, ties=ties, left_out=left_out)


def _with_centres_of(mech: Mechanism, heavy: Mechanism, halves: dict[str, str]) -> Mechanism:
    """Return ``heavy`` with the original centres of mass, to which the coordinates of free bases refer."""
    centre = {body.name: body.p_LC for body in mech.bodies}
    bodies = (replace(body, p_LC=centre[halves.get(body.name, body.name)]) for body in heavy.bodies)
    return replace(heavy, bodies=tuple(bodies))


def _start(scene: Scene | None, mech: Mechanism, q: Array | None, qd: Array | None) -> tuple[Array, Array]:
    """Return the initial coordinates q (nq,) and rates qd (nv,); None stands for those of the scene."""
    state = scene.state if scene else None
    base = state.q if state else None
    return stated_coordinates(mech, q, base), rate_vector(mech, qd, state.qd if state else None)


def _load(bullet: ModuleType, client: int, text: tree.TreeText, path: Path) -> int:
    path.write_text(text.text, encoding="utf-8")
    fixed = text.root == "world"
    flags = bullet.URDF_USE_INERTIA_FROM_FILE
    try:
        body = int(bullet.loadURDF(str(path), useFixedBase=fixed, flags=flags, physicsClientId=client))
    except bullet.error:
        body = -1
    total = bullet.getNumJoints(body, physicsClientId=client) if body >= 0 else 0
    if body < 0 or total != sum(len(names) for names in text.joints.values()):
        raise BrokenModel(f"PyBullet cannot load the tree rooted at {text.root!r}")
    return body


def _find(
    bullet: ModuleType,
    client: int,
    body: int,
    text: tree.TreeText,
    joints: tuple[TreeJoint, ...],
    places: dict[str, Place],
    motors: dict[str, tuple[Motor, ...]],
) -> None:
    """Record the ids of the bodies and joints of a tree, and switch off anything that would falsify its motion."""
    infos = [
        bullet.getJointInfo(body, k, physicsClientId=client)
        for k in range(int(bullet.getNumJoints(body, physicsClientId=client)))
    ]
    link_of_joint = {info[1].decode(): info[0] for info in infos}
    link_of_name = {info[12].decode(): info[0] for info in infos}
    X_SC = {}
    for link in range(-1, len(infos)):
        bullet.changeDynamics(body, link, jointDamping=0, **_FREE, physicsClientId=client)
        info = bullet.getDynamicsInfo(body, link, physicsClientId=client)
        X_SC[link] = Pose(rotation_from_quaternion(info[4]), np.array(info[3], dtype=float))
    for name, link_name in text.links.items():
        link = link_of_name.get(link_name, -1)
        if link >= 0 or text.root != "world":
            # on loading, Bullet zeroes inertias that it considers invalid, but it accepts them when set afterwards
            moments = text.inertias[link_name].clip(0.0).tolist()
            bullet.changeDynamics(body, link, localInertiaDiagonal=moments, physicsClientId=client)
        if link < 0 and name == text.root and name != "world":
            places[name] = Place(body, -1, X_SC[-1])
    for joint in joints:
        assert joint.pair is not None
        if joint.outer in text.carriers:
            continue
        names = text.joints[joint.pair.name]
        last = link_of_joint[names[-1]]
        places[joint.outer] = Place(body, last, tree.outer_frame(joint) @ X_SC[last])
        found = [
            Motor(body, link_of_joint[names[k]], step, X_SC[link_of_joint[names[k]]].R)
            for k, step in moving_steps(joint)
        ]
        for motor in found:
            _release(bullet, client, motor)
        if found:
            motors[joint.pair.name] = tuple(found)
    ground = Place(body, -1, X_SC[-1])
    for name, (carrier, X_HB) in text.carriers.items():
        of_carrier = places.get(carrier, ground)
        places[name] = replace(of_carrier, X_LC=X_HB.inverse() @ of_carrier.X_LC)


def _release(bullet: ModuleType, client: int, motor: Motor) -> None:
    """Switch off the motor that PyBullet gives to every joint by default."""
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


def _held(built: Built) -> tuple[str, ...]:
    """Lock the joints that are locked from the start; return a sentence for each one that cannot be locked."""
    return tuple(
        f"PyBullet has no motor that locks {lock.joint!r}"
        for lock in built.mechanism.locks
        if not hold(built, lock.joint)
    )


def _dampers(built: Built) -> tuple[str, ...]:
    """Set the viscous joint damping; return a sentence for each pair without a joint for it."""
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


# Closures, couplings and closed locks as PyBullet constraints and motors.


def add_constraints(built: Built) -> tuple[Mapping[str, tuple[int, ...]], tuple[str, ...]]:
    """Create the constraints of all closures and couplings.

    Returns
    -------
    ties : mapping of constraint to tuple of int
        Ids in PyBullet.
    left_out : tuple of str
        One sentence for each constraint that PyBullet does not support.
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
    """Lock a pair by motors with target rate zero; return False if it has no suitable motor."""
    motors = built.motors.get(pair, ())
    for motor in motors:
        if motor.step.kind == "spherical":
            return False
        drive(built, motor, 0.0, UNLIMITED)
    return bool(motors)


def drive(built: Built, motor: Motor, rate: float, force: float) -> None:
    """Let a motor drive an axis at a rate (rad/s or m/s) with a limited force (N·m or N)."""
    built.bullet.setJointMotorControl2(
        motor.id,
        motor.link,
        built.bullet.VELOCITY_CONTROL,
        targetVelocity=rate,
        force=force,
        physicsClientId=built.client,
    )


def constraint_parts(mech: Mechanism, pair: Pair) -> list[tuple[str, Array]]:
    """Return PyBullet's constraint types for a pair and their offsets (3,) along the joint axis, m.

    A hinge becomes two point constraints on its axis: one redundant row, but the same motion.
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
    """Create one constraint, offset by ``shift`` (3,) in P and S, m.

    PyBullet takes the frames relative to the inertial frames of the bodies; that of the ground is W.
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
    """Return the axes of a coupling with their coefficients; empty if a term is not on an axis with a motor."""
    found = []
    for term in coupling.terms:
        for motor in built.motors.get(term.joint, ()):
            if motor.step.freedom == term.freedom and motor.step.kind != "spherical":
                found.append((motor, term.coefficient))
    return found if len(found) == len(coupling.terms) else []


def _gear(built: Built, a: Motor, b: Motor, ratio: float) -> int:
    """Couple two axes by  q̇_a + ratio · q̇_b = 0."""
    bullet: Any = built.bullet
    zero = [0, 0, 0]
    uid = bullet.createConstraint(
        a.id, a.link, b.id, b.link, bullet.JOINT_GEAR, [0, 0, 1], zero, zero, physicsClientId=built.client
    )
    bullet.changeConstraint(uid, gearRatio=ratio, maxForce=UNLIMITED, physicsClientId=built.client)
    return int(uid)


@dataclass(frozen=True, eq=False)
class Place:
    """The ids and the inertial frame of a body in the client.

    Parameters
    ----------
    id, link : int
        Unique id of the multibody, and index of the link in it; −1 is its base.
    X_LC : Pose
        Inertial frame, whose pose PyBullet states, in the link frame of the body.
    """

    id: int
    link: int
    X_LC: Pose


@dataclass(frozen=True, eq=False)
class Motor:
    """A PyBullet joint that represents one freedom of a pair, or three as a ball joint.

    Parameters
    ----------
    R_JC : (3, 3) array
        Orientation of the inertial frame of its link in the joint frame that moves with the link.
    """

    id: int
    link: int
    step: tree.Step
    R_JC: Array


@dataclass(frozen=True, eq=False)
class Built:
    """A mechanism that :func:`mbplugin.bullet.built.build` has built in a client.

    Parameters
    ----------
    bullet : module
        pybullet.
    mechanism : Mechanism
        The original mechanism, whose coordinates the state uses.
    cut : Mechanism
        The mechanism in the client, in which some bodies are split into two halves held together.
    halves : mapping of half to whole
    places : mapping of body to Place
    motors : mapping of tree pair to tuple of Motor
        From the inner body outwards; the joints of fixed pairs are left out.
    ties : mapping of closure or coupling to tuple of int
        Ids of the constraints that represent it.
    ids : tuple of int
        Unique ids of the multibodies.
    left_out : tuple of str
        Parts that PyBullet does not support, one sentence each.
    merged : tuple of str
        Fixed pairs whose two bodies are one link, as PyBullet does not report so many joints.
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
    merged: tuple[str, ...] = ()

    def set_state(self, q: Array, qd: Array | None = None) -> None:
        """Set the state of all joints and free bases; at rest if no rates are given.

        Parameters
        ----------
        q, qd : (nq,), (nv,) array
            In the order of ``q_names`` and ``qd_names``. Loops are not closed here.
        """
        qd = np.zeros(len(self.mechanism.qd_names)) if qd is None else qd
        q, rates = tree.split_state(self.mechanism, self.cut, self.halves, q, qd)
        poses = forward(self.cut, q)
        for joint in self.cut.tree.joints:
            if joint.pair is None:
                self._set_base(joint.outer, poses, rates[joint.qd])
            else:
                self._set_joint(joint, q[joint.q], rates[joint.qd])

    def state(self) -> tuple[Array, Array]:
        """Return q (nq,) and qd (nv,) of PyBullet's present state; quaternions have w ≥ 0."""
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
        """Remove all bodies and constraints of the mechanism from the client."""
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
        """Set the pose and the twist (6,) of a root body, in world axes."""
        place, i = self.places[body], self.cut.body_index[body]
        X_WC = poses.of(i) @ place.X_LC
        turn = quaternion_from_rotation(X_WC.R).tolist()
        self.bullet.resetBasePositionAndOrientation(
            place.id, X_WC.p.tolist(), turn, physicsClientId=self.client
        )
        # PyBullet's reference point is the body's centre of mass in the client, which a payload may have moved
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
        """Set the PyBullet joints of a tree joint to its q (nq,) and qd (nv,)."""
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


def freedom_of(joint: TreeJoint, step: tree.Step) -> tuple[int, float]:
    """Return the index of the freedom that an axis represents, and the axis motion per unit of that freedom."""
    assert joint.pair is not None
    free = joint.pair.kind.free
    if step.freedom in free:
        return free.index(step.freedom), 1.0
    return 0, travel_per_radian(joint.pair)


def moving_steps(joint: TreeJoint) -> list[tuple[int, tree.Step]]:
    """Return the movable steps of a joint, with their indices in its chain."""
    return [(k, step) for k, step in enumerate(tree.steps_of(joint)) if step.kind != "fixed"]


def _name(joint: TreeJoint) -> str:
    assert joint.pair is not None
    return joint.pair.name


def _to_ball(joint: TreeJoint, motor: Motor, q: Array, w_P: Array) -> tuple[list[float], list[float]]:
    """Return the quaternion and rate of a ball joint in axes of the inertial frame C, as PyBullet takes them.

    They are computed from the quaternion q (4,), xyzw, and the rate ``w_P`` (3,) in axes of P.
    """
    R_PS = rotation_from_quaternion(q)
    R = R_PS.T if joint.reversed else R_PS
    w = -R_PS.T @ w_P if joint.reversed else w_P
    turn = quaternion_from_rotation(motor.R_JC.T @ R @ motor.R_JC)
    rate = motor.R_JC.T @ R.T @ w
    return turn.tolist(), rate.tolist()


def _from_ball(joint: TreeJoint, motor: Motor, turn: Array, rate: Array) -> tuple[Array, Array]:
    """Return quaternion (4,) and rate (3,) of a ball joint in P from its ``turn`` (4,) and ``rate`` (3,) in C."""
    R = motor.R_JC @ rotation_from_quaternion(turn) @ motor.R_JC.T
    w = R @ motor.R_JC @ rate
    if joint.reversed:
        return quaternion_from_rotation(R.T), -R.T @ w
    return quaternion_from_rotation(R), w
