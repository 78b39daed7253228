"""Closures of an MJCF file changed in its own text.

An equality is replaced by the one that takes its place. Where a part of a body holds a closure, it is added as the last
child of the body on which it hangs, the rest of that body gets its smaller inertia, and keyframes get the coordinates
of the part. A file that is included is written out where one of this stands in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np

from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.kinematics import FRAMES_MEET, forward
from mbplugin.model.mechanism.mechanism import Mechanism, TreeJoint
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Request, Scene, State
from mbplugin.model.spatial import Array, quaternion_from_rotation, rotation_from_quaternion
from mbplugin.readers.common.paths import read_text
from mbplugin.readers.common.xml import Element, local_name
from mbplugin.readers.mjcf.files import model_files
from mbplugin.writers.mjcf import MjcfDocument, mjcf_document, stubbed_closures
from mbplugin.writers.written import WithStubs, motions_of, number, row, stub_name, with_stubs
from mbplugin.writers.xml_text import Edited, NoCopy, XmlText

#: What makes bodies, joints or equalities that are no elements of their own.
_MAKERS = ("replicate", "composite", "flexcomp", "attach")
_EQUALITIES = ("connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance")
#: Of an equality that is replaced; they mean the same for the new one.
_KEPT = ("name", "class", "active", "solref", "solimp")
#: What a default of the file might give a new joint, and what is stated instead.
_PLAIN = {
    "damping": "0",
    "frictionloss": "0",
    "armature": "0",
    "stiffness": "0",
    "limited": "false",
    "actuatorfrclimited": "false",
}
#: Coordinates of joints; others have one.
_SIZES = {"free": 7, "ball": 4}


def with_closures(text: str, scene: Scene, target: Scene, changed: tuple[Pair, ...]) -> Edited:
    """Return the text of an MJCF file with other types of closures.

    Parameters
    ----------
    text : str
    scene : Scene
        As it was read.
    target : Scene
        With the other types, at a closed pose.
    changed : tuple of Pair
        The pairs with another type.

    Raises
    ------
    NoCopy
        A file whose equalities or bodies are not all elements of its own, or whose loops do not close at its pose.
    """
    assert scene.request is not None
    if not np.allclose(scene.state.q, target.state.q, atol=FRAMES_MEET):
        raise NoCopy("its own pose is another one than the closed pose")
    cut = {pair.name for pair in scene.mechanism.tree.cut}
    for pair in changed:
        if pair.name not in cut:
            raise NoCopy(f"joint {pair.name!r} of the tree becomes {pair.type}")
    model = _Model(text, scene.request)
    made = mjcf_document(target)
    stubs = {
        pair.name: stub_name(made.shared[pair.name], pair.name)
        for pair in changed
        if pair.name in made.shared
    }
    _replace_equalities(model, made, changed, stubs)
    _add_parts(model, made, {*stubs.values()})
    whole = with_stubs(target.mechanism, target.state, stubbed_closures(target.mechanism))
    _extend_keys(model, scene, target, whole)
    held = tuple(
        f"closure {pair.name!r} ({pair.type}): a part of a body on the pair, welded to the rest"
        for pair in changed
        if pair.name in stubs
    )
    return Edited(model.text(), held, frozenset(stubs.values()), whole.shares)


# What is changed: equalities, parts of bodies, keyframes.


def _replace_equalities(
    model: _Model, made: MjcfDocument, changed: Sequence[Pair], stubs: Mapping[str, str]
) -> None:
    """Put new equalities in the place of the old ones, with the sites that they join."""
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


def _add_parts(model: _Model, made: MjcfDocument, stubs: Iterable[str]) -> None:
    """Add the parts of bodies, and give the bodies that they are of what is left of their inertia."""
    bodies = {str(e.get("name")): e for e in made.root.iter("body")}
    for closure, shared in made.shared.items():
        stub = stub_name(shared, closure)
        if stub not in stubs:
            raise NoCopy(f"closure {closure!r} is held by a part of a body already")
        new = deepcopy(bodies[stub])
        for joint in new.iterfind("joint"):
            _state_all(joint, in_degrees=model.in_degrees, has_defaults=model.has_joint_defaults)
        parent = model.body(_owner(bodies[stub]))
        parent.document.add_last(parent.at, new)
    for shared in dict.fromkeys(made.shared.values()):
        body = model.body(shared)
        inertial = deepcopy(next(bodies[shared].iterchildren("inertial")))
        own = [at for at, e in enumerate(body.document.elements) if e.getparent() is body.element]
        old = [at for at in own if local_name(body.document.elements[at]) == "inertial"]
        if old:
            body.document.replace_in_line(old[0], inertial)
        else:
            body.document.add_first(body.at, inertial)


def _owner(element: Element) -> str:
    """Return the name of the body in which an element stands."""
    parent = element.getparent()
    return WORLD if parent is None else str(parent.get("name", WORLD))


def _state_all(joint: Element, *, in_degrees: bool, has_defaults: bool) -> None:
    """State what defaults of the file would give a joint otherwise, in its unit of angles."""
    if in_degrees and joint.get("type") == "hinge":
        joint.set("ref", number(float(np.degrees(float(joint.get("ref", 0.0))))))
    if has_defaults:
        for key, value in _PLAIN.items():
            if joint.get(key) is None:
                joint.set(key, value)
        if joint.get("type") != "ball" and joint.get("ref") is None:
            joint.set("ref", "0")


def _extend_keys(model: _Model, scene: Scene, target: Scene, whole: WithStubs) -> None:
    """Put the coordinates of the parts of bodies into keyframes, where MuJoCo expects those of their joints."""
    keys = [
        place for place in model.places if place.tag == "key" and {"qpos", "qvel"} & {*place.element.attrib}
    ]
    if not keys or not whole.shared:
        return
    joints = model.joints(scene.mechanism)
    parts = []
    for closure, shared in whole.shared.items():
        joint = whole.mechanism.tree.joint_of_body[stub_name(shared, closure)]
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


def _coordinates(mech: Mechanism, joints: Sequence[_Joint], qpos: Sequence[float]) -> Array:
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
            # the free joint of a root is the pose of its centre of mass
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


# The documents of a model, each included one where it is included.


@dataclass(frozen=True, eq=False)
class _Place:
    """An element of a model: its document, its number there, and the tags above it in the whole model."""

    document: XmlText
    at: int
    above: tuple[str, ...]

    @property
    def element(self) -> Element:
        return self.document.elements[self.at]

    @property
    def tag(self) -> str:
        return local_name(self.element)


@dataclass(frozen=True)
class _Joint:
    """A joint of a model: its number among all elements, kind, number of coordinates, name and body."""

    at: int
    kind: str
    size: int
    name: str
    body: str


class _Model:
    """An MJCF model as its documents, and their elements in the order in which MuJoCo reads them."""

    def __init__(self, text: str, request: Request) -> None:
        main, *included = model_files(text, request).roots
        self._folder = request.folder
        self._left = {os.path.realpath(str(root.base)): root for root in included}
        self._inner: dict[tuple[XmlText, int], XmlText] = {}
        self._main = XmlText(main, text)
        self.places = list(self._walk(self._main, ()))
        if made := [place.tag for place in self.places if place.tag in _MAKERS]:
            raise NoCopy(f"it has <{made[0]}>, which makes elements that are not in its text")
        self._bodies = [p for p in self.places if p.tag == "body" and "worldbody" in p.above]
        self._equalities = [p for p in self.places if p.above[-1:] == ("equality",) and p.tag in _EQUALITIES]

    @property
    def in_degrees(self) -> bool:
        """Whether angles are written in degrees."""
        stated = [
            p.element.get("angle") for p in self.places if p.tag == "compiler" and p.element.get("angle")
        ]
        return not stated or stated[-1] == "degree"

    @property
    def has_joint_defaults(self) -> bool:
        """Whether a default of the file may give a joint something."""
        return any(place.tag == "joint" and "default" in place.above for place in self.places)

    def body(self, name: str) -> _Place:
        """Return the element of a body, or that of the world."""
        if name == WORLD:
            return next(place for place in self.places if place.tag == "worldbody")
        return _named(self._bodies, name, {f"body{i}": one for i, one in enumerate(self._bodies, start=1)})

    def equality(self, name: str) -> _Place:
        """Return the element of an equality, which MuJoCo numbers where it has no name."""
        return _named(self._equalities, name, {f"{p.tag}{i}": p for i, p in enumerate(self._equalities)})

    def end_of(self, place: _Place) -> int:
        """Return the number of the first element behind those in a place."""
        start = self.places.index(place)
        inside = takewhile(lambda other: len(other.above) > len(place.above), self.places[start + 1 :])
        return start + 1 + sum(1 for _ in inside)

    def joints(self, mech: Mechanism) -> list[_Joint]:
        """Return the joints in the order of their coordinates; a type may come from a default, not from the element."""
        found: list[_Joint] = []
        bodies = {place: name for place in self._bodies if (name := self._name_of(place))}
        above: list[tuple[int, str]] = []
        for at, place in enumerate(self.places):
            if place in bodies:
                above = [(depth, name) for depth, name in above if depth < len(place.above)]
                above.append((len(place.above), bodies[place]))
            if (
                place.tag in ("joint", "freejoint")
                and place.above[-1:] == ("body",)
                and "worldbody" in place.above
            ):
                owner = next(name for depth, name in reversed(above) if depth < len(place.above))
                name = str(place.element.get("name", f"joint{len(found)}"))
                pair = mech.pair_by_name.get(name)
                kind = "free" if pair is None else "ball" if pair.type == "spherical" else "single"
                found.append(_Joint(at, kind, _SIZES.get(kind, 1), name, owner))
        return found

    def text(self) -> str:
        """Return the main document with all changes, and with the included ones that have some written out."""
        self._write_out(self._main)
        return self._main.edited()

    def _name_of(self, place: _Place) -> str:
        return str(place.element.get("name") or f"body{self._bodies.index(place) + 1}")

    def _walk(self, document: XmlText, base: tuple[str, ...]) -> Iterator[_Place]:
        """Yield the elements of a document and of those that it includes; the root of an included one is none."""
        inside: dict[Element, tuple[str, ...]] = {}
        for at, element in enumerate(document.elements):
            parent = element.getparent()
            above = base if parent is None else inside[parent]
            is_root = parent is None and bool(base)
            inside[element] = above if is_root else (*above, local_name(element))
            inner = self._included(document, element)
            if inner is not None:
                self._inner[document, at] = inner
                yield from self._walk(inner, above)
            elif not is_root:
                yield _Place(document, at, above)

    def _included(self, document: XmlText, element: Element) -> XmlText | None:
        """Return the document that an element includes; each is included once."""
        if local_name(element) != "include":
            return None
        name = str(element.get("file", ""))
        for folder in (self._folder, Path(str(document.root.base)).parent):
            path = os.path.realpath(folder / name)
            if path in self._left:
                return XmlText(self._left.pop(path), read_text(path))
        return None

    def _write_out(self, document: XmlText) -> None:
        for (outer, at), inner in self._inner.items():
            if outer is document and self._is_changed(inner):
                self._write_out(inner)
                document.replace(at, inner.edited_inside())

    def _is_changed(self, document: XmlText) -> bool:
        inside = (inner for (outer, _), inner in self._inner.items() if outer is document)
        return document.is_edited or any(map(self._is_changed, inside))


def _named(places: Sequence[_Place], name: str, numbered: Mapping[str, _Place]) -> _Place:
    found = next((place for place in places if place.element.get("name") == name), numbered.get(name))
    if found is None:
        raise NoCopy(f"{name!r} is not in its text")
    return found
