"""Joint coordinates: motion axes against finite differences, and poses that give their q back."""

import numpy as np
import pytest

from mbplugin.errors import BadNumber, UnknownName
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.kinematics import (
    coordinates_of,
    displace,
    forward,
    home,
    joint_axes,
    joint_vector,
)
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair
from mbplugin.model.spatial import Pose, vector_from_rotation
from models import body_at

COORDINATE_TYPES = [name for name, kind in PAIR_TYPES.items() if kind.has_coordinates]


def random_pose(rng):
    return Pose.from_xyz_rpy(rng.normal(size=3), rng.normal(size=3))


@pytest.fixture(params=[False, True], ids=["outwards", "reversed"])
def reverse(request):
    return request.param


@pytest.fixture(params=COORDINATE_TYPES)
def one_joint(request, reverse):
    rng = np.random.default_rng(7)
    ends = ("b", "world") if reverse else ("world", "b")
    pair = Pair("j", request.param, *ends, random_pose(rng), random_pose(rng), lead=0.3)
    mech = Mechanism("m", (Body("b", 1.0, rng.normal(size=3)),), (pair,))
    q = displace(mech, home(mech), rng.normal(size=len(mech.qd_names)))
    return mech, q, rng


def test_poses_return_their_coordinates(one_joint):
    mech, q, _ = one_joint
    poses = forward(mech, q)
    again = forward(mech, coordinates_of(mech, poses))
    np.testing.assert_allclose(again.p_WL, poses.p_WL, atol=1e-12)
    np.testing.assert_allclose(again.R_WL, poses.R_WL, atol=1e-12)


def test_motion_axes_are_the_derivative_of_the_pose(one_joint):
    mech, q, rng = one_joint
    step = 1e-6 * rng.normal(size=len(mech.qd_names))
    poses, plus, minus = (forward(mech, displace(mech, q, s * step)) for s in (0, 1, -1))
    S, point = joint_axes(mech, mech.tree.joints[0], poses)
    twist = S @ step
    v = 0.5 * (plus.p_WC - minus.p_WC)[0]
    omega = 0.5 * vector_from_rotation(plus.R_WL[0] @ minus.R_WL[0].T)
    np.testing.assert_allclose(v, twist[:3] + np.cross(twist[3:], poses.p_WC[0] - point), atol=1e-12)
    np.testing.assert_allclose(omega, twist[3:], atol=1e-12)


def test_a_screw_advances_by_its_lead_in_one_turn():
    mech = Mechanism(
        "m", (body_at("b"),), (Pair("j", "screw", "world", "b", Pose.identity(), Pose.identity(), lead=0.02),)
    )
    np.testing.assert_allclose(forward(mech, np.array([4 * np.pi])).p_WL[0], [0, 0, 0.04], atol=1e-15)


def test_a_universal_joint_turns_about_x_then_about_the_carried_y():
    mech = Mechanism(
        "m", (body_at("b"),), (Pair("u", "universal", "world", "b", Pose.identity(), Pose.identity()),)
    )
    R = forward(mech, np.array([np.pi / 2, np.pi / 2])).R_WL[0]
    # a quarter turn about x takes y to z; then x turns about that axis to y
    np.testing.assert_allclose(R @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(R @ [1, 0, 0], [0, 1, 0], atol=1e-15)


def test_free_roots_come_first_and_are_named_after_their_body():
    pair = Pair("arm", "revolute", "base", "tip", Pose.identity(), Pose.identity())
    mech = Mechanism("m", (body_at("tip"), body_at("base")), (pair,))
    assert mech.q_names[:3] == ("base.x", "base.y", "base.z")
    assert mech.q_names[-1] == "arm"
    assert mech.qd_names[:7] == ("base.vx", "base.vy", "base.vz", "base.wx", "base.wy", "base.wz", "arm")


def test_wrong_joint_values_are_refused_in_one_sentence():
    mech = Mechanism(
        "m", (body_at("b"),), (Pair("elbow", "revolute", "world", "b", Pose.identity(), Pose.identity()),)
    )
    with pytest.raises(UnknownName, match=r"'elbw'.*did you mean 'elbow'"):
        joint_vector(mech, {"elbw": 0.1})
    with pytest.raises(BadNumber, match="2 entries; expected 1"):
        joint_vector(mech, np.zeros(2))
    with pytest.raises(BadNumber, match="expected a finite number, rad"):
        joint_vector(mech, {"elbow": float("nan")})


@pytest.mark.parametrize("turns", [-2.3, 0.4, 3.75])
def test_a_screw_knows_how_many_turns_it_has_made(turns):
    pair = Pair("j", "screw", "world", "b", Pose.identity(), Pose.identity(), lead=0.02)
    mech = Mechanism("m", (body_at("b"),), (pair,))
    q = np.array([2 * np.pi * turns])
    np.testing.assert_allclose(coordinates_of(mech, forward(mech, q)), q, atol=1e-9)
