"""The rules of the findings of a page: what each does, why it matters, the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mbplugin.linter.registry import rules
from mbplugin.linter.rule import Rule
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, section

_TITLE = re.compile(r"([^\n]+)\n-{3,}(?:\n|$)")
_LITERAL = re.compile(r"``(.+?)``", re.DOTALL)


def rule_codes(chapters: Iterable[Chapter]) -> frozenset[str]:
    """Return the codes of the findings of all chapters that belong to a rule."""
    found = {f.code for one in chapters if one.report is not None for f in one.report.findings}
    return frozenset(found & {rule.code for rule in rules()})


def rules_section(chapters: tuple[Chapter, ...]) -> Html | None:
    """Return the documentation of every rule that has a finding, each under ``#rule-CODE``."""
    codes = rule_codes(chapters)
    if not codes:
        return None
    shown = [rule for rule in rules() if rule.code in codes]
    return element(
        "div",
        section("Rules", [_rule(rule) for rule in shown], lead="What the rules of these findings do."),
        class_="screen",
    )


def _rule(rule: Rule) -> Html:
    return element(
        "details",
        element("summary", f"{rule.code} {rule.name}"),
        list(_blocks(rule.documentation)),
        element("p", f"On the command line: mbplugin rule {rule.code}", class_="fine"),
        class_="rule",
        id=f"rule-{rule.code}",
    )


def _blocks(text: str) -> Iterator[Html]:
    """Yield the paragraphs of a docstring; its underlined titles are headings."""
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
