"""``mbplugin diff``: compare two models of a robot; also ``close``, ``crosscheck`` and ``engines``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from mbplugin.choices import LOSS_KINDS, Format
from mbplugin.cli import braking, options as opt
from mbplugin.cli.report import (
    AS_WRITTEN,
    CommandReport,
    Reading,
    earlier_report,
    emit_report,
    quantities_of,
    read_scene,
    reads_model,
    record_of_scene,
)
from mbplugin.errors import BadUsage, suggestion
from mbplugin.files import require_folder
from mbplugin.report import DiffFormat
from mbplugin.simulation.options import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.closing.drift import Closing
    from mbplugin.comparison.agreement import Agreement
    from mbplugin.comparison.models.alignment import ModelDiff
    from mbplugin.comparison.run import EngineWord
    from mbplugin.comparison.side_by_side import SideBySide
    from mbplugin.model import LossKind, Scene, Units
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.record import Record
    from mbplugin.report.text import Line

FirstArgument = Annotated[
    str,
    typer.Argument(
        metavar="A",
        help="A model or scene file, also at a git revision, such as HEAD:robot.urdf; - reads stdin.",
    ),
]
SecondArgument = Annotated[str, typer.Argument(metavar="B", help="The model to compare it with.")]
MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="A=B,…",
        help="Links or joints of A and their names in B, if neither names nor structure match them.",
    ),
]
SameOption = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="T",
        help="Relative tolerance of masses, and angles in rad; inertias 10 T, joints T/10 of the size; default 0.001.",
    ),
]
StopsOption = Annotated[
    bool,
    typer.Option("--stops", help="Also compute the emergency stop of each joint in both models."),
]
DiffFormatOption = Annotated[
    DiffFormat,
    typer.Option(
        "--output-format",
        help="The format of the output; html is a single-file report, github the comment of a pull request.",
    ),
]
ToOption = Annotated[Format, typer.Option("--to", help="Format to write.")]
WriteOption = Annotated[
    Path | None,
    typer.Option(
        "--write", metavar="FILE", help="File to write; without this option, only the report is printed."
    ),
]
DrivenOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,…", help="Joints that must not be cut, with * and ?; default: those with a drive."
    ),
]
AllowLossOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KIND,…",
        help=f"Losses to accept with exit code 0: {', '.join(LOSS_KINDS)} or all.",
    ),
]
DriftOption = Annotated[
    bool,
    typer.Option(
        "--drift/--no-drift",
        help="Run the original and the written model in MuJoCo and PyBullet, at rest and driven.",
    ),
]
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
    Path | None, typer.Option(metavar="URDF", help="Model for PyBullet; default: the URDF of the scene.")
]
Step = Annotated[
    float | None,
    typer.Option(
        metavar="S", parser=opt.seconds("--step"), help="Largest step of the engine, s; default: automatic."
    ),
]
Iterations = Annotated[int, typer.Option(metavar="N", help="Iterations of PyBullet's solver.")]
MaxSeconds = Annotated[
    float,
    typer.Option(
        "--max-seconds",
        metavar="S",
        help="Time limit for the computed motion and for that of each engine, s.",
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also draw the errors and both motions, .png, .svg or .pdf."),
]
HoldOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,…",
        help="Joints to hold; default: as many of the actuated joints as are needed for rest.",
    ),
]
CheckedBy = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="pybullet or mujoco; default: both, if they are installed.",
    ),
]
EngineOption = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        metavar="NAME,…",
        help="Engines to compare with: pybullet, mujoco (both by default), pinocchio.",
    ),
]


@reads_model
def diff_command(
    first: FirstArgument,
    second: SecondArgument,
    map: MapOption = None,
    tolerance: SameOption = None,
    stops: StopsOption = False,
    output_format: DiffFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Compare two models: report whether they are the same robot, the differences, and probable causes.

    Fixed links are merged. Link frames, joint axes and zero positions of B are converted to those of A, and the report
    lists each conversion. Exit code: 0 the same, 1 different, 2 unusable input or wrong usage.
    """
    from contextlib import ExitStack

    from mbplugin.cli.revision import scene_of
    from mbplugin.comparison.models import TOLERANCE, diff

    earlier = earlier_report(against, "diff")
    with ExitStack() as kept:
        scenes = tuple(
            kept.enter_context(scene_of(file, (output,), reading, (against,), anew=file is first))
            for file in (first, second)
        )
        names = opt.parse_names(map)
        with braking.count_bar("joints") as progress:
            found = diff(
                *scenes,
                names=names,
                tolerance=TOLERANCE if tolerance is None else tolerance,
                stops=stops,
                progress=progress,
            )
        emit_report(_report(found, scenes, (first, second)), output_format, output, earlier)
    if not found.same:
        raise typer.Exit(1)


def _report(found: ModelDiff, scenes: tuple[Scene, ...], files: tuple[str, str]) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.models import diff_lines

        return diff_lines(found, files, width)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import diff_chapter

        return diff_chapter(scenes[0], found)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.models import diff_document

        return diff_document(found, files, [file for scene in scenes for file in scene.files])

    def record() -> Record:
        return record_of_scene(scenes[0], scenes[1].files)

    def comment() -> str:
        from mbplugin.report.ci import diff_comment

        return diff_comment(found, files)

    return CommandReport(lines, document, record, chapter, {"github": comment})


# ``mbplugin close``: write a model in another format, with its loops closed by constraints of that format.


@reads_model
def close_command(
    file: opt.FileArgument,
    to: ToOption,
    write: WriteOption = None,
    q: opt.QOption = None,
    driven: DrivenOption = None,
    tolerance: opt.ToleranceOption = None,
    allow_loss: AllowLossOption = None,
    drift: DriftOption = True,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Write a model in another format with its loops closed by the weakest joints that keep the mobility, and check it.

    A loop is cut at a joint that the format can close, else where the projective criterion is largest; driven joints
    are not cut. Exit code: 0; 1 if the written file has redundant constraints or another mobility, lacks parts that
    --allow-loss does not name, or moves differently under the same commands; 2 for unusable input, wrong usage, or a
    constraint that the format cannot express.
    """
    from mbplugin.closing.choice import close
    from mbplugin.writers.written import ENDINGS

    if write is not None and not write.name.endswith(ENDINGS[to]):
        raise BadUsage(f"--write is {str(write)!r}", expected=f"a file with the ending {ENDINGS[to]}")
    allowed = _allowed_losses(allow_loss)
    require_folder(write)
    earlier = earlier_report(against, "close")
    scene = read_scene(file, (output, write), reading, also=(against,))
    given = quantities_of(scene, file, reading)
    named = None if driven is None else opt.split(driven)
    found = close(scene, to, given.coordinates(q), tolerance=tolerance, driven=named, measure_drift=drift)
    if write is not None:
        found.save(write)
    written = None if write is None else str(write)
    lost = {loss.kind for loss in found.written.losses} - allowed
    refused = [kind for kind in LOSS_KINDS if kind in lost]
    emit_report(_close_report(found, scene, file, written, refused), output_format, output, earlier)
    if refused or not found.proved or found.strays:
        raise typer.Exit(1)


def _allowed_losses(words: list[str] | None) -> frozenset[str]:
    """Return the named kinds of losses; all kinds for ``all``."""
    named = frozenset(opt.split(words or []))
    for word in sorted(named - {*LOSS_KINDS, "all"}):
        raise BadUsage(
            f"--allow-loss has {word!r}",
            expected=f"kinds among {', '.join(LOSS_KINDS)}, or all",
            remedy=suggestion(word, (*LOSS_KINDS, "all")),
        )
    return frozenset(LOSS_KINDS) if "all" in named else named


def _close_report(
    found: Closing, scene: Scene, file: str, written: str | None, refused: list[LossKind]
) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.models import close_lines

        return close_lines(found, width, written, refused)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.models import close_document

        return close_document(found, file, scene.files, written, refused)

    return CommandReport(lines, document, partial(record_of_scene, scene))


# ``mbplugin crosscheck``: compare a motion with those of the engines as their steps decrease.


@reads_model
def crosscheck_command(
    file: opt.FileArgument,
    duration: Duration = None,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    lock: braking.LockOption = None,
    brake: braking.BrakeOption = None,
    signal: Signal = None,
    stop: Stop = None,
    load: braking.LoadOption = None,
    payload: braking.StopPayloadOption = None,
    torque: braking.TorqueOption = None,
    damping: braking.DampingOption = True,
    friction: braking.FrictionOption = True,
    engine: CheckedBy = None,
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
    """Check whether the motions of PyBullet and MuJoCo converge to ours as their steps decrease.

    Exit code: 0 if it agrees, 1 if it does not or the motions are not comparable, 2 for unusable input or
    wrong usage.
    """
    from mbplugin.comparison.run import ENGINES, crosscheck, engines_for

    _require_files(picture, output)
    if engine is not None and engine not in ENGINES:
        names = tuple(ENGINES)
        raise BadUsage(
            f"--engine is {engine!r}", expected=" or ".join(names), remedy=suggestion(engine, names)
        )
    checked_by = cast("EngineWord | None", engine)
    engines_for(checked_by)
    if stop is not None and (duration or lock or torque or signal is not None):
        raise BadUsage("--stop was given with --duration, --lock, --torque or --signal", expected="it alone")
    scene = read_scene(file, (output, picture), reading, snap_angles=snap_angles)
    given = quantities_of(scene, file, reading)
    brakes = given.brakes(brake)
    loads = given.loads(load)
    payloads = given.tool_payloads(payload)
    common: dict[str, Any] = {
        "engine": checked_by,
        "against": None if against is None else str(against),
        "step": step,
        "iterations": iterations,
        "max_seconds": max_seconds,
    }
    state = given.coordinates(q), given.rates(qd)
    with braking.count_bar("motions of the engines") as progress:
        if stop is not None:
            from mbplugin.stopping.run import estop

            report = estop(
                # the base is not assumed to be fixed, since in PyBullet it falls unless it is fixed
                replace(scene, base_open=False),
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
                payload=payloads,
                torques=given.torques(torque),
                damping=damping,
                friction=friction,
                **common,
                progress=progress,
            )
    if picture is not None:
        found.plot(picture)
    emit_report(_crosscheck_report(found, scene, file, given.units), output_format, output)
    if not found.agrees:
        raise typer.Exit(1)


def _require_files(picture: Path | None, output: Path | None) -> None:
    """Require, before the computation starts, that the output files can be written."""
    for path in (picture, output):
        require_folder(path)
    if picture is not None:
        from mbplugin.simulation.trajectory.resampling import require_picture

        require_picture(picture)


def _crosscheck_report(found: Agreement, scene: Scene, file: str, units: Units) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.models import crosscheck_lines

        return crosscheck_lines(found, scene.mechanism.name, width, units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import agreement_chapter

        return agreement_chapter(scene, found)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.motions import crosscheck_document

        return crosscheck_document(found, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene), chapter)


# ``mbplugin engines``: compare the joint forces of several engines side by side.


@reads_model
def engines_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    load: braking.LoadOption = None,
    payload: braking.PayloadOption = None,
    hold: HoldOption = None,
    stance: opt.StanceOption = None,
    friction: opt.GroundFrictionOption = None,
    engine: EngineOption = None,
    tolerance: opt.ToleranceOption = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print the joint forces of mbplugin, PyBullet, MuJoCo and Pinocchio, and which of them a rigid model determines.

    Without rates the robot is at rest; with rates the forces are those at this instant of the motion. A wrench
    acts on the successor, at the origin of its joint frame. Exit code: 0; 1 if the engines differ by more than
    1 % in a component that is unique; 2 for unusable input, wrong usage, or a mechanism that moves under
    the load.
    """
    from mbplugin.comparison.side_by_side import engines
    from mbplugin.readers.standing import taken_in

    earlier = earlier_report(against, "engines")
    scene = read_scene(file, (output,), reading, also=(against,))
    given = quantities_of(scene, file, reading)
    found = engines(
        scene,
        given.coordinates(q),
        given.rates(qd) if qd else None,
        loads=given.loads(load),
        payload=given.payloads(payload),
        hold=None if hold is None else given.joints(hold, "--hold"),
        stance=None if stance is None else opt.split(stance),
        friction=friction,
        only=None if engine is None else opt.split(engine),
        tolerance=tolerance,
    )
    scene = taken_in(scene, found.mechanism)
    emit_report(_engines_report(found, scene, file), output_format, output, earlier)
    if not found.agrees:
        raise typer.Exit(1)


def _engines_report(found: SideBySide, scene: Scene, file: str) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.models import engines_lines

        return engines_lines(found, width)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import engines_chapter

        return engines_chapter(scene, found)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.models import engines_document

        return engines_document(found, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene), chapter)
