"""A joint that moves no mass, and on which nothing acts, stays in place: all other motions are those without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.constraints.reduction import body_twists
from mbplugin.dynamics.tree_model import joints_without_mass
from mbplugin.errors import BrokenModel
from mbplugin.model.brakes import NO_FORCES
from mbplugin.model.mechanism import WORLD, Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.kinematics import forward, home
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Load, Payload
from mbplugin.model.spatial import JointSpring, Pose, Spring, align_z
from rod_arms import arm

ARM = arm((1.0, 0.7))
EMPTY = np.zeros((3, 3))


def with_finger(mech: Mechanism) -> Mechanism:
    """The arm with a slide at its tip, and a hinge on that, of links without mass."""
    tip, here = Pose.from_xyz_rpy((0.7, 0, 0)), Pose.identity()
    links = tuple(Body(name, 0.0, np.zeros(3), EMPTY) for name in ("finger", "nail"))
    pairs = (
        Pair("slide", "prismatic", "b1", "finger", tip, here),
        Pair("hinge", "revolute", "finger", "nail", here, here),
    )
    return replace(mech, bodies=(*mech.bodies, *links), pairs=(*mech.pairs, *pairs))


FINGER = with_finger(ARM)


def test_a_motion_is_that_without_the_joint() -> None:
    start, exact = {"j0": 0.3, "j1": -0.8}, {"samples": 8, "rtol": 1e-12, "atol": 1e-12}
    rates = {"j0": 1.0, "j1": 2.0}
    alone = mb.simulate(ARM, 0.4, q=start, qd=rates, **exact)
    found = mb.simulate(FINGER, 0.4, q={**start, "slide": 0.05, "hinge": 0.2}, qd=rates, **exact)
    np.testing.assert_allclose(found.q[:, :2], alone.q, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(found.q[:, 2:], np.tile([0.05, 0.2], (len(found.q), 1)))
    assert found.notes[0].startswith("slide, hinge: stay in place")
    assert not any("stay" in note for note in alone.notes)


def test_a_stop_is_that_without_the_joint() -> None:
    brakes = [{"joint": name, "torque": 60.0, "delay": 0.02} for name in ("j0", "j1")]
    stops = [mb.estop(m, qd={"j0": 1.0, "j1": 2.0}, brakes=brakes, tool="b1") for m in (ARM, FINGER)]
    alone, found = stops
    assert found.time == pytest.approx(alone.time, rel=1e-9)
    for name in ("j0", "j1"):
        assert found.joint(name).travel == pytest.approx(alone.joint(name).travel, rel=1e-9)
    assert any(note.startswith("slide, hinge") for note in found.scenario.of_effort.taken)


def test_modes_are_those_without_the_joint() -> None:
    springs = [JointSpring("j0", 300.0), JointSpring("j1", 200.0)]
    alone, found = (mb.linearize(m, springs=springs) for m in (ARM, FINGER))
    np.testing.assert_allclose(
        [mode.frequency for mode in found.modes], [mode.frequency for mode in alone.modes], rtol=1e-9
    )
    assert {"slide", "hinge"} <= set(found.equilibrium.held)


@pytest.mark.parametrize(
    "stated",
    [
        {"qd": {"slide": 0.1}},
        {"torques": {"hinge": 1.0}},
        {"loads": [Load("nail", np.array([1.0, 0, 0]), np.zeros(3), np.zeros(3))]},
        {"springs": [JointSpring("hinge", 1.0)]},
        {"springs": [Spring("world", "nail", np.zeros(3), np.zeros(3), 1.0, 0.0)]},
        {"controller": lambda t, q, qd: np.zeros(4)},
    ],
    ids=["rate", "torque", "load", "joint spring", "spring", "controller"],
)
def test_a_joint_on_which_something_acts_is_refused(stated: dict[str, Any]) -> None:
    with pytest.raises(BrokenModel, match="moves no mass"):
        mb.simulate(FINGER, 0.1, **stated)


def test_a_closure_that_holds_for_a_while_may_act_on_the_joint() -> None:
    tie = Pair("tie", "spherical", "world", "nail", Pose.from_xyz_rpy((1.7, 0, 0)), Pose.identity())
    tied = replace(FINGER, pairs=(*FINGER.pairs, tie))
    with pytest.raises(BrokenModel, match="moves no mass"):
        mb.simulate(tied, 0.1, holds=[mb.TimedConstraint("tie", until=0.05)])


def test_a_coupled_joint_is_not_among_them() -> None:
    coupled = replace(
        FINGER, couplings=(Coupling("gear", "gear", (Term("slide", "tz", 1.0), Term("j1", "rz", 1.0))),)
    )
    assert joints_without_mass(coupled, NO_FORCES) == ("hinge",)
    carried = replace(NO_FORCES, payloads=(Payload("nail", 1.0, np.zeros(3), EMPTY),))
    assert joints_without_mass(FINGER, carried) == ()


def test_a_robot_without_any_mass_has_no_motion() -> None:
    empty = tuple(replace(body, mass=0.0, I_C=EMPTY) for body in FINGER.bodies)
    with pytest.raises(BrokenModel, match="moves no mass"):
        mb.simulate(replace(FINGER, bodies=empty), 0.1)


def test_they_are_the_joints_whose_motion_moves_no_body_with_mass() -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        n = 8
        bodies = tuple(
            Body(f"b{k}", float(m := rng.integers(2)), rng.normal(size=3), m * np.eye(3)) for k in range(n)
        )
        pairs = tuple(
            Pair(
                f"j{k}",
                str(rng.choice(["revolute", "prismatic", "spherical", "fixed"])),
                f"b{rng.integers(k)}" if k else "world",
                f"b{k}",
                Pose.from_xyz_rpy(rng.normal(size=3), rng.normal(size=3)),
                Pose.identity(),
            )
            for k in range(n)
        )
        mech = Mechanism("tree", bodies, pairs)
        poses, still = forward(mech, home(mech)), []
        heavy = [mech.body_index[body.name] for body in bodies if body.mass]
        free = [joint for joint in mech.tree.joints if joint.qd.start < joint.qd.stop]
        for joint in free:
            qd = np.zeros(len(mech.qd_names))
            qd[joint.qd] = rng.normal(size=joint.qd.stop - joint.qd.start)
            if not body_twists(mech, poses, qd)[heavy].any():
                assert joint.pair is not None
                still.append(joint.pair.name)
        expected = () if len(still) == len(free) else tuple(still)
        assert joints_without_mass(mech, NO_FORCES) == expected


# A joint without mass that follows one with mass.


def following(mass: float, ratio: float, leader: str = "revolute", light_first: bool = False) -> Mechanism:
    """An arm that falls, a pointer of the given mass that follows its first joint, and a second link of the arm."""
    hinge, out = Pose(align_z(np.array([0.0, 1.0, 0.0])), np.zeros(3)), np.array([0.4, 0.1, 0.0])
    lift = Pose(align_z(np.array([0.0, 0.0, 1.0])), np.zeros(3))
    ends = ("pointer", "upper") if light_first else ("upper", "pointer")
    own = {"upper": ("j0", leader), "pointer": ("j1", "revolute")}
    at = lift if leader == "prismatic" else hinge
    frames = {"upper": (at, at), "pointer": (Pose(hinge.R, out), hinge)}
    parents = {"upper": WORLD, "pointer": "upper"}
    if light_first:
        parents = {"upper": WORLD, "pointer": WORLD}
    pairs = [Pair(own[end][0], own[end][1], parents[end], end, *frames[end]) for end in ends]
    pairs.append(Pair("j2", "revolute", "upper", "lower", Pose(hinge.R, 2 * out), hinge))
    bodies = [
        Body("upper", 2.0, np.array([0.3, 0.05, 0.0]), np.diag([0.01, 0.02, 0.03])),
        Body("pointer", mass, np.array([0.1, 0.0, 0.0]), mass * np.diag([0.01, 0.01, 0.01])),
        Body("lower", 1.0, np.array([0.2, 0.0, 0.1]), np.diag([0.01, 0.01, 0.02])),
    ]
    coupling = Coupling("mimic", "gear", (Term("j1", "rz", 1.0), Term("j0", FREE[leader], -ratio)))
    return Mechanism("arm", tuple(bodies), tuple(pairs), (coupling,), gravity=np.array([0.0, 0.0, -9.81]))


FREE = {"revolute": "rz", "prismatic": "tz"}


@pytest.mark.parametrize(
    ("ratio", "leader", "light_first"),
    [(-2.0, "revolute", False), (30.0, "prismatic", False), (0.01, "revolute", True)],
)
def test_a_joint_without_mass_follows_as_one_with_hardly_any(
    ratio: float, leader: str, light_first: bool
) -> None:
    """A force that acts on the follower moves its leader; energies are those of the bodies."""
    force = mb.Load("pointer", np.array([0.0, 0.0, -4.0]), np.zeros(3), np.array([0.2, 0.0, 0.0]))
    light, none = (
        mb.simulate(
            following(mass, ratio, leader, light_first),
            0.4,
            qd={"j0": 1.0},
            loads=[force],
            rtol=1e-11,
            atol=1e-12,
        )
        for mass in (1e-6, 0.0)
    )
    assert none.q[-1] == pytest.approx(light.q[-1], abs=5e-4) and abs(none.qd[-1]).max() > 0.1
    assert none.kinetic[-1] == pytest.approx(light.kinetic[-1], rel=1e-4)
    assert none.qdd[0] == pytest.approx(light.qdd[0], rel=1e-4)


def test_a_follower_whose_leader_has_no_inertia_of_its_own_is_refused() -> None:
    mech = following(0.0, 1.0)
    bare = replace(
        mech, bodies=tuple(Body("upper") if body.name == "upper" else body for body in mech.bodies)
    )
    with pytest.raises(BrokenModel, match="j1' moves no mass"):
        mb.simulate(bare, 0.1)


def test_a_stop_of_an_arm_with_a_massless_follower_is_that_without_it() -> None:
    mech = following(0.0, -2.0)
    alone = replace(
        mech,
        bodies=tuple(body for body in mech.bodies if body.name != "pointer"),
        pairs=tuple(pair for pair in mech.pairs if pair.name != "j1"),
        couplings=(),
    )
    brakes = [{"joint": name, "torque": 90.0, "delay": 0.02} for name in ("j0", "j2")]
    found, expected = (mb.estop(m, qd={"j0": 1.0}, brakes=brakes, tool="lower") for m in (mech, alone))
    assert found.outcome == expected.outcome and expected.time > 0.02
    assert found.time == pytest.approx(expected.time, rel=1e-8)
    assert found.joint("j0").travel == pytest.approx(expected.joint("j0").travel, rel=1e-8)
    motion = dict(zip(found.trajectory.mechanism.q_names, found.trajectory.q.T, strict=True))
    assert motion["j1"] == pytest.approx(-2.0 * motion["j0"], abs=1e-10)


@pytest.mark.long
def test_tables_and_crosscheck_take_a_massless_follower() -> None:
    mech = following(0.0, -2.0)
    brakes = [{"joint": name, "torque": 90.0, "delay": 0.02} for name in ("j0", "j2")]
    table = mb.stopping_table(mech, brakes=brakes, tool="lower", speeds={"j0": 1.0}, categories=(0,))
    assert {row["joint"] for row in table.rows} == {"j0"}
    report = mb.estop(mech, qd={"j0": 1.0}, brakes=brakes, tool="lower")
    compared = mb.crosscheck(report)
    assert compared.verdict == "not comparable" and "moves no mass" in compared.reason


def test_what_a_follower_borrows_from_its_leader_stays_out_of_sight() -> None:
    light, none = (mb.simulate(following(mass, -2.0), 0.3, qd={"j0": 1.0}) for mass in (1e-7, 0.0))
    follower = none.mechanism.qd_names.index("j1")
    assert np.abs(none.momenta[:, follower]).max() < 1e-5 < np.abs(none.momenta).max()
    assert np.abs(none.multipliers("mimic")).max() < 1e-4
    assert none.momenta[-1] == pytest.approx(light.momenta[-1], abs=1e-5)
