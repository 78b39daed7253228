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
    """Return the shapes of every link that has any, by the name of its body."""
    found: dict[str, list[Shape]] = {}
    for body in dict.fromkeys(body for body, _ in links):
        for data in bullet.getVisualShapeData(body, physicsClientId=client):
            link = links[body, data[1]]
            found.setdefault(link.body, []).extend(_shape(bullet, data))
    return {name: tuple(shapes) for name, shapes in found.items() if shapes}


def _shape(bullet: ModuleType, data: Any) -> Iterator[Shape]:
    """Yield what PyBullet says of a shape; nothing for a kind that has no surface here."""
    # in the frame of the link, as in a file
    X_LS = Pose(rotation_from_quaternion(data[6]), np.array(data[5], dtype=float))
    kind, size, file = data[2], data[3], data[4].decode(errors="replace")
    if kind == bullet.GEOM_BOX:
        yield Shape("visual", "box", tuple(size), X_LS)
    elif kind == bullet.GEOM_SPHERE:
        yield Shape("visual", "sphere", (size[0],), X_LS)
    elif kind in (bullet.GEOM_CYLINDER, bullet.GEOM_CAPSULE):
        name = "cylinder" if kind == bullet.GEOM_CYLINDER else "capsule"
        yield Shape("visual", name, (size[1], size[0]), X_LS)
    elif kind == bullet.GEOM_MESH:
        # PyBullet has found it already, seen from where its process works
        path = file if file in _NO_FILE else str(Path(file).absolute())
        yield Shape("visual", "mesh", tuple(size), X_LS, mesh="" if file in _NO_FILE else path)
    elif kind == bullet.GEOM_PLANE:
        yield Shape("visual", "plane", (), X_LS)
