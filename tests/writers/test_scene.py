"""The scene that is written has the same bodies, constraints and numbers, bit by bit where no angle is between."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import mbplugin as mb
from mbplugin import readers, writers
from mbplugin.model.mechanism import WORLD, Body, Coupling, Driver, KnifeEdge, Lock, Mechanism, Rolling, Term
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.scene import Actuator, LintOptions, Scene, State
from mbplugin.model.spatial import Pose
from places import ROOT
from random_mechanisms import loop_mechanism
from solid_bodies import with_masses


def back_of(scene: Scene) -> Scene:
    return readers.load("model.scene.toml", text=writers.write(scene, "scene").text)


def assert_equal(ours: object, theirs: object) -> None:
    """Compare all fields of two values; rotations pass through angles."""
    for field in fields(ours):  # type: ignore[arg-type]
        a, b = getattr(ours, field.name), getattr(theirs, field.name)
        if isinstance(a, Pose):
            np.testing.assert_array_equal(b.p, a.p)
            np.testing.assert_allclose(b.R, a.R, atol=2e-12)
        elif isinstance(a, np.ndarray):
            np.testing.assert_allclose(b, a, atol=1e-15)
        else:
            assert a == b, field.name


def assert_same_mechanism(ours: Mechanism, theirs: Mechanism) -> None:
    for kind in ("bodies", "pairs", "couplings", "drivers", "locks", "pfaffians"):
        a = sorted(getattr(ours, kind), key=lambda one: one.name)
        b = sorted(getattr(theirs, kind), key=lambda one: one.name)
        assert [one.name for one in a] == [one.name for one in b]
        for one, other in zip(a, b, strict=True):
            assert_equal(one, other)
    np.testing.assert_array_equal(ours.gravity, theirs.gravity)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**31), st.integers(0, 4), st.sampled_from(["planar", "spherical", "generic"]))
def test_random_mechanisms_and_their_poses_are_equal(seed: int, loops: int, kind: str) -> None:
    mech, q = loop_mechanism(seed, loops, kind)
    scene = Scene(with_masses(mech, seed), State(q, np.zeros(len(mech.qd_names))))
    back = back_of(scene)
    assert_same_mechanism(scene.mechanism, back.mechanism)
    assert back.mechanism.q_names == mech.q_names
    np.testing.assert_allclose(back.state.q, q, atol=1e-11)


def test_every_kind_of_constraint_is_written() -> None:
    body = Body('a "quoted" näme', 2.0, np.array([0.1, 0, 0]), np.diag([0.1, 0.2, 0.25]))
    other = Body("b", 1.0, np.zeros(3), np.array([[0.2, 0.01, 0], [0.01, 0.2, 0.02], [0, 0.02, 0.3]]))
    freedom = Freedom(-1.0, 2.0, 30.0, 4.0, 0.1, 0.2)
    X = Pose.from_xyz_rpy((0.1, 0.2, 0.3), (0.4, 1.2, -2.0))
    pairs = (
        Pair("s", "screw", WORLD, body.name, X, Pose.identity(), lead=0.01, freedoms=(freedom,)),
        Pair("h", "revolute", body.name, "b", X, X),
        Pair("d", "distance", WORLD, "b", X, Pose.identity(), closure=True, length=0.7),
    )
    mech = Mechanism(
        "all",
        (body, other),
        pairs,
        couplings=(Coupling("c", "rack", (Term("s", "rz", 1.5), Term("h", "rz", -1.0)), 0.2),),
        drivers=(Driver("m", "h", ("rz",), 0.1, 0.2, 0.3),),
        locks=(Lock("s"),),
        pfaffians=(
            KnifeEdge("k", "b", np.array([0.1, 0, 0]), np.array([0, 1.0, 0])),
            Rolling("r", "b", np.zeros(3), np.array([0, 1.0, 0]), 0.3),
        ),
        gravity=np.array([0, 1.0, -2.0]),
    )
    scene = Scene(
        mech,
        State(np.array([7.0, 0.4]), np.array([0.0, 1.0])),
        actuators=(Actuator("s", 0.1, 5.0, 2.0),),
        actuated=("s", "h"),
        options=LintOptions(planar=None, tolerance=1e-5, samples=3),
    )
    back = back_of(scene)
    assert_same_mechanism(mech, back.mechanism)
    np.testing.assert_allclose(back.state.q, scene.state.q, atol=1e-12)
    np.testing.assert_allclose(back.state.qd, scene.state.qd)
    assert [(a.joint, a.armature, a.gear_ratio, a.deceleration) for a in back.actuators] == [
        ("s", 0.1, 5.0, 2.0),
        ("h", 0.0, 1.0, None),
    ]
    assert (back.options.tolerance, back.options.samples) == (1e-5, 3)


@pytest.mark.bullet
def test_what_a_table_cannot_state_is_named() -> None:
    scene = mb.load(ROOT / "assets" / "minitaur.scene.toml")
    pair = replace(scene.mechanism.pairs[-1], closure=True, freedoms=(Freedom(damping=1.0),) * 3)
    assert pair.type == "spherical"
    mech = replace(scene.mechanism, pairs=(*scene.mechanism.pairs[:-1], pair))
    left_out = writers.write(replace(scene, mechanism=mech), "scene").left_out
    assert any(pair.name in part for part in left_out)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(mb.MbPluginError, match="the format is 'step'; expected one of mjcf"):
        writers.write(mb.load(ROOT / "assets" / "four_bar.urdf"), "step")
