"""One call for q̈ of a tree, and one for its drive forces, against the equations they stand for."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import BadNumber, BadUsage, BrokenModel
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import displace
from mbplugin.model.spatial import Array
from models import chain, four_bar
from rod_arms import arm, two_rods

ARM = Path(__file__).parents[2] / "assets" / "arm_6r.scene.toml"
PAIR_TYPES = ["revolute", "prismatic", "screw", "universal", "cylindrical", "spherical", "planar", "floating"]
#: Arrays as users have them, which the compiled code does not take as they are.
FORMS: dict[str, Callable[[Array], Any]] = {
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()),
    "every second": lambda x: np.repeat(x, 2)[::2],
    "big-endian": lambda x: x.astype(">f8"),
    "read-only": lambda x: np.frombuffer(x.tobytes()),
    "objects": lambda x: x.astype(object),
}


def motions(mech: Mechanism, q: Array, count: int, seed: int = 3) -> tuple[Array, Array, Array]:
    rng, nv = np.random.default_rng(seed), len(mech.qd_names)
    poses = [displace(mech, q, rng.normal(size=nv)) for _ in range(count)]
    return np.array(poses), *rng.normal(size=(2, count, nv))


@pytest.mark.parametrize("pair_type", ["revolute", "cylindrical", "spherical"])
def test_solves_the_equations(pair_type: str) -> None:
    mech, q = chain(5, pair_type, np.random.default_rng(3))
    forward, inverse = mb.ForwardDynamics(mech), mb.InverseDynamics(mech)
    for pose, qd, qdd in zip(*motions(mech, q, 3), strict=True):
        made = joint_equations(mech, pose, qd)
        scale = np.abs(made.F).max()
        np.testing.assert_allclose(made.M @ forward(pose, qd), made.F, atol=1e-9 * scale)
        np.testing.assert_allclose(inverse(pose, qd, qdd), made.M @ qdd - made.F, atol=1e-9 * scale)


def test_two_rods_by_hand() -> None:
    mech = arm((1.0, 1.0))
    for q, qd, qdd in zip(*motions(mech, np.zeros(2), 3), strict=True):
        M, h = two_rods(q, qd)
        tau = mb.InverseDynamics(mech)(q, qd, qdd)
        assert tau == pytest.approx(M @ qdd + h, abs=1e-12)
        assert mb.ForwardDynamics(mech)(q, qd, tau) == pytest.approx(qdd, abs=1e-11)


@pytest.mark.parametrize("pair_type", PAIR_TYPES)
def test_forces_of_many_motions_give_their_accelerations(pair_type: str) -> None:
    mech, q = chain(4, pair_type, np.random.default_rng(1))
    q, qd, qdd = motions(mech, q, 19)
    inverse, forward = mb.InverseDynamics(mech), mb.ForwardDynamics(mech)
    tau = inverse.many(q, qd, qdd)
    alone = np.array([inverse(*motion) for motion in zip(q, qd, qdd, strict=True)])
    np.testing.assert_allclose(tau, alone, rtol=0.0, atol=1e-12 * np.abs(alone).max())
    np.testing.assert_allclose(forward.many(q, qd, tau), qdd, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(forward(q[4], qd[4], tau[4]), qdd[4], rtol=0.0, atol=1e-8)
    still = np.zeros_like(qdd)
    # two accelerations differ by M of their difference
    M = mb.mass_matrix(mech, q)
    moved = tau - inverse.many(q, qd, still)
    np.testing.assert_allclose(moved, np.einsum("nij,nj->ni", M, qdd), atol=1e-10 * np.abs(M).max())


def test_everything_that_a_scene_states_acts() -> None:
    """The function for closed loops shares no recursion with the call."""
    scene = mb.load(ARM)
    mech = scene.mechanism
    body = mech.bodies[-1].name
    scene = replace(
        scene,
        payloads=(mb.Payload(body, 3.0, np.array([0.1, 0.0, 0.05]), 0.02 * np.eye(3)),),
        loads=(mb.Load(body, np.array([5.0, -3.0, 2.0]), np.array([0.1, 0.2, 0.3]), np.zeros(3), "body"),),
        springs=(mb.JointSpring(mech.pairs[1].name, 40.0, 0.3),),
    )
    assert any(a.armature for a in scene.actuators)
    q, qd, qdd = (values[0] for values in motions(mech, np.zeros(6), 1))
    tau = mb.InverseDynamics(scene)(q, qd, qdd)
    with warnings.catch_warnings():
        # the pose is beyond a limit
        warnings.simplefilter("ignore")
        expected = mb.inverse_dynamics(scene, q, qd, qdd, friction=False).values
    assert tau == pytest.approx(expected, rel=1e-9)
    assert mb.ForwardDynamics(scene)(q, qd, tau) == pytest.approx(qdd, rel=1e-9)
    bare = mb.InverseDynamics(mech)(q, qd, qdd)
    assert np.abs(bare - tau).min() > 1e-3
    # forces given instead of those of the scene
    assert mb.InverseDynamics(scene, AppliedForces())(q, qd, qdd) == pytest.approx(bare)


def test_a_free_base_needs_the_forces_of_something_else(tmp_path: Path) -> None:
    mech = mb.load(ARM.with_suffix("").with_suffix(".urdf"), base="free").mechanism
    q, still = mb.analyze(mech).q, np.zeros(len(mech.qd_names))
    tau = mb.InverseDynamics(mech)(q, still, still)
    weight = 9.81 * sum(body.mass for body in mech.bodies)
    assert tau[:3] == pytest.approx([0.0, 0.0, weight])


@pytest.mark.parametrize("form", FORMS)
def test_arrays_of_every_form(form: str) -> None:
    mech = arm((0.5, 0.4, 0.3))
    motion = tuple(values[0] for values in motions(mech, np.zeros(3), 1))
    for call in (mb.ForwardDynamics(mech), mb.InverseDynamics(mech)):
        expected = call(*motion)
        given = [FORMS[form](values) for values in motion]
        assert call(*given).tolist() == expected.tolist()
        assert call.many(*([values] for values in given))[0] == pytest.approx(expected, rel=1e-12)
        out = np.empty(3)
        assert call(*given, out=out) is out and out.tolist() == expected.tolist()


@pytest.mark.parametrize("form", ["float32", "int"])
def test_numbers_that_are_doubles_exactly(form: str) -> None:
    mech = arm((0.5, 0.4))
    motion = np.array([[1, -2], [3, 2], [4, 5]])
    for call in (mb.ForwardDynamics(mech), mb.InverseDynamics(mech)):
        assert call(*motion.astype(form)).tolist() == call(*motion.astype(float)).tolist()


@pytest.mark.parametrize("wrong", range(3))
@pytest.mark.parametrize("size", [0, 1, 3, (2, 1), (1, 2)])
def test_an_array_of_another_size_is_refused(wrong: int, size: Any) -> None:
    mech = arm((0.5, 0.4))
    given = [np.zeros(2)] * 3
    given[wrong] = np.zeros(size)
    for call, names in (
        (mb.ForwardDynamics(mech), ("q", "qd", "tau")),
        (mb.InverseDynamics(mech), ("q", "qd", "qdd")),
    ):
        with pytest.raises(BadNumber, match=rf"^{names[wrong]} has the shape"):
            call(*given)
        with pytest.raises(BadNumber, match=r"has the shape"):
            call.many(*(np.array([values]) for values in given))


@pytest.mark.parametrize("wrong", ["zero", None, [[1], [2, 3]], object()])
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    mech = arm((0.5, 0.4))
    with pytest.raises(BadNumber, match=r"^q has"):
        mb.InverseDynamics(mech)(wrong, np.zeros(2), np.zeros(2))
    for call in (mb.InverseDynamics(mech), mb.ForwardDynamics(mech)):
        for place, name in enumerate(("q", "qd")):
            given = [np.zeros((2, 2))] * 3
            given[place] = wrong
            with pytest.raises(BadNumber, match=rf"^{name} has"):
                call.many(*given)


@pytest.mark.parametrize(
    "out", [np.empty(3), np.empty(2, "f4"), np.empty(4)[::2], np.frombuffer(bytes(16)), [0.0, 0.0]]
)
def test_an_array_that_cannot_be_filled_is_refused(out: Any) -> None:
    still = np.zeros(2)
    for call in (mb.ForwardDynamics(arm((0.5, 0.4))), mb.InverseDynamics(arm((0.5, 0.4)))):
        with pytest.raises(BadNumber, match="out cannot be filled"):
            call(still, still, still, out=out)


def test_numbers_that_are_not_finite_are_refused_or_seen() -> None:
    still, wrong = np.zeros(2), np.array([0.0, np.nan])
    forward = mb.ForwardDynamics(arm((0.5, 0.4)))
    with pytest.raises(BadNumber, match=r"^q has numbers that are not finite"):
        forward(wrong, still)
    assert np.isnan(forward(still, wrong)).all() and np.isnan(forward(still, still, wrong)).all()
    # the next call is not affected
    assert np.isfinite(forward(still, still)).all()


def test_a_joint_without_mass_is_refused() -> None:
    body = mb.Body("b", 0.0, np.zeros(3), np.zeros((3, 3)))
    pair = mb.Pair("j", "revolute", "world", "b", mb.Pose.identity(), mb.Pose.identity())
    mech = Mechanism("m", (body,), (pair,), gravity=np.zeros(3))
    with pytest.raises(BrokenModel, match="'j' moves no mass"):
        mb.ForwardDynamics(mech)(np.zeros(1), np.zeros(1))
    assert mb.InverseDynamics(mech)(np.zeros(1), np.ones(1), np.ones(1)).tolist() == [0.0]


def test_refuses_a_loop() -> None:
    for kind in (mb.ForwardDynamics, mb.InverseDynamics):
        with pytest.raises(BadUsage, match="closes the tree"):
            kind(four_bar()[0])


def test_drivers_prescribe_accelerations_and_leave_forces() -> None:
    mech = arm((0.5, 0.4))
    driven = replace(mech, drivers=(mb.Driver("d", "j0"),))
    motion = tuple(values[0] for values in motions(mech, np.zeros(2), 1))
    assert mb.InverseDynamics(driven)(*motion).tolist() == mb.InverseDynamics(mech)(*motion).tolist()
    with pytest.raises(BadUsage, match="'d' closes the tree"):
        mb.ForwardDynamics(driven)


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_have_records_of_their_own(copied: Callable[[Any], Any]) -> None:
    mech = arm((0.5, 0.4))
    motion = tuple(values[0] for values in motions(mech, np.zeros(2), 1))
    for kind in (mb.ForwardDynamics, mb.InverseDynamics):
        call = kind(mech)
        expected, other = call(*motion).tolist(), copied(call)
        call._calls.model.composites["mass"] *= 2.0
        assert call(*motion).tolist() != expected
        assert other(*motion).tolist() == expected
        assert other.many(*(values[None] for values in motion))[0] == pytest.approx(expected)
