"""Limits, functions of the user, dense output and samples at equal intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbplugin.model.mechanism import Driver, Lock, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.simulation.options import UserEvent
from mbplugin.simulation.passing_marks import release_words
from mbplugin.simulation.run import simulate
from models import body_at, pose_at


def sliders(count: int = 1, gravity: float = -9.81, **freedom: float) -> Mechanism:
    """Unit masses sliding up and down along z, side by side."""
    pairs = tuple(
        Pair(
            f"s{k}",
            "prismatic",
            "world",
            f"b{k}",
            pose_at(np.array([k, 0.0, 0.0])),
            Pose.identity(),
            freedoms=(Freedom(**freedom),),
        )
        for k in range(count)
    )
    bodies = tuple(body_at(f"b{k}") for k in range(count))
    return Mechanism("sliders", bodies, pairs, gravity=np.array([0.0, 0.0, gravity]))


@pytest.mark.parametrize("integrator", ["dop853", "rk4", "rodas5p"])
@pytest.mark.parametrize("readable", [False, True])
def test_a_limit_stops_the_motion_where_it_is_hit(integrator: str, readable: bool) -> None:
    mech = sliders(lower=-1.0, upper=2.0)
    motion = simulate(mech, 3.0, limits="stop", integrator=integrator, readable=readable, step=0.05)
    assert motion.outcome == "limit_hit"
    assert motion.time[-1] == pytest.approx(np.sqrt(2 / 9.81), abs=1e-9)
    assert motion.q[-1] == pytest.approx([-1.0], abs=1e-9)
    assert [e.kind for e in motion.events] == ["limit"]
    assert motion.energy == pytest.approx(motion.energy[0], abs=1e-9)
    assert "passes its lower limit -1 at -4.429 per second" in motion.events[0].text


def test_limits_are_recorded_or_ignored() -> None:
    mech = sliders(lower=-1.0, upper=2.0)
    # up to 2.5 m and down again: out at 2 m, then in, then out at −1 m
    speed = np.sqrt(2 * 9.81 * 2.5)
    motion = simulate(mech, 2.0, qd0={"s0": speed})
    assert motion.outcome == "completed"
    expected = [(speed - np.sqrt(2 * 9.81 * 0.5)) / 9.81, (speed + np.sqrt(2 * 9.81 * 3.5)) / 9.81]
    assert [e.time for e in motion.events] == pytest.approx(expected, abs=1e-9)
    assert simulate(mech, 2.0, qd0={"s0": speed}, limits="ignore").events == ()


def test_functions_are_found_in_their_directions_and_stop_where_told() -> None:
    mech = sliders(gravity=0.0)

    def wave(t: float, q: Array, qd: Array) -> float:
        return float(np.sin(q[0]))

    events = [
        UserEvent(wave, "both"),
        UserEvent(wave, "up", direction=1),
        UserEvent(wave, "down", direction=-1),
    ]
    motion = simulate(mech, 10.0, qd0={"s0": 1.0}, events=events, step=0.7)
    times = {name: [e.time for e in motion.events if e.joint == name] for name in ("both", "up", "down")}
    assert times["both"] == pytest.approx(np.pi * np.array([1, 2, 3]), abs=1e-9)
    assert times["up"] == pytest.approx([2 * np.pi], abs=1e-9)
    assert times["down"] == pytest.approx(np.pi * np.array([1, 3]), abs=1e-9)
    last = UserEvent(wave, "last", terminal=True, direction=1)
    motion = simulate(mech, 10.0, qd0={"s0": 1.0}, events=[last], step=0.7)
    assert (motion.outcome, motion.time[-1]) == ("event", pytest.approx(2 * np.pi, abs=1e-9))


def test_two_events_in_one_step_and_two_at_once_are_all_told_in_order() -> None:
    mech = sliders(2, gravity=0.0, lower=-1.0, upper=1.0)
    # both limits within one long step, the first slider twice as fast
    motion = simulate(mech, 4.0, qd0={"s0": 2.0, "s1": 1.0}, step=4.0)
    assert [(e.joint, e.time) for e in motion.events] == [
        ("s0", pytest.approx(0.5, abs=1e-9)),
        ("s1", pytest.approx(1.0, abs=1e-9)),
    ]
    motion = simulate(mech, 4.0, qd0={"s0": 1.0, "s1": -1.0})
    assert sorted((e.joint, e.time) for e in motion.events) == [
        ("s0", pytest.approx(1.0, abs=1e-9)),
        ("s1", pytest.approx(1.0, abs=1e-9)),
    ]
    first = simulate(mech, 4.0, qd0={"s0": 2.0, "s1": 1.0}, limits="stop", step=4.0)
    assert first.time[-1] == pytest.approx(0.5, abs=1e-9)
    assert len(first.events) == 1
    event = UserEvent(lambda t, q, qd: q[0] - 0.999, "near", terminal=True)
    both = simulate(mech, 4.0, qd0={"s0": 1.0}, limits="stop", events=[event])
    assert (both.outcome, both.time[-1]) == ("event", pytest.approx(0.999, abs=1e-9))


def test_a_touch_without_a_crossing_is_no_miss_of_a_double_crossing() -> None:
    """Up through the limit and back within one step: both crossings lie inside it."""
    mech = sliders(upper=1.0, lower=-100.0)
    speed = np.sqrt(2 * 9.81 * 1.0001)
    motion = simulate(mech, 1.0, qd0={"s0": speed})
    assert [e.joint for e in motion.events] == ["s0"]
    assert motion.events[0].time == pytest.approx((speed - np.sqrt(2 * 9.81 * 0.0001)) / 9.81, abs=1e-8)


def pendulum() -> Mechanism:
    """A unit mass on a hinge along y, 1 m from it."""
    body = replace(body_at("bob"), p_LC=np.zeros(3), I_C=1e-3 * np.eye(3))
    pair = Pair(
        "hinge",
        "revolute",
        "world",
        "bob",
        pose_at(np.zeros(3), (0, 1, 0)),
        pose_at(np.array([0.0, 0.0, 1.0]), (0, 1, 0)),
        freedoms=(Freedom(damping=0.1),),
    )
    return Mechanism("pendulum", (body,), (pair,), gravity=np.array([0, 0, -9.81]))


@pytest.mark.parametrize(("integrator", "close"), [("dop853", 2e-7), ("rk4", 1e-6), ("rodas5p", 1e-6)])
def test_samples_at_equal_intervals_lie_on_the_motion(integrator: str, close: float) -> None:
    mech = pendulum()
    step = 1e-2 if integrator == "rk4" else None
    motion = simulate(mech, 3.0, q0={"hinge": 1.0}, integrator=integrator, samples=60, step=step)
    assert motion.time == pytest.approx(np.linspace(0, 3, 61), abs=1e-12)
    exact = solve_ivp(
        lambda t, y: [y[1], (-0.1 * y[1] - 9.81 * np.sin(y[0])) / 1.001, 0.1 * y[1] ** 2],
        (0, 3),
        [1.0, 0.0, 0.0],
        t_eval=motion.time,
        rtol=1e-12,
        atol=1e-13,
    )
    assert np.abs(motion.q[:, 0] - exact.y[0]).max() < close
    assert np.abs(motion.qd[:, 0] - exact.y[1]).max() < 10 * close
    assert np.abs(motion.dissipated - exact.y[2]).max() < 10 * close
    assert motion.energy + motion.dissipated == pytest.approx(motion.energy[0], abs=20 * close)
    acceleration = (-0.1 * exact.y[1] - 9.81 * np.sin(exact.y[0])) / 1.001
    assert np.abs(motion.qdd[:, 0] - acceleration).max() < 10 * close


def test_samples_keep_both_sides_of_a_jump() -> None:
    mech = sliders(2, gravity=-1.0)
    motion = simulate(mech, 1.0, samples=4, locks=[Lock("s1", at=0.6)])
    assert motion.time == pytest.approx([0, 0.25, 0.5, 0.6, 0.75, 1.0]) or motion.time == pytest.approx(
        [0, 0.25, 0.5, 0.6, 0.6, 0.75, 1.0]
    )
    assert motion.qd[-1] == pytest.approx([-1.0, 0.0], abs=1e-12)
    assert motion.segment[-1] == 1
    assert motion.q[:, 0] == pytest.approx(-0.5 * motion.time**2, abs=1e-12)


@pytest.mark.parametrize("readable", [False, True])
def test_a_driven_joint_that_rests_on_its_end_stop_does_not_pass_it(readable: bool) -> None:
    # the rest of the arm shakes the joint by rounding errors, either way
    mech = sliders(2, lower=0.0, upper=1.0)
    mech = replace(
        mech,
        pairs=(mech.pairs[0], replace(mech.pairs[1], body_a="b0")),
        drivers=(Driver("d", "s1"),),
    )
    profiles = {"d": lambda t: (1e-13 * np.sin(40 * t), 4e-12 * np.cos(40 * t), -1.6e-10 * np.sin(40 * t))}
    motion = simulate(mech, 0.3, qd0={"s0": 3.0}, profiles=profiles, limits="stop", readable=readable)
    assert motion.outcome == "completed"
    assert motion.events == ()


def test_events_name_the_joint_and_of_several_freedoms_which() -> None:
    """A slider that also turns comes to rest in each freedom by itself; the drive of a hinge is switched off."""
    rough = Freedom(friction=1.0)
    pair = Pair("s", "cylindrical", "world", "b", Pose.identity(), Pose.identity(), freedoms=(rough, rough))
    mech = Mechanism("slide", (body_at("b"),), (pair,), gravity=np.zeros(3))
    motion = simulate(mech, 2.0, qd0={"s.tz": 1.0, "s.rz": 0.1})
    found = {event.sentence for event in motion.events if event.kind == "stick"}
    assert found == {"s (translation along z) starts to stick", "s (rotation about z) starts to stick"}
    assert {event.joint for event in motion.events} == {"s.tz", "s.rz"}
    assert release_words("drive j1") == "the drive of j1 is switched off"
    assert release_words("lock j1") == "the lock of j1 is released"
    assert release_words("belt") == "belt is released"


def test_the_events_of_a_joint_of_one_freedom_have_its_name() -> None:
    motion = simulate(sliders(gravity=0.0, friction=1.0), 2.0, qd0={"s0": 1.0})
    assert [event.sentence for event in motion.events] == ["s0 starts to stick"]
