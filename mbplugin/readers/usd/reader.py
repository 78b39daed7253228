"""USD stages with UsdPhysics as a scene: rigid bodies, joints of all types, loops, instances, units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism import WORLD, Mechanism, Pair
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, frames_apart
from mbplugin.model.scene import Defect, Origin, OriginKey, Request, Scene, State
from mbplugin.model.spatial import Array, Pose
from mbplugin.phrases import listed
from mbplugin.readers.common.closing import mark_closures
from mbplugin.readers.common.grounding import require_free_root, to_world, with_fixed_roots
from mbplugin.readers.common.limits import require_few_links
from mbplugin.readers.usd.bodies import Bodies
from mbplugin.readers.usd.chains import Joints
from mbplugin.readers.usd.joints import read_joints
from mbplugin.readers.usd.layers import not_utf8, nothing_opens
from mbplugin.readers.usd.mass.properties import body_of
from mbplugin.readers.usd.mimics import read_mimics
from mbplugin.readers.usd.package import pxr_modules
from mbplugin.readers.usd.shapes import read_shapes
from mbplugin.readers.usd.stage import Stage
from mbplugin.readers.usd.unread import unread_defects

#: Standard gravity of UsdPhysics where a scene states none, m/s².
_GRAVITY = 9.81
#: Distance and angle between the frames of a joint beyond what single precision loses, m and rad.
_APART = 1e-4
_UP = {"X": 0, "Y": 1, "Z": 2}
_ACTUATORS = {"MjcActuator": "mjc:target", "NewtonActuator": "newton:targets"}


def read_usd(text: str, request: Request) -> Scene:
    """Return the scene of a USD stage.

    All joint coordinates are zero where the two frames of a joint coincide; the state is the pose of the stage.

    Parameters
    ----------
    text : str
        The root layer, where the request has it as text.
    request : Request
        Where it comes from; layers are looked up as USD does, inside the model's package.

    Raises
    ------
    MissingDependency
        The usd-core package is not installed.
    MbPluginError
        A stage from which no mechanism can be built.
    """
    pxr = pxr_modules()
    try:
        # the index of a package is read once; without this it would be opened for each layer in it
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
    if request.base == "fixed":
        mech = with_fixed_roots(mech, poses)
    elif request.base == "free":
        require_free_root(mech, request.path)
    _note_apart(stage, mech, poses, joints)
    stage.defects += unread_defects(stage)
    return Scene(
        mechanism=mech,
        state=State(coordinates_of(mech, _body_poses(mech, poses)), np.zeros(len(mech.qd_names))),
        origin=_origins(stage, bodies, joints, mech) | coupled,
        files=tuple(stage.layers.files),
        defects=tuple(stage.defects),
        shapes=read_shapes(stage, bodies),
        actuators=tuple(joints.actuators),
        request=request,
        actuated=_actuated(stage, joints),
    )


def _without_bodies(stage: Stage) -> BrokenModel:
    lost = listed([f"{name!r} (named in {layer})" for name, layer in stage.layers.missing.items()], 3)
    return BrokenModel(
        "no prim of the stage is a rigid body" + (f", and layers cannot be found: {lost}" if lost else ""),
        where=stage.request.path,
        expected="prims with PhysicsRigidBodyAPI",
        remedy="put the layers beside it" if lost else "open the stage that has the physics of the robot",
    )


def _name(stage: Stage) -> str:
    default = stage.stage.GetDefaultPrim()
    return str(default.GetName()) if default else Path(stage.request.path).stem


def _gravity(stage: Stage) -> Array:
    """Return gravity (3,), m/s²: that of the first physics scene, else of the Earth against the up axis."""
    up = np.eye(3)[_UP.get(str(stage.pxr.UsdGeom.GetStageUpAxis(stage.stage)), 1)]
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
    """Note tree joints whose frames do not fit at the pose of the stage: their bodies are moved to fit."""
    prims = {pair.name: path for path, steps in joints.steps.items() for pair, _ in steps}
    for _, pair, distance, angle in frames_apart(mech, _body_poses(mech, poses)):
        if pair.name in prims and max(distance, angle) > _APART:
            prim = stage.stage.GetPrimAtPath(prims[pair.name])
            message = (
                f"the frames of joint {pair.name!r} are {distance:.3g} m and {np.degrees(angle):.3g}° apart "
                "in the stage; the body is moved to where they meet"
            )
            evidence = {"distance": distance, "angle": angle}
            stage.defects.append(Defect("MB119", str(prim.GetPath()), message, stage.place(prim), evidence))


def _body_poses(mech: Mechanism, poses: dict[str, Pose]) -> BodyPoses:
    """Return the poses of the stage."""
    X_WL = [poses[body.name] for body in mech.bodies]
    R, p = np.array([X.R for X in X_WL]), np.array([X.p for X in X_WL])
    p_WC = np.array([X.apply(body.p_LC) for X, body in zip(X_WL, mech.bodies, strict=True)])
    return BodyPoses(R, p, p_WC)


def _origins(stage: Stage, bodies: Bodies, joints: Joints, mech: Mechanism) -> dict[OriginKey, Origin]:
    """Return where bodies and pairs are written; a pair that no prim states is where its body is."""
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
    """Return the pairs with a drive, and those that an actuator prim names."""
    names = list(joints.actuated)
    steps: dict[str, list[tuple[Pair, Any]]] = joints.steps
    for prim in stage.prims:
        relationship = _ACTUATORS.get(str(prim.GetTypeName()))
        for path in stage.targets(prim, relationship) if relationship else ():
            names += [pair.name for pair, _ in steps.get(str(path), ())]
    return tuple(dict.fromkeys(names))
