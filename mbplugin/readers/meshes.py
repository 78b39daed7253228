"""Vertices and triangles of mesh files: binary STL and OBJ with numpy alone, other formats with trimesh."""

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
from typing import TYPE_CHECKING, Any

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from mbplugin.errors import command_for
from mbplugin.files import LFS_POINTER, note_dependency, note_read, version_of
from mbplugin.model import LARGEST, Array, Request, Scene, Shape
from mbplugin.readers.paths import find, is_file, looked_up

if TYPE_CHECKING:
    from mbplugin.model.solids import Triangles

#: Largest mesh whose size is computed for a hint, bytes.
_LARGEST_FOR_HINT = 8_000_000
#: Largest mesh file that is read, bytes: larger ones would cost more time than they are worth.
LARGEST_FILE = 60_000_000
#: Supported formats. Archives (zip, 3mf, 3dxml) are not: robot meshes do not come in them.
FORMATS = ("stl", "obj", "ply", "off", "dae", "glb", "gltf")
#: Packages that trimesh needs for some formats: module, and description.
_MODULES = {"dae": "collada"}
_READERS = {"dae": f"a reader of COLLADA files: {command_for(('pycollada',))}"}
#: Sizes in a binary STL, bytes: the header with the count, and a triangle.
_STL_HEADER, _STL_TRIANGLE = 84, 50
_STL = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("attribute", "<u2")])
_OBJ_CORNER = re.compile(rb"/\S*")
#: Maximum size of the arrays that a mesh file may produce, bytes.
LARGEST_CONTENT = 200_000_000
#: Maximum number of vertices or corners of all instances together.
_MOST_CORNERS = 6_000_000
#: Maximum number of words and lines of a text file, words being separated by any whitespace.
_MOST_WORDS = {"obj": 10_000_000, "stl": 10_000_000, "ply": 6_000_000, "off": 6_000_000, "dae": 6_000_000}
#: Maximum count of numbers in the triangles and polygons of a COLLADA file, of all instances together.
_MOST_COLLADA_CORNERS = 4_000_000
#: Maximum number of inputs of a COLLADA primitive, each of which becomes an array of its corners.
_MOST_INPUTS = 32
#: Maximum number of parts of an OBJ or STL file, whose reading time is quadratic in it.
_MOST_PARTS = 500
_PART = {
    "obj": re.compile(rb"^(?:o|g|usemtl)\s", re.MULTILINE),
    "stl": re.compile(rb"^\s*solid\b", re.MULTILINE),
}
#: Maximum number of markup elements: tags in COLLADA, objects in glTF.
_MOST_ELEMENTS = 300_000
#: Maximum number of values in the JSON of glTF.
_MOST_VALUES = 2_000_000
#: Maximum number of instances of meshes in a scene.
_MOST_INSTANCES = 20_000
#: Maximum number of glTF primitives including instances, in which the reading time is quadratic.
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


# The size of a mesh from its vertices alone, for the formats without a unit: STL and OBJ.


def mesh_extent(path: str) -> Array | None:
    """Return the edges of the bounding box of a mesh, (3,), in the file's unit.

    None for other formats, large files, and files without readable vertices.

    Parameters
    ----------
    path : str
    """
    kind = Path(path).suffix.lower()
    try:
        if kind not in (".stl", ".obj"):
            return None
        data = mesh_bytes(path, _LARGEST_FOR_HINT)
        points = _stl_points(data) if kind == ".stl" else _extent_words(data, b"v ")
    except (UnusableMesh, ValueError):
        return None
    if not len(points) or not np.isfinite(points).all():
        return None
    return np.asarray(np.ptp(points, axis=0), dtype=float)


def mesh_problem(path: str) -> str:
    """Return the reason why no program can read a mesh file, judged by its size and first bytes.

    Empty if no problem is detected; the text completes "the file …".
    """
    try:
        note_dependency(path)
        if not stat.S_ISREG(Path(path).stat().st_mode):
            return "is not a file"
        with Path(path).open("rb") as stream:
            head = stream.read(_STL_HEADER)
            size = stream.seek(0, 2)
    except OSError as error:
        return f"cannot be read ({(error.strerror or 'no reason given').lower()})"
    if not head.strip():
        return "is empty"
    if head.startswith(LFS_POINTER):
        return "is a Git LFS pointer"
    if Path(path).suffix.lower() == ".stl" and not head.lstrip().startswith(b"solid"):
        if size < _STL_HEADER:
            return "is cut short"
        count = int.from_bytes(head[80:84], "little")
        if size < _STL_HEADER + _STL_TRIANGLE * count:
            return "is cut short"
    return ""


def _stl_points(data: bytes) -> Array:
    """Return the corners of the triangles of an STL file, (n, 3)."""
    count = int.from_bytes(data[80:84], "little") if len(data) >= _STL_HEADER else -1
    if len(data) != _STL_HEADER + _STL_TRIANGLE * count:
        return _extent_words(data, b"vertex ")
    corners = np.frombuffer(data, _STL, offset=_STL_HEADER)["vertices"]
    return np.asarray(corners.reshape(-1, 3), dtype=float)


def _extent_words(data: bytes, keyword: bytes) -> Array:
    """Return the first three numbers of the lines that begin with a keyword, (n, 3).

    Raises
    ------
    ValueError
        Lines with other content, or of different lengths.
    """
    # one parser call for all lines: a large mesh has some hundred thousand
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
# Meshes are untrusted, as their models are. Their bytes are read here, up to a limit; the readers
# of the formats get these bytes and cannot open other files.


def load_mesh(path: str, largest: int = LARGEST_FILE) -> Any:
    """Return the ``trimesh.Trimesh`` of a file in the file's units; for COLLADA, which states its unit, in metres.

    Parameters
    ----------
    path : str
    largest : int
        Size of the largest permitted file, bytes.

    Raises
    ------
    UnusableMesh
        The file cannot be used; the text completes "mesh NAME …".
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
    """Return the unit of a COLLADA file in metres, 1 if it states no usable one."""
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
        The file is not regular, larger than ``largest`` bytes, empty, or unreadable.
    """
    try:
        # non-blocking: opening a pipe would wait for its writer
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
    """Resolver of glTF references: regular files in the folder of the glTF file, up to a total size."""

    def __init__(self, path: str, largest: int) -> None:
        self._folder, self._left = Path(path).resolve().parent, largest

    def get(self, name: str) -> bytes:
        # symbolic links are judged by their targets
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
        # invalid numbers are reported after reading; colours and textures would take most of the time
        with np.errstate(all="ignore"), _silent("trimesh"):
            return trimesh.load(
                io.BytesIO(data), file_type=kind, resolver=resolver, force="mesh", skip_materials=True
            )
    except UnusableMesh:
        raise
    except ImportError:
        if kind not in _READERS:  # a package for guessing the encoding of text, needed only for broken files
            raise UnusableMesh("cannot be read, and may be cut short") from None
        raise UnusableMesh(f"needs {_READERS[kind]}") from None
    # mesh readers fail in as many ways as there are formats
    except Exception as error:
        raise UnusableMesh(f"cannot be read ({type(error).__name__})") from None


@contextlib.contextmanager
def _silent(name: str) -> Iterator[None]:
    """Disable the log of a package and of its modules: it prints tracebacks about textures, which are not used here."""
    logger = logging.getLogger(name)
    before = logger.level
    # the loggers of its modules inherit this level; each has a switch of its own
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _files_checked(mesh: Any) -> Any:
    """Return the mesh after checking that it has triangles, and finite vertices to which they refer."""
    vertices = np.asarray(getattr(mesh, "vertices", ()), dtype=float)
    faces = np.asarray(getattr(mesh, "faces", ()))
    if not len(vertices) or not len(faces):
        raise UnusableMesh("holds no triangle")
    if vertices.shape[1:] != (3,) or faces.shape[1:] != (3,):
        raise UnusableMesh("has vertices or triangles that do not have three numbers")
    _checked(vertices, faces)
    return mesh


def read_triangles(path: str, largest: int = LARGEST_FILE) -> Triangles:
    """Return the vertices (n, 3), in the file's units, and the triangles (m, 3) of a mesh file.

    Raises
    ------
    UnusableMesh
        The file contains no readable mesh, or is larger than ``largest`` bytes.
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
    """Return the triangles of a binary STL; None if the length does not match the stated number of triangles."""
    if len(data) < _STL_HEADER + _STL_TRIANGLE:
        return None
    count = int.from_bytes(data[_STL_HEADER - 4 : _STL_HEADER], "little")
    if len(data) != _STL_HEADER + count * _STL_TRIANGLE:
        return None
    corners = np.frombuffer(data, _STL, count, _STL_HEADER)["vertices"].reshape(-1, 3)
    return corners.astype(float), np.arange(len(corners), dtype=np.int64).reshape(-1, 3)


def _plain_obj(data: bytes) -> Triangles | None:
    """Return the triangles of an OBJ; None unless it is plain: vertices, and faces with positive indices."""
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
    # invalid numbers, and lines of different lengths: trimesh is more tolerant
    except ValueError:
        return None
    if points.shape[1] < 3 or triangles.min() < 1:
        return None
    return points[:, :3], triangles - 1


def _numbers(lines: list[bytes]) -> Array:
    """Return the numbers in the lines, (n,).

    Raises
    ------
    ValueError
        A word is not a number.
    """
    with warnings.catch_warnings():
        # numpy only warns about a word that is not a number, and stops there
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
    """Return the triangles ``faces`` (t, 3) and ``vertices`` (n, 3), after checking that all are finite and exist.

    Raises
    ------
    UnusableMesh
    """
    if not (np.abs(vertices) <= LARGEST).all():
        raise UnusableMesh(f"has coordinates that are no numbers up to {LARGEST:g}")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise UnusableMesh("has triangles that name missing vertices")
    return vertices, faces


def hull_triangles(points: Array) -> Array | None:
    """Return the outward triangles (m, 3, 3) of the convex hull of ``points`` (n, 3); None if they are coplanar."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        return None
    corners = points[hull.simplices]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normal, hull.equations[:, :3]) < 0
    corners[inward] = corners[inward][:, ::-1]
    return np.asarray(corners)


# Mesh files that models name: their location, and their content.


def mesh_path(shape: Shape, request: Request | None) -> str | None:
    """Return the file of a mesh, or None if it cannot be located."""
    if not shape.mesh:
        return None
    if request is None:
        # no model file: an engine has already located the mesh
        return shape.mesh if Path(shape.mesh).is_absolute() and is_file(Path(shape.mesh)) else None
    return find(shape.mesh, replace(request, path=shape.beside, text=None) if shape.beside else request)


def mesh_paths(scene: Scene) -> Iterator[str]:
    """Yield the mesh files of a scene that exist."""
    for shapes in scene.shapes.values():
        for shape in shapes:
            path = mesh_path(shape, scene.request) if shape.kind == "mesh" else None
            if path is not None:
                yield path


def mesh_file(shape: Shape, request: Request | None) -> str | None:
    """Return the file of a mesh, or None if there is none that can be read in reasonable time."""
    path = mesh_path(shape, request)
    return path if path is not None and looked_up(("small", path), lambda: _is_small(path)) else None


def _is_small(path: str) -> bool:
    try:
        return Path(path).stat().st_size <= _LARGEST_FOR_HINT
    except OSError:
        return False


def read_mesh(path: str, scale: tuple[float, ...], largest: int = LARGEST_FILE) -> Triangles:
    """Return the vertices (n, 3) of the triangles (m, 3) of a file, scaled by three factors, and these triangles.

    A mirrored mesh has its triangles turned over, so that they remain counter-clockwise as seen from outside.

    Raises
    ------
    UnusableMesh
        The file contains no readable mesh, is larger than ``largest`` bytes, or the scale is zero or not finite.
    """
    if not all(0 < abs(s) <= LARGEST for s in scale):
        raise UnusableMesh(f"is scaled by {' '.join(f'{s:g}' for s in scale)}, which leaves no shape")
    vertices, faces = read_triangles(path, largest)
    used = np.zeros(len(vertices), dtype=bool)
    used[faces] = True
    if not used.all():
        vertices, faces = vertices[used], (np.cumsum(used) - 1)[faces]
    return vertices * scale, faces[:, ::-1].copy() if np.prod(np.sign(scale)) < 0 else faces


def mesh_bounds(shape: Shape, request: Request | None) -> Array | None:
    """Return the lowest and highest corner of a mesh (2, 3) in its local axes, m; None if it is unreadable."""
    if shape.triangles is not None and len(shape.triangles[0]):
        corners = shape.triangles[0] * shape.size
        return np.array([corners.min(axis=0), corners.max(axis=0)])
    path = mesh_file(shape, request)
    if path is None:
        return None
    note_dependency(path)
    return _bounds(path, version_of(path), tuple(shape.size))


@lru_cache(maxsize=256)
def _bounds(path: str, version: tuple[int, ...], scale: tuple[float, ...]) -> Array | None:
    """Return the lowest and highest corner of a mesh (2, 3), m, in a version of its file; None if it is unreadable."""
    try:
        vertices, _ = read_mesh(path, scale)
    except UnusableMesh:
        return None
    bounds = np.array([vertices.min(axis=0), vertices.max(axis=0)])
    bounds.setflags(write=False)
    return bounds if np.isfinite(bounds).all() else None


# The size that a mesh file declares, checked before the file is parsed.
#
# A few bytes may announce billions of vertices, one mesh may be instantiated a million times, and a node that
# contains another one twice doubles the total at every level. The parsers need up to 500 bytes per word of
# text, however short it is. Files that pass these checks produce at most ``LARGEST_CONTENT`` bytes of arrays,
# and need at most 1.5 GB while they are read.


class UnusableMesh(Exception):
    """A mesh file that cannot be used; the text completes "mesh NAME …"."""


def check_content(kind: str, data: bytes) -> None:
    """Refuse file content that would produce too much data.

    Parameters
    ----------
    kind : str
        Suffix of the file: ``ply``, ``obj``, ``stl``, ``off``, ``gltf``, ``glb`` or ``dae``; others are not checked.
    data : bytes

    Raises
    ------
    UnusableMesh
        It announces more than the file can hold or ``LARGEST_CONTENT``, or does not follow its format.
    """
    try:
        if kind == "ply":
            _check_ply(data)
        elif kind in ("obj", "stl"):
            _check_words(kind, data)
        elif kind == "off":
            lines = (line.partition(b"#")[0].strip() for line in data[:_HEADER].splitlines())
            words = b" ".join(filter(None, lines)).split()
            _check_counts(words[1:3], data)
            _check_words(kind, data)
        elif kind in ("gltf", "glb"):
            _check_gltf(_gltf_json(data) if kind == "glb" else data)
        elif kind == "dae":
            _check_collada(data)
    # raised if a file does not follow its format at all
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, struct.error):
        raise UnusableMesh(f"is not a valid {kind} file") from None


def _check_words(kind: str, data: bytes) -> None:
    """Refuse a text with too many words, lines or parts; a binary STL has none."""
    if kind == "stl" and len(data) == 84 + 50 * int.from_bytes(data[80:84], "little"):
        return
    if _words(data) > _MOST_WORDS[kind]:
        raise UnusableMesh(f"has more than {_MOST_WORDS[kind]} words and lines")
    parts = _PART[kind].finditer(data) if kind in _PART else iter(())
    if sum(1 for _ in islice(parts, _MOST_PARTS + 1)) > _MOST_PARTS:
        raise UnusableMesh(f"has more than {_MOST_PARTS} parts")


def _gltf_json(data: bytes) -> bytes:
    magic, _, _, length, kind = struct.unpack_from("<4sIII4s", data)
    if magic != b"glTF" or kind != b"JSON":
        raise ValueError("no glTF header")
    return data[20 : 20 + int(length)]


def _words(data: bytes) -> int:
    """Count the words and lines of a text; any whitespace separates words."""
    # split() would need fifty bytes per word
    blank = np.frombuffer(data, np.uint8) <= ord(" ")
    begins = int(np.count_nonzero(blank[:-1] & ~blank[1:])) + (0 if blank[:1].all() else 1)
    return begins + data.count(b"\n")


def _check_ply(data: bytes) -> None:
    """Refuse more elements than bytes, and too many words or corners."""
    head, found, _ = data[:_HEADER].partition(b"end_header")
    if not found:
        raise UnusableMesh(f"has no header that ends within {_HEADER} bytes")
    _check_counts(re.findall(rb"^\s*element\s+\S+\s+(\S+)", head, re.MULTILINE), data)
    if re.search(rb"^\s*format\s+ascii", head, re.MULTILINE):
        _check_words("ply", data)
        return
    # subtract the fixed-size properties and list sizes of all elements; the rest are the corners of the lists
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
    """Yield the bytes of each array that a primitive uses; a shared array is copied for each use."""
    yield from (sizes[k] for k in primitive["attributes"].values())
    for target in primitive.get("targets", ()):
        yield from (sizes[k] for k in target.values())


def _corners(mesh: Mapping[str, Any], accessors: list[Any]) -> int:
    """Count the vertices and triangle corners that a glTF mesh produces."""
    used = [p["attributes"].get("POSITION") for p in mesh["primitives"]]
    used += [p.get("indices") for p in mesh["primitives"]]
    return sum(int(accessors[k]["count"]) for k in used if k is not None)


def _require_trees(nodes: list[Any]) -> None:
    """Refuse nodes with several parents, or contained in themselves: glTF requires strict trees."""
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
    # geometries outside every scene are parsed too
    shown = max(sum(corners.values()), sum(c[1] for c in counts))
    _check_instances(sum(c[0] for c in counts), shown, _MOST_COLLADA_CORNERS)


def _collada_corners(root: Any) -> dict[str | None, int]:
    """Return for each geometry a count of the numbers in its primitives and of the vertices that they copy.

    Polygons count twice, since they are split into triangles; each primitive transforms all vertices.
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
        # two geometries may share a name
        found[geometry.get("id")] = found.get(geometry.get("id"), 0) + total
    return found


def _words_of(element: Any) -> int:
    """Count the words in the text of an element, including its descendants."""
    return _words("".join(element.itertext()).encode())


class _Total:
    """Count the geometries, and their corners, that a node instantiates in total."""

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
