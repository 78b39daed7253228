"""Pictures without a window: PyBullet's software renderer, oversampled; translucent layers are blended last."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from mbplugin import visualization
from mbplugin.bullet import quiet, require_engine, session
from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.files import replacing, require_folder
from mbplugin.model import AnyArray, Array
from mbplugin.phrases import shortened, visible
from mbplugin.report.picture import LEGEND, PALETTE, Picture
from mbplugin.report.picture.bodies import JointGlyph

PICTURES, FILMS = (".png", ".jpg"), (".gif", ".mp4")
FILM_SIZE = (640, 360)
#: Number of frames for which a film rests on its last pose, the one of interest.
_LAST = visualization.RATE
_COLOURS = 255
_SMALLEST, _LARGEST = 64, 4096
SIZE = (1280, 720)
#: Rendered pixels per pixel of the picture, in each direction (supersampling).
_FINE = 2
_LIGHT = {
    "lightDirection": [0.6, -1.0, 2.0],
    "lightColor": [1.0, 1.0, 1.0],
    "lightAmbientCoeff": 0.62,
    "lightDiffuseCoeff": 0.42,
    "lightSpecularCoeff": 0.05,
    "shadow": 0,
}
#: Background colours at the top and the bottom; factor that darkens outlines.
_TOP, _BOTTOM, _OUTLINE = (255.0, 255.0, 255.0), (226.0, 231.0, 238.0), 0.6
#: A step in depth larger than this fraction of the distance is drawn as an outline.
_STEP = 0.03
#: The depth of the background, m.
_NOWHERE = 1e9
#: Left, top, right, bottom, pixels.
Box = tuple[float, float, float, float]
_INK, _PALE = (35, 40, 48), (255, 255, 255)
#: Letter height relative to the picture height, and the smallest legible one, pixels.
_LETTER, _CANVAS_SMALLEST = 0.024, 11
#: Vertical field of view, degrees.
FIELD = 40.0
_YAW, _PITCH, _FROM_ABOVE = 40.0, -24.0, -50.0
#: A robot flatter than this (relative to its width) is viewed face-on, turned by at most this angle, degrees.
_FLAT, _TURNED = 0.35, 25.0
#: Fraction of the view that the robot fills.
_FILLED = 0.92
#: With more joints than this, only closures are labelled.
_MANY = 14
#: Maximum length of a name, characters.
LONGEST = 28


# Pictures (PNG, JPEG) and films (GIF by Pillow, MP4 by imageio) as files.


def check_files(picture: Path | None, film: Path | None) -> None:
    """Refuse, before anything is computed, outputs that could not be shown or written afterwards.

    Raises
    ------
    BadUsage
        An unsupported file format, or a folder that does not exist.
    MissingDependency
        A package that shows, draws or encodes the output is not installed.
    """
    for path, endings in ((picture, PICTURES), (film, FILMS)):
        if path is not None and path.suffix not in endings:
            raise BadUsage(f"cannot draw into {path.name!r}", expected=" or ".join(endings))
        require_folder(path)
    require_engine("a window" if picture is film is None else "a picture")
    if picture is not None or film is not None:
        pillow()
    if film is not None and film.suffix == ".mp4":
        _encoder()


def write_picture(
    path: Path,
    seen: Picture,
    said: Sequence[str],
    size: tuple[int, int],
    angles: tuple[float, ...] = (),
    replay: visualization.Replay | None = None,
    labels: bool = True,
) -> None:
    """Write a picture; a replay is drawn at its last pose.

    Parameters
    ----------
    path : Path
        ``.png`` or ``.jpg``.
    said : sequence of str
        Lines of text in the upper left corner.
    size : tuple of int
        Width and height, pixels.
    angles : tuple of float
        Yaw and pitch (degrees) and distance (m) of the camera; missing ones are chosen.
    labels : bool
        Whether joints are labelled.
    """
    _check_size(size)
    with Renderer(seen, size, angles, replay) as renderer:
        end = None if replay is None else replay.q[-1]
        if replay is not None:
            said = (*said, *replay.said(len(replay.q) - 1, replay.speed))
        image = renderer.frame(end, said, labels)
    with replacing(path) as temporary:
        image.save(temporary)


def write_film(
    path: Path,
    seen: Picture,
    said: Sequence[str],
    replay: visualization.Replay,
    size: tuple[int, int] = FILM_SIZE,
    angles: tuple[float, ...] = (),
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write a replay as a film, ``.gif`` or ``.mp4``; other parameters as for :func:`write_picture`.

    Parameters
    ----------
    progress : callable, optional
        Called with the number of finished frames and the total number.
    """
    # video encoders subsample colours by two, so the size must be even
    size = (size[0] - size[0] % 2, size[1] - size[1] % 2)
    _check_size(size)
    with Renderer(seen, size, angles, replay) as renderer, replacing(path) as temporary:
        frames = _frames(renderer, replay, said, progress)
        if path.suffix == ".gif":
            _write_gif(frames, temporary)
        else:
            _write_mp4(frames, temporary)


def _frames(
    renderer: Renderer,
    replay: visualization.Replay,
    said: Sequence[str],
    progress: Callable[[int, int], None] | None,
) -> Iterator[Any]:
    for k, q in enumerate(replay.q):
        yield renderer.frame(q, (*said, *replay.said(k, replay.speed)))
        if progress is not None:
            progress(k + 1, len(replay.q))


def _write_gif(frames: Iterator[Any], path: Path) -> None:
    """Write a GIF whose frames share the palette of the first."""
    image = pillow().Image
    first = next(frames).quantize(_COLOURS, kmeans=1, dither=image.Dither.NONE)
    rest = [frame.quantize(palette=first, dither=image.Dither.NONE) for frame in frames]
    still = [1000 // visualization.RATE] * len(rest) + [1000 * _LAST // visualization.RATE]
    first.save(path, save_all=True, append_images=rest, duration=still, loop=0)


def _write_mp4(frames: Iterator[Any], path: Path) -> None:
    with _encoder().get_writer(path, fps=visualization.RATE, macro_block_size=2, quality=7) as film:
        last = None
        for frame in frames:
            last = np.asarray(frame)
            film.append_data(last)
        for _ in range(_LAST):
            film.append_data(last)


def _encoder() -> Any:
    try:
        import imageio.v2

        importlib.import_module("imageio_ffmpeg")
    except ImportError:
        film = "a film as .mp4"
        raise MissingDependency.of(
            film, "imageio with ffmpeg", "view", otherwise=", or write a .gif"
        ) from None
    return imageio.v2


def _check_size(size: tuple[int, int]) -> None:
    if not all(_SMALLEST <= n <= _LARGEST for n in size):
        raise BadUsage(
            f"the size is {size[0]} x {size[1]} pixels", expected=f"{_SMALLEST} to {_LARGEST} each way"
        )


@dataclass(frozen=True, eq=False)
class VisualLayer:
    """One rendered image with its depth, in supersampled pixels.

    Parameters
    ----------
    rgb : (h, w, 3) array of uint8
    depth : (h, w) array
        Distance from the camera along its axis, m; very large for the background.
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
        Yaw and pitch (degrees) and distance (m) of the camera; missing ones are chosen.
    replay : Replay, optional
        Its ghosts and tool path are drawn too, and the camera keeps the whole motion in view.
    """

    def __init__(
        self,
        seen: Picture,
        size: tuple[int, int] = SIZE,
        angles: tuple[float, ...] = (),
        replay: visualization.Replay | None = None,
    ) -> None:
        pillow()
        self.seen, self.size = seen, size
        extra = (
            visualization.arrow_points(seen) if replay is None else visualization.replay_points(seen, replay)
        )
        self.camera: Camera = camera_for(seen, size, angles, extra)
        self._stack = ExitStack()
        self._replay = replay
        self._line = None if replay is None else visualization.path_surface(replay.path_W, seen.radius)

    def __enter__(self) -> Renderer:
        surfaces = list(visualization.robot_surfaces(self.seen))
        still: list[visualization.Surface] = []
        clear: dict[str, visualization.Surface] = {}
        if self._replay is None:
            arrows = {surface.key: surface for surface in visualization.arrow_surfaces(self.seen)}
            clear = {key: arrows.pop(key) for key in ("open",) if key in arrows}
            still += arrows.values()
        else:
            still += [] if self._line is None else [self._line]
            for key, q in self._replay.ghosts.items():
                whole = visualization.placed(
                    visualization.ghost_surfaces(self.seen, key), self.seen.mechanism, q
                )
                clear.update(visualization.by_colour(whole))
        self._stage = self._client([*surfaces, *still])
        self._stage.place(self.seen.poses)
        self._clear = [(PALETTE[key].alpha, self._alone(surface)) for key, surface in clear.items()]
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def frame(self, q: Array | None = None, said: Sequence[str] = (), labels: bool = True) -> Any:
        """Return a picture (``PIL.Image``) at a pose q (nq,) with legend and lines of text.

        Joints are labelled only without ``q``, at the pose of the drawing.
        """
        if q is not None:
            self._stage.pose(q)
        image = pillow().Image.fromarray(np.ascontiguousarray(self._composed())).reduce(_FINE)
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

    def _client(self, surfaces: Sequence[visualization.Surface]) -> visualization.VisualScene:
        bullet, client = self._stack.enter_context(session())
        stage = visualization.VisualScene(bullet, client, self.seen.mechanism)
        with quiet():
            stage.draw(surfaces)
        return stage

    def _alone(self, surface: visualization.Surface) -> VisualLayer:
        """Render a translucent surface by itself."""
        with session() as (bullet, client):
            stage = visualization.VisualScene(bullet, client, self.seen.mechanism)
            with quiet():
                stage.draw([surface])
            return self._layer(stage)

    def _composed(self) -> AnyArray:
        """Return the colours (h, w, 3) of all layers, translucent ones blended over the solid one."""
        solid = self._layer(self._stage)
        for alpha, layer in self._clear:
            before = layer.depth < solid.depth
            mixed = (1 - alpha) * solid.rgb[before] + alpha * layer.rgb[before]
            solid.rgb[before] = np.rint(mixed)
        return solid.rgb

    def _layer(self, stage: visualization.VisualScene) -> VisualLayer:
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
    """Return colours (h, w, 3) on a graded background, with darkened outlines of the bodies.

    ``rgb``, ``mask`` and ``depth`` (h, w, 3), (h, w), (h, w) are the rendered bodies.
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
        # the outline is drawn on the nearer side
        edge[first] |= differ & (a <= b)
        edge[second] |= differ & (b < a)
    edge &= mask >= 0
    out = np.where((mask >= 0)[..., None], rgb, ground[:, None])
    out[edge] = _OUTLINE * out[edge]
    return out


# Text on a picture, which PyBullet's renderer cannot draw: labels, legend, lines of text.


def pillow() -> SimpleNamespace:
    """Return the modules of Pillow that are used here.

    Raises
    ------
    MissingDependency
        Pillow is not installed.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise MissingDependency.of("a picture", "Pillow", "view") from None
    return SimpleNamespace(Image=Image, ImageDraw=ImageDraw, ImageFont=ImageFont)


class Canvas:
    """A picture to write on.

    Parameters
    ----------
    image : PIL.Image
        Drawn on in place.
    camera : Camera
        The camera of the image.
    """

    def __init__(self, image: Any, seen: Picture, camera: Camera) -> None:
        self.image, self.seen, self.camera = image, seen, camera
        modules = pillow()
        self._letter = max(_CANVAS_SMALLEST, round(_LETTER * image.size[1]))
        self._font = modules.ImageFont.load_default(self._letter)
        self._draw = modules.ImageDraw.Draw(image, "RGBA")

    def label(self) -> None:
        """Label the joints, closures first, where a label fits without overlap."""
        taken: list[Box] = []
        for joint in labelled(self.seen):
            name = shortened(visible(joint.name), LONGEST)
            x, y = self.camera.pixels(joint.X_WJ.p, self.image.size)[0]
            width, height = self._draw.textlength(name, font=self._font), 1.2 * self._letter
            for box in self._places(float(x), float(y), width, height):
                if not any(_overlap(box, other) for other in taken):
                    taken.append(box)
                    self._tag(box, (float(x), float(y)), name, joint.verdict)
                    break

    def legend(self, keys: Collection[str]) -> None:
        """Draw the legend of the colours in the lower left corner."""
        entries = [entry for entry in LEGEND if entry.key in keys]
        step, edge = 1.45 * self._letter, 0.9 * self._letter
        y = self.image.size[1] - edge - step * len(entries)
        for entry in entries:
            red, green, blue, alpha = (round(255 * v) for v in PALETTE[entry.key].rgba)
            box = (edge, y, edge + self._letter, y + self._letter)
            if entry.marks == "joint":
                self._draw.ellipse(box, fill=(red, green, blue, alpha))
            elif entry.marks == "arrow":
                middle = y + 0.5 * self._letter
                line = (edge, middle, edge + self._letter, middle)
                ink = (red, green, blue, max(alpha, 140))
                self._draw.line(line, fill=ink, width=max(3, self._letter // 4))
            else:
                self._draw.rectangle(box, fill=(red, green, blue, alpha))
            self._text(edge + 1.6 * self._letter, y - 0.1 * self._letter, entry.text)
            y += step

    def say(self, lines: Sequence[str]) -> None:
        """Write lines of text in the upper left corner."""
        y = 0.8 * self._letter
        for line in lines:
            self._text(0.9 * self._letter, y, visible(line))
            y += 1.4 * self._letter

    def _places(self, x: float, y: float, width: float, height: float) -> list[Box]:
        """Return candidate boxes for a label that lie inside the picture, the best first."""
        gap = 1.4 * self._letter
        corners = [
            (x + sx * gap - (width if sx < 0 else 0.0), y + sy * gap - 0.5 * height)
            for far in (1.0, 2.4)
            for sx, sy in ((far, -far), (-far, -far), (far, far), (-far, far), (far, 0.0), (-far, 0.0))
        ]
        limit = self.image.size
        return [
            (left, top, left + width, top + height)
            for left, top in corners
            if left > 2 and top > 2 and left + width < limit[0] - 2 and top + height < limit[1] - 2
        ]

    def _tag(self, box: Box, at: tuple[float, float], name: str, key: str) -> None:
        left, top, right, bottom = box
        near = (float(np.clip(at[0], left, right)), 0.5 * (top + bottom))
        self._draw.line((*at, *near), fill=(*_INK, 150), width=1)
        pad = 0.25 * self._letter
        red, green, blue, _ = (round(255 * v) for v in PALETTE[key].rgba)
        self._draw.rectangle(
            (left - pad, top - pad / 2, right + pad, bottom + pad / 2),
            fill=(*_PALE, 205),
            outline=(red, green, blue, 255),
        )
        self._draw.text((left, top), name, fill=_INK, font=self._font)

    def _text(self, x: float, y: float, text: str) -> None:
        self._draw.text((x, y), text, fill=_INK, font=self._font, stroke_width=2, stroke_fill=(*_PALE, 255))


def _overlap(a: Box, b: Box) -> bool:
    gap = 4.0
    return a[0] < b[2] + gap and b[0] < a[2] + gap and a[1] < b[3] + gap and b[1] < a[3] + gap


# The camera of a picture: yaw, pitch and distance about a point, in PyBullet's conventions.


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera that looks at a point.

    Parameters
    ----------
    target_W : (3,) array
        The point at the centre of the picture, m.
    yaw, pitch : float
        Degrees; yaw 0 looks along y, a negative pitch looks down from above.
    distance : float
        From the target to the eye, m.
    """

    target_W: Array
    yaw: float
    pitch: float
    distance: float

    @property
    def R_WK(self) -> Array:
        """Axes (3, 3) of the camera in the world frame, as columns: right, up, and from the target to the eye."""
        yaw, pitch = np.radians(self.yaw), np.radians(self.pitch)
        right = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        back = np.array([np.sin(yaw) * np.cos(pitch), -np.cos(yaw) * np.cos(pitch), -np.sin(pitch)])
        return np.column_stack((right, np.cross(back, right), back))

    @property
    def eye_W(self) -> Array:
        """Position of the camera, (3,), m."""
        return np.asarray(self.target_W + self.distance * self.R_WK[:, 2])

    @property
    def view(self) -> list[float]:
        """The view matrix in PyBullet's column-major order."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.R_WK.T
        matrix[:3, 3] = -self.R_WK.T @ self.eye_W
        return [float(x) for x in matrix.T.ravel()]

    def pixels(self, points_W: Array, size: tuple[int, int]) -> Array:
        """Project ``points_W`` (n, 3) to pixels (n, 2) of a picture of width × height, origin at the upper left."""
        p_K = (np.atleast_2d(points_W) - self.eye_W) @ self.R_WK
        scale = 0.5 * size[1] / np.tan(np.radians(0.5 * FIELD))
        depth = np.maximum(-p_K[:, 2], 1e-9)
        return np.column_stack(
            (0.5 * size[0] + scale * p_K[:, 0] / depth, 0.5 * size[1] - scale * p_K[:, 1] / depth)
        )


def camera_for(
    seen: Picture, size: tuple[int, int], angles: tuple[float, ...] = (), cloud_W: Array | None = None
) -> Camera:
    """Return a camera that frames the robot.

    Parameters
    ----------
    size : tuple of int
        Width and height of the picture.
    angles : tuple of float
        Yaw and pitch in degrees and distance in m; missing ones are chosen.
    cloud_W : (n, 3) array, optional
        Points that must be in view besides the robot.
    """
    points = robot_points(seen)
    if cloud_W is not None and len(cloud_W):
        points = np.vstack((points, cloud_W))
    yaw, pitch = _angles(points)
    yaw, pitch = (*angles[:2], *(yaw, pitch)[len(angles[:2]) :])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    camera = Camera(middle, yaw, pitch, 1.0)
    camera = _framed(camera, points, size)
    return Camera(camera.target_W, yaw, pitch, angles[2]) if len(angles) > 2 else camera


def robot_points(seen: Picture) -> Array:
    """Return a sample of the joint positions and mesh vertices of a robot, (n, 3), world axes, m.

    Points farther than 1.5 radii of the picture from its centre are left out.
    """
    clouds = [joint.X_WJ.p[None] for joint in seen.joints]
    for index, body in enumerate(seen.bodies, start=-1):
        if body.parts and (index >= 0 or body.stick):
            X_WL = seen.poses.of(index)
            vertices = body.mesh.vertices
            clouds.append(vertices[:: max(1, len(vertices) // 400)] @ X_WL.R.T + X_WL.p)
    cloud = np.vstack(clouds) if clouds else np.zeros((1, 3))
    far = np.linalg.norm(cloud - seen.center_W, axis=1) > 1.5 * seen.radius
    return cloud[~far] if not far.all() else seen.center_W[None]


def _angles(points: Array) -> tuple[float, float]:
    """Return yaw and pitch, degrees, of a camera that sees flat ``points`` (n, 3) nearly face-on."""
    _, sigma, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    if len(sigma) < 3 or sigma[2] > _FLAT * sigma[1]:
        return _YAW, _PITCH
    n = axes[2]
    if abs(n[2]) > 0.7:
        return _YAW, _FROM_ABOVE
    yaws = [float(np.degrees(np.arctan2(s * n[0], -s * n[1]))) for s in (1.0, -1.0)]
    yaw = min(yaws, key=lambda angle: abs(_wrapped(angle - _YAW)))
    return yaw + float(np.clip(_wrapped(_YAW - yaw), -_TURNED, _TURNED)), 0.7 * _PITCH


def _framed(camera: Camera, points: Array, size: tuple[int, int]) -> Camera:
    """Return the camera with target and distance adjusted so that all ``points`` (n, 3) just fit."""
    tangent = np.tan(np.radians(0.5 * FIELD)) * _FILLED
    reach = np.array([tangent * size[0] / size[1], tangent])
    target = camera.target_W
    distance = 1.0
    for _ in range(8):
        p_K = (points - target) @ camera.R_WK
        need = p_K[:, 2] + np.abs(p_K[:, :2] / reach).max(axis=1)
        distance = max(float(need.max()), 1e-3)
        depth = distance - p_K[:, 2]
        across = p_K[:, :2] / depth[:, None]
        middle = 0.5 * (across.min(axis=0) + across.max(axis=0)) * distance
        target = target + camera.R_WK[:, :2] @ middle
    return Camera(target, camera.yaw, camera.pitch, distance)


def _wrapped(angle: float) -> float:
    return (angle + 180.0) % 360.0 - 180.0


# The joints that are labelled in a picture.


def labelled(seen: Picture) -> list[JointGlyph]:
    """Return the joints to label, closures first; only closures if there are many joints."""
    joints = [joint for joint in seen.joints if joint.type != "fixed"]
    closures = [joint for joint in joints if joint.kind == "closure"]
    if len(joints) > _MANY:
        return closures
    return [*closures, *(joint for joint in joints if joint.kind != "closure")]
