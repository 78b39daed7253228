"""The text of a long remedy and of many findings: what is shown, and what is left out and said to be."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import tomllib

import mbplugin as mb
from mbplugin.report.documents.lint import lint_document
from mbplugin.report.documents.part import dumps
from mbplugin.report.text.lint import lint_text
from models import coupled_four_bars
from places import ROOT


def pasted(text: str) -> list[str]:
    """The names of the pairs that the first remedy of a report changes in TOML."""
    lines = re.split("  or make|How this was", text.partition("What to change")[2])[0].splitlines()
    return [pair["name"] for pair in tomllib.loads("\n".join(lines[1:]))["pair"]]


@pytest.mark.long
def test_a_long_remedy_is_shown_in_part_and_whole_with_vv() -> None:
    report = mb.lint(coupled_four_bars(16)[0])
    changed = [change.constraint for change in report.analysis.remedies[0].changes]
    assert len(changed) == 16
    assert len({change.new for change in report.analysis.remedies[0].changes}) == 1
    brief = lint_text([report], width=200, detail="full")
    assert pasted(brief) == changed[:3]
    assert f"# and 13 more like these: {', '.join(changed[3:])}; -vv or the JSON has all" in brief
    assert pasted(lint_text([report], width=200, detail="everything")) == changed
    short = mb.lint(coupled_four_bars(4)[0])
    assert len(pasted(lint_text([short], width=200, detail="full"))) == 4


def test_many_findings_of_one_rule_are_shown_in_part_and_whole_with_vv() -> None:
    report = mb.lint(ROOT / "tests" / "cases" / "err" / "mb111.urdf", select=["MB111"])
    (one,) = report.findings
    many = replace(report, findings=tuple(replace(one, message=f"joint {k} is wrong") for k in range(100)))
    brief = lint_text([many], detail="full")
    assert brief.count("is wrong") == 3 and brief.count("help: ") == 1 and f"100 {one.severity}s" in brief
    assert "and 97 more of MB111: -vv or --output-format json has all" in brief
    assert lint_text([many], detail="everything").count("is wrong") == 100
    assert dumps(lint_document([many])).count("is wrong") == 100
    assert lint_text([replace(many, findings=many.findings[:12])], detail="full").count("is wrong") == 12


def test_no_two_remedies_are_the_same_in_another_order() -> None:
    remedies = mb.analyze(coupled_four_bars(16)[0]).remedies
    assert remedies and len({frozenset(remedy.changes) for remedy in remedies}) == len(remedies)
