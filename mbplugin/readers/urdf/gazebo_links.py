"""``<gazebo><link>``: an SDF link inside a URDF, which Gazebo adds to the converted model."""

from __future__ import annotations

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Shape
from mbplugin.readers.common.xml import Element, child, children, origin
from mbplugin.readers.sdf.links import inertia_of, shape_of
from mbplugin.readers.sdf.values import number_of, pose_of
from mbplugin.readers.urdf.draft import Draft, required


def read_gazebo_links(robot: Element, draft: Draft) -> None:
    """Add every SDF link; its pose is that in the model, which is where its joints find it.

    A name that a ``<link>`` has already is that link, whose settings for Gazebo follow.
    """
    for gazebo in children(robot, "gazebo"):
        for element in children(gazebo, "link"):
            name = required(element, "name")
            if name in draft.links:
                continue
            draft.links[name] = None
            draft.origin[("body", name, "")] = origin(element)
            draft.stated_poses[name] = pose_of(element, snap=draft.request.snap_angles).X
            draft.bodies.append(_body(name, element, draft))
            if shapes := _shapes(name, element, draft):
                draft.shapes[name] = shapes


def _body(name: str, link: Element, draft: Draft) -> Body:
    inertial = child(link, "inertial")
    if inertial is None:
        return Body(name)
    X_LC = pose_of(inertial, snap=False).X
    for part, element in (("inertial", inertial), ("mass", child(inertial, "mass"))):
        if element is not None:
            draft.origin[("body", name, part)] = origin(element, (element.text or "").strip())
    I_C = inertia_of(child(inertial, "inertia"))
    return Body(name, number_of(inertial, "mass", 1.0), X_LC.p, X_LC.R @ np.asarray(I_C) @ X_LC.R.T)


def _shapes(name: str, link: Element, draft: Draft) -> tuple[Shape, ...]:
    shapes: list[Shape] = []
    for role in ("visual", "collision"):
        for element in children(link, role):
            geometry = child(element, "geometry")
            try:
                X_LS = pose_of(element, snap=False).X
                found = [shape_of(role, item, X_LS) for item in (geometry if geometry is not None else ())]
            except (BadNumber, BrokenModel) as error:
                draft.report_unread(error, name, f"this {role} is left out")
                continue
            shapes += [shape for shape in found if shape is not None]
    return tuple(shapes)
