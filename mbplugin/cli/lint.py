"""``mbplugin lint``: what is wrong with the constraints of a robot."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli import options as opt
from mbplugin.cli.output import complain, emit

if TYPE_CHECKING:
    from mbplugin.lint.run import Report


class Severity(str, Enum):
    """Severities, from mild to severe."""

    note = "note"
    warning = "warning"
    error = "error"


class Method(str, Enum):
    """The uniqueness tool."""

    qr = "qr"
    svd = "svd"
    rank = "rank"
    nullspace = "nullspace"
    dca = "dca"


Files = Annotated[
    list[str], typer.Argument(metavar="FILE…", help="URDF, SDF, MJCF or scene files; - reads stdin.")
]
Tolerance = Annotated[float | None, typer.Option(help="Relative rank tolerance; default 1e-4.")]
SnapAngles = Annotated[
    bool, typer.Option("--snap-angles", help="Read 1.57075 as the fraction of π it stands for.")
]
Samples = Annotated[
    int | None, typer.Option(help="Poses sampled to tell redundancy from a singular pose; default 8.")
]
MethodOption = Annotated[Method, typer.Option(help="The uniqueness tool.")]
ExplainDca = Annotated[
    bool, typer.Option("--explain-dca", help="Judge by divide and conquer, and tell every step.")
]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="A,B,…", help="Constraints whose reactions count together; repeatable."),
]
Select = Annotated[
    list[str] | None, typer.Option(metavar="CODES", help="Only these codes, or beginnings of codes.")
]
Ignore = Annotated[list[str] | None, typer.Option(metavar="CODES", help="Not these.")]
FailOn = Annotated[Severity, typer.Option(help="From which severity on the exit code is 1.")]


def lint_command(
    files: Files,
    q: opt.QOption = None,
    base: opt.BaseOption = None,
    planar: opt.PlanarOption = None,
    tolerance: Tolerance = None,
    snap_angles: SnapAngles = False,
    samples: Samples = None,
    method: MethodOption = Method.qr,
    explain_dca: ExplainDca = False,
    group: Groups = None,
    select: Select = None,
    ignore: Ignore = None,
    output_format: opt.FormatOption = opt.Format.text,
    output: opt.OutputOption = None,
    fail_on: FailOn = Severity.error,
    package_dir: opt.PackageDirOption = None,
) -> int:
    """Find redundant constraints, reactions that mean nothing, and what to change.

    Every FILE is a run of its own. Exit code: 0 clean, 1 findings at or above --fail-on, 2 unusable
    input or usage.
    """
    asked: dict[str, Any] = {
        "q": opt.parse_q(q),
        "base": base and base.value,
        "planar": planar and planar.value,
        "tolerance": tolerance,
        "snap_angles": snap_angles,
        "samples": samples,
        "method": "dca" if explain_dca else method.value,
        "groups": [opt.split([members]) for members in group or ()],
        "select": _codes("--select", select),
        "ignore": _codes("--ignore", ignore),
        "fail_on": fail_on.value,
        "package_dirs": tuple(package_dir or ()),
    }
    reports = [_lint(file, asked) for file in _with_progress(files)]
    _write(reports, output_format, output, explain_dca)
    return max(report.exit_code for report in reports)


def _lint(file: str, asked: dict[str, Any]) -> Report:
    from mbplugin.lint.run import lint

    name, text = opt.read_source(file)
    return lint(name, text=text, **asked)


def _codes(option: str, texts: Sequence[str] | None) -> tuple[str, ...]:
    """Return codes or beginnings of codes, none of which is a misspelling."""
    from mbplugin.errors import BadUsage, suggestion

    chosen = tuple(code.upper() for code in opt.split(texts))
    if chosen:
        from mbplugin.lint.registry import rules

        known = [rule.code for rule in rules()]
        for code in chosen:
            if not code.startswith("MB9") and not any(k.startswith(code) for k in known):
                raise BadUsage(f"{option} names {code!r}, which no rule has", remedy=suggestion(code, known))
    return chosen


def _with_progress(files: Sequence[str]) -> Iterable[str]:
    """Return the files, with a bar on stderr while there are several and somebody watches."""
    if len(files) < 2 or not opt.on_terminal(sys.stderr):
        return files
    from rich.console import Console
    from rich.progress import track

    return track(files, description="lint", console=Console(stderr=True), transient=True)


def _write(
    reports: Sequence[Report], output_format: opt.Format, output: Path | None, explain_dca: bool
) -> None:
    if output_format is opt.Format.text and output is None and opt.on_terminal(sys.stdout):
        from mbplugin.report.layout import print_lines, terminal_width
        from mbplugin.report.text import lint_lines

        print_lines(lint_lines(reports, terminal_width(), explain_dca))
        return
    if output_format is opt.Format.json:
        from mbplugin.report.json import dumps, lint_document

        emit(dumps(lint_document(reports)), output)
    else:
        from mbplugin.report.text import lint_text

        emit(lint_text(reports, explain_dca=explain_dca), output)
    # who reads a file or a pipe still learns why there is no verdict
    for report in reports:
        for finding in report.findings:
            if finding.code.startswith("MB9") and finding.severity == "error":
                known = report.source in finding.message or (finding.file and finding.file in finding.message)
                complain(f"mbplugin lint: {'' if known else f'{report.source}: '}{finding.message}")
