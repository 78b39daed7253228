"""Undetermined directions in space as text: along a line, across one, or all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_Directions = Sequence[Sequence[float]] | None


def open_words(force: _Directions, moment: _Directions) -> str:
    """Return "force open along (0, 0, 1), moment unique" and the like; empty without a result.

    Parameters
    ----------
    force, moment : sequence of (x, y, z) or None
        Orthonormal, world axes.
    """
    if force is None or moment is None:
        return ""
    if not force and not moment:
        return "unique"
    return f"force {_span(force)}, moment {_span(moment)}"


def _span(directions: Sequence[Sequence[float]]) -> str:
    match len(directions):
        case 0:
            return "unique"
        case 1:
            return f"open along {vector_words(directions[0])}"
        case 2:
            normal = np.cross(np.array(directions[0]), np.array(directions[1]))
            largest = int(np.argmax(np.round(np.abs(normal), 6)))
            return f"open across {vector_words((normal * np.sign(normal[largest])).tolist())}"
        case _:
            return "open in all directions"


def vector_words(vector: Sequence[float]) -> str:
    """Return the coordinates of a vector."""
    return f"({', '.join(f'{value + 0.0:.4g}' if abs(value) > 1e-12 else '0' for value in vector)})"
