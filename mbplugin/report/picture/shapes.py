"""The shapes of a link as triangles; what cannot be shown is named."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from mbplugin.model.bounds import LARGEST
from mbplugin.model.scene import Request, Shape
from mbplugin.readers.meshes.checks import UnusableMesh
from mbplugin.readers.meshes.files import load_mesh
from mbplugin.readers.meshes.named import mesh_path
from mbplugin.report.picture import solids
from mbplugin.report.picture.mesh import Mesh, limited

#: Triangles of all mesh files of a picture together; each file may have its share.
FACES = 120_000
#: Edge of a plane without end, m.
_PLANE = 10.0


class NotShown(Exception):
    """A shape that cannot be shown; its text says why."""


def chosen(shapes: Iterable[Shape]) -> tuple[tuple[Shape, ...], ...]:
    """Return the shapes to be seen: the visual ones, and those for collisions if these fail."""
    known = tuple(shapes)
    by_role = (tuple(s for s in known if s.role == role) for role in ("visual", "collision"))
    return tuple(filter(None, by_role))


def share_of_faces(shapes: Mapping[str, tuple[Shape, ...]]) -> int:
    """Return how many triangles each mesh file may have."""
    files = {s.mesh for own in shapes.values() for some in chosen(own) for s in some if s.kind == "mesh"}
    return FACES // max(1, len(files))


def shape_mesh(shape: Shape, request: Request | None, most: int) -> tuple[Mesh, str]:
    """Return a shape in its own axes, and what was changed about it.

    Raises
    ------
    NotShown
        It cannot be shown.
    """
    size = shape.size
    if not np.isfinite(size).all() or (shape.kind != "plane" and not all(size)):
        raise NotShown(f"{shape.kind} of size {' '.join(f'{x:g}' for x in size)} has no surface")
    if shape.kind == "mesh":
        return _of_file(shape, request, most)
    if shape.kind == "hull":
        return _hull(shape.points), ""
    return _primitive(shape.kind, tuple(abs(x) for x in size)), ""


@lru_cache(maxsize=1024)
def _primitive(kind: str, size: tuple[float, ...]) -> Mesh:
    match kind, size:
        case "box", (x, y, z):
            return solids.box(x, y, z)
        case "sphere", (radius,):
            return solids.ball(radius)
        case "cylinder", (radius, length):
            return solids.cylinder(radius, length)
        case "capsule", (radius, length):
            return solids.capsule(radius, length)
        case "plane", _:
            x, y = ((*size, 0.0, 0.0))[:2]
            return solids.box(x or _PLANE, y or _PLANE, 1e-3)
    raise NotShown(f"{kind} of {len(size)} sizes is unknown")


def _hull(points: tuple[tuple[float, float, float], ...]) -> Mesh:
    import trimesh
    from scipy.spatial import QhullError

    try:
        found = trimesh.convex.convex_hull(np.array(points))
    except (QhullError, ValueError):
        raise NotShown(f"{len(points)} points have no hull") from None
    return Mesh(np.array(found.vertices, dtype=float), np.array(found.faces, dtype=np.int64))


def _of_file(shape: Shape, request: Request | None, most: int) -> tuple[Mesh, str]:
    if not shape.mesh:
        raise NotShown("triangles that a script has made, which PyBullet does not give back")
    path = mesh_path(shape, request)
    if path is None:
        raise NotShown(f"mesh {shape.mesh!r} cannot be found")
    return _read(path, shape.mesh, tuple(shape.size), most)


@lru_cache(maxsize=256)
def _read(path: str, name: str, scale: tuple[float, ...], most: int) -> tuple[Mesh, str]:
    try:
        read: Any = load_mesh(path)
    except UnusableMesh as error:
        raise NotShown(f"mesh {name!r} {error}") from None
    vertices = np.array(read.vertices, dtype=float) * scale
    faces = np.array(read.faces, dtype=np.int64)
    if not (np.abs(vertices) <= LARGEST).all():
        raise NotShown(f"mesh {name!r} is larger than {LARGEST:g} m")
    if np.prod(scale) < 0:
        faces = faces[:, ::-1].copy()
    simple = limited(Mesh(vertices, faces), most)
    if len(simple.faces) == len(faces):
        return simple, ""
    return simple, f"mesh {name!r} is shown with {len(simple.faces)} of its {len(faces)} triangles"
