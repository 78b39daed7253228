"""Waivers: findings of one rule about one element, suppressed for a reason."""

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
    """A ``[[waive]]`` of a configuration.

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

    def matches(self, finding: Finding, element: str) -> bool:
        """Return whether the waiver is about one of the elements of a finding."""
        # a name may hold the brackets that mean something in a pattern
        named = element == self.element or fnmatchcase(element, self.element)
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
        found = [next((w for w in mine if w.matches(finding, e)), None) for e in finding.elements]
        # a finding about several elements is reported while one of them is not waived
        if None in found or finding.code.startswith("MB9"):
            kept.append(finding)
        else:
            suppressed += [Suppressed(finding, waiver) for waiver in dict.fromkeys(filter(None, found))]
    return replace(report, findings=tuple(kept), suppressed=(*report.suppressed, *suppressed))


def unused(ignores: Sequence[Ignore], reports: Sequence[Report]) -> list[Ignore]:
    """Return the ignores that match nothing in any report, as far as the reports can tell."""
    used = {suppressed.ignore for report in reports for suppressed in report.suppressed}
    left = [ignore for ignore in ignores if ignore not in used and _judged(ignore, reports)]
    return [ignore for ignore in left if not any(_in_part(ignore, report) for report in reports)]


def _in_part(ignore: Ignore, report: Report) -> bool:
    """Return whether an ignore is about one element of a finding that is reported for its other ones."""
    several = (finding for finding in report.findings if len(finding.elements) > 1)
    return ignore.is_for(report) and any(ignore.matches(f, e) for f in several for e in f.elements)


def _judged(ignore: Ignore, reports: Sequence[Report]) -> bool:
    mine = [report for report in reports if ignore.is_for(report)]
    # in a file that could not be analyzed there may be the finding that the ignore is about
    return bool(mine) and all(report.analysis is not None for report in mine)
