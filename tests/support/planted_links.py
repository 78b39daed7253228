"""Defects of links that are planted into robots: masses, inertias, shapes, twins."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from lxml import etree

from mbplugin.readers.xml import Element, child, children
from planted import Plant, Robot, made, must

_AXES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def _inertial(robot: Robot, tag: str) -> Element:
    return must(must(robot.link(), "inertial"), tag)


def _mass(factor: float) -> Plant:
    def plant(robot: Robot) -> list[Element]:
        mass = _inertial(robot, "mass")
        mass.set("value", repr(float(mass.get("value", "0")) * factor))
        return [mass]

    return plant


def _inertia(**values: str) -> Plant:
    def plant(robot: Robot) -> list[Element]:
        inertia = _inertial(robot, "inertia")
        for name, value in values.items():
            inertia.set(name, value)
        return [inertia]

    return plant


def _scaled_inertia(factor: float) -> Plant:
    def plant(robot: Robot) -> list[Element]:
        inertia = _inertial(robot, "inertia")
        for name in _AXES:
            inertia.set(name, repr(float(inertia.get(name, "0")) * factor))
        return [inertia]

    return plant


def _mass_alone(factor: float) -> Plant:
    """Return a plant that multiplies a mass, which then contradicts shape or inertia: either may be wrong."""

    def plant(robot: Robot) -> list[Element]:
        return [*_mass(factor)(robot), _inertial(robot, "inertia")]

    return plant


def _mass_and_inertia(factor: float) -> Plant:
    """Return a plant that writes mass and inertia in another unit of mass."""

    def plant(robot: Robot) -> list[Element]:
        (mass,), _ = _mass(factor)(robot), _scaled_inertia(factor)(robot)
        return [mass, _inertial(robot, "inertia")]

    return plant


def _same_inertia(robot: Robot) -> list[Element]:
    """Give the lightest link, the heaviest and one between them one inertia."""
    found: list[tuple[float, Element]] = []
    for link in robot.links:
        inertial = child(link, "inertial")
        mass = None if inertial is None else child(inertial, "mass")
        # what weighs next to nothing is a frame
        if inertial is None or mass is None or float(mass.get("value", "0")) < 0.1:
            continue
        found.append((float(mass.get("value", "0")), must(inertial, "inertia")))
    found.sort(key=lambda entry: entry[0])
    chosen = [inertia for _, inertia in (found[0], found[len(found) // 2], found[-1])]
    for inertia in chosen:
        for name in _AXES:
            inertia.set(name, "0.01" if name in ("ixx", "iyy", "izz") else "0")
    return chosen


def _far_center(robot: Robot) -> list[Element]:
    inertial = must(robot.link(), "inertial")
    made(inertial, "origin").set("xyz", "250 0 30")
    return [inertial]


def _inertial_in_degrees(robot: Robot) -> list[Element]:
    place = made(must(robot.link(), "inertial"), "origin")
    place.set("rpy", "0 90 0")
    return [place]


def _without_inertial(robot: Robot) -> list[Element]:
    link = robot.link()
    link.remove(must(link, "inertial"))
    return [link]


def _solid(tag: str, **values: str) -> Plant:
    """Return a plant that replaces the shape of a link."""

    def plant(robot: Robot) -> list[Element]:
        geometry = robot.shape()
        for solid in list(geometry):
            geometry.remove(solid)
        return [etree.SubElement(geometry, tag, **values)]

    return plant


def _shape_in_degrees(robot: Robot) -> list[Element]:
    shape = robot.shape("visual").getparent()
    assert shape is not None
    place = made(shape, "origin")
    place.set("rpy", "90 0 0")
    return [place]


def stl_box(*size: float) -> bytes:
    """Return the binary STL of a box about the origin."""
    x, y, z = (0.5 * edge for edge in size)
    corners = [(i * x, j * y, k * z) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in sides for t in ((a, b, c), (a, c, d))]
    facets = (struct.pack("<12fH", 0, 0, 0, *(v for k in t for v in corners[k]), 0) for t in triangles)
    return bytes(80) + struct.pack("<I", len(triangles)) + b"".join(facets)


def _mesh(name: str, data: bytes | None, **values: str) -> Plant:
    """Return a plant that shows a mesh file as the link's visual shape."""

    def plant(robot: Robot) -> list[Element]:
        geometry = robot.shape("visual")
        for solid in list(geometry):
            geometry.remove(solid)
        if data is not None:
            robot.files[name] = data
        return [etree.SubElement(geometry, "mesh", filename=name, **values)]

    return plant


def _fixed_to(robot: Robot, link: Element) -> list[Element]:
    """Return the links that fixed joints carry on a link: a shape of theirs is as good as its own."""
    names = {link.get("name")}
    for joint in robot.joints:
        if joint.get("type") == "fixed" and must(joint, "parent").get("link") in names:
            names.add(must(joint, "child").get("link"))
    return [other for other in robot.links if other.get("name") in names and other is not link]


def _without_collision(robot: Robot) -> list[Element]:
    robot.shape("visual")
    link = robot.link()
    bare = [link, *_fixed_to(robot, link)]
    others = [other for other in robot.links if other not in bare and child(other, "collision") is not None]
    for part in bare:
        for shape in children(part, "collision"):
            part.remove(shape)
    if not others:
        other = next(o for o in robot.links if o not in bare)
        shape = etree.SubElement(other, "collision")
        etree.SubElement(etree.SubElement(shape, "geometry"), "sphere", radius="0.05")
    return [link]


def twins(robot: Robot, tag: str) -> Iterator[tuple[Element, Element]]:
    """Yield elements whose names differ by a side."""
    elements = {str(element.get("name")): element for element in children(robot.root, tag)}
    for name, element in elements.items():
        for left, right in (("left", "right"), ("FL_", "FR_"), ("RL_", "RR_")):
            other = elements.get(name.replace(left, right))
            if left in name and other is not None:
                yield element, other


def _twin(tag: str, change: Callable[[Element], Element | None]) -> Plant:
    """Return a plant that changes the first of the twins that it can change."""

    def plant(robot: Robot) -> list[Element]:
        for element, other in twins(robot, tag):
            place = change(element)
            if place is not None:
                path = robot.root.getroottree().getpath(place)
                inner = path.removeprefix(robot.root.getroottree().getpath(element))
                same = other.xpath(inner.lstrip("/")) if inner else [other]
                return [element, other, place, *same]
        return []

    return plant


def _heavier(link: Element) -> Element | None:
    inertial = child(link, "inertial")
    mass = None if inertial is None else must(inertial, "mass")
    if mass is None or not float(mass.get("value", "0")) > 0:
        return None
    mass.set("value", repr(1.4 * float(mass.get("value", "0"))))
    return mass


def _wider(link: Element) -> Element | None:
    inertial = child(link, "inertial")
    if inertial is None or not float(must(inertial, "mass").get("value", "0")) > 0:
        return None
    inertia = must(inertial, "inertia")
    for name in _AXES:
        inertia.set(name, repr(1.5 * float(inertia.get(name, "0"))))
    return inertia


def _moved(joint: Element) -> Element | None:
    place = child(joint, "origin")
    if place is None or not any(float(word) for word in place.get("xyz", "0 0 0").split()):
        return None
    x, y, z = (float(word) for word in place.get("xyz", "").split())
    place.set("xyz", f"{x + 0.06!r} {y!r} {z!r}")
    return place


def _narrower(joint: Element) -> Element | None:
    limit = child(joint, "limit")
    if limit is None or limit.get("upper") is None or joint.get("type") == "continuous":
        return None
    limit.set("lower", repr(0.5 * float(limit.get("lower", "0"))))
    limit.set("upper", repr(0.5 * float(limit.get("upper", "0"))))
    return limit


#: Name of the defect: the rule, and what plants it.
DEFECTS: dict[str, tuple[str, Plant]] = {
    "negative mass": ("MB101", _mass(-1.0)),
    "zero mass": ("MB101", _mass(0.0)),
    "inertia not positive definite": ("MB102", _inertia(ixx="0.1", iyy="0.1", izz="0.1", ixy="0.5")),
    "triangle inequality": (
        "MB103",
        _inertia(ixx="0.01", iyy="0.01", izz="0.5", ixy="0", ixz="0", iyz="0"),
    ),
    "inertia of ones": ("MB104", _inertia(ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0")),
    "one inertia for several masses": ("MB142", _same_inertia),
    "grams for kilograms": ("MB140 MB141", _mass_and_inertia(1000.0)),
    "tonnes for kilograms": ("MB140", _mass_and_inertia(0.001)),
    "mass with three digits too many": ("MB140 MB141", _mass_alone(1e3)),
    "inertia in kg mm²": ("MB105 MB141", _scaled_inertia(1e6)),
    "inertia in another unit of mass": ("MB105 MB141", _scaled_inertia(1e-6)),
    "centre of mass in millimetres": ("MB105 MB143", _far_center),
    "inertial frame in degrees": ("MB126", _inertial_in_degrees),
    "moving link without inertial": ("MB109", _without_inertial),
    "box of thickness zero": ("MB130", _solid("box", size="0.1 0 0.1")),
    "sphere of negative radius": ("MB130", _solid("sphere", radius="-0.05")),
    "cylinder of length zero": ("MB130", _solid("cylinder", radius="0.05", length="0")),
    "shape turned by 90 rad": ("MB126", _shape_in_degrees),
    "mesh that is missing": ("MB131", _mesh("missing/part.stl", None)),
    "mesh that is empty": ("MB131", _mesh("empty.stl", b"")),
    "mesh that is a Git LFS pointer": (
        "MB131",
        _mesh("pointer.stl", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
    ),
    "mesh in millimetres": ("MB133", _mesh("part_mm.stl", stl_box(90.0, 80.0, 120.0))),
    "mesh scaled to micrometres": (
        "MB133",
        _mesh("part_m.stl", stl_box(0.09, 0.08, 0.12), scale="0.001 0.001 0.001"),
    ),
    "mesh scale of zero": ("MB132", _mesh("flat.stl", stl_box(0.09, 0.08, 0.12), scale="1 1 0")),
    "mesh scale that is negative": (
        "MB132",
        _mesh("turned.stl", stl_box(0.09, 0.08, 0.12), scale="-1 -1 -1"),
    ),
    "visual without collision": ("MB134", _without_collision),
    "twin with another mass": ("MB145", _twin("link", _heavier)),
    "twin with another inertia": ("MB145", _twin("link", _wider)),
    "twin at another place": ("MB145", _twin("joint", _moved)),
    "twin with other limits": ("MB145", _twin("joint", _narrower)),
}
