"""Commands that look something up or set something up: ``rule``, ``config``, ``schema``, ``init`` and others."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mbplugin.cli import options as opt, report
from mbplugin.files import working_in
from mbplugin.report.documents import DocumentName

if TYPE_CHECKING:
    from mbplugin.constraints.rank import ConstraintMatrix
    from mbplugin.linter.run import Report
    from mbplugin.model import Scene
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
        report.emit_lines(
            partial(rule_lines, chosen) if several else partial(documentation_lines, chosen[0]), output
        )
    else:
        from mbplugin.report.documents.models import rules_document

        report.emit_document(rules_document(chosen), output, output_format)


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

        report.emit(settings_text(settings), output)
    else:
        from mbplugin.report.documents.models import settings_document

        report.emit_document(settings_document(settings), output, output_format)


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

    report.emit_document(schema_of(document), output)


# ``mbplugin warmup``: compile everything that motions and stops need, ahead of time.


def warmup_command(output: opt.OutputOption = None) -> None:
    """Compile what motions and stops need, and keep it, for images and CI; print how long that took."""
    begun = time.process_time()
    from mbplugin.dynamics.compiler import INTERPRETED, cache_folder
    from mbplugin.errors import BadUsage
    from mbplugin.stopping.calibration.choice import compile_everything

    if INTERPRETED:
        raise BadUsage("NUMBA_DISABLE_JIT is set, so nothing is compiled", remedy="unset it")
    compile_everything()
    folder = cache_folder()
    kept = f"cached in {folder}" if folder is not None else "not cached: there is no folder for it"
    report.emit(f"machine code is compiled in {time.process_time() - begun:.1f} s and {kept}\n", output)


# ``mbplugin matrix``: print or save the labelled constraint matrix at a pose.


@report.reads_model
def matrix_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    planar: opt.PlanarOption = None,
    save: Save = None,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: report.Reading = report.AS_WRITTEN,
) -> None:
    """Print the constraint rows  C v + b = 0  in absolute coordinates; loops are not closed first."""
    from mbplugin.api import constraint_matrix

    earlier = report.earlier_report(against, "matrix")
    scene = report.read_scene(file, (output, save), reading, also=(against,))
    given = report.quantities_of(scene, file, reading)
    matrix = constraint_matrix(scene, given.coordinates(q), planar=planar)
    if save is not None:
        matrix.save(save)
    report.emit_report(_report(matrix, scene), output_format, output, earlier)


def _report(matrix: ConstraintMatrix, scene: Scene) -> report.CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.lookup import matrix_lines

        return matrix_lines(matrix, width)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.models import matrix_document

        return matrix_document(matrix, scene.files)

    return report.CommandReport(lines, document, partial(report.record_of_scene, scene))


# ``mbplugin doctor``: what of an installation works here, and the commands that install the rest.


def doctor_command(output_format: opt.FormatOption = "text", output: opt.OutputOption = None) -> int:
    """Check which extras, engines, caches and programs work here, and print the command for what lacks.

    Each package is imported and used in a process of its own, up to a minute. Exit code: 0 if the core works, else 1.
    """
    from mbplugin.installation import examine

    found = examine()
    if output_format == "text":
        from mbplugin.report.text.lookup import installation_lines

        report.emit_lines(partial(installation_lines, found), output)
    else:
        from mbplugin.report.documents.installation import doctor_document

        report.emit_document(doctor_document(found), output, output_format)
    return 0 if found.works else 1


DryRun = Annotated[bool, typer.Option("--dry-run", help="Write nothing, and say what would be written.")]
Diff = Annotated[bool, typer.Option("--diff", help="Write nothing, and print the new files as a patch.")]
Source = Annotated[
    str,
    typer.Option("--source", metavar="URL", help="Where the repository of mbplugin stands, for hook and CI."),
]
Ci = Annotated[
    Literal["github", "gitlab", "script", "none"] | None,
    typer.Option("--ci", help="The CI; default: that of the host of the remotes, else a script."),
]


def init_command(
    dry_run: DryRun = False,
    diff: Diff = False,
    source: Source = "",
    ci: Ci = None,
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
) -> int:
    """Write configuration, baseline, pre-commit hook and CI for the robots of this repository.

    All robots below the root are linted; known findings become a baseline. No file is overwritten: for one that
    exists, what to add is printed.
    """
    from mbplugin.initialization import find_root, new_files, patch_of, survey, write_all
    from mbplugin.report.documents.part import violation

    root, repository = find_root(Path.cwd())
    # files are named, and baselines written, as seen from the root
    with working_in(root):
        found = survey(root, repository, {}, lambda document: violation(document, "lint"), _watched)
        files = new_files(found, source, ci)
    if not dry_run and not diff:
        write_all(root, files)
    if diff:
        report.emit(patch_of(files), output)
    elif output_format == "text":
        from mbplugin.report.text.lookup import initialization_lines

        report.emit_lines(partial(initialization_lines, found, files, dry_run), output)
    else:
        from mbplugin.report.documents.installation import init_document

        report.emit_document(init_document(found, files, dry_run), output, output_format)
    return 0


def _watched(reports: Iterable[Report], number: int) -> Iterable[Report]:
    from mbplugin.cli.lint import with_progress

    return with_progress(reports, number)


#: Default and longest time limit of one lint, s.
LINT_SECONDS, _HOUR = 10.0, 3600.0
LintSeconds = Annotated[
    float, typer.Option("--lint-seconds", metavar="S", help="Time limit of one lint of a document, s.")
]


#: Editors pass it to every server; there is no other way.
Stdio = Annotated[bool, typer.Option("--stdio", hidden=True)]


def server_command(lint_seconds: LintSeconds = LINT_SECONDS, stdio: Stdio = True) -> int:
    """Serve an editor: findings while a model is written, what its parts are, and fixes.

    The server speaks the Language Server Protocol on stdin and stdout. An editor starts it.
    """
    from mbplugin.errors import BadUsage, MissingDependency

    if not 0 < lint_seconds <= _HOUR:
        raise BadUsage(f"--lint-seconds is {lint_seconds:g}", expected=f"a positive number up to {_HOUR:g}")
    try:
        import_module("pygls.lsp.server")
    except ModuleNotFoundError as error:
        raise MissingDependency.of("a language server", "pygls", "server") from error
    from mbplugin.editor.server import serve

    if opt.on_terminal(sys.stdin):
        report.complain(
            "mbplugin server: waiting for the messages of an editor, which starts this command itself."
        )
    return serve(lint_seconds)
