"""Stops of a robot with a loop, of which only the crank is named: it turns at the stated angle with the stated rate."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from places import ASSETS

FOUR_BAR = str(ASSETS / "four_bar.scene.toml")


def elbow(crank: float) -> np.ndarray:
    """Where coupler 0.5 m and rocker 0.75 m meet, m; the crank has 0.3 m, the ground 0.85 m."""
    tip = 0.3 * np.array([np.cos(crank), np.sin(crank)])
    to_ground = np.array([0.85, 0.0]) - tip
    reach = np.hypot(*to_ground)
    inside = np.arccos((0.5**2 + reach**2 - 0.75**2) / (2 * 0.5 * reach))
    coupler = np.arctan2(to_ground[1], to_ground[0]) + inside
    return tip + 0.5 * np.array([np.cos(coupler), np.sin(coupler)])


@pytest.mark.parametrize("crank", [1.9, 2.356])
def test_a_led_crank_turns_as_far_as_its_ramp(crank: float) -> None:
    """By hand: 1 rad/s at 2 rad/s² is 0.5 s and 0.25 rad; the rocker's frame is at the elbow."""
    brakes, tool = [mb.Brake("j0", 50.0)], "rocker"
    stop = mb.estop(
        FOUR_BAR, {"j0": crank}, {"j0": 1.0}, category=1, brakes=brakes, decelerations={"j0": 2.0}, tool=tool
    )
    motion = stop.trajectory
    assert (motion.q[0, 0], motion.qd[0, 0]) == pytest.approx((crank, 1.0), abs=1e-10)
    assert stop.time == pytest.approx(0.5, abs=1e-9)
    assert motion.q[-1, 0] == pytest.approx(crank + 0.25, abs=1e-8)
    speed = np.linalg.norm(elbow(crank + 1e-6) - elbow(crank - 1e-6)) / 2e-6
    assert stop.tool.speed == pytest.approx(speed, rel=1e-6)
    moved = np.linalg.norm(elbow(crank + 0.25) - elbow(crank))
    assert stop.tool.displacement == pytest.approx(moved, rel=1e-6)
    assert not any("made to agree" in note for note in stop.notes)
