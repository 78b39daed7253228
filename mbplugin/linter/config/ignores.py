"""Ignores: findings of one rule about one element, suppressed for a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mbplugin.linter.finding import Finding
from mbplugin.readers.common.paths import real_path

if TYPE_CHECKING:
    from mbplugin.linter.run import Report


@dataclass(frozen=True)
class Ignore:
    """An ``[[ignore]]`` of a configuration.

    Parameters
    ----------
    rule : str
        The code.
    element : str
        The body, pair or model, or a pattern (``*_wheel_joint``).
    reason : str
    files : str
        The files it is for, absolute; a pattern, whose ``*`` stands for slashes too.
    config, line : str, int
        Where it was written.
    """

    rule: str
    element: str
    reason: str
    files: str
    config: str = ""
    line: int = 0

    def is_for(self, report: Report) -> bool:
        """Return whether the ignore is for the file of a report, or for one that it names."""
        files = (report.source, *(report.scene.files if report.scene else ()))
        # which may be none: <stdin>
        return any(fnmatchcase(real_path(file).as_posix(), self.files) for file in files)

    def matches(self, finding: Finding) -> bool:
        """Return whether a finding is what the ignore is about."""
        # a name may hold the brackets that mean something in a pattern
        named = finding.element == self.element or fnmatchcase(finding.element, self.element)
        return named and finding.code == self.rule


@dataclass(frozen=True)
class Suppressed:
    """A finding that is not reported, and the ignore that says why."""

    finding: Finding
    ignore: Ignore


def suppress(report: Report, ignores: Sequence[Ignore]) -> Report:
    """Return the report without the findings that are ignored; unusable input is always reported."""
    mine = [ignore for ignore in ignores if ignore.is_for(report)]
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    for finding in report.findings:
        ignore = next((ignore for ignore in mine if ignore.matches(finding)), None)
        if ignore is None or finding.code.startswith("MB9"):
            kept.append(finding)
        else:
            suppressed.append(Suppressed(finding, ignore))
    return replace(report, findings=tuple(kept), suppressed=(*report.suppressed, *suppressed))


def unused(ignores: Sequence[Ignore], reports: Sequence[Report]) -> list[Ignore]:
    """Return the ignores that match nothing in any report, as far as the reports can tell."""
    used = {suppressed.ignore for report in reports for suppressed in report.suppressed}
    return [ignore for ignore in ignores if ignore not in used and _judged(ignore, reports)]


def _judged(ignore: Ignore, reports: Sequence[Report]) -> bool:
    mine = [report for report in reports if ignore.is_for(report)]
    # in a file that could not be analyzed there may be the finding that the ignore is about
    return bool(mine) and all(report.analysis is not None for report in mine)
