"""The size of a mesh from its vertices alone, for the formats that state no unit: STL and OBJ."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.readers.meshes.checks import UnusableMesh
from mbplugin.readers.meshes.files import LFS_POINTER, mesh_bytes

#: A larger file is not read for a hint, bytes.
_LARGEST = 8_000_000
#: Bytes of a binary STL: the header with the count, and a triangle.
_HEADER, _TRIANGLE = 84, 50


def mesh_extent(path: str) -> Array | None:
    """Return the edges of the bounding box of a mesh, (3,), in the file's unit.

    None where the format is another one, the file is large, or holds no vertices that can be read.

    Parameters
    ----------
    path : str
    """
    kind = Path(path).suffix.lower()
    try:
        if kind not in (".stl", ".obj"):
            return None
        data = mesh_bytes(path, _LARGEST)
        points = _stl_points(data) if kind == ".stl" else _words(data, b"v ")
    except (UnusableMesh, ValueError):
        return None
    if not len(points) or not np.isfinite(points).all():
        return None
    return np.asarray(np.ptp(points, axis=0), dtype=float)


def mesh_problem(path: str) -> str:
    """Return what keeps every program from reading a mesh file, from its size and its first bytes.

    Empty where nothing is wrong so far; the text completes "the file …".
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return "is not a file"
        with Path(path).open("rb") as stream:
            head = stream.read(_HEADER)
            size = stream.seek(0, 2)
    except OSError as error:
        return f"cannot be read ({(error.strerror or 'no reason given').lower()})"
    if not head.strip():
        return "is empty"
    if head.startswith(LFS_POINTER):
        return "is a Git LFS pointer"
    if Path(path).suffix.lower() == ".stl" and not head.lstrip().startswith(b"solid"):
        if size < _HEADER:
            return "is cut short"
        count = int.from_bytes(head[80:84], "little")
        if size < _HEADER + _TRIANGLE * count:
            return "is cut short"
    return ""


def _stl_points(data: bytes) -> Array:
    """Return the corners of the triangles of an STL file, (n, 3)."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= _HEADER else -1
    if len(data) != _HEADER + _TRIANGLE * count:
        return _words(data, b"vertex ")
    table = np.frombuffer(data, np.dtype([("n", "<3f4"), ("v", "<9f4"), ("a", "<u2")]), offset=_HEADER)
    return np.asarray(table["v"].reshape(-1, 3), dtype=float)


def _words(data: bytes, keyword: bytes) -> Array:
    """Return the first three numbers of the lines that begin with a keyword, (n, 3).

    Raises
    ------
    ValueError
        Lines with another content, or of different lengths.
    """
    # one call of the parser for all lines: a large mesh has some hundred thousand
    start = len(keyword)
    rows = [row[start:] for line in data.splitlines() if (row := line.lstrip()).startswith(keyword)]
    if not rows:
        return np.zeros((0, 3))
    # colours may follow the coordinates
    columns = len(rows[0].split())
    values = np.array(b" ".join(rows).split(), dtype=float)
    return values.reshape(len(rows), columns)[:, :3]
