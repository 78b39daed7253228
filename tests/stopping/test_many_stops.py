"""Many stops in one compiled call are the stops that are computed one by one, and draw the same numbers."""

from __future__ import annotations

import sys
import threading
from dataclasses import fields, replace
from math import inf
from typing import Any

import numpy as np
import pytest

from mbplugin.dynamics.compiler.lanes import LANES
from mbplugin.dynamics.kernels.composite_bodies import carried_masses, find_composites
from mbplugin.errors import BadUsage
from mbplugin.model.brake_law import Brake, BrakeLaw, Ramp
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.scene import Payload, Scene, state_at_home
from mbplugin.model.spatial import Spring
from mbplugin.stopping.batch import LEAST_IN_LANES, ArmStopper, CompiledStop
from mbplugin.stopping.many import BACK, REACTIONS, TIMES, TRAVELS, StopStarts
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.scenario import Scenario
from mbplugin.stopping.sweep.plan import SweepPlan, doubles, integers_below, words_for
from rod_arms import arm

pytest.importorskip("pyarrow")


def scenario_of(mech: Mechanism, brakes: list[Brake], **options: object) -> Scenario:
    n = len(mech.q_names)
    rng = np.random.default_rng(n)
    q, qd = rng.uniform(-1.0, 1.0, n), rng.uniform(-2.0, 2.0, n)
    return make_scenario(mech, q, qd, brakes=brakes, payload=2.0, **options)  # type: ignore[arg-type]


def brakes_of(n: int, torque: float) -> list[Brake]:
    """Brakes from strong to weak, the last one short-circuited, with delays that differ."""
    own = [
        Brake(f"j{k}", torque / (k + 1), viscous=0.5, delay=0.01 * k, engagement=0.02) for k in range(n - 1)
    ]
    last = f"j{n - 1}"
    return [*own, Brake(last, torque / n, short_circuit=2.0, short_circuit_rate=1.0, delay=0.03)]


def check(scenario: Scenario, starts: StopStarts, payloads: tuple[Payload, ...]) -> set[str]:
    """Compare stops of one call with the same stops one by one; return their outcomes."""
    arm_, alone = CompiledStop(scenario, patient=False), ArmStopper(CompiledStop(scenario, patient=False))
    stops = arm_.stops(starts, scenario.brakes, payloads)
    for k in range(len(starts)):
        share = float(starts.shares[k])
        carried = tuple(payload.scaled(share) for payload in payloads)
        one = alone.stop(starts.q[k], starts.qd[k], starts.brakes(k, scenario.brakes), carried)
        assert stops.outcomes[k] == one.outcome and stops.ended["evaluations"][k] == one.evaluations
        assert stops.times[k] == pytest.approx(one.time, abs=1e-9)
        rows = (
            (TIMES, one.times),
            (TRAVELS, one.travels),
            (REACTIONS, one.reaction_travels),
            (BACK, one.back),
        )
        for row, values in rows:
            assert stops.joints[k, row] == pytest.approx(values, abs=1e-9)
        assert stops.ended["tool_distance"][k] == pytest.approx(one.tool_distance, abs=1e-9)
        assert stops.ended["tool_displacement"][k] == pytest.approx(one.tool_displacement, abs=1e-9)
        assert stops.ended["clearance"][k] == pytest.approx(alone.arm.to_limits(), abs=1e-9)
    return set(stops.outcomes)


@pytest.mark.parametrize(
    ("torque", "limits", "expected"),
    [
        (80.0, None, {"stopped"}),
        (80.0, Freedom(lower=-0.9, upper=0.9), {"stopped", "limit_hit"}),
        (12.0, None, {"slipped_back"}),
        (1.0, None, {"not_stopped"}),
    ],
)
def test_stops_of_one_call_are_those_one_by_one(
    torque: float, limits: Freedom | None, expected: set[str]
) -> None:
    mech = arm((0.5, 0.4, 0.3), limits=limits)
    scenario = replace(scenario_of(mech, brakes_of(3, torque)), duration=1.0)
    plan = SweepPlan(scenario, 24, 3, None, 0.2, (0.0, 1.0), 0.3, 0.4, (0.0, 1.0))
    assert expected <= check(scenario, plan.draws(range(24)), scenario.actions.payloads)


#: Parts of a law that are zero if they are not stated, and those that are infinite: the scales of rates.
SIZES, SCALES = (tuple(part.name for part in fields(BrakeLaw) if part.default == own) for own in (0.0, inf))


@pytest.mark.parametrize("part", SIZES)
def test_every_part_of_a_law_brakes_side_by_side(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", 1)
    scenario = replace(scenario_of(arm((0.5, 0.4)), [Brake("j0", 20.0), Brake("j1", 10.0)]), duration=1.0)
    plan = SweepPlan(scenario, 4, 3, None, 0.2, (0.0, 1.0), 0.3, 0.4, (0.0, 1.0))
    starts, payloads = plan.draws(range(4)), scenario.actions.payloads
    plain = CompiledStop(scenario, patient=False).stops(starts, scenario.brakes, payloads)
    own = {**dict.fromkeys(SCALES, 1.0), part: 12.0}
    braked = tuple(replace(brake, law=replace(brake.law, **own)) for brake in scenario.brakes)
    check(replace(scenario, brakes=braked), starts, payloads)
    if part != "static":
        stops = CompiledStop(scenario, patient=False).stops(starts, braked, payloads)
        assert np.abs(stops.joints - plain.joints).max() > 1e-3


SIDE_BY_SIDE = pytest.mark.parametrize("least", [1, 10**9], ids=["side by side", "one after the other"])


@SIDE_BY_SIDE
def test_a_robot_at_rest_holds_at_once_and_a_payload_of_no_share_weighs_nothing(
    least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", least)
    scenario = scenario_of(arm((0.5, 0.4)), [Brake("j0", 90.0), Brake("j1", 40.0)])
    one = np.ones((2, 2))
    starts = StopStarts(np.tile(scenario.q, (2, 1)), np.zeros((2, 2)), one, one, np.array([0.0, 1.0]))
    assert check(scenario, starts, scenario.actions.payloads) == {"stopped"}


@SIDE_BY_SIDE
def test_the_brakes_and_payloads_of_the_robot_are_unchanged_after_many_stops(
    least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", least)
    scenario = scenario_of(arm((0.5, 0.4, 0.3)), brakes_of(3, 80.0))
    stops, fresh = CompiledStop(scenario), CompiledStop(scenario)
    plan = SweepPlan(scenario, 3, 1, None, 0.2, (0.5, 1.0), 0.3, 0.4, (0.0, 1.0))
    stops.stops(plan.draws(range(3)), scenario.brakes, scenario.actions.payloads)
    after, before = (one.stop(scenario.q, scenario.qd) for one in (stops, fresh))
    assert after.time == pytest.approx(before.time, abs=1e-12)
    assert after.travels == pytest.approx(before.travels, abs=1e-12)


@SIDE_BY_SIDE
def test_other_brakes_and_payloads_after_many_stops_are_those_of_a_fresh_robot(
    least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", least)
    later = [replace(brake, delay=(brake.delay or 0.0) + 0.02) for brake in brakes_of(3, 60.0)]
    scenario, others = (scenario_of(arm((0.5, 0.4, 0.3)), own) for own in (brakes_of(3, 80.0), later))
    plan = SweepPlan(scenario, 5, 1, None, 0.2, (0.5, 1.0), 0.3, 0.4, (0.0, 1.0))
    starts, payloads = plan.draws(range(5)), scenario.actions.payloads
    heavier = tuple(payload.scaled(2.0) for payload in payloads)
    used = CompiledStop(scenario)
    used.stops(starts, scenario.brakes, payloads)
    after, again = (used.stops(starts, others.brakes, heavier) for _ in range(2))
    fresh = CompiledStop(scenario).stops(starts, others.brakes, heavier)
    assert after.joints.tolist() == again.joints.tolist() == fresh.joints.tolist()
    assert np.abs(after.joints - used.stops(starts, scenario.brakes, payloads).joints).max() > 1e-4
    # one stop, with what the last call left
    left, alone = (one.stop(scenario.q, scenario.qd) for one in (used, CompiledStop(scenario)))
    assert left.times.tolist() == alone.times.tolist()
    bare = used.stops(starts, scenario.brakes, ())
    assert bare.joints.tolist() == CompiledStop(scenario).stops(starts, scenario.brakes, ()).joints.tolist()


@pytest.mark.long
@SIDE_BY_SIDE
def test_a_stop_too_stiff_for_the_loop_is_left_to_the_runner(
    least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its neighbours keep their results; as in a single stop, the runner computes this one."""
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", least)
    mech = arm((0.5, 0.4))
    scenario = scenario_of(mech, [Brake("j0", 90.0, viscous=1e7), Brake("j1", 40.0)])
    one = np.ones((2, 2))
    rates = np.stack((np.zeros(2), scenario.qd))
    starts = StopStarts(np.tile(scenario.q, (2, 1)), rates, one, one, np.ones(2))
    stops = CompiledStop(scenario).stops(starts, scenario.brakes, scenario.actions.payloads)
    alone = ArmStopper(CompiledStop(scenario))
    assert list(stops.others) == [1]
    for k in range(2):
        single = alone.stop(starts.q[k], starts.qd[k], scenario.brakes, scenario.actions.payloads)
        assert stops.summary(k).outcome == stops.outcomes[k] == single.outcome
        assert stops.times[k] == pytest.approx(single.time, abs=1e-9)
        assert stops.joints[k, TRAVELS] == pytest.approx(single.travels, abs=1e-9)


def test_the_mass_of_composite_bodies_is_a_number_and_that_of_many_payloads_an_array() -> None:
    mech = arm((0.5, 0.4))
    found = find_composites(mech)
    assert [type(one.mass) for one in found.composites] == [float, float]
    carried = carried_masses(mech, found.of_body, found.X_KL, 2)
    payload = Payload("b1", 2.0, np.array([0.1, 0.2, 0.3]), 0.1 * np.eye(3))
    shares = np.array([0.0, 0.3, 1.0])
    ((place, together),) = carried.with_shares((payload,), shares).items()
    for k, share in enumerate(shares.tolist()):
        alone = carried.with_payloads((payload.scaled(share),))[place]
        for one, many in zip(alone, together, strict=True):
            np.testing.assert_allclose(many[k], one, rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1, 2**32, 2**70 + 5, 2**200 + 3])
def test_numbers_are_those_of_numpy(seed: int) -> None:
    numbers = np.array([0, 1, 250, 9_999_999])
    words = words_for(seed, numbers, 30)
    for row, k in zip(words, numbers.tolist(), strict=True):
        assert doubles(row).tolist() == np.random.default_rng([seed, k]).random(30).tolist()
        for most in (2, 3, 1000, 2**31 + 11):
            found, accepted = integers_below(most, row[:1])
            if accepted[0]:
                assert found[0] == np.random.default_rng([seed, k]).integers(most)


@pytest.mark.parametrize("states", [0, 1, 5])
def test_starts_drawn_together_are_those_drawn_one_by_one(states: int) -> None:
    scenario = scenario_of(arm((0.5, 0.4, 0.3), limits=Freedom(lower=-1.0, upper=1.0)), brakes_of(3, 80.0))
    along = np.random.default_rng(2).uniform(-1.0, 1.0, (states, 6)) if states else None
    plan = SweepPlan(scenario, 40, 4, along, 0.3, (0.2, 1.0), 0.2, 0.3, (0.1, 1.0))
    starts = plan.draws(range(10, 40))
    for n, k in enumerate(range(10, 40)):
        q, qd, brakes, payloads = plan.draw(k)
        assert starts.q[n].tolist() == q.tolist() and starts.qd[n].tolist() == qd.tolist()
        assert starts.brakes(n, scenario.brakes) == brakes
        assert starts.shares[n] * scenario.actions.payloads[0].mass == payloads[0].mass


def test_a_start_whose_choice_among_states_is_rejected_twice_draws_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = scenario_of(arm((0.5, 0.4)), brakes_of(2, 80.0))
    plan = SweepPlan(scenario, 3, 4, np.random.default_rng(1).uniform(-1, 1, (5, 4)))
    expected = plan.draws(range(3))
    monkeypatch.setattr(
        "mbplugin.stopping.sweep.plan.integers_below",
        lambda most, words: (np.zeros(len(words), dtype=np.int64), np.zeros(len(words), dtype=bool)),
    )
    found = plan.draws(range(3))
    assert found.q.tolist() == expected.q.tolist() and found.qd.tolist() == expected.qd.tolist()


def ramped(category: int, torque: float, duration: float, limit: float) -> Scenario:
    """A stop whose ramps have every source: the call, ramps of fixed time and deceleration, limits, effort."""
    mech = arm((0.5, 0.4, 0.3, 0.3, 0.2), limits=Freedom(lower=-limit, upper=limit, effort=30.0))
    file_limit = replace(mech.pairs[3], freedoms=(replace(mech.pairs[3].freedoms[0], deceleration=7.0),))
    mech = replace(mech, pairs=(*mech.pairs[:3], file_limit, mech.pairs[4]))
    ramps = Ramp("j1", time=0.3), Ramp("j2", deceleration=9.0)
    scene = Scene(mech, state_at_home(mech), ramps=ramps)
    n = len(mech.q_names)
    q, qd = np.linspace(0.4, -0.4, n), np.linspace(2.0, -1.5, n)
    options: dict[str, Any] = {"decelerations": {"j4": 8.0}, "category": category}
    scenario = make_scenario(scene, q, qd, brakes=brakes_of(n, torque), payload=2.0, **options)
    return replace(scenario, duration=duration)


@pytest.mark.parametrize(
    ("category", "torque", "duration", "limit", "outcomes"),
    [
        (1, 400.0, 3.0, 9.0, {"stopped"}),
        (1, 60.0, 1.2, 1.2, {"stopped", "slipped_back", "limit_hit"}),
        (1, 400.0, 0.33, 9.0, {"not_stopped", "stopped"}),
        (2, 0.1, 3.0, 0.7, {"stopped", "limit_hit"}),
    ],
)
def test_controlled_stops_computed_together_are_those_computed_one_by_one(
    category: int, torque: float, duration: float, limit: float, outcomes: set[str]
) -> None:
    scenario = ramped(category, torque, duration, limit)
    plan = SweepPlan(scenario, 60, 8, None, 0.3, (0.0, 1.0), 0.3, 0.4, (0.0, 1.0))
    starts, payloads = plan.draws(range(60)), scenario.actions.payloads
    starts.qd[0] = 0.0
    starts.qd[1, 2:] = 0.0
    stopper = ArmStopper(CompiledStop(scenario))
    together = stopper.stops(starts, payloads)
    for k in range(60):
        carried = tuple(payload.scaled(float(starts.shares[k])) for payload in payloads)
        brakes = starts.brakes(k, scenario.brakes)
        one = stopper.stop(starts.q[k], starts.qd[k], brakes, carried)
        found = together.summary(k)
        assert found.outcome == one.outcome and found.evaluations == one.evaluations
        for name in ("time", "times", "travels", "reaction_travels", "back", "tool_distance"):
            np.testing.assert_allclose(getattr(found, name), getattr(one, name), atol=1e-12, rtol=1e-12)
        assert found.tool_displacement == pytest.approx(one.tool_displacement, abs=1e-12)
        assert together.ended["clearance"][k] == pytest.approx(stopper.arm.to_limits(), abs=1e-12)
    assert set(together.outcomes) == outcomes


def test_a_ramp_that_no_inertia_explains_is_refused_for_many_stops_as_for_one() -> None:
    scenario = ramped(2, 400.0, 3.0, 9.0)
    inertias = np.array([[1.0] * 5, [0.0] + [1.0] * 4])
    with pytest.raises(
        BadUsage, match="no ramp for joint 'j0': it states no deceleration, and moves an inertia of 0"
    ):
        joints = [brake.joint for brake in scenario.brakes]
        scenario.ramp_source.of_many(scenario.mech, joints, np.ones((2, 5)), lambda: inertias)


def starts_of(count: int, torque: float) -> tuple[Scenario, StopStarts, tuple[Payload, ...]]:
    """Random stops of an arm of three joints; the last of its brakes may slip."""
    scenario = replace(scenario_of(arm((0.5, 0.4, 0.3)), brakes_of(3, torque)), duration=1.0)
    plan = SweepPlan(scenario, count, 5, None, 0.2, (0.0, 1.0), 0.3, 0.4, (0.0, 1.0))
    return scenario, plan.draws(range(count)), scenario.actions.payloads


@pytest.mark.parametrize("torque", [80.0, 6.0])
def test_a_stop_does_not_depend_on_the_stops_in_the_other_lanes(
    torque: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the last bit, in any order, and alone in the lanes; one stop less than lanes leaves one of them empty."""
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", 1)
    scenario, starts, payloads = starts_of(21, torque)
    one = CompiledStop(scenario, patient=False)
    expected = one.stops(starts, scenario.brakes, payloads)
    order = np.random.default_rng(3).permutation(len(starts))
    for chosen in (order, order[: LANES - 1], order[:1]):
        stops = one.stops(starts.part(chosen), scenario.brakes, payloads)
        assert stops.ended.tobytes() == expected.ended[chosen].tobytes()
        assert stops.joints.tobytes() == expected.joints[chosen].tobytes()


def test_the_stops_of_a_tip_without_mass_are_computed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rate of such a stop can be found; its neighbours, whose tip carries a payload, keep their results."""
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", 1)
    scenario, starts, payloads = starts_of(12, 80.0)
    tip = scenario.mech.bodies[-1]
    massless = replace(tip, mass=0.0, I_C=np.zeros((3, 3)))
    mech = replace(scenario.mech, bodies=(*scenario.mech.bodies[:-1], massless))
    scenario = replace(scenario, mech=mech)
    # a mass beside the axis of the last joint
    payloads = (replace(payloads[0], com=np.array([0.2, 0.0, 0.0])),)
    starts.shares[:] = 1.0
    one = CompiledStop(scenario, patient=False)
    expected = one.stops(starts, scenario.brakes, payloads)
    assert not expected.is_broken.any()
    starts.shares[[2, 7]] = 0.0
    stops = one.stops(starts, scenario.brakes, payloads)
    assert np.flatnonzero(stops.is_broken).tolist() == [2, 7]
    kept = ~stops.is_broken
    assert stops.joints[kept].tobytes() == expected.joints[kept].tobytes()
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", 10**9)
    alone = one.stops(starts, scenario.brakes, payloads)
    assert stops.ended[~kept].tobytes() == alone.ended[~kept].tobytes()


def test_a_spring_between_two_bodies_is_not_computed_side_by_side() -> None:
    """A spring without length in one of the lanes would have to be left out there alone."""
    scenario, starts, payloads = starts_of(LEAST_IN_LANES, 80.0)
    tip = scenario.mech.bodies[-1].name
    spring = Spring("world", tip, np.zeros(3), np.zeros(3), stiffness=20.0, length=0.2, damping=1.0)
    pulled = replace(scenario, actions=replace(scenario.actions, springs=(spring,)))
    check(pulled, starts, payloads)
    arms = [CompiledStop(one, patient=False) for one in (scenario, pulled)]
    stops = [one.stops(starts, scenario.brakes, payloads) for one in arms]
    assert ["_lanes" in vars(one) for one in arms] == [True, False]
    assert np.abs(stops[0].joints - stops[1].joints).max() > 1e-3


@pytest.mark.parametrize("torque", [80.0, 6.0])
def test_stops_in_threads_are_the_same_to_the_last_bit(torque: float) -> None:
    scenario, starts, payloads = starts_of(25, torque)
    alone = CompiledStop(scenario, patient=False)
    expected = alone.stops(starts, scenario.brakes, payloads)
    for count in (1, 2, 5):
        helpers = [alone.another() for _ in range(count)]
        stops = alone.stops(starts, scenario.brakes, payloads, helpers)
        assert stops.ended.tobytes() == expected.ended.tobytes()
        assert stops.joints.tobytes() == expected.joints.tobytes()
    for jobs in (2, 4):
        stops = ArmStopper(CompiledStop(scenario, patient=False), jobs).stops(starts, payloads)
        assert stops.ended.tobytes() == expected.ended.tobytes() and stops.outcomes == expected.outcomes


def test_other_threads_run_while_stops_are_computed() -> None:
    scenario, starts, payloads = starts_of(600, 80.0)
    alone = CompiledStop(scenario, patient=False)
    alone.stops(starts.part(slice(0, 1)), scenario.brakes, payloads)
    begun, ended = threading.Event(), threading.Event()
    compute = alone._computed

    def computed(*arguments: Any) -> Any:
        begun.set()
        found = compute(*arguments)
        ended.set()
        return found

    alone._computed = computed  # type: ignore[method-assign]
    before = sys.getswitchinterval()
    # a thread keeps the interpreter until it gives it away
    sys.setswitchinterval(60.0)
    try:
        thread = threading.Thread(target=lambda: alone.stops(starts, scenario.brakes, payloads))
        thread.start()
        begun.wait()
        met_within = not ended.is_set()
        thread.join()
    finally:
        sys.setswitchinterval(before)
    assert met_within
