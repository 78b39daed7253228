"""Simple surfaces: box, ball, cylinder, capsule, arrow."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mbplugin.model.spatial import Array, Pose, align_z
from mbplugin.report.picture.mesh import Mesh, merged, moved

#: Sides of what is round.
_SIDES = 20


def box(x: float, y: float, z: float) -> Mesh:
    """Return a box about the origin, edges in m."""
    import trimesh

    return _mesh(trimesh.creation.box((x, y, z)))


@lru_cache(maxsize=64)
def ball(radius: float) -> Mesh:
    """Return a ball about the origin; equal balls are one object."""
    unit = _unit_ball()
    return Mesh(unit.vertices * radius, unit.faces)


@lru_cache(maxsize=1)
def _unit_ball() -> Mesh:
    import trimesh

    return _mesh(trimesh.creation.icosphere(subdivisions=2))


def cylinder(radius: float, length: float, sides: int = _SIDES) -> Mesh:
    """Return a cylinder about the origin, along z."""
    unit = _unit_cylinder(sides)
    return Mesh(unit.vertices * (radius, radius, length), unit.faces)


@lru_cache(maxsize=8)
def _unit_cylinder(sides: int) -> Mesh:
    import trimesh

    return _mesh(trimesh.creation.cylinder(1.0, 1.0, sections=sides))


def capsule(radius: float, length: float) -> Mesh:
    """Return a cylinder along z with half balls at its ends, about the origin."""
    unit = _unit_capsule()
    ends = 0.5 * np.sign(unit.vertices[:, 2:])
    # its half balls are scaled, and what is between them is stretched
    z = radius * (unit.vertices[:, 2:] - ends) + length * ends
    return Mesh(np.hstack((radius * unit.vertices[:, :2], z)), unit.faces)


@lru_cache(maxsize=1)
def _unit_capsule() -> Mesh:
    import trimesh

    made = _mesh(trimesh.creation.capsule(1.0, 1.0, count=(_SIDES, 12)))
    middle = 0.5 * (made.vertices.min(axis=0) + made.vertices.max(axis=0))
    return moved(made, Pose(np.eye(3), -middle))


def bar(start: Array, end: Array, radius: float, sides: int = _SIDES) -> Mesh:
    """Return a round bar between two points, start and end (3,), m."""
    along = end - start
    X = Pose(align_z(along), 0.5 * (start + end))
    return moved(cylinder(radius, float(np.linalg.norm(along)), sides), X)


def arrow(vector: Array, radius: float, heads: int = 1) -> Mesh:
    """Return an arrow from the origin to ``vector`` (3,), m; a moment has two heads."""
    import trimesh

    length = float(np.linalg.norm(vector))
    head = min(5.0 * radius, 0.5 * length / heads)
    tips = [length - k * head for k in range(heads, 0, -1)]
    cone = _mesh(trimesh.creation.cone(0.5 * head, head, sections=_SIDES))
    parts = [moved(cone, Pose(np.eye(3), np.array([0.0, 0.0, tip]))) for tip in tips]
    parts.append(bar(np.zeros(3), np.array([0.0, 0.0, tips[0]]), radius))
    return moved(merged(parts), Pose(align_z(vector), np.zeros(3)))


def _mesh(made: Any) -> Mesh:
    return Mesh(np.array(made.vertices, dtype=float), np.array(made.faces, dtype=np.int64))
