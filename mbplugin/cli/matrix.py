"""``mbplugin matrix``: the labelled constraint matrix at a pose."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.constraints.matrix import ConstraintMatrix
    from mbplugin.model.scene import Scene
    from mbplugin.report.text.layout import Line

Save = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also save the matrix, .npz (arrays) or .csv (labelled).")
]


@reads_model
def matrix_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    planar: opt.PlanarOption = None,
    save: Save = None,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print the constraint rows  C v + b = 0  in absolute coordinates; loops are not closed first."""
    from mbplugin.api import constraint_matrix

    earlier = earlier_report(against, "matrix")
    scene = read_scene(file, (output, save), reading, also=(against,))
    given = quantities_of(scene, file, reading)
    matrix = constraint_matrix(scene, given.coordinates(q), planar=planar)
    if save is not None:
        matrix.save(save)
    emit_report(_report(matrix, scene), output_format, output, earlier)


def _report(matrix: ConstraintMatrix, scene: Scene) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.matrix import matrix_lines

        return matrix_lines(matrix, width)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.matrix import matrix_document

        return matrix_document(matrix, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene))
