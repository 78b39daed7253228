"""The root layer of a USD stage in which some joints have other types; everything else stays as it is.

OpenUSD edits the layer and writes it as text: comments of a text layer are lost, nothing else is. The root layer
overrides what other layers say of a joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.model.spatial import Array, quaternion_from_rotation, rotation_from_quaternion
from mbplugin.processes.foreign import in_engine
from mbplugin.readers.usd.bodies import Bodies, unique_names
from mbplugin.readers.usd.reader import LIMITS, read_joint_sides
from mbplugin.readers.usd.stage import Stage, nothing_opens, pxr_modules
from mbplugin.writers.usd import DIRECTIONS, SCHEMAS
from mbplugin.writers.xml_text import Edited, NoCopy

if TYPE_CHECKING:
    from mbplugin.model.mechanism import Mechanism
    from mbplugin.model.mechanism import Pair
    from mbplugin.model.scene import Request

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
