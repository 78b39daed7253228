"""Pictures without a window: PyBullet's own renderer, drawn fine and made smooth, translucent things last."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.bullet.session import quiet, session
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.report.picture import Picture
from mbplugin.report.picture.palette import PALETTE
from mbplugin.visualization.debug_bodies import VisualScene
from mbplugin.visualization.render.camera import FIELD, Camera, camera_for
from mbplugin.visualization.render.canvas import Canvas, pillow
from mbplugin.visualization.scene_view import (
    Surface,
    arrow_points,
    arrow_surfaces,
    by_colour,
    ghost_surfaces,
    path_surface,
    placed,
    replay_points,
    robot_surfaces,
)

if TYPE_CHECKING:
    from mbplugin.visualization.recording import Replay

SIZE = (1280, 720)
#: Fine pixels for each pixel of a picture, each way.
_FINE = 2
_LIGHT = {
    "lightDirection": [0.6, -1.0, 2.0],
    "lightColor": [1.0, 1.0, 1.0],
    "lightAmbientCoeff": 0.62,
    "lightDiffuseCoeff": 0.42,
    "lightSpecularCoeff": 0.05,
    "shadow": 0,
}
#: Background, at the top and at the bottom; and how dark an outline is.
_TOP, _BOTTOM, _OUTLINE = (255.0, 255.0, 255.0), (226.0, 231.0, 238.0), 0.6
#: A step in depth is an outline from this fraction of the distance on.
_STEP = 0.03
#: The depth of the background, m.
_NOWHERE = 1e9


@dataclass(frozen=True, eq=False)
class VisualLayer:
    """What one look of the renderer gives, in fine pixels.

    Parameters
    ----------
    rgb : (h, w, 3) array of uint8
    depth : (h, w) array
        Distance from the camera along its axis, m; very large where nothing is.
    """

    rgb: AnyArray
    depth: AnyArray


class Renderer:
    """A robot before a camera; use it in a ``with`` block.

    Parameters
    ----------
    size : tuple of int
        Width and height, pixels.
    angles : tuple of float
        Yaw and pitch (degrees) and distance (m) of the camera, as far as they are given.
    replay : Replay, optional
        Its ghosts and its path are drawn too, and the camera has all its poses in view.
    """

    def __init__(
        self,
        seen: Picture,
        size: tuple[int, int] = SIZE,
        angles: tuple[float, ...] = (),
        replay: Replay | None = None,
    ) -> None:
        pillow()
        self.seen, self.size = seen, size
        extra = arrow_points(seen) if replay is None else replay_points(seen, replay)
        self.camera: Camera = camera_for(seen, size, angles, extra)
        self._stack = ExitStack()
        self._replay = replay
        self._line = None if replay is None else path_surface(replay.path_W, seen.radius)

    def __enter__(self) -> Renderer:
        surfaces = list(robot_surfaces(self.seen))
        still: list[Surface] = []
        clear: dict[str, Surface] = {}
        if self._replay is None:
            arrows = {surface.key: surface for surface in arrow_surfaces(self.seen)}
            clear = {key: arrows.pop(key) for key in ("open",) if key in arrows}
            still += arrows.values()
        else:
            still += [] if self._line is None else [self._line]
            for key, q in self._replay.ghosts.items():
                whole = placed(ghost_surfaces(self.seen, key), self.seen.mechanism, q)
                clear.update(by_colour(whole))
        self._stage = self._client([*surfaces, *still])
        self._stage.place(self.seen.poses)
        self._clear = [(PALETTE[key].alpha, self._alone(surface)) for key, surface in clear.items()]
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def frame(self, q: Array | None = None, said: Sequence[str] = (), labels: bool = True) -> Any:
        """Return a picture (``PIL.Image``) at a pose q (nq,), with labels, legend and lines of text."""
        if q is not None:
            self._stage.pose(q)
        image = _smooth(self._composed())
        paper = Canvas(image, self.seen, self.camera)
        if labels and q is None:
            paper.label()
        paper.legend(self._keys())
        paper.say(said)
        return image

    def _keys(self) -> set[str]:
        keys = {entry.key for entry in self.seen.legend}
        if self._replay is not None:
            keys |= set(self._replay.ghosts)
            keys |= set() if self._line is None else {"path"}
            keys -= {"known", "open", "resolved"}
        return keys

    def _client(self, surfaces: Sequence[Surface]) -> VisualScene:
        bullet, client = self._stack.enter_context(session())
        stage = VisualScene(bullet, client, self.seen.mechanism)
        with quiet():
            stage.draw(surfaces)
        return stage

    def _alone(self, surface: Surface) -> VisualLayer:
        """Return how something translucent looks with nothing beside it."""
        with session() as (bullet, client):
            stage = VisualScene(bullet, client, self.seen.mechanism)
            with quiet():
                stage.draw([surface])
            return self._layer(stage)

    def _composed(self) -> AnyArray:
        """Return the colours (h, w, 3) of all layers, the clear ones before the solid one."""
        solid = self._layer(self._stage)
        for alpha, layer in self._clear:
            before = layer.depth < solid.depth
            mixed = (1 - alpha) * solid.rgb[before] + alpha * layer.rgb[before]
            solid.rgb[before] = np.rint(mixed)
        return solid.rgb

    def _layer(self, stage: VisualScene) -> VisualLayer:
        width, height = (_FINE * n for n in self.size)
        near, far = 0.02 * self.camera.distance, 20 * self.camera.distance + 20 * self.seen.radius
        bullet = stage.bullet
        projection = bullet.computeProjectionMatrixFOV(FIELD, width / height, near, far)
        with quiet():
            _, _, rgba, z, mask = bullet.getCameraImage(
                width,
                height,
                self.camera.view,
                projection,
                renderer=bullet.ER_TINY_RENDERER,
                physicsClientId=stage.client,
                lightDistance=10 * self.camera.distance,
                **_LIGHT,
            )
        rgb = np.asarray(rgba, dtype=np.uint8).reshape(height, width, 4)[..., :3]
        mask = np.asarray(mask).reshape(height, width)
        z = np.asarray(z, dtype=np.float32).reshape(height, width)
        depth = far * near / (far - (far - near) * z)
        depth[mask < 0] = _NOWHERE
        return VisualLayer(_outlined(rgb, mask, depth), depth)


def _outlined(rgb: AnyArray, mask: AnyArray, depth: AnyArray) -> AnyArray:
    """Return colours (h, w, 3) before a soft background, with the edges of bodies drawn darker.

    ``rgb``, ``mask`` and ``depth`` (h, w, 3), (h, w), (h, w) are those of the bodies.
    """
    slope = np.linspace(0.0, 1.0, mask.shape[0])[:, None]
    ground = np.rint((1 - slope) * np.array(_TOP) + slope * np.array(_BOTTOM)).astype(np.uint8)
    edge = np.zeros(mask.shape, dtype=bool)
    for first, second in (
        (np.s_[1:, :], np.s_[:-1, :]),
        (np.s_[:, 1:], np.s_[:, :-1]),
    ):
        a, b = depth[first], depth[second]
        differ = (mask[first] != mask[second]) | (np.abs(a - b) > _STEP * np.minimum(a, b))
        # the line is drawn on what is in front
        edge[first] |= differ & (a <= b)
        edge[second] |= differ & (b < a)
    edge &= mask >= 0
    out = np.where((mask >= 0)[..., None], rgb, ground[:, None])
    out[edge] = _OUTLINE * out[edge]
    return out


def _smooth(rgb: AnyArray) -> Any:
    """Return the picture of colours ``rgb`` (h, w, 3), reduced to its final size."""
    return pillow().Image.fromarray(np.ascontiguousarray(rgb)).reduce(_FINE)
