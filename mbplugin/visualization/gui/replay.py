"""The window with a replay: pause, steps, speed, again from the start."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.visualization.recording import Replay

if TYPE_CHECKING:
    from mbplugin.visualization.gui.window import DebugWindow

_BUTTONS = ("pause / play", "step >", "< step", "to the start")
#: Range of the speed, beside that at first.
_SLOWER, _FASTER = 0.1, 4.0
#: How long the end is seen, and between two texts of the clock, s.
_REST, _CLOCK = 1.0, 0.5


def play(shown: DebugWindow, replay: Replay, loop: bool) -> None:
    """Replay until the window is closed, or once."""
    speed = shown.slider("speed, of real time", _SLOWER * replay.speed, _FASTER * replay.speed, replay.speed)
    buttons = {name: shown.slider(name, 1, 0, 0) for name in _BUTTONS}
    pressed = {name: shown.read(handle) for name, handle in buttons.items()}
    clock = Clock(replay)
    frame, written = -1, -np.inf
    while True:
        rate = shown.read(speed)
        for name, handle in buttons.items():
            count = shown.read(handle)
            for _ in range(round(count - pressed[name])):
                clock.press(name)
            pressed[name] = count
        clock.tick(rate)
        if clock.frame != frame:
            frame = clock.frame
            shown.pose(replay.q[frame])
        if time.monotonic() - written > _CLOCK or clock.at_end:
            written = time.monotonic()
            shown.board.write(status=[(line, "") for line in replay.said(frame, round(rate, 4))])
        if clock.at_end and not clock.paused:
            if not loop:
                _rest(shown)
                return
            _rest(shown)
            clock.press("to the start")
        shown.tick()


class Clock:
    """Where in a replay we are."""

    def __init__(self, replay: Replay) -> None:
        self._time = replay.time
        self._now = float(replay.time[0])
        self._last = time.monotonic()
        self.paused = False

    @property
    def frame(self) -> int:
        """The pose that is seen."""
        return int(np.clip(np.searchsorted(self._time, self._now + 1e-9) - 1, 0, len(self._time) - 1))

    @property
    def at_end(self) -> bool:
        """Whether it is the last one."""
        return self.frame == len(self._time) - 1

    def tick(self, speed: float) -> None:
        """Go on by the time that has passed, so many times as fast."""
        now = time.monotonic()
        if not self.paused:
            self._now = min(self._now + (now - self._last) * speed, float(self._time[-1]))
        self._last = now

    def press(self, button: str) -> None:
        """Do what a button says; a step is one pose, and pauses."""
        if button == "pause / play":
            self.paused = not self.paused
        elif button == "to the start":
            self._now = float(self._time[0])
        else:
            self.paused = True
            step = 1 if button == "step >" else -1
            self._now = float(self._time[int(np.clip(self.frame + step, 0, len(self._time) - 1))])


def _rest(shown: DebugWindow) -> None:
    until = time.monotonic() + _REST
    while time.monotonic() < until:
        shown.tick()
