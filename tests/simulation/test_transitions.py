"""What closes and opens along a motion: grippers, clutches, wheels, locks; and what cannot close."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from locked_mechanisms import pendulum_3r, two_arms_one_part
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.model.mechanism import WORLD, Body, Coupling, Driver, Lock, Mechanism, Rolling, Term
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose, quaternion_from_rotation, rotation_from_vector
from mbplugin.simulation.impact import (
    FORMS,
    TimedConstraint,
    activate,
    state_in,
    with_constraints,
    without_constraints,
)
from models import pose_at
from transition_cases import dead_centre, flywheels

PRECISE: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13}
REST = np.zeros(3)


def arm_and_part(part_at: Array) -> Mechanism:
    """An arm of 2 kg about z, and a free part of 3 kg that its closure ``grip`` takes hold of."""
    arm = Body("arm", 2.0, np.array([0.5, 0, 0]), np.diag([0.1, 0.2, 0.3]))
    part = Body("part", 3.0, REST, np.diag([0.2, 0.3, 0.4]))
    pairs = (
        Pair("shoulder", "revolute", WORLD, "arm", Pose.identity(), Pose.identity()),
        Pair("grip", "fixed", "arm", "part", pose_at([1.0, 0, 0]), Pose.identity(), closure=True),
    )
    return Mechanism("gripper", (arm, part), pairs, gravity=REST)


@pytest.mark.parametrize("offset", [0.0, 0.25])
def test_a_gripper_takes_a_part_and_throws_it(offset: float) -> None:
    """Angular momentum about the shoulder by hand; the part then flies on as it was let go."""
    mech = arm_and_part(REST)
    r = 1.0 + offset
    q0 = {"part.x": r, "part.qw": 1.0, "shoulder": 0.0}
    start: dict[str, Any] = {"q0": q0, "qd0": {"shoulder": 2.0}}
    motion = mb.simulate(mech, 0.5, **start, holds=[TimedConstraint("grip", 0.0, until=0.2)], **PRECISE)
    closing, opening = motion.events
    assert (closing.time, closing.joint, opening.kind, opening.time) == (0.0, "grip", "release", 0.2)
    J = 2.0 * 0.25 + 0.3
    after = J * 2.0 / (J + 3.0 * r**2 + 0.4)
    rates = dict(zip(motion.mechanism.qd_names, closing.velocity_after, strict=True))
    assert rates["shoulder"] == pytest.approx(after, rel=1e-12)
    assert (rates["part.vy"], rates["part.wz"]) == pytest.approx((after * r, after), rel=1e-12)
    assert closing.impulse["grip", "ty"] == pytest.approx(3.0 * after * r, rel=1e-12)
    assert opening.velocity_before == pytest.approx(opening.velocity_after, abs=0)
    # held where it was found, although the jaw is elsewhere
    k = int(np.flatnonzero(motion.time == 0.2)[-1])
    angle = after * 0.2
    at = dict(zip(motion.mechanism.q_names, motion.q[k], strict=True))
    assert (at["part.x"], at["part.y"]) == pytest.approx((r * np.cos(angle), r * np.sin(angle)), abs=1e-11)
    end = dict(zip(motion.mechanism.q_names, motion.q[-1], strict=True))
    v = after * r * np.array([-np.sin(angle), np.cos(angle)])
    assert end["part.x"] == pytest.approx(at["part.x"] + 0.3 * v[0], abs=1e-11)
    assert end["part.y"] == pytest.approx(at["part.y"] + 0.3 * v[1], abs=1e-11)
    # centripetal force while it holds, nothing before and after
    grip = motion.reactions("grip")
    held = motion.segment == 1
    force = np.linalg.norm(grip[held][:, :3], axis=1)
    assert force == pytest.approx(3.0 * after**2 * r, rel=1e-9)
    assert not grip[~held].any() and motion.uniqueness("grip").all()


def test_a_hinged_jaw_turns_about_its_own_axis_however_the_part_lies() -> None:
    """The part lies askew in the jaw; held, it turns about the jaw's z: its pose relative to it is Rz·R₀."""
    mech = arm_and_part(REST)
    mech = replace(mech, pairs=(mech.pairs[0], mech.pairs[1].retyped("revolute")))
    rest, _ = without_constraints(mech, [TimedConstraint("grip")])
    askew = rotation_from_vector(np.array([0.7, -0.4, 0.2]))
    q0 = np.concatenate(([1.1, 0.1, 0.05], quaternion_from_rotation(askew), [0.0]))
    qd0 = np.array([0.3, 0.2, -0.4, 0.5, 0.1, 2.0, 1.5])
    motion = mb.simulate(mech, 0.8, q0=q0, qd0=qd0, holds=[TimedConstraint("grip", 0.1)], **PRECISE)
    held = [forward(rest, q) for q in motion.q[motion.segment == 1]]
    relative = [poses.R_WL[0].T @ poses.R_WL[1] @ (held[0].R_WL[0].T @ held[0].R_WL[1]).T for poses in held]
    assert max(np.abs(R[:, 2] - [0.0, 0.0, 1.0]).max() for R in relative) < 1e-10
    assert abs(relative[-1][0, 1]) > 0.3
    jaw = [poses.of(0).apply(np.array([1.0, 0.0, 0.0])) for poses in held]
    taken = held[0].of(1).inverse().apply(jaw[0])
    assert max(np.abs(X.of(1).apply(taken) - p).max() for X, p in zip(held, jaw, strict=True)) < 1e-10
    assert np.ptp(motion.energy[motion.segment == 1]) < 1e-9


def test_two_arms_take_one_part() -> None:
    """The second grip closes a redundant loop; from there on it is the mechanism with both grips."""
    mech, q = two_arms_one_part()
    holds = [TimedConstraint("grip_l", 0.1), TimedConstraint("grip_r", 0.2)]
    rest, _ = without_constraints(mech, holds)
    q0, _ = state_in(mech, q, np.zeros(len(mech.qd_names)), rest)
    rates = np.random.default_rng(0).normal(size=len(rest.qd_names))
    rates[2:5] = 0.0  # all in the plane
    motion = mb.simulate(mech, 0.6, q0=q0, qd0=0.3 * rates, holds=holds, **PRECISE)
    assert motion.outcome == "completed" and motion.active == ((), ("grip_l",), ("grip_l", "grip_r"))
    first, second = motion.events
    assert not first.open_impulses
    assert set(second.open_impulses) >= {("grip_r", "tz"), ("grip_r", "rx"), ("grip_r", "ry")}
    assert ("grip_r", "tx") not in second.open_impulses
    for segment in range(3):
        assert np.ptp(motion.energy[motion.segment == segment]) < 1e-9
    k = int(np.flatnonzero(motion.segment == 2)[0])
    both = with_constraints(rest, motion.held)
    other = mb.simulate(both, 0.4, q0=motion.q[k], qd0=motion.qd[k], **PRECISE)
    assert not other.notes
    assert motion.q[-1] == pytest.approx(other.q[-1], abs=1e-8)
    # and the jump is that of the general condition there
    equations = joint_equations(both, motion.q[k], second.velocity_before)
    found = activate(equations, None, ["grip_r"])
    assert found.qd_plus == pytest.approx(second.velocity_after, abs=1e-10)
    assert set(found.open_impulses) == set(second.open_impulses)
    for label, value in second.impulse.items():
        if label not in second.open_impulses:
            assert found.impulse[label] == pytest.approx(value, abs=1e-8)


def test_coordinates_stay_when_constraints_come_and_go() -> None:
    mech, q = two_arms_one_part()
    rng = np.random.default_rng(1)
    rest, held = without_constraints(mech, [TimedConstraint("grip_l"), TimedConstraint("grip_r")])
    q0, _ = state_in(mech, q, rng.normal(size=len(mech.qd_names)), rest)
    expected = forward(rest, q0)
    for poses in (forward(mech, q), forward(with_constraints(rest, held), q0)):
        assert poses.p_WC == pytest.approx(expected.p_WC, abs=1e-14)
        assert np.abs(poses.R_WL - expected.R_WL).max() < 1e-14


@pytest.mark.parametrize("ratio", [1.0, -2.5])
def test_a_clutch_engages_and_lets_go(ratio: float) -> None:
    """ω₀ = ratio·ω₁ afterwards; J₀Δω₀ = Λ, J₁Δω₁ = −ratio·Λ."""
    clutch = Coupling("clutch", "gear", (Term("h0", "rz", 1.0), Term("h1", "rz", -ratio)), offset=0.7)
    mech = replace(flywheels((2.0, 3.0)), couplings=(clutch,))
    hold = TimedConstraint("clutch", 0.5, until=0.8)
    motion = mb.simulate(mech, 1.0, q0={"h0": 0.2}, qd0={"h0": 4.0, "h1": 1.0}, holds=[hold], **PRECISE)
    event = motion.events[0]
    push = (ratio * 1.0 - 4.0) / (1 / 2.0 + ratio**2 / 3.0)
    assert event.impulse["clutch", "c"] == pytest.approx(push, rel=1e-12)
    after = (4.0 + push / 2.0, 1.0 - ratio * push / 3.0)
    assert event.velocity_after == pytest.approx(after, rel=1e-12)
    # it has kept the angle at which it closed
    assert motion.q[-1] == pytest.approx([2.2 + 0.5 * after[0], 0.5 + 0.5 * after[1]], abs=1e-11)


def test_a_motor_takes_a_joint_along() -> None:
    """A driver that begins to hold: b₊ is not zero, and energy can rise."""
    mech = replace(flywheels((2.0,)), drivers=(Driver("motor", "h0", rate=3.0),))
    motion = mb.simulate(mech, 1.0, qd0={"h0": 1.0}, holds=[TimedConstraint("motor", 0.25)], **PRECISE)
    (event,) = motion.events
    assert event.velocity_after == pytest.approx([3.0]) and event.impulse[
        "motor", "rz_drive"
    ] == pytest.approx(4.0)
    assert motion.q[-1] == pytest.approx([0.25 + 0.75 * 3.0], abs=1e-11)


@pytest.mark.parametrize("spin", [0.0, 12.0])
def test_a_wheel_that_stops_slipping(spin: float) -> None:
    """A disc that slides along the ground, its rim then held: m Δv = Λ, J Δω = −Λ r, v = ω r."""
    m, r, J = 2.0, 0.3, 0.5 * 2.0 * 0.09
    disc = Body("disc", m, REST, np.diag([0.05, J, 0.05]))
    wheel = Rolling("wheel", "disc", REST, np.array([0.0, 1.0, 0.0]), r)
    mech = Mechanism("disc", (disc,), pfaffians=(wheel,))
    state: dict[str, Any] = {"q0": {"disc.z": r, "disc.qw": 1.0}, "qd0": {"disc.vx": 2.0, "disc.wy": spin}}
    motion = mb.simulate(mech, 1.0, **state, holds=[TimedConstraint("wheel", 0.4, until=0.7)], **PRECISE)
    rates = dict(zip(motion.joint_names, motion.events[0].velocity_after, strict=True))
    v = (m * 2.0 + J * spin / r) / (m + J / r**2)
    assert (rates["disc.vx"], rates["disc.wy"]) == pytest.approx((v, v / r), rel=1e-12)
    before = motion.qd[motion.segment == 0]
    assert before[-1, 0] == pytest.approx(2.0) and before[-1, 4] == pytest.approx(spin)
    assert motion.q[-1][:3] == pytest.approx([0.8 + 0.6 * v, 0.0, r], abs=1e-11)
    # the plane carries the weight all the time
    normal = motion.multipliers("wheel")[:, 0]
    assert normal == pytest.approx(m * 9.81, rel=1e-9)


def test_a_lock_that_opens_again() -> None:
    mech, q = pendulum_3r()
    lock = Lock("j2", at=0.2, until=0.4)
    motion = mb.simulate(mech, 0.6, q0=q, locks=[lock, Lock("j2", at=0.5)], **PRECISE)
    assert [(e.kind, e.time) for e in motion.events] == [("lock", 0.2), ("release", 0.4), ("lock", 0.5)]
    angle = motion.q[:, 1]
    assert np.ptp(angle[motion.segment == 1]) < 1e-12 and np.ptp(angle[motion.segment == 2]) > 0.01
    released = motion.events[1]
    assert released.velocity_after == pytest.approx(released.velocity_before, abs=0)
    for segment in range(4):
        assert np.ptp(motion.energy[motion.segment == segment]) < 1e-8


def test_the_naive_shortcut_is_another_motion() -> None:
    mech, q = pendulum_3r()
    locks = [Lock("j2", 0.8), Lock("j3", 1.3)]
    naive = mb.simulate(mech, 2.0, q0=q, locks=locks, transition="naive", **PRECISE)
    for event, locked in zip(naive.events, (1, 2), strict=True):
        expected = event.velocity_before.copy()
        expected[locked] = 0.0
        assert event.velocity_after == pytest.approx(expected, abs=1e-12) and not event.impulse
    right = mb.simulate(mech, 2.0, q0=q, locks=locks, **PRECISE)
    assert np.abs(naive.q[-1] - right.q[-1]).max() > 0.5


def test_locking_at_a_dead_centre_has_its_own_outcome() -> None:
    """There the rocker's brake holds nothing: momentum balance would let the crank go on."""
    mech, q = dead_centre()
    qd = {"crank": 1.0, "knee": -1.5}
    motion = mb.simulate(mech, 0.5, q0=q, qd0=qd, locks=[Lock("rocker", 0.0, until=0.4)])
    assert motion.outcome == "singular_transition" and motion.time[-1] == 0.0
    assert motion.events[-1].kind == "singular" and "rocker" in motion.events[-1].text
    # elsewhere the same lock stops everything, and the crank's brake does so here
    later = mb.simulate(mech, 0.5, q0=q, qd0=qd, locks=[Lock("rocker", 0.1)])
    assert later.outcome == "completed" and np.abs(later.qd[-1]).max() < 1e-9
    crank = mb.simulate(mech, 0.5, q0=q, qd0=qd, locks=[Lock("crank", 0.0, until=0.4)])
    assert crank.outcome == "completed"


@pytest.mark.parametrize("form", FORMS)
def test_equations_that_lose_rank_have_no_answer(form: str) -> None:
    """p = 3 is that of the loop anywhere else."""
    mech, q = dead_centre()
    held = replace(mech, locks=(Lock("rocker"),))
    equations = joint_equations(held, q, np.array([1.0, -1.5, 0.0]), degree_of_redundancy=3)
    found = activate(equations, None, ["lock rocker"], form=form)
    assert found.outcome == "singular"
    assert np.isnan(found.qd_plus).all() and np.isnan(found.energy_after)


def test_a_lock_against_a_motor_is_contradictory() -> None:
    mech = replace(flywheels((2.0, 1.0)), drivers=(Driver("motor", "h0", rate=3.0),))
    motion = mb.simulate(mech, 1.0, locks=[Lock("h0", 0.25)])
    assert motion.outcome == "contradictory_transition" and motion.time[-1] == pytest.approx(0.25)
    assert motion.events[-1].kind == "contradictory"
    assert motion.qd[-1] == pytest.approx([3.0, 0.0])


def test_friction_that_holds_gives_way_to_a_shock() -> None:
    """A joint stuck by dry friction cannot take an impulse: the other's brake sets it in motion."""
    mech, _ = pendulum_3r()
    stuck = replace(mech.pairs[1], freedoms=(Freedom(friction=1e4),))
    rigid = replace(mech.pairs[2], type="fixed", freedoms=())
    mech = replace(mech, pairs=(mech.pairs[0], stuck, rigid), gravity=REST)
    motion = mb.simulate(mech, 0.2, q0=[0.0, 1.0], qd0=[3.0, 0.0], locks=[Lock("j1", 0.1)], **PRECISE)
    event = next(e for e in motion.events if e.kind == "lock")
    free = replace(mech, locks=(Lock("j1"),))
    expected = activate(joint_equations(free, np.array([0.3, 1.0]), event.velocity_before), None, ["lock j1"])
    assert event.velocity_after == pytest.approx(expected.qd_plus, abs=1e-9)
    assert abs(event.velocity_after[1]) > 1.0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"locks": [Lock("h0", 2.0)]}, "from 0 to the duration"),
        ({"locks": [Lock("h0", -1.0)]}, "from 0 to the duration"),
        ({"locks": [Lock("h0", float("nan"))]}, "from 0 to the duration"),
        ({"locks": [Lock("h0", 0.5, until=0.2)]}, "opens at 0.2"),
        ({"locks": [Lock("h7", 0.5)]}, "unknown pair 'h7'"),
        ({"holds": [TimedConstraint("cluch", 0.5)]}, "did you mean 'clutch'"),
        ({"holds": [TimedConstraint("clutch", 3.0)]}, "from 0 to the duration"),
        ({"holds": [TimedConstraint("clutch", 0.5, until=0.5)]}, "a later time"),
        ({"holds": [TimedConstraint("clutch"), TimedConstraint("clutch", 0.5)]}, "twice"),
        ({"holds": [TimedConstraint("lock h1", 0.5)]}, "is a lock"),
        ({"holds": [TimedConstraint("clutch", 0.5)], "coordinates": "absolute"}, "joint coordinates"),
        ({"transition": "naiv"}, "did you mean 'naive'"),
    ],
)
def test_what_cannot_be_asked(arguments: dict[str, Any], said: str) -> None:
    clutch = Coupling("clutch", "gear", (Term("h0", "rz", 1.0), Term("h1", "rz", 1.0)))
    mech = replace(flywheels((2.0, 3.0)), couplings=(clutch,), locks=(Lock("h1"),))
    with pytest.raises((BadUsage, UnknownName), match=said):
        mb.simulate(mech, 1.0, **arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rows": ["lock j9"]}, "no constraint 'lock j9'"),
        ({"rows": [7]}, "no row 7"),
        ({"form": "ful"}, "did you mean 'full'"),
        ({"qd": np.zeros(2)}, "shape"),
        ({"impulse": np.full(3, np.nan)}, "not finite"),
    ],
)
def test_what_activate_refuses(arguments: dict[str, Any], said: str) -> None:
    mech, q = pendulum_3r()
    equations = joint_equations(replace(mech, locks=(Lock("j2"),)), q, np.ones(3))
    with pytest.raises(mb.MbPluginError, match=said):
        activate(equations, **arguments)
