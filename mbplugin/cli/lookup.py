"""``mbplugin rule``: list the rules, or print the documentation of one; also ``config``, ``schema`` and others."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.report import (
    AS_WRITTEN,
    CommandReport,
    Reading,
    earlier_report,
    emit,
    emit_document,
    emit_lines,
    emit_report,
    quantities_of,
    read_scene,
    reads_model,
    record_of_scene,
)
from mbplugin.report.documents import DocumentName

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.constraints.rank import ConstraintMatrix
    from mbplugin.model.scene import Scene
    from mbplugin.report.text import Line

Save = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also save the matrix, .npz (arrays) or .csv (labelled).")
]


def rule_command(
    code: Annotated[
        str | None,
        typer.Argument(
            help="A code such as MB201, a name, or a word to search.", autocompletion=opt.completed_codes
        ),
    ] = None,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
) -> None:
    """List the rules, or those about a word, or print the documentation of one.

    The command is also called explain.
    """
    from mbplugin.linter.rule import find_rule, named_rule, rules, rules_about

    if code is not None and code.isdigit():
        code = f"MB{code}"
    known = None if code is None else named_rule(code)
    found = () if code is None or known or code.upper().startswith("MB") else rules_about(code)
    chosen = rules() if code is None else (known,) if known else found or (find_rule(code),)
    if output_format == "text":
        from mbplugin.report.text.lookup import documentation_lines, rule_lines

        several = code is None or bool(found)
        emit_lines(
            partial(rule_lines, chosen) if several else partial(documentation_lines, chosen[0]), output
        )
    else:
        from mbplugin.report.documents.models import rules_document

        emit_document(rules_document(chosen), output, output_format)


# ``mbplugin config``: print the settings that apply to a file, and their origin.


def config_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file or folder.")] = Path(),
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
) -> None:
    """Print the settings that a lint of FILE uses, and the origin of each setting."""
    from mbplugin.linter.targets import settings_for

    settings = settings_for(file)
    if output_format == "text":
        from mbplugin.report.text.lookup import settings_text

        emit(settings_text(settings), output)
    else:
        from mbplugin.report.documents.models import settings_document

        emit_document(settings_document(settings), output, output_format)


# ``mbplugin schema``: print the JSON schema of an output, or of the scene file.


def schema_command(
    document: Annotated[
        DocumentName,
        typer.Argument(metavar="DOCUMENT", help=f"{opt.choices(DocumentName)}."),
    ] = "lint",
    output_format: opt.FormatOption = "json",
    output: opt.OutputOption = None,
) -> None:
    """Print the JSON schema of a command's JSON output, or of scene files; both formats are JSON."""
    from mbplugin.report.documents.part import schema_of

    emit_document(schema_of(document), output)


# ``mbplugin warmup``: compile everything that motions and stops need, ahead of time.


def warmup_command(output: opt.OutputOption = None) -> None:
    """Compile what motions and stops need, and keep it, for images and CI; print how long that took."""
    begun = time.process_time()
    from mbplugin.dynamics.compiler.jit import cache_folder
    from mbplugin.stopping.calibration.choice import compile_everything

    compile_everything()
    folder = cache_folder()
    kept = f"cached in {folder}" if folder is not None else "not cached: there is no folder for it"
    emit(f"machine code is compiled in {time.process_time() - begun:.1f} s and {kept}\n", output)


# ``mbplugin matrix``: print or save the labelled constraint matrix at a pose.


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
        from mbplugin.report.text.lookup import matrix_lines

        return matrix_lines(matrix, width)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.models import matrix_document

        return matrix_document(matrix, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene))


# ``mbplugin doctor``: what of an installation works here, and the commands that install the rest.


def doctor_command(output_format: opt.FormatOption = "text", output: opt.OutputOption = None) -> int:
    """Check which extras, engines, caches and programs work here, and print the command for what lacks.

    Each package is imported and used in a process of its own, up to a minute. Exit code: 0 if the core works, else 1.
    """
    from mbplugin.installation import examine

    found = examine()
    if output_format == "text":
        from mbplugin.report.text.installation import installation_lines

        emit_lines(partial(installation_lines, found), output)
    else:
        from mbplugin.report.documents.installation import doctor_document

        emit_document(doctor_document(found), output, output_format)
    return 0 if found.works else 1
