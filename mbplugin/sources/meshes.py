"""Mesh files that models name: where they are, and what trimesh reads from them."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.sources.paths import find
from mbplugin.sources.scene import Request, Shape
from mbplugin.spatial import Array

#: A mesh larger than this is left out: reading it would cost more time than its answer is worth.
_LARGEST_FILE = 8_000_000


def mesh_path(shape: Shape, request: Request | None) -> str | None:
    """Return the file of a mesh, or None where it is not found."""
    if request is None or not shape.mesh:
        return None
    return find(shape.mesh, replace(request, path=shape.beside, text=None) if shape.beside else request)


def mesh_file(shape: Shape, request: Request | None) -> str | None:
    """Return the file of a mesh, or None where there is none that can be read in reasonable time."""
    path = mesh_path(shape, request)
    return path if path is not None and Path(path).stat().st_size <= _LARGEST_FILE else None


def read_mesh(path: str, scale: tuple[float, ...]) -> Any:
    """Return the mesh of a file, scaled; it raises whatever the reader of its format raises."""
    import trimesh

    # colours and textures take most of the time
    mesh: Any = trimesh.load(path, force="mesh", skip_materials=True)
    mesh.apply_scale(scale)
    return mesh


def mesh_bounds(shape: Shape, request: Request | None) -> Array | None:
    """Return lowest and highest corner of a mesh (2, 3) in its own axes, m; None where it is unreadable."""
    path = mesh_file(shape, request)
    return None if path is None else _bounds(path, tuple(shape.size))


@lru_cache(maxsize=256)
def _bounds(path: str, scale: tuple[float, ...]) -> Array | None:
    try:
        bounds = np.array(read_mesh(path, scale).bounds, dtype=float)
    # mesh readers fail in as many ways as there are formats
    except Exception:
        return None
    bounds.setflags(write=False)
    return bounds if bounds.shape == (2, 3) and np.isfinite(bounds).all() else None
