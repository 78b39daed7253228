"""``mbplugin crosscheck``: compare a motion with PyBullet's as its step decreases."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.acting import (
    DampingOption,
    FrictionOption,
    LoadOption,
    TorqueOption,
)
from mbplugin.cli.shared.braking import (
    BrakeOption,
    LockOption,
    StopPayloadOption,
)
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.progress import count_bar
from mbplugin.cli.shared.report import CommandReport, emit_report
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder
from mbplugin.simulation.budget import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.comparison.agreement import Agreement
    from mbplugin.model.scene import Scene
    from mbplugin.model.units import Units
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.text.layout import Line

Duration = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        parser=opt.seconds("--duration"),
        help="Duration, s; default 0.5, longer if a lock acts later.",
    ),
]
Signal = Annotated[
    float | None,
    typer.Option(metavar="S", parser=opt.seconds("--signal"), help="Time of the brake signal, s."),
]
Stop = Annotated[
    int | None, typer.Option(metavar="CATEGORY", help="Compare a stop of this category instead: 0, 1 or 2.")
]
Against = Annotated[
    Path | None, typer.Option(metavar="URDF", help="PyBullet's model; default: the scene's own URDF.")
]
Step = Annotated[
    float | None,
    typer.Option(
        metavar="S", parser=opt.seconds("--step"), help="PyBullet's coarsest step, s; default: automatic."
    ),
]
Iterations = Annotated[int, typer.Option(metavar="N", help="Iterations of PyBullet's solver.")]
MaxSeconds = Annotated[
    float,
    typer.Option("--max-seconds", metavar="S", help="Time limit, s, for our motion and for PyBullet's."),
]
Picture = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also draw the errors and both motions, .png, .svg or .pdf."),
]


@reads_model
def crosscheck_command(
    file: opt.FileArgument,
    duration: Duration = None,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    lock: LockOption = None,
    brake: BrakeOption = None,
    signal: Signal = None,
    stop: Stop = None,
    load: LoadOption = None,
    payload: StopPayloadOption = None,
    torque: TorqueOption = None,
    damping: DampingOption = True,
    friction: FrictionOption = True,
    against: Against = None,
    step: Step = None,
    iterations: Iterations = 500,
    max_seconds: MaxSeconds = MAX_SECONDS,
    snap_angles: opt.SnapAnglesOption = False,
    picture: Picture = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Check whether PyBullet's motion converges to ours as its step decreases; print the largest deviations.

    Exit code: 0 if it agrees, 1 if it does not or the motions are not comparable, 2 for unusable input or
    wrong usage.
    """
    from mbplugin.bullet.session import require_engine

    _require_files(picture, output)
    require_engine("a cross-check")
    if stop is not None and (duration or lock or torque or signal is not None):
        raise BadUsage("--stop was given with --duration, --lock, --torque or --signal", expected="it alone")
    scene = read_scene(file, (output, picture), reading, snap_angles=snap_angles)
    given = quantities_of(scene, file, reading)
    brakes = given.brakes(brake)
    loads = given.loads(load)
    payloads = given.tool_payloads(payload)
    from mbplugin.comparison.crosscheck import crosscheck

    common: dict[str, Any] = {
        "against": None if against is None else str(against),
        "step": step,
        "iterations": iterations,
        "max_seconds": max_seconds,
    }
    state = given.coordinates(q), given.rates(qd)
    with count_bar("motions of PyBullet") as progress:
        if stop is not None:
            from mbplugin.stopping.run import estop

            report = estop(
                scene,
                *state,
                category=stop,
                payload=payloads,
                brakes=brakes,
                loads=loads,
                damping=damping,
                friction=friction,
            )
            found = crosscheck(report, **common, progress=progress)
        elif isinstance(payloads, float):
            raise BadUsage("--payload names no body", expected="BODY:MASS[@X,Y,Z]")
        else:
            found = crosscheck(
                scene,
                duration,
                q=state[0],
                qd=state[1],
                locks=given.locks(lock),
                brakes=brakes or None,
                signal=signal,
                loads=loads,
                payload=payloads or (),
                torques=given.torques(torque),
                damping=damping,
                friction=friction,
                **common,
                progress=progress,
            )
    if picture is not None:
        found.plot(picture)
    emit_report(_report(found, scene, file, given.units), output_format, output)
    if not found.agrees:
        raise typer.Exit(1)


def _require_files(picture: Path | None, output: Path | None) -> None:
    """Refuse before anything is computed what could not be written after it."""
    for path in (picture, output):
        require_folder(path)
    if picture is not None:
        from mbplugin.simulation.trajectory.plotting import require_picture

        require_picture(picture)


def _report(found: Agreement, scene: Scene, file: str, units: Units) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.crosscheck import crosscheck_lines

        return crosscheck_lines(found, scene.mechanism.name, width, units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import agreement_chapter

        return agreement_chapter(scene, found)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.crosscheck import crosscheck_document

        return crosscheck_document(found, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene), chapter)
