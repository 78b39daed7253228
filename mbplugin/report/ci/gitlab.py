"""GitLab's Code Quality report: a JSON list with the findings of a merge request."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbplugin.report.ci.places import in_repository
from mbplugin.report.ci.wording import annotation
from mbplugin.report.documents.json import dumps
from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.linter.finding import Finding
    from mbplugin.linter.run import Report

_SEVERITIES = {"error": "critical", "warning": "major", "note": "info"}


def gitlab_text(reports: Sequence[Report]) -> str:
    """Return the list as JSON text; a finding that several files share is one entry per file."""
    seen: Counter[str] = Counter()
    return dumps([_entry(report, finding, seen) for report in reports for finding in report.findings])


def _entry(report: Report, finding: Finding, seen: Counter[str]) -> dict[str, Any]:
    path = in_repository(finding.file or report.source) or visible(report.source)
    return {
        "description": annotation(finding),
        "check_name": finding.code,
        "fingerprint": _fingerprint(path, finding, seen),
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": path, "lines": {"begin": max(finding.line or 1, 1)}},
    }


def _fingerprint(path: str, finding: Finding, seen: Counter[str]) -> str:
    """Return what GitLab recognizes a finding by in the next run: no lines, no numbers of the message."""
    own = "\0".join((path, finding.code, finding.element))
    seen[own] += 1
    return hashlib.sha256(f"{own}\0{seen[own]}".encode("utf-8", "surrogateescape")).hexdigest()
