"""Defects of names that are planted into robots: references to nothing and misspelt words."""

from __future__ import annotations

from lxml import etree

from mbplugin.readers.xml import Element, children
from planted import Plant, Robot, made, must


def _transmission(robot: Robot) -> list[Element]:
    transmission = etree.SubElement(robot.root, "transmission", name="planted_transmission")
    etree.SubElement(transmission, "type").text = "transmission_interface/SimpleTransmission"
    joint = etree.SubElement(transmission, "joint", name=f"{robot.joint('revolute').get('name')}_x")
    etree.SubElement(transmission, "actuator", name="planted_motor")
    return [joint]


def _ros2_control(robot: Robot) -> list[Element]:
    control = etree.SubElement(robot.root, "ros2_control", name="planted", type="system")
    joint = etree.SubElement(control, "joint", name="no_such_joint")
    etree.SubElement(joint, "command_interface", name="position")
    return [joint]


def _gazebo(robot: Robot) -> list[Element]:
    gazebo = etree.SubElement(robot.root, "gazebo", reference="no_such_link")
    etree.SubElement(gazebo, "material").text = "Gazebo/Red"
    return [gazebo]


def _material(robot: Robot) -> list[Element]:
    shape = robot.shape("visual").getparent()
    assert shape is not None
    material = made(shape, "material")
    for inner in list(material):
        material.remove(inner)
    material.set("name", "no_such_material")
    return [material]


def _srdf(line: str) -> Plant:
    """Return a plant that writes an SRDF beside the robot; LINK, OTHER, JOINT and FAR stand for names."""

    def plant(robot: Robot) -> list[Element]:
        link, other = (str(element.get("name")) for element in robot.links[:2])
        joint = robot.joint("revolute")
        limit = must(joint, "limit")
        far = repr(float(limit.get("upper", "0")) + 1.0)
        words = {"LINK": link, "OTHER": other, "JOINT": str(joint.get("name")), "FAR": far}
        body = line
        for word, name in words.items():
            body = body.replace(word, name)
        # the state is written after its group, as in the files of the setup assistant
        group = f'<group name="arm"><joint name="{joint.get("name")}"/><link name="{link}"/></group>'
        name = robot.root.get("name")
        text = f'<?xml version="1.0"?>\n<robot name="{name}">\n  {group}\n  {body}\n</robot>\n'
        robot.files[f"{robot.source.stem}.srdf"] = text.encode()
        return []

    return plant


def _renamed(owner: str, tag: str, new: str) -> Plant:
    """Return a plant that misspells an element of a moving joint or link."""

    def plant(robot: Robot) -> list[Element]:
        parent = robot.joint("revolute") if owner == "joint" else robot.link()
        element = made(parent, tag)
        element.tag = new
        return [element]

    return plant


def _attribute(owner: str, tag: str, old: str, new: str) -> Plant:
    def plant(robot: Robot) -> list[Element]:
        parent = robot.joint("revolute") if owner == "joint" else must(robot.link(), "inertial")
        element = made(parent, tag)
        element.set(new, element.attrib.pop(old, "1"))
        return [element]

    return plant


def _foreign(robot: Robot) -> list[Element]:
    return [etree.SubElement(robot.root, "lnik", name="misspelt")]


def _second_color(robot: Robot) -> list[Element]:
    return [etree.SubElement(children(robot.root, "link")[0], "visuals")]


_STATE = '<group_state name="home" group="arm"><joint name="JOINT" value="FAR"/></group_state><!-- HERE -->'

#: Name of the defect: the rule, and what plants it.
DEFECTS: dict[str, tuple[str, Plant]] = {
    "transmission of no joint": ("MB150", _transmission),
    "ros2_control of no joint": ("MB150", _ros2_control),
    "gazebo settings of no link": ("MB150", _gazebo),
    "undefined material": ("MB151", _material),
    "SRDF group with an unknown link": (
        "MB152",
        _srdf('<group name="hand"><link name="no_such_link"/></group><!-- HERE -->'),
    ),
    "SRDF group with an unknown joint": (
        "MB152",
        _srdf('<group name="hand"><joint name="no_such_joint"/></group><!-- HERE -->'),
    ),
    "SRDF chain to an unknown link": (
        "MB152",
        _srdf('<group name="hand"><chain base_link="LINK" tip_link="tool_x"/></group><!-- HERE -->'),
    ),
    "SRDF state beyond the limits": ("MB152", _srdf(_STATE)),
    "SRDF pair of an unknown link": (
        "MB152",
        _srdf('<disable_collisions link1="LINK" link2="no_such_link" reason="Never"/><!-- HERE -->'),
    ),
    "SRDF state of an unknown group": (
        "MB152",
        _srdf('<group_state name="home" group="amr"/><!-- HERE -->'),
    ),
    "misspelt element of a joint": ("MB113", _renamed("joint", "dynamics", "dynamic")),
    "misspelt element of a link": ("MB113", _renamed("link", "visual", "visula")),
    "misspelt attribute of an axis": ("MB113", _attribute("joint", "axis", "rpy", "rpx")),
    "misspelt attribute of a limit": ("MB113", _attribute("joint", "limit", "soft", "uper")),
    "misspelt attribute of a mass": ("MB113", _attribute("link", "mass", "unit", "vlaue")),
    "misspelt element of the robot": ("MB113", _foreign),
    "plural of an element": ("MB113", _second_color),
}
