"""The MJCF that is written, compiled by MuJoCo: its mass matrix, its closures and its joints are ours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from mbplugin import readers, writers
from mbplugin.constraints.reduction import mass_matrix, velocity_transformation
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import WORLD, Body, Coupling, Driver, Lock, Mechanism, Term
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.scene import Actuator, Scene, State
from mbplugin.model.spatial import Array, JointSpring, Pose, rotation_from_vector
from models import pose_at
from random_mechanisms import loop_mechanism
from same_mechanics import assert_same_mass_matrix, redundancy_and_mobility
from solid_bodies import with_masses

mujoco = pytest.importorskip("mujoco")

TYPES = (
    *("revolute", "continuous", "prismatic", "screw", "cylindrical", "universal", "spherical", "planar"),
    *("point-on-line", "point-on-plane", "fixed"),
)


def chain_of(types: list[str], seed: int) -> Scene:
    """An open chain at a random pose; every other pair runs from the outer body to the inner one."""
    rng = np.random.default_rng(seed)
    pairs = []
    for k, kind in enumerate(types):
        ends = ("world" if k == 0 else f"b{k - 1}", f"b{k}")
        X, Y = (Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3)) for _ in range(2))
        a, b = ends if k % 2 == 0 else ends[::-1]
        pairs.append(Pair(f"j{k}", kind, a, b, X, Y, lead=0.3 if kind == "screw" else 0.0))
    mech = with_masses(
        Mechanism("chain", tuple(Body(f"b{k}") for k in range(len(types))), tuple(pairs)), seed
    )
    q = rng.uniform(-1, 1, len(mech.q_names))
    for joint in mech.tree.joints:
        if joint.q.stop - joint.q.start >= 4:
            q[joint.q.stop - 4 : joint.q.stop] /= np.linalg.norm(q[joint.q.stop - 4 : joint.q.stop])
    return Scene(mech, State(q, np.zeros(len(mech.qd_names))))


def compiled(scene: Scene) -> tuple[object, object]:
    model = mujoco.MjModel.from_xml_string(writers.write(scene, "mjcf").text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def mujoco_mass_matrix(scene: Scene) -> tuple[Array, Array, Array]:
    """MuJoCo's M in our joint rates, ours, and by how much the bodies' twists differ between both."""
    model, data = compiled(scene)
    mech, M = scene.mechanism, np.zeros((model.nv, model.nv))
    for row, unit in zip(M, np.eye(model.nv), strict=True):
        mujoco.mj_mulM(model, data, row, unit)
    U = np.zeros((6 * len(mech.bodies), model.nv))
    for k, body in enumerate(mech.bodies):
        v, w = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacBodyCom(model, data, v, w, model.body(body.name).id)
        U[6 * k : 6 * k + 6] = np.vstack((v, w))
    poses = forward(mech, scene.state.q)
    T = velocity_transformation(mech, poses)
    X = np.linalg.lstsq(U, T, rcond=1e-12)[0]
    return X.T @ M @ X, T.T @ mass_matrix(mech, poses) @ T, U @ X - T


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.sampled_from([t for t in TYPES if t != "screw"]), min_size=1, max_size=6),
    st.integers(0, 2**31),
)
def test_mujoco_has_our_mass_matrix(types: list[str], seed: int) -> None:
    theirs, ours, difference = mujoco_mass_matrix(chain_of(types, seed))
    np.testing.assert_allclose(difference, 0, atol=1e-9)
    np.testing.assert_allclose(theirs, ours, atol=1e-9 * max(1.0, np.abs(ours).max(initial=0.0)))


ANGLES = ("revolute", "prismatic", "screw", "cylindrical", "universal", "planar", "fixed")


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(ANGLES), min_size=1, max_size=5), st.integers(0, 2**31))
def test_a_joint_coordinate_means_the_same_everywhere(types: list[str], seed: int) -> None:
    scene = chain_of(types, seed)
    mech, rng = scene.mechanism, np.random.default_rng(seed)
    model, data = compiled(scene)
    q = rng.uniform(-2, 2, len(mech.q_names))
    for name, value in zip(mech.q_names, q, strict=True):
        data.joint(name).qpos[0] = value
        if (pair := mech.pair_by_name.get(name)) is not None and pair.type == "screw":
            data.joint(f"{name}.tz").qpos[0] = pair.lead * value / (2 * np.pi)
    mujoco.mj_kinematics(model, data)
    poses = forward(mech, q)
    for k, body in enumerate(mech.bodies):
        np.testing.assert_allclose(data.body(body.name).xpos, poses.p_WL[k], atol=1e-12)
        np.testing.assert_allclose(data.body(body.name).xmat.reshape(3, 3), poses.R_WL[k], atol=1e-12)


@pytest.mark.long
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(TYPES), min_size=1, max_size=6), st.integers(0, 2**31))
def test_chains_of_every_type_come_back(types: list[str], seed: int) -> None:
    scene = chain_of(types, seed)
    back = readers.load("model.xml", text=writers.write(scene, "mjcf").text)
    assert redundancy_and_mobility(back) == redundancy_and_mobility(scene)
    assert_same_mass_matrix(scene, back, tree=False)


@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**31), st.integers(1, 3), st.sampled_from(["planar", "spherical", "generic"]))
def test_closures_hold_in_mujoco_at_the_default_pose(seed: int, loops: int, kind: str) -> None:
    mech, q = loop_mechanism(seed, loops, kind)
    model, data = compiled(Scene(with_masses(mech, seed), State(q, np.zeros(len(mech.qd_names)))))
    assert model.neq == len(mech.tree.cut)
    rows = data.efc_type[: data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert rows.sum() == sum(3 if pair.type == "spherical" else 6 for pair in mech.tree.cut)
    np.testing.assert_allclose(data.efc_pos[: data.nefc][rows], 0, atol=1e-12)


def arm(**parts: object) -> Scene:
    """Two hinges and a slide, at a pose that is not zero."""
    bodies = tuple(Body(name, 1.0, np.array([0.1, 0.2, 0.0]), 0.1 * np.eye(3)) for name in ("a", "b", "c"))
    freedom = Freedom(-1.0, 2.0, 30.0, damping=0.4, friction=0.2)
    pairs = (
        Pair("one", "revolute", WORLD, "a", pose_at([0, 0, 1]), Pose.identity(), freedoms=(freedom,)),
        Pair("two", "revolute", "a", "b", pose_at([1, 0, 0], (0, 1, 0)), Pose.identity()),
        Pair("out", "prismatic", "b", "c", pose_at([0, 0, 0], (1, 0, 0)), Pose.identity()),
    )
    mech = Mechanism("arm", bodies, pairs, **parts)  # type: ignore[arg-type]
    return Scene(mech, State(np.array([0.5, -0.2, 0.1]), np.zeros(3)))


def test_what_belongs_to_a_joint_is_written() -> None:
    scene = replace(
        arm(),
        springs=(JointSpring("two", 7.0, 0.3),),
        actuators=(Actuator("one", 0.01, 10.0),),
        actuated=("one",),
    )
    written = writers.write(scene, "mjcf")
    back = readers.load("model.xml", text=written.text)
    assert written.left_out == () and written.held == ()
    assert back.mechanism.pairs[0].freedoms == scene.mechanism.pairs[0].freedoms
    assert [(s.joint, s.stiffness, s.rest) for s in back.springs] == [("two", 7.0, 0.3)]
    assert [(a.joint, a.armature) for a in back.actuators] == [("one", 1.0)]
    assert back.actuated == ("one",)
    np.testing.assert_allclose(back.state.q, scene.state.q, atol=1e-15)


def test_couplings_and_locks_are_rows_with_the_same_residual() -> None:
    terms = (Term("one", "rz", 2.0), Term("two", "rz", -3.0))
    scene = arm(couplings=(Coupling("gear", "gear", terms, 0.7),), locks=(Lock("out"),))
    _, data = compiled(scene)
    back = readers.load("model.xml", text=writers.write(scene, "mjcf").text)
    assert redundancy_and_mobility(back) == redundancy_and_mobility(scene) == (0, 1)
    found = back.mechanism.couplings[0]
    scale = 2.0 / found.terms[0].coefficient
    assert [scale * t.coefficient for t in found.terms] == pytest.approx([2.0, -3.0], abs=1e-12)
    assert scale * found.offset == pytest.approx(0.7, abs=1e-12)
    # MuJoCo's residual is of y, whose coefficient is 2; the lock holds where the joint is
    np.testing.assert_allclose(data.efc_pos[:2], [(2 * 0.5 - 3 * -0.2 - 0.7) / 2, 0.0], atol=1e-12)


def test_what_mjcf_has_no_place_for_is_named() -> None:
    three = tuple(Term(name, "rz" if name != "out" else "tz", 1.0) for name in ("one", "two", "out"))
    scene = arm(couplings=(Coupling("sum", "gear", three),), drivers=(Driver("turn", "one", rate=1.0),))
    left_out = writers.write(scene, "mjcf").left_out
    assert any("'sum'" in part for part in left_out) and any("turn" in part for part in left_out)


def test_a_closure_that_nothing_holds_is_refused_in_one_sentence() -> None:
    scene = arm()
    rod = Pair("rod", "distance", WORLD, "c", Pose.identity(), Pose.identity(), closure=True, length=1.0)
    mech = replace(scene.mechanism, pairs=(*scene.mechanism.pairs, rod))
    with pytest.raises(BadUsage, match=r"MJCF has no closure such as 'rod' \(distance\)"):
        writers.write(replace(scene, mechanism=mech), "mjcf")


def test_a_massless_body_between_two_joints_is_no_body_for_mujoco() -> None:
    scene = arm()
    bodies = (replace(scene.mechanism.bodies[0], mass=0.0, I_C=np.zeros((3, 3))), *scene.mechanism.bodies[1:])
    scene = replace(scene, mechanism=replace(scene.mechanism, bodies=bodies))
    model, _ = compiled(scene)
    assert model.nbody == 3 and model.nv == 3
    back = readers.load("model.xml", text=writers.write(scene, "mjcf").text)
    assert_same_mass_matrix(scene, back, tree=True)
