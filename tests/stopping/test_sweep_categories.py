"""Sweeps of categories 0, 1 and 2, of arms and of other robots: each row is the stop that estop computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.assembly import assemble
from mbplugin.model.brake_law import Brake, Ramp
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.scene import Scene, state_at_home
from mbplugin.stopping.batch import supports_compiled_stop
from mbplugin.stopping.run import estop, make_scenario
from mbplugin.stopping.scenario.start import Recording
from mbplugin.stopping.sweep.plan import SweepPlan
from mbplugin.stopping.sweep.run import part_columns
from places import ASSETS
from rod_arms import arm

pytest.importorskip("pyarrow")

BRAKES = [Brake(f"j{k}", 80.0 / (k + 1), viscous=1.0, delay=0.01, engagement=0.01) for k in range(3)]
START = np.array([0.2, 0.4, -0.3]), np.array([1.0, -1.5, 2.0])
RAMPS = {"j0": 12.0, "j1": 9.0, "j2": 15.0}


def plan_of(mech: Mechanism | Scene, category: int, count: int = 4, **options: object) -> SweepPlan:
    q, qd = options.pop("q", START[0]), options.pop("qd", START[1])
    scenario = make_scenario(mech, q, qd, category=category, **options)  # type: ignore[arg-type]
    share = (0.2, 1.0) if scenario.actions.payloads else (1.0, 1.0)
    return SweepPlan(scenario, count, 5, None, 0.2, (0.4, 1.0), 0.2, 0.3, share, count)


def check_rows(plan: SweepPlan, mech: Mechanism | Scene, accuracy: float, **options: object) -> None:
    """Compare every row of a plan with the single stop from what was drawn for it."""
    columns, s = part_columns(plan, 0), plan.scenario
    for k in range(plan.count):
        q, qd, brakes, payloads = plan.draw(k)
        given = [
            Brake(b.joint, b.law.sliding, viscous=b.law.viscous, delay=b.delay, engagement=b.engagement)
            for b in brakes
        ]
        own = {"payload": payloads, "limits": s.limits, "duration": s.duration}
        one = estop(mech, q, qd, category=s.category, brakes=given, **own, **options)  # type: ignore[arg-type]
        assert columns["outcome"][k] == one.outcome
        assert columns["time"][k] == pytest.approx(one.time, abs=accuracy)
        assert columns["tool_distance"][k] == pytest.approx(one.tool.distance, abs=accuracy, rel=1e-4)
        assert columns["tool_displacement"][k] == pytest.approx(one.tool.displacement, abs=accuracy)
        for joint in one.joints:
            assert columns[f"time {joint.name}"][k] == pytest.approx(joint.time, abs=accuracy)
            assert columns[f"travel {joint.name}"][k] == pytest.approx(joint.travel, abs=accuracy)


@pytest.mark.parametrize("category", [0, 1, 2])
def test_the_rows_of_an_arm_are_single_stops(category: int) -> None:
    mech, options = arm((0.5, 0.4, 0.3)), {} if category == 0 else {"decelerations": RAMPS}
    plan = plan_of(mech, category, brakes=BRAKES, payload=3.0, **options)
    assert supports_compiled_stop(plan.scenario)
    check_rows(plan, mech, 2e-5, **options)


def test_a_ramp_of_fixed_time_follows_the_drawn_rate() -> None:
    """Category 2 ends after the reaction and the ramp, whatever the rate; the travel is the closed form."""
    mech = arm((0.5, 0.4, 0.3))
    ramps = tuple(Ramp(f"j{k}", time=0.3 + 0.1 * k, reaction=0.05) for k in range(3))
    scene = Scene(mech, state_at_home(mech), ramps=ramps)
    plan = plan_of(scene, 2, 12, brakes=BRAKES)
    columns = part_columns(plan, 0)
    for k in range(plan.count):
        qd, brakes = plan.draw(k)[1], plan.draw(k)[2]
        for n, brake in enumerate(brakes):
            assert columns[f"time j{n}"][k] == pytest.approx(brake.delay + 0.3 + 0.1 * n, abs=1e-12)
            travel = qd[n] * (brake.delay + 0.5 * (0.3 + 0.1 * n))
            assert columns[f"travel j{n}"][k] == pytest.approx(travel, abs=1e-12)
        assert columns["time"][k] == pytest.approx(max(b.delay for b in brakes[2:]) + 0.5, abs=1e-12)


def husky() -> tuple[Scene, dict[str, object]]:
    scene = mb.load(ASSETS / "husky.scene.toml")
    wheels = [name for name in scene.mechanism.qd_names if "wheel" in name]
    rolling = {scene.mechanism.qd_names[0]: 1.0, **dict.fromkeys(wheels, 1.0 / 0.17775)}
    brakes = [Brake(wheel, 20.0, delay=0.02, engagement=0.05) for wheel in wheels]
    return scene, {"q": None, "qd": rolling, "brakes": brakes}


def swinging() -> tuple[Mechanism, dict[str, object]]:
    """An arm whose last joint has no brake, only friction that lets it rest."""
    mech = arm((0.5, 0.4, 0.3), gravity=0.0, limits=Freedom(damping=2.0, friction=0.5))
    return mech, {"brakes": BRAKES[:2]}


def four_bar() -> tuple[Scene, dict[str, object]]:
    scene = mb.load(ASSETS / "four_bar.scene.toml")
    return scene, {"q": None, "qd": {"j0": 1.0}, "brakes": [Brake("j0", 30.0), Brake("j1", 5.0, delay=0.02)]}


def closing() -> tuple[Scene, dict[str, object]]:
    """The brake of the joint that closes the loop: it has no coordinate and no columns."""
    scene, options = four_bar()
    return scene, options | {"brakes": [Brake("j3", 8.0), Brake("j0", 30.0)]}


@pytest.mark.long
@pytest.mark.bullet
@pytest.mark.parametrize("robot", [husky, swinging, four_bar, closing])
@pytest.mark.parametrize("category", [0, 1])
def test_the_rows_of_other_robots_are_single_stops(
    robot: Callable[[], tuple[Mechanism | Scene, dict[str, object]]], category: int
) -> None:
    """A vehicle on wheels, a joint without a brake, a loop: none of them runs through the compiled loop."""
    mech, options = robot()
    ramps = {}
    if category:
        ramps["decelerations"] = {brake.joint: 8.0 for brake in options["brakes"]}  # type: ignore[attr-defined]
    plan = plan_of(mech, category, 3, **options, **ramps)
    assert not supports_compiled_stop(plan.scenario)
    check_rows(plan, mech, 1e-9, **ramps)


def test_drawn_states_close_their_loops_and_differ() -> None:
    scene, options = four_bar()
    plan = plan_of(scene, 0, 30, **options)
    drawn = np.array([plan.draw(k)[0] for k in range(plan.count)])
    assert np.ptp(drawn[:, 0]) > 0.1, "the crank is drawn about where it is"
    for q in drawn:
        assert max(assemble(scene.mechanism, q).residual_file.values()) < 1e-9


@pytest.mark.bullet
def test_a_free_base_stays_where_it_is() -> None:
    scene, options = husky()
    plan = plan_of(scene, 0, 5, **options)
    for k in range(plan.count):
        q = plan.draw(k)[0]
        assert q[:7].tolist() == plan.scenario.q[:7].tolist()
        assert (np.abs(q[7:] - plan.scenario.q[7:]) > 1e-6).all()


def test_what_changes_a_stop_makes_another_sweep() -> None:
    mech = arm((0.5, 0.4, 0.3))
    plans = [
        plan_of(mech, 0, brakes=BRAKES),
        plan_of(mech, 1, brakes=BRAKES, decelerations=RAMPS),
        plan_of(mech, 2, brakes=BRAKES, decelerations=RAMPS),
        plan_of(mech, 2, brakes=BRAKES, decelerations=RAMPS | {"j2": 7.0}),
        plan_of(arm((0.5, 0.4, 0.3), gravity=1.62), 0, brakes=BRAKES),
        plan_of(mech, 0, brakes=[replace(BRAKES[0], viscous=2.0), *BRAKES[1:]]),
        plan_of(mech, 0, 5, brakes=BRAKES),
    ]
    assert len({plan.fingerprint for plan in plans}) == len(plans)
    assert plan_of(arm((0.5, 0.4, 0.3)), 0, brakes=BRAKES).fingerprint == plans[0].fingerprint


def test_a_sweep_of_a_robot_without_brakes_assumes_them() -> None:
    plan = plan_of(arm((0.5, 0.4, 0.3)), 0)
    assert plan.scenario.taken[0].startswith("No brake and no effort limit is stated: assumed are")
    assert all(brake.assumed for brake in plan.scenario.brakes)


def test_a_robot_at_rest_whose_brake_is_too_weak_swings_and_does_not_slip_back() -> None:
    """Its brake engages at the signal, before the delay of its drive: it has no sense in which to slip back."""
    mech = arm((0.5,))
    brakes, ramps = [Brake("j0", 1.0, delay=0.1)], {"j0": 5.0}
    plan = plan_of(mech, 1, 3, q=np.zeros(1), qd=np.zeros(1), brakes=brakes, decelerations=ramps)
    check_rows(plan, mech, 2e-5, decelerations=ramps)
    stop = estop(mech, np.zeros(1), np.zeros(1), category=1, brakes=brakes, decelerations=ramps)
    joint = stop.joints[0]
    assert (stop.outcome, joint.back, joint.reaction_travel) == ("stopped", 0.0, 0.0)
    # past the lowest point and back, to where the brake holds: 2.45 N·m cos q within 1 N·m
    assert joint.travel < -0.5 and abs(9.81 * 0.25 * np.cos(joint.travel)) < 1.0


def test_in_category_2_the_drives_hold_what_the_brakes_could_not() -> None:
    weak = [Brake(f"j{k}", 0.01) for k in range(3)]
    outcomes = {}
    for category in (1, 2):
        plan = plan_of(arm((0.5, 0.4, 0.3)), category, brakes=weak, decelerations=RAMPS)
        plan = replace(plan, scenario=replace(plan.scenario, duration=1.0))
        outcomes[category] = set(part_columns(plan, 0)["outcome"])
    assert outcomes[2] == {"stopped"}
    assert "stopped" not in outcomes[1], "0.01 N·m hold no arm against gravity"


@pytest.mark.long
@pytest.mark.bullet
def test_a_motion_of_a_vehicle_gives_its_states() -> None:
    """A free base has seven coordinates and six rates. What is not recorded keeps its place, and rolls along:

    four ideal wheels leave the way straight on, so that all turn alike, and the base moves at r ω.
    """
    scene, options = husky()
    wheel, time = "front_left_wheel", np.linspace(0.0, 1.0, 5)
    recording = Recording("motion.csv", time, {wheel: 2.0 * time}, {})
    mech = scene.mechanism
    plan = plan_of(scene, 0, 6, **options)
    plan = replace(
        plan,
        states=recording.states(mech, plan.scenario.q),
        recorded=tuple(recording.q),
        q_spread=0.0,
        speed_range=(1.0, 1.0),
    )
    rolling = np.array([2.0 if "wheel" in name else 0.0 for name in mech.qd_names])
    rolling[0] = 2.0 * 0.17775
    for k in range(plan.count):
        q, qd = plan.draw(k)[:2]
        assert q[:7].tolist() == plan.scenario.q[:7].tolist() and len(qd) == len(mech.qd_names)
        assert q[mech.q_names.index(wheel)] in (2.0 * time).tolist()
        assert qd[mech.qd_names.index(wheel)] == pytest.approx(2.0, rel=1e-12)
        assert qd == pytest.approx(rolling, abs=1e-6)
    assert set(part_columns(plan, 0)["outcome"]) == {"stopped"}
