"""Mesh files that models name: where they are, and what trimesh reads from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.model.bounds import LARGEST
from mbplugin.model.scene import Request, Scene, Shape
from mbplugin.model.spatial import Array
from mbplugin.readers.common.lookups import looked_up
from mbplugin.readers.common.paths import find, is_file
from mbplugin.readers.meshes.checks import UnusableMesh
from mbplugin.readers.meshes.files import LARGEST_FILE, load_mesh

#: A mesh larger than this is not read for a hint, bytes.
_LARGEST_FOR_HINT = 8_000_000


def mesh_path(shape: Shape, request: Request | None) -> str | None:
    """Return the file of a mesh, or None where it is not found."""
    if not shape.mesh:
        return None
    if request is None:
        # no model file: an engine has found the mesh already
        return shape.mesh if Path(shape.mesh).is_absolute() and is_file(Path(shape.mesh)) else None
    return find(shape.mesh, replace(request, path=shape.beside, text=None) if shape.beside else request)


def mesh_paths(scene: Scene) -> Iterator[str]:
    """Yield the mesh files of a scene that are found."""
    for shapes in scene.shapes.values():
        for shape in shapes:
            path = mesh_path(shape, scene.request) if shape.kind == "mesh" else None
            if path is not None:
                yield path


def mesh_file(shape: Shape, request: Request | None) -> str | None:
    """Return the file of a mesh, or None where there is none that can be read in reasonable time."""
    path = mesh_path(shape, request)
    return path if path is not None and looked_up(("small", path), lambda: _is_small(path)) else None


def _is_small(path: str) -> bool:
    try:
        return Path(path).stat().st_size <= _LARGEST_FOR_HINT
    except OSError:
        return False


def read_mesh(path: str, scale: tuple[float, ...], largest: int = LARGEST_FILE) -> Any:
    """Return the ``trimesh.Trimesh`` of a file, scaled.

    Raises
    ------
    UnusableMesh
        The file holds no mesh that is read, is larger than ``largest`` bytes, or the scale leaves
        nothing of it.
    """
    if not all(0 < abs(s) <= LARGEST for s in scale):
        raise UnusableMesh(f"is scaled by {' '.join(f'{s:g}' for s in scale)}, which leaves no shape")
    mesh = load_mesh(path, largest)
    mesh.apply_scale(scale)
    return mesh


def mesh_bounds(shape: Shape, request: Request | None) -> Array | None:
    """Return lowest and highest corner of a mesh (2, 3) in its own axes, m; None where it is unreadable."""
    path = mesh_file(shape, request)
    return None if path is None else _bounds(path, tuple(shape.size))


@lru_cache(maxsize=256)
def _bounds(path: str, scale: tuple[float, ...]) -> Array | None:
    """Return the lowest and the highest corner of a mesh (2, 3), m; None where it cannot be read."""
    try:
        bounds = np.array(read_mesh(path, scale).bounds, dtype=float)
    except UnusableMesh:
        return None
    bounds.setflags(write=False)
    return bounds if bounds.shape == (2, 3) and np.isfinite(bounds).all() else None
