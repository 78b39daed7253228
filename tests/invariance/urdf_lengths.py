"""A URDF in another unit of length, and in a mirror: the transformations that rewrite its numbers."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from .mirror import S
from .on_urdf import Rewritten
from .urdf_file import Urdf, numbers_of, text_of

#: Attributes that are lengths, by element.
_LENGTHS = {
    "origin": ("xyz",),
    "link1": ("xyz",),
    "link2": ("xyz",),
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
}
#: The axis of a joint that states none, or none that is longer than this.
_X, _ZERO = np.array([1.0, 0.0, 0.0]), 1e-12
#: Powers of the length in what a joint states, for a travel and for a turn.
_TRAVEL = {"lower": 1, "upper": 1, "velocity": 1, "effort": 1, "damping": 0, "friction": 1}
_TURN = {"lower": 0, "upper": 0, "velocity": 0, "effort": 2, "damping": 2, "friction": 2}


def scaled(urdf: Urdf, rng: np.random.Generator, factor: float) -> Rewritten:
    """Every metre becomes ``factor`` of another unit; masses, angles and times stay."""
    del rng
    robot = copy.deepcopy(urdf.robot)
    for element in robot.iter():
        for name in _LENGTHS.get(element.tag, ()):
            _times(element, name, factor)
        if element.tag == "mesh":
            element.set("scale", text_of(factor * numbers_of(element, "scale", "1 1 1")))
        for name in element.attrib if element.tag == "inertia" else ():
            _times(element, name, factor**2)
    joints = [*robot.findall("joint"), *robot.findall("loop_joint")]
    travels = {j.get("name"): j.get("type") == "prismatic" for j in joints}
    for joint in robot.findall("joint"):
        powers = _TRAVEL if travels[joint.get("name")] else _TURN
        for element in (*joint.findall("limit"), *joint.findall("dynamics")):
            for name in element.attrib:
                _times(element, name, factor ** powers.get(name, 0))
        _scale_mimic(joint, travels, factor)
    q = {name: value * (factor if travels.get(name, False) else 1.0) for name, value in urdf.q.items()}
    return Rewritten(replace(urdf, robot=robot, q=q))


def _times(element: Element, name: str, factor: float) -> None:
    if element.get(name) is not None:
        element.set(name, text_of(factor * numbers_of(element, name)))


def _scale_mimic(joint: Element, travels: Mapping[str | None, bool], factor: float) -> None:
    follows = travels[joint.get("name")]
    for mimic in joint.findall("mimic"):
        leads = travels.get(mimic.get("joint"), False)
        multiplier, offset = (float(mimic.get(n, d)) for n, d in (("multiplier", "1"), ("offset", "0")))
        mimic.set("multiplier", repr(multiplier * factor ** (int(follows) - int(leads))))
        mimic.set("offset", repr(offset * factor ** int(follows)))


def mirrored(urdf: Urdf, rng: np.random.Generator) -> Rewritten:
    """The robot as a mirror y → −y shows it; an axis of rotation is a pseudo-vector, so q stays."""
    del rng
    robot = copy.deepcopy(urdf.robot)
    for element in robot.iter():
        if element.tag in ("origin", "link1", "link2"):
            element.set("xyz", text_of(S @ numbers_of(element, "xyz")))
            element.set("rpy", text_of(numbers_of(element, "rpy") * [-1.0, 1.0, -1.0]))
        if element.tag == "mesh":
            element.set("scale", text_of(S @ numbers_of(element, "scale", "1 1 1")))
        for name in ("ixy", "iyz") if element.tag == "inertia" else ():
            _times(element, name, -1.0)
    for joint in (*robot.findall("joint"), *robot.findall("loop_joint")):
        axis = joint.find("axis")
        vector = _X if axis is None else numbers_of(axis, "xyz", "1 0 0")
        # the reader takes x for a zero axis as for a missing one, and the image of zero would be x again
        vector = vector if np.linalg.norm(vector) > _ZERO else _X
        axis = SubElement(joint, "axis") if axis is None else axis
        axis.set("xyz", text_of(S @ vector if joint.get("type") == "prismatic" else -S @ vector))
    return Rewritten(replace(urdf, robot=robot), turn=S, same_frames=False)
