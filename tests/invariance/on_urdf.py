"""Transformations of a URDF as text, one function each; our reader reads what they write."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from mbplugin.model.mechanism import WORLD
from mbplugin.model.spatial import Array, Pose

from .places import anywhere, anywhere_near
from .urdf_file import Urdf, pose_of, text_of, written


@dataclass(frozen=True, eq=False)
class Rewritten:
    """A transformed URDF and what of the verdict is mapped; see ``verdict.Changed``."""

    urdf: Urdf
    names: Mapping[str, str] = field(default_factory=dict)
    mobility: int = 0
    turn: Array = field(default_factory=lambda: np.eye(3))
    same_frames: bool = True
    new_unique: bool = False


def moved(urdf: Urdf, rng: np.random.Generator) -> Rewritten:
    """A scene puts the model elsewhere in the world."""
    X = anywhere(rng)
    return Rewritten(replace(urdf, place=X), turn=X.R)


def renamed(urdf: Urdf, rng: np.random.Generator) -> Rewritten:
    """Every link and joint has another name, in another order of the alphabet, wherever it is named."""
    robot = copy.deepcopy(urdf.robot)
    links = _new_names(robot.findall("link"), "Glied é", rng)
    loops = robot.findall("loop_joint")
    joints = _new_names([*robot.findall("joint"), *loops], "1 <Gelenk>", rng)
    if WORLD in links:
        links[WORLD] = WORLD
    for element in robot.iter():
        if "link" in element.attrib:
            element.set("link", links.get(element.get("link", ""), element.get("link", "")))
        if element.tag == "mimic":
            element.set("joint", joints.get(element.get("joint", ""), element.get("joint", "")))
        if "reference" in element.attrib:
            name = element.get("reference", "")
            element.set("reference", links.get(name, joints.get(name, name)))
    for element, names in _named(robot, links, joints):
        element.set("name", names.get(element.get("name", ""), element.get("name", "")))
    q = {joints[name]: value for name, value in urdf.q.items()}
    ties = {f"{WORLD}→{old}": f"{WORLD}→{new}" for old, new in links.items()}
    mimics = {f"mimic {old}": f"mimic {new}" for old, new in joints.items()}
    return Rewritten(replace(urdf, robot=robot, q=q), {**ties, **mimics, **joints})


def _new_names(elements: list[Element], word: str, rng: np.random.Generator) -> dict[str, str]:
    order = rng.permutation(len(elements))
    return {str(e.get("name")): f"{word} {k}" for e, k in zip(elements, order, strict=True)}


def _named(robot: Element, links: dict[str, str], joints: dict[str, str]) -> list:
    named = [(e, links) for e in robot.findall("link")]
    named += [(e, joints) for tag in ("joint", "loop_joint") for e in robot.findall(tag)]
    named += [(e, joints) for e in robot.findall("transmission/joint")]
    return named + [(e, joints) for e in robot.findall("ros2_control/joint")]


def shuffled(urdf: Urdf, rng: np.random.Generator) -> Rewritten:
    """Links, joints and everything else of the robot in another order, and so within each of them."""
    robot = copy.deepcopy(urdf.robot)
    for element in (robot, *robot.findall("link"), *robot.findall("joint")):
        parts = list(element)
        element[:] = [parts[k] for k in rng.permutation(len(parts))]
    return Rewritten(replace(urdf, robot=robot))


def split(urdf: Urdf, rng: np.random.Generator) -> Rewritten:
    """A link is two of half the mass, welded together; some of its joints are on the second part."""
    robot = copy.deepcopy(urdf.robot)
    link, X_LH = _any_link(robot, rng), anywhere_near(rng, 0.3)
    half = SubElement(robot, "link", name="other half")
    if (inertial := link.find("inertial")) is not None:
        _halve(inertial)
        half.append(copy.deepcopy(inertial))
        _carry(half[0], X_LH.inverse())
    for joint in robot.findall("joint"):
        parent = joint.find("parent")
        if parent is not None and parent.get("link") == link.get("name") and rng.random() < 0.5:
            parent.set("link", "other half")
            _carry(joint, X_LH.inverse())
    for side in robot.findall("loop_joint/*[@link]"):
        if side.get("link") == link.get("name") and rng.random() < 0.5:
            side.attrib.update({"link": "other half", **written(X_LH.inverse() @ pose_of(side))})
    _add_joint(robot, "weld of halves", "fixed", str(link.get("name")), "other half", X_LH)
    return Rewritten(replace(urdf, robot=robot))


def with_pendulum(urdf: Urdf, rng: np.random.Generator) -> Rewritten:
    """A link hangs on any other by a hinge of its own."""
    robot = copy.deepcopy(urdf.robot)
    bob = SubElement(robot, "link", name="bob")
    inertial = SubElement(bob, "inertial")
    SubElement(inertial, "origin", xyz="0 0 -0.5")
    SubElement(inertial, "mass", value="1")
    SubElement(inertial, "inertia", {c: "0.01" if c[1] == c[2] else "0" for c in _INERTIA})
    carrier = str(_any_link(urdf.robot, rng).get("name"))
    joint = _add_joint(robot, "pendulum", "continuous", carrier, "bob", anywhere_near(rng, 0.5))
    SubElement(joint, "axis", xyz=text_of(rng.normal(size=3)))
    return Rewritten(replace(urdf, robot=robot), mobility=1, new_unique=True)


_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def _any_link(robot: Element, rng: np.random.Generator) -> Element:
    links = [link for link in robot.findall("link") if link.get("name") != WORLD]
    return links[int(rng.integers(len(links)))]


def _add_joint(robot: Element, name: str, kind: str, parent: str, child: str, X: Pose) -> Element:
    joint = SubElement(robot, "joint", name=name, type=kind)
    SubElement(joint, "origin", written(X))
    SubElement(joint, "parent", link=parent)
    SubElement(joint, "child", link=child)
    return joint


def _halve(inertial: Element) -> None:
    for mass in inertial.findall("mass"):
        mass.set("value", repr(float(mass.get("value", "0")) / 2))
    for inertia in inertial.findall("inertia"):
        for name in inertia.attrib:
            inertia.set(name, repr(float(inertia.get(name, "0")) / 2))


def _carry(element: Element, X: Pose) -> None:
    """Write the place of a joint or an inertial as another frame sees it."""
    origin = element.find("origin")
    X_new = X @ pose_of(origin)
    origin = SubElement(element, "origin") if origin is None else origin
    origin.attrib.update(written(X_new))


__all__ = ["Rewritten", "moved", "renamed", "shuffled", "split", "with_pendulum"]
