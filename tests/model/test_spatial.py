"""Rotations and twists against their definitions."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mbplugin.model.spatial import (
    Pose,
    align_z,
    cross,
    quaternion_from_rotation,
    quaternions_from_rotations,
    rotation_from_quaternion,
    rotation_from_rpy,
    rotation_from_vector,
    shift_rows,
    shift_twists,
    skew,
    vector_from_rotation,
)

angle = st.floats(-3.1, 3.1)
vectors = st.tuples(angle, angle, angle).map(np.array)


@given(vectors)
def test_rpy_is_roll_then_pitch_then_yaw_about_fixed_axes(rpy):
    about = [rotation_from_vector(a * np.eye(3)[k]) for k, a in enumerate(rpy)]
    np.testing.assert_allclose(rotation_from_rpy(rpy), about[2] @ about[1] @ about[0], atol=1e-14)


@given(vectors)
def test_quaternions_and_vectors_return_the_rotation(theta):
    R = rotation_from_vector(theta)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-13)
    np.testing.assert_allclose(rotation_from_quaternion(quaternion_from_rotation(R)), R, atol=1e-13)
    np.testing.assert_allclose(rotation_from_vector(vector_from_rotation(R)), R, atol=1e-7)


@pytest.mark.parametrize("axis", np.eye(3))
def test_half_turns_keep_their_axis(axis):
    theta = vector_from_rotation(rotation_from_vector(np.pi * axis))
    np.testing.assert_allclose(np.abs(theta), np.pi * axis, atol=1e-12)


@given(vectors.filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_align_z_is_the_smallest_rotation_to_the_axis(axis):
    R = align_z(axis)
    z = axis / np.linalg.norm(axis)
    np.testing.assert_allclose(R[:, 2], z, atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(vector_from_rotation(R)), np.arccos(np.clip(z[2], -1, 1)), atol=1e-6
    )


def test_align_z_to_minus_z_is_a_proper_rotation():
    R = align_z(np.array([0.0, 0.0, -2.0]))
    np.testing.assert_allclose(R @ [0, 0, 1], [0, 0, -1])
    assert np.linalg.det(R) == pytest.approx(1)


@given(vectors, vectors, vectors, vectors)
def test_power_does_not_depend_on_the_reference_point(force, moment, v, omega):
    arm = np.array([0.3, -1.2, 0.7])
    row, twist = np.concatenate((force, moment))[None, :], np.concatenate((v, omega))[:, None]
    moved_twist = shift_twists(twist, arm)
    np.testing.assert_allclose(moved_twist[:3, 0], v + np.cross(omega, arm), atol=1e-12)
    np.testing.assert_allclose(shift_rows(row, -arm) @ moved_twist, row @ twist, atol=1e-10)


@given(vectors, vectors)
def test_poses_compose_and_invert(p, theta):
    X = Pose(rotation_from_vector(theta), p)
    point = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose((X.inverse() @ X).apply(point), point, atol=1e-12)
    np.testing.assert_allclose(skew(p) @ point, np.cross(p, point), atol=1e-12)


def test_quaternions_of_many_rotations_are_those_of_each() -> None:
    rng = np.random.default_rng(5)
    half_turns = [2.0 * np.outer(e, e) - np.eye(3) for e in np.eye(3)]
    R = np.array([np.eye(3), *half_turns, *(rotation_from_vector(v) for v in rng.normal(0, 3, (200, 3)))])
    found = quaternions_from_rotations(R)
    assert found == pytest.approx(np.array([quaternion_from_rotation(one) for one in R]), abs=1e-15)


@pytest.mark.parametrize(
    "shapes", [((3,), (3,)), ((7, 3), (7, 3)), ((3,), (9, 3)), ((400, 3), (3,)), ((5, 1, 3), (4, 3))]
)
def test_cross_products_of_few_and_of_many_vectors(shapes):
    a, b = (np.random.default_rng(k).normal(size=shape) for k, shape in enumerate(shapes))
    np.testing.assert_allclose(cross(a, b), np.cross(a, b), rtol=0, atol=1e-15)
