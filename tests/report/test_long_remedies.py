"""The text of a long remedy: what can be pasted, and what is left out and said to be."""

from __future__ import annotations

import tomllib

import mbplugin as mb
from mbplugin.report.text.lint import lint_text
from models import coupled_four_bars


def pasted(text: str) -> list[str]:
    """The names of the pairs that the first remedy of a report changes in TOML."""
    lines = text.partition("What to change")[2].partition("  or make")[0].splitlines()
    return [pair["name"] for pair in tomllib.loads("\n".join(lines[1:]))["pair"]]


def test_a_long_remedy_is_shown_in_part_and_whole_with_verbose() -> None:
    report = mb.lint(coupled_four_bars(16)[0])
    changed = [change.constraint for change in report.analysis.remedies[0].changes]
    assert len(changed) == 16
    assert len({change.new for change in report.analysis.remedies[0].changes}) == 1
    brief = lint_text([report], width=200)
    assert pasted(brief) == changed[:3]
    assert f"# and 13 more like these: {', '.join(changed[3:])}; --verbose or the JSON has all" in brief
    assert pasted(lint_text([report], width=200, detail="verbose")) == changed
    short = mb.lint(coupled_four_bars(4)[0])
    assert len(pasted(lint_text([short], width=200))) == 4
