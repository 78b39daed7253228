"""Mass, centre of mass and inertia of a body: stated, or from the volumes and densities of its colliders.

The rules are those of UsdPhysics: the mass of a body takes precedence over the masses of its colliders, and the
density of a collider over that of its body, which takes precedence over that of a material.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbplugin.errors import BadNumber
from mbplugin.model import LARGEST, Array, Body, Defect, Pose, rotation_from_quaternion
from mbplugin.readers.meshes import hull_triangles
from mbplugin.readers.usd.stage import Stage

#: Default density of UsdPhysics, kg/m³.
_WATER = 1000.0
_AXES = {"X": 0, "Y": 1, "Z": 2}
#: Approximations that retain the solid of a mesh, at least nearly.
_OWN = ("none", "meshSimplification", "sdf")


@dataclass(frozen=True, eq=False)
class _Sum:
    """Mass, kg; its first (3,) and second moments (3, 3) about the origin of a link frame, kg·m and kg·m²."""

    mass: float
    first: Array
    second: Array

    def inertia(self, p_LC: Array) -> Array:
        """Return the inertia (3, 3) about a point p_LC (3,), kg·m²."""
        moved = np.outer(self.first, p_LC)
        second = self.second - moved - moved.T + self.mass * np.outer(p_LC, p_LC)
        return np.asarray(np.trace(second) * np.eye(3) - second)


def body_of(stage: Stage, prim: Any, name: str, colliders: Sequence[Any]) -> Body:
    """Return the body of a rigid-body prim.

    Parameters
    ----------
    stage : Stage
    prim : Usd.Prim
    name : str
        Its name in the mechanism.
    colliders : sequence of Usd.Prim
        The colliders below it that belong to no other body.

    Raises
    ------
    BadNumber
        A number is not finite, or too large.
    """
    X_WL = stage.frame(prim)
    stated = _stated_mass(stage, prim)
    center, inertia = _stated_center(stage, prim, X_WL), _stated_inertia(stage, prim)
    needed = stated == 0.0 or center is None or inertia is None
    solid = _colliders_of(stage, prim, X_WL, colliders) if needed else None
    if solid is None:
        if stated and inertia is None:
            stage.not_read(
                prim, f"body {name!r} has a mass, but no inertia and no collider; its inertia is read as zero"
            )
        return Body(
            name,
            stated,
            np.zeros(3) if center is None else center,
            np.zeros((3, 3)) if inertia is None else inertia,
        )
    if stated:
        scale = stated / solid.mass
        solid = _Sum(stated, scale * solid.first, scale * solid.second)
    p_LC = solid.first / solid.mass if center is None else center
    return Body(name, solid.mass, p_LC, solid.inertia(p_LC) if inertia is None else inertia)


def _stated_mass(stage: Stage, prim: Any) -> float:
    """Return the stated mass of a prim, kg; 0 if unstated."""
    return _usable(stage, prim, "physics:mass") * stage.kilogram


def _density(stage: Stage, prim: Any) -> float:
    """Return the stated density of a prim, kg/m³; 0 if unstated."""
    return _usable(stage, prim, "physics:density") * stage.kilogram / stage.metre**3


def _usable(stage: Stage, prim: Any, name: str) -> float:
    value = stage.number(prim, name, 0.0)
    if not abs(value) <= LARGEST:
        raise BadNumber(f"{name} is {value:g}", where=stage.where(prim), expected="a finite number")
    return value


def _stated_center(stage: Stage, prim: Any, X_WL: Pose) -> Array | None:
    """Return the stated centre of mass (3,) in the link frame, m; None if unstated (−inf)."""
    if not stage.authored(prim, "physics:centerOfMass"):
        return None
    point = stage.vector(prim, "physics:centerOfMass", (0.0, 0.0, 0.0))
    if not np.isfinite(point).all():
        return None
    A, _ = stage.matrix(prim)
    return np.asarray(stage.metre * X_WL.R.T @ A @ point)


def _stated_inertia(stage: Stage, prim: Any) -> Array | None:
    """Return the stated inertia (3, 3) about the centre of mass in link axes, kg·m²; None if unstated."""
    unit = stage.kilogram * stage.metre**2
    full = stage.value(prim, "newton:inertia")
    if full is not None and len(full):
        xx, yy, zz, xy, xz, yz = stage.vector(prim, "newton:inertia", (0.0,) * 6)
        I_C = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        diagonal = stage.vector(prim, "physics:diagonalInertia", (0.0, 0.0, 0.0))
        if not diagonal.any():
            return None
        if np.ptp(diagonal) and not _is_authored(prim, "physics:principalAxes"):
            message = f"body {prim.GetName()!r} states diagonalInertia without principalAxes: taken along its own axes"
            noted = Defect("MB147", prim.GetName(), message, stage.place(prim))
            # avoid duplicates: instances share their prims, and the inertia may be read more than once
            stage.defects += [noted] * (noted not in stage.defects)
        R = rotation_from_quaternion(stage.quaternion(prim, "physics:principalAxes"))
        I_C = R @ np.diag(diagonal) @ R.T
    if not (np.abs(I_C) <= LARGEST).all():
        raise BadNumber("the inertia is not finite", where=stage.where(prim))
    return np.asarray(unit * I_C)


def _is_authored(prim: Any, name: str) -> bool:
    attribute = prim.GetAttribute(name)
    return bool(attribute) and bool(attribute.HasAuthoredValue())


def _colliders_of(stage: Stage, body: Any, X_WL: Pose, colliders: Sequence[Any]) -> _Sum | None:
    """Return the total mass of the colliders of a body, None if no collider has a volume."""
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    X_LW = X_WL.inverse()
    for prim in colliders:
        solid = solid_of(stage, prim)
        if solid is None or solid.volume == 0.0:
            continue
        if not (abs(solid.volume) <= LARGEST and (np.abs(solid.second) <= LARGEST).all()):
            raise BadNumber("the collider is too large for a mass", where=stage.where(prim))
        A, p = stage.matrix(prim)
        solid = solid.mapped(stage.metre * X_LW.R @ A, X_LW.apply(stage.metre * p))
        # a tiny volume may underflow in metres
        if solid.volume == 0.0:
            continue
        own = _stated_mass(stage, prim)
        # a mass or density that is not positive counts as unstated
        density = own / solid.volume if own > 0 else _density_of(stage, body, prim)
        if not isfinite(density * solid.volume):
            continue
        mass += density * solid.volume
        first = first + density * solid.first
        second = second + density * solid.second
    return _Sum(mass, first, second) if mass > 0 else None


def _density_of(stage: Stage, body: Any, prim: Any) -> float:
    """Return the density of a collider, kg/m³."""
    for owner in (prim, body):
        if (density := _density(stage, owner)) > 0:
            return density
    material, _ = stage.pxr.UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
    if material and (density := _density(stage, material.GetPrim())) > 0:
        return density
    return _WATER


# Volumes of shapes with their first and second moments, exact under any linear map.


@dataclass(frozen=True, eq=False)
class Moments:
    """Integrals over a solid of density one.

    Parameters
    ----------
    volume : float
        ∫ dV.
    first : (3,) array
        ∫ r dV.
    second : (3, 3) array
        ∫ r rᵀ dV.
    """

    volume: float
    first: Array
    second: Array

    def mapped(self, A: Array, p: Array) -> Moments:
        """Return the moments of the solid with its points x moved to A x + p, A (3, 3), p (3,)."""
        size = abs(float(np.linalg.det(A)))
        first = A @ self.first
        cross = np.outer(first, p)
        second = A @ self.second @ A.T + cross + cross.T + self.volume * np.outer(p, p)
        return Moments(size * self.volume, size * (first + self.volume * p), size * second)


def box(sides: Array) -> Moments:
    """Return the moments of a box with sides (3,), centred at the origin."""
    volume = float(np.prod(sides))
    return Moments(volume, np.zeros(3), np.diag(volume * np.asarray(sides) ** 2 / 12))


def sphere(radius: float) -> Moments:
    """Return the moments of a sphere centred at the origin."""
    volume = 4 / 3 * pi * radius**3
    return Moments(volume, np.zeros(3), volume * radius**2 / 5 * np.eye(3))


def cylinder(radius: float, height: float, axis: int) -> Moments:
    """Return the moments of a cylinder along an axis (0, 1, 2), centred at the origin."""
    volume = pi * radius**2 * height
    return _around(axis, volume, 0.0, volume * radius**2 / 4, volume * height**2 / 12)


def capsule(radius: float, height: float, axis: int) -> Moments:
    """Return the moments of a cylinder with hemispherical ends, centred at the origin; height without the ends."""
    half, middle = 2 / 3 * pi * radius**3, pi * radius**2 * height
    across = middle * radius**2 / 4 + 2 * half * radius**2 / 5
    along = middle * height**2 / 12 + 2 * half * (height**2 / 4 + 3 / 8 * height * radius + radius**2 / 5)
    return _around(axis, middle + 2 * half, 0.0, across, along)


def cone(radius: float, height: float, axis: int) -> Moments:
    """Return the moments of a cone along an axis: its base half a height below the origin, its tip above."""
    volume = pi * radius**2 * height / 3
    return _around(axis, volume, -volume * height / 4, volume * 3 * radius**2 / 20, volume * height**2 / 10)


def _around(axis: int, volume: float, first: float, across: float, along: float) -> Moments:
    """Return the moments of a solid of revolution about an axis (0, 1, 2)."""
    e = np.eye(3)[axis]
    return Moments(volume, first * e, across * np.eye(3) + (along - across) * np.outer(e, e))


def closed_mesh(points: Array, triangles: NDArray[np.int64]) -> Moments | None:
    """Return the moments of the solid inside a surface, None if the surface is not closed.

    Parameters
    ----------
    points : (n, 3) array
    triangles : (m, 3) array
        Each edge must occur in exactly two triangles, once in either direction.
    """
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    size = len(points)
    forward = np.sort(edges[:, 0] * size + edges[:, 1])
    backward = np.sort(edges[:, 1] * size + edges[:, 0])
    if not len(triangles) or (forward[1:] == forward[:-1]).any() or not np.array_equal(forward, backward):
        return None
    found = _tetrahedra(points[triangles])
    return Moments(-found.volume, -found.first, -found.second) if found.volume < 0 else found


def hull(points: Array) -> Moments | None:
    """Return the moments of the convex hull of points (n, 3), None if they are coplanar."""
    corners = hull_triangles(points)
    return None if corners is None else _tetrahedra(corners)


def _tetrahedra(corners: Array) -> Moments:
    """Return the total moments of the tetrahedra from the origin to triangles with ``corners`` (m, 3, 3)."""
    volumes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    total = corners.sum(axis=1)
    # ∫ r rᵀ over a tetrahedron from the origin: V/20 (Σ cᵢ cᵢᵀ + s sᵀ), s = Σ cᵢ
    second = np.einsum("m,mki,mkj->ij", volumes, corners, corners) + np.einsum(
        "m,mi,mj->ij", volumes, total, total
    )
    return Moments(float(volumes.sum()), volumes @ total / 4, second / 20)


def triangles_of(counts: NDArray[np.int64], indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the triangles (m, 3) of polygons, each split as a fan.

    Parameters
    ----------
    counts : (f,) array
        Number of corners of each polygon.
    indices : (c,) array
        Point indices of all corners, polygon by polygon.
    """
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.int64)
    found = []
    for size in np.unique(counts):
        first = starts[counts == size]
        found += [
            np.stack([indices[first], indices[first + k], indices[first + k + 1]], 1)
            for k in range(1, size - 1)
        ]
    return np.concatenate(found) if found else np.empty((0, 3), dtype=np.int64)


# The solid of a collider, which has the mass.


#: Shapes with an axis: moments, default radius and default height of USD.
_ROUND = {"Cylinder": (cylinder, 1.0, 2.0), "Capsule": (capsule, 0.5, 1.0), "Cone": (cone, 1.0, 2.0)}


def solid_of(stage: Stage, prim: Any) -> Moments | None:
    """Return the moments of a collider in its local axes, stage units; None if its volume is zero or unknown."""
    kind = str(prim.GetTypeName())
    if kind == "Cube":
        return box(np.full(3, abs(stage.number(prim, "size", 2.0))))
    if kind == "Sphere":
        return sphere(abs(stage.number(prim, "radius", 1.0)))
    if kind in _ROUND:
        # NumPy numbers: overflowing powers become infinite, and are refused as such
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
    """Return the moments of a mesh: of its solid if it is closed and so approximated, else of its approximation."""
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
        found = closed_mesh(points, _faces(stage, prim, len(points)))
    return hull(points) if found is None else found


def mesh_triangles(stage: Stage, prim: Any) -> tuple[Array, NDArray[np.int64]]:
    """Return points (n, 3), stage units, and triangles (m, 3) of a mesh in its local axes.

    Raises
    ------
    BadNumber
        A number is unusable, or the faces do not fit the points.
    """
    values = _numbers(stage, prim, "points")
    if len(values) % 3:
        raise BadNumber("the points are not triples", where=stage.where(prim))
    points = values.reshape(-1, 3)
    return points, _faces(stage, prim, len(points))


def _faces(stage: Stage, prim: Any, count: int) -> NDArray[np.int64]:
    """Return the triangles (m, 3) of a mesh with ``count`` points."""
    counts = _numbers(stage, prim, "faceVertexCounts").astype(np.int64)
    indices = _numbers(stage, prim, "faceVertexIndices").astype(np.int64)
    if counts.min(initial=0) < 0 or counts.sum() != len(indices) or not _within(indices, count):
        raise BadNumber(
            "the faces do not fit the points", where=stage.where(prim), expected="indices of its points"
        )
    return triangles_of(counts, indices)


def _within(indices: Any, count: int) -> bool:
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < count)


def _numbers(stage: Stage, prim: Any, name: str) -> Array:
    """Return the numbers (n,) in an attribute of a mesh."""
    value = stage.value(prim, name)
    found = np.array([] if value is None else value, dtype=float).reshape(-1)
    if not (np.abs(found) <= LARGEST).all():
        raise BadNumber(f"{name} has numbers that cannot be used", where=stage.where(prim))
    return found
