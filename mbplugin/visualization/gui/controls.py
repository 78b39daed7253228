"""Texts, sliders and buttons in the view, for mouse and keys; PyBullet's own sliders need all its panels."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import NamedTuple

import numpy as np

from mbplugin.model import Array, BodyPoses
from mbplugin.phrases import shortened, visible
from mbplugin.report.picture import PALETTE, Picture
from mbplugin.visualization.render import LONGEST, labelled

_TEXT_INK = (0.1, 0.12, 0.15)
#: Margins of texts from the left, top and bottom edges, pixels.
_LEFT, _TEXT_TOP, _BOTTOM = 24, 36, 24
_SIZE = 1.1
#: Colour stroke of a legend line: its length, the indent of the text, and the line width, pixels.
_STROKE, _ROOM, _THICK = 16, 24, 8
#: Blocks at the top (title, status) and at the bottom (legend).
_ABOVE_ALL, _BELOW_ALL = ("title", "status"), "legend"
#: Interval between updates of labels while the robot moves, s: PyBullet is slow with many texts.
_WAIT = 0.4
#: A line of text: x and y of its start, pixels, the text, and the key of its colour.
_Row = tuple[float, float, str, str]
#: Controls, pixels: width, left edge from the right of the window, top, row height, track below its name.
WIDTH, _FROM_RIGHT, _TOP, _ROW, _TRACK = 220, 250, 40, 44, 14
#: Rows lower than ``_ROOMY`` have the track to the right of the name: its left edge, width, and height above
#: the baseline. ``_LETTERS`` is the row height for text of full size. All in pixels.
_ROOMY, _BEHIND, _SHORT, _RAISED, _LETTERS = 34, 180, 60, 4, 16
#: Half the height of a thumb, and distance beside a track within which a press still counts, pixels.
_THUMB, _BESIDE = 8, 14
#: Maximum length of a name, characters: with full rows, and with low rows.
_NAME, _SHORT_NAME = 24, 13
_INK, _CHOSEN, _RAIL = (0.1, 0.12, 0.15), (0.0, 0.45, 0.7), (0.6, 0.65, 0.7)
#: Fraction of its range by which a key moves a slider.
_STEP = 0.01
_TEXT = 1.0
#: Event type of a mouse button in PyBullet, as opposed to a mouse motion.
_BUTTON_EVENT = 2
#: Distance of texts from the camera, relative to its distance from the robot.
_BEFORE = 0.25
#: Width of a letter and height of a line at text size 1.1, pixels.
LETTER, LINE = 7.6, 21
#: Distance of a label from its point, pixels: to the side, and above or below, clear of its glyph and arrows.
_NEAR, _FAR = 26, 44


# Text in the window: PyBullet can only put text at points of the world, so texts move with the camera.


class TextOverlay:
    """Texts in a window: lines at its edges, and joint labels that do not overlap.

    Parameters
    ----------
    bullet : module
        The imported ``pybullet``.
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
        """Write the blocks title, status or legend; each line has the key of its colour (empty: dark text)."""
        for block, lines in blocks.items():
            self._lines[block] = [(plain(text), key) for text, key in lines]
        self._place(Screen.of(self.bullet, self.client))

    def pose(self, poses: BodyPoses) -> None:
        """Move the labels with the bodies; :meth:`follow` redraws them."""
        self.poses, self._moved = poses, True

    def follow(self, screen: Screen) -> None:
        """Redraw the texts once the camera has come to rest at a new view, or the robot has moved."""
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
                PALETTE[key].rgba[:3] if key else _TEXT_INK,
                textSize=_SIZE,
                physicsClientId=self.client,
                **replaced,
            )
            self._ids[k : k + 1] = [int(id)]
        for id in self._ids[len(rows) :]:
            self.bullet.removeUserDebugItem(id, physicsClientId=self.client)
        self._ids, self._shown = self._ids[: len(rows)], rows

    def _colour_legend(self, screen: Screen) -> None:
        """Draw a colour stroke before each legend line; its text is dark, as light text is illegible on white."""
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
        """Yield the lines at the edges of the window."""
        below = self._lines.get(_BELOW_ALL, [])
        above = [line for name in _ABOVE_ALL for line in (*self._lines.get(name, []), ("", ""))]
        for k, (text, key) in enumerate(reversed(below)):
            yield _LEFT + _ROOM * bool(key), screen.height - _BOTTOM - k * LINE, text, ""
        for k, (text, key) in enumerate(above):
            if text:
                yield _LEFT, _TEXT_TOP + k * LINE, text, key

    def _names(self, screen: Screen, taken: list[Box]) -> Iterator[_Row]:
        """Yield the joint labels that fit; ``taken`` are the boxes of other lines."""
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


@dataclass
class _Control:
    """A slider, or a button whose value is its number of presses."""

    name: str
    lower: float
    upper: float
    value: float
    button: bool
    ids: tuple[int, ...] = ()


class Controls:
    """Sliders and buttons at the right of a window.

    Parameters
    ----------
    bullet : module
        The imported ``pybullet``.
    """

    def __init__(self, bullet: ModuleType, client: int) -> None:
        self.bullet, self.client = bullet, client
        self._all: list[_Control] = []
        self._screen: Screen | None = None
        self._chosen, self._dragged = 0, -1

    def slider(self, name: str, lower: float, upper: float, start: float) -> int:
        """Add a slider, or a button where lower > upper, and return its number."""
        self._all.append(_Control(name, lower, upper, start, lower > upper))
        return len(self._all) - 1

    def read(self, number: int) -> float:
        """Return the value of a slider, or the number of presses of a button."""
        return self._all[number].value

    def follow(self, screen: Screen) -> None:
        """Process mouse and keyboard events, and redraw the controls that changed."""
        changed = set()
        for event in self.bullet.getMouseEvents(physicsClientId=self.client):
            changed |= self._mouse(screen, *event)
        changed |= self._keys(self.bullet.getKeyboardEvents(physicsClientId=self.client))
        if screen != self._screen:
            self._screen, changed = screen, set(range(len(self._all)))
        for number in sorted(changed):
            self._draw(screen, number)

    def _mouse(self, screen: Screen, kind: int, x: float, y: float, button: int, state: int) -> set[int]:
        """Handle a mouse event, and return the numbers of the controls to redraw."""
        if kind == _BUTTON_EVENT and button == 0:
            if state & self.bullet.KEY_WAS_RELEASED:
                self._dragged = -1
                return set()
            if state & self.bullet.KEY_WAS_TRIGGERED:
                self._dragged = self._at(screen, x, y)
                if self._dragged < 0:
                    return set()
                before, self._chosen = self._chosen, self._dragged
                if self._all[self._dragged].button:
                    self._all[self._dragged].value += 1
                return {before, self._chosen} | self._to(screen, x)
        return self._to(screen, x) if self._dragged >= 0 else set()

    def _to(self, screen: Screen, x: float) -> set[int]:
        """Move the dragged slider to x, pixels, and return its number; none for a button."""
        control = self._all[self._dragged]
        if control.button:
            return set()
        left, width = self._track(screen)
        share = float(np.clip((x - left) / width, 0.0, 1.0))
        control.value = control.lower + share * (control.upper - control.lower)
        return {self._dragged}

    def _keys(self, events: Mapping[int, int]) -> set[int]:
        """Handle keys, and return the controls to redraw: up/down select, left/right move, Enter and space press."""
        bullet, before = self.bullet, self._chosen
        if not self._all or not events:
            return set()
        triggered = {key for key, state in events.items() if state & bullet.KEY_WAS_TRIGGERED}
        step = (bullet.B3G_DOWN_ARROW in triggered) - (bullet.B3G_UP_ARROW in triggered)
        self._chosen = (self._chosen + step) % len(self._all)
        control = self._all[self._chosen]
        if control.button:
            control.value += bool(triggered & {bullet.B3G_RETURN, ord(" "), bullet.B3G_RIGHT_ARROW})
        else:
            way = (bullet.B3G_RIGHT_ARROW in events) - (bullet.B3G_LEFT_ARROW in events)
            there = control.value + way * _STEP * (control.upper - control.lower)
            control.value = float(np.clip(there, control.lower, control.upper))
            if not step and not way:
                return set()
        return {before, self._chosen}

    def _left(self, screen: Screen) -> float:
        return screen.width - _FROM_RIGHT

    def _row(self, screen: Screen) -> float:
        return min(_ROW, (screen.height - 2 * _TOP) / max(1, len(self._all)))

    def _is_roomy(self, screen: Screen) -> bool:
        return self._row(screen) >= _ROOMY

    def _track(self, screen: Screen) -> tuple[float, float]:
        """Return the left edge and the width of the tracks, pixels."""
        left = self._left(screen)
        return (left, WIDTH) if self._is_roomy(screen) else (left + _BEHIND, _SHORT)

    def _at(self, screen: Screen, x: float, y: float) -> int:
        """Return the number of the control at a pixel, −1 if there is none."""
        row = self._row(screen)
        above = _THUMB + 10 if self._is_roomy(screen) else _RAISED + row / 2
        number = int((y - _TOP + above) // row)
        if not 0 <= number < len(self._all):
            return -1
        left, width = (self._left(screen), WIDTH) if self._all[number].button else self._track(screen)
        return number if left - _BESIDE <= x <= left + width + _BESIDE else -1

    def _draw(self, screen: Screen, number: int) -> None:
        """Draw a control, replacing its earlier drawing."""
        control, roomy, row = self._all[number], self._is_roomy(screen), self._row(screen)
        y = _TOP + number * row
        colour = _CHOSEN if number == self._chosen else _INK
        name = shortened(visible(control.name), _NAME if roomy else _SHORT_NAME)
        words = f"[ {name} ]" if control.button else f"{name}: {control.value:.4g}"
        made = [self._text(screen, words, self._left(screen), y, colour, control.ids[:1])]
        if not control.button:
            left, width = self._track(screen)
            share = (control.value - control.lower) / ((control.upper - control.lower) or 1.0)
            x, rail = left + share * width, y + (_TRACK if roomy else -_RAISED)
            made.append(self._line(screen, (left, rail), (left + width, rail), _RAIL, 2, control.ids[1:2]))
            high = min(_THUMB, row / 2 - 1)
            thumb = (x, rail - high), (x, rail + high)
            made.append(self._line(screen, *thumb, colour, 5, control.ids[2:3]))
        control.ids = tuple(made)

    def _text(
        self,
        screen: Screen,
        words: str,
        x: float,
        y: float,
        colour: tuple[float, ...],
        old: tuple[int, ...],
    ) -> int:
        replaced = {"replaceItemUniqueId": old[0]} if old else {}
        return int(
            self.bullet.addUserDebugText(
                plain(words),
                screen.point(x, y).tolist(),
                colour,
                textSize=_TEXT * min(1.0, self._row(screen) / _LETTERS),
                physicsClientId=self.client,
                **replaced,
            )
        )

    def _line(
        self,
        screen: Screen,
        start: tuple[float, float],
        end: tuple[float, float],
        colour: tuple[float, ...],
        width: float,
        old: tuple[int, ...],
    ) -> int:
        replaced = {"replaceItemUniqueId": old[0]} if old else {}
        return int(
            self.bullet.addUserDebugLine(
                screen.point(*start).tolist(),
                screen.point(*end).tolist(),
                colour,
                lineWidth=width,
                physicsClientId=self.client,
                **replaced,
            )
        )


# Conversion between pixels of the window and points of the world, and placement of labels.


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
        """Return the current view of a window's camera."""
        state = bullet.getDebugVisualizerCamera(physicsClientId=client)
        return cls(state[0], state[1], tuple(state[2]), tuple(state[3]), state[10])

    def point(self, x: float, y: float) -> Array:
        """Return the point (3,) of the world at a pixel, close to the camera in front of the robot."""
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
        """Project the point ``p_W`` (3,) of the world to pixels; None behind the camera."""
        V, P = self._matrices()
        p_K = V[:3, :3] @ p_W + V[:3, 3]
        if p_K[2] > -1e-9:
            return None
        x, y = P[0, 0] * p_K[0] / -p_K[2], P[1, 1] * p_K[1] / -p_K[2]
        return float(0.5 * (1 + x) * self.width), float(0.5 * (1 - y) * self.height)

    def _matrices(self) -> tuple[Array, Array]:
        """Return the view and the projection matrix, (4, 4) each."""
        return np.array(self.view).reshape(4, 4).T, np.array(self.projection).reshape(4, 4).T


class Box(NamedTuple):
    """A rectangle of the window, pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether two rectangles overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def box_of(text: str, x: float, y: float) -> Box:
    """Return the rectangle of a line of text whose baseline starts at (x, y), pixels."""
    return Box(x, y - 0.8 * LINE, x + LETTER * len(text), y + 0.2 * LINE)


def room_for(
    text: str, at: tuple[float, float], taken: Iterable[Box], within: Box, middle: tuple[float, float]
) -> Box | None:
    """Return a free rectangle within ``within`` for a label near the pixel ``at``; None if there is none.

    Positions away from the ``middle`` of the robot, a pixel, come first, as there is more space.
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
    """Return a text reduced to ASCII, the characters of PyBullet's font."""
    known = visible(text).replace("×", "x").replace("·", ".").replace("–", "-").replace("…", "...")
    return known.encode("ascii", errors="replace").decode()
