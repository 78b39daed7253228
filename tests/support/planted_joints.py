"""Defects of joints that are planted into robots: limits, dynamics, axes, angles, mimics."""

from __future__ import annotations

from lxml import etree

from mbplugin.readers.xml import Element, child
from planted import Plant, Robot, made, must


def _limit(**values: str | None) -> Plant:
    """Return a plant that writes attributes of a limit, or removes them."""

    def plant(robot: Robot) -> list[Element]:
        limit = robot.limit()
        for name, value in values.items():
            if value is None:
                limit.attrib.pop(name, None)
            else:
                limit.set(name, value)
        return [limit]

    return plant


def _without_bounds(robot: Robot) -> list[Element]:
    limit = robot.limit()
    for side in ("lower", "upper"):
        del limit.attrib[side]
    return [limit]


def _in_degrees(robot: Robot) -> list[Element]:
    joints = [j for j in robot.joints if j.get("type") == "revolute" and child(j, "limit") is not None]
    limit = must(joints[0], "limit")
    limit.set("lower", "-170")
    limit.set("upper", "170")
    return [limit]


def _one_bound_in_degrees(robot: Robot) -> list[Element]:
    joints = [j for j in robot.joints if j.get("type") == "revolute" and child(j, "limit") is not None]
    limit = must(joints[-1], "limit")
    limit.set("lower", "0")
    limit.set("upper", "135")
    return [limit]


def _dynamics(name: str) -> Plant:
    def plant(robot: Robot) -> list[Element]:
        dynamics = made(robot.joint("revolute", "prismatic"), "dynamics")
        dynamics.set(name, "-0.5")
        return [dynamics]

    return plant


def _axis(xyz: str) -> Plant:
    def plant(robot: Robot) -> list[Element]:
        axis = made(robot.joint("revolute"), "axis")
        axis.set("xyz", xyz)
        return [axis]

    return plant


def _rpy(text: str) -> Plant:
    def plant(robot: Robot) -> list[Element]:
        place = made(robot.joint("revolute"), "origin")
        place.set("rpy", text)
        return [place]

    return plant


def _away_from_zero(robot: Robot) -> list[Element]:
    limit = robot.limit()
    lower, upper = float(limit.get("lower", "0")), float(limit.get("upper", "0"))
    span = upper - lower
    limit.set("lower", repr(0.25 * span))
    limit.set("upper", repr(1.25 * span))
    return [limit]


def _mimic(leader: str) -> Plant:
    def plant(robot: Robot) -> list[Element]:
        joint = robot.joint("revolute")
        name = leader or str(joint.get("name"))
        return [etree.SubElement(joint, "mimic", joint=name)]

    return plant


def _parallelogram(robot: Robot) -> list[Element]:
    """Add a gripper whose fourth joint is replaced by mimics."""
    base = str(robot.link().get("name"))
    for name in ("crank", "rocker", "finger"):
        inertial = etree.SubElement(etree.SubElement(robot.root, "link", name=f"planted_{name}"), "inertial")
        etree.SubElement(inertial, "mass", value="0.1")
        moments = {"ixx": "0.0001", "iyy": "0.0002", "izz": "0.0002", "ixy": "0", "ixz": "0", "iyz": "0"}
        etree.SubElement(inertial, "inertia", **moments)
    for parent, name, xyz, ratio in (
        (base, "crank", "0 0 0", ""),
        (base, "rocker", "0.03 0 0", "1"),
        ("planted_crank", "finger", "0.01 0 0.06", "-1"),
    ):
        joint = etree.SubElement(robot.root, "joint", name=f"planted_{name}_joint", type="revolute")
        etree.SubElement(joint, "parent", link=parent)
        etree.SubElement(joint, "child", link=f"planted_{name}")
        etree.SubElement(joint, "origin", xyz=xyz)
        etree.SubElement(joint, "axis", xyz="0 1 0")
        etree.SubElement(joint, "limit", lower="-1", upper="1", effort="5", velocity="1")
        if ratio:
            etree.SubElement(joint, "mimic", joint="planted_crank_joint", multiplier=ratio)
    return [joint for joint in robot.joints if joint.get("name") == "planted_crank_joint"]


def _without_limit(robot: Robot) -> list[Element]:
    joint = robot.joint("revolute")
    joint.remove(must(joint, "limit"))
    return [joint]


def _same_name(robot: Robot) -> list[Element]:
    first, second = robot.joints[:2]
    second.set("name", str(first.get("name")))
    return [second]


def _second_root(robot: Robot) -> list[Element]:
    joint = robot.joint("revolute", "prismatic")
    link = next(link for link in robot.links if link.get("name") == must(joint, "child").get("link"))
    robot.root.remove(joint)
    return [link]


def _trailing_dot(robot: Robot) -> list[Element]:
    limit = robot.limit()
    limit.set("upper", f"{float(limit.get('upper', '0')):.2f}.")
    return [limit]


#: Name of the defect: the rule, and what plants it.
DEFECTS: dict[str, tuple[str, Plant]] = {
    "inverted limits": ("MB120", _limit(lower="1.2", upper="-0.8")),
    "limits swapped to a point beyond": ("MB120", _limit(lower="0.6", upper="0.2")),
    "both limits zero": ("MB121", _limit(lower="0", upper="0")),
    "equal limits": ("MB121", _limit(lower="0.3", upper="0.3")),
    "limit without bounds": ("MB121", _without_bounds),
    "limits in degrees": ("MB122", _in_degrees),
    "one limit in degrees": ("MB122", _one_bound_in_degrees),
    "negative effort": ("MB123", _limit(effort="-10")),
    "no effort": ("MB123", _limit(effort=None)),
    "zero velocity": ("MB123", _limit(velocity="0")),
    "negative velocity": ("MB123", _limit(velocity="-1")),
    "no velocity": ("MB123", _limit(velocity=None)),
    "negative damping": ("MB124", _dynamics("damping")),
    "negative friction": ("MB124", _dynamics("friction")),
    "axis of length two": ("MB125", _axis("0 0 2")),
    "diagonal axis of length 1.4": ("MB125", _axis("0 1 1")),
    "zero axis": ("MB106", _axis("0 0 0")),
    "joint turned by 90 rad": ("MB126", _rpy("0 0 90")),
    "joint turned by -180 rad": ("MB126", _rpy("-180 0 0")),
    "zero outside the limits": ("MB127", _away_from_zero),
    "mimic of nothing": ("MB108", _mimic("no_such_joint")),
    "mimic of itself": ("MB108", _mimic("")),
    "loop written with mimics": ("MB128", _parallelogram),
    "revolute without limit": ("MB111", _without_limit),
    "joints of one name": ("MB107", _same_name),
    "a part that no joint holds": ("MB110", _second_root),
    "a number with a stop": ("MB114", _trailing_dot),
}
