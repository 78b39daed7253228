"""``mbplugin estop``: compute the stop of a moving robot; and ``mbplugin stop-table``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli import options as opt
from mbplugin.cli.braking import (
    AS_IN_SCENE,
    BoundOption,
    Braking,
    CategoryOption,
    FullSpeedOption,
    LoadOption,
    PayloadRadiusOption,
    RatedPayloadOption,
    RestSpeedOption,
    StopDurationOption,
    StopLimitsOption,
    StopPayloadOption,
    ToolPointOption,
    ZoneOption,
    ZoneResolutionOption,
    parse_bound,
    time_bar,
    total_bar,
    zone_request,
)
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
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder
from mbplugin.report import TableFormat
from mbplugin.simulation.options import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.cli.quantities import Quantities
    from mbplugin.model import Scene, Units
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.text import Line
    from mbplugin.stopping.outcome import StopReport
    from mbplugin.stopping.scenario.start import Start
    from mbplugin.stopping.table import StoppingTable
    from mbplugin.stopping.zones import StopZone


PayloadShare = Annotated[
    float,
    typer.Option("--payload-share", metavar="S", help="Factor on the scene's payloads; 0 removes them."),
]
Trajectory = Annotated[
    Path | None,
    typer.Option(metavar="CSV|NPZ", help="Start from a recorded motion (columns time and joints)."),
]
To = Annotated[
    list[str] | None,
    typer.Option("--to", metavar="NAME=VALUE,…", help="Start during a move from --q to this pose."),
]
At = Annotated[
    float,
    typer.Option(metavar="S", parser=opt.seconds("--at"), help="Time of the stop signal in that motion, s."),
]
Axes = Annotated[
    list[str] | None,
    typer.Option(
        "--axes", metavar="NAME,…", help="Axes to stop; default: the first three that are not roll axes."
    ),
]
Category = Annotated[
    list[str] | None, typer.Option("--category", metavar="0,1", help="Stop categories; default: both.")
]
GridOption = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="NAME=PERCENT,…",
        help="Shares of speed, extension or payload instead of 33,66,100, in both categories; repeatable.",
    ),
]
EditionOption = Annotated[
    int,
    typer.Option(
        "--edition",
        metavar="YEAR",
        help="Edition of ISO 10218-1 to cite for the form of the table: 2011 or 2025.",
    ),
]
Commands = Annotated[
    bool, typer.Option("--commands", help="In text output, print the estop command of each row.")
]
MeasuredOption = Annotated[
    Path | None,
    typer.Option(
        "--measured",
        metavar="MEASURED.csv",
        help="Measured stops (a file as for calibrate) to compare with the computed ones.",
    ),
]
WorstOption = Annotated[
    bool, typer.Option("--worst", help="Also search for the worst stops of category 0 of these axes.")
]
FormatOption = Annotated[TableFormat, typer.Option("--output-format", help="Output format.")]
TableSeconds = Annotated[float, opt.time_limit("Time limit, s; the command fails if the table takes longer.")]


@reads_model
def estop_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    category: CategoryOption = 0,
    payload: StopPayloadOption = None,
    payload_share: PayloadShare = 1.0,
    braking: Braking = AS_IN_SCENE,
    tool_point: ToolPointOption = None,
    load: LoadOption = None,
    trajectory: Trajectory = None,
    to: To = None,
    at: At = 0.0,
    limits: StopLimitsOption = "stop",
    duration: StopDurationOption = 10.0,
    rest_speed: RestSpeedOption = None,
    max_seconds: opt.MaxSecondsOption = MAX_SECONDS,
    zone: ZoneOption = None,
    zone_resolution: ZoneResolutionOption = None,
    payload_radius: PayloadRadiusOption = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print how a moving robot stops: times, distances, loads and energies, computed, not measured.

    Exit code: 0 for every outcome, 2 for unusable input or wrong usage.
    """
    require_folder(output)
    earlier = earlier_report(against, "estop")
    scene = read_scene(file, (output, *(zone or ())), reading, also=(trajectory, against))
    given = quantities_of(scene, file, reading)
    requested = zone_request(zone, zone_resolution, payload_radius, output, given.units)
    from mbplugin.readers.standing import taken_in
    from mbplugin.stopping.run import estop

    with time_bar() as progress:
        report = estop(
            scene,
            given.coordinates(q),
            given.rates(qd),
            category=category,
            payload=given.tool_payloads(payload),
            payload_share=payload_share,
            **braking.arguments(given),
            loads=given.loads(load),
            start=_start(trajectory, to, q, at, given),
            tool_point=given.point(tool_point, "--tool-point"),
            limits=limits,
            duration=duration,
            rest_speed=given.rest_speed(rest_speed),
            max_seconds=max_seconds,
            progress=progress,
        )
    scene = taken_in(scene, report.scenario.mech)
    swept = requested.write(scene, report)
    written = _report(report, scene, file, given.units, trajectory, swept)
    emit_report(written, output_format, output, earlier)


def _report(
    stop: StopReport,
    scene: Scene,
    file: str,
    units: Units,
    trajectory: Path | None,
    zone: StopZone | None,
) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stop import estop_lines

        return estop_lines(stop, width, units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import stop_chapter

        return replace(stop_chapter(scene, stop, units), zone=zone)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping import estop_document

        return estop_document(stop, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene, (trajectory,)), chapter)


def _start(
    trajectory: Path | None, to: list[str] | None, q: list[str] | None, at: float, given: Quantities
) -> Start | None:
    from mbplugin.stopping.scenario.start import Move, Recorded

    if trajectory is not None and to is not None:
        raise BadUsage("--trajectory and --to were both given", expected="one of them")
    if trajectory is not None:
        return Recorded(trajectory, at)
    if to is not None:
        return Move(given.coordinates(q), given.coordinates(to, "--to"), at)
    if at:
        raise BadUsage(
            "--at states a time in a motion, but no motion is given", remedy="add --trajectory or --to"
        )
    return None


# ``mbplugin stop-table``: compute stopping times and distances as in a manufacturer's manual.


@reads_model
def stop_table_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    axes: Axes = None,
    payload: RatedPayloadOption = None,
    speed: FullSpeedOption = None,
    category: Category = None,
    braking: Braking = AS_IN_SCENE,
    grid: GridOption = None,
    edition: EditionOption = 2025,
    measured: MeasuredOption = None,
    worst: WorstOption = False,
    bound: BoundOption = None,
    max_seconds: TableSeconds = MAX_SECONDS,
    commands: Commands = False,
    zone: ZoneOption = None,
    zone_resolution: ZoneResolutionOption = None,
    payload_radius: PayloadRadiusOption = None,
    output_format: FormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print a stopping table and its assumptions: computed, not measured.

    Exit code: 0, or 2 for unusable input or wrong usage.
    """
    from mbplugin.stopping import CONFIDENCE, SHARE

    require_folder(output)
    earlier = earlier_report(against, "stop-table")
    share, confidence = (SHARE, CONFIDENCE) if bound is None else parse_bound(bound)
    from mbplugin.model import as_scene
    from mbplugin.readers.standing import on_stand

    scene = read_scene(file, (output, *(zone or ())), reading, also=(against, measured))
    scene = as_scene(on_stand(scene))
    given = quantities_of(scene, file, reading)
    requested = zone_request(zone, zone_resolution, payload_radius, output, given.units)
    from mbplugin.stopping.table.run import stopping_table

    speeds, pose, stated = given.rates(speed, "--speed"), given.coordinates(q), braking.arguments(given)
    table = stopping_table(
        scene,
        q=pose,
        axes=given.joints(axes, "--axes") or None,
        payload=payload,
        speeds=speeds,
        categories=_categories(category),
        **stated,
        grid=_grid(grid),
        edition=edition,
        measured=measured,
        share=share,
        confidence=confidence,
        max_seconds=max_seconds,
    )
    swept = requested.write(scene, table)
    if worst:
        from mbplugin.stopping.worst import with_worst_stops

        with total_bar("stops") as progress:
            table = with_worst_stops(
                table,
                scene,
                q=pose,
                payload=payload,
                speeds=speeds,
                progress=progress,
                **stated,
            )
    emit_report(
        _stop_table_report(table, scene, given.units, commands, measured, swept),
        output_format,
        output,
        earlier,
    )


def _categories(texts: list[str] | None) -> tuple[int, ...]:
    parts = opt.split(texts) or ("0", "1")
    if not set(parts) <= {"0", "1"}:
        raise BadUsage(f"--category has {','.join(parts)!r}", expected="0, 1 or both")
    return tuple(int(part) for part in parts)


def _stop_table_report(
    table: StoppingTable,
    scene: Scene,
    units: Units,
    commands: bool,
    measured: Path | None,
    zone: StopZone | None,
) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping import stop_table_lines

        return stop_table_lines(table, width, commands=commands, units=units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import table_chapter

        return replace(table_chapter(table, units, scene), zone=zone)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping import stop_table_document

        return stop_table_document(table)

    return CommandReport(
        lines,
        document,
        partial(record_of_scene, scene, (measured,), standard=table.form),
        chapter,
        {"csv": partial(table.text, "csv")},
    )


def _grid(texts: list[str] | None) -> dict[str, list[int]]:
    """Return the percentages by quantity from ``NAME=PERCENT,…``."""
    grid: dict[str, list[int]] = {}
    for text in texts or ():
        name, equals, shares = text.partition("=")
        parts = opt.split([shares.replace("%", "")])
        if not equals or not all(part.isdecimal() for part in parts):
            raise BadUsage(f"--grid is {text!r}", expected="NAME=PERCENT,…, such as speed=25,50,100")
        opt.put_once(grid, name.strip(), [int(part) for part in parts], "--grid")
    return grid
