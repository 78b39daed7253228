"""Brakes that slide, hold and slip, against solutions by hand."""

from __future__ import annotations

from math import cos, log, pi, sin

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import mbplugin as mb
from mbplugin.errors import BadNumber, BadUsage, UnknownName
from mbplugin.model.brake_law import Brake
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.simulation.run import simulate
from mbplugin.simulation.trajectory.trajectory import Trajectory
from rod_arms import G, arm, two_rods


def kinds(motion: Trajectory) -> list[tuple[str, str]]:
    return [(event.kind, event.joint) for event in motion.events]


@pytest.mark.parametrize("readable", [False, True])
def test_constant_torque_by_hand(readable: bool) -> None:
    mech = arm((1.2,), 3.0, gravity=0.0)
    inertia, speed, torque, delay = 3.0 * 1.2**2 / 3, 2.5, 4.0, 0.07
    brakes = [Brake("j0", torque, delay=0.03, engagement=0.04)]
    motion = simulate(
        mech, 3.0, qd0={"j0": speed}, brakes=brakes, signal=0.5, rtol=1e-11, atol=1e-12, readable=readable
    )
    stick = next(event for event in motion.events if event.kind == "stick")
    assert stick.time == pytest.approx(0.5 + delay + inertia * speed / torque, abs=1e-9)
    angle = speed * (0.5 + delay) + inertia * speed**2 / (2 * torque)
    assert motion.q[-1, 0] == pytest.approx(angle, abs=1e-9)
    # what a projection leaves is rounding of rounding
    assert motion.qd[-1, 0] == 0.0
    assert kinds(motion) == [("brake", "j0"), ("stick", "j0.rz")]
    assert motion.dissipated[-1] == pytest.approx(0.5 * inertia * speed**2, rel=1e-9)


def test_viscous_part_is_exponential() -> None:
    mech = arm((1.0,), 2.0, gravity=0.0)
    inertia, speed, torque, viscous = 2.0 / 3, 6.0, 1.5, 0.8
    brakes = [{"joint": "j0", "torque": torque / 0.6, "viscous": viscous, "wear": 0.6}]
    motion = simulate(mech, 4.0, qd0={"j0": speed}, brakes=brakes, rtol=1e-11, atol=1e-12)
    end = inertia / viscous * log(1 + viscous * speed / torque)
    stick = next(event for event in motion.events if event.kind == "stick")
    assert stick.time == pytest.approx(end, abs=1e-9)
    assert motion.q[-1, 0] == pytest.approx(inertia * speed / viscous - torque * end / viscous, abs=1e-9)
    sliding = motion.time < end
    rate = (speed + torque / viscous) * np.exp(-viscous / inertia * motion.time) - torque / viscous
    assert np.abs(motion.qd[sliding, 0] - rate[sliding]).max() < 1e-9


def test_a_brake_too_weak_lets_a_rising_pendulum_slip_back() -> None:
    length, mass, torque, speed = 1.0, 2.0, 4.0, 3.0
    mech = arm((length,), mass)
    inertia, moment = mass * length**2 / 3, mass * G * length / 2
    motion = simulate(mech, 1.2, qd0={"j0": speed}, brakes=[Brake("j0", torque)], rtol=1e-11, atol=1e-12)

    def left(angle: float) -> float:
        return 0.5 * inertia * speed**2 - moment * sin(angle) - torque * angle

    top = brentq(left, 0, pi / 2, xtol=1e-14)
    assert moment * cos(top) > torque
    assert motion.q[:, 0].max() == pytest.approx(top, abs=1e-8)
    # on the way down the brake works against the other sense
    k = int(motion.q[:, 0].argmax()) + 5
    energy = 0.5 * inertia * motion.qd[k, 0] ** 2 + moment * sin(motion.q[k, 0])
    assert energy == pytest.approx(moment * sin(top) - torque * (top - motion.q[k, 0]), abs=1e-7)
    assert ("stick", "j0.rz") not in kinds(motion)[:2]


def test_a_brake_that_holds_more_than_it_slides_with() -> None:
    """Held at the top where the static part is enough and the sliding one is not."""
    mech = arm((1.0,), 2.0)
    moment = 2.0 * G / 2
    brakes = [Brake("j0", 0.8 * moment, static_torque=1.01 * moment)]
    motion = simulate(mech, 1.0, qd0={"j0": 1.0}, brakes=brakes)
    assert kinds(motion) == [("brake", "j0"), ("stick", "j0.rz")]
    brakes = [Brake("j0", 0.8 * moment)]
    motion = simulate(mech, 0.1, qd0={"j0": -1e-12}, brakes=brakes)
    fall = (moment - 0.8 * moment) / (2.0 / 3)
    assert motion.qd[-1, 0] == pytest.approx(-fall * 0.1, rel=1e-2)


def test_stopping_one_joint_makes_the_other_slip() -> None:
    """The outer rod rises and is braked, which takes load off the inner brake until it rests."""
    mech = arm((1.0, 1.0))
    start, rates = np.array([0.0, -0.9]), np.array([0.0, 4.0])
    sliding, static = np.array([14.0, 7.0]), np.array([16.0, 9.0])
    brakes = [Brake(f"j{k}", sliding[k], static[k]) for k in range(2)]
    motion = simulate(mech, 0.6, q0=start, qd0=rates, brakes=brakes, rtol=1e-11, atol=1e-12)

    # first the outer one slides alone, the inner one is held
    def outer(t: float, y: Array) -> list[float]:
        M, h = two_rods(np.array([0.0, y[0]]), np.array([0.0, y[1]]))
        return [y[1], (-sliding[1] - h[1]) / M[1, 1]]

    def rests(t: float, y: Array) -> float:
        return y[1]

    rests.terminal = True  # type: ignore[attr-defined]
    first = solve_ivp(outer, (0, 1), [-0.9, 4.0], "DOP853", rtol=1e-12, atol=1e-13, events=rests)
    for y in first.y.T:
        M, h = two_rods(np.array([0.0, y[0]]), np.array([0.0, y[1]]))
        assert abs(M[0, 1] * (-sliding[1] - h[1]) / M[1, 1] + h[0]) < static[0]
    stop, q1 = float(first.t[-1]), float(first.y[0, -1])
    M, h = two_rods(np.array([0.0, q1]), np.zeros(2))
    assert h[0] > static[0], "at rest the inner brake cannot hold"

    # then the inner one slides with the outer one held
    def inner(t: float, y: Array) -> list[float]:
        M, h = two_rods(np.array([y[0], q1]), np.array([y[1], 0.0]))
        assert abs(M[1, 0] * (sliding[0] - h[0]) / M[0, 0] + h[1]) < static[1]
        return [y[1], (sliding[0] - h[0]) / M[0, 0]]

    second = solve_ivp(inner, (stop, 0.6), [0.0, 0.0], "DOP853", rtol=1e-12, atol=1e-13, t_eval=[0.6])
    changes = [event for event in motion.events if event.kind in ("stick", "slip")]
    assert {(e.kind, e.joint) for e in changes} == {("stick", "j1.rz"), ("slip", "j0.rz")}
    assert all(event.time == pytest.approx(stop, abs=1e-9) for event in changes)
    assert motion.q[-1] == pytest.approx([second.y[0, -1], q1], abs=1e-9)
    assert motion.qd[-1] == pytest.approx([second.y[1, -1], 0.0], abs=1e-9)


def test_many_joints_come_to_rest_without_chatter() -> None:
    mech = arm((0.5,) * 6, gravity=G)
    rates = np.array([1.0, -2.0, 3.0, -4.0, 5.0, -6.0])
    brakes = [Brake(f"j{k}", 200.0 / (k + 1)) for k in range(6)]
    motion = simulate(mech, 2.0, qd0=rates, brakes=brakes)
    assert len(motion.events) < 40
    assert np.abs(motion.qd[-1]).max() < 1e-12
    lost = motion.energy[0] - motion.energy[-1]
    assert motion.dissipated[-1] == pytest.approx(lost, rel=1e-6)


@pytest.mark.parametrize(
    ("brakes", "signal", "error", "words"),
    [
        ([Brake("j7", 1.0)], None, UnknownName, "unknown joint 'j7'"),
        ([Brake("hand", 1.0)], None, BadUsage, "fixed joint 'hand', which has 0 freedoms"),
        ([Brake("j0", 1.0, delay=-0.1)], None, BadNumber, "delay of the brake of 'j0' is -0.1"),
        ([Brake("j0", 2.0, 1.0)], None, BadUsage, "holds 1 N·m and slides with 2"),
        ([Brake("j0")], None, BadUsage, "states no torque"),
        ([Brake("j0", 1.0), Brake("j0", 2.0)], None, BadUsage, "two brakes"),
        ([{"joint": "j0", "torqe": 1.0}], None, UnknownName, "unknown key 'torqe'"),
        ([{"torque": 1.0}], None, BadUsage, "names no joint"),
        ([Brake("j0", 1.0)], -1.0, BadUsage, "the brake signal is at -1 s"),
        (None, 0.1, BadUsage, "no brake"),
    ],
)
def test_brakes_that_cannot_be(
    brakes: list[Brake] | None, signal: float | None, error: type[mb.MbPluginError], words: str
) -> None:
    mech = arm((1.0,))
    hand = Body("hand", 0.1, np.zeros(3), 1e-3 * np.eye(3))
    fixed = Pair("hand", "fixed", "b0", "hand", Pose.identity(), Pose.identity())
    mech = Mechanism("arm", (*mech.bodies, hand), (*mech.pairs, fixed))
    with pytest.raises(error, match=words):
        simulate(mech, 1.0, brakes=brakes, signal=signal)


def test_a_brake_slips_where_the_load_outgrows_it() -> None:
    """The outer rod is braked as it falls; its load on the inner brake grows until that slips."""
    mech = arm((1.0, 1.0))
    brakes = [Brake("j0", 15.765), Brake("j1", 1.0)]
    start = np.array([0.0, 1.5])
    motion = simulate(mech, 1.0, q0=start, qd0=[0.0, -0.3], brakes=brakes, rtol=1e-11, atol=1e-12)

    def outer(t: float, y: Array) -> list[float]:
        M, h = two_rods(np.array([0.0, y[0]]), np.array([0.0, y[1]]))
        return [y[1], (1.0 - h[1]) / M[1, 1]]

    def slips(t: float, y: Array) -> float:
        M, h = two_rods(np.array([0.0, y[0]]), np.array([0.0, y[1]]))
        return float(abs(M[0, 1] * (1.0 - h[1]) / M[1, 1] + h[0]) - 15.765)

    slips.terminal = True  # type: ignore[attr-defined]
    fall = solve_ivp(outer, (0, 1), [1.5, -0.3], "DOP853", rtol=1e-12, atol=1e-13, events=slips)
    assert 0.02 < fall.t[-1] < 0.1
    slip = next(event for event in motion.events if event.kind == "slip")
    assert slip.joint == "j0.rz"
    assert slip.time == pytest.approx(float(fall.t[-1]), abs=1e-6)
