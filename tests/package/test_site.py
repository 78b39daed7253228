"""The documentation site builds without a warning or a network, and every link in it leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from lxml import etree, html

import mbplugin as mb
from command_line import ROOT, call
from mbplugin.linter.registry import built_in_rules

#: Put before everything else: whoever reaches for a network fails.
OFFLINE = """
import socket
def refuse(*_, **__):
    raise OSError("no network while the documentation is built")
socket.socket.connect = socket.getaddrinfo = refuse
"""
TITLES = ["What it does", "Why it matters", "Example", "Remedy", "References"]
#: What a page loads by itself.
LOADED = "//script/@src | //img/@src | //link[@rel='stylesheet' or @rel='icon' or @rel='preconnect']/@href"
Page = etree._Element


@pytest.mark.long
def test_the_site(tmp_path: Path) -> None:
    site = tmp_path / "site"
    build(site, tmp_path)
    pages = {path: html.parse(str(path)).getroot() for path in site.rglob("*.html")}
    assert len(pages) > len(built_in_rules()) + 10
    assert broken_links(site, pages) == []
    assert loaded_from_elsewhere(site, pages) == []
    for rule in built_in_rules():
        check_rule_page(pages[site / "rules" / f"{rule.code}.html"], rule.code)
    names = {heading.get("id") for heading in pages[site / "api.html"].iter("h2", "h3")}
    assert {f"mb{name.lower()}" for name in mb.__all__} <= names
    check_pictures(site, pages)


def build(site: Path, folder: Path) -> None:
    (folder / "offline").mkdir()
    (folder / "offline" / "sitecustomize.py").write_text(OFFLINE)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(folder / "offline"), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr


def broken_links(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Return the links to files or places that do not exist."""
    anchors = {path: set(root.xpath("//@id | //a/@name")) for path, root in pages.items()}
    broken = []
    for path, root in pages.items():
        for link in root.xpath("//a/@href | //img/@src | //link/@href | //script/@src"):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            # the page for what was not found is shown anywhere, so its links start at the root
            base = site if parts.path.startswith("/") else path.parent
            target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            inside = not parts.fragment or unquote(parts.fragment) in {*anchors.get(target, ()), "__skip"}
            if not target.is_file() or not inside:
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken


def loaded_from_elsewhere(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Return fonts, scripts, styles and pictures that are not part of the site."""
    found = [url for root in pages.values() for url in root.xpath(LOADED) if urlsplit(url).netloc]
    for sheet in site.rglob("*.css"):
        found += re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^\"')]+)", sheet.read_text("utf-8"))
    return found


def check_rule_page(page: Page, code: str) -> None:
    """The page says what ``mbplugin rule`` says, under the same titles."""
    (article,) = page.xpath("//article")
    titles = [str(h.xpath("string(text())")) for h in article.iter("h2")]
    assert titles == TITLES, code
    shown = words(article.text_content())
    for line in call("rule", code).out.splitlines()[2:]:
        assert words(line) in shown, (code, line)


def words(text: str) -> str:
    """Return a text without its markup, blanks and underlines."""
    return re.sub(r"[\s`*_\\-]+|¶", "", text)


def check_pictures(site: Path, pages: dict[Path, Page]) -> None:
    """Every picture is drawn by an example that names it, or is a drawing that lies beside the pages."""
    examples = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("[0-9]*.py"))
    shown = {name for root in pages.values() for name in root.xpath("//article//img/@src")}
    assert shown
    for name in shown:
        if name.endswith(".svg"):
            assert (site / name).read_bytes() == (ROOT / "docs" / name).read_bytes()
            assert etree.parse(site / name).getroot().tag == "{http://www.w3.org/2000/svg}svg"
            continue
        assert name.startswith("pictures/") and f'"{Path(name).name}"' in examples
        assert (site / name).read_bytes().startswith(b"\x89PNG")
