"""Triangles: vertices and faces, and fewer of them where a mesh is too fine to be shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from mbplugin.model.spatial import AnyArray, Array, Pose, make_read_only


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface.

    Parameters
    ----------
    vertices : (n, 3) array
        m, in the axes of its owner.
    faces : (k, 3) array of int
        Counter-clockwise seen from outside.
    """

    vertices: Array
    faces: AnyArray

    def __post_init__(self) -> None:
        make_read_only(self.vertices, self.faces)


def moved(mesh: Mesh, X: Pose) -> Mesh:
    """Return a mesh given in frame B in the axes of A, X = X_AB."""
    return Mesh(mesh.vertices @ X.R.T + X.p, mesh.faces)


def merged(meshes: Iterable[Mesh]) -> Mesh:
    """Return several surfaces as one."""
    parts = list(meshes)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.vstack([part.vertices for part in parts])
    faces = np.vstack([part.faces + start for part, start in zip(parts, starts, strict=False)])
    return Mesh(vertices, faces)


def limited(mesh: Mesh, most: int) -> Mesh:
    """Return a mesh of at most ``most`` faces: vertices that lie in one cell of a grid become one."""
    cells = sqrt(most)
    simple = mesh
    while len(simple.faces) > most:
        simple = _clustered(mesh, cells)
        cells *= 0.85
    return simple


def _clustered(mesh: Mesh, cells: float) -> Mesh:
    lower = mesh.vertices.min(axis=0)
    edge = max(float((mesh.vertices.max(axis=0) - lower).max()) / cells, 1e-12)
    place = np.floor((mesh.vertices - lower) / edge).astype(np.int64)
    _, cell = np.unique(place, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    count = np.bincount(cell)
    vertices = np.column_stack([np.bincount(cell, mesh.vertices[:, k]) / count for k in range(3)])
    faces = cell[mesh.faces]
    a, b, c = faces.T
    kept = faces[(a != b) & (b != c) & (c != a)]
    # thin walls fold onto themselves
    _, first = np.unique(np.sort(kept, axis=1), axis=0, return_index=True)
    return Mesh(vertices, kept[np.sort(first)])
