"""Linting of many files: each is linted separately, so that an error in one does not stop the others."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import recording_reads
from mbplugin.formats import LINTED, SEARCHED
from mbplugin.linter.cache import Kept, store, trim
from mbplugin.linter.rule import Finding, find_rule
from mbplugin.linter.run import FRAGMENT, Report, by_severity, finding_of, lint, suppress, unused
from mbplugin.linter.targets import Target
from mbplugin.phrases import listed
from mbplugin.processes.foreign import cores, require_possible
from mbplugin.processes.supervised import Deadline
from mbplugin.readers.paths import real_path

if TYPE_CHECKING:
    from mbplugin.linter.side_by_side import Work

UNUSABLE, UNREADABLE, CRASHED, UNUSED, NOT_LINTED = "MB900", "MB901", "MB912", "MB913", "MB915"
#: Windows can wait for at most this many processes at once.
_MOST_ON_WINDOWS = 61
#: Starting a process takes as long as linting about this many files.
_FILES_PER_PROCESS = 4


def lint_target(target: Target, options: Mapping[str, Any]) -> Report:
    """Lint one file with its settings and some options of ``lint``.

    Raises
    ------
    BadUsage
        The request is invalid.
    """
    settings = target.settings
    if os.path.isdir(target.file):  # noqa: PTH112
        endings = listed([*LINTED, *SEARCHED], most=len(LINTED) + len(SEARCHED))
        return without_verdict(target, UNREADABLE, f"no robot file in this folder; looked for {endings}")
    try:
        report = lint(
            target.file,
            text=target.text,
            select=settings.select,
            ignore=settings.ignore,
            extend_select=settings.extend_select,
            targets=settings.targets,
            fail_on=settings.fail_on,
            package_dirs=settings.package_dirs,
            xacro_unsafe=settings.xacro_unsafe,
            xacro_args=settings.xacro_args_of(target.file),
            default_tolerance=settings.tolerance,
            misfit_limit=settings.misfit_limit,
            **options,
        )
    except BadUsage:
        raise
    except UnreadableFile as error:
        # of several files, a missing one does not stop the others
        return Report(target.file, (finding_of(error, target.file),), None, None, settings.fail_on)
    # a bug: report it with its traceback, and lint the other files
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return without_verdict(target, CRASHED, reason, {"traceback": traceback.format_exc()})
    return suppress(report, settings.ignores)


def with_skipped(reports: Sequence[Report], targets: Sequence[Target]) -> list[Report]:
    """Return the reports, with notes instead of errors for files found by searching that are not complete models.

    If that would leave no verdict at all, the errors remain: a run that linted nothing has not passed.
    """
    models = {real_path(file): r.source for r in reports if r.scene for file in r.scene.files}
    seen = [
        skipped(report, models.get(real_path(report.source), "")) if target.searched else report
        for report, target in zip(reports, targets, strict=True)
    ]
    return list(reports) if all(report.skipped for report in seen) else seen


def skipped(report: Report, model: str = "") -> Report:
    """Return the report of a file found by searching, marked as skipped if it is not a complete model.

    Parameters
    ----------
    model : str
        The file that includes it, if any; if set and the file could not be read, any error is a reason to skip it.
    """
    included = bool(model) and report.scene is None
    found = [f for f in report.findings if f.evidence.get(FRAGMENT) or (included and _unusable(f))]
    why = f"skipped, because {model} includes it" if included else "skipped"
    notes = {id(f): replace(f, severity="note", message=f"{why}: {f.message}") for f in found}
    findings = tuple(notes.get(id(f), f) for f in report.findings)
    return replace(report, findings=findings, skipped=bool(notes) and not any(map(_unusable, findings)))


def _unusable(finding: Finding) -> bool:
    return finding.severity == "error" and finding.code != CRASHED


def lint_one_of_many(target: Target, options: Mapping[str, Any]) -> Report:
    """Lint one file; an invalid request becomes a finding, since it may be valid for other files."""
    try:
        return lint_target(target, options)
    except BadUsage as error:
        return without_verdict(target, UNUSABLE, error.sentence().rstrip("."))


def without_verdict(
    target: Target, code: str, reason: str, evidence: Mapping[str, Any] | None = None
) -> Report:
    """Return the report of a file that could not be linted."""
    rule = find_rule(code)
    finding = replace(rule.finding(f"{target.file}: {reason}.", evidence=evidence), file=target.file)
    return Report(target.file, (finding,), None, None, target.settings.fail_on)


def not_linted(target: Target, seconds: float) -> Report:
    """Return the report of a file that was not linted within the time limit of the run, s."""
    return without_verdict(target, NOT_LINTED, f"not linted, the time of this run is over ({seconds:g} s)")


def with_unused_ignores(reports: Sequence[Report], targets: Sequence[Target]) -> list[Report]:
    """Return the reports with findings for unused waivers.

    For several files they are in a report on the configuration, at the end; for a single file, in its own report.
    """
    labelled = list(reports)
    last = {target.settings.file: target for target in targets}
    for config, target in last.items():
        mine = [r for r, t in zip(reports, targets, strict=True) if t.settings.file == config]
        found = by_severity(unused_ignores(target, mine))
        if len(reports) == 1:
            labelled = [replace(labelled[0], findings=by_severity((*labelled[0].findings, *found)))]
        elif found:
            labelled.append(Report(config, found, None, None, target.settings.fail_on))
    return labelled


def unused_ignores(target: Target, reports: Sequence[Report]) -> Iterator[Finding]:
    """Yield findings for the ignores of a target's configuration that match nothing in the reports."""
    settings, rule = target.settings, find_rule(UNUSED)
    if not settings.selection.includes(rule):
        return
    for ignore in unused(settings.ignores, reports):
        if settings.selection.includes(find_rule(ignore.rule)):
            yield replace(
                rule.finding(
                    f"the waiver of {ignore.rule} for {ignore.element!r} matches nothing",
                    element=ignore.element,
                    evidence={"rule": ignore.rule, "reason": ignore.reason},
                ),
                file=ignore.config,
                line=ignore.line,
            )


# Several files, one after the other or in parallel processes.


def lint_targets(
    targets: Sequence[Target],
    options: Mapping[str, Any],
    jobs: int | None = None,
    max_seconds: float | None = None,
    kept: Kept | None = None,
) -> Iterator[Report]:
    """Yield the reports of files in order.

    Parameters
    ----------
    targets : sequence of Target
    options : mapping
        Options of ``lint``, the same for every file.
    jobs : int, optional
        Number of processes; default: the number of cores, but fewer for few files.
    max_seconds : float, optional
        Time limit for all files together, s. Files being linted at that time are aborted; these, and those not yet
        started, are reported as not linted (MB915).
    kept : Kept, optional
        Reports of earlier runs, which are used where nothing has changed; new ones are added.

    Raises
    ------
    BadUsage
        More processes than can be started, or an invalid request with a single file.
    """
    deadline = Deadline(max_seconds)
    if kept is None:
        one = lint_target if len(targets) == 1 else lint_one_of_many
        yield from _linted(targets, options, jobs, deadline, one, lint_and_send)
        return
    known = [kept.report(key) for key in kept.keys]
    left = [k for k, report in enumerate(known) if report is None]
    work = partial(lint_and_keep, kept.folder, {targets[k].file: kept.keys[k] for k in left})
    new = _linted([targets[k] for k in left], options, jobs, deadline, work, work)
    for report in known:
        yield report or next(new)
    if left:
        trim(kept.folder)


def _linted(
    targets: Sequence[Target],
    options: Mapping[str, Any],
    jobs: int | None,
    deadline: Deadline,
    here: Work,
    elsewhere: Work,
) -> Iterator[Report]:
    """Yield the reports of files in order, each linted ``here`` or, with several processes, ``elsewhere``."""
    workers = require_possible(jobs) if jobs else min(cores(), len(targets) // _FILES_PER_PROCESS)
    if sys.platform == "win32":
        workers = min(workers, _MOST_ON_WINDOWS)
    if workers >= 2 and len(targets) > 1:
        yield from _in_parallel(targets, options, min(workers, len(targets)), deadline, elsewhere)
        return
    with deadline.watched():
        for target in targets:
            report = deadline.run(target.file, partial(here, target, options))
            yield report if report is not None else not_linted(target, deadline.seconds or 0.0)


def _in_parallel(
    targets: Sequence[Target], options: Mapping[str, Any], workers: int, deadline: Deadline, work: Work
) -> Iterator[Report]:
    from mbplugin.linter.side_by_side import NoReport, side_by_side

    results = side_by_side(targets, options, work, workers, deadline)
    for target, result in zip(targets, results, strict=True):
        if not isinstance(result, NoReport):
            yield result
        elif result.reason:
            yield without_verdict(target, CRASHED, result.reason)
        else:
            yield not_linted(target, deadline.seconds or 0.0)


def lint_and_send(target: Target, options: Mapping[str, Any]) -> Report:
    """Return the report of :func:`lint_one_of_many` without the documents, for another process.

    Only rules need the documents, and sending them takes a fifth of the time of a lint.
    """
    report = lint_one_of_many(target, options)
    return replace(report, scene=report.scene and replace(report.scene, documents=()))


def lint_and_keep(
    folder: Path, keys: Mapping[str, str], target: Target, options: Mapping[str, Any]
) -> Report:
    """Return the report of :func:`lint_and_send`, kept in a folder under the key of its file."""
    start = time.time()
    with recording_reads() as reads:
        report = lint_and_send(target, options)
    store(folder, keys[target.file], report, reads, start)
    return report
