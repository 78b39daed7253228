"""One attribute of a random robot is changed in its file: that attribute is named, with the numbers of both files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import nan

import numpy as np
import pytest
from lxml import etree

import mbplugin as mb
from mbplugin.readers import load

#: What the changed attribute may be called: a frame's orientation is an axis, or a zero position about the axis.
KINDS = {
    "mass": {"mass"},
    "center": {"center"},
    "inertia": {"inertia"},
    "xyz": {"origin", "zero"},
    "lower": {"limit"},
    "upper": {"limit"},
    "effort": {"effort"},
    "velocity": {"velocity"},
    "damping": {"damping"},
    "friction": {"friction"},
    "armature": {"armature"},
    "stiffness": {"spring"},
    "multiplier": {"coupling"},
    "offset": {"coupling"},
}
#: Quantities that a format has a place for, by its specification.
URDF = {*KINDS} - {"armature", "stiffness"}
SDF = {*KINDS} - {"armature"}
MJCF = {*KINDS} - {"velocity"}


@dataclass
class Joint:
    """A joint of a random robot with one freedom, and the link that it carries; angles in rad."""

    name: str
    parent: str
    type: str
    xyz: np.ndarray
    axis: np.ndarray
    values: dict[str, float]
    center: np.ndarray
    inertia: np.ndarray
    mimic: tuple[str, float, float] | None = None


def random_robot(seed: int) -> list[Joint]:
    """A tree of hinges and slides, the last one a finger that follows the one before."""
    rng = np.random.default_rng(seed)
    joints: list[Joint] = []
    for k in range(int(rng.integers(3, 6))):
        parent = "base" if not joints else str(rng.choice([j.name.replace("j", "l") for j in joints]))
        axis = np.eye(3)[int(rng.integers(3))]
        values = {
            "lower": -rng.uniform(0.2, 1.0),
            "upper": rng.uniform(1.1, 2.0),
            "effort": rng.uniform(5, 90),
            "velocity": rng.uniform(1, 4),
            "damping": rng.uniform(0.1, 2),
            "friction": rng.uniform(0.1, 2),
            "armature": rng.uniform(0.01, 0.2),
            "stiffness": rng.uniform(1, 20),
            "mass": rng.uniform(0.2, 5),
        }
        values = {key: round(float(value), 4) for key, value in values.items()}
        moments = np.round(rng.uniform(0.9, 1.3, 3) * values["mass"] * 0.01, 6)
        joints.append(
            Joint(
                f"j{k}",
                parent,
                str(rng.choice(["revolute", "prismatic"])),
                np.round(rng.uniform(-0.4, 0.4, 3), 4),
                axis,
                values,
                np.round(rng.uniform(-0.1, 0.1, 3), 4),
                moments,
            )
        )
    joints[-1].type = joints[-2].type
    joints[-1].mimic = (
        joints[-2].name,
        round(float(rng.uniform(0.4, 0.9)), 4),
        round(float(rng.uniform(0.01, 0.1)), 4),
    )
    return joints


def row(values: np.ndarray) -> str:
    return " ".join(repr(float(v)) for v in values)


def urdf(joints: list[Joint]) -> str:
    lines = ['<robot name="r"><link name="base"/>']
    for j in joints:
        v, m = j.values, j.inertia
        lines.append(
            f'<link name="{j.name.replace("j", "l")}"><inertial><origin xyz="{row(j.center)}"/>'
            f'<mass value="{v["mass"]}"/><inertia ixx="{m[0]}" iyy="{m[1]}" izz="{m[2]}" ixy="0" ixz="0" iyz="0"/>'
            "</inertial></link>"
        )
        mimic = "" if j.mimic is None else '<mimic joint="{}" multiplier="{}" offset="{}"/>'.format(*j.mimic)
        lines.append(
            f'<joint name="{j.name}" type="{j.type}"><parent link="{j.parent}"/>'
            f'<child link="{j.name.replace("j", "l")}"/><origin xyz="{row(j.xyz)}"/><axis xyz="{row(j.axis)}"/>'
            f'<limit lower="{v["lower"]}" upper="{v["upper"]}" effort="{v["effort"]}" velocity="{v["velocity"]}"/>'
            f'<dynamics damping="{v["damping"]}" friction="{v["friction"]}"/>{mimic}</joint>'
        )
    return "\n".join([*lines, "</robot>"])


def sdf(joints: list[Joint]) -> str:
    lines = ['<sdf version="1.11"><model name="r"><link name="base"/>']
    for j in joints:
        v, m, link = j.values, j.inertia, j.name.replace("j", "l")
        lines.append(
            f'<link name="{link}"><pose relative_to="{j.parent}">{row(j.xyz)} 0 0 0</pose>'
            f"<inertial><pose>{row(j.center)} 0 0 0</pose><mass>{v['mass']}</mass><inertia>"
            f"<ixx>{m[0]}</ixx><iyy>{m[1]}</iyy><izz>{m[2]}</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia>"
            "</inertial></link>"
        )
        mimic = ""
        if j.mimic is not None:
            leader, multiplier, offset = j.mimic
            mimic = (
                f'<mimic joint="{leader}" axis="axis"><multiplier>{multiplier}</multiplier>'
                f"<offset>{offset}</offset><reference>0</reference></mimic>"
            )
        lines.append(
            f'<joint name="{j.name}" type="{j.type}"><parent>{j.parent}</parent><child>{link}</child>'
            f"<axis><xyz>{row(j.axis)}</xyz><limit><lower>{v['lower']}</lower><upper>{v['upper']}</upper>"
            f"<effort>{v['effort']}</effort><velocity>{v['velocity']}</velocity></limit>"
            f"<dynamics><damping>{v['damping']}</damping><friction>{v['friction']}</friction>"
            f"<spring_reference>0</spring_reference><spring_stiffness>{v['stiffness']}</spring_stiffness></dynamics>"
            f"{mimic}</axis></joint>"
        )
    return "\n".join([*lines, "</model></sdf>"])


def mjcf(joints: list[Joint]) -> str:
    root = etree.Element("mujoco", model="r")
    etree.SubElement(root, "compiler", angle="radian", autolimits="true")
    world = etree.SubElement(root, "worldbody")
    bodies = {"base": etree.SubElement(world, "body", name="base")}
    etree.SubElement(bodies["base"], "freejoint")
    etree.SubElement(bodies["base"], "inertial", pos="0 0 0", mass="1e-9", diaginertia="1e-12 1e-12 1e-12")
    equality = etree.SubElement(root, "equality")
    for j in joints:
        v, link = j.values, j.name.replace("j", "l")
        bodies[link] = etree.SubElement(bodies[j.parent], "body", name=link, pos=row(j.xyz))
        etree.SubElement(
            bodies[link],
            "joint",
            name=j.name,
            type="hinge" if j.type == "revolute" else "slide",
            axis=row(j.axis),
            range=f"{v['lower']} {v['upper']}",
            actuatorfrcrange=f"{-v['effort']} {v['effort']}",
            damping=str(v["damping"]),
            frictionloss=str(v["friction"]),
            armature=str(v["armature"]),
            stiffness=str(v["stiffness"]),
        )
        etree.SubElement(
            bodies[link], "inertial", pos=row(j.center), mass=str(v["mass"]), diaginertia=row(j.inertia)
        )
        if j.mimic is not None:
            leader, multiplier, offset = j.mimic
            etree.SubElement(
                equality, "joint", joint1=j.name, joint2=leader, polycoef=f"{offset} {multiplier} 0 0 0"
            )
    return etree.tostring(root, encoding="unicode")


FORMATS: dict[str, tuple[str, Callable[[list[Joint]], str], set[str]]] = {
    "urdf": ("r.urdf", urdf, URDF),
    "sdf": ("r.sdf", sdf, SDF),
    "mjcf": ("r.xml", mjcf, MJCF),
}


def scene(format: str, joints: list[Joint]) -> tuple[mb.Scene, str]:
    name, written, _ = FORMATS[format]
    text = written(joints)
    return load(name, text=text, base="fixed"), text


def change(joints: list[Joint], what: str, rng: np.random.Generator) -> tuple[str, float, float]:
    """Change one number of a robot; return the name of the joint or link that has it, and both numbers."""
    j = joints[int(rng.integers(len(joints)))]
    link = j.name.replace("j", "l")
    factor = float(rng.uniform(1.05, 1.4))
    if what in ("center", "xyz", "inertia"):
        vector = {"center": j.center, "xyz": j.xyz, "inertia": j.inertia}[what]
        k = int(rng.integers(3))
        old = float(vector[k])
        vector[k] = round(old + (0.013 if what != "inertia" else 0.2 * old), 6)
        return (j.name if what == "xyz" else link), old, float(vector[k])
    if what in ("multiplier", "offset"):
        j = joints[-1]
        assert j.mimic is not None
        leader, *numbers = j.mimic
        at = what == "offset"
        old = numbers[at]
        numbers[at] = round(old * factor, 5)
        j.mimic = (leader, *numbers)  # type: ignore[assignment]
        return j.name, old, numbers[at]
    old = j.values[what]
    j.values[what] = round(old * factor, 5)
    return (link if what == "mass" else j.name), old, j.values[what]


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", text)]


def holds(text: str, number: float) -> bool:
    return any(abs(abs(x) - abs(number)) <= 2e-5 * max(abs(number), 1e-9) for x in numbers(text))


#: Which formats are compared; a robot in one order of formats per seed would hide the other.
PAIRS = [
    ("urdf", "urdf"),
    ("sdf", "sdf"),
    ("mjcf", "mjcf"),
    ("urdf", "sdf"),
    ("sdf", "mjcf"),
    ("mjcf", "urdf"),
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("formats", PAIRS, ids="-".join)
@pytest.mark.long
def test_the_attribute_that_was_changed_is_named_with_both_of_its_numbers(
    formats: tuple[str, str], seed: int
) -> None:
    for format in formats:
        pytest.importorskip("mujoco") if format == "mjcf" else None
    first = random_robot(seed)
    a, text_a = scene(formats[0], first)
    shared = FORMATS[formats[0]][2] & FORMATS[formats[1]][2]
    same = mb.diff(a, scene(formats[1], random_robot(seed))[0])
    assert same.same, same
    for k, (what, kinds) in enumerate(KINDS.items()):
        other = random_robot(seed)
        element, old, new = change(other, what, np.random.default_rng([seed, k]))
        b, text_b = scene(formats[1], other)
        found = mb.diff(a, b)
        if what not in shared:
            # one side has no place for it: the other one's numbers are said not to be compared
            assert found.same, (what, found)
            if any(what in FORMATS[f][2] for f in formats):
                kind = "spring" if what == "stiffness" else what
                assert element in {e for n in found.not_compared if n.kind == kind for e in n.elements}, what
            continue
        named = {(d.kind, d.element.removeprefix("mimic ")) for d in found.differences}
        assert len(named) == 1, (what, element, found)
        ((kind, name),) = named
        assert kind in kinds, (what, element, found)
        assert name == element or kind == "coupling", (what, element, found)
        (difference,) = found.differences
        assert holds(difference.value_a, old), (what, old, difference)
        assert holds(difference.value_b, new), (what, new, difference)
        for value, text in ((difference.value_a, text_a), (difference.value_b, text_b)):
            if "computed" not in value:
                assert all(holds(text, x) for x in numbers(value)), (value, nan)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_a_file_is_no_difference(seed: int) -> None:
    root = etree.fromstring(urdf(random_robot(seed)))
    children = list(root)
    np.random.default_rng(seed).shuffle(children)
    root[:] = children
    found = mb.diff(
        load("a.urdf", text=urdf(random_robot(seed))),
        load("b.urdf", text=etree.tostring(root, encoding="unicode")),
    )
    assert found.same and not found.not_compared, found


def test_a_moved_centre_of_mass_of_a_finger_is_no_moved_limit() -> None:
    """Along the slide of a mimic: a frame, a zero, two limits and an offset that all moved would explain it as well."""

    def gripper(y: float) -> mb.Scene:
        inertia = '<inertia ixx="2e-5" iyy="3e-5" izz="1.5e-5" ixy="0" ixz="0" iyz="0"/>'
        limit = '<limit lower="0" upper="0.04" effort="10" velocity="0.1"/>'
        return load(
            "gripper.urdf",
            text=f"""<robot name="gripper"><link name="palm"><inertial><mass value="3"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="f1"><inertial><origin xyz="0 0.01 0.02"/><mass value="0.05"/>{inertia}</inertial></link>
<link name="f2"><inertial><origin xyz="0 {y} 0.02"/><mass value="0.05"/>{inertia}</inertial></link>
<joint name="g1" type="prismatic"><parent link="palm"/><child link="f1"/><origin xyz="0 0.02 0.1"/>
<axis xyz="0 1 0"/>{limit}</joint>
<joint name="g2" type="prismatic"><parent link="palm"/><child link="f2"/><origin xyz="0 -0.02 0.1"/>
<axis xyz="0 -1 0"/>{limit}<mimic joint="g1" multiplier="1" offset="0"/></joint></robot>""",
        )

    (found,) = mb.diff(gripper(-0.01), gripper(-0.0115)).differences
    assert (found.kind, found.element) == ("center", "f2")
    assert holds(found.value_a, 0.01) and holds(found.value_b, 0.0115)
