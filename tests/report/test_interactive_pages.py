"""Moving and loading a mechanism on its page: poses stay closed, and the reactions are those of Python."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from browser_pages import quiet
from command_line import ASSETS
from html_pages import drawing, floats, page_of, parsed
from mbplugin.model.spatial import Pose, rotation_from_quaternion

FOUR_BAR = str(ASSETS / "four_bar.scene.toml")
MINITAUR = str(ASSETS / "minitaur.scene.toml")


@pytest.fixture(scope="module")
def four_bar() -> str:
    return page_of("lint", FOUR_BAR)


def test_every_pose_of_the_slider_closes_the_loop(four_bar: str) -> None:
    """The two sides of the closing joint, placed by the poses of the page, coincide."""
    data = drawing(four_bar)
    (slider,) = data["sliders"]
    mech = mb.load(FOUR_BAR).mechanism
    closure = mech.pair_by_name["j3"]
    places = floats(slider["poses"], 7).reshape(len(slider["values"]), len(mech.bodies), 7)
    gaps, turns = [], []
    for at in places:
        a, b = (
            Pose(rotation_from_quaternion(at[k, 3:]), at[k, :3])
            for k in map(mech.body_index.get, closure.bodies)
        )
        gaps.append(np.linalg.norm((a @ closure.X_AP).p - (b @ closure.X_BS).p))
        turns.append(at[mech.body_index["crank"], 3:])
    assert max(gaps) < 1e-5 and len(places) == 73
    assert np.ptp(np.array(turns), axis=0).max() > 0.5
    assert slider["values"] == sorted(slider["values"])
    assert set(slider["redundancy"]) == {3}
    assert places[slider["start"]] == pytest.approx(floats(data["poses"], 7), abs=1e-6)


def test_a_film_has_no_slider_and_a_page_without_balance_no_load() -> None:
    film = page_of("simulate", str(ASSETS / "crank_rocker.scene.toml"), "--duration", "0.1")
    assert drawing(film)["sliders"] == [] and drawing(film)["load"] == {}
    assert parsed(film).xpath("//*[contains(@class, 'try')]") == []


def shown(page: Any) -> dict[str, str]:
    """Return the cells of the reactions, by joint and component."""
    return dict(
        page.evaluate(
            "[...document.querySelectorAll('[data-reaction]')].map((e) => [e.dataset.reaction, e.textContent])"
        )
    )


def expected(load: dict[str, Any], file: str = FOUR_BAR) -> dict[str, float]:
    base = mb.reactions(mb.load(file))
    loaded = mb.reactions(mb.load(file), loads=[load], hold=base.held)
    return {
        f"{c.name} {k.name}": float(k.value or 0.0)
        for c in loaded.constraints
        for k in c.components
        if k.unique
    }


def compare(page: Any, wanted: dict[str, float]) -> None:
    seen = shown(page)
    assert {name for name, text in seen.items() if text != "?"} == set(seen) & set(wanted)
    assert len(set(seen) & set(wanted)) > 10
    size = max(map(abs, wanted.values()))
    for name in set(seen) & set(wanted):
        assert float(seen[name]) == pytest.approx(wanted[name], rel=2e-3, abs=1e-5 * size), name


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize(
    ("file", "code", "body"), [(FOUR_BAR, 0, "coupler"), (MINITAUR, 1, "lower_leg_front_leftL_link")]
)
def test_reactions_on_the_page_are_those_of_python(visit: Any, file: str, code: int, body: str) -> None:
    seen = visit(page_of("lint", file, code=code))
    before = shown(seen.page)
    assert any("~" in text for text in before.values())
    seen.page.select_option("[data-load-body]", label=body)
    for k, value in enumerate(("12", "-7.5", "31")):
        seen.page.fill(f"[data-force='{k}']", value)
    seen.page.check("[data-load-on]")
    seen.settle()
    load = {"body": body, "force": [12, -7.5, 31], "point": _center(file, body)}
    compare(seen.page, expected(load, file))
    seen.page.uncheck("[data-load-on]")
    assert shown(seen.page) == before
    quiet(seen)


def _center(file: str, body: str) -> list[float]:
    mech = mb.load(file).mechanism
    return [float(x) for x in mech.bodies[mech.body_index[body]].p_LC]


@pytest.mark.slow
@pytest.mark.browser
def test_the_arrow_is_dragged_and_the_reactions_follow(visit: Any, four_bar: str) -> None:
    seen = visit(four_bar)
    seen.page.check("[data-load-on]")
    seen.settle()
    still = seen.pixels("canvas")
    tip = head_of_load(seen)
    forces = [float(one.input_value()) for one in seen.page.locator("[data-force]").all()]
    seen.page.mouse.move(*tip)
    seen.page.mouse.down()
    seen.page.mouse.move(tip[0] + 60, tip[1] - 40, steps=5)
    seen.page.mouse.up()
    seen.settle()
    dragged = [float(one.input_value()) for one in seen.page.locator("[data-force]").all()]
    assert np.abs(np.subtract(dragged, forces)).max() > 5.0
    body = seen.page.eval_on_selector("[data-load-body]", "(e) => e.selectedOptions[0].text")
    load = {"body": body, "force": dragged, "point": _center(FOUR_BAR, body)}
    compare(seen.page, expected(load))
    # the view has not turned: its upper edge, grid and ground, is as before
    assert np.abs(seen.pixels("canvas")[:60] - still[:60]).max() < 30
    quiet(seen)


def head_of_load(seen: Any) -> tuple[float, float]:
    """Return where the head of the load is: the middle of what appears, below its shaft, in the colour of it."""
    seen.page.locator("canvas").scroll_into_view_if_needed()
    seen.page.uncheck("[data-load-on]")
    seen.settle()
    without = seen.pixels("canvas")
    seen.page.check("[data-load-on]")
    seen.settle()
    pixels = seen.pixels("canvas")
    new = np.abs(pixels - without).max(axis=2) > 12
    pink = (pixels[:, :, 0] - pixels[:, :, 1] > 15) & (pixels[:, :, 2] - pixels[:, :, 1] > 5) & new
    rows, columns = np.nonzero(pink)
    low = rows > np.quantile(rows, 0.6)
    box = seen.page.locator("canvas").bounding_box()
    return box["x"] + float(np.median(columns[low])), box["y"] + float(np.median(rows[low]))


@pytest.mark.slow
@pytest.mark.browser
def test_the_slider_moves_the_robot_and_the_reactions_wait(visit: Any, four_bar: str) -> None:
    seen = visit(four_bar)
    before = seen.pixels("canvas")
    course = drawing(four_bar)["sliders"][0]
    seen.page.focus("[data-lead]")
    for _ in range(9):
        seen.page.keyboard.press("ArrowRight")
    seen.settle()
    said = seen.text("[data-led]")
    value = course["values"][course["start"] + 9]
    assert float(re.match(r"j0 = (\S+) rad", said)[1]) == pytest.approx(value, rel=1e-3)  # type: ignore[index]
    assert "p = 3" in said
    analysis = mb.analyze(mb.load(FOUR_BAR), {"j0": value})
    assert analysis.degree_of_redundancy == 3
    assert (np.abs(seen.pixels("canvas") - before).max(axis=2) > 30).mean() > 0.01
    seen.page.check("[data-load-on]")
    assert "first pose" in seen.text("[data-load-words]")
    seen.page.uncheck("[data-load-on]")
    seen.page.click("[data-first]")
    seen.settle()
    assert (np.abs(seen.pixels("canvas") - before).max(axis=2) > 30).mean() < 0.001
    seen.page.focus("[data-lead]")
    seen.page.keyboard.press("End")
    assert json.dumps(course["high"]) == '""' or course["high"] in seen.text("[data-led]")
    quiet(seen)
