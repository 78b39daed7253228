"""``mbplugin matrix``: the labelled constraint matrix at a pose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.output import emit, emit_document
from mbplugin.errors import BadUsage
from mbplugin.files import replacing

if TYPE_CHECKING:
    from mbplugin.constraints.matrix import ConstraintMatrix

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
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print the constraint rows  C v + b = 0  in absolute coordinates; loops are not closed first."""
    from mbplugin.api import constraint_matrix

    scene = read_scene(file, (output, save), reading)
    given = quantities_of(scene, file, reading)
    matrix = constraint_matrix(scene, given.coordinates(q), planar=planar)
    if save is not None:
        _save(matrix, save)
    if output_format == "text":
        from mbplugin.report.text.matrix import matrix_text

        emit(matrix_text(matrix), output)
    else:
        from mbplugin.report.documents.matrix import matrix_document

        emit_document(matrix_document(matrix, scene.files), output, output_format)


def _save(matrix: ConstraintMatrix, path: Path) -> None:
    # asked here because save would name the temporary file
    if path.suffix not in (".npz", ".csv"):
        raise BadUsage(f"cannot save a matrix as {path.name!r}", expected=".npz or .csv")
    with replacing(path) as temporary:
        matrix.save(temporary)
