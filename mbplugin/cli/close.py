"""``mbplugin close``: a model in another format, its loops closed by constraints that the format holds."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder
from mbplugin.model.enumerations import Format

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.closing.values import Closing
    from mbplugin.model.scene import Scene
    from mbplugin.report.text.layout import Line

ToOption = Annotated[Format, typer.Option("--to", help="The format that is written.")]
WriteOption = Annotated[
    Path | None,
    typer.Option("--write", metavar="FILE", help="Write the model; without it nothing is written."),
]
DrivenOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,…", help="Joints that stay in the tree, with * and ?; default: those with a drive."
    ),
]
DriftOption = Annotated[
    bool, typer.Option("--drift/--no-drift", help="Run two seconds in MuJoCo and PyBullet, before and after.")
]


@reads_model
def close_command(
    file: opt.FileArgument,
    to: ToOption,
    write: WriteOption = None,
    q: opt.QOption = None,
    driven: DrivenOption = None,
    tolerance: opt.ToleranceOption = None,
    drift: DriftOption = True,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Write a model in another format, with the weakest closures that keep its mobility, and prove it.

    Loops are cut where the format has the closure, else where the projective criterion is the largest; driven
    joints stay in the tree. Exit code: 0, 1 if the written file has redundant constraints or another mobility, 2
    for unusable input, wrong usage, or a constraint that the format does not hold.
    """
    from mbplugin.closing.run import close
    from mbplugin.writers.written import ENDINGS

    if write is not None and not write.name.endswith(ENDINGS[to]):
        raise BadUsage(f"--write is {str(write)!r}", expected=f"a file with the ending {ENDINGS[to]}")
    require_folder(write)
    earlier = earlier_report(against, "close")
    scene = read_scene(file, (output, write), reading, also=(against,))
    given = quantities_of(scene, file, reading)
    named = None if driven is None else opt.split(driven)
    found = close(scene, to, given.coordinates(q), tolerance=tolerance, driven=named, measure_drift=drift)
    if write is not None:
        found.save(write)
    written = None if write is None else str(write)
    emit_report(_report(found, scene, file, written), output_format, output, earlier)
    if not found.proved:
        raise typer.Exit(1)


def _report(found: Closing, scene: Scene, file: str, written: str | None) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.close import close_lines

        return close_lines(found, width, written)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.close import close_document

        return close_document(found, file, scene.files, written)

    return CommandReport(lines, document, partial(record_of_scene, scene))
