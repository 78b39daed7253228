"""The shapes of a live client. Where a link has none to be seen, PyBullet shows those that collide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.model.scene import Shape
from mbplugin.model.spatial import Pose, rotation_from_quaternion

if TYPE_CHECKING:
    from mbplugin.bullet.reader.client import Links

#: PyBullet's names of files that are none: triangles that were handed over.
_NO_FILE = ("", "unknown_file")


def shapes_of(bullet: ModuleType, client: int, links: Links) -> dict[str, tuple[Shape, ...]]:
    """Return the shapes of every link that has any, by the name of its body.

    Where the triangles to be seen have no file, the shapes that collide come after them.
    """
    found: dict[str, list[Shape]] = {}
    unseen = set()
    for body in dict.fromkeys(body for body, _ in links):
        for data in bullet.getVisualShapeData(body, physicsClientId=client):
            shapes = list(_shape(bullet, data, "visual", Pose.identity()))
            found.setdefault(links[body, data[1]].body, []).extend(shapes)
            if any(shape.kind == "mesh" and not shape.mesh for shape in shapes):
                unseen.add((body, data[1]))
    for body, index in sorted(unseen):
        found[links[body, index].body] += _colliding(bullet, client, body, index, links[body, index].X_LC)
    return {name: tuple(shapes) for name, shapes in found.items() if shapes}


def _colliding(bullet: ModuleType, client: int, body: int, index: int, X_LC: Pose) -> Iterator[Shape]:
    """Yield the shapes with which a link collides; triangles without a file as a hull around their points."""
    for k, data in enumerate(bullet.getCollisionShapeData(body, index, physicsClientId=client)):
        for shape in _shape(bullet, data, "collision", X_LC):
            if shape.kind != "mesh" or shape.mesh:
                yield shape
                continue
            _, points = bullet.getMeshData(body, index, collisionShapeIndex=k, physicsClientId=client)
            if points:
                yield Shape("collision", "hull", (), X_LC, points=tuple(points))


def _shape(bullet: ModuleType, data: Any, role: str, X_LF: Pose) -> Iterator[Shape]:
    """Yield what PyBullet says of a shape in a frame F of its link; nothing for a kind that has no surface here."""
    X_LS = X_LF @ Pose(rotation_from_quaternion(data[6]), np.array(data[5], dtype=float))
    kind, size, file = data[2], data[3], data[4].decode(errors="replace")
    if kind == bullet.GEOM_BOX:
        yield Shape(role, "box", tuple(size), X_LS)
    elif kind == bullet.GEOM_SPHERE:
        yield Shape(role, "sphere", (size[0],), X_LS)
    elif kind in (bullet.GEOM_CYLINDER, bullet.GEOM_CAPSULE):
        name = "cylinder" if kind == bullet.GEOM_CYLINDER else "capsule"
        yield Shape(role, name, (size[1], size[0]), X_LS)
    elif kind == bullet.GEOM_MESH:
        # PyBullet has found it already, seen from where its process works
        path = file if file in _NO_FILE else str(Path(file).absolute())
        yield Shape(role, "mesh", tuple(size), X_LS, mesh="" if file in _NO_FILE else path)
    elif kind == bullet.GEOM_PLANE:
        yield Shape(role, "plane", (), X_LS)
