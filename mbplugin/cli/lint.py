"""``mbplugin lint``: check the model and the constraints of a robot."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, get_args

import typer

from mbplugin.choices import SIMULATORS, Method, Severity, Simulator
from mbplugin.cli import options as opt
from mbplugin.cli.report import command_line, complain, emit, emit_lines, hidden, refuse_overwriting
from mbplugin.constraints import DEFAULT_SAMPLES
from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.phrases import counted, listed, visible
from mbplugin.processes.supervised import MAX_SECONDS, RULE_SECONDS, set_rule_seconds
from mbplugin.report import LintFormat, ProgramFormat, serialized

if TYPE_CHECKING:
    from mbplugin.linter.fixes.batch import Fixing
    from mbplugin.linter.run import Report
    from mbplugin.linter.targets import Target
    from mbplugin.report.text.lint import Detail


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…",
        help="URDF, SDF, MJCF, USD or scene files, folders of them, patterns; - reads stdin.",
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        help=f"Poses sampled to distinguish redundancy from a singular pose; default {DEFAULT_SAMPLES}."
    ),
]
Stance = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LINK,…",
        help="Links whose lowest points touch the ground: report forces that are then not unique.",
    ),
]
MethodOption = Annotated[Method, typer.Option(help="Method that decides which reactions are unique.")]
ExplainDca = Annotated[
    bool,
    typer.Option(
        "--explain-dca",
        help="Use the divide-and-conquer test and print every step, including those of dca-extended.",
    ),
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="A,B,…",
        help="Test whether the reactions of these constraints are unique as a group; repeatable.",
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option(
        metavar="CODES",
        help="Report only these rules (codes or prefixes).",
        autocompletion=opt.completed_codes,
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="CODES", help="Do not report these rules.", autocompletion=opt.completed_codes),
]
#: The rule that ``--collisions`` switches on.
OVERLAPPING_LINKS = "MB135"
ExtendSelect = Annotated[
    list[str] | None,
    typer.Option(
        "--extend-select",
        metavar="CODES",
        help="Also report these rules, which are off by default.",
        autocompletion=opt.completed_codes,
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="|".join(SIMULATORS),
        help="Report the mimics and closures that this simulator ignores; repeatable.",
    ),
]
Collisions = Annotated[
    bool,
    typer.Option(
        "--collisions", help=f"Report links that overlap; the same as --extend-select {OVERLAPPING_LINKS}."
    ),
]
FailOn = Annotated[Severity | None, typer.Option(help="Lowest severity with exit code 1; default error.")]
Baseline = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="JSON report of an earlier lint; its findings are not reported again."),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Number of processes; default one per core.")]
FormatOption = Annotated[
    LintFormat,
    typer.Option("--output-format", help="Output format."),
]
Config = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Configuration to use for every FILE instead of the nearest one."),
]
RuleSeconds = Annotated[
    float, typer.Option("--rule-seconds", metavar="S", help="Time limit of each plug-in rule per file, s.")
]
MaxSeconds = Annotated[
    float,
    opt.time_limit(
        "Time limit of the whole run, s; files not linted by then are reported (MB915), exit code 2."
    ),
]
WriteScene = Annotated[
    Path | None,
    typer.Option(metavar="SCENE", help="Write a scene file with FILE and the pose at which its loops close."),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", help="Text: print only files with findings at or above --fail-on.")
]
Verbose = Annotated[
    int,
    typer.Option(
        "--verbose",
        "-v",
        count=True,
        show_default=False,
        help="Text: the whole report; -vv: all lists in full, and the loads that misfits cause (JSON: -v).",
    ),
]
NoMeshCache = Annotated[
    bool,
    typer.Option("--no-mesh-cache", help="Read all mesh files again, and do not cache their properties."),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Lint every file again, and keep no report of it for the next run.")
]
#: The same as in ``mbplugin.linter.checks.meshes``, which must not be imported for the help.
NO_MESH_CACHE = "MBPLUGIN_NO_MESH_CACHE"
#: Longest time for a rule and for a run, s.
_DAY = 86400.0
MisfitLimit = Annotated[
    float | None,
    typer.Option(
        "--misfit-limit",
        metavar="N",
        help="Report loops that a misfit of 0.1 mm loads by more than this, unless the scene states a limit.",
    ),
]
FixOption = Annotated[
    bool,
    typer.Option("--fix", help="Fix findings by editing the text of the files; try --diff first."),
]
DiffOption = Annotated[
    bool, typer.Option("--diff", help="Print the changes of --fix as a patch without writing them.")
]
UnsafeFixes = Annotated[
    bool,
    typer.Option("--unsafe-fixes", help="With --fix or --diff: include fixes that change the robot."),
]
WatchOption = Annotated[
    bool, typer.Option("--watch", help="Lint again when a file that was read changes, until Ctrl-C.")
]
Reports = Annotated[
    list[str] | None,
    typer.Option("--report", metavar="FORMAT=FILE", help="Also write this format to a file; repeatable."),
]
Changes = Annotated[
    str | None,
    typer.Option(
        "--changes",
        metavar="BASE...HEAD",
        help="With --diff: the pull request whose lines --report github-review=FILE suggests fixes for.",
    ),
]
#: The format of ``--report`` that needs ``--changes``.
_REVIEW: Literal["github-review"] = "github-review"
ReportFormat = LintFormat | Literal["github-review"]
#: Clears the screen and what has scrolled out of it, and goes to its top.
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def lint_command(
    files: Files,
    q: opt.QOption = None,
    base: opt.BaseOption = None,
    stance: Stance = None,
    friction: opt.GroundFrictionOption = None,
    planar: opt.PlanarOption = None,
    tolerance: opt.ToleranceOption = None,
    snap_angles: opt.SnapAnglesOption = False,
    samples: Samples = None,
    misfit_limit: MisfitLimit = None,
    method: MethodOption = "qr",
    explain_dca: ExplainDca = False,
    group: Groups = None,
    select: Select = None,
    ignore: Ignore = None,
    extend_select: ExtendSelect = None,
    target: Targets = None,
    collisions: Collisions = False,
    output_format: FormatOption = "text",
    output: opt.OutputOption = None,
    report: Reports = None,
    fail_on: FailOn = None,
    baseline: Baseline = None,
    jobs: Jobs = None,
    package_dir: opt.PackageDirOption = None,
    xacro_unsafe: opt.XacroUnsafeOption = False,
    xacro_arg: opt.XacroArgOption = None,
    config: Config = None,
    rule_seconds: RuleSeconds = RULE_SECONDS,
    max_seconds: MaxSeconds = MAX_SECONDS,
    write_scene: WriteScene = None,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    no_mesh_cache: NoMeshCache = False,
    no_cache: NoCache = False,
    fix: FixOption = False,
    diff: DiffOption = False,
    unsafe_fixes: UnsafeFixes = False,
    watch: WatchOption = False,
    changes: Changes = None,
) -> int:
    """Find redundant constraints, non-unique reactions, model errors, and remedies.

    Each FILE is linted separately, with the nearest configuration above it, or with --config. Exit code:
    0 clean, 1 findings at or above --fail-on, 2 unusable input or wrong usage.
    """
    from mbplugin.linter.run import known_codes

    _limit_rules(rule_seconds)
    if not 0 < max_seconds <= _DAY:
        raise BadUsage(f"--max-seconds is {max_seconds:g}", expected=f"a positive number up to {_DAY:g}")
    detail = _detail(quiet, verbose)
    if no_mesh_cache:
        os.environ[NO_MESH_CACHE] = "1"
    also = [_format_and_file(text) for text in report or ()]
    settings = {
        "select": known_codes(opt.split(select), "--select"),
        "ignore": known_codes(opt.split(ignore), "--ignore"),
        "extend_select": (
            *known_codes(opt.split(extend_select), "--extend-select"),
            *(OVERLAPPING_LINKS,) * collisions,
        ),
        "targets": _simulators(target or ()),
        "fail_on": fail_on,
        "misfit_limit": misfit_limit,
        "package_dirs": tuple(package_dir or ()),
        "xacro_unsafe": xacro_unsafe or None,
        "xacro_args": opt.parse_xacro_args(xacro_arg),
    }
    options: dict[str, Any] = {
        "q": _coordinates(q),
        "base": base,
        "planar": planar,
        "tolerance": tolerance,
        "snap_angles": snap_angles,
        "samples": samples,
        "method": "dca" if explain_dca and method != "dca-extended" else method,
        "groups": [opt.split([members]) for members in group or ()],
        "stance": None if stance is None else opt.split(stance),
        "friction": friction,
    }
    outputs = (output, write_scene, *(path for _, path in also))
    for model in files:
        refuse_overwriting(outputs, model, None)
    review = _require_changes([kind for kind, _ in also], changes, diff)

    def once() -> list[Report]:
        fixing = _fixing(fix, diff, unsafe_fixes)
        keep = not (no_cache or no_mesh_cache or fixing)
        reports = _lint(files, settings, options, jobs, baseline, config, max_seconds, keep, fixing)
        for one in reports:
            refuse_overwriting(outputs, one.source, one.scene)
        for kind, file in also:
            if kind == _REVIEW:
                from mbplugin.report.ci import review_text

                emit(review_text(reports, review), file)
            else:
                emit(rendered(kind, reports, explain_dca, detail, command_line()), file)
        if write_scene is not None:
            _write_scene(reports, write_scene)
        if fixing is not None and output_format == "text":
            _write_fixes(reports, fixing, output, explain_dca, detail)
        else:
            _write(reports, output_format, output, explain_dca, detail)
        return reports

    if watch:
        if fix or diff or write_scene or "-" in files:
            raise BadUsage(
                "--watch is given with --fix, --diff, --write-scene or -",
                expected="files that are read, and only read",
            )
        watch_files(once, files, by_line=output_format == "text" and output is None)
    return max(one.exit_code for one in once())


def _coordinates(texts: Sequence[str] | None) -> dict[str, float]:
    """Return the coordinates of ``--q``, rad and m, not checked against joints, which differ between FILEs."""
    from mbplugin.cli.quantities import named

    return named(texts, "--q", lambda name: "")


def _fixing(fix: bool, diff: bool, unsafe: bool) -> Fixing | None:
    """Return the fixes of the run, of which there are none yet; None if none are asked for."""

    if unsafe and not fix and not diff:
        raise BadUsage("--unsafe-fixes is given without --fix", expected="--fix or --diff with it")
    if not fix and not diff:
        return None
    from mbplugin.linter.fixes.batch import Fixing

    return Fixing(unsafe=unsafe, dry_run=diff)


def _require_changes(kinds: Sequence[str], changes: str | None, dry_run: bool) -> str:
    """Return the changes of ``--changes``, which are required for a review and useless without."""

    if _REVIEW in kinds and (changes is None or not dry_run):
        raise BadUsage(
            f"--report {_REVIEW} has no suggestions without fixes, and no lines without a pull request",
            expected="--diff and --changes BASE...HEAD with it",
        )
    if _REVIEW not in kinds and changes is not None:
        raise BadUsage("--changes is given alone", expected=f"--report {_REVIEW}=FILE with it")
    return changes or ""


def _write_fixes(
    reports: Sequence[Report], fixing: Fixing, output: Path | None, explain_dca: bool, detail: Detail
) -> None:
    """Write the patch of ``--diff``, or the reports with what was mended; stderr has the rest."""
    from mbplugin.report.text.lint import fix_lines, unmended_lines

    for note in fixing.notes:
        complain(f"mbplugin lint: {note}")
    if not fixing.dry_run:
        from mbplugin.report.text.lint import lint_lines

        emit_lines(
            lambda width: [
                *lint_lines(reports, width, explain_dca, detail),
                *fix_lines(reports, width, unsafe=fixing.unsafe),
            ],
            output,
        )
        return
    emit(fixing.patch, output)
    for line in unmended_lines(reports):
        complain(f"mbplugin lint: {line}")


def _detail(quiet: bool, verbose: int) -> Detail:

    if quiet and verbose:
        raise BadUsage("--quiet and --verbose are both given", expected="one of them")
    return "quiet" if quiet else "everything" if verbose > 1 else "full" if verbose else "brief"


def _write_scene(reports: Sequence[Report], target: Path) -> None:
    from mbplugin.linter.targets import closed_scene

    if len(reports) != 1:
        raise BadUsage(f"--write-scene has {len(reports)} files", expected="one FILE")
    emit(closed_scene(reports[0], target), target)


def _simulators(names: Sequence[str]) -> tuple[Simulator, ...]:

    chosen = tuple(simulator for simulator in SIMULATORS if simulator in names)
    if unknown := set(names) - set(chosen):
        raise BadUsage(f"--target is {min(unknown)!r}", expected=f"one of {', '.join(SIMULATORS)}")
    return chosen


def _limit_rules(seconds: float) -> None:

    if not 0 < seconds <= _DAY:
        raise BadUsage(f"--rule-seconds is {seconds:g}", expected=f"a positive number up to {_DAY:g}")
    set_rule_seconds(seconds)


def _lint(
    files: Sequence[str],
    settings: dict[str, Any],
    options: dict[str, Any],
    jobs: int | None,
    baseline: Path | None,
    config: Path | None,
    max_seconds: float,
    keep: bool,
    fixing: Fixing | None,
) -> list[Report]:
    from mbplugin.linter.batch import lint_targets, with_skipped, with_unused_ignores
    from mbplugin.linter.targets import read_baseline, skipped_line, stated_baselines, targets, without_known

    skipped: list[tuple[str, str]] = []
    found = targets(files, settings, config, skipped)
    known = None
    if baseline is not None or any(target.settings.baseline for target in found):
        from mbplugin.report.documents.part import violation

        def violates(document: Any) -> str:
            return violation(document, "lint")

        known = read_baseline(baseline, violates) if baseline else stated_baselines(found, violates)
    chosen = [_with_text(target) for target in found]
    if line := skipped_line(skipped):
        complain(f"mbplugin lint: {line}")
    kept = None
    if keep and len(chosen) > 1:
        from mbplugin.linter.batch import kept_reports

        kept = kept_reports(chosen, options)
    reports = list(with_progress(lint_targets(chosen, options, jobs, max_seconds, kept), len(chosen)))
    if fixing is not None:
        reports = fixing.models(
            chosen, reports, options, lambda one: one if known is None else without_known([one], known)[0]
        )
    reports = with_unused_ignores(with_skipped(reports, chosen), chosen)
    if fixing is not None:
        reports = fixing.waivers(reports)
    return reports if known is None else without_known(reports, known)


def _with_text(target: Target) -> Target:
    name, text = opt.read_source(target.file)
    return replace(target, file=name, text=text)


def _format_and_file(text: str) -> tuple[ReportFormat, Path]:

    name, _, file = text.partition("=")
    known: tuple[ReportFormat, ...] = (*get_args(LintFormat), _REVIEW)
    for kind in known:
        if kind == name and file:
            return kind, Path(file)
    raise BadUsage(f"--report is {text!r}", expected=f"FORMAT=FILE, FORMAT one of {', '.join(known)}")


def with_progress(reports: Iterable[Report], number: int) -> Iterable[Report]:
    """Return the reports, with a progress bar on stderr if there are several and stderr is a terminal."""
    if number < 2 or not opt.on_terminal(sys.stderr):
        return reports
    from rich.console import Console
    from rich.progress import track

    def watched() -> Iterator[Report]:
        with hidden():
            yield from track(
                reports, description="lint", total=number, console=Console(stderr=True), transient=True
            )

    return watched()


def _write(
    reports: Sequence[Report],
    output_format: LintFormat,
    output: Path | None,
    explain_dca: bool,
    detail: Detail,
) -> None:
    if output_format == "text":
        from mbplugin.report.text.lint import lint_lines

        emit_lines(lambda width: lint_lines(reports, width, explain_dca, detail), output)
        if output is None:
            return
    else:
        emit(rendered(output_format, reports, explain_dca, detail, command_line()), output)
    # the report goes to a program or a file, so the reasons for a missing verdict are also printed on stderr
    for report in reports:
        for finding in report.findings:
            if finding.code.startswith("MB9") and finding.severity == "error":
                known = visible(report.source) in finding.message or (
                    finding.file and finding.file in finding.message
                )
                source = "" if known else f"{visible(report.source)}: "
                complain(f"mbplugin lint: {source}{finding.message}")


def rendered(
    name: LintFormat,
    reports: Sequence[Report],
    explain_dca: bool = False,
    detail: Detail = "brief",
    command: str = "",
) -> str | bytes:
    """Return reports in a format.

    ``explain_dca`` applies to text, ``detail`` to text and JSON; an HTML page has a record if ``command`` is given.
    """
    if name == "text":
        from mbplugin.report.text.lint import lint_text

        return lint_text(reports, explain_dca=explain_dca, detail=detail)
    if name == "html":
        from mbplugin.report.html import html_page
        from mbplugin.report.html.chapters import lint_chapter

        return html_page(*(lint_chapter(report, command) for report in reports))
    if name in get_args(ProgramFormat):
        return str(getattr(import_module("mbplugin.report.ci"), f"{name}_text")(reports))
    from mbplugin.report.documents.lint import lint_document

    return serialized(lint_document(reports, detail in ("full", "everything")), name)


def watch_files(once: Callable[[], list[Report]], files: Sequence[str], *, by_line: bool) -> NoReturn:
    """Lint now and after each change; Ctrl-C ends it.

    Parameters
    ----------
    once : callable
        Lints the files, writes the reports and returns them.
    files : sequence of str
        The arguments of the command.
    by_line : bool
        Whether stdout has text, which is separated by a line if it is no terminal.

    Raises
    ------
    MbPluginError
        The first lint is an invalid request; a later one is reported, and the next change awaited.
    """
    from mbplugin.linter.batch import Watch

    watch = Watch(files)
    on_screen = opt.on_terminal(sys.stdout)
    if on_screen:
        emit(_CLEAR)
    watch.begin()
    watch.end(once())
    while True:
        sys.stdout.flush()
        complain(f"mbplugin lint: watching {counted(watch.number, 'file')}; Ctrl-C ends")
        changed = watch.wait()
        names = visible(listed([*changed], 3))
        if on_screen:
            emit(_CLEAR)
        elif by_line:
            emit(f"\n--- {time.strftime('%H:%M:%S')} {names}\n\n")
        watch.begin()
        reports: list[Report] = []
        try:
            reports = once()
        except MbPluginError as error:
            # a configuration that is being written
            complain(f"mbplugin: {error}")
        watch.end(reports)
