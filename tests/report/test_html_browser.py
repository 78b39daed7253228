"""The HTML report in a real browser: no error, no request, and everything on it works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from browser_pages import near, quiet
from command_line import ASSETS, DOOR_1, DOOR_2
from html_pages import HOSTILE, drawing, hostile_model, page_of

pytestmark = [pytest.mark.slow, pytest.mark.browser]

MINITAUR = str(ASSETS / "minitaur.scene.toml")
WITHOUT_WEBGL = "HTMLCanvasElement.prototype.getContext = () => null"


@pytest.fixture(scope="module")
def minitaur() -> str:
    return page_of("lint", MINITAUR, code=1)


def test_the_robot_is_seen_and_nothing_is_asked_for(visit: Any, minitaur: str) -> None:
    seen = visit(minitaur)
    pixels = seen.pixels("canvas")
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 200
    # twenty-six bodies that must be flexible, in their colour
    assert near(pixels, "#e69f00") > 2000
    quiet(seen)


def test_the_view_turns_zooms_and_comes_back(visit: Any, minitaur: str) -> None:
    seen = visit(minitaur)
    first = seen.pixels("canvas")
    box = seen.page.locator("canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    seen.page.mouse.move(x, y)
    seen.page.mouse.down()
    seen.page.mouse.move(x + 150, y + 40, steps=4)
    seen.page.mouse.up()
    seen.page.mouse.wheel(0, -300)
    seen.settle()
    turned = seen.pixels("canvas")
    assert (np.abs(turned - first).max(axis=2) > 30).mean() > 0.03
    seen.page.click("[data-reset]")
    seen.settle()
    assert (np.abs(seen.pixels("canvas") - first).max(axis=2) > 30).mean() < 0.001
    quiet(seen)


def test_switches_hide_what_they_name(visit: Any, minitaur: str) -> None:
    seen = visit(minitaur)
    before = near(seen.pixels("canvas"), "#e69f00")
    seen.page.uncheck("[data-show=bodies]")
    seen.settle()
    assert near(seen.pixels("canvas"), "#e69f00") < 0.05 * before
    assert seen.page.locator(".labels span:visible").count() == 0
    seen.page.check("[data-show=labels]")
    seen.settle()
    # those of hidden bodies are hidden too
    assert seen.page.locator(".labels span:visible").count() == len(drawing(minitaur)["joints"])
    quiet(seen)


def test_the_filter_leaves_what_is_asked_for(visit: Any, minitaur: str) -> None:
    seen = visit(minitaur)
    report = mb.lint(MINITAUR)
    rows, kinds = (seen.page.locator(f"{what}:visible") for what in (".findings tbody tr", ".kind"))
    every = {(f.severity, f.code) for f in report.findings}
    assert (rows.count(), kinds.count()) == (0, len(every))
    seen.page.uncheck(".filter [data-severity=warning]")
    assert rows.count() == sum(f.severity != "warning" for f in report.findings)
    assert kinds.count() == sum(severity != "warning" for severity, _ in every)
    seen.page.check(".filter [data-severity=warning]")
    assert rows.count() == len(report.findings)
    seen.page.select_option(".filter [data-code]", "MB202")
    assert rows.count() == sum(f.code == "MB202" for f in report.findings) > 1
    seen.page.fill(".filter [data-text]", "front_left CLOSURE")
    assert rows.count() == 1
    assert seen.text("[data-count]") == f"1 of {len(report.findings)}"
    quiet(seen)


def test_a_chosen_self_stress_shows_whom_it_loads(visit: Any, minitaur: str) -> None:
    seen = visit(minitaur)
    whole = near(seen.pixels("canvas"), "#e69f00", strong=90)
    stress = drawing(minitaur)["stresses"][2]
    seen.page.click("[data-stress='2']")
    seen.settle()
    shown = set(seen.page.locator(".labels span:visible").all_text_contents())
    assert shown == {name for name in stress["joints"] if not name.startswith("lock ")}
    assert near(seen.pixels("canvas"), "#e69f00", strong=90) < 0.6 * whole
    assert seen.page.get_attribute("[data-stress='2']", "aria-pressed") == "true"
    # a second one joins the first
    other = drawing(minitaur)["stresses"][0]
    seen.page.click("[data-stress='0']")
    seen.settle()
    both = {name for name in (*stress["joints"], *other["joints"]) if not name.startswith("lock ")}
    assert set(seen.page.locator(".labels span:visible").all_text_contents()) == both
    for k in (0, 2):
        seen.page.click(f"[data-stress='{k}']")
    seen.settle()
    assert seen.page.locator(".labels span:visible").count() == 0
    assert near(seen.pixels("canvas"), "#e69f00", strong=90) == pytest.approx(whole, rel=0.02)
    quiet(seen)


def test_a_click_tells_the_name_of_what_was_hit(visit: Any, minitaur: str) -> None:
    seen = visit(minitaur)
    names = {one["name"] for kind in ("bodies", "joints") for one in drawing(minitaur)[kind]}
    box = seen.page.locator("canvas").bounding_box()
    seen.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    seen.settle()
    assert seen.text(".picked").partition(": ")[0] in names
    seen.page.mouse.click(box["x"] + 5, box["y"] + 5)
    seen.settle()
    assert seen.text(".picked") == ""
    seen.unfold()
    seen.page.click("td button[data-name=foot_front_left]")
    seen.settle()
    said = seen.text(".picked")
    assert said.startswith("foot_front_left: spherical closure") and "reaction not unique" in said
    quiet(seen)


def test_names_of_a_file_never_become_markup(visit: Any, tmp_path: Path) -> None:
    seen = visit(page_of("lint", str(hostile_model(tmp_path))))
    for box in seen.page.locator("[data-show]").all():
        box.check()
    seen.settle()
    labels = seen.page.locator(".labels span").all_text_contents()
    assert set(HOSTILE) <= set(labels)
    seen.unfold()
    for name in HOSTILE:
        exact = re.compile(f"^{re.escape(name)}$")
        seen.page.locator("button.pick:visible").filter(has_text=exact).first.click()
        seen.settle()
        assert seen.text(".picked").startswith(name)
    assert seen.page.locator("img:not(.still)").count() == 0
    assert seen.page.locator("script").count() == 3
    assert seen.page.title() == "hostile – mbplugin"
    quiet(seen)


def test_what_would_run_is_kept_from_running(visit: Any, minitaur: str) -> None:
    """Even markup that got through would not: the policy of the page lets only its own script run."""
    broken = minitaur.replace(
        "<main>", "<main><img src=x onerror=\"document.title='run'\"><script>1</script>", 1
    )
    seen = visit(broken)
    assert seen.page.title() != "run"
    assert any("Content Security Policy" in complaint for complaint in seen.complaints)


def test_a_film_plays_pauses_and_can_be_wound(visit: Any) -> None:
    crank = str(ASSETS / "crank_rocker.scene.toml")
    seen = visit(page_of("simulate", crank, "--duration", "1"))
    start = seen.pixels("canvas")
    seen.page.select_option("[data-speed]", "0.25")
    seen.page.click("[data-play]")
    seen.until("document.querySelector('[data-time]').value > 20")
    assert seen.text("[data-play]") == "pause"
    seen.page.click("[data-play]")
    stopped = seen.text("[data-clock]")
    seen.settle()
    assert seen.text("[data-clock]") == stopped != "0.000 s"
    seen.page.evaluate(
        "const s = document.querySelector('[data-time]'); s.value = 1000; s.dispatchEvent(new Event('input'))"
    )
    seen.settle()
    assert seen.text("[data-clock]") == "1.000 s"
    assert (np.abs(seen.pixels("canvas") - start).max(axis=2) > 30).mean() > 0.002
    # the line across the curves stands at their right end
    line = seen.page.locator(".now").first
    assert float(line.get_attribute("x1")) == pytest.approx(float(line.get_attribute("data-right")))
    quiet(seen)


def test_a_stop_has_ghosts_that_can_be_hidden(visit: Any) -> None:
    seen = visit(page_of("estop", str(ASSETS / "arm_6r.scene.toml")))
    seen.page.evaluate(
        "const s = document.querySelector('[data-time]'); s.value = 1000; s.dispatchEvent(new Event('input'))"
    )
    seen.settle()
    ghosts = near(seen.pixels("canvas"), "#882255")
    seen.page.uncheck("[data-show=ghosts]")
    seen.settle()
    assert near(seen.pixels("canvas"), "#882255") < 0.2 * ghosts
    quiet(seen)


def test_a_ghost_in_the_pose_of_the_robot_hides_no_colour(visit: Any) -> None:
    """Brakes without a delay: at the signal both ghosts stand where the robot stands."""
    brakes = [part for k in range(1, 7) for part in ("--brake", f"j{k}:torque=900")]
    seen = visit(page_of("estop", str(ASSETS / "arm_6r.scene.toml"), *brakes), color_scheme="light")
    shown = near(seen.pixels(), "#56b4e9")
    seen.page.get_by_label("ghosts").uncheck()
    seen.settle()
    assert shown > 0.9 * near(seen.pixels(), "#56b4e9") > 1000


def test_on_paper_the_view_is_an_image(visit: Any, minitaur: str) -> None:
    seen = visit(minitaur)
    paper = seen.page.pdf()
    assert paper.count(b"/Subtype /Image") >= 1
    seen.page.emulate_media(media="print")
    seen.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    seen.until("document.querySelector('.still').naturalWidth > 100")
    assert not seen.page.locator("canvas").is_visible() and not seen.page.locator(".filter").is_visible()
    assert near(seen.pixels(".still"), "#e69f00") > 2000
    assert seen.page.locator(".run section > details:not([open])").count() == 0
    quiet(seen)


def test_without_webgl_the_page_says_so_and_the_rest_works(visit: Any, minitaur: str) -> None:
    seen = visit(minitaur, WITHOUT_WEBGL)
    assert seen.page.locator(".no-webgl").is_visible() and not seen.page.locator("canvas").is_visible()
    seen.page.uncheck(".filter [data-severity=warning]")
    left = sum(f.severity != "warning" for f in mb.lint(MINITAUR).findings)
    assert seen.page.locator(".findings tbody tr:visible").count() == left > 0
    seen.unfold()
    seen.page.click("[data-stress='0']")
    seen.page.locator("button.pick").first.click()
    quiet(seen)


def test_of_several_models_one_is_open(visit: Any) -> None:
    seen = visit(page_of("lint", DOOR_2, DOOR_1))
    assert seen.page.locator("canvas:visible").count() == 1
    for run, way in (("#run-1", "nav a[href='{}']"), ("#run-0", "{} > summary"), ("#run-1", "{} > summary")):
        seen.page.locator(way.format(run)).click()
        seen.until(f"document.querySelector('{run}').open")
        seen.settle()
        assert seen.page.locator("canvas:visible").count() == 1
        assert len(np.unique(seen.pixels(f"{run} canvas").reshape(-1, 3), axis=0)) > 100
    assert [c for c in seen.complaints if c.startswith(("error", "warning"))] == []
    seen.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert seen.page.locator("details.run[open]").count() == 2
    for k in (0, 1):
        assert seen.page.evaluate(f"document.querySelectorAll('.still')[{k}].src.length") > 5000
