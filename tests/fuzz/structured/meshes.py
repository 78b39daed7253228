"""Mesh files: a good one, and files that are none, announce too much, or refer to other files."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable

from .dice import Dice

_POINTS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
_LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1234\n"
_COUNTS = (0, 1, 3, 4, 5, -1, 10**6, 2**31, 2**32 - 1, 10**18)


def meshes(dice: Dice) -> dict[str, bytes]:
    """Return some mesh files by name."""
    found = {}
    for i in range(dice.any((0, 1, 1, 2))):
        ending = dice.any(tuple(WRITERS))
        data = WRITERS[ending](dice)
        if dice.odd(2):
            data = dice.any(
                (b"", _LFS, data[: dice.randrange(len(data) + 1)], data * 2, b"\0" * 84, b"solid")
            )
        found[f"mesh{i}.{dice.any((ending, ending, ending, ending.upper()))}"] = data
    return found


def _points(dice: Dice) -> list[list[float]]:
    values = [[dice.scale * value for value in point] for point in _POINTS]
    for point in values:
        if dice.odd():
            point[dice.randrange(3)] = dice.any((float("nan"), float("inf"), 1e30, -1e38, 1e-40, 0.0))
    return values


def _faces(dice: Dice) -> list[tuple[int, ...]]:
    faces: list[tuple[int, ...]] = [face for face in _FACES if not dice.odd()]
    return [(face[0], face[1], dice.any((9, -1, 10**9, face[0]))) if dice.odd() else face for face in faces]


def _count(usual: int, dice: Dice) -> int:
    return dice.any(_COUNTS) if dice.odd(2) else usual


def stl(dice: Dice) -> bytes:
    """Return a binary or ASCII STL."""
    points = _points(dice)
    triangles = [[points[i % 4] for i in face] for face in _faces(dice)]
    if dice.chance(0.5):
        count = _count(len(triangles), dice) % 2**32
        parts = [
            struct.pack("<12fH", 0, 0, 0, *(min(max(x, -3e38), 3e38) for p in one for x in p), 0)
            for one in triangles
        ]
        return b"\0" * 80 + struct.pack("<I", count) + b"".join(parts)
    lines = ["solid s"]
    for one in triangles:
        lines += [
            "facet normal 0 0 0",
            "outer loop",
            *(f"vertex {x} {y} {z}" for x, y, z in one),
            "endloop",
            "endfacet",
        ]
    return "\n".join([*lines, "endsolid s", ""]).encode()


def obj(dice: Dice) -> bytes:
    """Return an OBJ, perhaps with a library of materials somewhere."""
    lines = [f"mtllib {dice.any(('m.mtl', '/etc/passwd', '../../x.mtl'))}"] if dice.chance(0.2) else []
    lines += [f"v {x} {y} {z}" for x, y, z in _points(dice)]
    lines += ["f " + " ".join(str(i + 1) for i in face) for face in _faces(dice)]
    return "\n".join(lines).encode()


def ply(dice: Dice) -> bytes:
    """Return an ASCII PLY."""
    points, faces = _points(dice), _faces(dice)
    lines = [
        *("ply", f"format {dice.any(('ascii', 'ascii', 'binary_little_endian'))} 1.0"),
        *(f"element vertex {_count(len(points), dice)}", *(f"property float {k}" for k in "xyz")),
        *(f"element face {_count(len(faces), dice)}", "property list uchar int vertex_indices", "end_header"),
        *(f"{x} {y} {z}" for x, y, z in points),
        *(f"3 {a} {b} {c}" for a, b, c in faces),
    ]
    return ("\n".join(lines) + "\n").encode()


def off(dice: Dice) -> bytes:
    """Return an OFF."""
    points, faces = _points(dice), _faces(dice)
    lines = ["OFF", f"{_count(len(points), dice)} {_count(len(faces), dice)} 0"]
    lines += [f"{x} {y} {z}" for x, y, z in points] + [f"3 {a} {b} {c}" for a, b, c in faces]
    return ("\n".join(lines) + "\n").encode()


def gltf(dice: Dice) -> bytes:
    """Return a glTF whose buffer is in it, beside it, or where it should not be."""
    document, data = _gltf(dice)
    inside = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    away = (
        "buffer.bin",
        "/dev/zero",
        "../../../etc/passwd",
        "http://localhost/x",
        "data:,",
        "data:;base64,!!",
        "",
    )
    document["buffers"][0]["uri"] = dice.any(away) if dice.odd(3) else inside
    return json.dumps(document).encode()


def glb(dice: Dice) -> bytes:
    """Return a binary glTF."""
    document, data = _gltf(dice)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    length = _count(28 + len(text) + len(data), dice) % 2**32
    head = struct.pack("<4sII", b"glTF", 2, length) + struct.pack(
        "<I4s", _count(len(text), dice) % 2**32, b"JSON"
    )
    return head + text + struct.pack("<I4s", _count(len(data), dice) % 2**32, b"BIN\0") + data


def _gltf(dice: Dice) -> tuple[dict, bytes]:
    points = b"".join(
        struct.pack("<3f", *(min(max(x, -3e38), 3e38) for x in point)) for point in _points(dice)
    )
    faces = b"".join(struct.pack("<3H", *(i % 65536 for i in face)) for face in _FACES)
    child = dice.any((0, 1, 5, -1)) if dice.odd() else None
    node = {"mesh": 0, **({"children": [child]} if child is not None else {})}
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [node],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": _count(4, dice), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": _count(12, dice), "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": _count(len(points), dice)},
            {"buffer": 0, "byteOffset": _count(len(points), dice), "byteLength": _count(len(faces), dice)},
        ],
        "buffers": [{"byteLength": _count(len(points + faces), dice)}],
    }, points + faces


def dae(dice: Dice) -> bytes:
    """Return a COLLADA file."""
    numbers = " ".join(str(x) for point in _points(dice) for x in point)
    indices = " ".join(str(i) for face in _faces(dice) for i in face)
    return f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="{dice.number(1)}"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="a" count="{_count(12, dice)}">{numbers}</float_array><technique_common>
<accessor source="#a" count="{_count(4, dice)}" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="{_count(4, dice)}"><input semantic="VERTEX" source="#v" offset="0"/>
<p>{indices}</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n">
<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>""".encode()


def archive(dice: Dice) -> bytes:
    """Return the beginning of an archive."""
    return b"PK\x03\x04" + bytes(30)


WRITERS: dict[str, Callable[[Dice], bytes]] = {
    "stl": stl,
    "obj": obj,
    "ply": ply,
    "off": off,
    "gltf": gltf,
    "glb": glb,
    "dae": dae,
    "3mf": archive,
}
