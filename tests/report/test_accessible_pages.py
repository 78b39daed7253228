"""Every page on light and dark paper, narrow and wide: axe-core finds nothing serious, the keys reach everything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from browser_pages import quiet, violations
from command_line import ASSETS, DOOR_1, DOOR_2, FOUR_BAR, ROOT
from html_pages import page_of

pytestmark = [pytest.mark.slow, pytest.mark.browser]

ARM = str(ASSETS / "arm_6r.scene.toml")
CRANK = str(ASSETS / "crank_rocker.scene.toml")
PUBLISHED = ROOT / "examples" / "published_stops"
PAGES = {
    "lint": ("lint", FOUR_BAR),
    "several": ("lint", DOOR_1, DOOR_2),
    "reactions": ("reactions", FOUR_BAR),
    "simulate": ("simulate", CRANK, "--duration", "0.5"),
    "modes": ("modes", ARM),
    "estop 0": ("estop", ARM),
    "estop 1": ("estop", ARM, "--category", "1"),
    "stop-table": ("stop-table", ARM),
    "worst-stop": ("worst-stop", ARM, "--axes", "j4", "--samples", "20"),
    "sweep": ("sweep", ARM, "--number", "10", "--jobs", "1", "--out"),
    "calibrate": ("calibrate", str(PUBLISHED / "tm5_700.urdf"), str(PUBLISHED / "tm5_700.csv")),
    "distance": (
        "distance",
        str(Path(__file__).parent / "documents" / "estop.json"),
        *("--term", "K=1.6,t1=0.1,D_DS=0.85,Z=0.05"),
    ),
    "crosscheck": ("crosscheck", CRANK, "--duration", "0.1"),
    "engines": ("engines", FOUR_BAR, "--engine", "pybullet"),
}


def made(name: str, folder: Path) -> str:
    arguments = PAGES[name]
    return page_of(*arguments, *([str(folder / "stops")] if arguments[-1] == "--out" else []))


#: Cells with a sentence in a column of a word or two.
SQUEEZED = """[...document.querySelectorAll('td')].filter((cell) => cell.checkVisibility()
  && cell.innerText.length > 40 && cell.clientWidth < 150).map((cell) => cell.innerText)"""


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_and_a_narrow_page_does_not_scroll_sideways(
    visit: Any, tmp_path: Path, name: str
) -> None:
    page = made(name, tmp_path)
    for width in (400, 1400):
        for scheme in ("light", "dark"):
            seen = visit(page, width=width, color_scheme=scheme, bypass_csp=True)
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
            assert seen.page.evaluate(SQUEEZED) == []
            assert violations(seen) == [], (width, scheme)
            quiet(seen)


def test_the_paper_is_dark_where_wanted_and_white_in_print(visit: Any) -> None:
    page = page_of("lint", FOUR_BAR)
    seen = visit(page, color_scheme="dark")
    paper = "getComputedStyle(document.body).backgroundColor"
    assert seen.page.evaluate(paper) == "rgb(20, 24, 30)"
    dark = seen.pixels("canvas")
    seen.page.click("[data-theme-switch]")
    seen.settle()
    assert seen.page.evaluate(paper) == "rgb(255, 255, 255)"
    assert seen.text("[data-theme-switch]") == "dark"
    # what lies behind the robot is light too
    assert seen.pixels("canvas")[5, 5].mean() > 230 > 60 > dark[5, 5].mean()
    seen.page.click("[data-theme-switch]")
    seen.page.emulate_media(media="print")
    assert seen.page.evaluate(paper) == "rgb(255, 255, 255)"


def test_colours_mean_one_thing(visit: Any) -> None:
    """Agreement is green, what is assumed amber, danger red."""
    verdict = "getComputedStyle(document.querySelector('.verdict')).borderLeftColor"
    green, amber, red = "rgb(0, 158, 115)", "rgb(230, 159, 0)", "rgb(179, 38, 30)"
    for robot in (CRANK, FOUR_BAR):
        # the four-bar has redundant constraints: PyBullet agrees all the same
        shown = visit(page_of("crosscheck", robot, "--duration", "0.1"), color_scheme="light")
        assert shown.page.evaluate(verdict) == green
    shown = visit(page_of("estop", ARM), color_scheme="light")
    assert shown.page.evaluate(verdict) == amber
    assert shown.page.evaluate("getComputedStyle(document.querySelector('.alarm')).borderLeftColor") == amber
    # j2 hits its limit
    hit = page_of("estop", ARM, "--qd", "j2=6", "--q", "j2=1.9")
    assert "j2 ran into a joint limit" in hit
    assert visit(hit, color_scheme="light").page.evaluate(verdict) == red


def test_a_stop_page_leads_with_the_stop(visit: Any) -> None:
    for category in ("0", "1"):
        seen = visit(page_of("estop", ARM, "--category", category))
        titles = seen.page.locator("h2").all_text_contents()
        assert titles[:3] == ["View", "Stop", "Motion"]
        assert seen.page.locator(".phases rect").count() == 12
        charts = seen.page.locator("section:has(> h2:text-is('Motion')) figure strong").all_text_contents()
        assert charts[:2] == ["Angles", "Rates [rad/s]"]
        quiet(seen)


def test_a_finding_shows_its_loop_and_its_joints(visit: Any) -> None:
    seen = visit(page_of("lint", FOUR_BAR))
    seen.unfold()
    row = seen.page.locator("tr[data-code=MB201]")
    row.locator("button.show").click()
    seen.settle()
    assert seen.page.locator(".labels span:visible").all_text_contents() == ["j0", "j1", "j2", "j3"]
    other = seen.page.locator("tr[data-code=MB401] button.show")
    other.click()
    seen.settle()
    assert seen.page.locator(".labels span:visible").all_text_contents() == ["crank", "coupler", "rocker"]
    assert row.locator("button.show").get_attribute("aria-pressed") == "false"
    other.click()
    seen.settle()
    assert seen.page.locator(".labels span:visible").count() == 0
    # the rule of the finding is on the page
    row.locator("a[href='#rule-MB201']").click()
    seen.until("document.querySelector('#rule-MB201').open")
    assert seen.page.locator("#rule-MB201").get_by_text("Why it matters").is_visible()
    quiet(seen)


def test_the_tabulator_reaches_everything_that_can_be_clicked(visit: Any) -> None:
    seen = visit(page_of("lint", FOUR_BAR), width=400)
    seen.settle()
    clickable = "button, select, input, canvas, summary, a[href]"
    wanted = seen.page.evaluate(
        f"[...document.querySelectorAll('{clickable}')].filter((e) => e.checkVisibility()).length"
    )
    seen.page.evaluate("window.reached = new Set()")
    for _ in range(3 * wanted):
        seen.page.keyboard.press("Tab")
        here = seen.page.evaluate(
            f"(() => {{ const e = document.activeElement; if (e.matches('{clickable}')) reached.add(e);"
            " return reached.size; })()"
        )
        if here == wanted:
            break
    assert here == wanted > 20


def test_names_for_the_view_are_plain_data(visit: Any) -> None:
    seen = visit(page_of("lint", FOUR_BAR))
    for button in seen.page.locator("button.show").all():
        names = json.loads(button.get_attribute("data-show-joints"))
        assert set(names) <= {"j0", "j1", "j2", "j3"}
