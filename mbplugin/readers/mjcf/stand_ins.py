"""Textures and meshes that are not on this machine: MuJoCo gets small ones in their place.

A stand-in is allowed where no mechanics depend on it: the model is compiled with two sizes of each mesh, and must
have the same masses, inertias and places with both.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.model.scene import Defect
from mbplugin.readers.common.xml import Element, local_name, origin
from mbplugin.readers.mjcf.files import Missing

#: Edges of the two stand-ins of a mesh, in its own units.
SIZES = (1.0, 2.0)
#: Side of each square of the picture that stands for a texture, pixels; and the most squares.
_PIXELS = 12
_MECHANICAL = ("body_mass", "body_inertia", "body_ipos", "body_iquat", "body_pos", "body_quat")


def stand_ins(missing: Sequence[Missing], size: float) -> dict[str, bytes] | None:
    """Return the content of a file for each missing one; None where a format has no stand-in.

    Parameters
    ----------
    missing : sequence of Missing
    size : float
        Edge of the meshes.
    """
    contents: dict[str, bytes] = {}
    for lost in missing:
        content = _content(lost.element, Path(lost.name).suffix.lower(), size)
        if content is None:
            return None
        contents[lost.key] = content
    return contents


def same_mechanics(model: Any, other: Any) -> bool:
    """Return whether two compiled models have the same masses, inertias and places of bodies."""
    return all(np.array_equal(getattr(model, name), getattr(other, name)) for name in _MECHANICAL)


def missing_defects(missing: Sequence[Missing]) -> Iterator[Defect]:
    """Yield a warning per file that a model was compiled without."""
    for element, name in ((lost.element, lost.name) for lost in missing):
        message = f"{name!r} cannot be opened; no mechanics depend on it, the model is analyzed without it"
        owner = str(element.get("name", "")) or name
        yield Defect("MB906", owner, message, origin(element), severity="warning")


def _content(element: Element, kind: str, size: float) -> bytes | None:
    if local_name(element) not in ("mesh", "texture"):
        return None
    if kind == ".stl":
        return _stl(size)
    if kind == ".obj":
        s = f"{size:g}"
        return f"v 0 0 0\nv {s} 0 0\nv 0 {s} 0\nv 0 0 {s}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n".encode()
    return _png(*_grid(element)) if kind == ".png" else None


def _grid(element: Element) -> tuple[int, int]:
    """Return the rows and columns of squares that a picture has; one where they are none that MuJoCo takes."""
    words = str(element.get("gridsize", "1 1")).split()
    rows, columns = (int(word) if word.isdigit() else 1 for word in (*words, "1", "1")[:2])
    # MuJoCo takes grids of at most 12 squares
    return (rows, columns) if 1 <= rows * columns <= _PIXELS else (1, 1)


def _stl(size: float) -> bytes:
    points = ((0.0, 0.0, 0.0), (size, 0.0, 0.0), (0.0, size, 0.0), (0.0, 0.0, size))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    rows = (struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in points[k]), 0) for face in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + b"".join(rows)


def _png(rows: int, columns: int) -> bytes:
    height, width = rows * _PIXELS, columns * _PIXELS
    lines = b"".join(b"\0" + bytes(3 * width) for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    written = (struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d)) for t, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(written)
