"""Words in the window: PyBullet knows text only at points of the world, so it is moved with the camera."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from types import ModuleType

from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.phrases import shortened
from mbplugin.report.picture import Picture
from mbplugin.report.picture.palette import PALETTE
from mbplugin.visualization.gui.controls import WIDTH
from mbplugin.visualization.gui.place import LINE, Box, Screen, box_of, plain, room_for
from mbplugin.visualization.render.labels import LONGEST, labelled

_INK = (0.1, 0.12, 0.15)
#: From the left, from above, from below, pixels.
_LEFT, _TOP, _BOTTOM = 24, 36, 24
_SIZE = 1.1
#: Length of the stroke of colour before a line of the legend and its room, and its width, pixels.
_STROKE, _ROOM, _THICK = 16, 24, 8
#: Title and status stand above, the legend below.
_ABOVE_ALL, _BELOW_ALL = ("title", "status"), "legend"
#: How long names wait while the robot moves, s: many texts take PyBullet long.
_WAIT = 0.4
#: A line: where it begins, pixels, its text and the key of its colour.
_Row = tuple[float, float, str, str]


class TextOverlay:
    """Texts in a window: lines at its edges, and names beside joints that overlap nothing.

    Parameters
    ----------
    bullet : module
        pybullet.
    """

    def __init__(self, bullet: ModuleType, client: int, seen: Picture) -> None:
        self.bullet, self.client, self.seen, self.poses = bullet, client, seen, seen.poses
        self._lines: dict[str, list[tuple[str, str]]] = {}
        self._ids: list[int] = []
        self._strokes: list[int] = []
        self._shown: list[_Row] = []
        self._screen: Screen | None = None
        self._placed: Screen | None = None
        self._moved = False
        self._written = 0.0

    def write(self, **blocks: Sequence[tuple[str, str]]) -> None:
        """Write title, status or legend, each line with the key of its colour (empty: ink)."""
        for block, lines in blocks.items():
            self._lines[block] = [(plain(text), key) for text, key in lines]
        self._place(Screen.of(self.bullet, self.client))

    def pose(self, poses: BodyPoses) -> None:
        """Let names go with the bodies."""
        self.poses, self._moved = poses, True

    def follow(self, screen: Screen) -> None:
        """Move the texts when the camera has come to rest somewhere else, or the robot has moved."""
        rested = screen == self._screen and screen != self._placed
        if rested or (self._moved and time.monotonic() - self._written > _WAIT):
            self._place(screen)
        self._screen = screen

    def _place(self, screen: Screen) -> None:
        turned = screen != self._placed
        self._placed, self._moved, self._written = screen, False, time.monotonic()
        edges = list(self._edges(screen))
        if turned:
            self._colour_legend(screen)
        rows = [*edges, *self._names(screen, [box_of(text, x, y) for x, y, text, _ in edges])]
        for k, row in enumerate(rows):
            if not turned and self._shown[k : k + 1] == [row]:
                continue
            x, y, text, key = row
            replaced = {"replaceItemUniqueId": self._ids[k]} if k < len(self._ids) else {}
            id = self.bullet.addUserDebugText(
                text,
                screen.point(x, y).tolist(),
                PALETTE[key].rgba[:3] if key else _INK,
                textSize=_SIZE,
                physicsClientId=self.client,
                **replaced,
            )
            self._ids[k : k + 1] = [int(id)]
        for id in self._ids[len(rows) :]:
            self.bullet.removeUserDebugItem(id, physicsClientId=self.client)
        self._ids, self._shown = self._ids[: len(rows)], rows

    def _colour_legend(self, screen: Screen) -> None:
        """Draw the colours of the legend before its lines, which are ink: light letters cannot be read on white."""
        legend = list(enumerate(reversed(self._lines.get(_BELOW_ALL, []))))
        for n, (k, key) in enumerate((k, key) for k, (_, key) in legend if key):
            *colour, alpha = PALETTE[key].rgba
            y = screen.height - _BOTTOM - k * LINE - 0.3 * LINE
            replaced = {"replaceItemUniqueId": self._strokes[n]} if n < len(self._strokes) else {}
            id = self.bullet.addUserDebugLine(
                screen.point(_LEFT, y).tolist(),
                screen.point(_LEFT + _STROKE, y).tolist(),
                [1 - alpha + alpha * part for part in colour],
                lineWidth=_THICK,
                physicsClientId=self.client,
                **replaced,
            )
            self._strokes[n : n + 1] = [int(id)]

    def _edges(self, screen: Screen) -> Iterator[_Row]:
        """Yield the lines at the edges."""
        below = self._lines.get(_BELOW_ALL, [])
        above = [line for name in _ABOVE_ALL for line in (*self._lines.get(name, []), ("", ""))]
        for k, (text, key) in enumerate(reversed(below)):
            yield _LEFT + _ROOM * bool(key), screen.height - _BOTTOM - k * LINE, text, ""
        for k, (text, key) in enumerate(above):
            if text:
                yield _LEFT, _TOP + k * LINE, text, key

    def _names(self, screen: Screen, taken: list[Box]) -> Iterator[_Row]:
        """Yield the names of joints for which there is room; ``taken`` is where other lines are."""
        within = Box(_LEFT, 0.0, screen.width - WIDTH - 2 * _LEFT, screen.height - _BOTTOM / 2)
        middle = screen.pixel(self.seen.center_W) or (0.5 * screen.width, 0.5 * screen.height)
        boxes = list(taken)
        for joint in labelled(self.seen):
            X_WL = self.poses.of(self.seen.mechanism.body_index[joint.body])
            at = screen.pixel(X_WL.apply(joint.X_LJ.p))
            text = plain(shortened(joint.name, LONGEST))
            if at is None or (box := room_for(text, at, boxes, within, middle)) is None:
                continue
            boxes.append(box)
            yield box.left, box.bottom - 0.2 * LINE, text, ""
