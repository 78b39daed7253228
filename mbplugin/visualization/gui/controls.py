"""Sliders and buttons over the view, for mouse and keys: PyBullet's own come only with all its panels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from mbplugin.phrases import shortened
from mbplugin.visible import visible
from mbplugin.visualization.gui.place import Screen, plain

#: Width and left edge from the right of the window, top, height of a row, of the track below its name, pixels.
WIDTH, _FROM_RIGHT, _TOP, _ROW, _TRACK = 220, 250, 40, 44, 14
#: In lower rows the track stands behind its name: from which height on, its left edge, its width, its height over
#: the line of the text; and the height of a row that a text of full size needs, pixels.
_ROOMY, _BEHIND, _SHORT, _RAISED, _LETTERS = 34, 180, 60, 4, 16
#: Half the height of a thumb, and how far beside a track a press still counts, pixels.
_THUMB, _BESIDE = 8, 14
#: Characters of a name before its track is short, and then.
_NAME, _SHORT_NAME = 24, 13
_INK, _CHOSEN, _RAIL = (0.1, 0.12, 0.15), (0.0, 0.45, 0.7), (0.6, 0.65, 0.7)
#: Part of its range that a slider moves by a key.
_STEP = 0.01
_TEXT = 1.0
#: Kind of an event of the mouse that is no motion.
_BUTTON_EVENT = 2


@dataclass
class _Control:
    """A slider, or a button, whose value is how often it was pressed."""

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
        pybullet.
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
        """Return where a slider stands, or how often a button was pressed."""
        return self._all[number].value

    def follow(self, screen: Screen) -> None:
        """Take what mouse and keys have done, and draw what has changed on a screen."""
        changed = set()
        for event in self.bullet.getMouseEvents(physicsClientId=self.client):
            changed |= self._mouse(screen, *event)
        changed |= self._keys(self.bullet.getKeyboardEvents(physicsClientId=self.client))
        if screen != self._screen:
            self._screen, changed = screen, set(range(len(self._all)))
        for number in sorted(changed):
            self._draw(screen, number)

    def _mouse(self, screen: Screen, kind: int, x: float, y: float, button: int, state: int) -> set[int]:
        """Return the numbers of the controls that an event of the mouse changes."""
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
        """Put the slider that is dragged to a pixel."""
        control = self._all[self._dragged]
        if control.button:
            return set()
        left, width = self._track(screen)
        share = float(np.clip((x - left) / width, 0.0, 1.0))
        control.value = control.lower + share * (control.upper - control.lower)
        return {self._dragged}

    def _keys(self, events: Mapping[int, int]) -> set[int]:
        """Return the numbers of the controls that keys change: arrows choose and move, Enter and space press."""
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
        """Return left edge and width of all tracks."""
        left = self._left(screen)
        return (left, WIDTH) if self._is_roomy(screen) else (left + _BEHIND, _SHORT)

    def _at(self, screen: Screen, x: float, y: float) -> int:
        """Return the number of the control at a pixel, -1 where there is none."""
        row = self._row(screen)
        above = _THUMB + 10 if self._is_roomy(screen) else _RAISED + row / 2
        number = int((y - _TOP + above) // row)
        if not 0 <= number < len(self._all):
            return -1
        left, width = (self._left(screen), WIDTH) if self._all[number].button else self._track(screen)
        return number if left - _BESIDE <= x <= left + width + _BESIDE else -1

    def _draw(self, screen: Screen, number: int) -> None:
        """Draw a control, in the place of what was drawn of it before."""
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
