"""Workflow commands of GitHub Actions: each finding an annotation of its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.report.ci.places import in_repository
from mbplugin.report.ci.wording import annotation
from mbplugin.report.summary import runs_summary
from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.linter.finding import Finding
    from mbplugin.linter.run import Report

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def github_text(reports: Sequence[Report]) -> str:
    """Return one command per finding, and the summary for the log."""
    commands = [_command(finding) for report in reports for finding in report.findings]
    return "".join(f"{line}\n" for line in (*commands, runs_summary(reports)))


def _command(finding: Finding) -> str:
    properties = ",".join(f"{key}={_property(value)}" for key, value in _properties(finding))
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(annotation(finding))}"


def _properties(finding: Finding) -> Iterator[tuple[str, str]]:
    if file := in_repository(finding.file):
        yield "file", file
        if finding.line:
            yield "line", str(finding.line)
    element = f" [{visible(finding.element)}]" if finding.element else ""
    yield "title", f"{finding.code} {finding.name}{element}"


def _data(text: str) -> str:
    """Escape as the runner unescapes; a line break would end the command and may begin another."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
