"""Links that the pages get by themselves: rules to their pages, terms to the glossary, papers to the sources."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from lxml import html as parser
from mkdocs.utils import get_relative_url

from mbplugin.linter.rule import built_in_rules
from mbplugin.report.record import TERMS, term_of

#: What is not text to put a link into; terms are not linked in code either.
NO_TEXT = frozenset({"a", "h1", "h2", "h3", "h4", "script", "style", "svg", "title", "button"})
CODE_TEXT = frozenset({"pre", "code"})


def linked(html: str, url: str, *, terms: bool) -> str:
    """Return the content of the page at an address with its links."""
    root = parser.fragment_fromstring(html, create_parent="div")
    rules = _RuleLinks(url)
    for link in root.iter("a"):
        # a code that leads to the list of rules leads to its own page
        listed = link.get("href", "").partition("#")[0].endswith("rules.html")
        if listed and (target := rules.target(link.text_content())):
            link.set("href", target[0])
    _link_texts(root, rules)
    _link_texts(root, _SourceLinks(url))
    if terms:
        _link_texts(root, _TermLinks(url))
    return "".join([root.text or "", *(parser.tostring(child, encoding="unicode") for child in root)])


class _RuleLinks:
    """Links of codes of rules, in code too."""

    left_out = NO_TEXT
    pattern = re.compile(r"\bMB\d{3}\b")

    def __init__(self, url: str) -> None:
        self.url, self.own = url, PurePosixPath(url).stem
        self.codes = {rule.code for rule in built_in_rules()}

    def target(self, word: str) -> tuple[str, str] | None:
        """Return address and class of the link of a word, None where it gets none."""
        if word == self.own or word not in self.codes:
            return None
        return get_relative_url(f"rules/{word}.html", self.url), "rule"


class _SourceLinks:
    """Links of papers, in code too, to where their authors and titles are listed."""

    left_out = NO_TEXT

    def __init__(self, url: str) -> None:
        self.url = url
        listed = re.findall(
            r"^- `(\w+)`", (Path(__file__).parent / "theory.md").read_text("utf-8"), re.MULTILINE
        )
        self.pattern = re.compile(rf"\b(?:{'|'.join(listed)})\b")

    def target(self, word: str) -> tuple[str, str] | None:
        """Return address and class of the link of a paper, None on the page that lists them."""
        own = self.url == "theory.html"
        return None if own else (f"{get_relative_url('theory.html', self.url)}#sources", "source")


class _TermLinks:
    """Links of the first of each term of the glossary."""

    left_out = NO_TEXT | CODE_TEXT

    def __init__(self, url: str) -> None:
        self.url, self.linked = url, set[str]()
        words = sorted((word for term in TERMS for word in term.words), key=len, reverse=True)
        self.pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)

    def target(self, word: str) -> tuple[str, str] | None:
        """Return address and class of the link of a word, None where it gets none."""
        term = term_of(word)
        if term is None or term.anchor in self.linked:
            return None
        self.linked.add(term.anchor)
        return f"{get_relative_url('glossary.html', self.url)}#{term.anchor}", "term"


def _link_texts(root: Any, links: _RuleLinks | _SourceLinks | _TermLinks) -> None:
    """Put links into the texts of a page, outside of headings and links."""
    for node in list(root.iter()):
        if not isinstance(node.tag, str):
            continue
        inside = {node.tag, *(one.tag for one in node.iterancestors())}
        if not inside & links.left_out:
            _link_run(node, None, links)
        if node is not root and not (inside - {node.tag}) & links.left_out:
            _link_run(node.getparent(), node, links)


def _link_run(parent: Any, before: Any, links: _RuleLinks | _SourceLinks | _TermLinks) -> None:
    """Put links into one run of text: the first of an element, or the one behind a child of it."""
    text = (parent.text if before is None else before.tail) or ""
    made, rest = [], 0
    for match in links.pattern.finditer(text):
        target = links.target(match[0])
        if target is None:
            continue
        _add(made, text[rest : match.start()])
        rest = match.end()
        link = parser.Element("a", href=target[0])
        link.set("class", target[1])
        link.text = match[0]
        made.append(link)
    if rest == 0:
        return
    _add(made, text[rest:])
    lead = made.pop(0) if isinstance(made[0], str) else ""
    if before is None:
        parent.text, place = lead, 0
    else:
        before.tail, place = lead, parent.index(before) + 1
    for one in made:
        if isinstance(one, str):
            parent[place - 1].tail = one
        else:
            parent.insert(place, one)
            place += 1


def _add(made: list[Any], text: str) -> None:
    if text:
        made.append(text)
