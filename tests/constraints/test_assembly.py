"""Closing a pose: it closes, it holds what was given, and it says what it cannot close."""

import numpy as np
import pytest

from mbplugin.constraints.assembly import assemble
from mbplugin.errors import CannotClose, ContradictedState
from mbplugin.model.mechanism import Coupling, Mechanism, Term
from mbplugin.model.mechanism.kinematics import forward, relative_pose
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Pose
from models import body_at, four_bar, pose_at


def gap(mech, q):
    return np.linalg.norm(relative_pose(mech, mech.tree.cut[0], forward(mech, q)).p)


def test_an_assembled_pose_is_left_alone():
    mech, q = four_bar()
    closed = assemble(mech, q)
    np.testing.assert_array_equal(closed.q, q)
    assert closed.moved == 0


def test_a_disturbed_four_bar_closes_and_holds_the_given_joint():
    mech, q = four_bar()
    disturbed = q + np.array([0.4, -0.3, 0.2])
    assert gap(mech, disturbed) > 0.05
    closed = assemble(mech, disturbed, given=("j0",))
    assert gap(mech, closed.q) < 1e-10
    assert closed.q[0] == disturbed[0]
    assert closed.worst < 1e-10 < 0.05 < closed.worst_file
    # crank at 0.4 rad from upright in a unit square: the parallelogram keeps the coupler level
    assert closed.q[0] + closed.q[1] == pytest.approx(0, abs=1e-9)


def test_a_given_joint_that_nothing_else_can_close_the_loop_with_is_refused():
    """A crank that is told to point where the coupler cannot reach: the frame it makes with it stands upright only."""
    mech, _ = four_bar()
    fixed = tuple(p.retyped("fixed") if p.name == "j1" else p for p in mech.pairs)
    stiff = Mechanism("stiff", mech.bodies, fixed)
    q0 = np.array([0.5, 0.0])[: len(stiff.q_names)]
    with pytest.raises(
        ContradictedState, match=r"no pose that constraint 'j3' allows has j0 = 0\.5; expected j0 = 0"
    ):
        assemble(stiff, q0, given=("j0",))
    closed = assemble(stiff, q0)
    assert closed.worst < 1e-10
    assert closed.q[0] == pytest.approx(0, abs=1e-9)


def test_a_loop_that_cannot_close_names_itself_and_its_gap():
    mech, q = four_bar()
    far = mech.tree.cut[0]
    moved = Pair(far.name, far.type, far.body_a, far.body_b, pose_at([5.0, 0, 0]), far.X_BS, closure=True)
    broken = Mechanism("broken", mech.bodies, (*(p for p in mech.pairs if p is not far), moved))
    with pytest.raises(
        CannotClose, match=r"not closed in 48 starts \(seed 0\): best gap 2 m, group 'j3'; expected"
    ):
        assemble(broken, q)


def test_a_loop_whose_axes_are_opposite_says_which_and_what_turns_one():
    """No motion of a planar four-bar turns a hinge of it over."""
    mech, q = four_bar()
    far = mech.tree.cut[0]
    over = pose_at([0, 0, 0], (0, 0, -1))
    turned = Pair(far.name, far.type, far.body_a, far.body_b, far.X_AP, far.X_BS @ over, closure=True)
    broken = Mechanism("broken", mech.bodies, (*(p for p in mech.pairs if p is not far), turned))
    with pytest.raises(CannotClose, match=r"both sides of j3 are opposite at the start: turn one .* rpy_b"):
        assemble(broken, q)
    mended = Pair(far.name, far.type, far.body_a, far.body_b, far.X_AP, turned.X_BS @ over, closure=True)
    assemble(Mechanism("mended", mech.bodies, (*(p for p in mech.pairs if p is not far), mended)), q)


def test_joint_limits_are_respected_where_the_loop_allows():
    """A slack two-link chain tied to a point has elbow-up and elbow-down solutions; one is allowed."""
    identity = Pose.identity()
    link = Pose(np.eye(3), np.array([1.0, 0, 0]))
    elbow = Freedom(lower=0.1, upper=3.0)
    pairs = (
        Pair("shoulder", "revolute", "world", "upper", identity, identity),
        Pair("elbow", "revolute", "upper", "lower", link, identity, freedoms=(elbow,)),
        Pair(
            "tie",
            "point-on-plane",
            "world",
            "lower",
            pose_at([1.2, 0, 0], np.array([1.0, 0, 0])),
            link,
            closure=True,
        ),
    )
    mech = Mechanism("arm", (body_at("upper"), body_at("lower")), pairs)
    start = np.array([0.9, -0.4])
    closed = assemble(mech, start)
    assert closed.worst < 1e-10
    # the file's own pose was outside, so its elbow is not forced; from inside it must stay inside
    inside = assemble(mech, np.array([-0.1, 0.15]))
    assert 0.1 - 1e-9 <= inside.q[1] <= 3.0
    assert inside.beyond_limits == ()


def test_couplings_close_with_their_offset():
    identity = Pose.identity()
    pairs = tuple(Pair(n, "revolute", "world", n.upper(), identity, identity) for n in "ab")
    gear = Coupling("gear", "gear", (Term("a", "rz", 1.0), Term("b", "rz", -2.0)), offset=0.5)
    mech = Mechanism("m", (body_at("A"), body_at("B")), pairs, couplings=(gear,))
    closed = assemble(mech, np.array([3.0, 0.0]), given=("a",))
    assert closed.q == pytest.approx([3.0, 1.25])


def test_a_coupling_of_turns_with_travels_may_have_any_factor():
    """A rack of 50 mm per radian closes alike, with one gap, written in radians or in metres."""
    identity = Pose.identity()
    pairs = (
        Pair("pinion", "revolute", "world", "A", identity, identity),
        Pair("rack", "prismatic", "world", "B", identity, identity),
    )

    def closed(factor):
        terms = (Term("pinion", "rz", 0.05 * factor), Term("rack", "tz", -factor))
        gear = Coupling("gear", "gear", terms)
        mech = Mechanism("m", (body_at("A"), body_at("B")), pairs, couplings=(gear,))
        return assemble(mech, np.array([0.3, 0.0]))

    reference = closed(1.0)
    assert reference.worst_file == pytest.approx(0.015)
    for factor in (1e-3, 20.0, 1e3):
        other = closed(factor)
        np.testing.assert_allclose(other.q, reference.q, atol=1e-12)
        assert other.worst_file == pytest.approx(reference.worst_file, rel=1e-9)
