"""The terms of a page: heads of tables and numbers that are one lead to its meaning at the end."""

from __future__ import annotations

import re

from mbplugin.report.html.markup import Html, element, section
from mbplugin.report.terms import TERMS, Term, term_of

#: A head or the words below a number, without markup in it.
_HEAD = re.compile(r"(<(th|dt)(?: [^<>]*)?>)([^<>]+)(</\2>)")
#: A unit or an addition behind a term.
_BEHIND = re.compile(r"\s*[\[(].*$", re.DOTALL)


def with_terms(body: Html) -> Html:
    """Return markup in which heads that are terms are links, followed by what the terms mean."""
    used: set[Term] = set()

    def link(match: re.Match[str]) -> str:
        start, _, words, end = match.groups()
        behind = found[0] if (found := _BEHIND.search(words)) else ""
        term = term_of(words[: len(words) - len(behind)])
        if term is None:
            return match[0]
        used.add(term)
        name = Html(words[: len(words) - len(behind)])
        return f"{start}{element('a', name, href=f'#term-{term.anchor}', class_='term')}{behind}{end}"

    linked = Html(_HEAD.sub(link, body))
    return Html(f"{linked}{_section(used)}") if used else linked


def _section(used: set[Term]) -> Html:
    shown = sorted(used, key=TERMS.index)
    meanings = [
        element(
            "div",
            element("dt", Html(f"<dfn>{element('span', term.name)}</dfn>")),
            element("dd", term.meaning),
            id=f"term-{term.anchor}",
        )
        for term in shown
    ]
    return element("div", section("Terms", element("dl", meanings, class_="terms")), class_="screen")
