"""Mass properties of a mesh at density one, as sums over its triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbplugin.model.spatial import Array

#: Vertices that are nearer to each other than this fraction of the mesh's size are one.
_MERGED = 1e-6
_ODD = np.uint64(0xD6E8FEB86659FD93)


@dataclass(frozen=True, eq=False)
class MeshSolid:
    """What a mesh encloses, in the file's units.

    Parameters
    ----------
    volume : float
    center : (3,) array
        Centroid.
    moments : (3, 3) array
        ∫ x xᵀ dV about the centroid.
    lower, upper : (3,) array
        Bounding box.
    """

    volume: float
    center: Array
    moments: Array
    lower: Array
    upper: Array

    def scaled(self, scale: tuple[float, ...]) -> MeshSolid:
        """Return the solid of the mesh scaled along its axes; mirrors keep the volume positive."""
        s = np.asarray(scale, dtype=float)
        factor = float(np.abs(np.prod(s)))
        corners = np.sort(np.array([self.lower * s, self.upper * s]), axis=0)
        return MeshSolid(
            self.volume * factor, self.center * s, self.moments * np.outer(s, s) * factor, *corners
        )

    @property
    def inertia(self) -> Array:
        """Inertia (3, 3) about the centroid."""
        return np.asarray(np.trace(self.moments) * np.eye(3) - self.moments)


def mesh_solid(vertices: Array, faces: NDArray[np.int64]) -> MeshSolid | None:
    """Return the solid that triangles enclose; of their convex hull where they enclose none.

    Parameters
    ----------
    vertices : (n, 3) array
    faces : (m, 3) array
        Indices of vertices, counter-clockwise seen from outside.

    Returns
    -------
    MeshSolid or None
        None where all vertices lie in a plane.
    """
    is_used = np.zeros(len(vertices), dtype=bool)
    is_used[faces] = True
    used = vertices[is_used]
    lower, upper = used.min(axis=0), used.max(axis=0)
    middle = 0.5 * (lower + upper)
    if is_closed(vertices, faces):
        # about the middle of the box: far from the origin the sums would lose their digits
        found = _integrals((vertices - middle)[faces], middle)
        if found is not None:
            return MeshSolid(*found, lower, upper)
    # STL repeats a vertex in every triangle
    hull = _hull_triangles(np.unique(used - middle, axis=0))
    found = None if hull is None else _integrals(hull, middle)
    return None if found is None else MeshSolid(*found, lower, upper)


def is_closed(vertices: Array, faces: NDArray[np.int64]) -> bool:
    """Return whether triangles (k, 3) on vertices (n, 3) go through every edge as often in both directions.

    Then the sums over the triangles do not depend on the origin. Vertices count as one where they are
    within a millionth of the size of the mesh, because STL repeats a vertex in every triangle. Each directed
    edge has a number of 64 bits, the reverse one its negative: their sum is zero where the edges cancel,
    and by chance once in 1.8e19 times.
    """
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    grid = _MERGED * max(float(np.linalg.norm(upper - lower)), 1e-300)
    cells = np.rint((vertices - lower) / grid).astype(np.int64).astype(np.uint64)
    with np.errstate(over="ignore"):
        place = _mixed(_mixed(_mixed(cells[:, 0]) + cells[:, 1]) + cells[:, 2])[faces]
        start, end = place, np.roll(place, -1, axis=1)
        return int((_mixed(start * _ODD + end) - _mixed(end * _ODD + start)).sum(dtype=np.uint64)) == 0


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers of 64 bits each of which depends on all bits of its argument (splitmix64)."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _integrals(corners: Array, origin: Array) -> tuple[float, Array, Array] | None:
    """Return volume, centroid and second moments, seen from ``origin`` (3,).

    Outward triangles have the ``corners`` (m, 3, 3).
    """
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    six = np.einsum("ij,ij->i", a, np.cross(b, c))
    volume = float(six.sum()) / 6.0
    size = float(np.abs(corners).max(initial=0.0))
    if not volume > 1e-12 * size**3:
        return None
    total = a + b + c
    center = (six @ total) / (24.0 * volume)
    second = sum((p * six[:, None]).T @ p for p in (a, b, c, total)) / 120.0
    return volume, origin + center, np.asarray(second - volume * np.outer(center, center))


def _hull_triangles(points: Array) -> Array | None:
    """Return the outward triangles (m, 3, 3) of the convex hull of ``points`` (n, 3); None where they are flat."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return None
    corners = points[hull.simplices]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normal, hull.equations[:, :3]) < 0
    corners[inward] = corners[inward][:, ::-1]
    return np.asarray(corners)
