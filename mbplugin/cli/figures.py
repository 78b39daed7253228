"""``mbplugin calibrate``: fit brakes and ramps of a robot to measured stops; and ``mbplugin distance``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mbplugin.cli import braking, options as opt, report
from mbplugin.cli.quantities import named
from mbplugin.errors import BadUsage
from mbplugin.files import is_same_file, read_bounded, read_stdin, require_folder
from mbplugin.model import SI
from mbplugin.report import SceneFormat
from mbplugin.simulation.options import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.model import Units
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.record import Record
    from mbplugin.report.text import Line
    from mbplugin.stopping.calibration import Calibration
    from mbplugin.stopping.zones.distance import Distance


Measured = Annotated[
    Path,
    typer.Argument(metavar="MEASURED.csv", help="Measured stops: joint, category, speed, time, distance …"),
]
HoldOut = Annotated[
    str | None,
    typer.Option(
        "--hold-out",
        metavar="EXPR",
        help="Rows to predict, such as speed=100% or payload>3; the others are fitted.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameters",
        metavar="NAME,…",
        help="Of delay, torque, viscous, short_circuit, short_circuit_rate; reaction, time, deceleration.",
    ),
]
CoverOption = Annotated[
    bool,
    typer.Option(
        "--cover",
        help="Lengthen the delays until every fitted stop is at most as long and as far as computed.",
    ),
]
MaxSeconds = Annotated[
    float,
    opt.time_limit("Time limit of the fit, s; beyond it the command fails."),
]
FormatOption = Annotated[
    SceneFormat,
    typer.Option("--output-format", help="Output format; toml: tables for a scene file."),
]
Standard = Literal["iso13855", "iso15066"]
File = Annotated[
    str,
    typer.Argument(metavar="STOP.json", help="JSON of estop, stop-table or worst-stop; - reads stdin."),
]
StandardOption = Annotated[
    Standard,
    typer.Option("--standard", help="iso13855: S = K·T + D_DS + Z; iso15066: S_p of a moving robot."),
]
Terms = Annotated[
    list[str] | None,
    typer.Option(
        "--term",
        metavar="NAME=VALUE,…",
        help="Terms K, t1, D_DS, Z of S; v_h, T_r, C, Z_d, Z_r, v_r of S_p (m, s, m/s); none has a default.",
    ),
]
DistanceCategory = Annotated[
    int | None,
    typer.Option(
        "--category", help="Category of the stops to use: 0, 1 or 2; needed if a table has several."
    ),
]
#: Dimensions of the terms of both standards.
_DIMENSIONS = {
    **dict.fromkeys(("K", "v_h", "v_r"), "speed"),
    **dict.fromkeys(("t1", "T_r"), "time"),
    **dict.fromkeys(("D_DS", "Z", "C", "Z_d", "Z_r"), "length"),
}


@report.reads_model
def calibrate_command(
    file: opt.FileArgument,
    measured: Measured,
    hold_out: HoldOut = None,
    cover: CoverOption = False,
    parameters: Parameters = None,
    payload: braking.RatedPayloadOption = None,
    speed: braking.FullSpeedOption = None,
    bound: braking.BoundOption = None,
    tool: braking.ToolOption = None,
    max_seconds: MaxSeconds = MAX_SECONDS,
    output_format: FormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: report.Reading = report.AS_WRITTEN,
) -> None:
    """Fit the brakes and ramps of a robot to measured stops.

    Exit code: 0, or 2 for unusable input or wrong usage.
    """
    from mbplugin.stopping import CONFIDENCE, SHARE

    require_folder(output)
    earlier = report.earlier_report(against, "calibrate")
    share, confidence = (SHARE, CONFIDENCE) if bound is None else braking.parse_bound(bound)
    _require_order(file, measured)
    from mbplugin.readers.standing import bolted_down

    scene = bolted_down(report.read_scene(file, (output,), reading, also=(measured, against)))
    given = report.quantities_of(scene, file, reading)
    from mbplugin.stopping.calibration.run import calibrate

    with braking.total_bar("stops") as progress:
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
            max_seconds=max_seconds,
            progress=progress,
        )
    report.emit_report(_report(found, given.units), output_format, output, earlier)


def _report(found: Calibration, units: Units) -> report.CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping import calibrate_lines

        return calibrate_lines(found, width, units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import calibration_chapter

        return calibration_chapter(found, units)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping import calibrate_document

        return calibrate_document(found)

    return report.CommandReport(
        lines, document, partial(_record, found), chapter, {"toml": lambda: found.toml}
    )


def _record(found: Calibration) -> Record:
    from mbplugin.report.record import record_of

    return record_of(report.command_line(), found.model, (*found.robot, found.measured))


def _require_order(file: str, measured: Path) -> None:
    """Require that the robot is given before the table of measured stops."""
    if file.lower().endswith(".csv") and measured.suffix.lower() != ".csv":
        raise BadUsage(
            f"the robot is {file!r}, a table",
            expected="the robot first, then the measured stops",
            remedy=f"write mbplugin calibrate {measured} {file}",
        )


# ``mbplugin distance``: compute separation distances from computed stops.


def distance_command(
    file: File,
    standard: StandardOption = "iso13855",
    term: Terms = None,
    category: DistanceCategory = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
) -> None:
    """Print a separation distance with all its terms; stopping time and way are those of computed stops.

    Exit code: 0, or 2 for unusable input, wrong usage, or a stop that does not end at rest.
    """
    require_folder(output)
    if output is not None and any(is_same_file(output, one) for one in (file, against) if one is not None):
        raise BadUsage("the output file is also an input", where=str(output), expected="another file")
    earlier = report.earlier_report(against, "distance")
    from mbplugin.report.documents.part import violation
    from mbplugin.stopping.zones.distance import figures_of_document, protective_of, separation_of

    figures = figures_of_document(*_read(file), violation, category)
    compute = {"iso13855": separation_of, "iso15066": protective_of}[standard]
    distance = compute(figures, named(term, "--term", lambda name: _DIMENSIONS.get(name, ""), SI))
    report.emit_report(_distance_report(distance), output_format, output, earlier)


def _distance_report(distance: Distance) -> report.CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping import distance_lines

        return distance_lines(distance, width)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import distance_chapter

        return distance_chapter(distance)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping import distance_document

        return distance_document(distance)

    return report.CommandReport(lines, document, partial(_distance_record, distance), chapter)


def _distance_record(distance: Distance) -> Record:
    from mbplugin.readers import Source
    from mbplugin.report.record import record_of

    read = (Source(distance.stop.file, distance.stop.sha256),)
    return record_of(report.command_line(), distance.stop.model, read, distance.standard)


def _read(file: str) -> tuple[bytes, str]:
    """Return the content of a file or of stdin, and its name."""
    if file != opt.STDIN:
        return read_bounded(Path(file)), file
    return read_stdin("the JSON of a stop"), "<stdin>"
