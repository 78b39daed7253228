"""A PDF has what its page has: no column is cut off, and every sheet says of which robot and when it is."""

from __future__ import annotations

import asyncio
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unicodedata import normalize

import pytest

import mbplugin as mb
from command_line import FOUR_BAR, ROOT, call
from mbplugin.report import pdf
from mbplugin.stopping.table import HTML_CELLS
from places import BULLET_DATA

ARM = str(ROOT / "assets" / "arm_6r.scene.toml")
KEPT = Path(__file__).parent / "documents"


def text_of(file: Path) -> list[str]:
    """Return the text of each sheet, blanks and breaks as one blank."""
    import pypdf

    # fonts have one glyph for fl and fi
    texts = (normalize("NFKC", page.extract_text()) for page in pypdf.PdfReader(file).pages)
    return [" ".join(text.split()) for text in texts]


@pytest.mark.slow
@pytest.mark.browser
def test_no_column_of_a_table_is_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "table.pdf"
    outcome = call("stop-table", ARM, "--payload", "5", "--units", "deg,mm", "--output", str(file))
    assert outcome.code == 0, outcome.err
    sheets = text_of(file)
    whole = " ".join(sheets)
    for cell in HTML_CELLS:
        assert cell.head.replace("[m]", "[mm]") in whole, cell.head
    rows = re.findall(r"(?:33|66|100) (?:33|66|100) [\d.]+ \((?:33|66|100) %\)", whole)
    assert len(rows) == 66 and len(sheets) <= 6
    assert sheets[0].index("computed, not measured") < sheets[0].index("ASSUMED, NOT STATED")
    # the first page is the result
    for said in (
        "Longest stops",
        "j2, category 1",
        "evidence",
        "SHA-256",
        "ISO 10218-1",
        "payload up to 5 kg",
    ):
        assert said in sheets[0], said
    assert whole.index("Poses at the signal") < whole.index("Assumptions and notes")
    for k, sheet in enumerate(sheets, 1):
        assert re.search(rf"arm_6r – \d{{4}}-.*Z – mbplugin .* page {k} of {len(sheets)}", sheet)
    assert "checked and released by" in sheets[0] and "serial number of the robot" in sheets[0]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    "arguments",
    [
        ("estop", ARM, "--qd", "j2=1"),
        (
            "reactions",
            str(BULLET_DATA / "quadruped" / "minitaur.urdf"),
            "--base",
            "fixed",
        ),
        ("worst-stop", ARM, "--axes", "j1", "--samples", "20"),
        ("distance", str(KEPT / "estop.json"), "--term", "K=1.6,t1=0.1,D_DS=0.85,Z=0.05"),
        (
            "calibrate",
            *(str(ROOT / "examples" / "published_stops" / f"tm5_700.{kind}") for kind in ("urdf", "csv")),
        ),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_word_of_the_page_is_on_paper(arguments: tuple[str, ...], tmp_path: Path) -> None:
    page, file = tmp_path / "page.html", tmp_path / "page.pdf"
    assert call(*arguments, "--output", str(page)).code == call(*arguments, "--output", str(file)).code == 0
    printed = re.sub(r"\W+", "", "".join(text_of(file)))
    tables = re.findall(r"<table.*?</table>", page.read_text(encoding="utf-8"), re.S)
    assert tables
    for table in tables:
        for cell in re.findall(r"<t[dh][^>]*>([^<]+)</t[dh]>", table):
            assert re.sub(r"\W+|&\w+;|&#x\w+;", "", cell) in printed, cell
        # commands are for the screen
        assert not any(
            re.sub(r"\W+|&\w+;|&#x\w+;", "", command) in printed
            for command in re.findall(r"<code>([^<]+)</code>", table)
        )


@pytest.mark.slow
@pytest.mark.browser
def test_it_is_saved_from_a_notebook_too(tmp_path: Path) -> None:
    """The cells of a notebook run in an event loop."""

    async def cell() -> None:
        mb.lint(FOUR_BAR).save(tmp_path / "report.pdf")

    # the session that drives a browser for other tests has an event loop in this thread
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, cell()).result()
    assert "four_bar" in " ".join(text_of(tmp_path / "report.pdf"))


@pytest.mark.slow
@pytest.mark.browser
def test_a_browser_that_does_not_start_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(pdf, "installed_browser", lambda: str(program))
    outcome = call("reactions", FOUR_BAR, "--output", str(tmp_path / "x.pdf"))
    assert outcome.code == 2
    assert "a .pdf needs Chromium, which does not start" in outcome.err
    assert not (tmp_path / "x.pdf").exists()


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    outcome = call("reactions", FOUR_BAR, "--output", str(tmp_path / "x.pdf"))
    assert outcome.code == 2
    assert "a .pdf needs playwright" in outcome.err
    assert "print the page of --output-format html" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_it_needs_a_file() -> None:
    outcome = call("reactions", FOUR_BAR, "--output-format", "pdf")
    assert outcome.code == 2
    assert "add --output report.pdf" in outcome.err


@pytest.mark.long
@pytest.mark.browser
def test_equal_commands_print_equal_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "951782400")
    file = tmp_path / "door.pdf"
    found = []
    for _ in range(2):
        assert call("reactions", FOUR_BAR, "--output", str(file)).code == 0
        found.append(file.read_bytes())
        time.sleep(1.1)
    assert found[0] == found[1]
    assert b"/CreationDate (D:20000229000000+00'00')" in found[0]


@pytest.mark.slow
@pytest.mark.browser
def test_a_browser_that_cannot_print_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As with a full folder for temporary files, which Chromium prints by way of."""
    from playwright.sync_api import Error, Page

    def refuse(*_: object, **__: object) -> bytes:
        raise Error("Page.pdf: Protocol error (IO.read): Read failed\n    at somewhere")

    monkeypatch.setattr(Page, "pdf", refuse)
    done = call("reactions", FOUR_BAR, "--output", str(tmp_path / "door.pdf"))
    assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1
    assert "Read failed" in done.err and "TMPDIR" in done.err and not list(tmp_path.iterdir())
