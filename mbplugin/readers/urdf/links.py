"""Links of a URDF: mass, centre of mass, inertia and shapes."""

from __future__ import annotations

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel, Fragment
from mbplugin.model.mechanism import WORLD, Body
from mbplugin.model.scene import Shape
from mbplugin.model.spatial import Array, Pose, align_z
from mbplugin.readers.common.numbers import numbers
from mbplugin.readers.common.xml import (
    Element,
    attribute_numbers,
    child,
    children,
    local_name,
    origin,
    pose_of_origin,
    where,
)
from mbplugin.readers.urdf.draft import Draft, required


def read_links(robot: Element, draft: Draft) -> None:
    """Read every link into the draft; a link called ``world`` is the ground and no body.

    Raises
    ------
    Fragment
        No links, and no joints either.
    BrokenModel
        Two links with one name: joints could mean either.
    """
    elements = children(robot, "link")
    if not elements:
        cut = bool(children(robot, "joint"))
        error, remedy = (
            (BrokenModel, "add one") if cut else (Fragment, "add one, or name the file that uses this")
        )
        raise error(
            "the model has no links", where=where(robot), expected="at least one <link>", remedy=remedy
        )
    for element in elements:
        name = required(element, "name")
        if name in draft.links:
            raise BrokenModel(
                f"a second link is called {name!r}, so its joints could mean either",
                where=where(element),
                expected=f"other names than at {draft.origin[('body', name, '')]}",
                remedy="rename one of them",
            )
        draft.links[name] = None
        draft.origin[("body", name, "")] = origin(element)
        if shapes := _shapes(element, name, draft):
            draft.shapes[name] = shapes
        if name != WORLD:
            draft.bodies.append(_body(name, element, draft))


def _body(name: str, link: Element, draft: Draft) -> Body:
    inertial = child(link, "inertial")
    if inertial is None:
        return Body(name)
    # snapping is for joint geometry; a rounded inertial frame moves nothing
    place = child(inertial, "origin")
    X_LC = pose_of_origin(place, snap=False)
    if place is not None and place.get("quat_xyzw") is not None:
        draft.origin[("body", name, "quat_xyzw")] = origin(place, str(place.get("quat_xyzw")))
    draft.origin[("body", name, "inertial")] = origin(inertial)
    mass, moments = child(inertial, "mass"), child(inertial, "inertia")
    value = 0.0
    I_C: Array = np.zeros((3, 3))
    if mass is not None:
        value = float(attribute_numbers(mass, "value", 1, "")[0])
        draft.origin[("body", name, "mass")] = origin(mass, str(mass.get("value")))
    if moments is not None:
        I_C = X_LC.R @ _inertia(moments) @ X_LC.R.T
        draft.origin[("body", name, "inertia")] = origin(moments)
    return Body(name, value, X_LC.p, I_C)


def _inertia(element: Element) -> Array:
    """Return the inertia matrix (3, 3) of an ``<inertia>``, kg·m²."""
    xx, xy, xz, yy, yz, zz = (
        float(attribute_numbers(element, f"i{axes}", 1, "0")[0])
        for axes in ("xx", "xy", "xz", "yy", "yz", "zz")
    )
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _shapes(link: Element, name: str, draft: Draft) -> tuple[Shape, ...]:
    """Return the shapes of a link; one whose numbers cannot be read is left out, with a defect."""
    shapes: list[Shape] = []
    for role in ("visual", "collision"):
        for element in children(link, role):
            try:
                shapes += _shapes_of(element, role)
            except (BadNumber, BrokenModel) as error:
                # no mechanics depend on it
                draft.report_unread(error, name, f"this {role} is left out")
    return tuple(shapes)


def _shapes_of(element: Element, role: str) -> list[Shape]:
    geometry = child(element, "geometry")
    X_LS = pose_of_origin(child(element, "origin"), snap=False)
    found = (_shape(role, solid, X_LS) for solid in (geometry if geometry is not None else ()))
    return [shape for shape in found if shape is not None]


def _shape(role: str, solid: Element, X_LS: Pose) -> Shape | None:
    kind = local_name(solid)
    if kind == "box":
        return Shape(role, kind, _sizes(attribute_numbers(solid, "size", 3, "")), X_LS)
    if kind == "sphere":
        return Shape(role, kind, _sizes(attribute_numbers(solid, "radius", 1, "")), X_LS)
    if kind in ("cylinder", "capsule"):
        radius, length = (attribute_numbers(solid, name, 1, "")[0] for name in ("radius", "length"))
        return Shape(role, kind, (float(radius), float(length)), X_LS)
    if kind == "mesh":
        return Shape(role, kind, _scale(solid), X_LS, mesh=str(solid.get("filename", "")))
    if kind == "plane":
        normal = attribute_numbers(solid, "normal", 3, "0 0 1")
        turn = align_z(normal) if normal.any() else np.eye(3)
        return Shape(role, kind, (), X_LS @ Pose(turn, np.zeros(3)))
    return None


def _sizes(values: Array) -> tuple[float, ...]:
    """Return ``values`` (n,) as a tuple."""
    return tuple(float(value) for value in values)


def _scale(mesh: Element) -> tuple[float, ...]:
    text = str(mesh.get("scale", "1 1 1"))
    # a single factor is against the specification, but PyBullet takes it for all three
    count = 1 if len(text.replace(",", " ").split()) == 1 else 3
    values = _sizes(numbers(text, count, where(mesh), "scale of <mesh>"))
    return values * 3 if count == 1 else values
