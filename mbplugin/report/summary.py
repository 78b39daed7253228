"""The number of passed runs and of findings, in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.phrases import counted

if TYPE_CHECKING:
    from mbplugin.linter.run import Report

#: The rule for files that the time of a run did not suffice for.
_NOT_LINTED = "MB915"


def findings_summary(reports: Sequence[Report]) -> str:
    """Return ``1 error, 4 warnings, 0 notes, 1 ignored``."""
    found = [finding.severity for report in reports for finding in report.findings]
    counts = [counted(found.count(severity), severity) for severity in ("error", "warning", "note")]
    if ignored := sum(len(report.suppressed) for report in reports):
        counts.append(f"{ignored} ignored")
    return ", ".join(counts)


def runs_summary(reports: Sequence[Report]) -> str:
    """Return ``4 runs: 1 passed, 1 failed, 1 unusable, 1 skipped; …``."""
    codes = [report.exit_code for report in reports if not report.skipped]
    runs = f"{counted(len(reports), 'run')}: {codes.count(0)} passed, {codes.count(1)} failed"
    skipped = f", {left} skipped" if (left := len(reports) - len(codes)) else ""
    late = sum(
        any(f.code == _NOT_LINTED for f in report.findings) for report in reports if not report.skipped
    )
    unusable = f"{codes.count(2) - late} unusable" + (f", {late} not linted" if late else "")
    return f"{runs}, {unusable}{skipped}; {findings_summary(reports)}"


def ignored_lines(report: Report) -> Iterator[str]:
    """Yield what the configuration ignores, and why."""
    for suppressed in report.suppressed:
        finding, ignore = suppressed.finding, suppressed.ignore
        yield f"ignored {finding.code} {finding.name} for {finding.element}: {ignore.reason}"
