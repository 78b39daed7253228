"""Every relative link of a page leads to a file of the repository, and every anchor to a heading in it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from command_line import ROOT

FOLDERS = ("", "docs", "examples", ".github", ".github/ISSUE_TEMPLATE", "tests/sample_repository")
PAGES = sorted(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md"))
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)|<(?:img|a)\s[^>]*(?:src|href)=\"([^\"]+)\"")
#: Addresses elsewhere, and pages that the site alone has: rules and commands, each with its link there.
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//")


def text_of(page: Path) -> str:
    """Return a page without its code."""
    text = re.sub(
        r"^( *)(```+)[^\n]*\n.*?^ *\2 *$",
        "",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    return re.sub(r"(`+)[^`].*?\1", "code", text)


def links(page: Path) -> Iterator[str]:
    for found in LINK.finditer(text_of(page)):
        if not ELSEWHERE.match(address := found[1] or found[2]):
            yield address


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub and the site make them."""
    found: set[str] = set()
    for line in page.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"#{1,6} (.*?)(?: \{ #([\w-]+) \})?$", line):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "")
            found.add(re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-"))
            found |= {heading[2]} - {None}
    return found | set(re.findall(r"(?:id|name)=\"([^\"]+)\"", page.read_text(encoding="utf-8")))


def broken(page: Path) -> list[str]:
    found = []
    for address in links(page):
        path, _, anchor = unquote(address).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            found.append(address)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_there_are_links_and_a_dead_one_is_found(tmp_path: Path) -> None:
    assert sum(len([*links(page)]) for page in PAGES) > 100
    (tmp_path / "a.md").write_text(
        "# One `two`\n\n[x](b.md) [y](#one-two) [z](#three) [w](a.md#one-two)\n`[v](c.md)`\n"
    )
    assert broken(tmp_path / "a.md") == ["b.md", "#three"]


def test_glossary_and_gallery_are_what_the_site_makes() -> None:
    pytest.importorskip("mkdocs")
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import site_hooks
    finally:
        sys.path.remove(str(ROOT / "docs"))
    assert (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8") == site_hooks.glossary_page()
    assert (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8") == site_hooks.gallery_page()
