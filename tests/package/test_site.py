"""The documentation site builds without a warning or a network, and every link in it leads somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest
from lxml import etree, html

import mbplugin as mb
from browser_pages import FLAGS, Visit, chromium, violations
from command_line import ROOT, call
from mbplugin.linter.rule import built_in_rules
from mbplugin.report.record import TERMS

#: Put before everything else: whoever reaches for a network fails.
OFFLINE = """
import socket
def refuse(*_, **__):
    raise OSError("no network while the documentation is built")
socket.socket.connect = socket.getaddrinfo = refuse
"""
TITLES = ["What it does", "Why it matters", "Example", "Remedy", "References", "Fix"]
#: What a page loads by itself.
LOADED = "//script/@src | //img/@src | //link[@rel='stylesheet' or @rel='icon' or @rel='preconnect']/@href"
#: Drawings, whose texts are legible at 500 px and more.
SHRUNK = """[...document.querySelectorAll('article img[src$=".svg"]')].filter((one) => one.clientWidth < 500)
    .map((one) => `shrunk: ${one.src}`)"""
Page = etree._Element


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    build(folder / "site", folder)
    return folder / "site"


@pytest.mark.long
def test_the_site(site: Path) -> None:
    pages = {path: html.parse(str(path)).getroot() for path in site.rglob("*.html")}
    assert len(pages) > len(built_in_rules()) + 10
    assert broken_links(site, pages) == []
    assert loaded_from_elsewhere(site, pages) == []
    for rule in built_in_rules():
        check_rule_page(pages[site / "rules" / f"{rule.code}.html"], rule.code)
    names = {heading.get("id") for heading in pages[site / "api.html"].iter("h2", "h3")}
    assert {f"mb{name.lower()}" for name in mb.__all__} <= names
    check_pictures(site, pages)
    check_glossary(site, pages)
    # a paper is named with a link to its authors and title
    assert pages[site / "rules" / "MB201.html"].xpath("//article//a[@href='../theory.html#sources']/text()")
    check_formulas(pages)
    check_examples(pages[site / "gallery.html"])


@pytest.mark.slow
@pytest.mark.browser
def test_from_disk_the_site_can_be_searched_and_is_wide_enough(site: Path) -> None:
    """Browsers refuse workers to pages from disk; a page of it also is dark where that is wanted."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        tab = browser.new_page(viewport={"width": 1400, "height": 900}, color_scheme="dark")
        errors: list[str] = []
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto((site / "rules" / "MB201.html").as_uri())
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(30, 33, 41)"
        tab.click(".md-search__input")
        tab.keyboard.type("left null space")
        hit = tab.locator(".md-search-result__link[href*='theory.html']").first
        hit.wait_for(timeout=20_000)
        tab.goto(hit.evaluate("link => link.href"))
        assert "left null space" in str(tab.locator("article").text_content())
        # lines of a hundred characters are seen whole
        tab.goto((site / "commands.html").as_uri())
        cut = """[...document.querySelectorAll('pre code')].filter((e) => e.scrollWidth > e.clientWidth
            && Math.max(...e.textContent.split("\\n").map((line) => line.length)) <= 100)"""
        assert tab.evaluate(f"{cut}.length") == 0
        assert tab.locator("pre code").count() > 10
        assert errors == []
        browser.close()


@pytest.mark.slow
@pytest.mark.browser
def test_axe_finds_nothing_serious_on_any_page_and_none_scrolls_sideways(site: Path) -> None:
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        for width, scheme in ((400, "light"), (1400, "dark")):
            size = {"width": width, "height": 900}
            context = browser.new_context(viewport=size, color_scheme=scheme)
            seen = Visit(context.new_page())
            # the page for what was not found has addresses of a server
            for path in sorted(set(site.rglob("*.html")) - {site / "404.html"}):
                seen.page.goto(path.as_uri())
                seen.settle()
                serious = [one for one in violations(seen) if one.startswith(("serious", "critical"))]
                if seen.page.evaluate("document.documentElement.scrollWidth") > width:
                    serious.append("scrolls sideways")
                # text of a drawing that is shrunk to a phone cannot be read
                serious += seen.page.evaluate(SHRUNK)
                found += [(width, scheme, str(path.relative_to(site)), one) for one in serious]
            context.close()
        browser.close()
    assert found == []


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


def check_formulas(pages: dict[Path, Page]) -> None:
    """All formulas are MathML, and none is left as it was written."""
    for path, root in pages.items():
        for part in root.xpath("//article//p | //article//td | //article//li"):
            words = "".join(part.xpath(".//text()[not(ancestor::code)]"))
            assert not re.search(r"\$|formula\d+place", words), (path, words)
    theory = next(root for path, root in pages.items() if path.name == "theory.html")
    written = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    assert (
        len(theory.xpath("//article//math"))
        == len(re.findall(r"\$\$.+?\$\$|\$[^$]+\$", written, re.DOTALL))
        > 60
    )
    assert theory.xpath("//article//math//mfrac") and theory.xpath(
        "//article//span[@class='formula']/math[@display='block']"
    )


def check_glossary(site: Path, pages: dict[Path, Page]) -> None:
    """Every term has its place, to which the pages link; codes of rules lead to their pages."""
    named = pages[site / "glossary.html"].xpath("//article//h2/@id")
    assert sorted(named) == sorted(term.anchor for term in TERMS)
    linked = {link for root in pages.values() for link in root.xpath("//a[@class='term']/@href")}
    assert len({link.partition("#")[2] for link in linked}) > 0.7 * len(TERMS)
    for path in ("numbers.html", "tutorial.html", "index.html"):
        assert pages[site / path].xpath("//a[@class='term']"), path
        for link in pages[site / path].xpath(
            "//article//a[starts-with(text(), 'MB') and string-length() = 5]"
        ):
            assert link.get("href") == f"rules/{link.text}.html", (path, link.text)


def check_examples(gallery: Page) -> None:
    """The gallery has every example, each script with the picture that it draws."""
    shown = set(gallery.xpath("//article//code/text()"))
    assert {f"examples/{path.name}" for path in (ROOT / "examples").glob("[0-9]*.*")} <= shown
    assert len(gallery.xpath("//article//img")) == len(list((ROOT / "examples").glob("[0-9]*.py")))


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_formulas_are_taken_out_of_a_page_and_put_in_again() -> None:
    """Those of a sentence, of a table and of a line of their own; code keeps its dollars."""
    pytest.importorskip("latex2mathml")
    maths = script("site_maths")
    page = "so $a_1 = b_1$ and\n\n$$ \\frac{1}{2} $$\n\n| $x$ | `$HOME` |\n\n"
    page += "```console\n$ ls\n$ pwd\n```\n5 $ is a price\n"
    left, formulas = maths.taken_out(page)
    assert len(formulas) == 3
    assert "_" not in left and "`$HOME`" in left and "$ ls\n$ pwd" in left and "5 $ is a price" in left
    shown = maths.put_in(left, formulas)
    assert shown.count("<math") == 3 and 'display="block"' in shown
    assert etree.fromstring(formulas[0]).xpath("count(//*[local-name() = 'msub'])") == 2


def test_drawings_are_those_of_their_script() -> None:
    drawings = script("drawings")
    for name, draw in drawings.DRAWINGS.items():
        assert (ROOT / "docs" / name).read_text(encoding="utf-8") == draw(), "python docs/drawings.py"
        # readable on both papers: every colour is declared for both
        light, dark = draw().split("@media (prefers-color-scheme:dark)")
        classes = set(re.findall(r"\.([\w-]+)\{", light.partition("<style>")[2]))
        assert set(re.findall(r"\.([\w-]+)\{", dark.partition("</style>")[0])) == classes
