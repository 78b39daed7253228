"""Read a live PyBullet client as a scene: every body, joint and constraint in it, and its present state.

PyBullet describes a link by its inertial frame C (origin at the centre of mass, principal axes);
here this is converted to the link frame L of the file, where X_LC is what the client calls the local
inertial frame. The client is only read: nothing is reset, stepped or recomputed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from mbplugin.bullet import engine, quiet
from mbplugin.constraints.reduction import body_twists
from mbplugin.errors import BadUsage, BrokenModel, UnknownName
from mbplugin.model import WORLD, Base, Body, Coupling, Defect, Mechanism, Scene, Shape, State, Term, spatial
from mbplugin.model.mechanism import kinematics
from mbplugin.model.mechanism.pair import LARGEST_FRICTION, Contact, Freedom, Pair
from mbplugin.readers.standing import named

#: Most joints of a body of a client whose state PyBullet reports; of one with more it reports nothing.
MOST_JOINTS = 127
#: File names that PyBullet reports for triangles that were passed in without a file.
_NO_FILE = ("", "unknown_file")
_TYPES = {0: "revolute", 1: "prismatic", 2: "spherical", 4: "fixed"}
_PLANAR = 3
#: Points of PyBullet's contacts farther apart than this do not touch, m.
_APART = 1e-3
_PRISMATIC, _FIXED, _POINT, _GEAR = 1, 4, 5, 6
_CONSTRAINTS_TYPES = {_PRISMATIC: "prismatic", _FIXED: "fixed", _POINT: "spherical"}


# The state of a live client in the joint coordinates of the mechanism read from it.


def state_of(mech: Mechanism, parts: Sequence[Part]) -> tuple[State, tuple[Defect, ...]]:
    """Return coordinates and rates of all joints, and a defect per body that is moved to satisfy a constraint.

    PyBullet reports those of its own joints and bases. If a body is attached to the tree by a constraint of the
    client, its coordinates are computed from the poses and twists of the two bodies.
    """
    own = replace(mech, pairs=tuple(p for p in mech.pairs if not p.closure), couplings=())
    state = _state_without_closures(own, parts)
    hung = [joint for joint in mech.tree.joints if joint.pair is not None and joint.pair.closure]
    if not hung:
        return state, ()
    poses = kinematics.forward(own, state.q)
    twists = _twists(own, poses, state.qd)
    known_q = dict(zip(own.q_names, state.q, strict=True))
    known_qd = dict(zip(own.qd_names, state.qd, strict=True))
    q, qd = kinematics.coordinates_of(mech, poses), np.zeros(len(mech.qd_names))
    for joint in mech.tree.joints:
        if joint in hung:
            S, point = kinematics.joint_axes(mech, joint, poses)
            relative = spatial.shift_twists((twists[joint.outer] - twists[joint.inner])[:, None], point)[:, 0]
            qd[joint.qd] = np.linalg.lstsq(S, relative, rcond=None)[0]
        else:
            q[joint.q] = [known_q[name] for name in mech.q_names[joint.q]]
            qd[joint.qd] = [known_qd[name] for name in mech.qd_names[joint.qd]]
    return State(q, qd), tuple(_moved_bodies(mech, poses))


def _moved_bodies(mech: Mechanism, poses: kinematics.BodyPoses) -> Iterator[Defect]:
    """Yield a defect for each constraint that attaches a body to the tree but is violated at the client's poses."""
    for joint, pair, distance, angle in kinematics.frames_apart(mech, poses):
        if pair.closure and max(distance, angle) > kinematics.FRAMES_MEET:
            message = (
                f"{pair.name} does not hold at the present pose: its frames are {distance:.3g} m and "
                f"{np.degrees(angle):.3g}° apart; PyBullet pulls them together in its next steps, here body "
                f"{joint.outer!r} is moved to where they meet"
            )
            evidence = {"body": joint.outer, "distance": distance, "angle": angle}
            yield Defect("MB119", pair.name, message, None, evidence)


def _state_without_closures(mech: Mechanism, parts: Sequence[Part]) -> State:
    q, qd = kinematics.home(mech), np.zeros(len(mech.qd_names))
    positions = {name: value for part in parts for name, value in part.q.items()}
    rates = {name: value for part in parts for name, value in part.qd.items()}
    for body, X_WL in (part.free_base for part in parts if part.free_base is not None):
        positions[body] = kinematics.free_pose(mech, body, X_WL)
    for joint in mech.tree.joints:
        name = joint.outer if joint.pair is None else joint.pair.name
        if name in positions:
            q[joint.q], qd[joint.qd] = positions[name], rates[name]
    return State(q, qd)


def _twists(mech: Mechanism, poses: kinematics.BodyPoses, qd: spatial.Array) -> dict[str, spatial.Array]:
    """Return the twist (6,) of every body at rates qd (nv,), in world axes at the world origin."""
    twists: dict[str, spatial.Array] = {WORLD: np.zeros(6)}
    for joint in mech.tree.joints:
        S, point = kinematics.joint_axes(mech, joint, poses)
        own = spatial.shift_twists((S @ qd[joint.qd])[:, None], -point)[:, 0]
        twists[joint.outer] = twists[joint.inner] + own
    return twists


# The shapes of a live client. If a link has no visual shapes, PyBullet draws its collision shapes.


def shapes_of(bullet: ModuleType, client: int, links: Links) -> dict[str, tuple[Shape, ...]]:
    """Return the shapes of every link that has any, by body name.

    If visual triangles have no file, the collision shapes of the link are added after them.
    """
    found: dict[str, list[Shape]] = {}
    unseen = set()
    for body in dict.fromkeys(body for body, _ in links):
        for data in bullet.getVisualShapeData(body, physicsClientId=client):
            colour = tuple(float(x) for x in data[7])
            shapes = [
                replace(shape, rgba=colour)
                for shape in _shape(bullet, data, "visual", spatial.Pose.identity())
            ]
            found.setdefault(links[body, data[1]].body, []).extend(shapes)
            if any(shape.kind == "mesh" and not shape.mesh for shape in shapes):
                unseen.add((body, data[1]))
    for body, index in sorted(unseen):
        found[links[body, index].body] += _colliding(bullet, client, body, index, links[body, index].X_LC)
    return {name: tuple(shapes) for name, shapes in found.items() if shapes}


def _colliding(bullet: ModuleType, client: int, body: int, index: int, X_LC: spatial.Pose) -> Iterator[Shape]:
    """Yield the collision shapes of a link; triangles without a file become the hull of their points."""
    for k, data in enumerate(bullet.getCollisionShapeData(body, index, physicsClientId=client)):
        for shape in _shape(bullet, data, "collision", X_LC):
            if shape.kind != "mesh" or shape.mesh:
                yield shape
                continue
            _, points = bullet.getMeshData(body, index, collisionShapeIndex=k, physicsClientId=client)
            if points:
                yield Shape("collision", "hull", (), X_LC, points=tuple(points))


def _shape(bullet: ModuleType, data: Any, role: str, X_LF: spatial.Pose) -> Iterator[Shape]:
    """Yield a shape from PyBullet's data, which is given in frame F of its link; nothing for unsupported kinds."""
    X_LS = X_LF @ spatial.Pose(spatial.rotation_from_quaternion(data[6]), np.array(data[5], dtype=float))
    kind, size, file = data[2], data[3], data[4].decode(errors="replace")
    if kind == bullet.GEOM_BOX:
        yield Shape(role, "box", tuple(size), X_LS)
    elif kind == bullet.GEOM_SPHERE:
        yield Shape(role, "sphere", (size[0],), X_LS)
    elif kind in (bullet.GEOM_CYLINDER, bullet.GEOM_CAPSULE):
        name = "cylinder" if kind == bullet.GEOM_CYLINDER else "capsule"
        yield Shape(role, name, (size[1], size[0]), X_LS)
    elif kind == bullet.GEOM_MESH:
        # the path is relative to the working folder of PyBullet's process
        path = file if file in _NO_FILE else str(Path(file).absolute())
        yield Shape(role, "mesh", tuple(size), X_LS, mesh="" if file in _NO_FILE else path)
    elif kind == bullet.GEOM_PLANE:
        yield Shape(role, "plane", (), X_LS)


@dataclass(frozen=True, eq=False)
class Link:
    """A link of a live body (the base has index −1): its body and joint names, and its inertial frame X_LC."""

    body: str
    joint: str
    X_LC: spatial.Pose


#: Links by body id and link index.
Links = dict[tuple[int, int], Link]


def read_client(client_id: int, *, base: Base | None = None) -> Scene:
    """Return the content of a connected PyBullet client as a scene.

    Names are those of the files; with several bodies in the client they become ``model/name``. A base without mass
    is fixed at its present pose. Constraints are named by their id, such as ``constraint 7``.

    Parameters
    ----------
    client_id : int
        Client id from ``pybullet.connect``.
    base : "fixed" or "free", optional
        Overrides whether bases are fixed.

    Raises
    ------
    UnknownName
        No client with this id is connected.
    BadUsage
        The client is empty.
    BrokenModel
        It contains something that PyBullet does not fully describe (a planar joint).
    """

    bullet = engine()
    _require_connected(bullet, client_id)
    with quiet():
        models = _models(bullet, client_id)
        links: Links = {}
        parts = [_read_model(bullet, client_id, model, base, links) for model in models]
        bodies = tuple(body for part in parts for body in part.bodies)
        pairs = tuple(pair for part in parts for pair in part.pairs)
        closures, couplings = read_constraints(bullet, client_id, links, pairs)
        # gravity (3,), m/s²
        parameters = bullet.getPhysicsEngineParameters(physicsClientId=client_id)
        gravity = np.array([parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"])
        shapes = shapes_of(bullet, client_id, links)
    name = models[0].name if len(models) == 1 else f"client {client_id}"
    mech = Mechanism(name, bodies, (*pairs, *closures), tuple(couplings), gravity=gravity)
    state, defects = state_of(mech, parts)
    return Scene(mech, state, defects=defects, shapes=shapes)


def read_contact_points(client_id: int) -> tuple[Contact, ...]:
    """Return the points at which bodies of a connected client touch, as PyBullet found them in its last step.

    Points that are apart by more than ``_APART`` are left out, as are those between bodies fixed to the ground. The
    coefficient of friction is the product of those of both bodies, as in PyBullet.

    Parameters
    ----------
    client_id : int
        Client id from ``pybullet.connect``.

    Raises
    ------
    UnknownName, BadUsage, BrokenModel
        As for :func:`read_client`.
    """
    scene = read_client(client_id)
    mech, poses = scene.mechanism, kinematics.forward(scene.mechanism, scene.state.q)
    bullet = engine()
    links = links_of(client_id)
    friction: dict[tuple[int, int], float] = {}
    with quiet():
        for own in links:
            friction[own] = bullet.getDynamicsInfo(*own, physicsClientId=client_id)[1]
        points = bullet.getContactPoints(physicsClientId=client_id) or ()
    still = kinematics.rigid_groups(mech)[WORLD]
    found = []
    for point in points:
        # PyBullet's normal points from the second body to the first
        sides, normal = [(point[1], point[3]), (point[2], point[4])], np.array(point[7], dtype=float)
        place = 0.5 * (np.array(point[5], dtype=float) + np.array(point[6], dtype=float))
        mu = min(friction[sides[0]] * friction[sides[1]], LARGEST_FRICTION)
        pushed, other = (links[side].body for side in sides)
        if pushed in still:
            pushed, other, normal = other, pushed, -normal
        if point[8] > _APART or pushed in still:
            continue
        local = poses.of(mech.body_index[pushed]).inverse().apply(place)
        found.append(Contact("", pushed, local, normal, mu, WORLD if other in still else other))
    return tuple(named(found, [constraint.name for constraint in mech.constraints()]))


def idle_speed(client_id: int, scene: Scene) -> float | None:
    """Return the speed that a time step of free fall gives, m/s, if every model moves with less energy; else None.

    PyBullet applies a step's gravity and takes it back at the contacts, with a rest: what stands buzzes by as much.

    Parameters
    ----------
    scene : Scene
        Of :func:`read_client`, with the rates of the client.
    """
    mech, qd = scene.mechanism, scene.state.qd
    with quiet():
        step = engine().getPhysicsEngineParameters(physicsClientId=client_id)["fixedTimeStep"]
    speed = float(np.linalg.norm(mech.gravity)) * float(step)
    poses = kinematics.forward(mech, scene.state.q)
    twists = body_twists(mech, poses, qd)
    root = {WORLD: ""}
    mass: dict[str, float] = {}
    energy: dict[str, float] = {}
    for joint in mech.tree.joints:
        of = root[joint.outer] = root[joint.inner] or joint.outer
        k = mech.body_index[joint.outer]
        body, v, omega = mech.bodies[k], twists[k, :3], poses.R_WL[k].T @ twists[k, 3:]
        mass[of] = mass.get(of, 0.0) + body.mass
        energy[of] = energy.get(of, 0.0) + 0.5 * float(body.mass * v @ v + omega @ body.I_C @ omega)
    calm = all(energy[of] <= 0.5 * mass[of] * speed**2 for of in energy)
    return speed if calm else None


def links_of(client_id: int) -> Links:
    """Return the links of a connected client, with the names of :func:`read_client`.

    Raises
    ------
    BadUsage, BrokenModel
        As for :func:`read_client`.
    """
    bullet, links = engine(), Links()
    with quiet():
        for model in _models(bullet, client_id):
            _read_model(bullet, client_id, model, None, links)
    return links


@dataclass(frozen=True)
class _Model:
    """One body of the client: its unique id, its name made unique, and the prefix of its parts' names."""

    id: int
    name: str
    prefix: str


@dataclass(frozen=True, eq=False)
class Part:
    """The content of one body of the client; q and qd are by the name of a pair or a free base."""

    bodies: tuple[Body, ...]
    pairs: tuple[Pair, ...]
    q: dict[str, spatial.Array]
    qd: dict[str, spatial.Array]
    free_base: tuple[str, spatial.Pose] | None


def _require_connected(bullet: ModuleType, client_id: int) -> None:
    if isinstance(client_id, bool) or not isinstance(client_id, int):
        raise BadUsage(
            f"{client_id!r} is not a PyBullet client id", expected="what pybullet.connect returned"
        )
    with quiet():
        connected = client_id >= 0 and bool(bullet.isConnected(physicsClientId=client_id))
    if not connected:
        raise UnknownName(
            f"no PyBullet client with id {client_id} is connected",
            expected="what pybullet.connect returned in this process",
        )


def _models(bullet: ModuleType, client: int) -> list[_Model]:
    total = bullet.getNumBodies(physicsClientId=client)
    ids = [bullet.getBodyUniqueId(i, physicsClientId=client) for i in range(total)]
    if not ids:
        raise BadUsage(f"PyBullet client {client} is empty", remedy="load a model into it first")
    taken: set[str] = set()
    models = []
    for body_id in ids:
        base_name, model_name = (_text(t) for t in bullet.getBodyInfo(body_id, physicsClientId=client)[:2])
        name = unique(model_name or base_name or f"body {body_id}", taken)
        models.append(_Model(body_id, name, f"{name}/" if len(ids) > 1 else ""))
    return models


def unique(name: str, taken: set[str]) -> str:
    """Return the name, with ``#2``, ``#3`` … if it is already taken, and mark it as taken."""
    free = next(n for n in (name if i == 1 else f"{name}#{i}" for i in count(1)) if n not in taken)
    taken.add(free)
    return free


def _read_model(bullet: ModuleType, client: int, model: _Model, base: Base | None, links: Links) -> Part:
    total = int(bullet.getNumJoints(model.id, physicsClientId=client))
    if total > MOST_JOINTS:
        raise BrokenModel(
            f"PyBullet reports the state of at most {MOST_JOINTS} joints of one body; body {model.id} has {total}",
            remedy="read its file instead of the client",
        )
    infos = [bullet.getJointInfo(model.id, j, physicsClientId=client) for j in range(total)]
    dynamics = [bullet.getDynamicsInfo(model.id, j, physicsClientId=client) for j in range(-1, len(infos))]
    links.update(
        _links(model, _text(bullet.getBodyInfo(model.id, physicsClientId=client)[0]), infos, dynamics)
    )
    own = {index: links[model.id, index] for index in range(-1, len(infos))}

    bodies = tuple(_body(own[i - 1], info) for i, info in enumerate(dynamics))
    pairs = [_pair(info, own) for info in infos]
    X_WL = (
        _pose(*bullet.getBasePositionAndOrientation(model.id, physicsClientId=client))
        @ own[-1].X_LC.inverse()
    )
    fixed = base == "fixed" or (base is None and dynamics[0][0] == 0.0)
    if fixed:
        root = own[-1].body
        name = f"{model.prefix}{WORLD}→{root.removeprefix(model.prefix)}"
        pairs.insert(0, Pair(name, "fixed", WORLD, root, X_WL, spatial.Pose.identity()))
    q, qd = _joint_values(bullet, client, model, infos, own)
    if not fixed:
        qd[own[-1].body] = np.array(
            [x for v in bullet.getBaseVelocity(model.id, physicsClientId=client) for x in v], dtype=float
        )
    return Part(bodies, tuple(pairs), q, qd, None if fixed else (own[-1].body, X_WL))


def _links(model: _Model, base_name: str, infos: Sequence[Any], dynamics: Sequence[Any]) -> Links:
    """Return the links of a body with unique names for links and joints; no link is named as the ground."""
    bodies, joints = {WORLD}, {""}
    links: Links = {}
    for index in range(-1, len(infos)):
        link_name = base_name if index < 0 else _text(infos[index][12])
        joint_name = "" if index < 0 else _text(infos[index][1])
        links[model.id, index] = Link(
            model.prefix + unique(link_name or ("base" if index < 0 else f"link {index}"), bodies),
            "" if index < 0 else model.prefix + unique(joint_name or f"joint {index}", joints),
            _pose(dynamics[index + 1][3], dynamics[index + 1][4]),
        )
    return links


def _body(link: Link, info: Any) -> Body:
    """Return a body; PyBullet reports its principal moments in the inertial frame."""
    R_LC = link.X_LC.R
    return Body(link.body, float(info[0]), link.X_LC.p, R_LC @ np.diag(info[2]) @ R_LC.T)


def _pair(info: Any, own: dict[int, Link]) -> Pair:
    child, parent = own[info[0]], own[info[16]]
    if info[2] == _PLANAR or info[2] not in _TYPES:
        raise BrokenModel(
            f"PyBullet does not report the axes of joint {child.joint!r} (planar)",
            remedy="read its file instead of the client",
        )
    kind = _TYPES[info[2]]
    turn = np.eye(3)
    if kind in ("revolute", "prismatic"):
        turn = spatial.align_z(child.X_LC.R @ np.array(info[13]))
    X_LS = spatial.Pose(turn, np.zeros(3))
    # parentFrameOrn takes vectors of the parent's C to the child's C; the pivot is the child's L
    R_PC = spatial.rotation_from_quaternion(info[15]).T
    X_PL = spatial.Pose(parent.X_LC.R @ R_PC @ child.X_LC.R.T, parent.X_LC.apply(np.array(info[14])))
    if kind == "revolute" and info[8] > info[9]:
        kind = "continuous"
    pair = Pair(child.joint, kind, parent.body, child.body, X_PL @ X_LS, X_LS)
    if len(pair.kind.free) != 1:
        return pair
    return replace(pair, freedoms=(_freedom(info),))


def _freedom(info: Any) -> Freedom:
    """Return limits and friction; lower > upper, or an effort or velocity of zero, means no limit."""
    lower, upper = (info[8], info[9]) if info[8] <= info[9] else (-inf, inf)
    effort, velocity = (x if x > 0 else inf for x in (info[10], info[11]))
    return Freedom(lower, upper, effort, velocity, damping=info[6], friction=info[7])


def _joint_values(
    bullet: ModuleType, client: int, model: _Model, infos: Sequence[Any], own: dict[int, Link]
) -> tuple[dict[str, spatial.Array], dict[str, spatial.Array]]:
    """Return coordinates and rates by joint name."""
    q: dict[str, spatial.Array] = {}
    qd: dict[str, spatial.Array] = {}
    for info in infos:
        kind = _TYPES[info[2]]
        if kind == "fixed":
            continue
        link = own[info[0]]
        position, rate = (
            np.array(x, dtype=float)
            for x in bullet.getJointStateMultiDof(model.id, info[0], physicsClientId=client)[:2]
        )
        if kind == "spherical":
            # Bullet states orientation and rate in axes of the child's C; here they are in axes of P
            R_CC = spatial.rotation_from_quaternion(position)
            position = spatial.quaternion_from_rotation(link.X_LC.R @ R_CC @ link.X_LC.R.T)
            rate = link.X_LC.R @ R_CC @ rate
        q[link.joint], qd[link.joint] = position, rate
    return q, qd


def _pose(position: Sequence[float], quaternion: Sequence[float]) -> spatial.Pose:
    return spatial.Pose(spatial.rotation_from_quaternion(tuple(quaternion)), np.array(position, dtype=float))


def _text(name: bytes) -> str:
    return name.decode(errors="replace")


# The constraints of a live client: point-to-point, fixed, prismatic and gears.


_GROUND = Link(WORLD, "", spatial.Pose.identity())


def read_constraints(
    bullet: ModuleType, client: int, links: Links, pairs: Sequence[Pair]
) -> tuple[list[Pair], list[Coupling]]:
    """Return the client's constraints as closures and gear couplings.

    Parameters
    ----------
    links : mapping of (body id, link index) to Link
    pairs : sequence of Pair
        The joints of all bodies.
    """
    freedoms = {pair.name: pair.kind.free for pair in pairs}
    closures, couplings = [], []
    for i in range(bullet.getNumConstraints(physicsClientId=client)):
        uid = bullet.getConstraintUniqueId(i, physicsClientId=client)
        info = bullet.getConstraintInfo(uid, physicsClientId=client)
        if info[4] == _GEAR:
            couplings.append(_coupling(bullet, client, f"constraint {uid}", info, links, freedoms))
        else:
            closures.append(closure_of(uid, info, links))
    return closures, couplings


def closure_of(uid: int, info: Any, links: Links) -> Pair:
    """Return a constraint as a closure; PyBullet states pivots in the inertial frames, that of the ground being W.

    Parameters
    ----------
    uid : int
    info : tuple
        From ``getConstraintInfo``.
    links : mapping of (body id, link index) to Link

    Raises
    ------
    BrokenModel
        PyBullet cannot create such a constraint.
    """
    name = f"constraint {uid}"
    if info[4] not in _CONSTRAINTS_TYPES:
        raise BrokenModel(f"{name} is of a kind that PyBullet cannot create on links ({info[4]})")
    kind = _CONSTRAINTS_TYPES[info[4]]
    a = links[info[0], info[1]]
    b = _GROUND if info[2] < 0 else links[info[2], info[3]]
    R_A, R_B = np.eye(3), np.eye(3)
    if kind != "spherical":
        R_A, R_B = spatial.rotation_from_quaternion(info[8]), spatial.rotation_from_quaternion(info[9])
    turn = spatial.align_z(_axis_in_frame(name, info[5], R_A)) if kind == "prismatic" else np.eye(3)
    return Pair(
        name,
        kind,
        a.body,
        b.body,
        a.X_LC @ spatial.Pose(R_A @ turn, np.array(info[6], dtype=float)),
        b.X_LC @ spatial.Pose(R_B @ turn, np.array(info[7], dtype=float)),
        closure=True,
    )


def _axis_in_frame(name: str, axis: Sequence[float], R_A: spatial.Array) -> spatial.Array:
    """Return the axis (3,) of a prismatic constraint in its joint frame, ``R_A`` (3, 3) in the parent's inertial frame.

    PyBullet takes the axis in the parent's inertial frame.
    """
    if not any(axis):
        raise BrokenModel(f"{name} slides along a zero axis", remedy="give createConstraint a jointAxis")
    return np.asarray(R_A.T @ np.array(axis, dtype=float))


def _coupling(
    bullet: ModuleType,
    client: int,
    name: str,
    info: Any,
    links: Links,
    freedoms: dict[str, tuple[str, ...]],
) -> Coupling:
    """Return a gear constraint as a coupling; in PyBullet it is  q̇_A + ratio·q̇_B = q̇_aux, as measured.

    PyBullet corrects its position error only on request, so the present position defines the offset.
    """
    # a ratio that was never set is one in Bullet but reported as zero, and an unset auxiliary link is reported as zero
    members = [(info[0], info[1], 1.0), (info[2], info[3], info[11] or 1.0)]
    if info[12] > 0:
        members.append((info[0], info[12], -1.0))
    terms, offset = [], 0.0
    for body, link, coefficient in members:
        joint = links[body, link].joint if (body, link) in links else ""
        if len(freedoms.get(joint, ())) != 1:
            raise BrokenModel(
                f"{name} gears link {link} of body {body}, whose joint does not have exactly one freedom",
                expected="revolute or prismatic joints",
            )
        terms.append(Term(joint, freedoms[joint][0], coefficient))
        offset += coefficient * bullet.getJointState(body, link, physicsClientId=client)[0]
    return Coupling(name, "gear", tuple(terms), offset)
