"""The page of modes: how far a mode is drawn by hand, closed loops in every pose, and the swing in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from browser_pages import near, quiet
from command_line import ASSETS, call
from html_pages import drawing, floats, page_of, parsed
from mbplugin.errors import BadUsage, CannotClose
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array, Pose, rotation_from_quaternion
from models import from_world_frames, pose_at

CRANK_ROCKER = str(ASSETS / "crank_rocker.scene.toml")
ARM = str(ASSETS / "arm_6r.scene.toml")
#: A rod of 1 m that hangs from a hinge; its centre of mass is 0.5 m below.
PENDULUM = """
[[body]]
name = "rod"
mass = 2
inertia = [0.1, 0.1, 0.01]

[[pair]]
name = "hinge"
type = "revolute"
body_a = "world"
body_b = "rod"
xyz_b = [0, 0, 0.5]
axis = [{axis}]
"""


def scene(folder: Path, axis: str = "0, 1, 0") -> str:
    (folder / "rod.scene.toml").write_text(PENDULUM.format(axis=axis))
    return str(folder / "rod.scene.toml")


def double_rocker() -> Mechanism:
    """A hanging four-bar with links of 1 m on grounds 1.5 m apart, none of which turns fully."""
    depth = -np.sqrt(1 - 0.25**2)
    corners = [np.array(p) for p in ((0, 0, 0), (0.25, depth, 0), (1.25, depth, 0), (1.5, 0, 0))]
    names = ("left", "below", "right")
    bodies = {
        name: Pose(np.eye(3), 0.5 * (a + b))
        for name, a, b in zip(names, corners[:-1], corners[1:], strict=True)
    }
    ends = ("world", *names, "world")
    joints = [
        (f"j{k}", "revolute", ends[k], ends[k + 1], pose_at(corner)) for k, corner in enumerate(corners)
    ]
    mech, _ = from_world_frames("rockers", bodies, joints, gravity=np.array([0.0, -9.81, 0.0]))
    return mech


def gaps(mech: Mechanism, seven: Array) -> float:
    """Return how far closing hinges are open for body poses (N, 7), m and rad."""
    placed = {"world": Pose.identity()} | {
        body.name: Pose(rotation_from_quaternion(row[3:]), row[:3])
        for body, row in zip(mech.bodies, seven, strict=True)
    }
    found = []
    for pair in mech.tree.cut:
        X_WP, X_WS = placed[pair.body_a] @ pair.X_AP, placed[pair.body_b] @ pair.X_BS
        found += [np.linalg.norm(X_WP.p - X_WS.p), np.linalg.norm(np.cross(X_WP.R[:, 2], X_WS.R[:, 2]))]
    return float(max(found))


def test_every_pose_of_a_swing_is_closed_and_it_goes_through_the_pose_of_rest() -> None:
    data = drawing(page_of("modes", CRANK_ROCKER))
    found = mb.linearize(CRANK_ROCKER)
    (mode,) = data["swings"]["modes"]
    frames = floats(mode["poses"], 7).reshape(-1, data["swings"]["bodies"], 7)
    assert len(frames) % 2 == 1 and max(gaps(found.mechanism, frame) for frame in frames) < 1e-5
    rest = forward(found.mechanism, found.equilibrium.q)
    middle = frames[len(frames) // 2]
    assert middle[:, :3] == pytest.approx(rest.p_WL, abs=1e-6)
    assert floats(data["poses"], 7) == pytest.approx(middle, abs=1e-6)
    # the crank of 0.8 m is the first link, and turns by the amplitude that is said
    crank = found.mechanism.body_index["crank"]
    amplitude = float(re.findall(r"O1 ± (\S+) rad; one period takes 1.2 s", mode["words"])[0])
    headings = [np.arctan2(*rotation_from_quaternion(frame[crank, 3:])[1::-1, 0]) for frame in frames]
    turns = np.unwrap(headings)
    assert np.ptp(turns) == pytest.approx(2 * amplitude, rel=2e-3)
    assert np.diff(turns) == pytest.approx(np.full(len(frames) - 1, turns[1] - turns[0]), abs=1e-5)


@pytest.mark.parametrize(
    ("axis", "amplitude"),
    [
        # the picture has half the distance from hinge to centre of mass as its radius, and the centre is 0.5 m away
        ("0, 1, 0", 0.15 * 0.25 / 0.5),
        # about its own axis nothing travels
        ("0, 0, 1", np.radians(20)),
    ],
)
def test_a_mode_is_drawn_up_to_the_stated_turn_or_travel(tmp_path: Path, axis: str, amplitude: float) -> None:
    (mode,) = drawing(page_of("modes", scene(tmp_path, axis)))["swings"]["modes"]
    assert f": hinge ± {amplitude:.3g} rad; " in mode["words"]
    first, last = floats(mode["poses"], 7)[[0, -1]]
    turn = rotation_from_quaternion(first[3:]).T @ rotation_from_quaternion(last[3:])
    assert np.arccos((np.trace(turn) - 1) / 2) == pytest.approx(2 * amplitude, abs=1e-5)


def test_what_does_not_swing_is_said(tmp_path: Path) -> None:
    (mode,) = drawing(page_of("modes", scene(tmp_path, axis="0, 0, 1")))["swings"]["modes"]
    assert mode["words"].endswith("it does not swing: no force drives it back")
    upright = ("modes", scene(tmp_path), "--q", "hinge=180deg")
    page = page_of(*upright)
    (mode,) = drawing(page)["swings"]["modes"]
    growth = np.sqrt((0.1 + 2 * 0.25) / (2 * 9.81 * 0.5))
    assert f"grows by e in {growth:.3g} s" in mode["words"]
    assert "unstable equilibrium" in parsed(page).xpath("string(//*[contains(@class, 'verdict')])")
    assert f"{growth:.4g} s" in parsed(page).xpath("//dd/text()")


def test_a_mechanism_without_freedoms_has_a_page_without_swings(tmp_path: Path) -> None:
    page = page_of("modes", scene(tmp_path), "--hold", "hinge")
    assert drawing(page)["swings"] == {} and drawing(page)["ghosts"] == []
    assert parsed(page).xpath("//*[contains(@class, 'swings')]") == []


def test_assumptions_of_the_text_come_first_on_the_page() -> None:
    page = parsed(page_of("modes", ARM))
    alarms = [one.text_content() for one in page.xpath("//p[@class='alarm']")]
    text = call("modes", ARM).out.splitlines()
    assert len(alarms) == 2 and alarms == [line.removeprefix("! ") for line in text[:2]]
    rows = page.xpath("//table[caption//text()='Modes']/tbody/tr")
    assert [row.xpath("string(td[1])") for row in rows] == [str(k) for k in range(1, 7)]


def test_a_pose_of_a_mode_beyond_reach_is_refused() -> None:
    mech = double_rocker()
    found = mb.linearize(mech)
    (mode,) = found.modes
    assert found.pose(mode, 0.0) == pytest.approx(found.equilibrium.q)
    near_rest = (found.pose(mode, 1e-4) - found.pose(mode, -1e-4)) / 2e-4
    assert near_rest == pytest.approx(mode.shape, abs=1e-6)
    with pytest.raises(CannotClose, match=r"no closed pose with an amplitude of 2 of this mode.*smaller"):
        found.pose(mode, 2.0)
    with pytest.raises(BadUsage, match="amplitude of a mode is nan; expected a finite number"):
        found.pose(mode, np.nan)
    # the page of the result itself draws what closes
    assert drawing(found.to_html())["swings"]["modes"][0]["words"].startswith("mode 1: ")


@pytest.mark.slow
@pytest.mark.browser
def test_a_mode_swings_between_its_ghosts(visit: Any) -> None:
    page = page_of("modes", ARM)
    seen = visit(page)
    assert near(seen.pixels("canvas"), "#882255", strong=20) > 500
    still = seen.pixels("canvas")
    seen.page.select_option("[data-mode]", "4")
    seen.settle()
    words = [mode["words"] for mode in drawing(page)["swings"]["modes"]]
    assert seen.text("[data-amplitude]") == words[4]
    chosen = seen.pixels("canvas")
    assert (np.abs(chosen - still).max(axis=2) > 30).mean() > 0.002
    # by hand to both extremes
    ends = []
    for value in ("-1000", "1000"):
        seen.page.locator("[data-deflection]").fill(value)
        seen.settle()
        ends.append(seen.pixels("canvas"))
    apart = (np.abs(ends[1] - ends[0]).max(axis=2) > 30).mean()
    assert apart > 0.005
    seen.page.locator("[data-deflection]").fill("0")
    seen.settle()
    assert (np.abs(seen.pixels("canvas") - chosen).max(axis=2) > 30).mean() < 0.25 * apart
    # in play it passes both sides, and goes on beyond one period
    seen.page.click("[data-play]")
    deflection = "Number(document.querySelector('[data-deflection]').value)"
    for condition in (f"{deflection} > 500", f"{deflection} < -500", f"{deflection} > 500"):
        seen.until(condition)
    seen.page.click("[data-play]")
    assert seen.text("[data-play]") == "play"
    quiet(seen)


def test_modes_that_are_not_drawn_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "drawn up to a turn" in page_of("modes", ARM) and "Not drawn" not in page_of("modes", ARM)
    solve = mb.Linearization.pose

    def pose(found: mb.Linearization, mode: Any, amplitude: float) -> Array:
        if mode is found.modes[1]:
            raise CannotClose("the loops do not close")
        return solve(found, mode, amplitude)

    monkeypatch.setattr(mb.Linearization, "pose", pose)
    page = mb.page(mb.linearize(ARM))
    assert "Not drawn: mode 2, where loops do not close or nothing moves." in page
    assert "mode 3" in page
