"""A PyBullet window with a robot, and the isolated process in which it runs.

The process reads a pickled request from its input, then shows a replay or sliders.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
import traceback
from dataclasses import replace
from types import ModuleType
from typing import IO, TYPE_CHECKING

import numpy as np

from mbplugin.constraints.rank import View
from mbplugin.constraints.rows import plane_columns
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array
from mbplugin.report.picture import ReactionArrow, reaction_arrows
from mbplugin.report.picture.picture import LEGEND
from mbplugin.report.record import reactions_at
from mbplugin.simulation.manifold import Manifold, PoseVerdict
from mbplugin.visualization.gui import BUG, ENDED, OPENED, Window
from mbplugin.visualization.gui.controls import Controls, Screen, TextOverlay
from mbplugin.visualization.render import camera_for
from mbplugin.visualization.scene_view import (
    Replay,
    Surface,
    VisualScene,
    arrow_points,
    arrow_surfaces,
    ghost_surfaces,
    path_surface,
    placed,
    replay_points,
    robot_surfaces,
)

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.model.spatial import Array
    from mbplugin.report.picture import ReactionArrow


SIZE = (1280, 760)
#: Camera distance relative to that of pictures, as the window has a wider field of view.
_NEARER = 0.75
#: Polling interval of sliders and buttons, s.
PAUSE = 0.02


class DebugWindow:
    """A window with a robot in it.

    Parameters
    ----------
    bullet : module
        The imported ``pybullet``.
    """

    def __init__(self, bullet: ModuleType, client: int, window: Window) -> None:
        self.bullet, self.client, self.window = bullet, client, window
        self.stage = VisualScene(bullet, client, window.seen.mechanism)
        bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 0, physicsClientId=client)
        self.stage.draw(robot_surfaces(window.seen))
        self.arrows = self.stage.draw(self._beside())
        self.stage.place(window.seen.poses)
        bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 1, physicsClientId=client)
        extra = (
            arrow_points(window.seen) if window.replay is None else replay_points(window.seen, window.replay)
        )
        camera = camera_for(window.seen, SIZE, cloud_W=extra)
        bullet.resetDebugVisualizerCamera(
            _NEARER * camera.distance,
            camera.yaw,
            camera.pitch,
            camera.target_W.tolist(),
            physicsClientId=client,
        )
        light = camera.eye_W + 2 * camera.distance * camera.R_WK[:, 1]
        bullet.configureDebugVisualizer(lightPosition=light.tolist(), physicsClientId=client)
        self.controls = Controls(bullet, client)
        self.board = TextOverlay(bullet, client, window.seen)
        keys = self._keys()
        self.board.write(
            title=[(line, "") for line in window.title],
            legend=[(entry.text, entry.key) for entry in LEGEND if entry.key in keys],
        )

    def tick(self) -> None:
        """Wait for one polling interval, then update controls from mouse and keys, and texts from the camera."""
        time.sleep(PAUSE)
        screen = Screen.of(self.bullet, self.client)
        self.controls.follow(screen)
        self.board.follow(screen)

    def pose(self, q: Array) -> None:
        """Move the robot and its labels to coordinates q (nq,)."""
        poses = forward(self.window.seen.mechanism, q)
        self.stage.place(poses)
        self.board.pose(poses)

    def redraw_arrows(self, arrows: tuple[ReactionArrow, ...]) -> None:
        """Replace the drawn reaction arrows; an empty tuple removes them all."""
        self.stage.remove(self.arrows)
        surfaces = arrow_surfaces(replace(self.window.seen, arrows=arrows))
        self.arrows = self.stage.draw(surfaces) if arrows else ()

    def slider(self, name: str, lower: float, upper: float, start: float) -> int:
        """Add a slider, or a button where lower > upper, and return its id."""
        return self.controls.slider(name, lower, upper, start)

    def read(self, slider: int) -> float:
        """Return the value of a slider, or the number of presses of a button."""
        return self.controls.read(slider)

    def _beside(self) -> list[Surface]:
        """Return the surfaces besides the robot: arrows, or the path and ghosts of a replay."""
        seen, replay = self.window.seen, self.window.replay
        if replay is None:
            return list(arrow_surfaces(seen))
        line = path_surface(replay.path_W, seen.radius)
        beside = [] if line is None else [line]
        for key, q in replay.ghosts.items():
            beside += placed(ghost_surfaces(seen, key), seen.mechanism, q)
        return beside

    def _keys(self) -> set[str]:
        keys = {entry.key for entry in self.window.seen.legend}
        return keys | {surface.key for surface in self._beside()}


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
