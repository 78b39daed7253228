"""Meshes whose size does not fit the robot around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mbplugin.linter.checks.extent import extents
from mbplugin.linter.checks.per_scene import per_scene
from mbplugin.linter.checks.shapes.mesh_cache import extent_of_file
from mbplugin.linter.checks.shapes.shape_places import ShownMesh, shown_meshes
from mbplugin.median import median
from mbplugin.model.scene import Scene

#: A mesh this many times as large as everything else has another unit.
_LARGE = 30.0
#: No part of a robot is smaller than this, m; and how much smaller it is than the others.
_TINY, _SMALL = 5e-4, 0.01


@dataclass(frozen=True)
class OddMesh:
    """A mesh, the diagonal of the box around it, and that of the robot without it, m."""

    mesh: ShownMesh
    size: float
    around: float


@per_scene
def meshes_in_another_unit(scene: Scene) -> tuple[OddMesh, ...]:
    """Return the meshes that are far too large or too small."""
    return tuple(_odd(scene))


def _odd(scene: Scene) -> Iterator[OddMesh]:
    sizes = [(mesh, size) for mesh in shown_meshes(scene) if (size := _size(mesh))]
    if not sizes:
        return
    known = max(extents(scene).whole, _largest_primitive(scene))
    for mesh, size in sizes:
        others = [other for m, other in sizes if m.shape.mesh != mesh.shape.mesh]
        around = max(known, median(others) if others else 0.0)
        large = around > 0 and size > _LARGE * around
        tiny = size < _TINY and size < _SMALL * (median(others) if others else known)
        if large or tiny:
            yield OddMesh(mesh, size, around)


def _size(mesh: ShownMesh) -> float:
    """Return the diagonal of the box around a mesh as it is scaled, m; 0 where it is not known."""
    edges = None if mesh.path is None else extent_of_file(mesh.path)
    scale = np.array(mesh.shape.size)
    if edges is None or scale.shape != (3,) or not scale.all():
        return 0.0
    return float(np.linalg.norm(edges * scale))


def _largest_primitive(scene: Scene) -> float:
    """Return the largest dimension of the primitive shapes, m; a plane has none."""
    shapes = [shape for own in scene.shapes.values() for shape in own if shape.kind != "mesh"]
    return max((max(map(abs, shape.size), default=0.0) for shape in shapes), default=0.0)
