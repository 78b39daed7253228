"""Where pixels of the window are in the world, where points of the world are seen, and where labels have room."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.visible import visible

#: How far before the camera texts hang, beside the distance to the robot.
_BEFORE = 0.25
#: Width of a letter and height of a line at text size 1.1, pixels.
LETTER, LINE = 7.6, 21
#: Of a label from its point, pixels: beside it, then above or below it, clear of its glyph and its arrows.
_NEAR, _FAR = 26, 44


@dataclass(frozen=True)
class Screen:
    """The camera of a window: size in pixels, view and projection matrix (column by column), distance, m."""

    width: float
    height: float
    view: tuple[float, ...]
    projection: tuple[float, ...]
    distance: float

    @classmethod
    def of(cls, bullet: ModuleType, client: int) -> Screen:
        """Return what the camera of a window sees now."""
        state = bullet.getDebugVisualizerCamera(physicsClientId=client)
        return cls(state[0], state[1], tuple(state[2]), tuple(state[3]), state[10])

    def point(self, x: float, y: float) -> Array:
        """Return the point (3,) of the world that is seen at a pixel, before everything else."""
        V, P = self._matrices()
        depth = _BEFORE * self.distance
        p_K = np.array(
            [
                (2 * x / self.width - 1) * depth / P[0, 0],
                (1 - 2 * y / self.height) * depth / P[1, 1],
                -depth,
            ]
        )
        return np.asarray(V[:3, :3].T @ (p_K - V[:3, 3]))

    def pixel(self, p_W: Array) -> tuple[float, float] | None:
        """Return where the point ``p_W`` (3,) of the world is seen, pixels; None behind the camera."""
        V, P = self._matrices()
        p_K = V[:3, :3] @ p_W + V[:3, 3]
        if p_K[2] > -1e-9:
            return None
        x, y = P[0, 0] * p_K[0] / -p_K[2], P[1, 1] * p_K[1] / -p_K[2]
        return float(0.5 * (1 + x) * self.width), float(0.5 * (1 - y) * self.height)

    def _matrices(self) -> tuple[Array, Array]:
        """Return view and projection, (4, 4) each."""
        return np.array(self.view).reshape(4, 4).T, np.array(self.projection).reshape(4, 4).T


class Box(NamedTuple):
    """A rectangle of the window, pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether two rectangles have a pixel in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def box_of(text: str, x: float, y: float) -> Box:
    """Return the rectangle of a line of text whose baseline begins at a pixel."""
    return Box(x, y - 0.8 * LINE, x + LETTER * len(text), y + 0.2 * LINE)


def room_for(
    text: str, at: tuple[float, float], taken: Iterable[Box], within: Box, middle: tuple[float, float]
) -> Box | None:
    """Return a rectangle for a label near a pixel that meets none that is taken; None where there is none.

    Places away from the ``middle`` of the robot, a pixel, come first: they are the emptier ones.
    """
    x, y = at
    wide = LETTER * len(text)
    right, left = x + _NEAR, x - _NEAR - wide
    above, below = y - 0.5 * _NEAR, y + 0.5 * _NEAR + LINE / 2
    across = (right, left) if x >= middle[0] else (left, right)
    upright = (above, below) if y <= middle[1] else (below, above)
    places = [(a, u) for a in across for u in upright]
    centred = (y - _FAR, y + _FAR + LINE / 2) if y <= middle[1] else (y + _FAR + LINE / 2, y - _FAR)
    others = list(taken)
    for place in (*places, *((x - wide / 2, u) for u in centred)):
        box = box_of(text, *place)
        inside = (
            within.left <= box.left
            and within.top <= box.top
            and box.right <= within.right
            and box.bottom <= within.bottom
        )
        if inside and not any(box.meets(other) for other in others):
            return box
    return None


def plain(text: str) -> str:
    """Return a text in the letters that PyBullet's font has."""
    known = visible(text).replace("×", "x").replace("·", ".").replace("–", "-").replace("…", "...")
    return known.encode("ascii", errors="replace").decode()
