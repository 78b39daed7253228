"""Volumes of shapes with their first and second moments, exact under any linear map."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import NDArray

from mbplugin.model.spatial import Array


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
        """Return the moments of the solid whose points x have moved to A x + p, A (3, 3), p (3,)."""
        size = abs(float(np.linalg.det(A)))
        first = A @ self.first
        cross = np.outer(first, p)
        second = A @ self.second @ A.T + cross + cross.T + self.volume * np.outer(p, p)
        return Moments(size * self.volume, size * (first + self.volume * p), size * second)


def box(sides: Array) -> Moments:
    """Return the moments of a box with its centre at the origin and sides (3,)."""
    volume = float(np.prod(sides))
    return Moments(volume, np.zeros(3), np.diag(volume * np.asarray(sides) ** 2 / 12))


def sphere(radius: float) -> Moments:
    """Return the moments of a sphere around the origin."""
    volume = 4 / 3 * pi * radius**3
    return Moments(volume, np.zeros(3), volume * radius**2 / 5 * np.eye(3))


def cylinder(radius: float, height: float, axis: int) -> Moments:
    """Return the moments of a cylinder along an axis (0, 1, 2), its centre at the origin."""
    volume = pi * radius**2 * height
    return _around(axis, volume, 0.0, volume * radius**2 / 4, volume * height**2 / 12)


def capsule(radius: float, height: float, axis: int) -> Moments:
    """Return the moments of a cylinder with a hemisphere at either end; the height is that of the cylinder."""
    half, middle = 2 / 3 * pi * radius**3, pi * radius**2 * height
    across = middle * radius**2 / 4 + 2 * half * radius**2 / 5
    along = middle * height**2 / 12 + 2 * half * (height**2 / 4 + 3 / 8 * height * radius + radius**2 / 5)
    return _around(axis, middle + 2 * half, 0.0, across, along)


def cone(radius: float, height: float, axis: int) -> Moments:
    """Return the moments of a cone: its base half a height below the origin along the axis, its tip above."""
    volume = pi * radius**2 * height / 3
    return _around(axis, volume, -volume * height / 4, volume * 3 * radius**2 / 20, volume * height**2 / 10)


def _around(axis: int, volume: float, first: float, across: float, along: float) -> Moments:
    """Return the moments of a solid of revolution about an axis (0, 1, 2)."""
    e = np.eye(3)[axis]
    return Moments(volume, first * e, across * np.eye(3) + (along - across) * np.outer(e, e))


def closed_mesh(points: Array, triangles: NDArray[np.int64]) -> Moments | None:
    """Return the moments inside a surface; None where it is not closed.

    Parameters
    ----------
    points : (n, 3) array
    triangles : (m, 3) array
        Each edge has to be in two triangles, once in either direction.
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
    """Return the moments of the convex hull of points (n, 3); None where they are in one plane."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found = ConvexHull(points)
    except (QhullError, ValueError):
        return None
    corners = points[found.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = np.einsum("ij,ij->i", normals, found.equations[:, :3]) < 0
    corners[inwards] = corners[inwards][:, ::-1]
    return _tetrahedra(corners)


def _tetrahedra(corners: Array) -> Moments:
    """Return the summed moments of the tetrahedra from the origin to triangles with ``corners`` (m, 3, 3)."""
    volumes = np.einsum("ij,ij->i", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    total = corners.sum(axis=1)
    # ∫ r rᵀ over a tetrahedron from the origin: V/20 (Σ cᵢ cᵢᵀ + s sᵀ), s = Σ cᵢ
    second = np.einsum("m,mki,mkj->ij", volumes, corners, corners) + np.einsum(
        "m,mi,mj->ij", volumes, total, total
    )
    return Moments(float(volumes.sum()), volumes @ total / 4, second / 20)


def triangles_of(counts: NDArray[np.int64], indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the triangles (m, 3) of polygons, each as a fan.

    Parameters
    ----------
    counts : (f,) array
        Corners of each polygon.
    indices : (c,) array
        The points of all corners, one polygon after the other.
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
