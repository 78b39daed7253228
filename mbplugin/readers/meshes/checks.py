"""The size that a mesh file declares, checked before it is read.

A few bytes may announce thousands of millions of vertices, one mesh may be shown a million times, and
a node that contains another one twice doubles at every level. The parsers need up to 500 bytes for a word of
text, however short it is. What passes here makes at most ``LARGEST_CONTENT`` bytes of arrays, and needs at most
1.5 GB while it is read.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from lxml import etree

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
