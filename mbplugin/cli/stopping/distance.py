"""``mbplugin distance``: separation distances from computed stops."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.command_line import command_line
from mbplugin.cli.shared.quantities import named
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report
from mbplugin.errors import BadUsage
from mbplugin.files import is_same_file, read_bounded, read_stdin, require_folder
from mbplugin.model.units import SI

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.record import Record
    from mbplugin.report.text.layout import Line
    from mbplugin.stopping.zones.distance import Distance

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
        help="K, t1, D_DS, Z of S; v_h, T_r, C, Z_d, Z_r, v_r of S_p (m, s, m/s); none has a default.",
    ),
]


#: Of the terms, those of both standards.
_DIMENSIONS = {
    **dict.fromkeys(("K", "v_h", "v_r"), "speed"),
    **dict.fromkeys(("t1", "T_r"), "time"),
    **dict.fromkeys(("D_DS", "Z", "C", "Z_d", "Z_r"), "length"),
}


def distance_command(
    file: File,
    standard: StandardOption = "iso13855",
    term: Terms = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
) -> None:
    """Print a separation distance with all its terms; stopping time and way are those of computed stops.

    Exit code: 0, or 2 for unusable input, wrong usage, or a stop that does not end at rest.
    """
    require_folder(output)
    if output is not None and any(is_same_file(output, one) for one in (file, against) if one is not None):
        raise BadUsage("the output is a file that is read", where=str(output), expected="another file")
    earlier = earlier_report(against, "distance")
    from mbplugin.report.documents.schema import violation
    from mbplugin.stopping.zones.figures import figures_of_document
    from mbplugin.stopping.zones.protective import protective_of
    from mbplugin.stopping.zones.separation import separation_of

    figures = figures_of_document(*_read(file), violation)
    compute = {"iso13855": separation_of, "iso15066": protective_of}[standard]
    distance = compute(figures, named(term, "--term", lambda name: _DIMENSIONS.get(name, ""), SI))
    emit_report(_report(distance), output_format, output, earlier)


def _report(distance: Distance) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping.distance import distance_lines

        return distance_lines(distance, width)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import distance_chapter

        return distance_chapter(distance)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping.distance import distance_document

        return distance_document(distance)

    return CommandReport(lines, document, partial(_record, distance), chapter)


def _record(distance: Distance) -> Record:
    from mbplugin.readers.hashed import Source
    from mbplugin.report.record import record_of

    read = (Source(distance.stop.file, distance.stop.sha256),)
    return record_of(command_line(), distance.stop.model, read, distance.standard)


def _read(file: str) -> tuple[bytes, str]:
    """Return the content of a file or of stdin, and its name."""
    if file != opt.STDIN:
        return read_bounded(Path(file)), file
    return read_stdin("the JSON of a stop"), "<stdin>"
