"""Defects of joints that are planted into robots: limits, dynamics, axes, angles, mimics."""

from __future__ import annotations

from lxml import etree

from mbplugin.readers.common.xml import Element, child
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
    "revolute without limit": ("MB111", _without_limit),
    "joints of one name": ("MB107", _same_name),
    "a part that no joint holds": ("MB110", _second_root),
    "a number with a stop": ("MB114", _trailing_dot),
}
