"""Moving and loading a mechanism on its page: poses stay closed, and the reactions are those of Python."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from browser_pages import quiet
from command_line import ASSETS
from html_pages import drawing, floats, page_of, parsed
from mbplugin.model.spatial import Pose, rotation_from_quaternion
from mbplugin.report.html.interactive import pose_groups

FOUR_BAR = str(ASSETS / "four_bar.scene.toml")
MINITAUR = str(ASSETS / "minitaur.scene.toml")


@pytest.fixture(scope="module")
def four_bar() -> str:
    return page_of("lint", FOUR_BAR)


def world(data: dict[str, Any], chosen: dict[int, int]) -> list[Pose]:
    """Return the poses of all bodies where some groups have one of their poses, as the page composes them."""
    moves = data["moves"]
    relative = floats(moves["places"], 7).copy()
    for k, at in chosen.items():
        bodies = moves["groups"][k]["bodies"]
        relative[bodies] = floats(moves["groups"][k]["places"], 7).reshape(-1, len(bodies), 7)[at]
    found = {-1: Pose.identity()}
    for body, carrier in moves["tree"]:
        found[body] = found[carrier] @ Pose(rotation_from_quaternion(relative[body, 3:]), relative[body, :3])
    return [found[body] for body in range(len(relative))]


def gap(scene: Any, poses: list[Pose]) -> float:
    """Return how far the closing joints are open, m; a hinge is open by its axes too, rad."""
    mech = scene.mechanism
    gaps = []
    for pair in mech.tree.cut:
        a, b = (Pose.identity() if i is None else poses[i] for i in map(mech.body_index.get, pair.bodies))
        X_WP, X_WS = a @ pair.X_AP, b @ pair.X_BS
        gaps.append(np.linalg.norm(X_WP.p - X_WS.p))
        if pair.type == "revolute":
            gaps.append(np.linalg.norm(np.cross(X_WP.R[:, 2], X_WS.R[:, 2])))
    return float(max(gaps))


@pytest.mark.long
def test_every_pose_of_the_slider_closes_the_loop(four_bar: str) -> None:
    """The two sides of the closing joint, placed by the poses of the page, coincide."""
    data, scene = drawing(four_bar), mb.load(FOUR_BAR)
    (group,) = data["moves"]["groups"]
    (row,) = group["rows"]
    placed = [world(data, {0: k}) for k in range(len(row["values"]))]
    assert max(gap(scene, poses) for poses in placed) < 1e-5 and len(placed) == 73
    crank = scene.mechanism.body_index["crank"]
    assert np.ptp([poses[crank].R[0, 0] for poses in placed]) > 0.5
    assert row["values"] == sorted(row["values"]) and set(group["redundancy"]) == {3}
    first = floats(data["poses"], 7)
    for k, pose in enumerate(placed[row["start"]]):
        assert pose.p == pytest.approx(first[k, :3], abs=1e-6)


@pytest.mark.bullet
@pytest.mark.long
def test_coordinates_of_different_loops_move_together() -> None:
    """Each leg of the Minitaur has two coordinates; two legs in any of their poses are closed."""
    data, scene = drawing(page_of("lint", MINITAUR, code=1)), mb.load(MINITAUR)
    groups = data["moves"]["groups"]
    assert [len(group["coordinates"]) for group in groups] == [2, 2, 2, 2]
    assert len({group["loops"] for group in groups}) == 4
    for group in groups:
        assert len(group["rows"]) == len(group["across"]["values"]) > 4
    last = [len(group["redundancy"]) - 1 for group in groups]
    for chosen in ({0: 0, 2: last[2]}, {0: last[0], 1: 3, 2: 5, 3: last[3]}):
        assert gap(scene, world(data, chosen)) < 2e-5


def poses_of_the_four_bar() -> Any:
    """Return the closed poses (n, nq) that the page carries."""
    found = pose_groups(mb.analyze(mb.load(FOUR_BAR)))
    assert found is not None
    return found[1][0].q


@pytest.mark.long
def test_maps_of_the_poses_are_those_of_python(four_bar: str) -> None:
    data = drawing(four_bar)
    (group,) = data["moves"]["groups"]
    load = data["load"]
    size = (len(load["bodies"]), len(load["labels"]), 6)
    maps = floats(group["maps"], 1).reshape(-1, *size)
    base = mb.reactions(mb.load(FOUR_BAR))
    for k in (0, 20, 60):
        found = mb.reactions(mb.load(FOUR_BAR), poses_of_the_four_bar()[k], hold=base.held)
        wanted = [found.value(*label) for label in load["labels"]]
        weights = np.einsum("nkf,nf->k", maps[k, :, :, :3], np.array(load["weights"]))
        assert weights == pytest.approx(wanted, rel=1e-4, abs=1e-3)


def test_a_film_has_no_slider_and_a_page_without_balance_says_why() -> None:
    film = page_of("simulate", str(ASSETS / "crank_rocker.scene.toml"), "--duration", "0.1")
    assert drawing(film)["moves"] == {} and drawing(film)["load"] == {}
    assert parsed(film).xpath("//*[contains(@class, 'try')]") == []
    for command, file, words in (
        ("lint", str(ASSETS / "four_bar.urdf"), "nothing holds the mechanism"),
        ("reactions", str(ASSETS / "arm_6r.scene.toml"), "belong to a motion"),
    ):
        page = page_of(command, file)
        assert drawing(page)["load"] == {}
        (said,) = parsed(page).xpath("//*[contains(@class, 'try')]/p/text()")
        assert words in said


def shown(page: Any) -> dict[str, str]:
    """Return the cells of the reactions, by joint and component."""
    return dict(
        page.evaluate(
            "[...document.querySelectorAll('[data-reaction]')].map((e) => [e.dataset.reaction, e.textContent])"
        )
    )


def expected(load: dict[str, Any], file: str = FOUR_BAR) -> dict[str, float]:
    base = mb.reactions(mb.load(file))
    return known(mb.reactions(mb.load(file), loads=[load], hold=base.held))


def known(found: Any) -> dict[str, float]:
    """Return the components that the rigid model determines, by joint and component."""
    return {
        f"{c.name} {k.name}": float(k.value or 0.0)
        for c in found.constraints
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
def test_the_slider_moves_the_robot_and_the_reactions_follow(visit: Any, four_bar: str) -> None:
    seen = visit(four_bar)
    before, at_first = seen.pixels("canvas"), shown(seen.page)
    row = drawing(four_bar)["moves"]["groups"][0]["rows"][0]
    seen.page.focus("[data-lead]")
    for _ in range(9):
        seen.page.keyboard.press("ArrowRight")
    seen.settle()
    value = row["values"][row["start"] + 9]
    assert float(re.match(r"j0 = (\S+) rad; p = 3", seen.text("[data-led]"))[1]) == pytest.approx(  # type: ignore[index]
        value, rel=1e-3
    )
    assert (np.abs(seen.pixels("canvas") - before).max(axis=2) > 30).mean() > 0.01
    assert "follow the pose" in seen.text("[data-pose-words]")
    base = mb.reactions(mb.load(FOUR_BAR))
    pose = poses_of_the_four_bar()[row["start"] + 9]
    compare(seen.page, known(mb.reactions(mb.load(FOUR_BAR), pose, hold=base.held)))
    seen.page.check("[data-load-on]")
    body = seen.page.eval_on_selector("[data-load-body]", "(e) => e.selectedOptions[0].text")
    forces = [float(one.input_value()) for one in seen.page.locator("[data-force]").all()]
    load = {"body": body, "force": forces, "point": _center(FOUR_BAR, body)}
    compare(seen.page, known(mb.reactions(mb.load(FOUR_BAR), pose, loads=[load], hold=base.held)))
    seen.page.uncheck("[data-load-on]")
    seen.page.click("[data-first]")
    seen.settle()
    assert shown(seen.page) == at_first and seen.text("[data-pose-words]") == ""
    assert (np.abs(seen.pixels("canvas") - before).max(axis=2) > 30).mean() < 0.001
    seen.page.focus("[data-lead]")
    seen.page.keyboard.press("End")
    assert row["high"] == "" or row["high"] in seen.text("[data-led]")
    quiet(seen)


@pytest.mark.slow
@pytest.mark.browser
def test_a_coordinate_moves_from_the_present_pose(visit: Any) -> None:
    page = page_of("reactions", str(ASSETS / "arm_6r.scene.toml"))
    seen = visit(page)
    before = seen.pixels("canvas")
    turned = []
    for name in ("j1", "j2"):
        seen.page.select_option("[data-coordinate]", label=name)
        seen.page.focus("[data-lead]")
        for _ in range(6):
            seen.page.keyboard.press("ArrowRight")
        seen.settle()
        turned.append(seen.pixels("canvas"))
    assert re.match(r"j1 = \S+ rad, j2 = \S+ rad; p = 0", seen.text("[data-led]"))
    assert "first pose" in seen.text("[data-pose-words]")
    for a, b in ((before, turned[0]), (turned[0], turned[1])):
        assert (np.abs(b - a).max(axis=2) > 30).mean() > 0.003
    # back from the second one the first is still turned
    seen.page.focus("[data-lead]")
    for _ in range(6):
        seen.page.keyboard.press("ArrowLeft")
    seen.settle()
    assert (np.abs(seen.pixels("canvas") - turned[0]).max(axis=2) > 30).mean() < 0.001
    quiet(seen)
