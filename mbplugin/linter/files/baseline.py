"""The baseline: the JSON of an earlier lint, whose findings are not reported again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import parse_json, read_bounded, seen_from
from mbplugin.linter.finding import ELEMENTS, Finding
from mbplugin.linter.run import Report

#: The run, the code and the element: numbers and lines may change, the finding stays the same.
Known = Counter[tuple[str, str, str]]


def read_baseline(path: Path, violation: Callable[[Any], str]) -> Known:
    """Return how often each finding is in the JSON of a lint.

    Parameters
    ----------
    path : Path
    violation : callable
        Returns the first place at which a document is not what its schema says; empty for none.

    Raises
    ------
    BadUsage
        The file is not what ``mbplugin lint --output-format json`` writes.
    """
    try:
        document = parse_json(read_bounded(path))
        if violation(document):
            raise _no_baseline(path)
        runs = document.get("runs", [document])
        return Counter(
            _key(run["source"], finding["code"], element)
            for run in runs
            for finding in run["findings"]
            for element in finding.get("evidence", {}).get(ELEMENTS) or [finding["element"]]
        )
    except UnreadableFile as error:
        raise BadUsage(f"no baseline can be read: {error.what}", where=str(path)) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _no_baseline(path) from None


def _no_baseline(path: Path) -> BadUsage:
    return BadUsage(
        "this is no baseline",
        where=str(path),
        expected="what mbplugin lint --output-format json writes",
        remedy="write it with --output-format json --output FILE",
    )


def without_known(reports: Sequence[Report], known: Known) -> list[Report]:
    """Return the reports without the findings of a baseline; unusable input is always reported."""
    left = Counter(known)
    return [
        replace(report, findings=tuple(f for f in report.findings if _new(report, f, left)))
        for report in reports
    ]


def _new(report: Report, finding: Finding, left: Known) -> bool:
    keys = [_key(report.source, finding.code, element) for element in finding.elements]
    if finding.code.startswith("MB9") or not all(left[key] for key in keys):
        return True
    # five of them are new where the baseline holds four
    left.subtract(keys)
    return False


def _key(source: Any, code: Any, element: Any) -> tuple[str, str, str]:
    return seen_from(Path.cwd(), str(source)), str(code), str(element)
