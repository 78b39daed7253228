"""A live PyBullet client as a scene: every body, joint and constraint in it, and its present state.

PyBullet describes a link by its inertial frame C (origin at the centre of mass, principal axes);
here it becomes the link frame L of the file, X_LC being what the client calls the local inertial
frame. The client is only read: nothing is reset, stepped or recomputed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import inf
from types import ModuleType
from typing import Any

import numpy as np

from mbplugin.bullet.session import engine, quiet
from mbplugin.errors import BadUsage, BrokenModel, UnknownName
from mbplugin.model.enumerations import Base
from mbplugin.model.mechanism import WORLD, Body, Freedom, Mechanism, Pair
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array, Pose, align_z, quaternion_from_rotation, rotation_from_quaternion

_TYPES = {0: "revolute", 1: "prismatic", 2: "spherical", 4: "fixed"}
_PLANAR = 3


@dataclass(frozen=True, eq=False)
class Link:
    """A link of a live body (the base has index −1): its names here and its inertial frame X_LC."""

    body: str
    joint: str
    X_LC: Pose


#: Links by body id and link index.
Links = dict[tuple[int, int], Link]


def read_client(client_id: int, *, base: Base | None = None) -> Scene:
    """Return everything that a connected PyBullet client holds.

    Names are those of the files; with several bodies in the client they become ``model/name``. A
    base without mass is fixed where it stands. Constraints are called ``constraint 7`` by their id.

    Parameters
    ----------
    client_id : int
        What ``pybullet.connect`` returned.
    base : "fixed" or "free", optional
        Overrides whether bases are fixed.

    Raises
    ------
    UnknownName
        No client of that id is connected.
    BadUsage
        The client is empty.
    BrokenModel
        It holds something that PyBullet does not describe (a planar joint).
    """
    from mbplugin.bullet.reader.constraints import read_constraints
    from mbplugin.bullet.reader.shapes import shapes_of
    from mbplugin.bullet.reader.state import state_of

    bullet = engine()
    _require_connected(bullet, client_id)
    with quiet():
        models = _models(bullet, client_id)
        links: Links = {}
        parts = [_read_model(bullet, client_id, model, base, links) for model in models]
        bodies = tuple(body for part in parts for body in part.bodies)
        pairs = tuple(pair for part in parts for pair in part.pairs)
        closures, couplings = read_constraints(bullet, client_id, links, pairs)
        gravity = _gravity(bullet, client_id)
        shapes = shapes_of(bullet, client_id, links)
    name = models[0].name if len(models) == 1 else f"client {client_id}"
    mech = Mechanism(name, bodies, (*pairs, *closures), tuple(couplings), gravity=gravity)
    state, defects = state_of(mech, parts)
    return Scene(mech, state, defects=defects, shapes=shapes)


@dataclass(frozen=True)
class _Model:
    """One body of the client: its unique id and its name, which is also made unique."""

    id: int
    name: str
    prefix: str


@dataclass(frozen=True, eq=False)
class Part:
    """What one body of the client contributes; values by the name of a pair or a free base."""

    bodies: tuple[Body, ...]
    pairs: tuple[Pair, ...]
    q: dict[str, Array]
    qd: dict[str, Array]
    free_base: tuple[str, Pose] | None


def _require_connected(bullet: ModuleType, client_id: int) -> None:
    if isinstance(client_id, bool) or not isinstance(client_id, int):
        raise BadUsage(f"{client_id!r} is no PyBullet client id", expected="what pybullet.connect returned")
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
    """Return the name, with ``#2``, ``#3`` … where it is taken, and take it."""
    free = next(n for n in (name if i == 1 else f"{name}#{i}" for i in count(1)) if n not in taken)
    taken.add(free)
    return free


def _read_model(bullet: ModuleType, client: int, model: _Model, base: Base | None, links: Links) -> Part:
    infos = [
        bullet.getJointInfo(model.id, j, physicsClientId=client)
        for j in range(bullet.getNumJoints(model.id, physicsClientId=client))
    ]
    dynamics = [bullet.getDynamicsInfo(model.id, j, physicsClientId=client) for j in range(-1, len(infos))]
    links.update(
        _links(model, _text(bullet.getBodyInfo(model.id, physicsClientId=client)[0]), infos, dynamics)
    )
    own = {index: links[model.id, index] for index in range(-1, len(infos))}

    bodies = tuple(_body(own[i - 1], info) for i, info in enumerate(dynamics))
    pairs = [_pair(info, own) for info in infos]
    X_WL = _base_pose(bullet, client, model) @ own[-1].X_LC.inverse()
    fixed = base == "fixed" or (base is None and dynamics[0][0] == 0.0)
    if fixed:
        root = own[-1].body
        name = f"{model.prefix}{WORLD}→{root.removeprefix(model.prefix)}"
        pairs.insert(0, Pair(name, "fixed", WORLD, root, X_WL, Pose.identity()))
    q, qd = _joint_values(bullet, client, model, infos, own)
    if not fixed:
        qd[own[-1].body] = np.array(
            [x for v in bullet.getBaseVelocity(model.id, physicsClientId=client) for x in v], dtype=float
        )
    return Part(bodies, tuple(pairs), q, qd, None if fixed else (own[-1].body, X_WL))


def _links(model: _Model, base_name: str, infos: Sequence[Any], dynamics: Sequence[Any]) -> Links:
    """Name every link and joint of a body; the ground's name is not for a link."""
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
    """Return a body; PyBullet tells its principal moments in the inertial frame."""
    R_LC = link.X_LC.R
    return Body(link.body, float(info[0]), link.X_LC.p, R_LC @ np.diag(info[2]) @ R_LC.T)


def _pair(info: Any, own: dict[int, Link]) -> Pair:
    child, parent = own[info[0]], own[info[16]]
    if info[2] == _PLANAR or info[2] not in _TYPES:
        raise BrokenModel(
            f"PyBullet does not tell the axes of joint {child.joint!r} (planar)",
            remedy="read its file instead of the client",
        )
    kind = _TYPES[info[2]]
    turn = np.eye(3)
    if kind in ("revolute", "prismatic"):
        turn = align_z(child.X_LC.R @ np.array(info[13]))
    X_LS = Pose(turn, np.zeros(3))
    # parentFrameOrn takes vectors of the parent's C to the child's C; the pivot is the child's L
    R_PC = rotation_from_quaternion(info[15]).T
    X_PL = Pose(parent.X_LC.R @ R_PC @ child.X_LC.R.T, parent.X_LC.apply(np.array(info[14])))
    if kind == "revolute" and info[8] > info[9]:
        kind = "continuous"
    pair = Pair(child.joint, kind, parent.body, child.body, X_PL @ X_LS, X_LS)
    if len(pair.kind.free) != 1:
        return pair
    return replace(pair, freedoms=(_freedom(info),))


def _freedom(info: Any) -> Freedom:
    """Return limits and friction; lower > upper and a zero effort or speed mean none."""
    lower, upper = (info[8], info[9]) if info[8] <= info[9] else (-inf, inf)
    effort, velocity = (x if x > 0 else inf for x in (info[10], info[11]))
    return Freedom(lower, upper, effort, velocity, damping=info[6], friction=info[7])


def _joint_values(
    bullet: ModuleType, client: int, model: _Model, infos: Sequence[Any], own: dict[int, Link]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return coordinates and rates by joint name."""
    q: dict[str, Array] = {}
    qd: dict[str, Array] = {}
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
            # Bullet turns and rates them in axes of the child's C, here they are in axes of P
            R_CC = rotation_from_quaternion(position)
            position = quaternion_from_rotation(link.X_LC.R @ R_CC @ link.X_LC.R.T)
            rate = link.X_LC.R @ R_CC @ rate
        q[link.joint], qd[link.joint] = position, rate
    return q, qd


def _base_pose(bullet: ModuleType, client: int, model: _Model) -> Pose:
    return _pose(*bullet.getBasePositionAndOrientation(model.id, physicsClientId=client))


def _gravity(bullet: ModuleType, client: int) -> Array:
    """Return gravity (3,), m/s²."""
    parameters = bullet.getPhysicsEngineParameters(physicsClientId=client)
    return np.array([parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"])


def _pose(position: Sequence[float], quaternion: Sequence[float]) -> Pose:
    return Pose(rotation_from_quaternion(tuple(quaternion)), np.array(position, dtype=float))


def _text(name: bytes) -> str:
    return name.decode(errors="replace")
