"""Vertices and triangles of a mesh file: binary STL and OBJ by numpy alone, other formats by trimesh."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbplugin.model.bounds import LARGEST
from mbplugin.model.spatial import Array
from mbplugin.readers.meshes.checks import UnusableMesh, check_content
from mbplugin.readers.meshes.files import LARGEST_FILE, load_mesh, mesh_bytes

Triangles = tuple[Array, NDArray[np.int64]]

_STL_HEADER, _STL_TRIANGLE = 84, 50
_STL = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("attribute", "<u2")])
_OBJ_CORNER = re.compile(rb"/\S*")


def read_triangles(path: str, largest: int = LARGEST_FILE) -> Triangles:
    """Return the vertices (n, 3), in the file's units, and the triangles (m, 3) of a mesh file.

    Raises
    ------
    UnusableMesh
        The file holds no mesh that is read, or is larger than ``largest`` bytes.
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind in ("stl", "obj"):
        data = mesh_bytes(path, largest)
        check_content(kind, data)
        found = _binary_stl(data) if kind == "stl" else _plain_obj(data)
        if found is not None:
            return _checked(*found)
    mesh: Any = load_mesh(path, largest)
    return np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int64)


def _binary_stl(data: bytes) -> Triangles | None:
    """Return the triangles of a binary STL; None where the text is not one of just that length."""
    if len(data) < _STL_HEADER + _STL_TRIANGLE:
        return None
    count = int.from_bytes(data[_STL_HEADER - 4 : _STL_HEADER], "little")
    if len(data) != _STL_HEADER + count * _STL_TRIANGLE:
        return None
    corners = np.frombuffer(data, _STL, count, _STL_HEADER)["vertices"].reshape(-1, 3)
    return corners.astype(float), np.arange(len(corners), dtype=np.int64).reshape(-1, 3)


def _plain_obj(data: bytes) -> Triangles | None:
    """Return the triangles of an OBJ; None where it has more than vertices and faces of positive indices."""
    if b"\\\n" in data or b"\\\r" in data:
        return None
    lines = data.splitlines()
    vertices = [line[2:] for line in lines if line[:2] in (b"v ", b"v\t")]
    faces = [line[2:] for line in lines if line[:2] in (b"f ", b"f\t")]
    if not vertices or not faces:
        return None
    try:
        points = _numbers(vertices).reshape(len(vertices), -1)
        triangles = _fans(faces)
    # numbers that are none, and lines of different lengths: trimesh has more patience
    except ValueError:
        return None
    if points.shape[1] < 3 or triangles.min() < 1:
        return None
    return points[:, :3], triangles - 1


def _numbers(lines: list[bytes]) -> Array:
    """Return the numbers of lines, (n,).

    Raises
    ------
    ValueError
        A word that is no number.
    """
    with warnings.catch_warnings():
        # numpy warns, and stops there, at a word that is no number
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return np.fromstring(b" ".join(lines).decode("ascii"), dtype=float, sep=" ")
        except (DeprecationWarning, UnicodeDecodeError) as error:
            raise ValueError("no number") from error


def _fans(faces: list[bytes]) -> NDArray[np.int64]:
    """Return the triangles (m, 3) of polygons, each a fan around its first corner."""
    plain = _OBJ_CORNER.sub(b"", b"\n".join(faces)).split(b"\n")
    by_size: dict[int, list[bytes]] = {}
    for line in plain:
        by_size.setdefault(len(line.split()), []).append(line)
    if min(by_size) < 3:
        raise ValueError("a face with less than three corners")
    found = []
    for size, same in by_size.items():
        corners = np.array(b" ".join(same).split(), dtype=np.int64).reshape(-1, size)
        first = np.broadcast_to(corners[:, :1], (len(corners), size - 2))
        fans = np.stack([first, corners[:, 1:-1], corners[:, 2:]], axis=-1)
        found.append(fans.transpose(1, 0, 2).reshape(-1, 3))
    return np.concatenate(found)


def _checked(vertices: Array, faces: NDArray[np.int64]) -> Triangles:
    """Return triangles, ``faces`` (t, 3), that refer to finite ``vertices`` (n, 3) that there are.

    Raises
    ------
    UnusableMesh
    """
    if not (np.abs(vertices) <= LARGEST).all():
        raise UnusableMesh(f"has coordinates that are no numbers up to {LARGEST:g}")
    if faces.max() >= len(vertices):
        raise UnusableMesh("has triangles that name missing vertices")
    return vertices, faces
