"""The size that a mesh file declares, checked before it is read.

A few bytes may announce thousands of millions of vertices, one mesh may be shown a million times, and
a node that contains another one twice doubles at every level. What passes here makes at most
``LARGEST_CONTENT`` bytes of arrays.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from typing import Any

from lxml import etree

#: Arrays that a mesh file may make, bytes.
LARGEST_CONTENT = 200_000_000
#: Vertices or corners of all instances together.
_MOST_CORNERS = 6_000_000
#: Elements of markup: tags in COLLADA, objects in glTF.
_MOST_ELEMENTS = 300_000
#: Values in the JSON of glTF.
_MOST_VALUES = 2_000_000
#: Meshes shown, instances included.
_MOST_INSTANCES = 20_000
_HEADER = 10_000
_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
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
            head = data[:_HEADER].partition(b"end_header")[0]
            _check_counts(re.findall(rb"^\s*element\s+\S+\s+(\S+)", head, re.MULTILINE), data)
        elif kind == "off":
            _check_counts(_off_counts(data), data)
        elif kind in ("gltf", "glb"):
            _check_gltf(_gltf_json(data) if kind == "glb" else data)
        elif kind == "dae":
            _check_collada(data)
    # a file that does not follow its format at all
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, struct.error):
        raise UnusableMesh(f"is no valid {kind} file") from None


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
    _check_instances(len(shown), sum(_corners(meshes[k], accessors) for k in [*shown, *range(len(meshes))]))


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


def _check_instances(instances: int, corners: int) -> None:
    if instances > _MOST_INSTANCES or corners > _MOST_CORNERS:
        raise UnusableMesh(
            f"shows its parts {instances} times, {corners} vertices and corners together, which is too much"
        )


def _check_collada(data: bytes) -> None:
    """Refuse archives, entities, and nodes whose instances multiply."""
    if data.startswith(b"PK"):
        raise UnusableMesh("is an archive")
    if b"<!ENTITY" in data or b"<!DOCTYPE" in data:
        raise UnusableMesh("declares XML entities")
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
    _check_instances(sum(c[0] for c in counts), sum(c[1] for c in counts))


def _collada_corners(root: Any) -> dict[str | None, int]:
    """Return for each geometry how many numbers its triangles and polygons are written with."""
    return {
        geometry.get("id"): sum((p.text or "").count(" ") + 1 for p in geometry.iter("{*}p"))
        for geometry in root.iter("{*}geometry")
    }


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
