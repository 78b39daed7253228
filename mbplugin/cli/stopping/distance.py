"""``mbplugin distance``: separation distances from computed stops."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.command_line import command_line
from mbplugin.cli.shared.output import emit_document, emit_lines
from mbplugin.cli.shared.quantities import named
from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import is_same_file, read_bounded, require_folder
from mbplugin.model.units import SI

if TYPE_CHECKING:
    from mbplugin.report.record import Record
    from mbplugin.stopping.zones.distance import Distance

Standard = Literal["iso13855", "iso15066"]

File = Annotated[
    str,
    typer.Argument(metavar="STOP.json", help="JSON of estop or stop-table; - reads stdin."),
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
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
) -> None:
    """Print a separation distance with all its terms; stopping time and way are those of computed stops.

    Exit code: 0, or 2 for unusable input, wrong usage, or a stop that does not end at rest.
    """
    require_folder(output)
    if output is not None and is_same_file(output, file):
        raise BadUsage("the output is the file that is read", where=str(output), expected="another file")
    from mbplugin.stopping.zones.figures import figures_of_document
    from mbplugin.stopping.zones.protective import protective_of
    from mbplugin.stopping.zones.separation import separation_of

    figures = figures_of_document(*_read(file))
    compute = {"iso13855": separation_of, "iso15066": protective_of}[standard]
    distance = compute(figures, named(term, "--term", lambda name: _DIMENSIONS.get(name, ""), SI))
    record = partial(_record, distance)
    if output_format == "text":
        from mbplugin.report.text.stopping.distance import distance_lines

        emit_lines(lambda width: distance_lines(distance, width), output, record)
    else:
        from mbplugin.report.documents.stopping.distance import distance_document

        emit_document(distance_document(distance), output, output_format, record)


def _record(distance: Distance) -> Record:
    from mbplugin.readers.hashed import Source
    from mbplugin.report.record import record_of

    read = (Source(distance.stop.file, distance.stop.sha256),)
    return record_of(command_line(), distance.stop.model, read, distance.standard)


def _read(file: str) -> tuple[bytes, str]:
    """Return the content of a file or of stdin, and its name."""
    if file != opt.STDIN:
        return read_bounded(Path(file)), file
    if sys.stdin is None:
        raise UnreadableFile("stdin is closed", where="<stdin>", expected="the JSON of a stop")
    return sys.stdin.buffer.read(), "<stdin>"
