"""USD writer: a stage with UsdPhysics, bodies at the state's pose, closures as joints outside the articulation.

Joint frames are separate prims with double precision; masses, centres of mass, inertias and limits have the single
precision of UsdPhysics. Writing the text needs no USD package; reading it does.

In a copy of a stage some joints of the root layer have other types; everything else stays as it is. OpenUSD edits the
layer and writes it as text: comments of a text layer are lost, nothing else is. The root layer overrides what other
layers say of a joint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import degrees, isfinite
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model import WORLD, Body, Coupling, Freedom, Mechanism, Pair, Request, RowKind, Scene, forward
from mbplugin.model.spatial import Array, Pose, is_turn, quaternion_from_rotation, rotation_from_quaternion
from mbplugin.phrases import counted, listed
from mbplugin.processes.foreign import in_engine
from mbplugin.readers.usd import LIMITS, read_joint_sides
from mbplugin.readers.usd.bodies import Bodies, unique_names
from mbplugin.readers.usd.stage import Stage, nothing_opens, pxr_modules
from mbplugin.writers.shapes import Solid, Solids, solids_of
from mbplugin.writers.written import Loss, Written, number, unwritten, unwritten_constraints
from mbplugin.writers.xml_text import Edited, NoCopy

#: Joint prims with a schema of their own; other pairs are generic joints with locked directions.
SCHEMAS = {
    "fixed": "PhysicsFixedJoint",
    "revolute": "PhysicsRevoluteJoint",
    "continuous": "PhysicsRevoluteJoint",
    "prismatic": "PhysicsPrismaticJoint",
    "spherical": "PhysicsSphericalJoint",
    "distance": "PhysicsDistanceJoint",
}
DIRECTIONS = {"tx": "transX", "ty": "transY", "tz": "transZ", "rx": "rotX", "ry": "rotY", "rz": "rotZ"}
#: Kinds of rows that are written as locked directions.
_LOCKED = (RowKind.AXIS, RowKind.CARRIED, RowKind.CROSSED)
_HEAD = """#usda 1.0
(
    defaultPrim = "{name}"
    kilogramsPerUnit = 1
    metersPerUnit = 1
    upAxis = "Z"
)
"""
#: Prims of shapes, with their size attributes.
_GPRIMS = {
    "box": ("Cube", ("size",)),
    "sphere": ("Sphere", ("radius",)),
    "cylinder": ("Cylinder", ("radius", "height")),
    "capsule": ("Capsule", ("radius", "height")),
}
#: Prims of the model that are not bodies.
_JOINTS, _GROUND = "joints", "ground_frames"


def usd_text(scene: Scene) -> Written:
    """Return the stage of a scene as ``.usda``.

    Raises
    ------
    BadUsage
        A pair is neither a joint prim nor locked in directions of its frame, such as a screw.
    """
    mech = scene.mechanism
    if lost := [pair for pair in mech.pairs if not _has_prim(pair)]:
        raise BadUsage(
            f"UsdPhysics has no joint such as {lost[0].name!r} ({lost[0].type})",
            remedy="write the model as a scene or as MJCF",
        )
    # prim names are identifiers
    bodies = _identifiers([body.name for body in mech.bodies], {_JOINTS, _GROUND, WORLD})
    pairs = _identifiers([pair.name for pair in mech.pairs], set())
    writing = _Writing(scene, bodies, pairs, _solids(scene))
    text = "".join(line + "\n" for line in writing.lines())
    renamed = (pairs, bodies)
    return Written("usd", text, tuple(writing.held), tuple(writing.losses), renamed=renamed)


def _has_prim(pair: Pair) -> bool:
    """Return True if a pair has a joint prim of its own, or locks directions of a generic one."""
    kind = pair.kind
    return pair.type in SCHEMAS or all(
        c in DIRECTIONS and kind.row_kind(c) in _LOCKED for c in kind.constrained
    )


def _identifiers(names: list[str], taken: set[str]) -> dict[str, str]:
    found = {}
    for name in names:
        plain = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        chosen, count = plain, 1
        while chosen in taken:
            count += 1
            chosen = f"{plain}_{count}"
        taken.add(chosen)
        found[name] = chosen
    return found


@dataclass(eq=False)
class _Writing:
    """One stage under construction.

    Parameters
    ----------
    bodies, joints : mapping of name to name of a prim
    """

    scene: Scene
    bodies: Mapping[str, str]
    joints: Mapping[str, str]
    solids: Solids
    held: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the stage."""
        mech = self.scene.mechanism
        robot = _identifiers([mech.name], set())[mech.name]
        poses = forward(mech, self.scene.state.q)
        yield _HEAD.format(name=robot)
        yield from _gravity(mech.gravity, robot)
        yield f'def Xform "{robot}" ('
        yield '    prepend apiSchemas = ["PhysicsArticulationRootAPI"]'
        yield ")"
        yield "{"
        for k, body in enumerate(mech.bodies):
            yield from self._body(body, poses.of(k))
        yield f'    def Scope "{_GROUND}"'
        yield "    {"
        yield from self._frames(WORLD)
        yield "    }"
        yield f'    def Scope "{_JOINTS}"'
        yield "    {"
        for pair in mech.pairs:
            if pair.type != "floating":
                yield from self._joint(robot, pair)
        yield "    }"
        yield "}"
        self._note()

    def _body(self, body: Body, X_WL: Pose) -> Iterator[str]:
        schemas = '"PhysicsRigidBodyAPI"' + ("" if body.massless else ', "PhysicsMassAPI"')
        yield f'    def Xform "{self.bodies[body.name]}" ('
        yield f"        prepend apiSchemas = [{schemas}]"
        yield "    )"
        yield "    {"
        yield from _placed(X_WL, "        ")
        if not body.massless:
            moments, axes = np.diag(body.I_C), np.eye(3)
            if (body.I_C - np.diag(moments)).any():
                moments, axes = np.linalg.eigh(body.I_C)
                axes[:, 0] *= np.linalg.det(axes)
            yield f"        float physics:mass = {number(body.mass)}"
            yield f"        point3f physics:centerOfMass = {_tuple(body.p_LC)}"
            yield f"        float3 physics:diagonalInertia = {_tuple(moments)}"
            yield f"        quatf physics:principalAxes = {_wxyz(axes)}"
        yield from self._frames(body.name)
        taken = {f"{joint}_{side}" for joint in self.joints.values() for side in (0, 1)}
        count = 0
        for solid in self.solids.of_body.get(body.name, ()):
            while (name := f"shape_{count}") in taken:
                count += 1
            taken.add(name)
            yield from _shape(solid, name)
        yield "    }"

    def _frames(self, body: str) -> Iterator[str]:
        """Yield the joint frames on a body as prims, since attributes of a joint have only single precision."""
        for pair in self.scene.mechanism.pairs:
            for owner, X, side in ((pair.body_a, pair.X_AP, 0), (pair.body_b, pair.X_BS, 1)):
                if owner == body and pair.type != "floating":
                    yield f'        def Xform "{self.joints[pair.name]}_{side}"'
                    yield "        {"
                    yield from _placed(X, "            ")
                    yield "        }"

    def _joint(self, robot: str, pair: Pair) -> Iterator[str]:
        schema = SCHEMAS.get(pair.type, "PhysicsJoint")
        locked = pair.kind.constrained if schema == "PhysicsJoint" else ()
        schemas = [f"PhysicsLimitAPI:{DIRECTIONS[c]}" for c in locked]
        single = pair.freedoms[0] if len(pair.freedoms) == 1 else Freedom()
        if drive := self._drive(pair, single):
            schemas.append(f"PhysicsDriveAPI:{drive}")
        yield f'        def {schema} "{self.joints[pair.name]}"' + (" (" if schemas else "")
        if schemas:
            yield f"            prepend apiSchemas = [{', '.join(f'{chr(34)}{s}{chr(34)}' for s in schemas)}]"
            yield "        )"
        yield "        {"
        for side, body in enumerate(pair.bodies):
            inner = _GROUND if body == WORLD else self.bodies[body]
            yield f"            rel physics:body{side} = </{robot}/{inner}/{self.joints[pair.name]}_{side}>"
        if pair.closure:
            yield "            uniform bool physics:excludeFromArticulation = 1"
        if schema in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
            yield '            uniform token physics:axis = "Z"'
        for direction in (DIRECTIONS[c] for c in locked):
            yield f"            float limit:{direction}:physics:low = 1"
            yield f"            float limit:{direction}:physics:high = -1"
        if pair.type == "distance":
            yield f"            float physics:minDistance = {number(pair.length)}"
            yield f"            float physics:maxDistance = {number(pair.length)}"
        yield from self._freedom(pair, single, drive)
        yield from self._mimic(robot, pair)
        yield "        }"

    def _drive(self, pair: Pair, freedom: Freedom) -> str:
        """Return the instance name of the drive of a joint; empty if it has none."""
        if len(pair.freedoms) != 1 or pair.closure:
            return ""
        driven = pair.name in self.scene.actuated or (isfinite(freedom.effort) and freedom.effort > 0)
        return ("angular" if is_turn(pair.kind.free[0]) else "linear") if driven else ""

    def _freedom(self, pair: Pair, freedom: Freedom, drive: str) -> Iterator[str]:
        if len(pair.freedoms) != 1:
            if any(one != Freedom() for one in pair.freedoms):
                self.losses.append(
                    Loss(
                        "joint", f"limits, damping and friction of {pair.name!r}, which has several freedoms"
                    )
                )
            return
        turns = is_turn(pair.kind.free[0])
        unit = degrees if turns else float
        if isfinite(freedom.lower) and pair.type != "continuous":
            yield f"            float physics:lowerLimit = {number(unit(freedom.lower))}"
        if isfinite(freedom.upper) and pair.type != "continuous":
            yield f"            float physics:upperLimit = {number(unit(freedom.upper))}"
        if drive and isfinite(freedom.effort):
            yield f"            float drive:{drive}:physics:maxForce = {number(freedom.effort)}"
        armature = sum(a.armature * a.gear_ratio**2 for a in self.scene.actuators if a.joint == pair.name)
        for key, value in (
            ("newton:armature", armature),
            ("mjc:damping", freedom.damping),
            ("mjc:frictionloss", freedom.friction),
        ):
            if value:
                yield f"            custom double {key} = {number(value)}"
        if isfinite(freedom.velocity):
            yield f"            custom double physxJoint:maxJointVelocity = {number(unit(freedom.velocity))}"

    def _mimic(self, robot: str, pair: Pair) -> Iterator[str]:
        for coupling in self.scene.mechanism.couplings:
            if self._is_mimic(coupling) and coupling.terms[0].joint == pair.name:
                follower, leader = coupling.terms
                offset = coupling.offset / follower.coefficient
                offset = degrees(offset) if is_turn(follower.freedom) else offset
                joint = f"/{robot}/{_JOINTS}/{self.joints[leader.joint]}"
                yield f"            custom rel newton:mimicJoint = <{joint}>"
                yield f"            custom double newton:mimicCoef0 = {number(offset)}"
                yield (
                    "            custom double newton:mimicCoef1 = "
                    f"{number(-leader.coefficient / follower.coefficient)}"
                )
                return

    def _is_mimic(self, coupling: Coupling) -> bool:
        """Return True if a coupling can be written as a mimic.

        It must be the first with this follower, and couple two single-freedom joints, both rotating or both sliding.
        """
        mech, terms = self.scene.mechanism, coupling.terms
        first = next(c for c in mech.couplings if c.terms[0].joint == terms[0].joint)
        return (
            coupling is first
            and len(terms) == 2
            and all(t.coefficient and len(mech.pair_by_name[t.joint].kind.free) == 1 for t in terms)
            and is_turn(terms[0].freedom) == is_turn(terms[1].freedom)
        )

    def _note(self) -> None:
        """Note renamed parts, and what the stage cannot state."""
        mech = self.scene.mechanism
        both = [*self.bodies.items(), *self.joints.items()]
        if renamed := [f"{name!r} as {plain}" for name, plain in both if name != plain]:
            self.held.append(f"names of prims are identifiers: {listed(renamed)}")
        lost = [c.name for c in mech.couplings if not self._is_mimic(c)]
        self.losses += [
            Loss("coupling", f"coupling {name!r}, which is not a mimic of one joint by another of its kind")
            for name in lost
        ]
        self.losses += unwritten_constraints(mech, ("couplings",))
        self.losses += self.solids.losses
        self.held += self.solids.held
        self.losses += unwritten(self.scene, ("actuators", "actuated", "shapes"))
        inexact = [body for body in mech.bodies if float(np.float32(body.mass)) != body.mass]
        if inexact:
            self.held.append(
                f"masses and inertias in single precision: {counted(len(inexact), 'body', 'bodies')}"
            )


def _gravity(gravity: Array, robot: str) -> Iterator[str]:
    """Yield a physics scene with the gravity (3,), m/s², under a name different from the robot's."""
    name = "physics" if robot != "physics" else "physics_scene"
    size = float(np.linalg.norm(gravity))
    direction = gravity / size if size else np.array([0.0, 0.0, -1.0])
    yield f'def PhysicsScene "{name}"'
    yield "{"
    yield f"    vector3f physics:gravityDirection = {_tuple(direction)}"
    yield f"    float physics:gravityMagnitude = {number(size)}"
    yield "}"
    yield ""


def _solids(scene: Scene) -> Solids:
    """Return the shapes, without collision shapes of massless bodies, from which USD would compute a mass."""
    solids = solids_of(scene, "usd")
    for body in scene.mechanism.bodies:
        own = solids.of_body.get(body.name, ())
        if body.massless and any(solid.touches for solid in own):
            solids.of_body[body.name] = tuple(replace(solid, touches=False) for solid in own if solid.seen)
            why = "without mass, which UsdPhysics would compute from them"
            solids.losses.append(Loss("shape", f"shapes for contact of {body.name!r}: it is {why}"))
    return solids


def _shape(solid: Solid, name: str) -> Iterator[str]:
    """Yield the prim of a shape; a mesh collides as its convex hull, as in most simulators."""
    schemas = []
    if solid.touches:
        schemas = ["PhysicsCollisionAPI"] + ["PhysicsMeshCollisionAPI"] * (solid.kind == "mesh")
    prim, sizes = _GPRIMS.get(solid.kind, ("Mesh", ()))
    yield f'        def {prim} "{name}"' + (" (" if schemas else "")
    if schemas:
        yield f"            prepend apiSchemas = [{', '.join(f'{chr(34)}{s}{chr(34)}' for s in schemas)}]"
        yield "        )"
    yield "        {"
    scale = solid.size if solid.kind in ("mesh", "box") else ()
    yield from _placed(solid.X_LS, "            ", scale)
    if solid.kind == "mesh":
        yield from _triangles(solid)
    else:
        values = (1.0,) if solid.kind == "box" else solid.size
        for key, value in zip(sizes, values, strict=True):
            yield f"            double {key} = {number(value)}"
        if len(sizes) > 1:
            yield '            uniform token axis = "Z"'
    if "PhysicsMeshCollisionAPI" in schemas:
        yield '            uniform token physics:approximation = "convexHull"'
    if not solid.seen:
        yield '            uniform token purpose = "guide"'
    if solid.rgba and solid.seen:
        yield f"            color3f[] primvars:displayColor = [{_tuple(np.array(solid.rgba[:3]))}]"
        if solid.rgba[3] < 1:
            yield f"            float[] primvars:displayOpacity = [{number(solid.rgba[3])}]"
    yield "        }"


def _triangles(solid: Solid) -> Iterator[str]:
    assert solid.vertices is not None and solid.faces is not None
    points = ", ".join(f"({x:.7g}, {y:.7g}, {z:.7g})" for x, y, z in (solid.vertices + 0.0).tolist())
    yield f"            point3f[] points = [{points}]"
    yield f"            int[] faceVertexCounts = [{', '.join(['3'] * len(solid.faces))}]"
    yield f"            int[] faceVertexIndices = [{', '.join(map(str, solid.faces.ravel().tolist()))}]"
    yield '            uniform token subdivisionScheme = "none"'


def _placed(X: Pose, indent: str, scale: Sequence[float] = ()) -> Iterator[str]:
    yield f"{indent}double3 xformOp:translate = {_tuple(X.p)}"
    yield f"{indent}quatd xformOp:orient = {_wxyz(X.R)}"
    order = ["xformOp:translate", "xformOp:orient"]
    if set(scale) - {1.0}:
        yield f"{indent}double3 xformOp:scale = {_tuple(np.array(scale))}"
        order.append("xformOp:scale")
    yield f"{indent}uniform token[] xformOpOrder = [{', '.join(f'{chr(34)}{op}{chr(34)}' for op in order)}]"


def _tuple(values: Array) -> str:
    """Return ``values`` (n,) in brackets."""
    return f"({', '.join(number(value) for value in values)})"


def _wxyz(R: Array) -> str:
    """Return the quaternion of a rotation R (3, 3), scalar first."""
    x, y, z, w = quaternion_from_rotation(R)
    return _tuple(np.array([w, x, y, z]))


#: A frame is where it was up to this, m and in elements of rotations; attributes of joints are in single precision.
_SAME = 1e-6
#: Attributes and schemas of a joint that state freedoms: they are stated anew.
_OF_FREEDOMS = (
    "physics:axis",
    "physics:lowerLimit",
    "physics:upperLimit",
    "physics:cone",
    "limit:",
    "drive:",
)
_EXCLUDED = "physics:excludeFromArticulation"
_SCHEMAS_OF_FREEDOMS = ("PhysicsLimitAPI:", "PhysicsDriveAPI:")


@dataclass(frozen=True, eq=False)
class _Change:
    """A joint with another type: its schema, the directions of its pair that are locked, and its frames.

    Parameters
    ----------
    name, schema : str
        The schema is empty where the type stays.
    locked : tuple of str
        Of ``tx`` … ``rz``, in the frame of the pair; empty where the schema says it all.
    R : pair of (3, 3) arrays
        Orientation of the pair's frame in each body.
    p : pair of (3,) arrays
        Origin of the pair's frame in each body, m.
    closure : bool
        If true, it closes a loop, and no articulation can have it.
    """

    name: str
    schema: str
    locked: tuple[str, ...]
    R: tuple[Array, Array]
    p: tuple[Array, Array]
    closure: bool


def with_types(
    text: str, request: Request, before: Mechanism, after: Mechanism, changed: tuple[Pair, ...]
) -> Edited:
    """Return the root layer of a stage in which some pairs have their new types, or close a loop.

    Parameters
    ----------
    before, after : Mechanism
        As the stage has it, and as it is to be.
    changed : tuple of Pair
        Of ``after``.

    Raises
    ------
    NoCopy
        A change that the layer cannot hold.
    """
    changes, cut = [], {pair.name for pair in after.tree.cut}
    for pair in changed:
        if not pair.kind.has_coordinates:
            raise NoCopy(f"USD has no joint such as {pair.name!r} ({pair.type})")
        schema = SCHEMAS.get(pair.type, "PhysicsJoint")
        if pair.type == before.pair_by_name[pair.name].type:
            schema = ""
        locked = pair.kind.constrained if schema == "PhysicsJoint" else ()
        R, p = (pair.X_AP.R, pair.X_BS.R), (pair.X_AP.p, pair.X_BS.p)
        changes.append(_Change(pair.name, schema, locked, R, p, pair.name in cut))
    edited, reason = in_engine("OpenUSD", LIMITS, request.path, edited_layer, text, request, tuple(changes))
    if reason:
        raise NoCopy(reason)
    return Edited(edited)


def edited_layer(text: str, request: Request, changes: tuple[_Change, ...]) -> tuple[str, str]:
    """Return the text of the root layer with the changes, or a reason why there is none; call it in a child process.

    Parameters
    ----------
    text : str
        The root layer, where the request has it as text.
    """
    pxr = pxr_modules()
    with pxr.Ar.ResolverScopedCache():
        stage = Stage(pxr, text, request)
        with nothing_opens():
            # the layer of the stage stays in the process, which serves later calls
            layer = pxr.Sdf.Layer.CreateAnonymous(".usda")
            layer.TransferContent(stage.layers.root)
            bodies = Bodies(stage)
            joints = {str(p.GetPath()): p for p in stage.prims if p.IsA(pxr.UsdPhysics.Joint)}
            paths = {name: path for path, name in unique_names(joints).items()}
            for change in changes:
                if reason := _edit(stage, layer, joints, paths.get(change.name, ""), bodies, change):
                    return "", reason
            edited = str(layer.ExportToString())
        stage.layers.require_checked(stage.stage)
    return edited, ""


def _edit(
    stage: Stage, layer: Any, joints: dict[str, Any], path: str, bodies: Bodies, change: _Change
) -> str:
    """Change one joint in the layer; return why not, or nothing."""
    if not path:
        return f"{change.name!r} is not one joint of the stage"
    prim, Sdf = joints[path], stage.pxr.Sdf
    if prim.IsInstanceProxy():
        return f"joint {change.name!r} is part of an instance"
    sides = read_joint_sides(stage, prim, bodies, change.name)
    if sides is None:
        return f"the bodies of joint {change.name!r} are not in the stage"
    if any(np.abs(side.X_LJ.p - p).max() > _SAME for side, p in zip(sides, change.p, strict=True)):
        return f"joint {change.name!r} moves to another point"
    spec = layer.GetPrimAtPath(path) or Sdf.CreatePrimInLayer(layer, path)
    if change.closure or stage.value(prim, _EXCLUDED) is True:
        _set(stage, spec, _EXCLUDED, Sdf.ValueTypeNames.Bool, change.closure)
    if not change.schema:
        return ""
    spec.typeName = change.schema
    kept = [s for s in stage.schemas(prim) if not s.startswith(_SCHEMAS_OF_FREEDOMS)]
    _drop(stage, prim, spec)
    turns = [side.X_LJ.R.T @ R for side, R in zip(sides, change.R, strict=True)]
    directions = _directions(turns)
    if directions is None:
        # its own axes are others than those of the pair: the frames turn
        directions = {c: c for c in DIRECTIONS}
        for number, turn in enumerate(turns):
            _turn(stage, prim, spec, number, turn)
    for c in change.locked:
        name = DIRECTIONS[directions[c]]
        kept.append(f"PhysicsLimitAPI:{name}")
        for end, value in (("low", 1.0), ("high", -1.0)):
            _set(stage, spec, f"limit:{name}:physics:{end}", Sdf.ValueTypeNames.Float, value)
    if "PhysicsRevoluteJoint" in change.schema or "PhysicsPrismaticJoint" in change.schema:
        axis = "XYZ"["xyz".index(directions["tz"][1])]
        _set(stage, spec, "physics:axis", Sdf.ValueTypeNames.Token, axis)
    spec.SetInfo("apiSchemas", Sdf.TokenListOp.CreateExplicit(kept))
    return ""


def _drop(stage: Stage, prim: Any, spec: Any) -> None:
    """Take away what states freedoms; what another layer states is blocked."""
    for attribute in prim.GetAttributes():
        name = attribute.GetName()
        if not name.startswith(_OF_FREEDOMS) or not attribute.HasAuthoredValue():
            continue
        if name in spec.properties:
            spec.RemoveProperty(spec.properties[name])
        if any(one.layer != stage.layers.root for one in attribute.GetPropertyStack(stage.time)):
            _set(stage, spec, name, attribute.GetTypeName(), stage.pxr.Sdf.ValueBlock())


def _set(stage: Stage, spec: Any, name: str, kind: Any, value: Any) -> None:
    if name not in spec.properties:
        stage.pxr.Sdf.AttributeSpec(spec, name, kind)
    spec.properties[name].default = value


def _directions(turns: list[Array]) -> dict[str, str] | None:
    """Return the direction of the joint's frame for each of the pair's; None where its axes are others.

    ``turns`` are the pair's axes in the joint's frame, (3, 3) for each side.
    """
    found = None
    for turn in turns:
        nearest = np.abs(turn).argmax(axis=0)
        if np.abs(np.abs(turn) - np.eye(3)[:, nearest]).max() > _SAME or len(set(nearest.tolist())) < 3:
            return None
        mapped = {
            f"{kind}{axis}": f"{kind}{'xyz'[k]}"
            for kind in "tr"
            for axis, k in zip("xyz", nearest, strict=True)
        }
        if found is not None and mapped != found:
            return None
        found = mapped
    return found


def _turn(stage: Stage, prim: Any, spec: Any, number: int, turn: Array) -> None:
    """Turn the frame of one side of a joint by a rotation, ``turn`` (3, 3), in its own axes."""
    pxr = stage.pxr
    before = rotation_from_quaternion(stage.quaternion(prim, f"physics:localRot{number}"))
    x, y, z, w = (float(one) for one in quaternion_from_rotation(before @ turn))
    kind = pxr.Sdf.ValueTypeNames.Quatf
    _set(stage, spec, f"physics:localRot{number}", kind, pxr.Gf.Quatf(w, x, y, z))
