"""Mass properties of shapes and meshes at density one; those of meshes are sums over triangles."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import pi
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mbplugin.errors import UnreadableFile
from mbplugin.files import cache_root, note_dependency, read_bounded, version_of
from mbplugin.model import LARGEST, Array, Request, Shape
from mbplugin.phrases import dataclass
from mbplugin.readers.meshes import UnusableMesh, hull_triangles, mesh_extent, mesh_file, read_triangles
from mbplugin.readers.paths import looked_up

#: Environment variable that disables the cache, for this process and its child processes.
OFF = "MBPLUGIN_NO_MESH_CACHE"
#: Version of the cached numbers; changing it invalidates all of them.
_VERSION = 3
#: Maximum size of a cache file, bytes.
_LONGEST_KEPT = 100_000
#: Vertices closer to each other than this fraction of the mesh's size are merged.
_MERGED = 1e-6
_ODD = np.uint64(0xD6E8FEB86659FD93)


# Mass properties of the shapes of a link at uniform density: closed forms, and meshes.


@dataclass(frozen=True, eq=False)
class Solid:
    """A body of density one.

    Parameters
    ----------
    volume : float
        m³.
    center : (3,) array
        Centroid, m.
    inertia : (3, 3) array
        About the centroid, m⁵.
    lower, upper : (3,) array
        Bounding box, m.
    """

    volume: float
    center: Array
    inertia: Array
    lower: Array
    upper: Array


def solid_of(shapes: Iterable[Shape], request: Request | None) -> Solid | None:
    """Return the sum of a link's collision shapes, or of its visual shapes if it has none, in link axes.

    Overlaps count twice. None if there is no shape, or a shape is flat, infinite or unreadable.
    """
    known = tuple(shapes)
    chosen = [s for s in known if s.role == "collision"] or [s for s in known if s.role == "visual"]
    parts = [part for shape in chosen if (part := _placed(shape, request)) is not None]
    if not parts or len(parts) < len(chosen):
        return None
    volume = sum(part.volume for part in parts)
    center = np.asarray(sum(part.volume * part.center for part in parts) / volume)
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.center - center
        inertia += part.inertia + part.volume * (d @ d * np.eye(3) - np.outer(d, d))
    return Solid(
        float(volume),
        center,
        inertia,
        np.min([part.lower for part in parts], axis=0),
        np.max([part.upper for part in parts], axis=0),
    )


def _placed(shape: Shape, request: Request | None) -> Solid | None:
    own = _mesh(shape, request) if shape.kind == "mesh" else _primitive(shape)
    if own is None or own.volume <= 0 or not np.isfinite(own.inertia).all():
        return None
    R, p = shape.X_LS.R, shape.X_LS.p
    middle, half = 0.5 * (own.lower + own.upper), 0.5 * (own.upper - own.lower)
    box_center, box_half = R @ middle + p, np.abs(R) @ half
    return Solid(
        own.volume,
        np.asarray(R @ own.center + p),
        np.asarray(R @ own.inertia @ R.T),
        np.asarray(box_center - box_half),
        np.asarray(box_center + box_half),
    )


def _primitive(shape: Shape) -> Solid | None:
    if shape.kind == "box":
        x, y, z = shape.size
        volume = x * y * z
        moments = volume / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
        half = np.array([x, y, z]) / 2
    elif shape.kind == "sphere":
        (r,) = shape.size
        volume = 4 / 3 * pi * r**3
        moments, half = np.full(3, 0.4 * volume * r * r), np.full(3, r)
    elif shape.kind == "cylinder":
        r, h = shape.size
        volume = pi * r * r * h
        across = volume * (3 * r * r + h * h) / 12
        moments, half = np.array([across, across, volume * r * r / 2]), np.array([r, r, h / 2])
    elif shape.kind == "capsule":
        r, h = shape.size
        tube, ball = pi * r * r * h, 4 / 3 * pi * r**3
        # the centroid of each half ball is 3/8 r outside the end of the tube
        across = tube * (3 * r * r + h * h) / 12 + ball * (0.4 * r * r + h * h / 4 + 3 / 8 * r * h)
        volume = tube + ball
        along = tube * r * r / 2 + 0.4 * ball * r * r
        moments, half = np.array([across, across, along]), np.array([r, r, h / 2 + r])
    else:
        return None
    return Solid(volume, np.zeros(3), np.diag(moments), -half, half)


def _mesh(shape: Shape, request: Request | None) -> Solid | None:
    if shape.triangles is not None:
        with np.errstate(all="ignore"):
            solid = mesh_solid(*shape.triangles)
    else:
        path = mesh_file(shape, request)
        solid = None if path is None else solid_of_file(path)
    if solid is None or not all(0 < abs(s) <= LARGEST for s in shape.size):
        return None
    own = solid.scaled(tuple(shape.size))
    return Solid(own.volume, own.center, own.inertia, own.lower, own.upper)


# Solids and sizes of mesh files, cached between runs; a file is identified by path, size, times and number.


def solid_of_file(path: str) -> MeshSolid | None:
    """Return the solid of a mesh file in the file's units; None if it has none or cannot be read."""
    numbers = _of_file("solid", path)
    if numbers is None:
        return None
    volume, center, moments, lower, upper = np.split(numbers, [1, 4, 13, 16])
    return MeshSolid(float(volume[0]), center, moments.reshape(3, 3), lower, upper)


def extent_of_file(path: str) -> Array | None:
    """Return the edges (3,) of the bounding box of a mesh in the file's units; None where ``mesh_extent`` does."""
    return _of_file("extent", path)


def _of_file(kind: str, path: str) -> Array | None:
    """Return the numbers computed from a mesh file, (19,) for a solid and (3,) for an extent, cached during a run."""
    note_dependency(path)
    return looked_up((kind, path), lambda: _current(kind, path))


def _current(kind: str, path: str) -> Array | None:
    """Return the numbers computed from the present state of a file, (19,) or (3,)."""
    version = version_of(path)
    return _numbers(kind, os.path.realpath(path), version) if version else None


@lru_cache(maxsize=4096)
def _numbers(kind: str, path: str, version: tuple[int, ...]) -> Array | None:
    """Return the numbers of a version of a file, (19,) or (3,), from the cache or newly computed."""
    count, compute = _COMPUTED[kind]
    folder = None if os.environ.get(OFF) else _folder()
    if folder is None:
        return compute(path)
    key = f"{_VERSION} {kind} {path} {version}"
    file = folder / f"{hashlib.sha256(key.encode(errors='replace')).hexdigest()}.json"
    if (kept := _read(file, key, count)) is not None:
        return kept[0]
    numbers = compute(path)
    _store(file, key, numbers)
    return numbers


def _solid(path: str) -> Array | None:
    """Return the numbers (19,) of the solid in a mesh file; None if it has none."""
    try:
        # huge coordinates may overflow when squared and cubed; such a mesh counts as having no solid
        with np.errstate(all="ignore"):
            solid = mesh_solid(*read_triangles(path))
    except UnusableMesh:
        return None
    if solid is None:
        return None
    parts = (np.array([solid.volume]), solid.center, solid.moments.ravel(), solid.lower, solid.upper)
    return np.concatenate(parts)


#: Count of the numbers cached for a file, and the function that computes them.
_COMPUTED: dict[str, tuple[int, Callable[[str], Array | None]]] = {
    "solid": (19, _solid),
    "extent": (3, mesh_extent),
}


def _folder() -> Path | None:
    root = cache_root()
    return None if root is None else root / "mbplugin" / "meshes"


def _read(file: Path, key: str, count: int) -> tuple[Array | None] | None:
    """Return a tuple with the numbers in a cache file, or with None if it records that there are none; else None."""
    try:
        kept = json.loads(read_bounded(file, _LONGEST_KEPT))
        if kept["key"] != key:
            return None
        if kept["numbers"] is None:
            return (None,)
        numbers = np.array(kept["numbers"], dtype=float)
        if numbers.shape != (count,) or not np.isfinite(numbers).all():
            return None
    # a foreign file, a truncated one, or one of another version
    except (UnreadableFile, ValueError, TypeError, KeyError):
        return None
    return (numbers,)


def _store(file: Path, key: str, numbers: Array | None) -> None:
    """Store numbers (n,) in a cache file, or that there are none."""
    listed = None if numbers is None else numbers.tolist()
    # a cache that cannot be written only costs time
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump({"key": key, "numbers": listed}, stream)
        os.replace(temporary, file)  # noqa: PTH105


@dataclass(frozen=True, eq=False)
class MeshSolid:
    """The solid enclosed by a mesh, in the file's units.

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
    """Return the solid enclosed by triangles, or their convex hull if they do not enclose one.

    Parameters
    ----------
    vertices : (n, 3) array
    faces : (m, 3) array
        Indices of vertices, counter-clockwise seen from outside.

    Returns
    -------
    MeshSolid or None
        None if all vertices lie in a plane.
    """
    is_used = np.zeros(len(vertices), dtype=bool)
    is_used[faces] = True
    used = vertices[is_used]
    lower, upper = used.min(axis=0), used.max(axis=0)
    middle = 0.5 * (lower + upper)
    if is_closed(vertices, faces):
        # integrate about the middle of the box: far from the origin the sums would lose digits
        found = _integrals((vertices - middle)[faces], middle)
        if found is not None:
            return MeshSolid(*found, lower, upper)
    # unique, because STL repeats a vertex in every triangle
    hull = hull_triangles(np.unique(used - middle, axis=0))
    found = None if hull is None else _integrals(hull, middle)
    return None if found is None else MeshSolid(*found, lower, upper)


def is_closed(vertices: Array, faces: NDArray[np.int64]) -> bool:
    """Return True if triangles (k, 3) on vertices (n, 3) contain every edge equally often in both directions.

    Then the sums over the triangles do not depend on the origin. Vertices within a millionth of the size of the
    mesh are merged, because STL repeats a vertex in every triangle. Each directed edge gets a number of 64 bits,
    the reverse edge its negative: the sum is zero if the edges cancel, and by chance once in 1.8e19 cases.
    """
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    grid = _MERGED * max(float(np.linalg.norm(upper - lower)), 1e-300)
    cells = np.rint((vertices - lower) / grid).astype(np.int64).astype(np.uint64)
    with np.errstate(over="ignore"):
        place = _mixed(_mixed(_mixed(cells[:, 0]) + cells[:, 1]) + cells[:, 2])[faces]
        start, end = place, np.roll(place, -1, axis=1)
        return int((_mixed(start * _ODD + end) - _mixed(end * _ODD + start)).sum(dtype=np.uint64)) == 0


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return hashes of 64 bits, each of which depends on all bits of its argument (splitmix64)."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _integrals(corners: Array, origin: Array) -> tuple[float, Array, Array] | None:
    """Return the volume, the centroid and the second moments of a closed mesh; None if it has no volume.

    ``corners`` (m, 3, 3) are those of outward triangles, relative to ``origin`` (3,).
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
