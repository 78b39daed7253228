"""Links of an SDF document: mass, inertia and shapes."""

from __future__ import annotations

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel, UnknownName
from mbplugin.model.mechanism.body import Body
from mbplugin.model.scene import Origin, OriginKey, Shape
from mbplugin.model.spatial import Array, Pose, align_z
from mbplugin.readers.common.unread_numbers import unread_number
from mbplugin.readers.common.xml import Element, child, children, local_name, origin
from mbplugin.readers.sdf.document import Reading
from mbplugin.readers.sdf.frames import Frames, Node
from mbplugin.readers.sdf.values import number_of, pose_of, text_of, vector_of


def read_body(node: Node, name: str, reading: Reading) -> Body:
    """Return the body of a link; a link without ``<inertial>`` is massless.

    Parameters
    ----------
    node : Node
        The link.
    name : str
        Its name in the mechanism.
    reading : Reading
    """
    assert node.member is not None
    inertial = child(node.member.element, "inertial")
    if inertial is None:
        return Body(name)
    if str(inertial.get("auto", "false")).lower() in ("1", "true"):
        reading.not_read(
            inertial,
            name,
            f"the inertia of link {name!r} is left to the simulator (auto), it is read as zero",
        )
        return Body(name)
    X_LI = pose_of(inertial, snap=reading.request.snap_angles).X
    I_I = inertia_of(child(inertial, "inertia"))
    return Body(name, number_of(inertial, "mass", 1.0), X_LI.p, X_LI.R @ I_I @ X_LI.R.T)


def inertia_of(element: Element | None) -> Array:
    """Return the inertia matrix (3, 3) in its own axes, kg·m²; what the file leaves out has the format's default."""
    if element is None:
        return np.eye(3)
    xx, yy, zz = (number_of(element, tag, 1.0) for tag in ("ixx", "iyy", "izz"))
    xy, xz, yz = (number_of(element, tag, 0.0) for tag in ("ixy", "ixz", "iyz"))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def link_origins(node: Node, name: str) -> dict[OriginKey, Origin]:
    """Return where a link and its literals are written."""
    assert node.member is not None
    element = node.member.element
    found: dict[OriginKey, Origin] = {("body", name, ""): origin(element)}
    if node.member.pose.rpy is not None:
        found["body", name, "rpy"] = node.member.pose.rpy
    inertial = child(element, "inertial")
    if inertial is not None:
        found["body", name, "inertial"] = origin(inertial)
        for part in ("mass", "inertia"):
            literal = child(inertial, part)
            if literal is not None:
                found["body", name, part] = origin(literal, (literal.text or "").strip())
    return found


def read_shapes(node: Node, frames: Frames, reading: Reading) -> tuple[Shape, ...]:
    """Return the visual and collision shapes of a link, as far as their kind is known.

    One whose numbers cannot be read is left out, with a defect.
    """
    assert node.member is not None
    shapes: list[Shape] = []
    for role in ("visual", "collision"):
        for element in children(node.member.element, role):
            try:
                shapes += _shapes_of(element, role, node, frames, snap=reading.request.snap_angles)
            except (BadNumber, BrokenModel, UnknownName) as error:
                # no mechanics depend on it
                instead = f"this {role} is left out"
                reading.defects.append(unread_number(error, frames.label(node), instead))
    return tuple(shapes)


def _shapes_of(element: Element, role: str, node: Node, frames: Frames, *, snap: bool) -> list[Shape]:
    geometry = child(element, "geometry")
    if geometry is None:
        return []
    written = pose_of(element, snap=snap)
    X_LS = written.X
    if written.relative_to and written.relative_to != node.name:
        base = frames.find(node.reference(written.relative_to, written.where))
        X_LS = frames.pose(node).inverse() @ frames.pose(base) @ X_LS
    return [shape for item in geometry if (shape := shape_of(role, item, X_LS)) is not None]


def shape_of(role: str, element: Element, X_LS: Pose) -> Shape | None:
    """Return the shape of an element of ``<geometry>``; None where its kind is not known."""
    kind = local_name(element) if isinstance(element.tag, str) else ""
    if kind == "box":
        return Shape(role, kind, tuple(vector_of(element, "size", 3, "1 1 1")), X_LS)
    if kind == "sphere":
        return Shape(role, kind, (number_of(element, "radius", 1.0),), X_LS)
    if kind in ("cylinder", "capsule"):
        size = (number_of(element, "radius", 1.0), number_of(element, "length", 1.0))
        return Shape(role, kind, size, X_LS)
    if kind == "plane":
        normal = vector_of(element, "normal", 3, "0 0 1")
        turn = align_z(normal) if normal.any() else np.eye(3)
        size = (
            tuple(vector_of(element, "size", 2, "1 1")) if child(element, "size") is not None else (1.0, 1.0)
        )
        return Shape(role, kind, size, X_LS @ Pose(turn, np.zeros(3)))
    if kind == "mesh":
        return Shape(
            role, kind, tuple(vector_of(element, "scale", 3, "1 1 1")), X_LS, text_of(element, "uri")
        )
    return None
