"""Stops of a robot with a loop, of which only the crank is named: it turns at the stated angle with the stated rate."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.stopping.sweep import sweep_plan
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


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_each_stop_of_a_sweep_starts_closed_with_the_named_rate(spread: float) -> None:
    plan = sweep_plan(
        FOUR_BAR, 5, {"j0": 2.356}, {"j0": 1.0}, q_spread=spread, brakes=[mb.Brake("j0", 50.0)], seed=3
    )
    mech = plan.scenario.mech
    for k in range(plan.count):
        q, qd, _, _ = plan.draw(k)
        assert qd[0] == pytest.approx(1.0, abs=1e-12)
        assert q[0] == pytest.approx(2.356, abs=spread + 1e-12)
        assert np.hypot(*(elbow(q[0]) - forward(mech, q).of(mech.body_index["rocker"]).p[[0, 2]])) < 1e-8
        # the loop stays closed along the rates
        ahead = forward(mech, q + 1e-6 * qd).of(mech.body_index["rocker"]).p[[0, 2]]
        assert ahead == pytest.approx(elbow(q[0] + 1e-6), abs=1e-10)


def test_a_led_crank_starts_with_the_rate_that_another_named_one_gives_it() -> None:
    """The links are (0, 0.3), (0.4, 0.3) and (0.45, −0.6) m, so the velocity of the last pin is zero where

    0.3 ω₁ + 0.3 ω₂ = 0.6 ω₃ and 0.4 ω₂ + 0.45 ω₃ = 0: ω₁ = 1 gives ω₂ = −0.36 and ω₃ = 0.32 rad/s.
    """
    scene = mb.load(ASSETS / "four_bar.scene.toml")
    named = mb.estop(scene, qd={"j1": -1.36}, category=1, decelerations={"j0": 5.0})
    direct = mb.estop(scene, qd={"j0": 1.0}, category=1, decelerations={"j0": 5.0})
    np.testing.assert_allclose(named.trajectory.qd[0], [1.0, -1.36, 0.68], rtol=1e-9)
    np.testing.assert_allclose(direct.trajectory.qd[0], [1.0, -1.36, 0.68], rtol=1e-9)
    # on for 15 ms, then at 5 rad/s² to rest
    crank = 0.015 + 1.0 / (2 * 5.0)
    for stop in (named, direct):
        travel = stop.trajectory.q[-1] - stop.trajectory.q[0]
        assert travel[0] == pytest.approx(crank, rel=1e-6)
