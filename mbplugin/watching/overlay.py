"""What a watch draws into PyBullet's window: the force at each contact, its interval, and red marks."""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from types import ModuleType

import numpy as np

from mbplugin.errors import MbPluginError
from mbplugin.model import Array, RowLabel
from mbplugin.watching.intervals import Interval
from mbplugin.watching.numbers import contact_names, drifts_of
from mbplugin.watching.update import Update

_RED, _GREEN, _BLUE, _BLACK = [0.85, 0.1, 0.1], [0.0, 0.5, 0.2], [0.1, 0.3, 0.8], [0.1, 0.1, 0.1]
#: Seconds between two drawings, and the factor of that pause on the time that a drawing took.
_PAUSE, _SHARE = 0.5, 10.0
#: Contacts that get a text, and the share of the weight from which they do.
_MOST, _LEAST = 24, 0.005
#: Length of the line of the whole weight, in characteristic lengths.
_WEIGHT = 4.0
_WIDTH = 3.0
#: Height of a line of text, in characteristic lengths, of a robot that fills about half of the window.
_LINE = 0.35
#: Length of a text, in its height, and the largest number of marks that stand as sentences.
_TEXT, _SENTENCES = 8.0, 4


class Overlay:
    """Lines and texts in a window of PyBullet.

    Parameters
    ----------
    bullet : module
        pybullet.
    client : int
        A client connected by GUI.
    """

    def __init__(self, bullet: ModuleType, client: int) -> None:
        self.bullet, self.client = bullet, client
        # a line takes the place of a line only
        self._lines: list[int] = []
        self._texts: list[int] = []
        self._next = 0.0

    def draw(self, update: Update, *, now: bool = False) -> None:
        """Draw an update, unless the last one was drawn a moment ago."""
        begun = monotonic()
        if not now and begun < self._next:
            return
        intervals: dict[RowLabel, Interval] = {}
        with suppress(MbPluginError):
            intervals = dict(update.intervals)
        n, t = update.numbers, update.numbers.reading.touching
        names = contact_names(n.structure, t)
        marks = update.marks
        marked = {mark.constraint for mark in marks}
        open_now = {mark.constraint for mark in marks if mark.kind == "drift"}
        verdict = n.verdict
        determined = {
            int(c): bool(verdict.rows[n.rows.ties + k])
            for k, (c, part) in enumerate(zip(n.rows.contact, n.rows.part, strict=True))
            if part == 0
        }
        old = self._lines, self._texts
        self._lines, self._texts = [], []
        size = _WEIGHT * n.length / n.force
        # points that carry nothing would cover the others
        loaded = np.flatnonzero(n.rows.normal > _LEAST * n.force)
        marked_points = [k for k, name in enumerate(names) if name in marked]
        places: list[Array] = []
        for k in list(dict.fromkeys([*marked_points, *loaded.tolist()]))[:_MOST]:
            colour = _RED if names[k] in marked else _GREEN if determined.get(k) else _BLUE
            end = t.point[k] + size * t.force[k]
            self._line(t.point[k], end, colour, old)
            normal = float(t.force[k] @ t.normal[k])
            text = f"{normal:.1f} N"
            if (interval := intervals.get(RowLabel(names[k], "cn"))) is not None and not determined.get(k):
                text += f" ({_end(interval.lower)} ... {_end(interval.upper)})"
            self._text(text, _clear(end, places, _LINE * n.length), colour, old)
        for k, (name, (distance, _)) in enumerate(drifts_of(n.reading).items()):
            if name in open_now:
                g = n.reading.geometry
                self._line(g.p_PC[k], g.p_SC[k], _RED, old)
                self._text(f"{name} open by {1e3 * distance:.1f} mm", g.p_SC[k], _RED, old)
        place = n.reading.geometry.poses.p_WC.mean(axis=0) + 4 * n.length * np.array([0.0, 0.0, 1.0])
        count = len(marks)
        state = (
            f"p = {verdict.redundancy}, {count} marked"
            if count
            else f"p = {verdict.redundancy}, all possible"
        )
        self._text(state, place, _RED if count else _BLACK, old)
        # a joint or a base has no line of its own, so its mark stands as a sentence
        sentences = [str(mark) for mark in marks if mark.constraint not in {*names, *open_now}]
        if len(sentences) > _SENTENCES:
            sentences[_SENTENCES:] = [f"and {len(sentences) - _SENTENCES} more"]
        for k, sentence in enumerate(sentences, start=1):
            self._text(sentence, place - k * _LINE * n.length * np.array([0.0, 0.0, 1.0]), _RED, old)
        for item in (*old[0], *old[1]):
            self.bullet.removeUserDebugItem(item, physicsClientId=self.client)
        # intervals and messages to the window take a small share of the time only
        self._next = monotonic() + max(_PAUSE, _SHARE * (monotonic() - begun))

    def remove(self) -> None:
        """Remove what was drawn, if there is still a window."""
        with suppress(self.bullet.error):
            if self.bullet.isConnected(self.client):
                for item in (*self._lines, *self._texts):
                    self.bullet.removeUserDebugItem(item, physicsClientId=self.client)
        self._lines.clear()
        self._texts.clear()

    def _line(self, start: Array, end: Array, colour: list[float], old: tuple[list[int], list[int]]) -> None:
        """Draw a line from start (3,) to end (3,)."""
        named = {"replaceItemUniqueId": old[0].pop(0)} if old[0] else {}
        self._lines.append(
            self.bullet.addUserDebugLine(
                start.tolist(), end.tolist(), colour, _WIDTH, physicsClientId=self.client, **named
            )
        )

    def _text(self, text: str, place: Array, colour: list[float], old: tuple[list[int], list[int]]) -> None:
        """Draw a text at place (3,)."""
        named = {"replaceItemUniqueId": old[1].pop(0)} if old[1] else {}
        self._texts.append(
            self.bullet.addUserDebugText(
                text, np.asarray(place).tolist(), colour, 1.0, physicsClientId=self.client, **named
            )
        )


def _clear(place: Array, taken: list[Array], height: float) -> Array:
    """Return the place (3,) of a text of some height, m, raised above the texts at taken places, and take it."""
    place = np.array(place)
    reach = _TEXT * height
    beside = [other for other in taken if np.hypot(*(place - other)[:2]) < reach]
    # from below, so that one pass is enough
    for other in sorted(beside, key=lambda other: float(other[2])):
        if abs(place[2] - other[2]) < height:
            place[2] = other[2] + height
    taken.append(place)
    return place


def _end(value: float) -> str:
    # rounding leaves -0.0 of an interval that begins at zero
    return f"{round(value, 1) + 0.0:.1f}" if np.isfinite(value) else "no limit"
