"""``mbplugin init``: the configuration, the hook and the CI of a repository with robots."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.report import emit, emit_document, emit_lines

if TYPE_CHECKING:
    from mbplugin.linter.run import Report

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
    from mbplugin.initialization.contents import new_files
    from mbplugin.initialization.survey import find_root, survey
    from mbplugin.initialization.writing import patch_of, write_all
    from mbplugin.report.documents.part import violation

    root, repository = find_root(Path.cwd())
    with _inside(root):
        found = survey(root, repository, {}, lambda document: violation(document, "lint"), _watched)
        files = new_files(found, source, ci)
    if not dry_run and not diff:
        write_all(root, files)
    if diff:
        emit(patch_of(files), output)
    elif output_format == "text":
        from mbplugin.report.text.initialization import initialization_lines

        emit_lines(partial(initialization_lines, found, files, dry_run), output)
    else:
        from mbplugin.report.documents.installation import init_document

        emit_document(init_document(found, files, dry_run), output, output_format)
    return 0


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Change to a folder in a block: files are named, and baselines written, as seen from the root."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _watched(reports: Iterable[Report], number: int) -> Iterable[Report]:
    from mbplugin.cli.lint import with_progress

    return with_progress(reports, number)
