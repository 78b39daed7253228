"""The assumed base of a robot whose file does not state it: arms are bolted down, wheeled and legged robots are not.

A URDF cannot state the base: the same file describes an arm on a table and one in space. PyBullet lets it fall
unless its caller says otherwise. Stopping and reactions of a falling arm are of no interest, so these analyses
assume an arm to be bolted down, and say so. Analyses of joints one by one (stopping tables, worst stops, engines
side by side) hold any other robot's base as well, as on a stand. An arm satisfies these conditions:

1. Neither the file nor the call states the base, and nothing ties the robot to the ground.
2. It is connected and has one root. Its limbs are the parts that move on the bodies rigidly connected to the root.
3. It is not a vehicle. No name contains a word for wheels, legs, rotors or thrusters; no two limbs end in wheels; no
   three limbs are single vertical axes without limits; and no two limbs reach lower than the root's rigid group at the
   pose of the file, as legs do (but fingers of a hand may).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from mbplugin.model.mechanism.kinematics import (
    BodyPoses,
    JointValues,
    follows,
    forward,
    home,
    joint_axes,
    rigid_groups,
)
from mbplugin.model.mechanism.mechanism import WORLD, Mechanism, TreeJoint
from mbplugin.model.scene import Scene, in_coordinates_of
from mbplugin.model.spatial import Array
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.readers.unread import with_fixed_roots

#: Words in names of parts that roll, walk, fly or swim.
_VEHICLE = {
    *("wheel", "wheels", "caster", "castor", "footprint", "propeller", "rotor", "thruster", "flying"),
    *("leg", "legs", "foot", "feet", "hip", "thigh", "calf", "shin", "knee", "ankle", "toe"),
}
#: Those of them in names of parts that do not stand on the ground; motors have rotors as well.
_FLIES = {"propeller", "rotor", "thruster", "flying"}
#: Words in names of the first bodies of a hand, whose fingers may hang down like legs.
_HAND = {"finger", "fingers", "fingertip", "thumb", "index", "pinky", "knuckle", "jaw", "gripper"}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: Least cosine of the angle between a rotor's axis and gravity (the axis is vertical).
_VERTICAL = 0.95
#: Least distance that a leg reaches below its base, as a fraction of the robot's height.
_LOWER = 0.05
#: Largest distance of a wheel's centre of mass from its axis (a wheel is balanced), m.
_BALANCED = 1e-3
#: Largest cosine of the angle between a wheel's axis and gravity (the axis is level).
_LEVEL = 0.5
#: Maximum number of moving joints up to a wheel, including that of the base: a wheel may steer and spin.
_MOST_JOINTS = 3


def standing(source: ModelSource, *stated: JointValues, on_stand: bool = False) -> Scene | Mechanism:
    """Return the model for an analysis of a standing robot: an arm whose base is not stated is bolted down.

    The base stays free if a call states its coordinates, rates or accelerations (``stated``).

    Parameters
    ----------
    on_stand : bool
        As for :func:`bolted_down`.

    Raises
    ------
    MbPluginError
        A file or a client cannot be used.
    """
    model = model_of(source)
    if not isinstance(model, Scene) or any(_names_base(model.mechanism, values) for values in stated):
        return model
    return bolted_down(model, on_stand=on_stand)


def _names_base(mech: Mechanism, values: JointValues) -> bool:
    if values is None:
        return False
    if not isinstance(values, Mapping):
        return len(values) in (len(mech.q_names), len(mech.qd_names))
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    return any(name == root or name.startswith(f"{root}.") for name in values for root in roots)


def taken_in(scene: Scene, mech: Mechanism) -> Scene:
    """Return the scene as used for a result with this mechanism: bolted down if the mechanism assumed it."""
    return bolted_down(scene) if mech.assumed_fixed else scene


def bolted_down(scene: Scene, *, on_stand: bool = False) -> Scene:
    """Return the scene with its root fixed to the ground if it is an arm and its base is not stated.

    The mechanism states this in ``assumed_fixed``. Any other scene is returned unchanged.

    Parameters
    ----------
    on_stand : bool
        Whether the base of a robot on wheels or legs is held as well, as on a stand: for analyses of its joints one
        by one, which mean nothing while it falls.
    """
    mech = scene.mechanism
    roots = [joint for joint in mech.tree.joints if joint.pair is None]
    tied = mech.pfaffians or any(WORLD in pair.bodies for pair in mech.pairs)
    if not scene.base_open or len(roots) != 1 or tied:
        return scene
    stated = scene.state.given & {*mech.q_names[roots[0].q]}
    if stated or scene.state.qd[roots[0].qd].any():
        return scene
    if not on_stand and _is_vehicle(scene, roots[0].outer):
        return scene
    root = roots[0].outer
    pose = forward(mech, scene.state.q).of(mech.body_index[root])
    fixed = replace(with_fixed_roots(mech, {root: pose}), assumed_fixed=(root,))
    origin = dict(scene.origin)
    if ("body", root, "") in origin:
        origin["constraint", fixed.pairs[0].name, ""] = origin["body", root, ""]
    state = in_coordinates_of(fixed, mech, scene.state)
    return replace(scene, mechanism=fixed, state=state, origin=origin, base_open=False)


def stands(model: Scene | Mechanism, *stated: JointValues) -> bool:
    """Return True if a robot has legs or wheels on which it can stand: shapes, and one free root, tied to nothing.

    False if a call states the motion of its base (``stated`` rates and accelerations).
    """
    if not isinstance(model, Scene) or any(_names_base(model.mechanism, values) for values in stated):
        return False
    mech = model.mechanism
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    tied = mech.pfaffians or any(WORLD in pair.bodies for pair in mech.pairs)
    if len(roots) != 1 or tied or not mech.gravity.any() or not any(model.shapes.values()):
        return False
    names = [*(body.name for body in mech.bodies), *(pair.name for pair in mech.pairs)]
    if _speaks_of(_VEHICLE - _FLIES, names):
        return True
    if _speaks_of(_FLIES, names):
        return False
    return len(likely_wheels(mech)) >= 2 or len(feet(mech, forward(mech, model.state.q))) >= 2


def _is_vehicle(scene: Scene, root: str) -> bool:
    mech = scene.mechanism
    names = (*(body.name for body in mech.bodies), *(pair.name for pair in mech.pairs))
    if _speaks_of(_VEHICLE, names):
        return True
    limbs = list(_limbs(mech, root))
    poses = forward(mech, scene.state.q)
    wheels = [body for body in likely_wheels(mech) if not _follows(mech, mech.tree.joint_of_body[body])]
    rotors = [limb for limb in limbs if len(limb) == 1 and _is_rotor(mech, limb[0], poses)]
    return not limbs or len(wheels) >= 2 or len(rotors) >= 3 or len(feet(mech, poses)) >= 2


def _speaks_of(words: Collection[str], names: Iterable[str]) -> bool:
    return any(word.lower() in words for name in names for word in _WORD.findall(name))


def _limbs(mech: Mechanism, root: str) -> Iterator[list[TreeJoint]]:
    """Yield the moving joints of every limb, from the root outwards."""
    base = rigid_groups(mech)[root]
    limbs: list[list[TreeJoint]] = []
    limb_of: dict[str, list[TreeJoint]] = {}
    for joint in mech.tree.joints:
        if joint.pair is None or joint.outer in base:
            continue
        if joint.inner in base:
            limbs.append([])
        limb = limb_of[joint.outer] = limbs[-1] if joint.inner in base else limb_of[joint.inner]
        limb.append(joint)
    yield from limbs


def _is_rotor(mech: Mechanism, joint: TreeJoint, poses: BodyPoses) -> bool:
    if joint.pair is None or joint.pair.type != "continuous" or _follows(mech, joint):
        return False
    S, _ = joint_axes(mech, joint, poses)
    return abs(float(S[3:, 0] @ _up(mech))) > _VERTICAL


def _follows(mech: Mechanism, joint: TreeJoint) -> bool:
    return joint.pair is not None and follows(mech, joint.pair)


def _up(mech: Mechanism) -> Array:
    """Return the upward direction (3,), against gravity; z without gravity."""
    return -mech.gravity / np.linalg.norm(mech.gravity) if mech.gravity.any() else np.array([0.0, 0.0, 1.0])


def feet(mech: Mechanism, poses: BodyPoses) -> tuple[str, ...]:
    """Return the feet of a robot with a free base: the lowest body of each limb that reaches below its base.

    Empty if fewer than two limbs do, or if the limbs are fingers.
    """
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    if len(roots) != 1:
        return ()
    up = _up(mech)
    heights = {body.name: float(up @ poses.of(i).p) for i, body in enumerate(mech.bodies)}
    lowest = min(heights[name] for name in rigid_groups(mech)[roots[0]] if name != WORLD)
    lowest -= _LOWER * (max(heights.values()) - min(heights.values()))
    limbs = [[joint.outer for joint in limb] for limb in _limbs(mech, roots[0])]
    if _speaks_of(_HAND, (bodies[0] for bodies in limbs)):
        return ()
    ends = (min(bodies, key=heights.__getitem__) for bodies in limbs)
    found = tuple(end for end in ends if heights[end] < lowest)
    return found if len(found) >= 2 else ()


# The wheels of a robot: those stated to touch the ground, else bodies that look like wheels.


def stated_wheels(mech: Mechanism) -> tuple[str, ...]:
    """Return the bodies with a stated wheel or knife edge on the ground."""
    return tuple(dict.fromkeys(pfaffian.body for pfaffian in mech.pfaffians))


def likely_wheels(mech: Mechanism) -> tuple[str, ...]:
    """Return the bodies on a mobile base that turn without limits about a level axis through their centre of mass.

    URDF does not state which bodies touch the ground.
    """
    poses = forward(mech, home(mech))
    in_loops = {body for pair in mech.tree.cut for body in pair.bodies}
    return tuple(
        joint.outer
        for joint in mech.tree.joints
        if joint.pair is not None
        and joint.pair.type == "continuous"
        and in_loops.isdisjoint(carried := _carried(mech, joint))
        and _on_mobile_base(mech, joint)
        and _is_balanced_and_level(mech, joint, poses, carried)
    )


def moves(joint: TreeJoint) -> bool:
    """Return True if a tree joint has a degree of freedom; a free root has six."""
    return joint.pair is None or bool(joint.pair.kind.free)


def _carried(mech: Mechanism, joint: TreeJoint) -> list[str]:
    """Return the body of a joint and those fixed to it; empty if another body moves on them."""
    found = [joint.outer]
    for other in mech.tree.joints:
        if other.inner in found:
            if moves(other):
                return []
            found.append(other.outer)
    return found


def _on_mobile_base(mech: Mechanism, joint: TreeJoint) -> bool:
    """Return True if few joints connect a body to a base that moves freely or in a plane."""
    way = [j for j in mech.tree.way_in(joint.outer) if moves(j)]
    root = way[-1].pair
    return len(way) <= _MOST_JOINTS and (root is None or root.type in ("planar", "floating"))


def _is_balanced_and_level(mech: Mechanism, joint: TreeJoint, poses: BodyPoses, carried: list[str]) -> bool:
    """Return True if the axis of a joint is level and contains the centre of mass of the carried bodies."""
    if not carried:
        return False
    S, on_axis = joint_axes(mech, joint, poses)
    axis, down = S[3:, 0], mech.gravity
    rows = [mech.body_index[name] for name in carried]
    masses = np.array([mech.bodies[i].mass for i in rows])
    off = np.average(poses.p_WC[rows], axis=0, weights=masses) - on_axis if masses.sum() > 0 else np.zeros(3)
    balanced = np.linalg.norm(np.cross(axis, off)) < _BALANCED
    return bool(balanced and abs(axis @ down) <= _LEVEL * np.linalg.norm(down))
