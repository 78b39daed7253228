"""Lint reports for other programs: SARIF 2.1.0, GitHub annotations, GitLab Code Quality and JUnit XML."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mbplugin.linter.rule import LONGEST, Finding, FindingFix
from mbplugin.phrases import shortened, visible
from mbplugin.report.documents.part import dumps
from mbplugin.report.formats import findings_summary, plain, runs_summary
from mbplugin.report.text.lint import finding_text
from mbplugin.version import SUMMARY, __version__

if TYPE_CHECKING:
    from mbplugin.linter.rule import Rule
    from mbplugin.linter.run import Report, Suppressed

Object = dict[str, Any]
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: Base of relative paths; the reader of the file knows where the repository is checked out.
_ROOT = "SRCROOT"
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_SEVERITIES = {"error": "critical", "warning": "major", "note": "info"}
_TAGS = {1: "failure", 2: "error"}


def sarif_text(reports: Sequence[Report]) -> str:
    """Return the SARIF log as JSON text."""
    return dumps(sarif_document(reports))


def sarif_document(reports: Sequence[Report]) -> Object:
    """Return the SARIF log: one run of the tool over all files."""
    from mbplugin.linter.rule import rules

    known = rules()
    index = {rule.code: k for k, rule in enumerate(known)}
    results = [_result(report, f, index) for report in reports for f in report.findings]
    results += [_suppressed(report, s, index) for report in reports for s in report.suppressed]
    driver = {
        "name": "mbplugin",
        "semanticVersion": __version__,
        "shortDescription": {"text": SUMMARY},
        "rules": [_rule(rule) for rule in known],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [
            {
                "executionSuccessful": all(report.exit_code < 2 for report in reports),
                "exitCode": max((report.exit_code for report in reports), default=0),
            }
        ],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> Object:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.documentation, "markdown": rule.documentation},
        "defaultConfiguration": {"level": rule.severity, "enabled": not rule.opt_in},
    }


def _result(report: Report, finding: Finding, index: Mapping[str, int]) -> Object:
    return {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": finding.severity,
        "message": {"text": annotation(finding)},
        "locations": [_location(report, finding)],
        "properties": {"source": report.source, "help": finding.help, "evidence": plain(finding.evidence)},
        **({"fixes": [_fix(finding.fix)]} if finding.fix else {}),
    }


def _fix(fix: FindingFix) -> Object:
    """Return a fix as the changes of each file."""
    changes: dict[str, list[Object]] = {}
    for edit in fix.edits:
        region = {
            "startLine": edit.start_line,
            "startColumn": edit.start_column,
            "endLine": edit.end_line,
            "endColumn": edit.end_column,
        }
        replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
        changes.setdefault(edit.file, []).append(replacement)
    return {
        "description": {"text": f"{visible(fix.title)} ({fix.applicability})"},
        "artifactChanges": [
            {**_physical(file, 0), "replacements": replacements} for file, replacements in changes.items()
        ],
    }


def _suppressed(report: Report, suppressed: Suppressed, index: Mapping[str, int]) -> Object:
    ignore = suppressed.ignore
    place = _physical(ignore.config, ignore.line)
    return {
        **_result(report, suppressed.finding, index),
        "suppressions": [
            {
                "kind": "external",
                "justification": ignore.reason,
                **({"location": {"physicalLocation": place}} if place else {}),
            }
        ],
    }


def _location(report: Report, finding: Finding) -> Object:
    location: Object = {}
    if place := _physical(finding.file or report.source, finding.line):
        location["physicalLocation"] = place
    if finding.element:
        model = report.analysis.mechanism.name if report.analysis else ""
        full = f"{model}/{finding.element}" if model and model != finding.element else finding.element
        kind = "element" if PurePath(finding.file).suffix != ".toml" else "object"
        location["logicalLocations"] = [{"name": finding.element, "fullyQualifiedName": full, "kind": kind}]
    return location


def _physical(file: str, line: int) -> Object:
    path = in_repository(file)
    if not path:
        return {}
    artifact: Object = {"uri": quote(os.fsencode(path)), "uriBaseId": _ROOT}
    if PurePath(path).is_absolute():
        artifact = {"uri": PurePath(path).as_uri()}
    return {"artifactLocation": artifact, **({"region": {"startLine": line}} if line else {})}


# Workflow commands of GitHub Actions: each finding becomes an annotation of its line.


def github_text(reports: Sequence[Report]) -> str:
    """Return one workflow command per finding, and the summary for the log."""
    commands = [_command(finding) for report in reports for finding in report.findings]
    return "".join(f"{line}\n" for line in (*commands, runs_summary(reports)))


def _command(finding: Finding) -> str:
    properties = ",".join(f"{key}={_property(value)}" for key, value in _properties(finding))
    # annotations have no suggestions: GitHub reads those in comments of a review only
    fix = f"\nfix ({finding.fix.applicability}): {visible(finding.fix.title)}" if finding.fix else ""
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(annotation(finding) + fix)}"


def _properties(finding: Finding) -> Iterator[tuple[str, str]]:
    if file := in_repository(finding.file):
        yield "file", file
        if finding.line:
            yield "line", str(finding.line)
    element = f" [{visible(finding.element)}]" if finding.element else ""
    yield "title", f"{finding.code} {finding.name}{element}"


def _data(text: str) -> str:
    """Escape text for the runner; a raw line break would end the command and could start another."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# GitLab's Code Quality report: a JSON list of findings.


def gitlab_text(reports: Sequence[Report]) -> str:
    """Return the list as JSON text, with one entry per report and finding."""
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
    """Return the fingerprint by which GitLab matches a finding across runs; it ignores line numbers and messages."""
    own = "\0".join((path, finding.code, finding.element))
    seen[own] += 1
    return hashlib.sha256(f"{own}\0{seen[own]}".encode("utf-8", "surrogateescape")).hexdigest()


# JUnit XML: each file is a test case; its findings at or above the threshold are the failure.


def junit_text(reports: Sequence[Report]) -> str:
    """Return the JUnit XML document."""
    from lxml import etree

    codes = [report.exit_code for report in reports]
    counts = {"tests": len(codes), "failures": codes.count(1), "errors": codes.count(2)}
    counts["skipped"] = sum(report.skipped for report in reports)
    root = etree.Element("testsuites")
    suite = etree.SubElement(root, "testsuite", name="mbplugin")
    for key, number in counts.items():
        suite.set(key, str(number))
    for report in reports:
        case = etree.SubElement(suite, "testcase", name=visible(report.source), classname="mbplugin.lint")
        _fill(case, report)
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return text.decode()


def _fill(case: Any, report: Report) -> None:
    from lxml import etree

    failing = [finding for finding in report.findings if report.fails(finding)]
    others = [finding for finding in report.findings if not report.fails(finding)]
    if failing:
        codes = ", ".join(dict.fromkeys(finding.code for finding in failing))
        failure = etree.SubElement(
            case, _TAGS[report.exit_code], message=findings_summary([report]), type=codes
        )
        failure.text = _texts(failing)
    if report.skipped:
        etree.SubElement(case, "skipped", message=report.findings[0].message)
    if others:
        etree.SubElement(case, "system-out").text = _texts(others)


def _texts(findings: Iterable[Finding]) -> str:
    return "\n".join(finding_text(finding) for finding in findings)


# File names for other tools: relative to the root of the repository, with forward slashes.


def repository_root() -> Path:
    """Return the base folder of paths for other tools: the CI workspace, else the git root, else the current folder."""
    if workspace := os.environ.get("GITHUB_WORKSPACE"):
        return Path(workspace).resolve()
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def in_repository(file: str) -> str:
    """Return a file's path relative to the root of the repository; absolute if it is outside.

    Empty for a source that is not a file, such as stdin or a live client.
    """
    if not file or file.startswith("<"):
        return ""
    # symbolic links are not resolved: the repository knows files by these names
    path = Path(os.path.abspath(file))  # noqa: PTH100
    root = repository_root()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


# The text of a finding in an annotation: the problem and the remedy, in at most ``LONGEST`` characters.


def annotation(finding: Finding) -> str:
    """Return the message and, on a separate line, the first line of the help if it fits.

    Lines to paste are in the text and in the JSON of the lint.
    """
    message = shortened(visible(finding.message), LONGEST)
    sentence = visible(next(iter(finding.help.splitlines()), "")).removesuffix(":")
    if not sentence or sentence in message:
        return message
    both = f"{message}\n{sentence}"
    return both if len(both) <= LONGEST else message
