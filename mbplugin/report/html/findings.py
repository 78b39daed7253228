"""The findings with a filter by severity, code and text; groups, rank decision, record, rules and terms."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log10
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.overview import Kind, kinds_of
from mbplugin.linter.rule import SEVERITIES, Finding, rules
from mbplugin.phrases import counted, listed
from mbplugin.report import ignored_lines
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import Chart, Curve, Html, choice, element, figure, section, table
from mbplugin.report.text.lint import kind_remedy, reasons, shown_places

_FINDING_HEADS = ("severity", "rule", "element", "problem and remedy", "where")
#: Maximum number of parts in the line of a kind of finding.
_PARTS = 4
_HEADS = ("members", "reaction", "components", "resultant", "effect on the assembly")
#: Represents tolerance zero on a logarithmic axis.
_LEAST = 1e-16
_TITLE = re.compile(r"([^\n]+)\n-{3,}(?:\n|$)")
_LITERAL = re.compile(r"``(.+?)``", re.DOTALL)


def findings_section(chapter: Chapter) -> Html | None:
    """Return the section with the kinds of findings, the findings of each folded in a table."""
    report = chapter.report
    if report is None:
        return None
    ignored = [element("p", line, class_="fine") for line in ignored_lines(report)]
    if not report.findings:
        return section("Findings", element("p", "No findings."), ignored)
    linked = rule_codes([chapter])
    return section(
        "Findings",
        _filter(report.findings),
        [_kind(kind, chapter, linked) for kind in kinds_of(report.findings)],
        ignored,
    )


def _kind(kind: Kind, chapter: Chapter, linked: frozenset[str]) -> Html:
    """Return a kind of finding with its number, parts, places and remedy, and the findings folded below."""
    rows = [_row(finding, chapter, linked) for finding in kind.findings]
    parts = listed([part.label for part in kind.parts], _PARTS)
    return element(
        "details",
        element(
            "summary",
            element("span", counted(kind.count, kind.severity), class_=f"badge {kind.severity}"),
            " ",
            element("strong", kind.code),
            f" {kind.name}{': ' if parts else ''}{parts} ",
            element("span", shown_places(kind.places, names_only=True), class_="fine"),
            element("span", kind_remedy(kind, "see below"), class_="help"),
        ),
        table(_FINDING_HEADS, rows, class_="findings"),
        class_="kind",
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
    code = element("strong", finding.code)
    return element(
        "tr",
        element("td", element("span", finding.severity, class_=f"badge {finding.severity}")),
        element(
            "td",
            element("a", code, href=f"#rule-{finding.code}") if finding.code in linked else code,
            element("br"),
            finding.name,
            _highlight_button(finding, chapter),
        ),
        element(
            "td", choice(finding.element, "any") if _known(finding.element, chapter) else finding.element
        ),
        element(
            "td",
            element("p", finding.message),
            element("p", sentence, class_="help") if sentence else None,
            element("pre", "\n".join(to_paste)) if to_paste else None,
            element("details", element("summary", "numbers"), element("dl", evidence), class_="numbers")
            if evidence
            else None,
        ),
        element("td", where, class_="where", title=finding.file or None),
        data_severity=finding.severity,
        data_code=finding.code,
    )


def _highlight_button(finding: Finding, chapter: Chapter) -> Html | None:
    """Return a button that highlights the elements of a finding in the 3D view; None if there are none."""
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
        return " ".join(_value(item) for item in _entry(value).values())
    if isinstance(value, list | tuple):
        apart = "; " if any(isinstance(item, Mapping) for item in value) else ", "
        return apart.join(_value(item) for item in value)
    return str(value)


def _entry(item: Mapping[str, object]) -> dict[str, object]:
    """Return an entry with file and line as one text without folders, since a page is read elsewhere."""
    rest = {key: value for key, value in item.items() if key not in ("file", "line")}
    return rest | (
        {"at": f"({PurePath(str(item['file'])).name}:{item.get('line', 0)})"} if "file" in item else {}
    )


# Groups of constraints, and the result of the divide-and-conquer test.


def groups_section(chapter: Chapter) -> Html | None:
    """Return the section with the results for each group of constraints."""
    analysis = chapter.verdicts
    if analysis is None or not analysis.groups:
        return None
    rows = [
        (
            ", ".join(group.members),
            group.reaction,
            _uniqueness_word(group.components_unique),
            _uniqueness_word(group.resultant_unique),
            _uniqueness_word(group.assembly_effect_unique),
        )
        for group in analysis.groups
    ]
    return section("Groups", table(_HEADS, rows))


def dca_section(chapter: Chapter) -> Html | None:
    """Return the section with the steps of the divide-and-conquer test, if that was the method."""
    analysis = chapter.verdicts
    if analysis is None or analysis.dca is None:
        return None
    stalled = ", ".join(analysis.dca.stalled)
    return section(
        "Divide and conquer",
        element("p", f"The method stalls at {stalled} and leaves the reactions beyond undecided.")
        if stalled
        else None,
        element("details", element("summary", "every step"), element("pre", analysis.dca.trace)),
    )


def _uniqueness_word(unique: bool | None) -> str:
    return "" if unique is None else "unique" if unique else "non-unique"


# The constraints and bodies of a finding, for the 3D view.


class Concerned(NamedTuple):
    """Names of constraints and of bodies."""

    constraints: tuple[str, ...]
    bodies: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.constraints or self.bodies)


def concerned(finding: Finding, analysis: Analysis) -> Concerned:
    """Return the constraints and bodies that a finding names, as its element or in its evidence.

    A single constraint represents its loops: if self-stresses load it, all constraints that they load are added.
    """
    mech = analysis.mechanism
    known = {c.name for c in mech.constraints()}
    named = dict.fromkeys((finding.element, *_texts(finding.evidence)))
    constraints = [name for name in named if name in known]
    bodies = [name for name in named if name in mech.body_index and name not in known]
    if len(constraints) == 1 and not bodies:
        loops = [s.constraints for s in analysis.self_stresses if constraints[0] in s.constraints]
        constraints = list(dict.fromkeys((*constraints, *(name for loop in loops for name in loop))))
    return Concerned(tuple(constraints), tuple(bodies))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


# How the rank was decided: the number of redundant constraints over the tolerance.


def decided_section(chapter: Chapter) -> Html | None:
    """Return the section on the rank decision, with the redundancy over the tolerance as a chart."""
    analysis = chapter.verdicts
    if analysis is None:
        return None
    chart = _plateaus(analysis)
    return section(
        "How this was decided",
        element("ul", [element("li", sentence) for sentence in reasons(analysis)]),
        element("div", figure(chart), class_="charts") if chart else None,
    )


def _plateaus(analysis: Analysis) -> Chart | None:
    plateaus = analysis.plateaus
    # a count that does not depend on the tolerance needs no chart
    if len({p.degree_of_redundancy for p in plateaus}) < 2:
        return None
    edges = [max(p.start, _LEAST) for p in plateaus] + [max(plateaus[-1].stop, _LEAST)]
    counts = [p.degree_of_redundancy for p in plateaus]
    curve = Curve("redundant constraints", np.log10(edges), np.array([*counts, counts[-1]], dtype=float))
    used = (log10(analysis.tolerance), f"tolerance used: {analysis.tolerance:g}")
    return Chart(
        "Redundant constraints by rank tolerance",
        "relative tolerance",
        "number",
        (curve,),
        (used,),
        steps=True,
        powers="x",
    )


# The record of the report, with signature lines on paper.


# The documentation of the rules of a page's findings.


def rule_codes(chapters: Iterable[Chapter]) -> frozenset[str]:
    """Return the codes of all findings of the chapters that are codes of registered rules."""
    found = {f.code for one in chapters if one.report is not None for f in one.report.findings}
    return frozenset(found & {rule.code for rule in rules()})


def rules_section(chapters: tuple[Chapter, ...]) -> Html | None:
    """Return the documentation of each rule that has a finding, with the anchor ``#rule-CODE``."""
    codes = rule_codes(chapters)
    if not codes:
        return None
    shown = [rule for rule in rules() if rule.code in codes]
    return element(
        "div",
        section(
            "Rules",
            [
                element(
                    "details",
                    element("summary", f"{rule.code} {rule.name}"),
                    list(_blocks(rule.documentation)),
                    element("p", f"On the command line: mbplugin rule {rule.code}", class_="fine"),
                    class_="rule",
                    id=f"rule-{rule.code}",
                )
                for rule in shown
            ],
            lead="What the rules of these findings do.",
        ),
        class_="screen",
    )


def _blocks(text: str) -> Iterator[Html]:
    """Yield the paragraphs of a docstring; underlined titles become headings."""
    for block in text.split("\n\n"):
        if titled := _TITLE.match(block):
            yield element("h3", titled[1])
            block = block[titled.end() :]
        if not block.strip():
            continue
        if block.startswith("    "):
            yield element("pre", block)
        else:
            parts = _LITERAL.split(block)
            yield element("p", [element("code", part) if k % 2 else part for k, part in enumerate(parts)])
