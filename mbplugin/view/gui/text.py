"""Words in the window: PyBullet knows text only at points of the world, so it is moved with the camera."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.phrases import cut_short
from mbplugin.report.picture import Picture
from mbplugin.report.picture.palette import PALETTE
from mbplugin.view.render.labels import LONGEST, labelled
from mbplugin.visible import visible

_INK = (0.1, 0.12, 0.15)
#: What the panels leave free: from the left, from above, from below; and the height of a line, pixels.
_LEFT, _TOP, _BOTTOM, _LINE = 262, 52, 142, 21
#: How far before the camera texts hang, beside the distance to the robot.
_BEFORE = 0.25
_SIZE, _LABEL_SIZE = 1.1, 1.0
#: Of labels over joints, beside the radius of the robot.
_ABOVE = 0.07
#: Title and status stand above, the legend below.
_ABOVE_ALL, _BELOW_ALL = ("title", "status"), "legend"


class TextOverlay:
    """Texts in a window.

    Parameters
    ----------
    bullet : module
        pybullet.
    bodies : mapping of int to int
        Ids of what is drawn, by index of the body that they move with.
    """

    def __init__(self, bullet: ModuleType, client: int, seen: Picture, bodies: Mapping[int, int]) -> None:
        self.bullet, self.client, self.seen, self.bodies = bullet, client, seen, bodies
        self._lines: dict[str, list[tuple[str, str]]] = {}
        self._ids: list[int] = []
        self._shown: list[tuple[float, str, str]] = []
        self._camera: tuple[float, ...] = ()
        self._placed: tuple[float, ...] = ()

    def label(self) -> None:
        """Write names beside joints; they move with them."""
        for joint in labelled(self.seen):
            index = self.seen.mechanism.body_index[joint.body]
            # above the glyph, which would hide it
            up_W = np.array([0.0, 0.0, _ABOVE * self.seen.radius])
            point_L = joint.X_LJ.p + self.seen.poses.of(index).R.T @ up_W
            parent = {"parentObjectUniqueId": self.bodies[index]} if index in self.bodies else {}
            self.bullet.addUserDebugText(
                _plain(cut_short(joint.name, LONGEST)),
                (point_L if parent else joint.X_WJ.p + up_W).tolist(),
                PALETTE[joint.verdict].rgba[:3],
                textSize=_LABEL_SIZE,
                physicsClientId=self.client,
                **parent,
            )

    def write(self, **blocks: Sequence[tuple[str, str]]) -> None:
        """Write title, status or legend, each line with the key of its colour (empty: ink)."""
        for block, lines in blocks.items():
            self._lines[block] = [(_plain(text), key) for text, key in lines]
        self._place(self._now())

    def follow(self) -> None:
        """Move the texts when the camera has come to rest somewhere else."""
        now = self._now()
        if now == self._camera and now != self._placed:
            self._place(now)
        self._camera = now

    def _now(self) -> tuple[float, ...]:
        state = self.bullet.getDebugVisualizerCamera(physicsClientId=self.client)
        return (state[0], state[1], *state[2], *state[3], state[10], *state[11])

    def _place(self, camera: tuple[float, ...]) -> None:
        moved = camera != self._placed
        self._placed = camera
        lines = self._rows(camera[1])
        for k, (y, text, key) in enumerate(lines):
            if not moved and self._shown[k : k + 1] == [(y, text, key)]:
                continue
            replaced = {"replaceItemUniqueId": self._ids[k]} if k < len(self._ids) else {}
            id = self.bullet.addUserDebugText(
                text,
                _at(camera, _LEFT, y).tolist(),
                PALETTE[key].rgba[:3] if key else _INK,
                textSize=_SIZE,
                physicsClientId=self.client,
                **replaced,
            )
            self._ids[k : k + 1] = [int(id)]
        for id in self._ids[len(lines) :]:
            self.bullet.removeUserDebugItem(id, physicsClientId=self.client)
        self._ids, self._shown = self._ids[: len(lines)], lines

    def _rows(self, height: float) -> list[tuple[float, str, str]]:
        """Return all lines with where they stand, pixels from above."""
        below = self._lines.get(_BELOW_ALL, [])
        above = [line for name in _ABOVE_ALL for line in (*self._lines.get(name, []), ("", ""))]
        ys = [height - _BOTTOM - k * _LINE for k in reversed(range(len(below)))]
        ys += [_TOP + k * _LINE for k in range(len(above))]
        rows = zip(ys, (*below, *above), strict=True)
        return [(y, *line) for y, line in rows if line[0]]


def _at(camera: tuple[float, ...], x: float, y: float) -> Array:
    """Return the point (3,) of the world that is seen at a pixel, before everything else."""
    width, height = camera[:2]
    view = np.array(camera[2:18]).reshape(4, 4).T
    projection = np.array(camera[18:34]).reshape(4, 4).T
    depth = _BEFORE * camera[34]
    p_K = np.array(
        [
            (2 * x / width - 1) * depth / projection[0, 0],
            (1 - 2 * y / height) * depth / projection[1, 1],
            -depth,
        ]
    )
    return np.asarray(view[:3, :3].T @ (p_K - view[:3, 3]))


def _plain(text: str) -> str:
    """Return a text in the letters that PyBullet's font has."""
    known = visible(text).replace("×", "x").replace("·", ".").replace("–", "-").replace("…", "...")
    return known.encode("ascii", errors="replace").decode()
