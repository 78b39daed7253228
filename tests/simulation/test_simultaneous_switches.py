"""Several switches at one instant: what opens is out before anything closes (mueller2026 (14), (22))."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.mechanism import WORLD, Body, Lock, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose, align_z
from mbplugin.simulation.trajectory.trajectory import Trajectory
from places import ASSETS


def arm(locks: Sequence[Lock], duration: float = 0.1) -> Trajectory:
    scene = mb.load(ASSETS / "arm_6r.urdf", base="fixed")
    return mb.simulate(scene, duration, qd0={"j1": 1.0, "j2": 1.0, "j3": 1.0}, locks=locks)


def at_end(motion: Trajectory) -> Array:
    return np.concatenate((motion.q[-1], motion.qd[-1]))


def test_a_lock_at_the_instant_of_a_release_is_the_limit_of_the_next_instant() -> None:
    """The difference to a lock an ε later falls with ε, to nothing."""
    opening = Lock("j2", at=0.02, until=0.04)
    at_once = arm([opening, Lock("j3", at=0.04)])
    assert at_once.q[-1, 1] == pytest.approx(0.0930, abs=5e-5)
    gaps = [
        float(np.abs(at_end(arm([opening, Lock("j3", at=0.04 + later)])) - at_end(at_once)).max())
        for later in (1e-5, 1e-6, 1e-7)
    ]
    assert gaps[2] < 1e-5 and gaps[0] > 5 * gaps[1] > 25 * gaps[2]


def test_the_order_in_which_switches_are_given_changes_nothing() -> None:
    first, second = Lock("j2", at=0.02, until=0.04), Lock("j3", at=0.04)
    assert np.array_equal(at_end(arm([first, second])), at_end(arm([second, first])))


def test_instants_that_only_rounding_keeps_apart_are_one() -> None:
    """0.1 + 0.2 is not 0.3 for a computer; both ways of writing it are one instant."""
    later = 0.01 * (0.1 + 0.2) / 0.1
    assert later != 0.03
    apart = arm([Lock("j2", at=0.02, until=later), Lock("j3", at=0.03)])
    at_once = arm([Lock("j2", at=0.02, until=0.03), Lock("j3", at=0.03)])
    assert np.abs(at_end(apart) - at_end(at_once)).max() < 1e-12


def test_a_part_that_is_handed_over_keeps_its_momentum() -> None:
    """A carriage lets a part go at the instant at which another one takes it.

    Two carriages on one rail, 2 kg at 1 m/s and 3 kg at rest; the part, 1 kg, slides on the same rail.
    Carriage A holds it at first. The part leaves with 1 m/s and moves on with B at 1/(1 + 3) m/s.
    """
    along = Pose(align_z(np.array([1.0, 0.0, 0.0])), np.zeros(3))
    unit = 0.01 * np.eye(3)
    bodies = tuple(Body(name, m, np.zeros(3), unit) for name, m in (("A", 2.0), ("B", 3.0), ("part", 1.0)))
    pairs = (
        *(Pair(f"rail_{b.name}", "prismatic", WORLD, b.name, along, along) for b in bodies),
        *(
            Pair(f"grip_{name}", "fixed", name, "part", Pose.identity(), Pose.identity(), closure=True)
            for name in ("A", "B")
        ),
    )
    mech = Mechanism("hand-over", bodies, pairs, gravity=np.zeros(3))
    motion = mb.simulate(
        mech,
        0.2,
        qd0={"rail_A": 1.0, "rail_part": 1.0},
        holds=[mb.TimedConstraint("grip_A", until=0.1), mb.TimedConstraint("grip_B", at=0.1)],
    )
    assert motion.outcome == "completed"
    assert motion.qd[-1] == pytest.approx([1.0, 0.25, 0.25], abs=1e-9)


def slider(friction: float, second: float) -> Mechanism:
    """Return two sliders on one rail, the second on the first, 1 kg each, with dry friction, N."""
    along = Pose(align_z(np.array([1.0, 0.0, 0.0])), np.zeros(3))
    bodies = tuple(Body(name, 1.0, np.zeros(3), 0.01 * np.eye(3)) for name in ("first", "second"))
    pairs = (
        Pair("a", "prismatic", WORLD, "first", along, along, freedoms=(Freedom(friction=friction),)),
        Pair("b", "prismatic", "first", "second", along, along, freedoms=(Freedom(friction=second),)),
    )
    return Mechanism("two sliders", bodies, pairs, gravity=np.zeros(3))


def test_a_joint_that_slips_since_another_brake_grips_has_its_event() -> None:
    """The lower slider brakes hard at 0.5 s; the upper one, held by 2 N until then, goes on."""
    mech = slider(0.0, 2.0)
    motion = mb.simulate(
        mech, 1.2, qd0={"a": 1.0}, brakes=[{"joint": "a", "torque": 50.0, "delay": 0.5}], limits="ignore"
    )
    slips = [(event.time, event.joint) for event in motion.events if event.kind == "slip"]
    assert slips == [(0.5, "b.tz")]
    # −48 m/s² below, −2 m/s² above: at rest after 1/48 s and 1/2 s
    sticks = {event.joint[0]: event.time for event in motion.events if event.kind == "stick"}
    assert sticks == pytest.approx({"a": 0.5 + 1 / 48, "b": 1.0}, abs=1e-9)
    assert motion.dissipated[-1] == pytest.approx(1.0, rel=1e-9)


def test_friction_slides_on_where_a_lock_opens() -> None:
    """A lock holds 5 N against a friction of 2 N; where it opens, the joint slips."""
    mech = slider(2.0, 100.0)
    motion = mb.simulate(mech, 1.0, torques={"a": 5.0}, locks=[Lock("a", at=0.0, until=0.5)], limits="ignore")
    assert [e.kind for e in motion.events] == ["lock", "release"]
    assert motion.q[-1, 0] == pytest.approx(0.5 * 3.0 / 2.0 * 0.25, rel=1e-9)
