"""The loop of many stops and the runner decide alike: which brakes hold, and how a stop ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.simulation.friction import breaking_address
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.compiled import called_addresses
from mbplugin.stopping.run import make_scenario, run_stop
from rod_arms import arm

#: Lower limit, coordinate and rate at the signal, gravity: out and in at both limits, driven and pulled.
ENDS = [
    (-1.0, 0.3, 2.0, 0.0),
    (-0.3, -0.3, -2.0, 0.0),
    (-1.0, 0.3, -1.0, 0.0),
    (-0.3, -0.3, 0.2, 0.0),
    (-0.3, -0.3, 0.0, 9.81),
    (-0.3, 0.3, 0.0, 9.81),
]


def test_a_limit_within_the_reaction_time_ends_the_stop_there() -> None:
    """By hand: 0.3 rad at 2 rad/s are 0.15 s, and the brake would grip at 0.5 s."""
    mech = arm((1.0,), gravity=0.0, limits=Freedom(lower=-1.0, upper=0.3))
    scenario = make_scenario(mech, np.zeros(1), np.array([2.0]), brakes=[Brake("j0", 5.0, delay=0.5)])
    quick, motion = CompiledStop(scenario).stop(scenario.q, scenario.qd), run_stop(scenario)
    assert quick.outcome == motion.outcome == "limit_hit"
    assert quick.time == pytest.approx(0.15, rel=1e-9) and quick.travels == pytest.approx([0.3], rel=1e-9)
    assert motion.time[-1] == pytest.approx(0.15, rel=1e-9)


@pytest.mark.parametrize("delay", [0.0, 0.1])
@pytest.mark.parametrize(("lower", "start", "rate", "gravity"), ENDS)
def test_a_joint_at_its_very_limit_passes_it_on_the_way_out_only(
    lower: float, start: float, rate: float, gravity: float, delay: float
) -> None:
    """Driven or pulled out, it is beyond its limit at once; the way in is that of any other stop."""
    mech = arm((1.0,), gravity=gravity, limits=Freedom(lower=lower, upper=0.3))
    brakes = [Brake("j0", 1.0, delay=delay)]
    scenario = make_scenario(mech, np.array([start]), np.array([rate]), brakes=brakes)
    quick, motion = CompiledStop(scenario).stop(scenario.q, scenario.qd), run_stop(scenario)
    out = rate * start > 0 or (gravity > 0 and start < 0)
    expected = "limit_hit" if out or gravity > 0 else "stopped"
    assert quick.outcome == motion.outcome == expected
    assert (quick.time < delay + 1e-4) is out and quick.time == pytest.approx(motion.time[-1], abs=1e-7)
    assert quick.travels == pytest.approx(motion.q[-1] - start, abs=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_brakes_that_are_about_as_strong_as_the_load_hold_or_slip_alike(seed: int) -> None:
    """From rest: all brakes are decided together, whichever of them is too weak."""
    rng = np.random.default_rng(seed)
    n = 3 + seed % 3
    mech = arm(tuple(rng.uniform(0.3, 0.8, n)))
    q = rng.uniform(-1.0, 1.0, n)
    strong = make_scenario(mech, q, np.zeros(n), brakes=[Brake(f"j{k}", 99.0) for k in range(n)])
    loads = np.abs(CompiledStop(strong).holding(q))
    brakes = [
        Brake(f"j{k}", 0.9 * static, static, viscous=1.0)
        for k, static in enumerate(loads * rng.uniform(0.7, 1.5, n) + 0.01)
    ]
    scenario = make_scenario(mech, q, np.zeros(n), brakes=brakes)
    scenario = replace(scenario, duration=0.2, rtol=1e-10, atol=1e-12)
    motion, quick = run_stop(scenario), CompiledStop(scenario, rtol=1e-10, atol=1e-12).stop(q, np.zeros(n))
    assert quick.travels == pytest.approx(motion.q[-1] - q, abs=1e-7)
    assert (quick.outcome == "stopped") == (motion.outcome == "stopped")


def test_what_decides_on_breaking_away_is_compiled_where_a_brake_is_too_weak() -> None:
    """A stop that comes back undecided starts again, with the same end; one whose brakes hold does not ask."""
    mech = arm((1.0,))
    q, still = np.array([0.4]), np.zeros(1)
    strong, weak = (
        CompiledStop(make_scenario(mech, q, still, brakes=[Brake("j0", torque, viscous=1.0)]))
        for torque in (99.0, 0.1)
    )
    called_addresses()[-1] = 0
    assert strong.stop(q, still).outcome == "stopped"
    assert called_addresses()[-1] == 0
    first = weak.stop(q, still)
    assert called_addresses()[-1] == breaking_address() != 0
    again = weak.stop(q, still)
    assert abs(first.travels[0]) > 0.1
    assert (first.outcome, first.time, *first.travels) == (again.outcome, again.time, *again.travels)
