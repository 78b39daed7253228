"""``mbplugin calibrate``: brakes and ramps of a robot from measured stops."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.braking import (
    BoundOption,
    FullSpeedOption,
    RatedPayloadOption,
    ToolOption,
    parse_bound,
)
from mbplugin.cli.shared.command_line import command_line
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.progress import total_bar
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder
from mbplugin.report.formats import SceneFormat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.model.units import Units
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.record import Record
    from mbplugin.report.text.layout import Line
    from mbplugin.stopping.calibration.values import Calibration

Measured = Annotated[
    Path,
    typer.Argument(metavar="MEASURED.csv", help="Measured stops: joint, category, speed, time, distance …"),
]
HoldOut = Annotated[
    str | None,
    typer.Option(
        "--hold-out", metavar="EXPR", help="Predict rows, such as speed=100% or payload>3; fit the others."
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameters",
        metavar="NAME,…",
        help="delay, torque, viscous, short_circuit, short_circuit_rate; reaction, time, deceleration.",
    ),
]
CoverOption = Annotated[
    bool,
    typer.Option(
        "--cover", help="Lengthen delays until no fitted row took longer or went farther than computed."
    ),
]
FormatOption = Annotated[
    SceneFormat,
    typer.Option("--output-format", help="The format of the output; toml: the tables of a scene."),
]


@reads_model
def calibrate_command(
    file: opt.FileArgument,
    measured: Measured,
    hold_out: HoldOut = None,
    cover: CoverOption = False,
    parameters: Parameters = None,
    payload: RatedPayloadOption = None,
    speed: FullSpeedOption = None,
    bound: BoundOption = None,
    tool: ToolOption = None,
    output_format: FormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Fit the brakes and ramps of a robot to measured stops.

    Exit code: 0, or 2 for unusable input or wrong usage.
    """
    from mbplugin.stopping.order_statistics import CONFIDENCE, SHARE

    require_folder(output)
    earlier = earlier_report(against, "calibrate")
    share, confidence = (SHARE, CONFIDENCE) if bound is None else parse_bound(bound)
    _require_order(file, measured)
    scene = read_scene(file, (output,), reading, also=(measured, against))
    given = quantities_of(scene, file, reading)
    from mbplugin.stopping.calibration.run import calibrate

    with total_bar("stops") as progress:
        found = calibrate(
            scene,
            measured,
            hold_out=hold_out,
            cover=cover,
            parameters=opt.split(parameters) or None,
            payload=payload,
            speeds=given.rates(speed, "--speed"),
            tool=tool,
            share=share,
            confidence=confidence,
            progress=progress,
        )
    emit_report(_report(found, given.units), output_format, output, earlier)


def _report(found: Calibration, units: Units) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping.calibrate import calibrate_lines

        return calibrate_lines(found, width, units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import calibration_chapter

        return calibration_chapter(found, units)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping.calibrate import calibrate_document

        return calibrate_document(found)

    return CommandReport(lines, document, partial(_record, found), chapter, {"toml": lambda: found.toml})


def _record(found: Calibration) -> Record:
    from mbplugin.report.record import record_of

    return record_of(command_line(), found.model, (*found.robot, found.measured))


def _require_order(file: str, measured: Path) -> None:
    """Require the robot before the table."""
    if file.lower().endswith(".csv") and measured.suffix.lower() != ".csv":
        raise BadUsage(
            f"the robot is {file!r}, a table",
            expected="the robot first, then the measured stops",
            remedy=f"write mbplugin calibrate {measured} {file}",
        )
