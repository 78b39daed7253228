"""``mbplugin modes``: find the pose in which a model rests, and its natural frequencies there."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.braking import LoadOption, PayloadOption
from mbplugin.cli.shared.report import (
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
from mbplugin.files import require_folder

if TYPE_CHECKING:
    from mbplugin.report.text import Line

Hold = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,…", help="Joints to hold at the start, such as those with brakes."),
]
Picture = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also draw the modes, .png, .svg or .pdf.")
]


@reads_model
def modes_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    hold: Hold = None,
    load: LoadOption = None,
    payload: PayloadOption = None,
    picture: Picture = None,
    planar: opt.PlanarOption = None,
    tolerance: opt.ToleranceOption = None,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Find the pose in which gravity, loads and springs balance, and the natural frequencies and modes there.

    The search goes downhill from --q, or from the pose of the file. Loops stay closed, redundant constraints do not
    matter, and dry friction is left out.
    """
    from mbplugin.simulation.linearization import linearize

    earlier = earlier_report(against, "modes")
    scene = read_scene(file, (output, picture), reading, also=(against,))
    require_folder(picture)
    given = quantities_of(scene, file, reading)
    found = linearize(
        scene,
        q=given.coordinates(q),
        hold=given.joints(hold, "--hold") if hold else (),
        loads=given.loads(load),
        payload=given.payloads(payload),
        tolerance=tolerance,
        planar=planar,
    )
    if picture is not None:
        found.plot(picture)

    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.modes import modes_lines

        return modes_lines(found, width)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.modes import modes_document

        return modes_document(found, scene.files)

    emit_report(
        CommandReport(lines, document, partial(record_of_scene, scene)), output_format, output, earlier
    )
