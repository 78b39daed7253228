"""Plants one defect into a robot file, and states which rule must find it and on which line.

A defect is a function that changes a :class:`Robot` and returns the elements at one of which the finding is
expected, or nothing where the robot has no place for it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from mbplugin.readers.xml import Element, child, children, parse_xml
from places import ASSETS

#: Robots of different make: written by hand, exported from CAD, of a tutorial, of a maker.
_OF_PYBULLET = (
    "kuka_iiwa/model.urdf",
    "franka_panda/panda.urdf",
    "aliengo/aliengo.urdf",
    "r2d2.urdf",
)


@dataclass
class Robot:
    """A URDF that a defect is planted into.

    Parameters
    ----------
    source : Path
    root : Element
    files : dict of str to bytes
        Files that lie beside it, by name.
    elsewhere : str
        Name of the file beside it in which the defect is, instead of the URDF.
    """

    source: Path
    root: Element
    files: dict[str, bytes] = field(default_factory=dict)
    elsewhere: str = ""

    @property
    def joints(self) -> list[Element]:
        """Return the joints in file order."""
        return children(self.root, "joint")

    @property
    def links(self) -> list[Element]:
        """Return the links in file order."""
        return children(self.root, "link")

    def joint(self, *types: str) -> Element:
        """Return the second joint of some types, else the first: the first may be of the base.

        Joints with both limits only, unless they are continuous.
        """
        found = [
            joint
            for joint in self.joints
            if joint.get("type") in types and (joint.get("type") == "continuous" or _bounded(joint))
        ]
        return found[min(1, len(found) - 1)]

    def limit(self) -> Element:
        """Return the limits of a joint that can move."""
        return must(self.joint("revolute", "prismatic"), "limit")

    def link(self) -> Element:
        """Return a moving link with mass and inertia, one with a shape where there is any."""
        moved = {must(j, "child").get("link") for j in self.joints if j.get("type") != "fixed"}
        solid = [link for link in self.links if link.get("name") in moved and _has_mass(link)]
        shaped = [link for link in solid if child(link, "collision") is not None]
        return (shaped or solid)[-1]

    def shape(self, role: str = "collision") -> Element:
        """Return the ``<geometry>`` of a link's shape of a role; one is added where there is none."""
        link = self.link()
        shape = child(link, role)
        if shape is None:
            shape = etree.SubElement(link, role)
            etree.SubElement(etree.SubElement(shape, "geometry"), "box", size="0.1 0.1 0.1")
        return must(shape, "geometry")

    def text(self) -> str:
        """Return the file as it is now."""
        return etree.tostring(self.root, encoding="unicode")


#: Changes a robot; returns where the finding may be.
Plant = Callable[[Robot], Iterable[Element]]


@dataclass(frozen=True)
class PlantedDefect:
    """A defect: its name, the rule that must find it, and what plants it."""

    name: str
    code: str
    plant: Plant


def must(element: Element, tag: str) -> Element:
    """Return the first child of a tag, which is there."""
    found = child(element, tag)
    assert found is not None, (element.tag, tag)
    return found


def made(element: Element, tag: str) -> Element:
    """Return the first child of a tag; it is added where there is none."""
    found = child(element, tag)
    return etree.SubElement(element, tag) if found is None else found


def _bounded(joint: Element) -> bool:
    limit = child(joint, "limit")
    return limit is not None and {"lower", "upper"} <= set(limit.attrib) and child(joint, "mimic") is None


def _has_mass(link: Element) -> bool:
    inertial = child(link, "inertial")
    return inertial is not None and float(must(inertial, "mass").get("value", "0")) > 0


def robots() -> list[Path]:
    """Return the files that defects are planted into, those that are installed."""
    found = [ASSETS / "arm_6r.urdf"]
    spec = importlib.util.find_spec("pybullet_data")
    if spec and spec.submodule_search_locations:
        folder = Path(spec.submodule_search_locations[0])
        found += [folder / name for name in _OF_PYBULLET]
    return found


def read_robot(source: Path) -> Robot:
    """Return a robot that nothing is planted into yet."""
    return Robot(source, parse_xml(source.read_text(encoding="utf-8"), str(source)))


@dataclass(frozen=True)
class PlantedFile:
    """A file with a defect.

    Parameters
    ----------
    path : Path
        The robot's file.
    file : Path
        The file in which the defect is: the robot's, or one beside it.
    lines : frozenset of int
        Where the finding may be.
    packages : Path
        The folder in which the robot's meshes are.
    """

    path: Path
    file: Path
    lines: frozenset[int]
    packages: Path


def planted(defect: PlantedDefect, source: Path, folder: Path) -> PlantedFile | None:
    """Write a robot with one defect to a folder; None where the robot has no place for it."""
    robot = read_robot(source)
    for number, place in enumerate(defect.plant(robot)):
        place.set("HERE", str(number))
    marked = parse_xml(robot.text(), "")
    marks = [element for element in marked.iter() if element.get("HERE") is not None]
    for name, data in robot.files.items():
        if b"HERE" in data:
            # a file beside the robot marks its line itself
            lines = [k for k, line in enumerate(data.splitlines(), start=1) if b"HERE" in line]
            return _written(robot, folder, folder / name, lines)
    if not marks:
        return None
    return _written(robot, folder, folder / source.name, [int(m.sourceline or 0) for m in marks])


def _written(robot: Robot, folder: Path, file: Path, lines: Iterable[int]) -> PlantedFile:
    for element in robot.root.iter():
        element.attrib.pop("HERE", None)
    path = folder / robot.source.name
    path.write_text(robot.text(), encoding="utf-8")
    for name, data in robot.files.items():
        (folder / name).write_bytes(data)
    return PlantedFile(path, file, frozenset(lines), robot.source.parent)


def unchanged(source: Path, folder: Path) -> PlantedFile:
    """Write a robot without a defect to a folder."""
    return _written(read_robot(source), folder, folder / source.name, ())


def all_defects() -> Iterator[PlantedDefect]:
    """Yield every defect there is."""
    from planted_joints import DEFECTS as of_joints
    from planted_links import DEFECTS as of_links
    from planted_references import DEFECTS as of_references

    for defects in (of_joints, of_links, of_references):
        yield from (PlantedDefect(name, code, plant) for name, (code, plant) in defects.items())
