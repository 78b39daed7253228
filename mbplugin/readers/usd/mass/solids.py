"""The solid of a collider: which volume of its prim has mass."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.model.bounds import LARGEST
from mbplugin.model.spatial import Array
from mbplugin.readers.usd.mass.volumes import (
    Moments,
    box,
    capsule,
    closed_mesh,
    cone,
    cylinder,
    hull,
    sphere,
    triangles_of,
)
from mbplugin.readers.usd.stage import Stage

_AXES = {"X": 0, "Y": 1, "Z": 2}
#: Shapes along an axis: their moments, and the heights and radii that USD has where none is stated.
_ROUND = {"Cylinder": (cylinder, 1.0, 2.0), "Capsule": (capsule, 0.5, 1.0), "Cone": (cone, 1.0, 2.0)}
#: Approximations of a mesh that are its own solid, or near to it.
_OWN = ("none", "meshSimplification", "sdf")


def solid_of(stage: Stage, prim: Any) -> Moments | None:
    """Return the moments of a collider in its own axes, stage units; None where it has no volume that is known."""
    kind = str(prim.GetTypeName())
    if kind == "Cube":
        return box(np.full(3, abs(stage.number(prim, "size", 2.0))))
    if kind == "Sphere":
        return sphere(abs(stage.number(prim, "radius", 1.0)))
    if kind in _ROUND:
        # numbers of NumPy: a power beyond all numbers is infinite, and refused as such
        moments, radius, height = _ROUND[kind]
        axis = _AXES.get(str(stage.value(prim, "axis")), 2)
        sizes = (
            np.float64(stage.number(prim, "radius", radius)),
            np.float64(stage.number(prim, "height", height)),
        )
        with np.errstate(over="ignore", invalid="ignore"):
            return moments(abs(sizes[0]), abs(sizes[1]), axis)
    if kind == "Mesh":
        return _mesh(stage, prim)
    if kind != "Plane":
        stage.not_read(prim, f"the volume of collider <{prim.GetPath()}> ({kind or 'no type'}) is not known")
    return None


def _mesh(stage: Stage, prim: Any) -> Moments | None:
    """Return the moments of a mesh: its own where it is closed and its approximation is near, else of that."""
    points = _numbers(stage, prim, "points").reshape(-1, 3)
    if not len(points):
        stage.not_read(prim, f"mesh <{prim.GetPath()}> has no points")
        return None
    approximation = str(stage.value(prim, "physics:approximation") or "none")
    if approximation == "boundingCube":
        low, high = points.min(axis=0), points.max(axis=0)
        return box(high - low).mapped(np.eye(3), (low + high) / 2)
    if approximation == "boundingSphere":
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        return sphere(float(np.linalg.norm(points - middle, axis=1).max())).mapped(np.eye(3), middle)
    found = None
    if approximation in _OWN or approximation == "convexDecomposition":
        counts = _numbers(stage, prim, "faceVertexCounts").astype(np.int64)
        indices = _numbers(stage, prim, "faceVertexIndices").astype(np.int64)
        if counts.min(initial=0) < 0 or counts.sum() != len(indices) or not _within(indices, len(points)):
            raise BadNumber(
                "the faces do not fit the points", where=stage.where(prim), expected="indices of its points"
            )
        found = closed_mesh(points, triangles_of(counts, indices))
    return hull(points) if found is None else found


def _within(indices: Any, count: int) -> bool:
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < count)


def _numbers(stage: Stage, prim: Any, name: str) -> Array:
    """Return the numbers (n,) of an attribute of a mesh."""
    value = stage.value(prim, name)
    found = np.array([] if value is None else value, dtype=float).reshape(-1)
    if not (np.abs(found) <= LARGEST).all():
        raise BadNumber(f"{name} has numbers that cannot be used", where=stage.where(prim))
    return found
