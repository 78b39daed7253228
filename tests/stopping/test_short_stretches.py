"""Stretches between switching brakes: a method of low order takes them, and the results stay within the tolerance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import RK23

from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.compiled import methods
from mbplugin.stopping.outcome import StopSummary
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.scenario import Scenario
from rod_arms import arm

QD = np.array([1.0, -0.8, 1.5])


def staggered(delays: tuple[float, ...], viscous: float = 0.0) -> Scenario:
    """Three rods whose brakes switch one after the other; the last rod is light, and its brake viscous."""
    brakes = [
        Brake(f"j{k}", torque, delay=delay, viscous=viscous * (k == 2))
        for k, (torque, delay) in enumerate(zip((60.0, 30.0, 10.0), delays, strict=True))
    ]
    return make_scenario(arm((0.5, 0.4, 0.3)), np.array([0.3, -0.5, 0.2]), QD, brakes=brakes)


def stop(scenario: Scenario, *tolerances: float) -> StopSummary:
    return CompiledStop(scenario, *tolerances).stop(scenario.q, scenario.qd)


def test_the_method_of_low_order_is_that_of_scipy() -> None:
    table = methods()[1]
    np.testing.assert_allclose(table["A"][:3, :3], RK23.A, rtol=1e-15)
    np.testing.assert_allclose(table["b"][:3], RK23.B, rtol=1e-15)
    np.testing.assert_allclose(table["c"][:3], RK23.C, rtol=1e-15)
    np.testing.assert_allclose(np.abs(table["errors"][0][:4]), np.abs(RK23.E), rtol=1e-15)
    assert table["exponent"] == pytest.approx(-1.0 / (RK23.error_estimator_order + 1))


@pytest.mark.parametrize("delays", [(0.05, 0.0502, 0.0503), (0.01, 0.0101, 0.0103), (0.02, 0.0, 0.004)])
def test_results_stay_within_the_tolerance(delays: tuple[float, ...]) -> None:
    scenario = staggered(delays)
    coarse, fine = (stop(scenario, *tolerances) for tolerances in ((), (1e-11, 1e-13)))
    assert coarse.outcome == fine.outcome == "stopped"
    assert np.abs(coarse.travels - fine.travels).max() < 1e-6
    assert np.abs(coarse.times - fine.times).max() < 5e-6
    assert coarse.tool_distance == pytest.approx(fine.tool_distance, abs=1e-6)


@pytest.mark.parametrize(
    ("delays", "viscous", "saved"),
    [
        ((0.01, 0.0101, 0.0103), 0.0, 6),
        ((0.05, 0.0502, 0.0503), 0.0, 6),
        # too long for the tolerance: one step of low order is tried, and the method of high order takes over
        ((0.01, 0.011, 0.0125), 0.0, 0),
        # the light last joint is stiff
        ((0.01, 0.011, 0.0125), 50.0, 0),
    ],
)
def test_short_stretches_take_half_the_evaluations(
    delays: tuple[float, ...], viscous: float, saved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = staggered(delays, viscous)
    both = stop(scenario)
    high = np.concatenate((methods()[:1], methods()[:1]))
    high.setflags(write=False)
    monkeypatch.setattr("mbplugin.stopping.batch.compiled.methods", lambda: high)
    alone = stop(scenario)
    assert both.evaluations == alone.evaluations - saved
    assert both.outcome == alone.outcome
    assert np.abs(both.travels - alone.travels).max() < 1e-7
    assert np.abs(both.times - alone.times).max() < 1e-7


@pytest.mark.parametrize(("stretch", "low"), [(0.0029, True), (0.0031, False), (0.02, False)])
def test_only_stretches_below_three_milliseconds_count_as_short(
    stretch: float, low: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A motion so smooth that one step of low order meets the tolerance in the longest of them, too."""
    rod = arm((0.5,), gravity=0.0, limits=Freedom(damping=0.01))
    scenario = make_scenario(rod, np.zeros(1), np.ones(1), brakes=[Brake("j0", 5.0, engagement=stretch)])
    both = stop(scenario)
    high = np.concatenate((methods()[:1], methods()[:1]))
    high.setflags(write=False)
    monkeypatch.setattr("mbplugin.stopping.batch.compiled.methods", lambda: high)
    alone = stop(scenario)
    assert (both.evaluations < alone.evaluations) == low
    assert (both.evaluations == alone.evaluations) != low
    inertia, rate, damping = 0.5**2 / 3, 1.0, 0.01
    later = rate * np.exp(-damping / inertia * stretch)
    # with the brake's torque the rate decays to a negative end, which it would reach after it is zero
    rest = inertia / damping * np.log(1.0 + later * damping / 5.0)
    travel = inertia / damping * (rate - later) + inertia / damping * later - 5.0 / damping * rest
    assert both.times[0] == pytest.approx(stretch + rest, abs=1e-6)
    assert both.travels[0] == pytest.approx(travel, abs=1e-7)
