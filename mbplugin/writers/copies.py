"""Copies of a model's file, in which only the closures are changed.

A model that stays in its format keeps all contents of its file: comments, defaults, sensors, materials, names and
their order. Only elements of closures are replaced, and parts of bodies added. The changed text is read back and
compared with the model; if it differs, or if the change is not local, the file is written anew, and the result
states the reason.

In an MJCF file, an equality is replaced by the new one. If the closure needs a part of a body, the part is added as
the last child of the body that carries it, the inertia of the shared body is reduced, and keyframes get the
coordinates of the part. Included files that contain any of these changes are expanded in place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np

from mbplugin.errors import MbPluginError
from mbplugin.files import read_bounded
from mbplugin.model import FRAMES_MEET, WORLD, Mechanism, Pair, Request, Scene, State, TreeJoint, forward
from mbplugin.model.spatial import Array, quaternion_from_rotation, rotation_from_quaternion
from mbplugin.phrases import listed
from mbplugin.readers import format_name, read_again
from mbplugin.readers.xml import Element, local_name, parse_xml
from mbplugin.writers.mjcf import MjcfDocument, mjcf_document, stubbed_closures
from mbplugin.writers.sdf import sdf_joint
from mbplugin.writers.urdf import loop_joint
from mbplugin.writers.written import WithStubs, Written, motions_of, number, row, with_stubs
from mbplugin.writers.xml_text import Edited, MjcfText, NoCopy, TextJoint, XmlText

#: Of a joint of a USD stage that closes a loop inside an articulation.
_IN_ARTICULATION = "MB129"
#: Formats whose files are copied.
_COPIED = ("mjcf", "urdf", "sdf", "usd")
#: Tolerance for numbers of a copy and of its file, relative and in SI units.
_SAME = 1e-9
#: Parts of a scene besides its mechanism; a copy must have equally many of each.
_PARTS = ("loads", "payloads", "brakes", "ramps", "springs", "stiffness", "locks", "holds", "actuators")


def is_of_format(scene: Scene, to: str) -> bool:
    """Return True if a scene was read from a file of a format."""
    request = scene.request
    return to in _COPIED and request is not None and request.text is None and format_name(request) == to


def copied(scene: Scene, target: Scene, to: str) -> tuple[Written, Scene]:
    """Return the file of a scene with the closures of another mechanism, and the scene read back from it.

    Parameters
    ----------
    scene : Scene
        The scene as read from a file of the format.
    target : Scene
        The same scene with other types of closures, at a closed pose.
    to : str
        The format to write.

    Raises
    ------
    NoCopy
        A change is not local, or the model differs from its file.
    """
    request = scene.request
    assert request is not None
    text = source_text(request)
    back = _read_as_stated(scene, text)
    unstated = loops_unstated(scene) if to == "usd" else frozenset()
    changed = changed_pairs(scene.mechanism, target.mechanism, unstated)
    if not changed:
        return Written(to, text, copy_of=request, names_from=request), back
    edited = _with_types(text, scene, target, changed, to)
    try:
        back = read_again(edited.text, _plain(request))
    except MbPluginError as error:
        raise NoCopy(f"the file with other closures cannot be read: {error.what}") from None
    _require_same(scene, back, edited, changed)
    return Written(to, edited.text, edited.held, copy_of=request, names_from=request), back


def _read_as_stated(scene: Scene, text: str) -> Scene:
    """Return the scene read from the text of a file without reading options; it must equal the given scene.

    Raises
    ------
    NoCopy
        It differs.
    """
    request = scene.request
    assert request is not None
    try:
        back = read_again(text, _plain(request))
        _require_same(scene, back, Edited(text), ())
    except (NoCopy, MbPluginError):
        if request != _plain(request):
            raise NoCopy(
                "its text does not say what options of reading do (base, snapped angles, massless)"
            ) from None
        raise NoCopy("the model is no longer that of its file") from None
    return back


def _with_types(text: str, scene: Scene, target: Scene, changed: tuple[Pair, ...], to: str) -> Edited:
    """Return the text with the types of some pairs taken from another scene."""
    if to == "mjcf":
        return with_closures(text, scene, target, changed)
    assert scene.request is not None
    if to == "usd":
        from mbplugin.writers.usd import with_types

        return with_types(text, _plain(scene.request), scene.mechanism, target.mechanism, changed)
    # one element each; a reader's frames of links are those of the file
    document = XmlText(parse_xml(text, scene.request.path), text)
    for pair in changed:
        if to == "urdf":
            document.replace_in_line(
                document.find("loop_joint", pair.name), loop_joint(pair, pair.X_AP, pair.X_BS)
            )
        else:
            document.replace_in_line(document.find("joint", pair.name), sdf_joint(target, pair))
    return Edited(document.edited())


def _plain(request: Request) -> Request:
    """Return a request without options that change the meaning of a text, since a copy consists of its text only."""
    return replace(request, base=None, snap_angles=False, massless="zero")


def is_as_in_file(scene: Scene) -> bool:
    """Return True if a scene is still that of its file; a caller may have changed it."""
    if scene.request is None or scene.request.text is not None:
        return False
    try:
        _read_as_stated(scene, source_text(scene.request))
    except NoCopy:
        return False
    return True


def loops_unstated(scene: Scene) -> frozenset[str]:
    """Return the joints of a USD stage that close loops and that it does not exclude from its articulation."""
    return frozenset(defect.element for defect in scene.defects if defect.code == _IN_ARTICULATION)


def changed_pairs(before: Mechanism, after: Mechanism, unstated: Collection[str] = ()) -> tuple[Pair, ...]:
    """Return the pairs of a mechanism that have another type than before, or close a loop only now.

    Parameters
    ----------
    unstated : collection of str
        Closures of which the file does not say that they are some; only with such loops may be cut elsewhere.

    Raises
    ------
    NoCopy
        Loops are cut elsewhere.
    """
    cuts = [{pair.name for pair in mech.tree.cut} for mech in (before, after)]
    if cuts[0] != cuts[1] and not unstated:
        raise NoCopy(f"its loops are cut elsewhere, at {listed(sorted(cuts[1] - cuts[0]))}")
    moved = (cuts[0] ^ cuts[1]) | (cuts[1] & set(unstated))
    return tuple(
        pair for pair in after.pairs if pair.type != before.pair_by_name[pair.name].type or pair.name in moved
    )


def source_text(request: Request) -> str:
    """Return the text of a file with its line ends and its byte order mark, without trailing null bytes.

    Raises
    ------
    NoCopy
        The file is not UTF-8.
    """
    data = read_bounded(Path(request.path)).rstrip(b"\0")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NoCopy("it is not UTF-8") from None


def _require_same(scene: Scene, back: Scene, edited: Edited, changed: tuple[Pair, ...]) -> None:
    """Reject a copy that differs from its model in more than the changed closures."""
    ours, theirs = scene.mechanism, back.mechanism
    added = {*edited.parts.values()}
    bodies = [body for body in theirs.bodies if body.name.partition("#")[0] not in added]
    if [body.name for body in bodies] != [body.name for body in ours.bodies]:
        raise NoCopy("its bodies without names are numbered anew once closures are changed: give each a name")
    for body, other in zip(ours.bodies, bodies, strict=True):
        share = edited.shares.get(body.name, 1.0)
        size = max(body.mass, float(np.abs(body.I_C).max(initial=0.0)))
        numbers = np.r_[share * body.mass, body.p_LC, share * body.I_C.ravel()]
        again = np.r_[other.mass, other.p_LC, other.I_C.ravel()]
        if not np.allclose(numbers, again, rtol=_SAME, atol=_SAME * max(size, 1.0)):
            raise NoCopy(f"body {body.name!r} has another mass, centre or inertia once closures are changed")
    names = {pair.name for pair in changed}
    kept = [pair for pair in ours.pairs if pair.name not in names]
    there = theirs.pair_by_name
    for pair in kept:
        if pair.name not in there or not _alike(pair, there[pair.name]):
            hint = ": give each joint a name" if re.fullmatch(r"joint\d+", pair.name) else ""
            raise NoCopy(f"joint {pair.name!r} is another one once closures are changed{hint}")
    new = {*names, *(f"{stub}_weld" for stub in added)}
    rest = there.keys() - {pair.name for pair in kept} - new
    if any(name.rpartition(".")[0] not in names for name in rest):
        raise NoCopy("it has other joints once closures are changed")
    for pair in changed:
        if pair.name not in edited.parts and (pair.name not in there or there[pair.name].type != pair.type):
            raise NoCopy(f"{pair.name!r} is not read as {pair.type}")
    if ours.couplings != theirs.couplings:
        raise NoCopy("its couplings differ once closures are changed")
    if any(len(getattr(scene, part)) != len(getattr(back, part)) for part in _PARTS):
        raise NoCopy("the model has parts that its file does not have")
    laws = {law.name: law for law in back.actuator_laws}
    for law in scene.actuator_laws:
        if laws.get(law.name) != law:
            raise NoCopy(
                f"actuator {law.name!r}, whose gains count on inertia, differs once closures are changed"
            )
    if not np.allclose(ours.gravity, theirs.gravity):
        raise NoCopy("the model is not the one of its file")


def _alike(pair: Pair, other: Pair) -> bool:
    frames = ((pair.X_AP, other.X_AP), (pair.X_BS, other.X_BS))
    return (
        (pair.type, pair.bodies, pair.closure, pair.freedoms)
        == (other.type, other.bodies, other.closure, other.freedoms)
        and all(np.allclose(X.R, Y.R, atol=_SAME) and np.allclose(X.p, Y.p, atol=_SAME) for X, Y in frames)
        and pair.lead == other.lead
    )


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
