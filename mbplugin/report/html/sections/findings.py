"""The findings, to be filtered by severity, code and words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from mbplugin.linter.finding import SEVERITIES, Finding
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, choice, element, section, table
from mbplugin.report.html.sections.concerned import concerned
from mbplugin.report.html.sections.lookup.rules import rule_codes
from mbplugin.report.summary import ignored_lines


def findings_section(chapter: Chapter) -> Html | None:
    """Return the table of findings."""
    report = chapter.report
    if report is None:
        return None
    ignored = [element("p", line, class_="fine") for line in ignored_lines(report)]
    if not report.findings:
        return section("Findings", element("p", "No findings."), ignored)
    linked = rule_codes([chapter])
    rows = [_row(finding, chapter, linked) for finding in report.findings]
    heads = ("severity", "rule", "element", "problem and remedy", "where")
    return section(
        "Findings",
        _filter(report.findings),
        table(heads, rows, class_="findings"),
        ignored,
    )


def _filter(findings: Sequence[Finding]) -> Html:
    severities = [s for s in reversed(SEVERITIES) if any(f.severity == s for f in findings)]
    codes = sorted({f.code for f in findings})
    return element(
        "div",
        [
            element(
                "label",
                element("input", type="checkbox", checked=True, data_severity=severity),
                severity,
                class_="switch",
            )
            for severity in severities
        ],
        element(
            "label",
            "code ",
            element(
                "select",
                element("option", "all", value=""),
                [element("option", code, value=code) for code in codes],
                data_code=True,
            ),
        ),
        element("label", "text ", element("input", type="search", data_text=True)),
        element("output", f"{len(findings)} of {len(findings)}", data_count=True),
        class_="bar filter",
    )


def _row(finding: Finding, chapter: Chapter, linked: frozenset[str]) -> Html:
    sentence, *to_paste = finding.help.splitlines() if finding.help not in finding.message else [""]
    evidence = [
        element("div", element("dt", key.replace("_", " ")), element("dd", _value(value)))
        for key, value in finding.evidence.items()
    ]
    file = PurePath(finding.file).name
    where = f"{file}:{finding.line}" if finding.line else file
    return element(
        "tr",
        element("td", element("span", finding.severity, class_=f"badge {finding.severity}")),
        element("td", _rule_link(finding, linked), element("br"), finding.name, _shown(finding, chapter)),
        element(
            "td", choice(finding.element, "any") if _known(finding.element, chapter) else finding.element
        ),
        element(
            "td",
            element("p", finding.message),
            element("p", sentence, class_="help") if sentence else None,
            element("pre", "\n".join(to_paste)) if to_paste else None,
            _folded(evidence),
        ),
        element("td", where, class_="where", title=finding.file or None),
        data_severity=finding.severity,
        data_code=finding.code,
    )


def _rule_link(finding: Finding, linked: frozenset[str]) -> Html:
    code = element("strong", finding.code)
    return element("a", code, href=f"#rule-{finding.code}") if finding.code in linked else code


def _shown(finding: Finding, chapter: Chapter) -> Html | None:
    """Return a button that shows in the 3D view what the finding is about."""
    analysis = chapter.verdicts
    if analysis is None or chapter.model is None or not (about := concerned(finding, analysis)):
        return None
    return element(
        "button",
        "show in 3D",
        type="button",
        class_="show",
        data_show_joints=json.dumps(about.constraints),
        data_show_bodies=json.dumps(about.bodies),
        aria_pressed="false",
        aria_label=f"show {finding.code} {finding.element} in the 3D view",
    )


def _folded(evidence: Sequence[Html]) -> Html | None:
    if not evidence:
        return None
    return element("details", element("summary", "numbers"), element("dl", evidence), class_="numbers")


def _known(name: str, chapter: Chapter) -> bool:
    analysis = chapter.verdicts
    if analysis is None:
        return False
    mech = analysis.mechanism
    return name in mech.body_index or any(c.name == name for c in mech.constraints())


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return " ".join(_value(item) for item in _placed(value).values())
    if isinstance(value, list | tuple):
        apart = "; " if any(isinstance(item, Mapping) for item in value) else ", "
        return apart.join(_value(item) for item in value)
    return str(value)


def _placed(item: Mapping[str, object]) -> dict[str, object]:
    """Return an entry whose file and line are one word: a page is read where the file is not."""
    rest = {key: value for key, value in item.items() if key not in ("file", "line")}
    return rest | (
        {"at": f"({PurePath(str(item['file'])).name}:{item.get('line', 0)})"} if "file" in item else {}
    )
