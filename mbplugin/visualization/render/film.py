"""Pictures and films as files: PNG, and GIF or MP4 by encoders of others."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.bullet.session import require_engine
from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.files import replacing, require_folder
from mbplugin.report.picture import Picture
from mbplugin.visualization.recording import RATE, Replay
from mbplugin.visualization.render.canvas import pillow
from mbplugin.visualization.render.render import Renderer

PICTURES, FILMS = (".png", ".jpg"), (".gif", ".mp4")
FILM_SIZE = (640, 360)
#: Times at which the last pose of a film is shown: it is what one wants to see.
_LAST = RATE
_COLOURS = 255
_SMALLEST, _LARGEST = 64, 4096


def check_files(picture: Path | None, film: Path | None) -> None:
    """Refuse before anything is computed what could not be shown or written after it.

    Raises
    ------
    BadUsage
        A name whose format nobody knows, or a folder that does not exist.
    MissingDependency
        What shows, draws or encodes it is not installed.
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
    replay: Replay | None = None,
    labels: bool = True,
) -> None:
    """Write a picture; that of a replay shows its end.

    Parameters
    ----------
    path : Path
        ``.png`` or ``.jpg``.
    said : sequence of str
        Lines above it.
    size : tuple of int
        Pixels.
    angles : tuple of float
        Of the camera: yaw and pitch (degrees) and distance (m), as far as they are given.
    labels : bool
        Whether joints are named.
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
    replay: Replay,
    size: tuple[int, int] = FILM_SIZE,
    angles: tuple[float, ...] = (),
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write a replay as a film, ``.gif`` or ``.mp4``; parameters as those of a picture.

    Parameters
    ----------
    progress : callable, optional
        Called with the number of finished pictures, and the total number.
    """
    # encoders halve the colours
    size = (size[0] - size[0] % 2, size[1] - size[1] % 2)
    _check_size(size)
    with Renderer(seen, size, angles, replay) as renderer, replacing(path) as temporary:
        frames = _frames(renderer, replay, said, progress)
        if path.suffix == ".gif":
            _write_gif(frames, temporary)
        else:
            _write_mp4(frames, temporary)


def _frames(
    renderer: Renderer, replay: Replay, said: Sequence[str], progress: Callable[[int, int], None] | None
) -> Iterator[Any]:
    for k, q in enumerate(replay.q):
        yield renderer.frame(q, (*said, *replay.said(k, replay.speed)))
        if progress is not None:
            progress(k + 1, len(replay.q))


def _write_gif(frames: Iterator[Any], path: Path) -> None:
    """Write a GIF whose pictures share the colours of the first."""
    image = pillow().Image
    first = next(frames).quantize(_COLOURS, kmeans=1, dither=image.Dither.NONE)
    rest = [frame.quantize(palette=first, dither=image.Dither.NONE) for frame in frames]
    still = [1000 // RATE] * len(rest) + [1000 * _LAST // RATE]
    first.save(path, save_all=True, append_images=rest, duration=still, loop=0)


def _write_mp4(frames: Iterator[Any], path: Path) -> None:
    with _encoder().get_writer(path, fps=RATE, macro_block_size=2, quality=7) as film:
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
