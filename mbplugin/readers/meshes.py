"""Vertices and triangles of a mesh file: binary STL and OBJ by numpy alone, other formats by trimesh."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import re
import stat
import struct
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from mbplugin.files import LFS_POINTER, note_read
from mbplugin.model.brake_law import LARGEST
from mbplugin.model.scene import Request, Scene, Shape
from mbplugin.model.spatial import Array
from mbplugin.readers.common.paths import find, is_file, looked_up

#: A larger file is not read for a hint, bytes.
_LARGEST = 8_000_000
#: Bytes of a binary STL: the header with the count, and a triangle.
_EXTENT_HEADER, _TRIANGLE = 84, 50
#: A mesh larger than this is left out: reading it would cost more time than it is worth, bytes.
LARGEST_FILE = 60_000_000
#: The formats that are read. Archives (zip, 3mf, 3dxml) are not: robots' meshes do not come in them.
FORMATS = ("stl", "obj", "ply", "off", "dae", "glb", "gltf")
#: Packages by which trimesh reads some formats: their module, and what they are.
_MODULES = {"dae": "collada"}
_READERS = {"dae": "a reader of COLLADA files: pip install pycollada"}
Triangles = tuple[Array, NDArray[np.int64]]
_STL_HEADER, _STL_TRIANGLE = 84, 50
_STL = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("attribute", "<u2")])
_OBJ_CORNER = re.compile(rb"/\S*")
#: A mesh larger than this is not read for a hint, bytes.
_LARGEST_FOR_HINT = 8_000_000
#: Arrays that a mesh file may make, bytes.
LARGEST_CONTENT = 200_000_000
#: Vertices or corners of all instances together.
_MOST_CORNERS = 6_000_000
#: Words and lines of a text file: numbers parted by any blanks.
_MOST_WORDS = {"obj": 10_000_000, "stl": 10_000_000, "ply": 6_000_000, "off": 6_000_000, "dae": 6_000_000}
#: Numbers that the triangles and polygons of a COLLADA file are written with, of all instances together.
_MOST_COLLADA_CORNERS = 4_000_000
#: Inputs of a primitive in COLLADA, each of which is an array of its corners.
_MOST_INPUTS = 32
#: Parts of an OBJ or STL file: the time that they take grows with the square of their number.
_MOST_PARTS = 500
_PART = {
    "obj": re.compile(rb"^(?:o|g|usemtl)\s", re.MULTILINE),
    "stl": re.compile(rb"^\s*solid\b", re.MULTILINE),
}
#: Elements of markup: tags in COLLADA, objects in glTF.
_MOST_ELEMENTS = 300_000
#: Values in the JSON of glTF.
_MOST_VALUES = 2_000_000
#: Meshes shown, instances included.
_MOST_INSTANCES = 20_000
#: Primitives of glTF, instances included: the time that they take grows with the square of their number.
_MOST_PRIMITIVES = 2000
_HEADER = 10_000
_UNIT = re.compile(rb"""<unit\b[^>]*?\bmeter\s*=\s*["']([^"']*)["']""")
_PRIMITIVES = ("triangles", "polylist", "polygons", "tristrips", "trifans", "lines", "linestrips")
_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_PLY_BYTES = {
    name: size
    for size, names in {
        1: (b"char", b"uchar", b"int8", b"uint8"),
        2: (b"short", b"ushort", b"int16", b"uint16"),
        4: (b"int", b"uint", b"int32", b"uint32", b"float", b"float32"),
        8: (b"double", b"float64"),
    }.items()
    for name in names
}
_ITEMS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


# The size of a mesh from its vertices alone, for the formats that state no unit: STL and OBJ.


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
        points = _stl_points(data) if kind == ".stl" else _extent_words(data, b"v ")
    except (UnusableMesh, ValueError):
        return None
    if not len(points) or not np.isfinite(points).all():
        return None
    return np.asarray(np.ptp(points, axis=0), dtype=float)


def mesh_problem(path: str) -> str:
    """Return the reason why no program can read a mesh file, from its size and its first bytes.

    Empty where nothing is wrong so far; the text completes "the file …".
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return "is not a file"
        with Path(path).open("rb") as stream:
            head = stream.read(_EXTENT_HEADER)
            size = stream.seek(0, 2)
    except OSError as error:
        return f"cannot be read ({(error.strerror or 'no reason given').lower()})"
    if not head.strip():
        return "is empty"
    if head.startswith(LFS_POINTER):
        return "is a Git LFS pointer"
    if Path(path).suffix.lower() == ".stl" and not head.lstrip().startswith(b"solid"):
        if size < _EXTENT_HEADER:
            return "is cut short"
        count = int.from_bytes(head[80:84], "little")
        if size < _EXTENT_HEADER + _TRIANGLE * count:
            return "is cut short"
    return ""


def _stl_points(data: bytes) -> Array:
    """Return the corners of the triangles of an STL file, (n, 3)."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= _EXTENT_HEADER else -1
    if len(data) != _EXTENT_HEADER + _TRIANGLE * count:
        return _extent_words(data, b"vertex ")
    table = np.frombuffer(data, np.dtype([("n", "<3f4"), ("v", "<9f4"), ("a", "<u2")]), offset=_EXTENT_HEADER)
    return np.asarray(table["v"].reshape(-1, 3), dtype=float)


def _extent_words(data: bytes, keyword: bytes) -> Array:
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
    if columns < 3:
        raise ValueError("less than three coordinates")
    values = np.array(b" ".join(rows).split(), dtype=float)
    return values.reshape(len(rows), columns)[:, :3]


# Reading a mesh file: supported formats, checks before reading, and required contents.
#
# A mesh comes from anywhere, as its model does. Its bytes are read here, up to a limit, and the readers
# of the formats get these bytes and no way to open another file.


def load_mesh(path: str, largest: int = LARGEST_FILE) -> Any:
    """Return the ``trimesh.Trimesh`` of a file, in the file's own units; COLLADA states its unit, and is in metres.

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
    mesh = _files_checked(_parsed(data, kind, resolver))
    if kind == "dae" and (metre := _metre(data)) != 1.0:
        mesh.apply_scale(metre)
    return mesh


def _metre(data: bytes) -> float:
    """Return the unit of a COLLADA file in metres, 1 where it states none that can be used."""
    found = _UNIT.search(data)
    try:
        metre = float(found.group(1)) if found else 1.0
    except ValueError:
        return 1.0
    return metre if 0 < metre <= LARGEST else 1.0


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
        with np.errstate(all="ignore"), _silent("trimesh"):
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


@contextlib.contextmanager
def _silent(name: str) -> Iterator[None]:
    """Keep a package from logging: it prints tracebacks about textures, which are not used here."""
    logger = logging.getLogger(name)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _files_checked(mesh: Any) -> Any:
    """Return a mesh whose triangles refer to finite vertices that it has."""
    vertices = np.asarray(getattr(mesh, "vertices", ()), dtype=float)
    faces = np.asarray(getattr(mesh, "faces", ()))
    if not len(vertices) or not len(faces):
        raise UnusableMesh("holds no triangle")
    if vertices.shape[1:] != (3,) or faces.shape[1:] != (3,):
        raise UnusableMesh("has vertices or triangles that do not have three numbers")
    if not (np.abs(vertices) <= LARGEST).all():
        raise UnusableMesh(f"has coordinates that are no numbers up to {LARGEST:g}")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise UnusableMesh("has triangles that name missing vertices")
    return mesh


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


# Mesh files that models name: where they are, and what trimesh reads from them.


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
    if shape.triangles is not None and len(shape.triangles[0]):
        corners = shape.triangles[0] * shape.size
        return np.array([corners.min(axis=0), corners.max(axis=0)])
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


# The size that a mesh file declares, checked before it is read.
#
# A few bytes may announce thousands of millions of vertices, one mesh may be shown a million times, and
# a node that contains another one twice doubles at every level. The parsers need up to 500 bytes for a word
# of
# text, however short it is. What passes here makes at most ``LARGEST_CONTENT`` bytes of arrays, and needs at
# most
# 1.5 GB while it is read.


class UnusableMesh(Exception):
    """A mesh file that is not used; the text completes "mesh NAME …"."""


def check_content(kind: str, data: bytes) -> None:
    """Refuse the content of a file that would make more than it may.

    Parameters
    ----------
    kind : str
        Ending of the file: ``ply``, ``off``, ``gltf``, ``glb``, ``dae``; others announce nothing.
    data : bytes

    Raises
    ------
    UnusableMesh
        It announces more than the file can hold, or makes more than ``LARGEST_CONTENT``.
    """
    try:
        if kind == "ply":
            _check_ply(data)
        elif kind in ("obj", "stl"):
            _check_words(kind, data)
        elif kind == "off":
            _check_counts(_off_counts(data), data)
            _check_words(kind, data)
        elif kind in ("gltf", "glb"):
            _check_gltf(_gltf_json(data) if kind == "glb" else data)
        elif kind == "dae":
            _check_collada(data)
    # a file that does not follow its format at all
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, struct.error):
        raise UnusableMesh(f"is no valid {kind} file") from None


def _check_words(kind: str, data: bytes) -> None:
    """Refuse a text of more words, lines and parts than are read; a binary STL has none."""
    if kind == "stl" and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little"):
        return
    if _words(data) > _MOST_WORDS[kind]:
        raise UnusableMesh(f"has more than {_MOST_WORDS[kind]} words and lines")
    parts = _PART[kind].finditer(data) if kind in _PART else iter(())
    if sum(1 for _ in islice(parts, _MOST_PARTS + 1)) > _MOST_PARTS:
        raise UnusableMesh(f"has more than {_MOST_PARTS} parts")


def _words(data: bytes) -> int:
    """Return how many words and lines a text has; blanks of any kind part the words."""
    # split() would need fifty bytes a word
    blank = np.frombuffer(data, np.uint8) <= ord(" ")
    begins = int(np.count_nonzero(blank[:-1] & ~blank[1:])) + (0 if blank[:1].all() else 1)
    return begins + data.count(b"\n")


def _check_ply(data: bytes) -> None:
    """Refuse more elements than bytes, and more words or corners than are read."""
    head, found, _ = data[:_HEADER].partition(b"end_header")
    if not found:
        raise UnusableMesh(f"has no header that ends within {_HEADER} bytes")
    _check_counts(re.findall(rb"^\s*element\s+\S+\s+(\S+)", head, re.MULTILINE), data)
    if re.search(rb"^\s*format\s+ascii", head, re.MULTILINE):
        _check_words("ply", data)
        return
    # each element has the bytes of its numbers; what is left are the corners of the lists
    left, smallest = len(data) - len(head) - len(found), 0
    for part in re.split(rb"^\s*element\s+", head, flags=re.MULTILINE)[1:]:
        count = int(part.split()[1])
        for line in part.splitlines()[1:]:
            match line.split():
                case [b"property", b"list", size, item, _]:
                    left -= count * _PLY_BYTES[size]
                    smallest = min(smallest or 8, _PLY_BYTES[item])
                case [b"property", item, _]:
                    left -= count * _PLY_BYTES[item]
    if smallest and left > smallest * _MOST_CORNERS:
        raise UnusableMesh(f"has lists of more than {_MOST_CORNERS} corners")


def _check_counts(counts: list[bytes], data: bytes) -> None:
    """Refuse more elements than bytes."""
    if any(not 0 <= int(count) <= len(data) for count in counts):
        raise UnusableMesh("announces more elements than it can hold")


def _off_counts(data: bytes) -> list[bytes]:
    lines = (line.partition(b"#")[0].strip() for line in data[:_HEADER].splitlines())
    words = b" ".join(filter(None, lines)).split()
    return words[1:3]


def _gltf_json(data: bytes) -> bytes:
    magic, _, _, length, kind = struct.unpack_from("<4sIII4s", data)
    if magic != b"glTF" or kind != b"JSON":
        raise ValueError("no glTF header")
    return data[20 : 20 + int(length)]


def _check_gltf(text: bytes) -> None:
    if text.count(b"{") > _MOST_ELEMENTS or text.count(b",") > _MOST_VALUES:
        raise UnusableMesh(f"describes more than {_MOST_ELEMENTS} objects or {_MOST_VALUES} values")
    header = json.loads(text)
    accessors, meshes = header.get("accessors", []), header.get("meshes", [])
    sizes = [int(a["count"]) * _ITEMS[a["type"]] * _BYTES[a["componentType"]] for a in accessors]
    if any(size < 0 for size in sizes) or sum(sizes) > LARGEST_CONTENT:
        raise UnusableMesh(f"announces more than {LARGEST_CONTENT // 10**6} MB of numbers")
    if any(int(view.get("byteStride", 4)) < 1 for view in header.get("bufferViews", [])):
        raise ValueError("byteStride")
    nodes = header.get("nodes", [])
    _require_trees(nodes)
    shown = [node["mesh"] for node in nodes if "mesh" in node]
    if (
        sum(size for mesh in meshes for p in mesh["primitives"] for size in _attributes(p, sizes))
        > LARGEST_CONTENT
    ):
        raise UnusableMesh(f"makes more than {LARGEST_CONTENT // 10**6} MB of its numbers")
    seen = [*shown, *range(len(meshes))]
    if sum(len(meshes[k]["primitives"]) for k in seen) > _MOST_PRIMITIVES:
        raise UnusableMesh(f"shows more than {_MOST_PRIMITIVES} primitives")
    _check_instances(len(shown), sum(_corners(meshes[k], accessors) for k in seen))


def _attributes(primitive: Mapping[str, Any], sizes: list[int]) -> Iterator[int]:
    """Yield the bytes of each array that a primitive uses: an array that several use is copied for each."""
    yield from (sizes[k] for k in primitive["attributes"].values())
    for target in primitive.get("targets", ()):
        yield from (sizes[k] for k in target.values())


def _corners(mesh: Mapping[str, Any], accessors: list[Any]) -> int:
    """Return how many vertices and corners of triangles a glTF mesh makes."""
    used = [p["attributes"].get("POSITION") for p in mesh["primitives"]]
    used += [p.get("indices") for p in mesh["primitives"]]
    return sum(int(accessors[k]["count"]) for k in used if k is not None)


def _require_trees(nodes: list[Any]) -> None:
    """Refuse nodes that are contained twice, or in themselves: glTF wants strict trees."""
    parent: dict[int, int] = {}
    for k, node in enumerate(nodes):
        for child in node.get("children", ()):
            if parent.setdefault(int(child), k) != k or not 0 <= child < len(nodes):
                raise UnusableMesh("has a node with several parents")
    rooted: set[int] = set()
    for start in range(len(nodes)):
        path, k = set(), start
        while k in parent and k not in rooted:
            if k in path:
                raise UnusableMesh("has a node that contains itself")
            path.add(k)
            k = parent[k]
        rooted |= path


def _check_instances(instances: int, corners: int, most: int = _MOST_CORNERS) -> None:
    if instances > _MOST_INSTANCES or corners > most:
        raise UnusableMesh(
            f"shows its parts {instances} times, {corners} vertices and corners together, which is too much"
        )


def _check_collada(data: bytes) -> None:
    """Refuse archives, entities, and nodes whose instances multiply."""
    if data.startswith(b"PK"):
        raise UnusableMesh("is an archive")
    if b"<!ENTITY" in data or b"<!DOCTYPE" in data:
        raise UnusableMesh("declares XML entities")
    _check_words("dae", data)
    if data.count(b"<") > 2 * _MOST_ELEMENTS:
        raise UnusableMesh(f"has more than {_MOST_ELEMENTS} elements")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        raise ValueError("broken XML") from None
    corners = _collada_corners(root)
    nodes = {node.get("id"): node for node in root.iter("{*}node")}
    total = _Total(nodes, corners)
    scenes = list(root.iter("{*}visual_scene"))
    counts = [total.of(scene, ()) for scene in scenes]
    # what no scene shows is parsed too
    shown = max(sum(corners.values()), sum(c[1] for c in counts))
    _check_instances(sum(c[0] for c in counts), shown, _MOST_COLLADA_CORNERS)


def _collada_corners(root: Any) -> dict[str | None, int]:
    """Return for each geometry how many numbers its primitives are written with, and copy from its sources.

    A polygon is cut into triangles, which takes twice as much; each primitive transforms all vertices.
    """
    found: dict[str | None, int] = {}
    for geometry in root.iter("{*}geometry"):
        vertices = max((_words_of(a) for a in geometry.iter("{*}float_array")), default=0) // 3
        total = 0
        for primitive in geometry.iter(*(f"{{*}}{name}" for name in _PRIMITIVES)):
            if len(primitive.findall("{*}input")) > _MOST_INPUTS:
                raise UnusableMesh(f"has a primitive of more than {_MOST_INPUTS} inputs")
            factor = 1 if etree.QName(primitive).localname == "triangles" else 2
            total += vertices + factor * sum(map(_words_of, primitive.iter("{*}p")))
        # two geometries of one name
        found[geometry.get("id")] = found.get(geometry.get("id"), 0) + total
    return found


def _words_of(element: Any) -> int:
    """Return how many words the text of an element has, whatever stands between its parts."""
    return _words("".join(element.itertext()).encode())


class _Total:
    """How many geometries, and corners of them, a node makes with all that it instantiates."""

    def __init__(self, nodes: Mapping[Any, Any], corners: Mapping[Any, int]) -> None:
        self._nodes, self._corners = nodes, corners
        self._known: dict[Any, tuple[int, int]] = {}

    def of(self, element: Any, above: tuple[Any, ...]) -> tuple[int, int]:
        if element in above:
            raise UnusableMesh("has a node that contains itself")
        if element not in self._known:
            instances = corners = 0
            for inner in element.iter("{*}instance_geometry", "{*}instance_controller", "{*}instance_node"):
                target = str(inner.get("url", "")).removeprefix("#")
                if etree.QName(inner).localname != "instance_node":
                    part = (1, self._corners.get(target, max(self._corners.values(), default=0)))
                elif target in self._nodes:
                    part = self.of(self._nodes[target], (*above, element))
                else:
                    continue
                instances, corners = instances + part[0], corners + part[1]
            self._known[element] = instances, corners
        return self._known[element]
