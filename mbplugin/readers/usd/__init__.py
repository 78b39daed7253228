"""Read USD stages with UsdPhysics as a scene: rigid bodies, joints of all types, loops, instances, units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, radians
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.files import note_foreign_reads
from mbplugin.model import LARGEST, WORLD, Body, Coupling, Freedom, Mechanism, Pair, Term
from mbplugin.model.mechanism.kinematics import coordinates_of, frames_apart, poses_of_links
from mbplugin.model.scene import MADE, Actuator, Defect, Origin, OriginKey, Request, Scene, Shape, State
from mbplugin.model.spatial import Array, Pose, align_z, rotation_from_quaternion
from mbplugin.phrases import listed
from mbplugin.processes.foreign import Limits, in_engine
from mbplugin.readers.paths import require_few_links
from mbplugin.readers.unread import SHAPE, mark_closures, to_world, with_requested_base
from mbplugin.readers.usd.bodies import (
    DIRECTIONS,
    Bodies,
    Step,
    joint_extras,
    stated_freedoms,
    steps_of,
    unique_names,
    unread_defects,
    wrong_quaternions,
)
from mbplugin.readers.usd.mass import body_of, mesh_triangles
from mbplugin.readers.usd.stage import Stage, not_utf8, nothing_opens, pxr_modules
from mbplugin.readers.xml import colour_of

LIMITS = Limits(seconds=60.0, cpu=60, memory=4 << 30)
#: Default gravity, m/s².
_GRAVITY = 9.81
#: Distance and angle between joint frames beyond single-precision errors, m and rad.
_APART = 1e-4
_ACTUATORS = {"MjcActuator": "mjc:target", "NewtonActuator": "newton:targets"}
#: Relative difference of lengths within single precision.
_EQUAL = 1e-6
#: Joints with this schema between the same two bodies form a chain, like several joints of one body in MJCF.
_CHAINED = "MjcJointAPI"
#: One coordinate: its pair, its component there, and True for a rotation.
_Coordinate = tuple[Pair, str, bool]
_KINDS = {"Cube": "box", "Sphere": "sphere", "Cylinder": "cylinder", "Capsule": "capsule", "Mesh": "mesh"}
#: Maximum number of stored vertices of all meshes of a stage; further meshes are stored without theirs.
_MOST_VERTICES = 2_000_000
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


# USD is read in a separate process: composing a stage may never end, or may end the process.


def read_usd_apart(text: str, request: Request) -> Scene:
    """Return the scene of a USD stage, read in a separate process.

    Parameters
    ----------
    text : str
        The layer, where it was handed over as text or stands in the place of the file; else empty, and the file is
        opened by its path.

    Raises
    ------
    MbPluginError
        Any error of the reader; or USD ended its process or exceeded a limit.
    """
    # its layers and packages are opened by OpenUSD
    note_foreign_reads()
    scene = in_engine("OpenUSD", LIMITS, request.path, read_usd, text, request)
    return replace(scene, request=request)


def read_usd(text: str, request: Request) -> Scene:
    """Return the scene of a USD stage.

    Joint coordinates are zero where the two frames of a joint coincide; the state is the pose of the stage.

    Parameters
    ----------
    text : str
        The root layer, if the request has it as text.
    request : Request
        The origin of the stage; layers are looked up as in USD, inside the model's package.

    Raises
    ------
    MissingDependency
        The usd-core package is not installed.
    MbPluginError
        No mechanism can be built from the stage.
    """
    pxr = pxr_modules()
    try:
        # read the index of a package only once: without this it would be opened for each layer in it
        with pxr.Ar.ResolverScopedCache():
            stage = Stage(pxr, text, request)
            with nothing_opens():
                scene = _scene_of(stage, request)
            stage.layers.require_checked(stage.stage)
            return scene
    except UnicodeDecodeError as error:
        raise not_utf8(request, error) from None


def _scene_of(stage: Stage, request: Request) -> Scene:
    bodies = Bodies(stage)
    if not bodies.prims:
        raise _without_bodies(stage)
    require_few_links(len(bodies.prims), request.path)
    joints = read_joints(stage, bodies)
    couplings, coupled = read_mimics(stage, joints)
    poses = {**bodies.poses, **joints.poses}
    held = [to_world(name, bodies.pose(name)) for name in bodies.held]
    mech = Mechanism(
        name=_name(stage),
        bodies=(
            *(body_of(stage, prim, name, bodies.colliders[name]) for name, prim in bodies.prims.items()),
            *joints.bodies,
        ),
        pairs=tuple(mark_closures([*held, *joints.pairs])),
        couplings=tuple(couplings),
        gravity=_gravity(stage),
    )
    mech = with_requested_base(mech, poses, request)
    _note_apart(stage, mech, poses, joints)
    _note_loops(stage, mech, joints)
    shapes = read_shapes(stage, bodies)
    stage.defects += (*unread_defects(stage), *wrong_quaternions(stage))
    return Scene(
        mechanism=mech,
        state=State(coordinates_of(mech, poses_of_links(mech, poses)), np.zeros(len(mech.qd_names))),
        origin=_origins(stage, bodies, joints, mech) | coupled,
        files=tuple(stage.layers.files),
        defects=tuple(stage.defects),
        shapes=shapes,
        actuators=tuple(joints.actuators),
        request=request,
        actuated=_actuated(stage, joints),
        base_open=request.base is None,
    )


def _name(stage: Stage) -> str:
    default = stage.default_prim
    return str(default.GetName()) if default else Path(stage.request.path).stem


def _note_loops(stage: Stage, mech: Mechanism, joints: Joints) -> None:
    """Report joints that close a loop inside an articulation, which is a tree by definition."""
    roots = {
        prim.GetPath() for prim in stage.prims if "PhysicsArticulationRootAPI" in prim.GetAppliedSchemas()
    }
    if not roots:
        return
    for path, steps in joints.steps.items():
        prim = stage.stage.GetPrimAtPath(path)
        pairs = [pair.name for pair, _ in steps if mech.pair_by_name[pair.name].closure]
        if not pairs or stage.value(prim, "physics:excludeFromArticulation") is True:
            continue
        names = ("physics:body0", "physics:body1")
        ends = [
            prim.GetPath(),
            *(path for name in names if (found := prim.GetRelationship(name)) for path in found.GetTargets()),
        ]
        if any(above in roots for end in ends for above in end.GetPrefixes()):
            message = f"joint {pairs[0]!r} closes a loop inside an articulation: PhysX simulates none that has a loop"
            stage.defects.append(Defect("MB129", pairs[0], message, stage.place(prim)))


def _without_bodies(stage: Stage) -> BrokenModel:
    lost = listed([f"{name!r} (named in {layer})" for name, layer in stage.layers.missing.items()], 3)
    return BrokenModel(
        "no prim of the stage is a rigid body" + (f", and layers cannot be found: {lost}" if lost else ""),
        where=stage.request.path,
        expected="prims with PhysicsRigidBodyAPI",
        remedy="put the layers beside it" if lost else "open the stage that has the physics of the robot",
    )


def _gravity(stage: Stage) -> Array:
    """Return gravity (3,), m/s²: of the first physics scene, else 9.81 m/s² against the up axis."""
    up = np.eye(3)["XYZ".index(stage.up_axis)]
    scenes = [p for p in stage.prims if p.IsA(stage.pxr.UsdPhysics.Scene)]
    if not scenes:
        return np.asarray(-_GRAVITY * up)
    prim = scenes[0]
    if len(scenes) > 1:
        stage.not_read(
            prim, f"the stage has {len(scenes)} physics scenes; the gravity of the first is read", "note"
        )
    if stage.value(prim, "newton:gravityEnabled") is False:
        return np.zeros(3)
    size = stage.number(prim, "physics:gravityMagnitude", -np.inf)
    direction = stage.vector(prim, "physics:gravityDirection", (0.0, 0.0, 0.0))
    length = float(np.linalg.norm(direction))
    downwards = direction / length if 0 < length < np.inf else -up
    return np.asarray((stage.metre * size if 0 <= size < np.inf else _GRAVITY) * downwards)


def _note_apart(stage: Stage, mech: Mechanism, poses: dict[str, Pose], joints: Joints) -> None:
    """Report tree joints whose frames do not coincide at the pose of the stage: their bodies are moved."""
    prims = {pair.name: path for path, steps in joints.steps.items() for pair, _ in steps}
    for _, pair, distance, angle in frames_apart(mech, poses_of_links(mech, poses)):
        if pair.name in prims and max(distance, angle) > _APART:
            prim = stage.stage.GetPrimAtPath(prims[pair.name])
            message = (
                f"the frames of joint {pair.name!r} are {distance:.3g} m and {np.degrees(angle):.3g}° apart "
                "in the stage; the body is moved to where they meet"
            )
            evidence = {"distance": distance, "angle": angle}
            stage.defects.append(Defect("MB119", str(prim.GetPath()), message, stage.place(prim), evidence))


def _origins(stage: Stage, bodies: Bodies, joints: Joints, mech: Mechanism) -> dict[OriginKey, Origin]:
    """Return the locations of bodies and pairs; a pair without a prim has that of its body."""
    found = dict(joints.origin)
    for name, prim in bodies.prims.items():
        place = stage.place(prim)
        found["body", name, ""] = place
        if stage.authored(prim, "physics:mass") or stage.authored(prim, "physics:density"):
            found["body", name, "inertial"] = place
    for pair in mech.pairs:
        owner = pair.body_a if pair.body_b == WORLD else pair.body_b
        found.setdefault(("constraint", pair.name, ""), found.get(("body", owner, ""), Origin("", 0)))
    return found


def _actuated(stage: Stage, joints: Joints) -> tuple[str, ...]:
    """Return the pairs with a drive, and those named by an actuator prim."""
    names = list(joints.actuated)
    steps: dict[str, list[tuple[Pair, Any]]] = joints.steps
    for prim in stage.prims:
        relationship = _ACTUATORS.get(str(prim.GetTypeName()))
        for path in stage.targets(prim, relationship) if relationship else ():
            names += [pair.name for pair, _ in steps.get(str(path), ())]
    return tuple(dict.fromkeys(names))


# Joint prims: their sides and freedoms.


def read_joints(stage: Stage, bodies: Bodies) -> Joints:
    """Return the pairs of all enabled joints; those that cannot be read are reported.

    Raises
    ------
    BadNumber
        A frame or a limit has an unusable number.
    """
    out = Joints()
    found = {str(p.GetPath()): p for p in stage.prims if p.IsA(stage.pxr.UsdPhysics.Joint)}
    names = unique_names(found)
    chains: dict[tuple[str, str], list[Joint]] = {}
    for path, prim in found.items():
        if stage.value(prim, "physics:jointEnabled") is False:
            stage.not_read(prim, f"joint {names[path]!r} is not enabled and not read", "note")
            continue
        sides = read_joint_sides(stage, prim, bodies, names[path])
        joint = None if sides is None else _read(stage, prim, names[path], sides, out)
        if joint is None:
            continue
        if _CHAINED in stage.schemas(prim):
            chains.setdefault((joint.sides[0].body, joint.sides[1].body), []).append(joint)
        else:
            add_chain([joint], stage, bodies, out)
    for joints in chains.values():
        add_chain(joints, stage, bodies, out)
    return out


def read_joint_sides(stage: Stage, prim: Any, bodies: Bodies, name: str) -> tuple[End, End] | None:
    """Return both sides of a joint; None where a target is missing, or both are one body."""
    sides = []
    for number in (0, 1):
        targets = stage.targets(prim, f"physics:body{number}")
        if len(targets) > 1:
            stage.not_read(
                prim, f"joint {name!r} has {len(targets)} targets of body{number}; the first is read"
            )
        target = stage.stage.GetPrimAtPath(targets[0]) if targets else None
        if targets and not (target and target.IsActive()):
            stage.not_read(
                prim,
                f"joint {name!r} is not read: its body{number} <{targets[0]}> is not in the stage",
                body=str(targets[0]),
            )
            return None
        sides.append(_end(stage, prim, number, target, bodies))
    if sides[0].body == sides[1].body:
        what = "the ground" if sides[0].body == WORLD else f"body {sides[0].body!r}"
        stage.not_read(prim, f"joint {name!r} is not read: it joins {what} to itself")
        return None
    return sides[0], sides[1]


def _end(stage: Stage, prim: Any, number: int, target: Any, bodies: Bodies) -> End:
    """Return one side; a target that is not a body stands for its ancestor body, or for the ground."""
    local = stage.vector(prim, f"physics:localPos{number}", (0.0, 0.0, 0.0))
    if not (np.abs(local) <= LARGEST).all():
        raise BadNumber(f"localPos{number} cannot be used", where=stage.where(prim))
    R_TJ = rotation_from_quaternion(stage.quaternion(prim, f"physics:localRot{number}"))
    if target is None:
        return End(WORLD, Pose(R_TJ, stage.metre * local))
    A, p = stage.matrix(target)
    X_WJ = Pose(stage.rotation(target, A) @ R_TJ, stage.metre * (A @ local + p))
    body = bodies.owner(target)
    return End(body, bodies.pose(body).inverse() @ X_WJ)


def _read(stage: Stage, prim: Any, name: str, sides: tuple[End, End], out: Joints) -> Joint | None:
    """Return a joint; None for one without constraints, which is reported, or a distance, which is added to ``out``."""
    stated = stated_freedoms(stage, prim, str(prim.GetTypeName()))
    if stated is None:
        if (pair := _distance(stage, prim, name, sides)) is not None:
            out.pairs.append(pair)
            out.origin["constraint", name, ""] = stage.place(prim)
        return None
    if len(stated) == 6:
        stage.not_read(prim, f"joint {name!r} locks no direction; it is left out", "note")
        return None
    return Joint(prim, name, sides, stated, steps_of(tuple(stated)))


def _distance(stage: Stage, prim: Any, name: str, sides: tuple[End, End]) -> Pair | None:
    """Return the pair of a distance joint with equal limits; other limits (a rope or a stop) are reported."""
    low = stage.number(prim, "physics:minDistance", -1.0)
    high = stage.number(prim, "physics:maxDistance", -1.0)
    if not (isfinite(high) and low > 0 and abs(high - low) <= _EQUAL * high):
        stage.not_read(
            prim, f"distance joint {name!r} has no fixed distance (from {low:g} to {high:g}) and is not read"
        )
        return None
    length = stage.metre * (low + high) / 2
    a, b = sides
    return Pair(name, "distance", a.body, b.body, a.X_LJ, b.X_LJ, length=length)


# Mimic joints of the PhysX and Newton schemas as couplings.


def read_mimics(stage: Stage, joints: Joints) -> tuple[list[Coupling], dict[OriginKey, Origin]]:
    """Return the couplings stated by mimic joints, and their locations; those that cannot be read are reported."""
    found: list[Coupling] = []
    origin: dict[OriginKey, Origin] = {}
    taken = {pair.name for pair in joints.pairs}
    for path in joints.steps:
        prim = stage.stage.GetPrimAtPath(path)
        coupling = _newton(stage, prim, joints) if prim.GetRelationship("newton:mimicJoint") else None
        for schema in () if coupling else stage.schemas(prim):
            api, _, instance = schema.partition(":")
            if api == "PhysxMimicJointAPI":
                coupling = _physx(stage, prim, instance, joints)
        if coupling is None or coupling.name in taken:
            continue
        taken.add(coupling.name)
        found.append(coupling)
        origin["constraint", coupling.name, ""] = stage.place(prim)
    return found, origin


def _physx(stage: Stage, prim: Any, instance: str, joints: Joints) -> Coupling | None:
    """Return the coupling q + gearing · q_reference + offset = 0; offsets of angles are in degrees."""
    start = f"physxMimicJoint:{instance}"
    axis = str(stage.value(prim, f"{start}:referenceJointAxis") or "rotX")
    gearing = stage.number(prim, f"{start}:gearing", 1.0)
    offset = stage.number(prim, f"{start}:offset", 0.0)
    return _coupling(stage, prim, f"{start}:referenceJoint", (instance, axis), gearing, -offset, joints)


def _newton(stage: Stage, prim: Any, joints: Joints) -> Coupling | None:
    """Return the coupling q = coef0 + coef1 · q_leader; coef0 of angles is in degrees."""
    if stage.value(prim, "newton:mimicEnabled") is False:
        return None
    slope = stage.number(prim, "newton:mimicCoef1", 1.0)
    offset = stage.number(prim, "newton:mimicCoef0", 0.0)
    return _coupling(stage, prim, "newton:mimicJoint", ("", ""), -slope, offset, joints)


def _coupling(
    stage: Stage,
    prim: Any,
    relationship: str,
    axes: tuple[str, str],
    coefficient: float,
    offset: float,
    joints: Joints,
) -> Coupling | None:
    """Return the coupling q + coefficient · q_leader = offset in SI units; None, reported, without a coordinate."""
    targets = stage.targets(prim, relationship)
    follower = _coordinate(joints, str(prim.GetPath()), axes[0])
    leader = _coordinate(joints, str(targets[0]), axes[1]) if targets else None
    if follower is None or leader is None or leader[2] is not follower[2] or leader[:2] == follower[:2]:
        other = f"<{targets[0]}>" if targets else "no joint"
        joint = prim.GetName()
        stage.not_read(
            prim,
            f"the mimic of joint {joint!r} is not read: it refers to {other}, which has no such coordinate",
        )
        return None
    turns = follower[2]
    terms = (Term(follower[0].name, follower[1], 1.0), Term(leader[0].name, leader[1], coefficient))
    right = radians(offset) if turns else stage.metre * offset
    return Coupling(f"mimic {follower[0].name}", "mimic", terms, right)


def _coordinate(joints: Joints, path: str, axis: str) -> _Coordinate | None:
    """Return the coordinate of a joint: its only one, or that of a direction."""
    all_of = [
        (pair, component, direction)
        for pair, directions in joints.steps.get(path, ())
        for component, direction in zip(pair.kind.free, directions, strict=True)
    ]
    wanted = all_of if len(all_of) == 1 else [c for c in all_of if c[2] == DIRECTIONS.get(axis)]
    if not wanted:
        return None
    pair, component, direction = wanted[0]
    return pair, component, direction[0] == "r"


# Gprims of a stage as shapes of links; meshes are in the stage, without a file of their own.


def read_shapes(stage: Stage, bodies: Bodies) -> dict[str, tuple[Shape, ...]]:
    """Return the boxes, spheres, cylinders, capsules and meshes of every body; unevenly scaled solids are reported."""
    found: dict[str, list[Shape]] = {}
    count = 0
    for prim in stage.prims:
        kind = _KINDS.get(str(prim.GetTypeName()))
        if (owner := bodies.owner(prim)) == WORLD:
            continue
        if kind is None:
            if prim.IsA(stage.pxr.UsdGeom.Gprim):
                stage.not_read(
                    prim, f"{prim.GetTypeName()} <{prim.GetPath()}> is not read: {SHAPE.why}", "note"
                )
            continue
        if kind == "mesh":
            try:
                shape = _mesh(stage, prim, bodies.pose(owner))
            except (BadNumber, BrokenModel) as error:
                # no mechanics depend on the shape
                stage.not_read(prim, f"{error.what}; this mesh is left out", "note")
                continue
            assert shape.triangles is not None
            count += len(shape.triangles[0])
            if count > _MOST_VERTICES:
                shape = replace(shape, triangles=None)
        elif (even := _shape(stage, prim, kind, bodies.pose(owner))) is not None:
            shape = even
        else:
            stage.not_read(prim, f"{prim.GetTypeName()} <{prim.GetPath()}> is uneven: {SHAPE.why}", "note")
            continue
        # a prim is rendered: visible, and not a guide
        imageable = stage.pxr.UsdGeom.Imageable(prim)
        hidden = str(imageable.ComputeVisibility(stage.time)) == "invisible"
        visible = not hidden and str(imageable.ComputePurpose()) != "guide"
        if not visible and shape.role == "visual":
            continue
        shape = replace(shape, seen=visible and shape.role == "collision")
        found.setdefault(owner, []).append(replace(shape, rgba=_colour(stage, prim)))
    return {name: tuple(shapes) for name, shapes in found.items()}


def _mesh(stage: Stage, prim: Any, X_WL: Pose) -> Shape:
    """Return a mesh with points in the link frame, m, since a pose and a scale cannot represent shear."""
    A, p = stage.matrix(prim)
    points, faces = mesh_triangles(stage, prim)
    X_LW = X_WL.inverse()
    vertices = stage.metre * (points @ A.T + p) @ X_LW.R.T + X_LW.p
    if not (np.abs(vertices) <= LARGEST).all():
        raise BadNumber("the points are too far away", where=stage.where(prim))
    # mirroring turns triangles inside out
    faces = faces[:, ::-1] if np.linalg.det(A) < 0 else faces
    return Shape(_role(stage, prim), "mesh", (1.0, 1.0, 1.0), Pose.identity(), triangles=(vertices, faces))


def _role(stage: Stage, prim: Any) -> str:
    return "collision" if prim.HasAPI(stage.pxr.UsdPhysics.CollisionAPI) else "visual"


def _shape(stage: Stage, prim: Any, kind: str, X_WL: Pose) -> Shape | None:
    A, p = stage.matrix(prim)
    role = _role(stage, prim)
    scale = stage.metre * np.linalg.norm(A, axis=0)
    if not (scale > 0).all():
        return None
    X_WS = Pose(stage.rotation(prim, A), stage.metre * p)
    X_LS = X_WL.inverse() @ X_WS
    if kind == "box":
        return Shape(role, kind, tuple(float(s) for s in scale * abs(stage.number(prim, "size", 2.0))), X_LS)
    if kind == "sphere":
        radius = abs(stage.number(prim, "radius", 1.0))
        return Shape(role, kind, (float(scale[0] * radius),), X_LS) if _even(scale) else None
    axis = np.array(_AXES.get(str(stage.value(prim, "axis")), _AXES["Z"]))
    across = scale[axis == 0]
    if not _even(across) or (kind == "capsule" and not _even(scale)):
        return None
    default = (1.0, 2.0) if kind == "cylinder" else (0.5, 1.0)
    radius = float(across[0]) * abs(stage.number(prim, "radius", default[0]))
    height = float(scale @ axis) * abs(stage.number(prim, "height", default[1]))
    return Shape(role, kind, (radius, height), X_LS @ Pose(align_z(axis), np.zeros(3)))


def _colour(stage: Stage, prim: Any) -> tuple[float, ...]:
    """Return the display colour and opacity of a prim, empty if unstated."""
    values = stage.value(prim, "primvars:displayColor")
    opacity = stage.value(prim, "primvars:displayOpacity")
    try:
        colour = [*map(float, values[0]), float(opacity[0]) if opacity is not None else 1.0]
    except (TypeError, ValueError, IndexError):
        # unstated, or not colours
        return ()
    return colour_of(" ".join(map(str, colour)))


def _even(scale: Array) -> bool:
    """Return True if all factors in ``scale`` (k,) are equal."""
    return bool(np.ptp(scale) <= 1e-6 * scale.max())


# Joints as pairs of a mechanism: a single pair, or a chain with massless links between.


@dataclass(eq=False)
class Joints:
    """Results of reading the joints of a stage.

    Parameters
    ----------
    bodies : list of Body
        Massless bodies between the pairs of a joint that is not a single pair.
    poses : dict of str to Pose
        X_WL of these bodies.
    steps : dict of str to list of (Pair, tuple of str)
        The pairs of each joint by its path, with the joint-frame directions of their freedoms.
    """

    pairs: list[Pair] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    poses: dict[str, Pose] = field(default_factory=dict)
    steps: dict[str, list[tuple[Pair, tuple[str, ...]]]] = field(default_factory=dict)
    actuators: list[Actuator] = field(default_factory=list)
    actuated: list[str] = field(default_factory=list)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class End:
    """One side of a joint: its body, and the joint frame in the body's link frame."""

    body: str
    X_LJ: Pose


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint prim: its sides, its freedoms by direction, and the pairs that realise them."""

    prim: Any
    name: str
    sides: tuple[End, End]
    stated: Mapping[str, Freedom]
    steps: tuple[Step, ...]


def add_chain(joints: Sequence[Joint], stage: Stage, bodies: Bodies, out: Joints) -> None:
    """Add the pairs of joints that act in series between two bodies.

    Links between two joints share the frame of the last body, as in MuJoCo.
    """
    first, last = joints[0].sides[0].body, joints[-1].sides[1].body
    inner = first
    for number, joint in enumerate(joints, start=1):
        outer = last
        if number < len(joints):
            outer = f"{last}#{number}"
            _add_link(outer, bodies.pose(last), stage.place(joint.prim), out)
        # links after the first joint share the frame of the last body
        X_inner = joint.sides[0].X_LJ if number == 1 else joint.sides[1].X_LJ
        _add_steps(joint, stage, bodies, (inner, outer), X_inner, out)
        inner = outer


def _add_steps(
    joint: Joint, stage: Stage, bodies: Bodies, ends: tuple[str, str], X_inner: Pose, out: Joints
) -> None:
    """Add the pairs of one joint between two links; ``X_inner`` is its frame in the inner one."""
    place = stage.place(joint.prim)
    extras = joint_extras(stage, joint.prim)
    closure = stage.value(joint.prim, "physics:excludeFromArticulation") is True
    inner, X_outer = ends[0], joint.sides[1].X_LJ
    X_WP = bodies.pose(joint.sides[0].body) @ joint.sides[0].X_LJ
    X_PS = X_WP.inverse() @ bodies.pose(joint.sides[1].body) @ X_outer
    for k, step in enumerate(joint.steps, start=1):
        one, last = len(joint.steps) == 1, k == len(joint.steps)
        label = joint.name if one else f"{joint.name}#{k}"
        outer, X_BS = (ends[1], X_outer) if last else (label, Pose.identity())
        if not last:
            # the link lies after the translations of the steps so far, at the file's pose
            moved = [c for done in joint.steps[:k] for c in done.free if c[0] == "t"]
            p = np.array([X_PS.p[i] if f"t{axis}" in moved else 0.0 for i, axis in enumerate("xyz")])
            _add_link(label, X_WP @ Pose(np.eye(3), p), place, out)
        turn = Pose(step.turn, np.zeros(3))
        freedoms = tuple(extras.apply(joint.stated[c], c) for c in step.free)
        pair = Pair(
            label, step.type, inner, outer, X_inner @ turn, X_BS @ turn, closure=closure, freedoms=freedoms
        )
        out.pairs.append(pair)
        out.steps.setdefault(str(joint.prim.GetPath()), []).append((pair, step.free))
        out.origin["constraint", label, ""] = place
        if step.free and (armature := extras.armature_of(step.free[0])):
            out.actuators.append(Actuator(label, armature))
        if any(extras.drives(c) for c in step.free):
            out.actuated.append(label)
        inner, X_inner = outer, X_BS


def _add_link(name: str, X_WL: Pose, place: Origin, out: Joints) -> None:
    """Add a massless link between two pairs."""
    out.bodies.append(Body(name))
    out.poses[name] = X_WL
    out.origin["body", name, ""] = out.origin["body", name, MADE] = place
