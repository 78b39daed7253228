"""The isolated process of a window: reads a pickled request from its input, then shows a replay or sliders."""

from __future__ import annotations

import os
import pickle
import sys
import time
import traceback
from typing import IO, TYPE_CHECKING

import numpy as np

from mbplugin.constraints.rank import View
from mbplugin.constraints.rows import plane_columns
from mbplugin.report.picture import reaction_arrows
from mbplugin.report.record import reactions_at
from mbplugin.simulation.manifold import Manifold, PoseVerdict
from mbplugin.visualization.gui.show import BUG, ENDED, OPENED, Window
from mbplugin.visualization.gui.window import SIZE, DebugWindow
from mbplugin.visualization.scene_view import Replay

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.model.spatial import Array
    from mbplugin.report.picture import ReactionArrow

_BUTTONS = ("pause / play", "step >", "< step", "to the start")
#: Range of the speed slider, relative to the initial speed.
_SLOWER, _FASTER = 0.1, 4.0
#: Pause at the end of the replay, and interval between updates of the clock text, s.
_REST, _CLOCK = 1.0, 0.5

#: Features switched off: image preview panels, shadows, mouse dragging, one-letter keyboard commands.
_OFF = (
    "COV_ENABLE_RGB_BUFFER_PREVIEW",
    "COV_ENABLE_DEPTH_BUFFER_PREVIEW",
    "COV_ENABLE_SEGMENTATION_MARK_PREVIEW",
    "COV_ENABLE_GUI",
    "COV_ENABLE_SHADOWS",
    "COV_ENABLE_MOUSE_PICKING",
    "COV_ENABLE_KEYBOARD_SHORTCUTS",
)


def main() -> None:
    """Show the requested window; once it is open, the first status line is written."""
    status_lines = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    try:
        _run(pickle.loads(sys.stdin.buffer.read()), status_lines)
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        # PyBullet's threads would keep the process running
        os._exit(BUG)


def _run(window: Window, status_lines: IO[bytes]) -> None:
    import pybullet

    white = " ".join(f"--background_color_{c}=1" for c in ("red", "green", "blue"))
    client = pybullet.connect(pybullet.GUI, options=f"--width={SIZE[0]} --height={SIZE[1]} {white}")
    status_lines.write(OPENED)
    for name in _OFF:
        pybullet.configureDebugVisualizer(getattr(pybullet, name), 0, physicsClientId=client)
    view = DebugWindow(pybullet, client, window)
    if window.replay is not None:
        play(view, window.replay, window.loop)
    elif window.analysis is not None:
        lead(view, window.analysis)
    status_lines.write(ENDED)
    pybullet.disconnect(client)


# The window with a replay: pause, single steps, speed, back to the start.


def play(shown: DebugWindow, replay: Replay, loop: bool) -> None:
    """Play a replay once, or in a loop until the window is closed."""
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
    """The current time of a replay."""

    def __init__(self, replay: Replay) -> None:
        self._time = replay.time
        self._now = float(replay.time[0])
        self._last = time.monotonic()
        self.paused = False

    @property
    def frame(self) -> int:
        """Index of the current pose."""
        return int(np.clip(np.searchsorted(self._time, self._now + 1e-9) - 1, 0, len(self._time) - 1))

    @property
    def at_end(self) -> bool:
        """Whether the current pose is the last one."""
        return self.frame == len(self._time) - 1

    def tick(self, speed: float) -> None:
        """Advance by the real time elapsed since the last call, times ``speed``, unless paused."""
        now = time.monotonic()
        if not self.paused:
            self._now = min(self._now + (now - self._last) * speed, float(self._time[-1]))
        self._last = now

    def press(self, button: str) -> None:
        """Handle a button; a step moves by one pose and pauses."""
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


# The window with sliders: one coordinate is driven, the others follow; p is displayed at every pose.


def lead(shown: DebugWindow, analysis: Analysis) -> None:
    """Move the robot along its constraint manifold by sliders until the window is closed."""
    mech = analysis.mechanism
    view = View(mech, analysis.q, plane_columns(analysis.planar), analysis.tolerance)
    manifold = Manifold(view, analysis.structural_redundancy)
    q = analysis.q
    values = [slider.start for slider in manifold.sliders]
    handles = [shown.slider(s.name, s.lower, s.upper, s.start) for s in manifold.sliders]
    asked = [shown.read(handle) for handle in handles]
    shown.board.write(status=status_lines(manifold.verdict_at(q)))
    stale = False
    while True:
        shown.tick()
        moved = False
        for k, handle in enumerate(handles):
            target = shown.read(handle)
            if target == asked[k]:
                continue
            asked[k] = target
            followed = manifold.lead(manifold.sliders[k], q, target - values[k])
            q, values[k] = followed.q, values[k] + followed.moved
            shown.pose(q)
            moved = True
            name = manifold.sliders[k].name
            why = f"{name} stays at {values[k]:.4g}: {followed.stopped}" if followed.stopped else ""
            shown.board.write(status=status_lines(manifold.verdict_at(q), why))
        if moved and not stale:
            # arrows of an earlier pose are wrong here
            shown.redraw_arrows(())
        elif stale and not moved:
            shown.redraw_arrows(arrows_at(shown, analysis, q))
        stale = moved


def arrows_at(shown: DebugWindow, analysis: Analysis, q: Array) -> tuple[ReactionArrow, ...]:
    """Return the arrows of the reactions at rest at a pose q (nq,); empty if they cannot be computed."""
    model = shown.window.model
    reactions = None if model is None else reactions_at(model, q, analysis.tolerance, analysis.planar)[0]
    return () if reactions is None else reaction_arrows(reactions)


def status_lines(verdict: PoseVerdict, why: str = "") -> list[tuple[str, str]]:
    """Return the status lines of a pose, each with the key of its colour."""
    p = verdict.degree_of_redundancy
    lines = [(f"p = {p}, rank {verdict.rank}", "non-unique" if p else "unique")]
    lines.append(("singular pose", "non-unique") if verdict.singular else ("", ""))
    return [*lines, (why, "naive" if why else "")]


if __name__ == "__main__":
    main()
