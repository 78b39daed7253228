"""Rules as text: a list of them, and the documentation of one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.linter.rule import Rule

#: A line that is no part of running text: it is indented, an item of a list, or underlines a title.
_AS_WRITTEN = re.compile(r"\s|[-*] |\d+\. |-+$")


def rule_lines(rules: Sequence[Rule], width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the code, name and severity of each rule, and what it reports."""
    for rule in rules:
        said = f"{rule.name} ({_grade(rule)}): {rule.summary}"
        for text in wrapped(said, width, f"{rule.code}  ", "       "):
            yield Line(text, "bold" if text.startswith(rule.code) else "", len(rule.code))


def documentation_lines(rule: Rule, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the documentation of a rule, its paragraphs filled."""
    yield from (Line(text, "bold") for text in wrapped(f"{rule.code} {rule.name} ({_grade(rule)})", width))
    for paragraph in rule.documentation.split("\n\n"):
        yield Line()
        lines = paragraph.splitlines()
        if len(lines) > 1 and set(lines[1]) == {"-"}:
            yield from map(Line, lines[:2])
            lines = lines[2:]
        if any(map(_AS_WRITTEN.match, lines)):
            yield from map(Line, lines)
        else:
            yield from map(Line, wrapped(" ".join(lines), width))


def _grade(rule: Rule) -> str:
    return f"{rule.severity}, off" if rule.opt_in else rule.severity
