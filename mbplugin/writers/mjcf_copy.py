"""Changes of closures in the text of an MJCF file.

An equality is replaced by the new one. If the closure needs a part of a body, the part is added as the last child of
the body that carries it, the inertia of the shared body is reduced, and keyframes get the coordinates of the part.
Included files that contain any of these changes are expanded in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy

import numpy as np

from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.kinematics import FRAMES_MEET, forward
from mbplugin.model.mechanism.mechanism import Mechanism, TreeJoint
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene, State
from mbplugin.model.spatial import Array, quaternion_from_rotation, rotation_from_quaternion
from mbplugin.readers.xml import Element, local_name
from mbplugin.writers.mjcf import MjcfDocument, mjcf_document, stubbed_closures
from mbplugin.writers.mjcf_text import MjcfText, TextJoint
from mbplugin.writers.written import WithStubs, motions_of, number, row, with_stubs
from mbplugin.writers.xml_text import Edited, NoCopy

#: Attributes copied from a replaced equality, which have the same meaning for the new one.
_KEPT = ("name", "class", "active", "solref", "solimp")
#: Attributes that a default of the file might give a new joint, with the neutral values to state instead.
_PLAIN = {
    "damping": "0",
    "frictionloss": "0",
    "armature": "0",
    "stiffness": "0",
    "limited": "false",
    "actuatorfrclimited": "false",
}


def with_closures(text: str, scene: Scene, target: Scene, changed: tuple[Pair, ...]) -> Edited:
    """Return the text of an MJCF file with other types of closures.

    Parameters
    ----------
    text : str
    scene : Scene
        The scene as read.
    target : Scene
        The scene with the other types, at a closed pose.
    changed : tuple of Pair
        The pairs with another type.

    Raises
    ------
    NoCopy
        Some equalities or bodies of the file are generated, not written as elements, or its loops do not close at
        its pose.
    """
    assert scene.request is not None
    cut = {pair.name for pair in scene.mechanism.tree.cut}
    for pair in changed:
        if pair.name not in cut:
            raise NoCopy(f"joint {pair.name!r} of the tree becomes {pair.type}")
    # with the same tree, both have the same coordinates
    if not np.allclose(scene.state.q, target.state.q, atol=FRAMES_MEET):
        raise NoCopy("its own pose is another one than the closed pose")
    model = MjcfText(text, scene.request)
    model.require_own_elements()
    if any(place.tag == "flag" and place.element.get("equality") == "disable" for place in model.places):
        raise NoCopy("a <flag> disables its equalities")
    made = mjcf_document(target)
    stubs = {pair.name: made.whole.stubs[pair.name] for pair in changed if pair.name in made.whole.stubs}
    _replace_equalities(model, made, changed, stubs)
    _add_parts(model, made, {*stubs.values()})
    _extend_keys(model, scene, target, made.whole)
    held = tuple(
        f"closure {pair.name!r} ({pair.type}): a part of a body on the pair, welded to the rest; sums over "
        "subtrees count it where it hangs"
        for pair in changed
        if pair.name in stubs
    )
    return Edited(model.text(), held, stubs, made.whole.shares)


# The changes: equalities, parts of bodies, keyframes.


def _replace_equalities(
    model: MjcfText, made: MjcfDocument, changed: Sequence[Pair], stubs: Mapping[str, str]
) -> None:
    """Replace the old equalities by the new ones, and add their sites."""
    written = {str(e.get("name")): e for e in made.root.iterfind("equality/*")}
    for pair in changed:
        old = model.equality(pair.name)
        name = f"{stubs[pair.name]}_weld" if pair.name in stubs else pair.name
        new = deepcopy(written[name])
        new.attrib.update({key: str(old.element.attrib[key]) for key in _KEPT if key in old.element.attrib})
        new.set("name", name)
        old.document.replace_in_line(old.at, new)
        for site in (f"{name}_a", f"{name}_b"):
            element = next(e for e in made.root.iter("site") if e.get("name") == site)
            body = _owner(element)
            if body not in stubs.values():
                place = model.body(body)
                place.document.add_last(place.at, deepcopy(element))


def _add_parts(model: MjcfText, made: MjcfDocument, stubs: Iterable[str]) -> None:
    """Add the parts of bodies, and reduce the inertia of the bodies that they are taken from."""
    bodies = {str(e.get("name")): e for e in made.root.iter("body")}
    for closure, shared in made.whole.shared.items():
        stub = made.whole.stubs[closure]
        if stub not in stubs:
            raise NoCopy(f"closure {closure!r} is held by a part of a body already")
        new = deepcopy(bodies[stub])
        for joint in new.iterfind("joint"):
            _state_all(joint, in_degrees=model.in_degrees, has_defaults=model.has_joint_defaults)
        # a part has the same gravity compensation as its body
        if gravcomp := model.body(shared).element.get("gravcomp"):
            new.set("gravcomp", str(gravcomp))
        parent = model.body(_owner(bodies[stub]))
        parent.document.add_last(parent.at, new)
    for shared in dict.fromkeys(made.whole.shared.values()):
        body = model.body(shared)
        inertial = deepcopy(next(bodies[shared].iterchildren("inertial")))
        own = [at for at, e in enumerate(body.document.elements) if e.getparent() is body.element]
        old = [at for at in own if local_name(body.document.elements[at]) == "inertial"]
        if old:
            body.document.replace_in_line(old[0], inertial)
        else:
            body.document.add_first(body.at, inertial)


def _owner(element: Element) -> str:
    """Return the name of the body that contains an element."""
    parent = element.getparent()
    return WORLD if parent is None else str(parent.get("name", WORLD))


def _state_all(joint: Element, *, in_degrees: bool, has_defaults: bool) -> None:
    """State attributes of a joint explicitly against defaults of the file, in the file's unit of angles."""
    if in_degrees and joint.get("type") == "hinge":
        joint.set("ref", number(float(np.degrees(float(joint.get("ref", 0.0))))))
    if has_defaults:
        for key, value in _PLAIN.items():
            if joint.get(key) is None:
                joint.set(key, value)
        if joint.get("type") != "ball" and joint.get("ref") is None:
            joint.set("ref", "0")


def _extend_keys(model: MjcfText, scene: Scene, target: Scene, whole: WithStubs) -> None:
    """Insert the coordinates of the parts of bodies into keyframes, at the positions of their joints."""
    keys = [
        place for place in model.places if place.tag == "key" and {"qpos", "qvel"} & {*place.element.attrib}
    ]
    if not keys or not whole.shared:
        return
    joints = model.joints(scene.mechanism)
    parts = []
    for stub in whole.stubs.values():
        joint = whole.mechanism.tree.joint_of_body[stub]
        end = model.end_of(model.body(joint.inner))
        parts.append((sum(one.size for one in joints if one.at < end), joint))
    parts.sort(key=lambda part: part[0])
    for key in keys:
        if any(_numbers(key.element.get("qvel"))):
            raise NoCopy("it has keyframes with rates")
        if qpos := _numbers(key.element.get("qpos")):
            q = _coordinates(scene.mechanism, joints, qpos)
            state = State(q, np.zeros(len(target.mechanism.qd_names)))
            there = with_stubs(target.mechanism, state, stubbed_closures(target.mechanism)).state
            new: list[float] = []
            start = 0
            for before, joint in parts:
                new += [*qpos[start:before], *_positions(whole, joint, there.q)]
                start = before
            key.document.set_attribute(key.at, "qpos", row([*new, *qpos[start:]]))
        if qvel := _numbers(key.element.get("qvel")):
            added = sum(len(range(*joint.qd.indices(len(whole.mechanism.qd_names)))) for _, joint in parts)
            key.document.set_attribute(key.at, "qvel", row([*qvel, *[0.0] * added]))


def _coordinates(mech: Mechanism, joints: Sequence[TextJoint], qpos: Sequence[float]) -> Array:
    """Return q (nq,) of a mechanism at MuJoCo's ``qpos``."""
    if len(qpos) != sum(joint.size for joint in joints):
        raise NoCopy("a keyframe has another number of coordinates than the model")
    q = np.zeros(len(mech.q_names))
    position = 0
    for joint in joints:
        values = np.array(qpos[position : position + joint.size])
        position += joint.size
        if joint.kind == "free":
            edge = mech.tree.joint_of_body[joint.body]
            if edge.pair is not None:
                raise NoCopy("it has keyframes, and a free joint that the model does not have")
            xyzw = values[[4, 5, 6, 3]] / np.linalg.norm(values[3:])
            p_LC = mech.bodies[mech.body_index[joint.body]].p_LC
            # the coordinates of a free root are the pose of its centre of mass
            q[edge.q] = [*(values[:3] + rotation_from_quaternion(xyzw) @ p_LC), *xyzw]
            continue
        edge = next(
            edge for edge in mech.tree.joints if edge.pair is not None and edge.pair.name == joint.name
        )
        q[edge.q] = values[[1, 2, 3, 0]] / np.linalg.norm(values) if joint.kind == "ball" else values
    return q


def _positions(whole: WithStubs, joint: TreeJoint, q: Array) -> Iterator[float]:
    """Yield MuJoCo's coordinates of the joints of a part at q (nq,)."""
    mech = whole.mechanism
    here, written = forward(mech, q), forward(mech, whole.state.q)
    ends = [mech.body_index[name] for name in (joint.inner, joint.outer)]
    for motion in motions_of(mech, joint, q, here):
        if motion.kind != "ball":
            yield motion.value
            continue
        turns = [poses.of(ends[0]).R.T @ poses.of(ends[1]).R for poses in (written, here)]
        x, y, z, w = quaternion_from_rotation(turns[0].T @ turns[1])
        yield from (w, x, y, z)


def _numbers(text: object) -> list[float]:
    return [float(word) for word in str(text or "").split()]
