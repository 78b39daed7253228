"""The ``[[model]]`` tables of a scene: each file is read, placed, and joined with the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import inf
from pathlib import Path

import numpy as np

from mbplugin.errors import BadScene
from mbplugin.model import Duty, OriginKey, Request, Scene, Shape, State, duties
from mbplugin.model.mechanism import WORLD, Body, Mechanism, coordinate_names, kinematics
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair, has_quaternion, zero_coordinates
from mbplugin.model.spatial import Array, JointSpring, Pose, rotation_from_quaternion, rotation_from_rpy
from mbplugin.phrases import listed
from mbplugin.readers.scene_file import SceneFile, SceneSource
from mbplugin.readers.scene_file.actions import (
    changes_coordinates,
    declared,
    declares_new_pair,
    inertia_matrix,
    require_known,
    retyped,
    states_both_sides,
)
from mbplugin.readers.scene_file.tables import (
    ActuatorTable,
    BrakeTable,
    ClosureTable,
    DriverTable,
    LockTable,
    ModelTable,
    PairTable,
    RampTable,
    ShapeTable,
)

#: Roles that ``passive = true`` removes from a joint.
_OF_THE_FILE = ("effort", "limits", "drive", "actuator")
#: Roles that act on the single freedom of a joint.
_ON_ONE = ("effort", "drive", "brake", "ramp", "actuator")


def read_models(source: SceneSource, tables: SceneFile, request: Request) -> Scene:
    """Return all models of a scene as one; with several models, names become ``model/name``.

    Raises
    ------
    BadScene
        Two models have the same name.
    """
    name = scene_name(request)
    if not tables.model:
        return Scene(Mechanism(name, ()), State(np.zeros(0), np.zeros(0)))
    parts = [_read_model(source, i, table, request) for i, table in enumerate(tables.model)]
    if len(parts) == 1:
        model, scene = parts[0]
        return _with_origin(replace(scene, mechanism=replace(scene.mechanism, name=name)), source, 0, model)
    names = [model for model, _ in parts]
    for i, model in enumerate(names):
        if model in names[:i]:
            raise BadScene(
                f"two models are called {model!r}",
                where=source.where("model", i),
                remedy="give each [[model]] its own name",
            )
    scene = joined(parts, name)
    for i, model in enumerate(names):
        scene = _with_origin(scene, source, i, model)
    return scene


def scene_name(request: Request) -> str:
    """Return the name of the scene: that of its file without the suffix."""
    name = Path(request.path).name
    return name.removesuffix(".toml").removesuffix(".scene") or name


def _read_model(source: SceneSource, index: int, table: ModelTable, request: Request) -> tuple[str, Scene]:
    from mbplugin.readers import load

    where = source.where("model", index, "file")
    if table.file.written.lower().endswith(".toml"):
        raise BadScene(
            f"model {table.file.written!r} is a scene",
            where=where,
            expected="a model file",
            remedy="name its models",
        )
    file = str(table.file.path(request, where))
    scene: Scene = load(
        file,
        package_dirs=request.package_dirs,
        base=request.base or table.base,
        snap_angles=request.snap_angles,
        xacro_unsafe=request.xacro_unsafe,
        xacro_args=dict(request.xacro_args),
        massless=request.massless,
    )
    X_WM = source.pose("model", index, table.xyz, table.rpy, "rpy")
    # meshes of a model are looked up beside its file
    shapes = {
        body: tuple(replace(shape, beside=file) if shape.mesh else shape for shape in own)
        for body, own in scene.shapes.items()
    }
    return table.name or scene.mechanism.name, placed(replace(scene, shapes=shapes), X_WM)


def _with_origin(scene: Scene, source: SceneSource, index: int, model: str) -> Scene:
    """Record the location of the model's angles."""
    origin = dict(scene.origin)
    if source.origin("model", index, "rpy").text:
        origin["model", model, "rpy"] = source.origin("model", index, "rpy")
    return replace(scene, origin=origin)


# Shapes stated by a scene, for its own bodies and those of its models.

_KINDS = ("box", "sphere", "cylinder", "capsule", "plane", "mesh", "hull")


def with_shapes(scene: Scene, source: SceneSource, tables: SceneFile, request: Request) -> Scene:
    """Return the scene with the shapes of its ``[[shape]]`` tables added.

    Raises
    ------
    BadScene
        A table states no kind or several, or a scale without a mesh.
    UnknownName
        A body does not exist.
    UnresolvedPath
        A mesh cannot be located, or lies outside the permitted folders.
    """
    shapes = {name: list(own) for name, own in scene.shapes.items()}
    for i, table in enumerate(tables.shape):
        require_known(table.body, scene.mechanism.body_index, "body", source.where("shape", i, "body"))
        stated = [kind for kind in _KINDS if getattr(table, kind) is not None]
        if len(stated) != 1:
            raise BadScene(
                f"a shape of {table.body!r} has {listed(stated) if stated else 'no kind'}",
                where=source.where("shape", i),
                expected=f"one of {', '.join(_KINDS)}",
            )
        if table.scale is not None and (table.mesh is None or not all(table.scale)):
            raise BadScene(
                f"the scale of a shape of {table.body!r} is {table.scale}",
                where=source.where("shape", i, "scale"),
                expected="three numbers, none of them 0, of a mesh",
            )
        if table.mesh is not None:
            table.mesh.path(request, source.where("shape", i, "mesh"))
        shapes.setdefault(table.body, []).append(_shape(table, stated[0]))
    return replace(scene, shapes={name: tuple(own) for name, own in shapes.items()})


def _shape(table: ShapeTable, kind: str) -> Shape:
    angles = np.array(table.rpy or [0.0, 0.0, 0.0], dtype=float)
    X_LS = Pose(rotation_from_rpy(angles), np.array(table.xyz or [0.0, 0.0, 0.0], dtype=float))
    value = getattr(table, kind)
    rgba = tuple(table.rgba or ())
    if table.mesh is not None:
        return Shape(
            table.role, kind, tuple(table.scale or (1.0, 1.0, 1.0)), X_LS, table.mesh.written, rgba=rgba
        )
    if kind == "hull":
        return Shape(table.role, kind, (), X_LS, points=tuple((x, y, z) for x, y, z in value), rgba=rgba)
    return Shape(table.role, kind, (value,) if kind == "sphere" else tuple(value), X_LS, rgba=rgba)


# The pose of a scene, computed in three steps that build on each other.
#
# First the models and bodies are placed by their files and ``[state]``; then pairs of the files change their
# type; then the scene's own pairs and closures are added, with missing joint frames computed from that pose.


@dataclass(frozen=True, eq=False)
class PoseSettlement:
    """A mechanism under construction, at its pose and rates."""

    mechanism: Mechanism
    state: State

    @property
    def poses(self) -> kinematics.BodyPoses:
        """Poses of its bodies."""
        return kinematics.forward(self.mechanism, self.state.q)

    def named(self, without: frozenset[str] = frozenset()) -> tuple[dict[str, float], dict[str, float]]:
        """Return coordinates and rates by name, except those in ``without``."""
        mech, state = self.mechanism, self.state
        q = {n: v for n, v in zip(mech.q_names, state.q, strict=True) if n not in without}
        qd = {n: v for n, v in zip(mech.qd_names, state.qd, strict=True) if n not in without}
        return q, qd


def settle(
    mech: Mechanism,
    known: tuple[Mapping[str, float], Mapping[str, float]],
    poses: kinematics.BodyPoses,
    tables: SceneFile,
    skip: frozenset[str] = frozenset(),
) -> PoseSettlement:
    """Return a mechanism with its state: from known values, else from the poses, overridden by ``[state]``.

    Parameters
    ----------
    known : pair of mappings
        Coordinates and rates by name.
    skip : frozenset of str
        Names in ``[state]`` that become valid only later.
    """
    state = carried(mech, *known, poses=poses)
    stated_q = {n: v for n, v in tables.state.q.items() if n in mech.q_names and n not in skip}
    stated_qd = {n: v for n, v in tables.state.qd.items() if n in mech.qd_names and n not in skip}
    q = _unit_quaternions(mech, kinematics.joint_vector(mech, stated_q, state.q))
    return PoseSettlement(mech, State(q, kinematics.rate_vector(mech, stated_qd, state.qd)))


def _unit_quaternions(mech: Mechanism, q: Array) -> Array:
    """Return q (nq,) with every quaternion normalised, since files state few digits."""
    out = np.array(q)
    for i in (i for i, name in enumerate(mech.q_names) if name.endswith(".qw")):
        length = np.linalg.norm(q[i - 3 : i + 1])
        out[i - 3 : i + 1] = q[i - 3 : i + 1] / length if length else (0.0, 0.0, 0.0, 1.0)
    return out


def place_bodies(models: Scene, source: SceneSource, tables: SceneFile) -> PoseSettlement:
    """Return the models together with the bodies that the scene itself states."""
    mech, before = models.mechanism, PoseSettlement(models.mechanism, models.state)
    bodies, written = _written_bodies(source, tables, mech)
    whole = replace(mech, bodies=(*mech.bodies, *bodies))
    known = settle(mech, before.named(), before.poses, tables, _renamed_later(mech, tables))
    poses = known.poses
    R = np.array([*poses.R_WL, *(X.R for X in written)]).reshape(-1, 3, 3)
    p = np.array([*poses.p_WL, *(X.p for X in written)]).reshape(-1, 3)
    p_LC = np.array([body.p_LC for body in whole.bodies]).reshape(-1, 3)
    placed = kinematics.BodyPoses(R, p, p + np.einsum("nij,nj->ni", R, p_LC))
    return settle(whole, known.named(), placed, tables, _renamed_later(mech, tables))


def _renamed_later(mech: Mechanism, tables: SceneFile) -> frozenset[str]:
    """Return coordinate names that change their meaning once their pair is retyped."""
    return frozenset(
        name
        for table in tables.pair
        if (pair := mech.pair_by_name.get(table.name)) and changes_coordinates(pair, table)
        for names in coordinate_names(pair.name, table.type, PAIR_TYPES[table.type].free)
        for name in names
    )


def _written_bodies(
    source: SceneSource, tables: SceneFile, mech: Mechanism
) -> tuple[tuple[Body, ...], tuple[Pose, ...]]:
    """Return the ``[[body]]`` tables and X_WL of each; their names must be new."""
    bodies, poses = [], []
    taken = set(mech.body_index)
    for i, table in enumerate(tables.body):
        if table.name in taken:
            who = "the ground" if table.name == WORLD else "another body"
            raise BadScene(
                f"{who} is called {table.name!r}", where=source.where("body", i, "name"), remedy="rename one"
            )
        taken.add(table.name)
        inertia = inertia_matrix(table.inertia, source.where("body", i, "inertia"))
        bodies.append(Body(table.name, table.mass, np.array(table.com), inertia))
        poses.append(source.pose("body", i, table.xyz, table.rpy, "rpy"))
    return tuple(bodies), tuple(poses)


def retype_pairs(stage: PoseSettlement, source: SceneSource, tables: SceneFile) -> PoseSettlement:
    """Change the types of pairs declared in the models' files."""
    pairs = {pair.name: pair for pair in stage.mechanism.pairs}
    stale: set[str] = set()
    for i, table in enumerate(tables.pair):
        if table.name not in pairs or declares_new_pair(source, i, table, pairs):
            continue
        pair = pairs[table.name]
        if changes_coordinates(pair, table):
            for names in coordinate_names(pair.name, pair.type, pair.kind.free):
                stale.update(names)
        pairs[table.name] = retyped(source, i, table, pair)
    if all(pairs[pair.name] is pair for pair in stage.mechanism.pairs):
        return stage
    mech = replace(stage.mechanism, pairs=tuple(pairs.values()))
    return settle(mech, stage.named(frozenset(stale)), stage.poses, tables)


def add_pairs(stage: PoseSettlement, source: SceneSource, tables: SceneFile) -> PoseSettlement:
    """Add the pairs, then the closures of the scene.

    Raises
    ------
    BadScene
        Two pairs have the same name, or a table contradicts itself.
    """
    old = stage.mechanism
    poses = stage.poses
    X_WL = {WORLD: Pose.identity(), **{b.name: poses.of(i) for i, b in enumerate(old.bodies)}}
    new: dict[str, Pair] = {}
    framed: list[Pair] = []
    for kind, i, table in declarations(tables):
        if table.name in old.pair_by_name or table.name in new:
            raise BadScene(
                f"two pairs are called {table.name!r}", where=source.where(kind, i), remedy="rename one"
            )
        new[table.name] = declared(source, kind, i, table, X_WL)
        if states_both_sides(table):
            framed.append(new[table.name])
    known = {**old.pair_by_name, **new}
    for i, retype in enumerate(tables.pair):
        if not declares_new_pair(source, i, retype, known) and retype.name in new:
            new[retype.name] = retyped(source, i, retype, new[retype.name])
    if not new:
        return stage
    mech = replace(old, pairs=(*old.pairs, *new.values()))
    q, qd = stage.named()
    return settle(mech, ({**_undecided(framed, tables), **q}, qd), stage.poses, tables)


def _undecided(framed: Sequence[Pair], tables: SceneFile) -> dict[str, float]:
    """Return zero coordinates for the pairs whose frames alone position a body.

    These are pairs with both joint frames stated, on bodies without a stated pose.
    """
    unplaced = {table.name for table in tables.body if table.xyz is None and table.rpy is None}
    following = {pair.body_b for pair in framed} & unplaced
    zeros: dict[str, float] = {}
    for pair in framed:
        if following & {pair.body_a, pair.body_b}:
            names, _ = coordinate_names(pair.name, pair.type, pair.kind.free)
            zeros.update(zip(names, zero_coordinates(pair.type, pair.kind.free), strict=True))
    return zeros


def declarations(tables: SceneFile) -> Iterator[tuple[str, int, PairTable | ClosureTable]]:
    """Yield the tables of the pairs and closures added by the scene, with kind and index."""
    for i, pair in enumerate(tables.pair):
        if pair.body_a is not None and pair.body_b is not None:
            yield "pair", i, pair
    for i, closure in enumerate(tables.closure):
        yield "closure", i, closure


def stated_names(stated: Iterable[str], models: Mechanism, names: Sequence[str]) -> frozenset[str]:
    """Return the coordinates or rates stated in ``[state]``, by their final ``names`` (n,)."""
    found = {name for name in stated if name in names}
    for name in stated:
        if name not in found and name in models.pair_by_name:
            found |= {f"{name}.{c}" for c in models.pair_by_name[name].kind.free} & set(names)
    return frozenset(found)


# Retyped pairs of a file: their roles must remain meaningful, or the change is an error.


def settle_duties(models: Scene, source: SceneSource, tables: SceneFile) -> Scene:
    """Return the models after making joints passive as the scene requests, and checking the roles of retyped joints.

    Raises
    ------
    BadScene
        A joint of a file would lose a drive, limits, a coupling or a spring by its new type.
    """
    retyped = {
        table.name: (i, table)
        for i, table in enumerate(tables.pair)
        if table.body_a is None and table.name in models.mechanism.pair_by_name
    }
    passive = {name for name, (_, table) in retyped.items() if table.passive}
    models = _without_drives(models, passive)
    own = duties(models)
    for name, (i, table) in retyped.items():
        pair = models.mechanism.pair_by_name[name]
        for duty in own.get(name, ()):
            if changes_coordinates(pair, table) and not _keeps_meaning(duty, pair, table):
                raise _lost(source.where("pair", i), pair, table, duty)
    return models


def check_acting(source: SceneSource, tables: SceneFile, pairs: Mapping[str, Pair]) -> None:
    """Refuse brakes, ramps, actuators, drivers and locks of the scene that cannot act on their pair.

    Raises
    ------
    BadScene
        A brake, ramp or actuator on a joint without exactly one freedom; a driver or lock that names no freedom of
        such a retyped pair; anything but a lock on a joint that is called passive.
    """
    retyped = {table.name: table for table in tables.pair if table.body_a is None}
    acting: dict[str, Sequence[BrakeTable | RampTable | ActuatorTable | DriverTable | LockTable]] = {
        "brake": tables.brake,
        "ramp": tables.ramp,
        "actuator": tables.actuator,
        "driver": tables.driver,
        "lock": tables.lock,
    }
    for kind, stated in acting.items():
        for i, table in enumerate(stated):
            pair, where = pairs[table.joint], source.where(kind, i, "joint")
            new = retyped.get(pair.name)
            what = f"the [[{kind}]] of {pair.name!r}"
            if new is not None and new.passive and kind != "lock":
                raise BadScene(f"{what} acts on a joint that a [[pair]] calls passive", where=where)
            names_freedoms = isinstance(table, (DriverTable, LockTable)) and bool(table.freedoms)
            if len(pair.kind.free) == 1 or names_freedoms:
                continue
            if kind in _ON_ONE or new is not None:
                raise BadScene(
                    f"{what} acts on a {pair.type} pair, which has {len(pair.kind.free)} freedoms",
                    where=where,
                    expected="a joint with one"
                    if kind in _ON_ONE
                    else f"freedoms, of {', '.join(pair.kind.free)}",
                    remedy="give the joint a type that keeps its one freedom" if new is not None else "",
                )


def _without_drives(models: Scene, passive: set[str]) -> Scene:
    if not passive:
        return models
    pairs = tuple(
        replace(
            pair,
            freedoms=tuple(
                replace(freedom, lower=-inf, upper=inf, effort=inf, velocity=inf) for freedom in pair.freedoms
            ),
        )
        if pair.name in passive
        else pair
        for pair in models.mechanism.pairs
    )
    return replace(
        models,
        mechanism=replace(models.mechanism, pairs=pairs),
        actuated=tuple(joint for joint in models.actuated if joint not in passive),
        actuators=tuple(actuator for actuator in models.actuators if actuator.joint not in passive),
        actuator_laws=tuple(law for law in models.actuator_laws if law.joint not in passive),
    )


def _keeps_meaning(duty: Duty, pair: Pair, table: PairTable) -> bool:
    """Return True if a role of a joint keeps its meaning with the new type."""
    free, turned = PAIR_TYPES[table.type].free, table.axis is not None and any(table.axis[:2])
    if table.type == "fixed" and duty.kind in _OF_THE_FILE:
        # a locked joint needs neither drive nor limits
        return True
    if turned or (table.axis is not None and table.axis[2] < 0):
        return False
    if duty.kind in _ON_ONE:
        return free == pair.kind.free
    # an angle that becomes part of a quaternion is not a coordinate any more
    return set(pair.kind.free) <= set(free) and not has_quaternion(table.type)


def _lost(where: str, pair: Pair, table: PairTable, duty: Duty) -> BadScene:
    by_file = duty.kind in _OF_THE_FILE
    return BadScene(
        f"{pair.type} joint {pair.name!r} has {duty.text}, which means nothing for its new type {table.type}",
        where=where,
        expected="a type that keeps its motion",
        remedy="retype passive joints only, or add passive = true where this has no drive, brake or stop"
        if by_file
        else "retype another joint",
    )


# Placement of model scenes in the world, and joining of several into one, as ``model/name``.


def placed(scene: Scene, X_WM: Pose) -> Scene:
    """Return the scene with its model placed at a pose, by its pairs with the world and its free roots."""
    mech = scene.mechanism
    pairs = tuple(
        replace(pair, X_AP=X_WM @ pair.X_AP)
        if pair.body_a == WORLD
        else replace(pair, X_BS=X_WM @ pair.X_BS)
        if pair.body_b == WORLD
        else pair
        for pair in mech.pairs
    )
    moved = replace(mech, pairs=pairs)
    q, qd = np.array(scene.state.q), np.array(scene.state.qd)
    for joint in moved.tree.joints:
        if joint.pair is None:
            p_LC = moved.bodies[moved.body_index[joint.outer]].p_LC
            R_WL = rotation_from_quaternion(q[joint.q][3:])
            X_WL = X_WM @ Pose(R_WL, q[joint.q][:3] - R_WL @ p_LC)
            q[joint.q] = kinematics.free_pose(moved, joint.outer, X_WL)
            qd[joint.qd] = (X_WM.R @ qd[joint.qd].reshape(2, 3).T).T.ravel()
    return replace(scene, mechanism=moved, state=replace(scene.state, q=q, qd=qd))


def joined(parts: Sequence[tuple[str, Scene]], name: str) -> Scene:
    """Join several models into one scene, prefixing all their names with ``model/``.

    Parameters
    ----------
    parts : sequence of (str, Scene)
        Unique model names and their scenes; gravity and options are those of the first.
    name : str
        The name of the joined scene.
    """
    scenes = [prefixed(scene, f"{model}/") for model, scene in parts]
    first = scenes[0]
    mechs = [scene.mechanism for scene in scenes]
    mech = Mechanism(
        name,
        tuple(chain.from_iterable(m.bodies for m in mechs)),
        tuple(chain.from_iterable(m.pairs for m in mechs)),
        tuple(chain.from_iterable(m.couplings for m in mechs)),
        tuple(chain.from_iterable(m.drivers for m in mechs)),
        tuple(chain.from_iterable(m.locks for m in mechs)),
        tuple(chain.from_iterable(m.pfaffians for m in mechs)),
        gravity=first.mechanism.gravity,
    )
    q: dict[str, float] = {}
    qd: dict[str, float] = {}
    for scene in scenes:
        q.update(zip(scene.mechanism.q_names, scene.state.q, strict=True))
        qd.update(zip(scene.mechanism.qd_names, scene.state.qd, strict=True))
    state = replace(
        carried(mech, q, qd),
        given=frozenset(chain.from_iterable(scene.state.given for scene in scenes)),
        given_rates=frozenset(chain.from_iterable(scene.state.given_rates for scene in scenes)),
    )
    return Scene(
        mech,
        state,
        origin={key: value for scene in scenes for key, value in scene.origin.items()},
        files=tuple(dict.fromkeys(chain.from_iterable(scene.files for scene in scenes))),
        defects=tuple(chain.from_iterable(scene.defects for scene in scenes)),
        shapes={key: value for scene in scenes for key, value in scene.shapes.items()},
        loads=tuple(chain.from_iterable(scene.loads for scene in scenes)),
        stiffness=tuple(chain.from_iterable(scene.stiffness for scene in scenes)),
        brakes=tuple(chain.from_iterable(scene.brakes for scene in scenes)),
        payloads=tuple(chain.from_iterable(scene.payloads for scene in scenes)),
        actuators=tuple(chain.from_iterable(scene.actuators for scene in scenes)),
        actuator_laws=tuple(chain.from_iterable(scene.actuator_laws for scene in scenes)),
        ramps=tuple(chain.from_iterable(scene.ramps for scene in scenes)),
        locks=tuple(chain.from_iterable(scene.locks for scene in scenes)),
        holds=tuple(chain.from_iterable(scene.holds for scene in scenes)),
        springs=tuple(chain.from_iterable(scene.springs for scene in scenes)),
        options=first.options,
        actuated=tuple(chain.from_iterable(scene.actuated for scene in scenes)),
        documents=tuple(chain.from_iterable(scene.documents for scene in scenes)),
    )


def carried(
    mech: Mechanism,
    q: Mapping[str, float],
    qd: Mapping[str, float],
    *,
    poses: kinematics.BodyPoses | None = None,
) -> State:
    """Return the state of a mechanism from named values.

    A joint without values for all its coordinates takes them from the poses, or stays at zero.
    """
    values = kinematics.home(mech) if poses is None else kinematics.coordinates_of(mech, poses)
    rates = np.zeros(len(mech.qd_names))
    for joint in mech.tree.joints:
        names, rate_names = mech.q_names[joint.q], mech.qd_names[joint.qd]
        if all(name in q for name in names):
            values[joint.q] = [q[name] for name in names]
        if all(name in qd for name in rate_names):
            rates[joint.qd] = [qd[name] for name in rate_names]
    return State(values, rates)


def prefixed(scene: Scene, prefix: str) -> Scene:
    """Return a scene with a prefix on every name except the ground's."""

    def body(name: str) -> str:
        return name if name in ("", WORLD) else prefix + name

    def named(name: str) -> str:
        return prefix + name if name else name

    def key(old: OriginKey) -> OriginKey:
        kind, name, part = old
        return (kind, prefix.rstrip("/"), part) if kind == "model" else (kind, body(name), part)

    return replace(
        scene,
        mechanism=_prefixed_mechanism(scene.mechanism, prefix),
        state=replace(
            scene.state,
            given=frozenset(named(name) for name in scene.state.given),
            given_rates=frozenset(named(name) for name in scene.state.given_rates),
        ),
        origin={key(old): origin for old, origin in scene.origin.items()},
        defects=tuple(replace(defect, element=body(defect.element)) for defect in scene.defects),
        shapes={body(name): shapes for name, shapes in scene.shapes.items()},
        loads=tuple(replace(load, body=body(load.body)) for load in scene.loads),
        stiffness=tuple(replace(s, pair=named(s.pair), body=body(s.body)) for s in scene.stiffness),
        brakes=tuple(replace(brake, joint=named(brake.joint)) for brake in scene.brakes),
        payloads=tuple(replace(payload, body=body(payload.body)) for payload in scene.payloads),
        actuators=tuple(replace(actuator, joint=named(actuator.joint)) for actuator in scene.actuators),
        actuator_laws=tuple(
            replace(law, name=named(law.name), joint=named(law.joint)) for law in scene.actuator_laws
        ),
        ramps=tuple(replace(ramp, joint=named(ramp.joint)) for ramp in scene.ramps),
        locks=tuple(replace(lock, joint=named(lock.joint)) for lock in scene.locks),
        holds=tuple(replace(hold, constraint=named(hold.constraint)) for hold in scene.holds),
        springs=tuple(
            replace(s, name=named(s.name), joint=named(s.joint))
            if isinstance(s, JointSpring)
            else replace(s, name=named(s.name), body_a=body(s.body_a), body_b=body(s.body_b))
            for s in scene.springs
        ),
        actuated=tuple(named(joint) for joint in scene.actuated),
        documents=tuple(replace(document, prefix=prefix + document.prefix) for document in scene.documents),
    )


def _prefixed_mechanism(mech: Mechanism, prefix: str) -> Mechanism:
    def body(name: str) -> str:
        return name if name == WORLD else prefix + name

    return replace(
        mech,
        bodies=tuple(replace(b, name=body(b.name)) for b in mech.bodies),
        pairs=tuple(
            replace(p, name=prefix + p.name, body_a=body(p.body_a), body_b=body(p.body_b)) for p in mech.pairs
        ),
        couplings=tuple(
            replace(c, name=prefix + c.name, terms=tuple(replace(t, joint=prefix + t.joint) for t in c.terms))
            for c in mech.couplings
        ),
        drivers=tuple(replace(d, name=prefix + d.name, joint=prefix + d.joint) for d in mech.drivers),
        locks=tuple(replace(lock, joint=prefix + lock.joint) for lock in mech.locks),
        pfaffians=tuple(replace(p, name=prefix + p.name, body=body(p.body)) for p in mech.pfaffians),
    )
