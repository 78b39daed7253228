"""``mbplugin stop-table``: stopping times and distances as in the manual of a manufacturer."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.braking import (
    BrakeOption,
    DecelerationOption,
    FullSpeedOption,
    RatedPayloadOption,
    RequireBrakesOption,
    ToolOption,
)
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.progress import total_bar
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report
from mbplugin.cli.shared.zones import (
    PayloadRadiusOption,
    ZoneOption,
    ZoneResolutionOption,
    zone_request,
)
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder
from mbplugin.report.formats import TableFormat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.model.scene import Scene
    from mbplugin.model.units import Units
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.text.layout import Line
    from mbplugin.stopping.table.values import StoppingTable

Axes = Annotated[
    list[str] | None,
    typer.Option("--axes", metavar="NAME,…", help="Joints; default: the first three that are not roll axes."),
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
Commands = Annotated[
    bool, typer.Option("--commands", help="In text output, print the estop command of each row.")
]
MeasuredOption = Annotated[
    Path | None,
    typer.Option(
        "--measured",
        metavar="MEASURED.csv",
        help="Measured stops as for calibrate, beside the computed ones.",
    ),
]
WorstOption = Annotated[
    bool, typer.Option("--worst", help="Search the worst stops of category 0 of the axes, too.")
]
FormatOption = Annotated[TableFormat, typer.Option("--output-format", help="The format of the output.")]


@reads_model
def stop_table_command(
    file: opt.FileArgument,
    axes: Axes = None,
    payload: RatedPayloadOption = None,
    speed: FullSpeedOption = None,
    category: Category = None,
    brake: BrakeOption = None,
    require_brakes: RequireBrakesOption = False,
    deceleration: DecelerationOption = None,
    tool: ToolOption = None,
    grid: GridOption = None,
    measured: MeasuredOption = None,
    worst: WorstOption = False,
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
    require_folder(output)
    earlier = earlier_report(against, "stop-table")
    scene = read_scene(file, (output, *(zone or ())), reading, also=(against, measured))
    given = quantities_of(scene, file, reading)
    requested = zone_request(zone, zone_resolution, payload_radius, output, given.units)
    from mbplugin.stopping.table.run import stopping_table

    speeds, brakes = given.rates(speed, "--speed"), given.brakes(brake)
    table = stopping_table(
        scene,
        axes=opt.split(axes) or None,
        payload=payload,
        speeds=speeds,
        categories=_categories(category),
        brakes=brakes,
        require_brakes=require_brakes,
        decelerations=given.accelerations(deceleration, "--deceleration"),
        tool=tool,
        grid=_grid(grid),
        measured=measured,
    )
    requested.write(scene, table)
    if worst:
        from mbplugin.stopping.worst.of_table import with_worst_stops

        with total_bar("stops") as progress:
            table = with_worst_stops(
                table, scene, payload=payload, speeds=speeds, brakes=brakes, progress=progress
            )
    emit_report(_report(table, scene, given.units, commands, measured), output_format, output, earlier)


def _report(
    table: StoppingTable, scene: Scene, units: Units, commands: bool, measured: Path | None
) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping.stop_table import stop_table_lines

        return stop_table_lines(table, width, commands=commands, units=units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import table_chapter

        return table_chapter(table, units, scene)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping.stop_table import stop_table_document

        return stop_table_document(table)

    return CommandReport(
        lines,
        document,
        partial(record_of_scene, scene, (measured,), standard=table.form),
        chapter,
        {"csv": partial(table.text, "csv")},
    )


def _categories(texts: list[str] | None) -> tuple[int, ...]:
    parts = opt.split(texts) or ("0", "1")
    if not set(parts) <= {"0", "1"}:
        raise BadUsage(f"--category has {','.join(parts)!r}", expected="0, 1 or both")
    return tuple(int(part) for part in parts)


def _grid(texts: list[str] | None) -> dict[str, list[int]]:
    """Return the shares by quantity from ``NAME=PERCENT,…``, percent."""
    grid: dict[str, list[int]] = {}
    for text in texts or ():
        name, equals, shares = text.partition("=")
        parts = opt.split([shares.replace("%", "")])
        if not equals or not all(part.isdecimal() for part in parts):
            raise BadUsage(f"--grid is {text!r}", expected="NAME=PERCENT,…, such as speed=25,50,100")
        opt.put_once(grid, name.strip(), [int(part) for part in parts], "--grid")
    return grid
