"""JUnit XML: each file a test case, its findings at or above the threshold the failure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mbplugin.report.summary import findings_summary
from mbplugin.report.text.lint import finding_text
from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.linter.finding import Finding
    from mbplugin.linter.run import Report

_TAGS = {1: "failure", 2: "error"}


def junit_text(reports: Sequence[Report]) -> str:
    """Return the XML document."""
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
