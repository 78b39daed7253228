"""Solids and sizes of mesh files, kept between runs: a file counts as the same by path, size and time."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from mbplugin.dynamics.compiler.code_folder import cache_root
from mbplugin.linter.checks.shapes.mesh_solid import MeshSolid, mesh_solid
from mbplugin.model.spatial import Array
from mbplugin.readers.common.lookups import looked_up
from mbplugin.readers.meshes.checks import UnusableMesh
from mbplugin.readers.meshes.extent import mesh_extent
from mbplugin.readers.meshes.triangles import read_triangles

#: Switches the kept numbers off, for this process and those that it starts.
OFF = "MBPLUGIN_NO_MESH_CACHE"
#: Of the numbers that are kept; another one makes all of them be computed again.
_VERSION = 2


def solid_of_file(path: str) -> MeshSolid | None:
    """Return the solid of a mesh file in the file's units; None where it has none or cannot be read."""
    numbers = _of_file("solid", path)
    if numbers is None:
        return None
    volume, center, moments, lower, upper = np.split(numbers, [1, 4, 13, 16])
    return MeshSolid(float(volume[0]), center, moments.reshape(3, 3), lower, upper)


def extent_of_file(path: str) -> Array | None:
    """Return the edges (3,) of the box around a mesh in the file's units; None as of ``mesh_extent``."""
    return _of_file("extent", path)


def _of_file(kind: str, path: str) -> Array | None:
    """Return what is computed of a mesh file, (19,) for a solid and (3,) for an extent; once in a run."""
    return looked_up((kind, path), lambda: _current(kind, path))


def _current(kind: str, path: str) -> Array | None:
    """Return what is computed of a file as it is now, (19,) or (3,)."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return _numbers(kind, os.path.realpath(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)
def _numbers(kind: str, path: str, size: int, time: int) -> Array | None:
    """Return what is kept of a file of this size and time, (19,) or (3,); computed where nothing is."""
    count, compute = _COMPUTED[kind]
    folder = None if os.environ.get(OFF) else _folder()
    if folder is None:
        return compute(path)
    key = f"{_VERSION} {kind} {path} {size} {time}"
    file = folder / f"{hashlib.sha256(key.encode(errors='replace')).hexdigest()}.json"
    if (kept := _read(file, key, count)) is not None:
        return kept[0]
    numbers = compute(path)
    _store(file, key, numbers)
    return numbers


def _solid(path: str) -> Array | None:
    """Return the numbers (19,) of the solid in a mesh file; None where it has none."""
    try:
        # coordinates of any size are squared and cubed; what overflows encloses nothing
        with np.errstate(all="ignore"):
            solid = mesh_solid(*read_triangles(path))
    except UnusableMesh:
        return None
    if solid is None:
        return None
    parts = (np.array([solid.volume]), solid.center, solid.moments.ravel(), solid.lower, solid.upper)
    return np.concatenate(parts)


#: How many numbers are kept of a file, and what computes them.
_COMPUTED: dict[str, tuple[int, Callable[[str], Array | None]]] = {
    "solid": (19, _solid),
    "extent": (3, mesh_extent),
}


def _folder() -> Path | None:
    root = cache_root()
    return None if root is None else root / "mbplugin" / "meshes"


def _read(file: Path, key: str, count: int) -> tuple[Array | None] | None:
    """Return what a file keeps, in a tuple because it may keep that there is nothing; else None."""
    try:
        kept = json.loads(file.read_bytes())
        if kept["key"] != key:
            return None
        if kept["numbers"] is None:
            return (None,)
        numbers = np.array(kept["numbers"], dtype=float)
        if numbers.shape != (count,) or not np.isfinite(numbers).all():
            return None
    # a file that is not ours, cut off or of another version
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return (numbers,)


def _store(file: Path, key: str, numbers: Array | None) -> None:
    """Keep numbers (n,) in a file, or that there are none."""
    listed = None if numbers is None else numbers.tolist()
    # a cache that cannot be written costs time, nothing else
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump({"key": key, "numbers": listed}, stream)
        os.replace(temporary, file)  # noqa: PTH105
