"""SARIF 2.1.0: rules with their help, results with physical and logical locations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mbplugin.report.ci.places import in_repository
from mbplugin.report.ci.wording import annotation
from mbplugin.report.documents.json import dumps, plain
from mbplugin.version import SUMMARY, __version__

if TYPE_CHECKING:
    from mbplugin.linter.config.ignores import Suppressed
    from mbplugin.linter.finding import Finding
    from mbplugin.linter.rule import Rule
    from mbplugin.linter.run import Report

Object = dict[str, Any]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: To it paths are relative; who reads the file knows where it has checked the repository out.
_ROOT = "SRCROOT"


def sarif_text(reports: Sequence[Report]) -> str:
    """Return the log as JSON text."""
    return dumps(sarif_document(reports))


def sarif_document(reports: Sequence[Report]) -> Object:
    """Return the log: one run of the tool over all files."""
    from mbplugin.linter.registry import rules

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
