"""``mbplugin matrix``: the labelled constraint matrix at a pose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.output import emit, refuse_overwriting
from mbplugin.errors import BadUsage
from mbplugin.files import replacing

if TYPE_CHECKING:
    from mbplugin.constraints.matrix import ConstraintMatrix

File = Annotated[str, typer.Argument(metavar="FILE", help="A model or scene file; - reads stdin.")]
Save = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also save the matrix, .npz (arrays) or .csv (labelled).")
]


def matrix_command(
    file: File,
    q: opt.QOption = None,
    base: opt.BaseOption = None,
    planar: opt.PlanarOption = None,
    save: Save = None,
    output_format: opt.FormatOption = opt.Format.text,
    output: opt.OutputOption = None,
    package_dir: opt.PackageDirOption = None,
    xacro_unsafe: opt.XacroUnsafeOption = False,
) -> None:
    """Print the constraint rows  C v + b = 0  in absolute coordinates; loops are not closed first."""
    from mbplugin import readers
    from mbplugin.api import constraint_matrix

    name, text = opt.read_source(file)
    scene = readers.load(
        name,
        text=text,
        package_dirs=tuple(package_dir or ()),
        base=base.value if base else None,
        xacro_unsafe=xacro_unsafe,
    )
    refuse_overwriting(
        (
            output,
            save,
        ),
        file,
        scene,
    )
    matrix = constraint_matrix(scene, opt.parse_q(q), planar=planar.value if planar else None)
    if output_format is opt.Format.json:
        from mbplugin.report.documents.json import dumps, matrix_document

        written = dumps(matrix_document(matrix, scene.files))
    else:
        from mbplugin.report.text.matrix import matrix_text

        written = matrix_text(matrix)
    if save is not None:
        _save(matrix, save)
    emit(written, output)


def _save(matrix: ConstraintMatrix, path: Path) -> None:
    # asked here because save would name the temporary file
    if path.suffix not in (".npz", ".csv"):
        raise BadUsage(f"cannot save a matrix as {path.name!r}", expected=".npz or .csv")
    with replacing(path) as temporary:
        matrix.save(temporary)
