"""Reading a mesh file: supported formats, checks before reading, and required contents.

A mesh comes from anywhere, as its model does. Its bytes are read here, up to a limit, and the readers
of the formats get these bytes and no way to open another file.
"""

from __future__ import annotations

import io
import os
import stat
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.files import note_read
from mbplugin.model.bounds import LARGEST
from mbplugin.readers.meshes.checks import LARGEST_CONTENT, UnusableMesh, check_content

#: A mesh larger than this is left out: reading it would cost more time than it is worth, bytes.
LARGEST_FILE = 60_000_000
#: The formats that are read. Archives (zip, 3mf, 3dxml) are not: robots' meshes do not come in them.
FORMATS = ("stl", "obj", "ply", "off", "dae", "glb", "gltf")
#: Packages by which trimesh reads some formats: their module, and what they are.
_MODULES = {"dae": "collada"}
_READERS = {"dae": "a reader of COLLADA files: pip install pycollada"}
LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def load_mesh(path: str, largest: int = LARGEST_FILE) -> Any:
    """Return the ``trimesh.Trimesh`` of a file, in the file's own units.

    Parameters
    ----------
    path : str
    largest : int
        Size of the largest file that is read, bytes.

    Raises
    ------
    UnusableMesh
        Its text completes "mesh NAME …".
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise UnusableMesh(f"has a format that is not read ({', '.join(FORMATS)} are)")
    data = mesh_bytes(path, largest)
    if data.startswith(LFS_POINTER):
        raise UnusableMesh("is a Git LFS pointer, not the mesh itself: run git lfs pull")
    check_content(kind, data)
    resolver = _BesideMesh(path, LARGEST_CONTENT) if kind == "gltf" else None
    return _checked(_parsed(data, kind, resolver))


def mesh_bytes(path: str, largest: int) -> bytes:
    """Return the content of a regular file of limited size.

    Raises
    ------
    UnusableMesh
        No regular file, larger than ``largest`` bytes, empty, or not to be read.
    """
    try:
        # a pipe would wait for its writer
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnusableMesh("is not a regular file")
            data = stream.read(largest + 1)
    except OSError as error:
        raise UnusableMesh(f"cannot be read ({(error.strerror or 'no reason given').lower()})") from None
    if len(data) > largest:
        raise UnusableMesh(f"is larger than {largest // 10**6} MB")
    if not data.strip():
        raise UnusableMesh("is an empty file")
    note_read(path, data)
    return data


class _BesideMesh:
    """What a glTF file may refer to: regular files in its own folder, up to a limit together."""

    def __init__(self, path: str, largest: int) -> None:
        self._folder, self._left = Path(path).resolve().parent, largest

    def get(self, name: str) -> bytes:
        # symbolic links count as what they point to
        target = (self._folder / name).resolve()
        if not target.is_relative_to(self._folder):
            raise UnusableMesh(f"refers to {name!r}, which is outside its folder")
        try:
            data = mesh_bytes(str(target), self._left)
        except UnusableMesh as error:
            raise UnusableMesh(f"refers to {name!r}, which {error}") from None
        self._left -= len(data)
        return data

    __getitem__ = get


def _parsed(data: bytes, kind: str, resolver: Any) -> Any:
    # importing trimesh takes longer than linting most models
    if kind in _MODULES and find_spec(_MODULES[kind]) is None:
        raise UnusableMesh(f"needs {_READERS[kind]}")
    import trimesh

    try:
        # what is no number is told after reading; colours and textures take most of the time
        with np.errstate(all="ignore"):
            return trimesh.load(
                io.BytesIO(data), file_type=kind, resolver=resolver, force="mesh", skip_materials=True
            )
    except UnusableMesh:
        raise
    except ImportError:
        if kind not in _READERS:  # a package that a text is guessed with, which a whole file is not
            raise UnusableMesh("cannot be read, and may be cut short") from None
        raise UnusableMesh(f"needs {_READERS[kind]}") from None
    # mesh readers fail in as many ways as there are formats
    except Exception as error:
        raise UnusableMesh(f"cannot be read ({type(error).__name__})") from None


def _checked(mesh: Any) -> Any:
    """Return a mesh whose triangles refer to finite vertices that it has."""
    vertices = np.asarray(getattr(mesh, "vertices", ()), dtype=float)
    faces = np.asarray(getattr(mesh, "faces", ()))
    if not len(vertices) or not len(faces):
        raise UnusableMesh("holds no triangle")
    if not (np.abs(vertices) <= LARGEST).all():
        raise UnusableMesh(f"has coordinates that are no numbers up to {LARGEST:g}")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise UnusableMesh("has triangles that name missing vertices")
    return mesh
