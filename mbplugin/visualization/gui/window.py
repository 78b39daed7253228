"""A PyBullet window with a robot, its surfaces, controls and texts."""

from __future__ import annotations

import time
from dataclasses import replace
from types import ModuleType

from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array
from mbplugin.report.picture import ReactionArrow
from mbplugin.report.picture.picture import LEGEND
from mbplugin.visualization.gui.controls import Controls, Screen, TextOverlay
from mbplugin.visualization.gui.show import Window
from mbplugin.visualization.render import camera_for
from mbplugin.visualization.scene_view import (
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
