"""The solids of mesh files, kept between runs: a file counts as the same by path, size and time."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np

from mbplugin.dynamics.compiler.code_folder import cache_root
from mbplugin.linter.checks.shapes.mesh_solid import MeshSolid, mesh_solid
from mbplugin.readers.meshes.checks import UnusableMesh
from mbplugin.readers.meshes.triangles import read_triangles

#: Switches the kept solids off, for this process and those that it starts.
OFF = "MBPLUGIN_NO_MESH_CACHE"
#: Of the numbers that are kept; another one makes all of them be computed again.
_VERSION = 1


def solid_of_file(path: str) -> MeshSolid | None:
    """Return the solid of a mesh file in the file's units; None where it has none or cannot be read."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return _solid(os.path.realpath(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=1024)
def _solid(path: str, size: int, time: int) -> MeshSolid | None:
    if os.environ.get(OFF):
        return _computed(path)
    folder = _folder()
    key = f"{_VERSION} {path} {size} {time}"
    file = (
        None
        if folder is None
        else folder / f"{hashlib.sha256(key.encode(errors='replace')).hexdigest()}.json"
    )
    if file is not None and (kept := _read(file, key)) is not None:
        return kept[0]
    solid = _computed(path)
    if file is not None:
        _store(file, key, solid)
    return solid


def _computed(path: str) -> MeshSolid | None:
    try:
        # coordinates of any size are squared and cubed; what overflows encloses nothing
        with np.errstate(all="ignore"):
            return mesh_solid(*read_triangles(path))
    except UnusableMesh:
        return None


def _folder() -> Path | None:
    root = cache_root()
    return None if root is None else root / "mbplugin" / "meshes"


def _read(file: Path, key: str) -> tuple[MeshSolid | None] | None:
    """Return what a file keeps, in a tuple because it may keep that there is no solid; else None."""
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["key"] != key:
            return None
        if kept["solid"] is None:
            return (None,)
        numbers = np.array(kept["solid"], dtype=float)
        if numbers.shape != (19,) or not np.isfinite(numbers).all():
            return None
    # a file that is not ours, cut off or of another version
    except (OSError, ValueError, TypeError, KeyError):
        return None
    volume, center, moments, lower, upper = np.split(numbers, [1, 4, 13, 16])
    return (MeshSolid(float(volume[0]), center, moments.reshape(3, 3), lower, upper),)


def _store(file: Path, key: str, solid: MeshSolid | None) -> None:
    numbers = None
    if solid is not None:
        parts = (np.array([solid.volume]), solid.center, solid.moments.ravel(), solid.lower, solid.upper)
        numbers = np.concatenate(parts).tolist()
    # a cache that cannot be written costs time, nothing else
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=file.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump({"key": key, "solid": numbers}, stream)
        os.replace(temporary, file)  # noqa: PTH105
