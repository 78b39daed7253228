"""What a robot stands on where its file cannot say: an arm is bolted down, what has wheels or legs is not.

A URDF has no word for the base: the same file describes an arm on a table and one in space. PyBullet lets it fall
unless its caller says otherwise. Nobody asks for a stop or the reactions of an arm that falls, so that these
take an arm as bolted down, and say so. The rule:

1. Nobody states the base, in the file or in the call, and nothing ties the robot to the ground.
2. All of it hangs together and has one root. A limb is what moves on the group of bodies that is rigid with the root.
3. It is no vehicle. No name speaks of wheels, legs or rotors; no two limbs are wheels (a last joint without limits
   about a horizontal axis, at most one joint after the root); no three limbs are single vertical axes without limits;
   and no two limbs reach lower than the root's group at the pose of the file, as legs do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isinf

import numpy as np

from mbplugin.model.mechanism.kinematics import BodyPoses, JointValues, follows, forward, rigid_groups
from mbplugin.model.mechanism.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene
from mbplugin.readers.common.unread import with_fixed_roots
from mbplugin.readers.source import ModelSource, model_of

#: Words in names of what rolls, walks or flies.
_VEHICLE = {
    *("wheel", "wheels", "caster", "castor", "footprint", "propeller", "rotor", "thruster", "flying"),
    *("leg", "legs", "foot", "feet", "hip", "thigh", "calf", "shin", "knee", "ankle", "toe"),
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: Cosines of the angle to the vertical: below, an axis is horizontal, and above the other one vertical.
_HORIZONTAL, _VERTICAL = 0.3, 0.95
#: Of the robot's height: how much lower than its base a leg reaches.
_LOWER = 0.05


def standing(source: ModelSource, *stated: JointValues) -> Scene | Mechanism:
    """Return a model for a question about a robot that stands: an arm whose base is not stated is bolted down.

    Coordinates, rates or accelerations of the base that are ``stated`` in a call leave it free.

    Raises
    ------
    MbPluginError
        A file or a client that cannot be used.
    """
    model = model_of(source)
    if not isinstance(model, Scene) or any(_names_base(model.mechanism, values) for values in stated):
        return model
    return bolted_down(model)


def _names_base(mech: Mechanism, values: JointValues) -> bool:
    if values is None:
        return False
    if isinstance(values, Mapping):
        return any(names_free_root(mech, name) for name in values)
    return len(values) in (len(mech.q_names), len(mech.qd_names))


def names_free_root(mech: Mechanism, text: str) -> bool:
    """Return whether a name, or what an option states, is about a coordinate or rate of a free root."""
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    return any(text == root or text.startswith(f"{root}.") for root in roots)


def taken_in(scene: Scene, mech: Mechanism) -> Scene:
    """Return the scene as a result took it, whose mechanism this is."""
    return bolted_down(scene) if mech.assumed_fixed else scene


def bolted_down(scene: Scene) -> Scene:
    """Return the scene with its root fixed to the ground where it is an arm and its base is not stated.

    The mechanism says so by ``assumed_fixed``. Everything else comes back as it is.
    """
    mech = scene.mechanism
    roots = [joint for joint in mech.tree.joints if joint.pair is None]
    if not scene.base_open or len(roots) != 1 or any(WORLD in pair.bodies for pair in mech.pairs):
        return scene
    own = scene.state.given & {*mech.q_names[roots[0].q]}
    if own or scene.state.qd[roots[0].qd].any() or _is_vehicle(scene, roots[0].outer):
        return scene
    root = roots[0].outer
    pose = forward(mech, scene.state.q).of(mech.body_index[root])
    fixed = replace(with_fixed_roots(mech, {root: pose}), assumed_fixed=(root,))
    q = dict(zip(mech.q_names, scene.state.q, strict=True))
    qd = dict(zip(mech.qd_names, scene.state.qd, strict=True))
    state = replace(
        scene.state,
        q=np.array([q[name] for name in fixed.q_names]),
        qd=np.array([qd[name] for name in fixed.qd_names]),
    )
    origin = dict(scene.origin)
    if ("body", root, "") in origin:
        origin["constraint", fixed.pairs[0].name, ""] = origin["body", root, ""]
    return replace(scene, mechanism=fixed, state=state, origin=origin, base_open=False)


def _is_vehicle(scene: Scene, root: str) -> bool:
    mech = scene.mechanism
    names = (*(body.name for body in mech.bodies), *(pair.name for pair in mech.pairs))
    if any(word.lower() in _VEHICLE for name in names for word in _WORD.findall(name)):
        return True
    limbs = list(_limbs(mech, root))
    if not limbs:
        return True
    up = -mech.gravity / np.linalg.norm(mech.gravity) if mech.gravity.any() else np.array([0.0, 0.0, 1.0])
    poses = forward(mech, scene.state.q)
    heights = {b.name: float(up @ poses.of(i).p) for i, b in enumerate(mech.bodies)}

    def slope(pair: Pair) -> float:
        """Return the cosine between a joint's axis and the vertical."""
        X_WS = poses.of(mech.body_index[pair.body_b]) @ pair.X_BS
        return abs(float(up @ X_WS.R[:, 2]))

    turning = [(limb, limb[-1]) for limb in limbs if len(limb) <= 2 and _turns_without_limit(mech, limb[-1])]
    wheels = sum(slope(last) < _HORIZONTAL for _, last in turning)
    rotors = sum(len(limb) == 1 and slope(last) > _VERTICAL for limb, last in turning)
    lowest = min(heights[name] for name in rigid_groups(mech)[root])
    margin = _LOWER * (max(heights.values()) - min(heights.values()))
    legs = sum(min(heights[pair.body_b] for pair in limb) < lowest - margin for limb in limbs)
    return wheels >= 2 or rotors >= 3 or legs >= 2


def feet(mech: Mechanism, poses: BodyPoses) -> tuple[str, ...]:
    """Return the ends of the legs of a robot with a free base: the lowest body of each limb that reaches below it."""
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    if len(roots) != 1 or not mech.gravity.any():
        return ()
    up = -mech.gravity / np.linalg.norm(mech.gravity)
    heights = {body.name: float(up @ poses.of(i).p) for i, body in enumerate(mech.bodies)}
    lowest = min(heights[name] for name in rigid_groups(mech)[roots[0]])
    found = []
    for limb in _limbs(mech, roots[0]):
        carried = {pair.body_b for pair in limb}
        for joint in mech.tree.joints:
            if joint.inner in carried:
                carried.add(joint.outer)
        end = min(sorted(carried), key=heights.__getitem__)
        if heights[end] < lowest - _LOWER * (max(heights.values()) - min(heights.values())):
            found.append(end)
    return tuple(found) if len(found) >= 2 else ()


def _limbs(mech: Mechanism, root: str) -> Iterator[list[Pair]]:
    """Yield the moving joints of every limb, from the root outwards."""
    base = rigid_groups(mech)[root]
    limb_of: dict[str, list[Pair]] = {}
    for joint in mech.tree.joints:
        pair = joint.pair
        if pair is None or joint.outer in base:
            continue
        limb = limb_of.setdefault(joint.inner, []) if joint.inner not in base else []
        limb_of[joint.outer] = limb
        if pair.type != "fixed":
            limb.append(pair)
    seen: set[int] = set()
    for limb in limb_of.values():
        if limb and id(limb) not in seen:
            seen.add(id(limb))
            yield limb


def _turns_without_limit(mech: Mechanism, pair: Pair) -> bool:
    endless = pair.type == "continuous" or (pair.type == "revolute" and isinf(pair.freedoms[0].upper))
    return endless and not follows(mech, pair)
