"""``mbplugin worst-stop``: search for the stops with the longest time, travel and tool path; and ``mbplugin sweep``."""

from __future__ import annotations

from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli import options as opt
from mbplugin.cli.braking import (
    AS_IN_SCENE,
    BoundOption,
    Braking,
    CategoryOption,
    DelayToleranceOption,
    FullSpeedOption,
    LoadOption,
    PayloadRadiusOption,
    RatedPayloadOption,
    StopDurationOption,
    StopLimitsOption,
    StopPayloadOption,
    TorqueToleranceOption,
    ZoneOption,
    ZoneResolutionOption,
    count_bar,
    parse_bound,
    parse_range,
    total_bar,
    zone_request,
)
from mbplugin.cli.help import ForceOption
from mbplugin.cli.report import (
    AS_WRITTEN,
    CommandReport,
    Reading,
    complain,
    earlier_report,
    emit_report,
    quantities_of,
    read_scene,
    reads_model,
    record_of_scene,
)
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.files import require_folder
from mbplugin.model import SI, Backend, FailureKind, Moving
from mbplugin.phrases import ended, visible
from mbplugin.processes.supervised import exit_code_of, termination_interrupts
from mbplugin.simulation.options import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.model import Scene, Units
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.text import Line
    from mbplugin.stopping.sweep import Swept
    from mbplugin.stopping.sweep.run import SweepReport
    from mbplugin.stopping.worst_search import Failure, WorstStops


_FORM = "dead, worn=SHARE or late=SECONDS"
Axes = Annotated[
    list[str] | None,
    typer.Option(
        "--axes",
        metavar="NAME,…",
        help="Axes that move; default: all up to the tool that have a velocity limit.",
    ),
]
MovingOption = Annotated[
    Moving, typer.Option("--moving", help="one: one axis at a time at full speed; all: all at once.")
]
PayloadRange = Annotated[
    str,
    typer.Option(
        "--payload-range", metavar="LOW,HIGH", help="Smallest and largest share of the rated payload."
    ),
]
FailureOption = Annotated[
    list[str] | None,
    typer.Option(
        "--failure",
        metavar="dead|worn=SHARE|late=S",
        help="Also find the worst stops with each brake failing in this way; repeatable.",
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Random stops at the start of each search; default: 2000, or 100 with loops or couplings.",
    ),
]
Seed = Annotated[int, typer.Option(metavar="S", help="Seed of the search.")]
MaxSeconds = Annotated[
    float,
    opt.time_limit("Time limit of the search, s; when it ends, the worst stops so far are reported."),
]
Commands = Annotated[
    bool, typer.Option("--commands", help="In text output, print the estop command of each stop.")
]
#: Most recomputed files to list individually.
_LINES = 10
Out = Annotated[
    Path,
    typer.Option(
        "--out", metavar="FOLDER", help="Folder for the part files; an interrupted sweep in it is resumed."
    ),
]
Number = Annotated[int, typer.Option("--number", metavar="N", help="Number of stops.")]
SweepSeed = Annotated[int, typer.Option(metavar="S", help="Seed of the random numbers.")]
Trajectory = Annotated[
    Path | None,
    typer.Option(metavar="CSV|NPZ", help="Draw the initial states from the samples of this motion."),
]
EnvelopeFile = Annotated[
    Path | None,
    typer.Option(
        "--save-envelope",
        metavar="FILE.csv",
        help="Also save the largest force and moment of every joint over all stops, .csv.",
    ),
]
Instants = Annotated[
    int | None,
    typer.Option(metavar="N", help="Samples of each stop for --save-envelope, plus jumps; default: all."),
]
Spread = Annotated[
    float, typer.Option("--q-spread", metavar="R", help="Largest variation of coordinates, rad and m.")
]
Speeds = Annotated[
    str, typer.Option("--speed-range", metavar="LOW,HIGH", help="Range of the factor on all rates.")
]
Payloads = Annotated[
    str,
    typer.Option("--payload-range", metavar="LOW,HIGH", help="Range of the factor on the payload's mass."),
]
BackendOption = Annotated[
    Backend, typer.Option("--backend", help="loky: this machine's cores; dask or ray: a cluster.")
]
Threads = Annotated[
    int, typer.Option("--jobs", metavar="K", help="Threads, for the same result; -1: all cores.")
]
Jobs = Annotated[int, typer.Option(metavar="K", help="Processes or threads; -1: all cores.")]
Address = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Address of dask's scheduler or of ray; default: this machine."),
]


@reads_model
def worst_stop_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    axes: Axes = None,
    category: CategoryOption = 0,
    moving: MovingOption = "one",
    payload: RatedPayloadOption = None,
    payload_range: PayloadRange = "0,1",
    speed: FullSpeedOption = None,
    braking: Braking = AS_IN_SCENE,
    torque_tolerance: TorqueToleranceOption = 0.0,
    delay_tolerance: DelayToleranceOption = 0.0,
    failure: FailureOption = None,
    limits: StopLimitsOption = "stop",
    duration: StopDurationOption = 10.0,
    samples: Samples = None,
    seed: Seed = 0,
    bound: BoundOption = None,
    max_seconds: MaxSeconds = MAX_SECONDS,
    jobs: Threads = -1,
    commands: Commands = False,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Search poses, directions, payloads and brakes for the worst stops of a category: a lower bound of the worst.

    Exit code: 0 for all outcomes, 2 for unusable input or wrong usage.
    """
    from mbplugin.stopping import CONFIDENCE, SHARE

    require_folder(output)
    earlier = earlier_report(against, "worst-stop")
    share, confidence = (SHARE, CONFIDENCE) if bound is None else parse_bound(bound)
    from mbplugin.model import as_scene
    from mbplugin.readers.standing import on_stand

    scene = as_scene(on_stand(read_scene(file, (output,), reading, also=(against,))))
    given = quantities_of(scene, file, reading)
    speeds = given.rates(speed, "--speed")
    from mbplugin.stopping.worst import worst_stop

    with total_bar("stops") as progress:
        worst = worst_stop(
            scene,
            q=given.coordinates(q),
            axes=given.joints(axes, "--axes") or None,
            category=category,
            moving=moving,
            payload=payload,
            payload_range=parse_range("--payload-range", payload_range),
            speeds=speeds,
            **braking.arguments(given),
            torque_tolerance=torque_tolerance,
            delay_tolerance=delay_tolerance,
            failures=[_parse_failure(text) for text in failure or ()],
            limits=limits,
            duration=duration,
            samples=samples,
            seed=seed,
            max_seconds=max_seconds,
            jobs=jobs,
            share=share,
            confidence=confidence,
            progress=progress,
        )
    emit_report(_report(worst, scene, file, given.units, commands), output_format, output, earlier)


def _report(worst: WorstStops, scene: Scene, file: str, units: Units, commands: bool) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping import worst_stop_lines

        return worst_stop_lines(worst, width, commands=commands, units=units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import worst_chapter

        return worst_chapter(worst, units)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping import worst_stop_document

        return worst_stop_document(worst, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene), chapter)


def _parse_failure(text: str) -> Failure:
    """Return the failure that ``--failure`` describes.

    Raises
    ------
    BadUsage
        The kind is unknown, or an amount is missing or not expected.
    """
    from mbplugin.stopping.worst_search import Failure

    kinds: dict[str, FailureKind] = {"dead": "dead", "worn": "worn", "late": "late"}
    word, equals, amount = text.partition("=")
    kind = kinds.get(word.strip())
    if kind is None or bool(equals) == (kind == "dead"):
        raise BadUsage(f"--failure has {text!r}", expected=_FORM)
    try:
        size = SI.value(amount, "time" if kind == "late" else "number", "--failure has") if equals else 0.0
    except BadUsage:
        raise BadUsage(f"--failure has {text!r}", expected=_FORM) from None
    return Failure(kind, size)


# ``mbplugin sweep``: compute many stops with random states, brakes and payloads, on all cores or a cluster.


@reads_model
def sweep_command(
    file: opt.FileArgument,
    out: Out,
    number: Number,
    seed: SweepSeed = 0,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    trajectory: Trajectory = None,
    q_spread: Spread = 0.0,
    speed_range: Speeds = "1,1",
    category: CategoryOption = 0,
    braking: Braking = AS_IN_SCENE,
    torque_tolerance: TorqueToleranceOption = 0.0,
    delay_tolerance: DelayToleranceOption = 0.0,
    payload: StopPayloadOption = None,
    payload_range: Payloads = "1,1",
    load: LoadOption = None,
    bound: BoundOption = None,
    limits: StopLimitsOption = "stop",
    duration: StopDurationOption = 10.0,
    max_seconds: opt.MaxSecondsOption = MAX_SECONDS,
    backend: BackendOption = "loky",
    jobs: Jobs = -1,
    address: Address = None,
    zone: ZoneOption = None,
    zone_resolution: ZoneResolutionOption = None,
    payload_radius: PayloadRadiusOption = None,
    save_envelope: EnvelopeFile = None,
    instants: Instants = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    force: ForceOption = False,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print quantiles and worst cases of many stops: computed, not measured.

    Every stop depends only on the seed and its number, not on the backend. Exit code: 0 for all outcomes, 130
    if interrupted and 143 if terminated (the same command resumes the sweep), 2 for unusable input or wrong
    usage.
    """
    from mbplugin.stopping.sweep.plan import connected, end_workers, joblib_with

    require_folder(output)
    _require_loads(save_envelope, instants, (output, *(zone or ())))
    earlier = earlier_report(against, "sweep")
    share = None if bound is None else parse_bound(bound)
    joblib_with(backend)
    scene = read_scene(file, (output, save_envelope, *(zone or ())), reading, also=(trajectory, against))
    given = quantities_of(scene, file, reading)
    requested = zone_request(zone, zone_resolution, payload_radius, output, given.units)
    from mbplugin.readers.standing import taken_in
    from mbplugin.stopping.sweep import Swept, sweep_plan
    from mbplugin.stopping.sweep.run import sweep

    plan = sweep_plan(
        scene,
        number,
        given.coordinates(q),
        given.rates(qd),
        seed=seed,
        trajectory=trajectory,
        q_spread=q_spread,
        speed_range=parse_range("--speed-range", speed_range),
        category=category,
        payload=given.tool_payloads(payload),
        **braking.arguments(given),
        torque_tolerance=torque_tolerance,
        delay_tolerance=delay_tolerance,
        payload_range=parse_range("--payload-range", payload_range),
        loads=given.loads(load),
        limits=limits,
        duration=duration,
        max_seconds=max_seconds,
    )
    try:
        with (
            termination_interrupts(),
            count_bar("stops") as progress,
            connected(backend, address, jobs),
        ):
            report = sweep(plan, out, jobs=jobs, backend=backend, progress=progress, force=force)
            if backend == "loky" and jobs != 1:
                # all parts are in the folder, so the workers are no longer needed
                end_workers()
    except KeyboardInterrupt as interrupt:
        complain(f"mbplugin: interrupted; run the same command again to resume in {out}.")
        raise typer.Exit(exit_code_of(interrupt)) from None
    _tell_replaced(report)
    scene = taken_in(scene, plan.scenario.mech)
    requested.write(scene, plan)
    swept = Swept(report, plan, str(out), {} if share is None else report.bounds(*share))
    if save_envelope is not None:
        with count_bar("stops with their loads") as progress:
            done = count(1)
            loads = swept.envelope(
                instants=instants,
                stiffness=scene.stiffness,
                progress=lambda _: progress(next(done), plan.count) if progress is not None else None,
            )
        loads.save(save_envelope)
        for sentence in loads.notes:
            complain(f"mbplugin: {ended(visible(sentence))}")
    emit_report(_sweep_report(swept, scene, file, given.units, trajectory), output_format, output, earlier)


def _require_loads(file: Path | None, instants: int | None, outputs: tuple[Path | None, ...]) -> None:
    """Require a file for largest loads that can be written, before the stops are computed.

    Raises
    ------
    BadUsage
        The file is no .csv file, its folder is missing or another output has its name, or --instants is given alone.
    BadNumber
        --instants is impossible.
    """
    from mbplugin.readers.motions import MOST_INSTANTS

    if file is None:
        if instants is not None:
            raise BadUsage("--instants is given without --save-envelope", expected="both, or neither")
        return
    if instants is not None and not 1 <= instants <= MOST_INSTANTS:
        raise BadNumber(f"--instants is {instants}", expected=f"1 to {MOST_INSTANTS}")
    if file.suffix.lower() != ".csv":
        raise BadUsage(f"cannot save the largest loads as {file.name!r}", expected="a .csv file")
    require_folder(file)
    if file.resolve() in [other.resolve() for other in outputs if other is not None]:
        raise BadUsage("two outputs are the same file", expected="different files")


def _tell_replaced(report: SweepReport) -> None:
    """List on stderr the files of the folder that were recomputed."""
    lines = [f"{file} was computed again: {reason}" for file, reason in report.replaced.items()]
    for line in lines[:_LINES]:
        complain(f"mbplugin: {visible(line)}.")
    if len(lines) > _LINES:
        complain(f"mbplugin: {len(lines) - _LINES} more files were computed again.")


def _sweep_report(
    swept: Swept, scene: Scene, file: str, units: Units, trajectory: Path | None
) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping import sweep_lines

        return sweep_lines(swept, width, units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import sweep_chapter

        return sweep_chapter(swept, units)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping import sweep_document

        return sweep_document(swept, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene, (trajectory,)), chapter)
