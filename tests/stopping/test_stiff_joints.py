"""A light, damped joint decays within a step: the method is exact for that, and as exact as before for the rest."""

from __future__ import annotations

from math import exp, inf, log

import numpy as np
import pytest
from scipy.integrate import quad

from mbplugin.model import WORLD, Body, Mechanism, Pair, Pose
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import align_z
from mbplugin.simulation.integrators.explicit_loop import MOST, growth, motion_at
from mbplugin.simulation.integrators.methods.dopri5 import INTEGRATOR
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.outcome import StopSummary
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.scenario import Scenario
from mbplugin.stopping.stiff import CONSTANTS, STIFF, constants, motion_of_step, weigh
from mbplugin.stopping.sweep.plan import SweepPlan
from rod_arms import arm

LENGTH, DAMPING = 0.5, 40.0
#: Time constant of one rod with this damping, s: 2 ms.
TAU = LENGTH**2 / 3 / DAMPING


def rod(brake: Brake, rate: float = 1.0) -> Scenario:
    one = arm((LENGTH,), gravity=0.0, limits=Freedom(damping=DAMPING))
    return make_scenario(one, np.zeros(1), [rate], brakes=[brake], tool_point=np.array([LENGTH, 0.0, 0.0]))


def light_wrist(
    delays: tuple[float, ...] = (0.01, 0.012, 0.015), lower: float = -inf, upper: float = inf
) -> Scenario:
    """Three rods that swing under gravity, the last one short and damped: its rate decays within 1 ms."""
    mech = arm((0.5, 0.4, 0.06), limits=Freedom(lower, upper, damping=1.5))
    brakes = [
        Brake(f"j{k}", torque, delay=delay, engagement=0.03)
        for k, (torque, delay) in enumerate(zip((90.0, 40.0, 4.0), delays, strict=True))
    ]
    return make_scenario(mech, np.array([0.3, -0.5, 0.2]), [1.0, -0.8, 1.5], brakes=brakes)


def stop(scenario: Scenario, *tolerances: float) -> StopSummary:
    return CompiledStop(scenario, *tolerances).stop(scenario.q, scenario.qd)


# The weights.


@pytest.mark.parametrize("z", [-0.02, -0.7, -1.3, -2.5])
def test_weights_integrate_powers_of_time_against_the_decay(z: float) -> None:
    """Those of a stage up to c: ∫ e^((c−θ)z) θᵏ dθ for rates, ∫ (e^((c−θ)z) − 1)/z θᵏ dθ for coordinates."""
    one, tableau = np.zeros(1, STIFF), INTEGRATOR.tableau.coefficients
    one["decay"] = z
    weigh(one[0], constants()[0], 1.0)
    for row, exact in enumerate((0, 1, 2, 3, 3, 3, 5)):
        c = tableau.c[row]
        rates = one["weights"][0][row] + tableau.A[row]
        places = one["double"][0][row] + (tableau.A @ tableau.A)[row]
        for k in range(exact):
            integral = quad(lambda x, c=c, k=k: exp((c - x) * z) * x**k, 0.0, c, epsabs=1e-14)[0]
            assert rates @ tableau.c**k == pytest.approx(integral, abs=3e-14)
        # the second stage of Dormand and Prince is exact for constants in rates only
        for k in range(exact if row > 2 else 0):
            integral = quad(lambda x, c=c, k=k: np.expm1((c - x) * z) / z * x**k, 0.0, c, epsabs=1e-14)[0]
            own = (tableau.A @ tableau.A)[row] @ tableau.c**k
            at_zero = c ** (k + 2) / ((k + 1) * (k + 2))
            assert places @ tableau.c**k == pytest.approx(integral - at_zero + own, abs=3e-14)
    assert CONSTANTS.names == constants().dtype.names


def test_the_motion_within_a_step_follows_the_decay() -> None:
    """q = e^(λt)/λ² + t³, of one joint, whose N is 6t − 3λt² then; a quintic misses its rate by a hundredth."""
    decay, length = -900.0, 2.5e-3
    one, out = np.zeros(1, STIFF), np.zeros((13, 2, 1))
    t = np.array([0.0, length])
    fast, nodes = np.exp(decay * t) / decay**2, INTEGRATOR.tableau.coefficients.c * length
    q, v, a = fast + t**3, fast * decay + 3 * t**2, fast * decay**2 + 6 * t
    rest = 6 * nodes - 3 * decay * nodes**2
    one["decay"], one["start"], one["rest"] = decay, a[0], rest
    ends = (q[:1], q[1:], v[:1], v[1:], a[:1], a[1:])
    powers = motion_of_step(one[0], constants()[0], np.array([decay]), length, *ends, out)
    found = np.zeros((3, 1))
    for fraction in (0.1, 0.35, 0.6, 0.9):
        x = fraction * length
        motion_at(length, fraction, q[:1], out[:powers], *found)
        exact = exp(decay * x) / decay**2
        assert found[0, 0] == pytest.approx(exact + x**3, abs=1e-9 / decay**2)
        assert found[1, 0] == pytest.approx(exact * decay + 3 * x**2, abs=1e-9 / -decay)
        assert found[2, 0] == pytest.approx(exact * decay**2 + 6 * x, abs=1e-7)


# Closed forms: a rod that is damped, and a constant torque.


@pytest.mark.parametrize("engagement", [0.004, 0.008, 0.03])
def test_a_decay_alone_is_exact(engagement: float) -> None:
    """Until its brake engages, at any length of the steps; Dormand and Prince's error is 1e-8 at this tolerance."""
    found = stop(rod(Brake("j0", 5.0, engagement=engagement)))
    assert found.reaction_travels[0] == pytest.approx(TAU * -np.expm1(-engagement / TAU), abs=1e-13)


@pytest.mark.parametrize("torque", [1.0, 2.0, 5.0, 20.0])
def test_the_rest_of_a_joint_within_a_step_is_found_on_its_decay(torque: float) -> None:
    """On a quintic it is off by up to 1e-5 s, and the path, its radius times its travel, by 1e-7 m."""
    found = stop(rod(Brake("j0", torque)))
    end = torque / DAMPING
    rest = TAU * log(1.0 + 1.0 / end)
    travel = TAU * (1.0 + end) * -np.expm1(-rest / TAU) - end * rest
    assert found.times[0] == pytest.approx(rest, abs=1e-11)
    assert found.travels[0] == pytest.approx(travel, abs=1e-13)
    assert found.tool_distance == pytest.approx(LENGTH * travel, abs=1e-9)


def test_the_pieces_of_a_motion_follow_the_decay() -> None:
    """Half-way in each, where its quintic is (q₀ + q₁)/2 + 5 h (v₀ − v₁)/32 + h² (a₀ + a₁)/64."""
    scenario = rod(Brake("j0", 5.0, engagement=0.03))
    one = CompiledStop(scenario)
    one.stop(scenario.q, scenario.qd)
    times = np.concatenate(([0.0], np.cumsum(one.pieces[:, 0, 0])))
    checked = 0
    for piece, t in zip(one.pieces, times, strict=False):
        h, (q0, v0, a0, q1, v1, a1) = piece[0, 0], piece[1:, 0]
        if h > 0.0 and t + h < 0.03:
            middle = 0.5 * (q0 + q1) + 5 / 32 * h * (v0 - v1) + h**2 / 64 * (a0 + a1)
            assert middle == pytest.approx(TAU * -np.expm1(-(t + 0.5 * h) / TAU), abs=3e-7)
            checked += 1
    assert checked > 8


# Beside runs of small tolerance.


@pytest.mark.parametrize("delays", [(0.01, 0.012, 0.015), (0.015, 0.01, 0.005), (0.0, 0.0, 0.0)])
def test_results_stay_within_the_tolerance_with_few_evaluations(delays: tuple[float, ...]) -> None:
    scenario = light_wrist(delays)
    coarse, fine = stop(scenario), stop(scenario, 1e-11, 1e-13)
    assert coarse.outcome == fine.outcome == "stopped"
    assert np.abs(coarse.travels - fine.travels).max() < 2e-7
    assert np.abs(coarse.times - fine.times).max() < 1e-6
    assert coarse.tool_distance == pytest.approx(fine.tool_distance, abs=1e-6)
    # of Dormand and Prince's method alone, within its stability: 497 to 756
    assert coarse.evaluations < 360


def test_a_joint_whose_rate_grows_is_not_stiff() -> None:
    """A short-circuited motor brakes less the faster it turns: at 1 rad/s, its force falls by more than the damping."""
    scenario = rod(Brake("j0", 5.0, short_circuit=2000.0, short_circuit_rate=0.2))
    # no step with such a joint has a length: the compiled loop would leave the stop to the runner
    coarse = CompiledStop(scenario, patient=False).stop(scenario.q, scenario.qd)
    fine = stop(scenario, 1e-11, 1e-13)
    assert coarse.times[0] == pytest.approx(fine.times[0], abs=1e-8)
    assert coarse.travels[0] == pytest.approx(fine.travels[0], abs=1e-9)


@pytest.mark.parametrize("seed", [139, 317])
def test_a_long_slide_with_a_stiff_joint_is_not_left_to_the_runner(seed: int) -> None:
    """Its steps are stored in two pieces each, which are more than without such a joint."""
    scenario = any_arm(seed)
    one = CompiledStop(scenario, patient=False)
    found = one.stop(scenario.q, scenario.qd)
    by_runner = one._by_the_runner(scenario.q.copy(), scenario.qd.copy())
    assert (found.outcome, found.time) == (by_runner.outcome, pytest.approx(by_runner.time, abs=1e-6))
    assert found.travels == pytest.approx(by_runner.travels, abs=1e-5)


def held_tip() -> Scenario:
    """The arm with another, shorter rod, which is damped most and held by its brake from the start."""
    mech = arm((0.5, 0.4, 0.06, 0.03), limits=Freedom(damping=1.5))
    brakes = [
        Brake(f"j{k}", torque, delay=0.01, engagement=0.1) for k, torque in enumerate((90.0, 40.0, 4.0))
    ]
    at_once = Brake("j3", 100.0, delay=0.0, engagement=0.0)
    return make_scenario(
        mech, np.array([0.3, -0.5, 0.2, 0.1]), [1.0, -0.8, 1.5, 0.0], brakes=[*brakes, at_once]
    )


def test_a_joint_may_be_stiff_beside_one_that_its_brake_holds() -> None:
    scenario = held_tip()
    coarse, fine = stop(scenario), stop(scenario, 1e-11, 1e-13)
    assert coarse.travels[3] == fine.travels[3] == 0.0
    assert np.abs(coarse.travels - fine.travels).max() < 2e-7
    # with the method for a tree without a stiff joint, 525
    assert coarse.evaluations < 300


@pytest.mark.parametrize("joints", ["free", "limited", "held"])
def test_stops_side_by_side_are_those_one_by_one(joints: str, monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"lower": -0.55, "upper": 0.33} if joints == "limited" else {}
    scenario = held_tip() if joints == "held" else light_wrist(**limits)
    plan = SweepPlan(scenario, 30, 5, None, 0.02, (0.2, 1.0), 0.2, 0.2)
    starts, one = plan.draws(range(30)), CompiledStop(scenario)
    side_by_side = one.stops(starts, scenario.brakes, ())
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", 1000)
    alone = one.stops(starts, scenario.brakes, ())
    assert side_by_side.outcomes == alone.outcomes
    assert ("limit_hit" in alone.outcomes) == (joints == "limited")
    np.testing.assert_array_equal(side_by_side.ended["evaluations"], alone.ended["evaluations"])
    np.testing.assert_allclose(side_by_side.joints, alone.joints, rtol=0.0, atol=1e-9)
    for name in ("time", "tool_distance", "tool_displacement", "clearance"):
        np.testing.assert_allclose(side_by_side.ended[name], alone.ended[name], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("last_error", "last_step", "expected"), [(0.0, 0.0, 0.9), (0.5, 0.5, 0.9), (0.5, 1.0, None)]
)
def test_the_next_step_follows_the_trend_of_the_error(
    last_error: float, last_step: float, expected: float | None
) -> None:
    """A step of the same length had half the error: the next one is expected to have twice this one's."""
    found = growth(1.0, 1.0, last_error, last_step, -0.2)
    assert found == pytest.approx(0.9 * 2**-0.2 if expected is None else expected, rel=1e-15)
    assert growth(0.0, 1.0, last_error, last_step, -0.2) == MOST


# Other joints that decay as well, short circuits, and joints that stick again at once.


def any_arm(seed: int) -> Scenario:
    """An arm of up to five joints with damping, friction, limits and brakes of all sizes."""
    r = np.random.default_rng(seed)
    n = int(r.integers(1, 6))
    bodies, pairs, brakes = [], [], []
    m, length = 10.0 ** r.uniform(0, 1.5), r.uniform(0.2, 0.8)
    for k in range(n):
        s = r.uniform(0.3, 1.0)
        m, length = m * s**2, length * s
        inertia = np.diag(r.uniform(0.5, 1, 3)) * m * length**2 / 6
        bodies.append(Body(f"b{k}", m, r.uniform(-0.5, 1, 3) * length * 0.5, inertia))
        axis = r.normal(size=3)
        frame = align_z(axis / np.linalg.norm(axis))
        X_AP = Pose(frame, r.uniform(-1, 1, 3) * length if k else np.zeros(3))
        undamped, tau = r.random() < 0.35, 10.0 ** r.uniform(-5, 0)
        ends = (-r.uniform(0.02, 0.5), r.uniform(0.02, 0.5)) if r.random() < 0.4 else (-inf, inf)
        rough = float(r.random() < 0.3) * m * length * 0.5
        free = Freedom(*ends, damping=0.0 if undamped else m * length**2 * 0.2 / tau, friction=rough)
        kind = "revolute" if r.random() < 0.85 else "prismatic"
        inner = f"b{k - 1}" if k else WORLD
        pairs.append(Pair(f"j{k}", kind, inner, f"b{k}", X_AP, Pose(frame, np.zeros(3)), freedoms=(free,)))
        torque, parts = m * length * 9.81 * 10.0 ** r.uniform(-0.5, 1.0), {}
        if r.random() < 0.35:
            parts["engagement"] = r.uniform(0.001, 0.05)
        if r.random() < 0.2:
            parts["viscous"] = m * length**2 * 10.0 ** r.uniform(-1, 3)
        if r.random() < 0.25:
            parts["short_circuit"] = m * length**2 * 10.0 ** r.uniform(0, 4)
            parts["short_circuit_rate"] = 10.0 ** r.uniform(-1.5, 1)
        brakes.append(Brake(f"j{k}", torque, delay=float(r.choice([0, r.uniform(0, 0.05)])), **parts))
    mech = Mechanism("arm", tuple(bodies), tuple(pairs), gravity=np.array([0, 0, -9.81]))
    qd = r.normal(size=n) * 10.0 ** r.uniform(-1, 0.7)
    q = np.array(
        [r.uniform(*np.clip((p.freedoms[0].lower, p.freedoms[0].upper), -1, 1)) * 0.9 for p in pairs]
    )
    return make_scenario(mech, q, qd, brakes=brakes)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1135, 1446, 1472, 2001, 2002])
def test_joints_that_decay_almost_as_fast_cost_no_accuracy(seed: int) -> None:
    """With a trust in the estimate of the error that only one decay deserves, these erred by up to 1.6e-4."""
    scenario = any_arm(seed)
    found, exact = stop(scenario), stop(scenario, 1e-11, 1e-13)
    assert found.outcome == exact.outcome
    assert found.time == pytest.approx(exact.time, abs=1e-5)
    assert found.travels == pytest.approx(exact.travels, rel=1e-5, abs=4e-5)


@pytest.mark.parametrize("seed", [15, 102])
def test_a_joint_that_breaks_away_and_sticks_again_within_a_step_moves_until_then(seed: int) -> None:
    one = CompiledStop(scenario := any_arm(seed))
    by_runner = one._by_the_runner(scenario.q.copy(), scenario.qd.copy())
    assert one.stop(scenario.q, scenario.qd).times == pytest.approx(by_runner.times, abs=1e-5)
