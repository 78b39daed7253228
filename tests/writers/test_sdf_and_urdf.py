"""SDF and URDF: coordinates, limits, mimics, closures; and PyBullet loads the URDF with our mass matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin import readers, writers
from mbplugin.constraints.reduction import mass_matrix, velocity_transformation
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import WORLD, Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.scene import Load, Scene, State
from mbplugin.model.spatial import JointSpring, Pose, rotation_from_vector
from models import four_bar
from places import ASSETS
from same_mechanics import assert_same_mass_matrix, redundancy_and_mobility
from solid_bodies import with_masses


def chain(*, coupled: bool = False) -> Scene:
    """Three bodies on skew joints at a pose that is not zero; the second pair runs inwards."""
    rng = np.random.default_rng(5)
    freedom = Freedom(-1.0, 2.0, 30.0, 4.0, 0.4, 0.2)
    X = [Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3)) for _ in range(6)]
    pairs = (
        Pair("one", "revolute", WORLD, "a", X[0], X[1], freedoms=(freedom,)),
        Pair("two", "prismatic", "b", "a", X[2], X[3], freedoms=(freedom,)),
        Pair("three", "continuous", "b", "c", X[4], X[5]),
    )
    couplings = (Coupling("mimic two", "mimic", (Term("two", "tz", 2.0), Term("one", "rz", -3.0)), 0.4),)
    mech = Mechanism("chain", tuple(Body(n) for n in "abc"), pairs, couplings=couplings if coupled else ())
    return Scene(with_masses(mech, 1), State(np.array([0.5, -0.2, 2.0]), np.zeros(3)))


def test_sdf_counts_coordinates_from_its_pose() -> None:
    scene = replace(chain(coupled=True), springs=(JointSpring("one", 7.0, 0.3),))
    written = writers.write(scene, "sdf")
    back = readers.load("x.sdf", text=written.text)
    assert "relative to the written pose" in written.held[0] and written.left_out == ()
    np.testing.assert_allclose(back.state.q, 0, atol=1e-15)
    first = back.mechanism.pair_by_name["one"].freedoms[0]
    assert (first.lower, first.upper) == pytest.approx((-1.5, 1.5))
    assert (first.effort, first.velocity, first.damping, first.friction) == (30.0, 4.0, 0.4, 0.2)
    assert back.springs[0].stiffness == 7.0 and back.springs[0].rest == pytest.approx(-0.2)  # type: ignore[union-attr]
    # the poses of all bodies at other coordinates, which follow from the file's zero
    step = np.array([0.3, 0.7, -1.1])
    ours, theirs = forward(scene.mechanism, scene.state.q + step), forward(back.mechanism, step)
    np.testing.assert_allclose(theirs.p_WL, ours.p_WL, atol=1e-12)
    np.testing.assert_allclose(theirs.R_WL, ours.R_WL, atol=1e-12)
    # 2 q2 - 3 q1 = 0.4 in ours, in coordinates that count from the pose
    terms, offset = back.mechanism.couplings[0].terms, back.mechanism.couplings[0].offset
    values = {"one": 0.1, "two": (0.4 + 3 * (0.5 + 0.1)) / 2 + 0.2}
    assert sum(t.coefficient * values[t.joint] for t in terms) == pytest.approx(offset, abs=1e-12)


def test_urdf_keeps_coordinates_limits_and_mimics() -> None:
    scene = chain(coupled=True)
    back = readers.load("x.urdf", text=writers.write(scene, "urdf").text)
    assert back.mechanism.q_names == scene.mechanism.q_names
    for name in ("one", "two"):
        assert back.mechanism.pair_by_name[name].freedoms == scene.mechanism.pair_by_name[name].freedoms
    q = np.array([0.3, 0.7, -1.1])
    ours, theirs = forward(scene.mechanism, q), forward(back.mechanism, q)
    for k, name in enumerate("abc"):
        np.testing.assert_allclose(theirs.p_WC[back.mechanism.body_index[name]], ours.p_WC[k], atol=1e-12)
    (mimic,) = back.mechanism.couplings
    assert [t.coefficient / mimic.terms[0].coefficient for t in mimic.terms] == pytest.approx([1.0, -1.5])
    assert mimic.offset / mimic.terms[0].coefficient == pytest.approx(0.2)


def test_pybullet_loads_the_urdf_and_has_our_mass_matrix(tmp_path: Path) -> None:
    bullet = pytest.importorskip("pybullet")
    scene = chain()
    file = tmp_path / "chain.urdf"
    writers.write(scene, "urdf").save(file)
    assert mb.load(file).mechanism.q_names == scene.mechanism.q_names
    client = bullet.connect(bullet.DIRECT)
    try:
        flags = bullet.URDF_USE_INERTIA_FROM_FILE
        robot = bullet.loadURDF(str(file), useFixedBase=True, flags=flags, physicsClientId=client)
        infos = [bullet.getJointInfo(robot, k, physicsClientId=client) for k in range(3)]
        order = [scene.mechanism.q_names.index(info[1].decode()) for info in infos]
        M = np.array(bullet.calculateMassMatrix(robot, scene.state.q[order].tolist(), physicsClientId=client))
    finally:
        bullet.disconnect(client)
    poses = forward(scene.mechanism, scene.state.q)
    S = velocity_transformation(scene.mechanism, poses)
    ours = S.T @ mass_matrix(scene.mechanism, poses) @ S
    np.testing.assert_allclose(M, ours[np.ix_(order, order)], rtol=1e-6, atol=1e-6)


def test_pinocchio_reads_the_urdf_and_has_our_mass_matrix() -> None:
    pinocchio = pytest.importorskip("pinocchio")
    scene = chain()
    # a joint without limits has two coordinates there
    pairs = tuple(
        replace(p, type="revolute", freedoms=(Freedom(-9.0, 9.0),)) if p.name == "three" else p
        for p in scene.mechanism.pairs
    )
    scene = replace(scene, mechanism=replace(scene.mechanism, pairs=pairs))
    model = pinocchio.buildModelFromXML(writers.write(scene, "urdf").text)
    order = [scene.mechanism.q_names.index(name) for name in list(model.names)[1:]]
    M = np.array(pinocchio.crba(model, model.createData(), scene.state.q[order]))
    M = np.triu(M) + np.triu(M, 1).T
    poses = forward(scene.mechanism, scene.state.q)
    S = velocity_transformation(scene.mechanism, poses)
    ours = S.T @ mass_matrix(scene.mechanism, poses) @ S
    np.testing.assert_allclose(M, ours[np.ix_(order, order)], atol=1e-9)


@pytest.mark.parametrize("to", ["sdf", "urdf"])
def test_a_loop_comes_back(to: str) -> None:
    mech, q = four_bar()
    scene = Scene(mech, State(q, np.zeros(len(mech.qd_names))))
    back = readers.load(f"x.{to}", text=writers.write(scene, to).text)
    assert redundancy_and_mobility(back) == (3, 1)
    assert_same_mass_matrix(scene, back, tree=True)


@pytest.mark.parametrize(
    ("to", "kind", "message"),
    [
        ("sdf", "planar", r"SDF has no joint such as 'two' \(planar\)"),
        ("urdf", "universal", r"URDF has no joint such as 'two' \(universal\)"),
    ],
)
def test_what_a_format_lacks_is_one_sentence(to: str, kind: str, message: str) -> None:
    mech = chain().mechanism
    pairs = [Pair(p.name, kind if p.name == "two" else p.type, *p.bodies, p.X_AP, p.X_BS) for p in mech.pairs]
    changed = replace(mech, pairs=tuple(pairs))
    with pytest.raises(BadUsage, match=message):
        writers.write(changed, to)


def test_several_roots_are_no_urdf() -> None:
    mech = Mechanism("two", (Body("a", 1.0), Body("b", 1.0)))
    with pytest.raises(BadUsage, match="URDF has one root, and the model has 2: a, b"):
        writers.write(mech, "urdf")


def test_numbers_that_a_urdf_must_state_and_the_model_does_not_are_named() -> None:
    free = Freedom(lower=-1.0, upper=1.0, velocity=2.0)
    slide = Freedom(effort=5.0)
    pairs = (
        Pair("turn", "revolute", WORLD, "a", Pose.identity(), Pose.identity(), freedoms=(free,)),
        Pair("slide", "prismatic", "a", "b", Pose.identity(), Pose.identity(), freedoms=(slide,)),
        Pair("spin", "continuous", "b", "c", Pose.identity(), Pose.identity()),
    )
    mech = with_masses(Mechanism("chain", tuple(Body(n) for n in "abc"), pairs), 1)
    written = writers.write(Scene(mech, State(np.zeros(3), np.zeros(3))), "urdf")
    assert set(written.held) == {
        "no limit on effort of turn, which a URDF must state: 1e+16",
        "no limit on lower, upper, velocity of slide, which a URDF must state: 1e+16",
    }
    assert written.text.count("1e+16") == 4
    back = readers.load("x.urdf", text=written.text).mechanism
    assert [pair.freedoms for pair in back.pairs] == [pair.freedoms for pair in mech.pairs]


def test_what_is_left_out_is_named() -> None:
    scene = mb.load(ASSETS / "four_bar.scene.toml")
    loaded = replace(scene, loads=(Load("coupler", np.ones(3), np.zeros(3), np.zeros(3)),))
    for to in ("sdf", "urdf"):
        assert any("1 load of the scene" in part for part in writers.write(loaded, to).left_out)
    three = replace(scene.mechanism, gravity=np.array([0, -9.81, 0.0]))
    assert any("gravity" in part for part in writers.write(three, "urdf").left_out)
