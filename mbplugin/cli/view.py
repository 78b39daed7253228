"""``mbplugin view``: show the robot coloured by result, in a window, a picture or a film."""

from __future__ import annotations

import math
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mbplugin.cli import options as opt
from mbplugin.cli.braking import count_bar
from mbplugin.cli.report import (
    AS_WRITTEN,
    Reading,
    emit,
    emit_document,
    quantities_of,
    read_scene,
    reads_model,
)
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder

if TYPE_CHECKING:
    from mbplugin.model import Scene
    from mbplugin.visualization import Replay

Motion = Annotated[
    Path | None,
    typer.Option(metavar="CSV|NPZ", help="Replay a recorded motion, such as that of simulate --save."),
]
Stop = Annotated[bool, typer.Option("--stop", help="Replay the stop after a signal at --q and --qd.")]
Category = Annotated[int, typer.Option(help="Category of the stop: 0, 1 or 2.")]
Speed = Annotated[
    float | None, typer.Option(metavar="X", help="Speed relative to real time; default: replay of 3 to 30 s.")
]
Loop = Annotated[bool, typer.Option("--loop/--once", help="Restart a replay at its end.")]
PictureOption = Annotated[
    Path | None,
    typer.Option("--picture", metavar="FILE", help="Draw a picture, .png or .jpg, instead of a window."),
]
Film = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Film a replay, .gif or .mp4, instead of a window.")
]
Size = Annotated[
    str | None, typer.Option(metavar="WxH", help="Pixels; default 1280x720, for a film 640x360.")
]
CameraOption = Annotated[
    str | None,
    typer.Option("--camera", metavar="YAW,PITCH,DISTANCE", help="Degrees and m; the distance is optional."),
]
Labels = Annotated[bool, typer.Option("--labels/--no-labels", help="Show names of joints in a picture.")]


@reads_model
def view_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    motion: Motion = None,
    stop: Stop = False,
    qd: opt.QdOption = None,
    category: Category = 0,
    speed: Speed = None,
    loop: Loop = True,
    picture: PictureOption = None,
    film: Film = None,
    size: Size = None,
    camera: CameraOption = None,
    labels: Labels = True,
    planar: opt.PlanarOption = None,
    tolerance: opt.ToleranceOption = None,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Open a window with the robot coloured by result, or draw it to a file.

    Sliders move the robot along its constraint manifold. Exit code: 0, also when the window is closed;
    2 for unusable input, wrong usage, or without a display.
    """
    from mbplugin.visualization.render import check_files

    _check(motion, stop, bool(qd), film)
    check_files(picture, film)
    require_folder(output)
    pixels, angles = _size(size), _camera(camera)
    scene = read_scene(file, (output,), reading)
    given = quantities_of(scene, file, reading)
    scene, replayed = _replay(scene, given.coordinates(q), given.rates(qd), motion, category, speed, stop)
    from mbplugin.visualization.gui import open_or_draw

    with count_bar("pictures") if film is not None else nullcontext() as progress:
        viewed = open_or_draw(
            scene,
            q=given.coordinates(q),
            tolerance=tolerance,
            planar=planar,
            replay=replayed,
            loop=loop,
            picture=picture,
            film=film,
            size=pixels,
            camera=angles,
            labels=labels,
            progress=progress,
        )
    if output_format == "text":
        emit("".join(f"{line}\n" for line in viewed.lines), output)
    else:
        from mbplugin.report.documents.models import view_document

        emit_document(view_document(viewed, file, scene), output, output_format)


def _replay(
    scene: Scene,
    q: dict[str, float],
    qd: dict[str, float],
    motion: Path | None,
    category: int,
    speed: float | None,
    stop: bool,
) -> tuple[Scene, Replay | None]:
    """Return the scene for the replay, and the replay; None if there is no motion."""
    from mbplugin.visualization import replay_of

    if motion is not None:
        return scene, replay_of(scene, motion, speed)
    if not stop:
        return scene, None
    from mbplugin.readers.standing import taken_in
    from mbplugin.stopping.run import estop

    report = estop(scene, q, qd, category=category)
    scene = taken_in(scene, report.scenario.mech)
    return scene, replay_of(scene, report, speed)


def _check(motion: Path | None, stop: bool, rates: bool, film: Path | None) -> None:
    if motion is not None and stop:
        raise BadUsage("--motion and --stop were both given", expected="one of them")
    if film is not None and motion is None and not stop:
        raise BadUsage("a film shows a motion, and there is none", remedy="add --motion FILE or --stop")
    if rates and not stop:
        raise BadUsage(
            "--qd states the rates at the signal of a stop, but no stop is requested", remedy="add --stop"
        )


def _size(text: str | None) -> tuple[int, int] | None:
    """Return width and height of ``--size``, pixels."""
    if text is None:
        return None
    width, times, height = text.partition("x")
    if not (times and width.isdecimal() and height.isdecimal()):
        raise BadUsage(f"--size has {text!r}", expected="WIDTHxHEIGHT in pixels, such as 1280x720")
    return int(width), int(height)


def _camera(text: str | None) -> tuple[float, ...]:
    """Return the angles (degrees) and the distance (m) of ``--camera``; empty without the option."""
    if text is None:
        return ()
    from mbplugin.choices import decimal

    try:
        values = tuple(decimal(part) for part in text.split(","))
    except ValueError:
        values = ()
    usable = len(values) in (2, 3) and all(map(math.isfinite, values))
    if not usable or min(values[2:], default=1.0) <= 0:
        raise BadUsage(
            f"--camera has {text!r}", expected="YAW,PITCH or YAW,PITCH,DISTANCE, degrees and m above 0"
        )
    return values
