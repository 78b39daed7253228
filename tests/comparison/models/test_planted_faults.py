"""What converters do to a robot: each fault is found, at its element, and its cause is named."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from math import degrees

import numpy as np
import pytest
from lxml import etree

import mbplugin as mb
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import rotation_from_rpy
from mbplugin.readers import load
from tests.support.converted_robot import changed, joint, link, numbers, put, robot, text

Change = Callable[[etree._Element], object]


def scaled(element: etree._Element, attribute: str, factor: float) -> None:
    put(element, attribute, [factor * x for x in numbers(element, attribute)])


def inertia(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Change:
    """Change the inertia of a link, in the axes in which it is written."""

    def run(root: etree._Element) -> None:
        element = link(root, name, "inertia")
        xx, yy, zz, xy, xz, yz = (float(element.get(f"i{k}")) for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
        found = change(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        for key, (i, j) in {
            "xx": (0, 0),
            "yy": (1, 1),
            "zz": (2, 2),
            "xy": (0, 1),
            "xz": (0, 2),
            "yz": (1, 2),
        }.items():
            element.set(f"i{key}", repr(float(found[i, j])))

    return run


def turned(R: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda J: R @ J @ R.T


def about_link(J: np.ndarray) -> np.ndarray:
    c = np.array([0.2, -0.01, 0.03])
    return J + 3 * (c @ c * np.eye(3) - np.outer(c, c))


def without(name: str, part: str) -> Change:
    return lambda root: joint(root, name).remove(joint(root, name, part))


def doubled_loop(root: etree._Element) -> None:
    twin = deepcopy(root.find("loop_joint"))
    twin.set("name", "coupler_again")
    root.append(twin)


def all_lengths(root: etree._Element, factor: float) -> None:
    for origin in root.iter("origin"):
        scaled(origin, "xyz", factor)
    for side in (*root.iter("link1"), *root.iter("link2")):
        scaled(side, "xyz", factor)


def mirrored_center(root: etree._Element) -> None:
    x, y, z = numbers(link(root, "upper", "origin"), "xyz")
    put(link(root, "upper", "origin"), "xyz", [x, -y, z])


def moved_zero(root: etree._Element) -> None:
    joint(root, "pan", "origin").set("rpy", "0 0 0.4")


#: Name, change, kind of the difference, element, cause.
FAULTS: list[tuple[str, Change, str, str, str]] = [
    ("mass doubled", lambda r: scaled(link(r, "upper", "mass"), "value", 2), "mass", "upper", "mass doubled"),
    ("mass halved", lambda r: scaled(link(r, "fore", "mass"), "value", 0.5), "mass", "fore", "mass halved"),
    (
        "mass in grams",
        lambda r: scaled(link(r, "wrist", "mass"), "value", 1000),
        "mass",
        "wrist",
        "units: 1000x",
    ),
    (
        "mass in pounds",
        lambda r: scaled(link(r, "rod", "mass"), "value", 1 / 0.45359237),
        "mass",
        "rod",
        "pounds",
    ),
    (
        "inertial lost",
        lambda r: link(r, "left").remove(link(r, "left").find("inertial")),
        "mass",
        "left",
        "mass lost",
    ),
    (
        "mass of a fixed link",
        lambda r: scaled(link(r, "camera", "mass"), "value", 2),
        "mass",
        "camera",
        "mass doubled",
    ),
    ("centre lost", lambda r: link(r, "upper", "origin").set("xyz", "0 0 0"), "center", "upper", "lost"),
    ("centre mirrored", mirrored_center, "center", "upper", "mirrored"),
    (
        "centre in millimetres",
        lambda r: scaled(link(r, "fore", "origin"), "xyz", 1000),
        "center",
        "fore",
        "1000x",
    ),
    (
        "centre in another frame",
        lambda r: put(
            link(r, "fore", "origin"), "xyz", list(rotation_from_rpy((0.4, 0.5, 0.6)) @ [0.2, -0.01, 0.03])
        ),
        "center",
        "fore",
        "in another frame",
    ),
    ("inertia doubled", inertia("upper", lambda J: 2 * J), "inertia", "upper", "inertia doubled"),
    ("inertia in g·mm²", inertia("upper", lambda J: 1e9 * J), "inertia", "upper", "grams and millimetres"),
    ("inertia in kg·mm²", inertia("fore", lambda J: 1e6 * J), "inertia", "fore", "millimetres squared"),
    (
        "products with the other sign",
        inertia("fore", lambda J: 2 * np.diag(np.diag(J)) - J),
        "inertia",
        "fore",
        "opposite sign",
    ),
    (
        "products lost",
        inertia("upper", lambda J: np.diag(np.diag(J))),
        "inertia",
        "upper",
        "products of inertia lost",
    ),
    (
        "moments exchanged",
        inertia("upper", turned(np.array([[0.0, 0, 1], [0, 1, 0], [1, 0, 0]]))),
        "inertia",
        "upper",
        "axes exchanged",
    ),
    (
        "inertia turned",
        inertia("upper", turned(rotation_from_rpy((0, 0, 0.5)))),
        "inertia",
        "upper",
        "another frame",
    ),
    (
        "rotation of the inertial lost",
        lambda r: link(r, "shoulder", "origin").set("rpy", "0 0 0"),
        "inertia",
        "shoulder",
        "inertia in another frame",
    ),
    ("inertia about the link frame", inertia("fore", about_link), "inertia", "fore", "about the link frame"),
    ("placeholder inertia", inertia("wrist", lambda J: np.eye(3)), "inertia", "wrist", "placeholder"),
    ("inertia lost", inertia("wrist", lambda J: 0 * J), "inertia", "wrist", "inertia lost"),
    ("axis flipped", lambda r: joint(r, "pan", "axis").set("xyz", "0 0 -1"), "axis", "pan", "axis flipped"),
    (
        "symmetric axis flipped",
        lambda r: joint(r, "elbow", "axis").set("xyz", "0 -1 0"),
        "axis",
        "elbow",
        "axis flipped",
    ),
    (
        "endless axis flipped",
        lambda r: joint(r, "roll", "axis").set("xyz", "-1 0 0"),
        "axis",
        "roll",
        "axis flipped",
    ),
    (
        "axis exchanged",
        lambda r: joint(r, "lift", "axis").set("xyz", "0 0 1"),
        "axis",
        "lift",
        "components exchanged",
    ),
    ("axis lost", lambda r: joint(r, "grip").remove(joint(r, "grip", "axis")), "axis", "grip", "axis"),
    (
        "axis tilted",
        lambda r: joint(r, "lift", "axis").set("xyz", "0 1 0.3"),
        "axis",
        "lift",
        "in another frame",
    ),
    (
        "limits in degrees",
        lambda r: [
            joint(r, "lift", "limit").set(k, str(degrees(v))) for k, v in (("lower", -0.5), ("upper", 1.8))
        ],
        "limit",
        "lift",
        "limit in degrees",
    ),
    ("limits lost", lambda r: joint(r, "pan").set("type", "continuous"), "limit", "pan", "limit lost"),
    (
        "limit with the other sign",
        lambda r: joint(r, "lift", "limit").set("lower", "0.5"),
        "limit",
        "lift",
        "opposite sign",
    ),
    (
        "slide in millimetres",
        lambda r: joint(r, "grip", "limit").set("upper", "40"),
        "limit",
        "grip",
        "1000x",
    ),
    (
        "joint in millimetres",
        lambda r: scaled(joint(r, "elbow", "origin"), "xyz", 1000),
        "origin",
        "elbow",
        "1000x",
    ),
    (
        "joint at the origin",
        lambda r: joint(r, "elbow", "origin").set("xyz", "0 0 0"),
        "origin",
        "elbow",
        "position lost",
    ),
    (
        "joint mirrored",
        lambda r: joint(r, "lift", "origin").set("xyz", "0.1 -0.08 0.2"),
        "origin",
        "lift",
        "mirrored",
    ),
    ("joint frame turned", lambda r: joint(r, "lift", "origin").set("rpy", "0 0 0"), "axis", "lift", "axis"),
    ("zero moved", moved_zero, "zero", "pan", "zero position moved, limits not"),
    (
        "joint became fixed",
        lambda r: joint(r, "roll").set("type", "fixed"),
        "joint",
        "roll",
        "joint became fixed",
    ),
    ("turn became slide", lambda r: joint(r, "lift").set("type", "prismatic"), "type", "lift", "exchanged"),
    (
        "joint on another body",
        lambda r: joint(r, "rod_pin", "parent").set("link", "base"),
        "ends",
        "rod_pin",
        "another body",
    ),
    ("loop lost", lambda r: r.remove(r.find("loop_joint")), "loop", "coupler", "lost loop"),
    ("loop doubled", doubled_loop, "loop", "coupler_again", "doubled loop"),
    ("loop as a ball", lambda r: r.find("loop_joint").set("type", "ball"), "type", "coupler", "weaker by 2"),
    ("mimic lost", without("follow", "mimic"), "coupling", "mimic follow", "mimic lost"),
    (
        "mimic inverted",
        lambda r: joint(r, "follow", "mimic").set("multiplier", "0.5"),
        "coupling",
        "mimic follow",
        "inverted",
    ),
    (
        "mimic negated",
        lambda r: joint(r, "follow", "mimic").set("multiplier", "-2"),
        "coupling",
        "mimic follow",
        "sign changed",
    ),
    (
        "mimic without offset",
        lambda r: joint(r, "follow", "mimic").set("offset", "0"),
        "coupling",
        "mimic follow",
        "offset lost",
    ),
    (
        "tool frame moved",
        lambda r: scaled(joint(r, "tool_mount", "origin"), "xyz", 2),
        "frame",
        "tool0",
        "doubled",
    ),
    (
        "finger lost",
        lambda r: [r.remove(joint(r, "follow")), r.remove(link(r, "right"))],
        "body",
        "right",
        "body lost",
    ),
    ("effort", lambda r: scaled(joint(r, "pan", "limit"), "effort", 10), "effort", "pan", "10x"),
    (
        "velocity in degrees",
        lambda r: joint(r, "lift", "limit").set("velocity", str(degrees(2))),
        "velocity",
        "lift",
        "in degrees",
    ),
    (
        "damping added",
        lambda r: r.find("joint[@name='elbow']").append(etree.fromstring('<dynamics damping="0.7"/>')),
        "damping",
        "elbow",
        "only in the second",
    ),
    ("lengths in millimetres", lambda r: all_lengths(r, 1000), "origin", "elbow", "units: 1000x"),
]


@pytest.fixture(scope="module")
def original() -> Scene:
    return load("arm.urdf", text=text(robot()))


def test_there_are_forty_and_the_robot_is_itself(original: Scene) -> None:
    assert len(FAULTS) >= 40
    assert len({name for name, *_ in FAULTS}) == len(FAULTS)
    found = mb.diff(original, load("b.urdf", text=text(robot())))
    assert found.same
    assert not found.normalised
    assert found.poses == 5
    assert found.a.loops == 1


#: Kinds of faults that say so of nothing but their element, and of what follows from it.
ALONE = ("mass", "center", "inertia", "axis", "limit", "zero", "origin", "coupling", "frame")


@pytest.mark.long_after(3)
@pytest.mark.parametrize("fault", FAULTS, ids=[f[0] for f in FAULTS])
def test_a_planted_fault_is_found_and_named_and_nothing_else_accused(
    original: Scene, fault: tuple[str, Change, str, str, str]
) -> None:
    name, change, kind, element, cause = fault
    found = mb.diff(original, load("b.urdf", text=changed(change)))
    assert not found.same
    those = [d for d in found.differences if (d.kind, d.element) == (kind, element)]
    assert those, [(d.kind, d.element, d.cause) for d in found.differences]
    assert any(cause in d.cause for d in those), [d.cause for d in those]
    for difference in those:
        assert difference.value_a or difference.value_b
    accused = {d.element for d in found.differences if d.kind not in ("redundancy", "mobility")}
    if name == "lengths in millimetres":
        assert {"shoulder", "upper", "fore", "elbow", "lift", "roll", "coupler", "tool0"} <= accused
    elif kind in ALONE:
        assert accused == {element}


def test_values_say_in_which_frame_they_are() -> None:
    """An inertia is written in axes of its own, and is compared in those of the link."""

    def arm(moments: tuple[float, ...], rpy: str) -> Scene:
        entries = " ".join(f'{key}="{x}"' for key, x in zip(("ixx", "iyy", "izz"), moments, strict=True))
        inertial = f'<origin xyz="0 0 0.1" rpy="{rpy}"/><mass value="1"/><inertia {entries} ixy="0" ixz="0" iyz="0"/>'
        joined = (
            '<joint name="j" type="continuous"><parent link="w"/><child link="l"/><axis xyz="0 0 1"/></joint>'
        )
        text = f'<robot name="r"><link name="w"/><link name="l"><inertial>{inertial}</inertial></link>{joined}</robot>'
        return load("r.urdf", text=text)

    one, other = arm((0.1, 0.2, 0.25), "1.5707963267948966 0 0"), arm((0.1, 0.2, 0.25), "0 0 0")
    (found,) = mb.diff(one, other).differences
    where = "kg·m², computed in the frame of 'l' of the first model"
    assert found.value_a.startswith("(0.1, 0.25, 0.2;") and found.value_a.endswith(where)
    assert found.value_b.startswith("(0.1, 0.2, 0.25;") and found.value_b.endswith(where)
