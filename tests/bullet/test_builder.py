"""A mechanism built in PyBullet is the same mechanism, by what PyBullet tells of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import null_space

import mbplugin as mb
from mbplugin.bullet import session
from mbplugin.bullet.built import Built, build
from mbplugin.bullet.reader import read_client
from mbplugin.bullet.tree import Visual
from mbplugin.constraints.reduction import body_twists
from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.kinematics import displace, forward, home
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Payload, Scene
from mbplugin.model.spatial import Array, Pose, rotation_from_quaternion, rotation_from_rpy
from models import body_at, chain, pose_at
from places import BULLET_DATA, TESTS
from random_mechanisms import geared_twice, loop_mechanism

HERE = TESTS
DATA = BULLET_DATA
ORACLES = sorted((HERE / "oracles").glob("*.sdf"))
ASSETS = sorted((HERE.parent / "assets").glob("*.toml"))
ROBOTS = ("kuka_iiwa/model.urdf", "humanoid/humanoid.urdf", "quadruped/minitaur.urdf", "r2d2.urdf")
TYPES = (
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "screw",
    "point-on-line",
    "point-on-plane",
    "floating",
)


def turned(mech: Mechanism) -> Mechanism:
    """The same bodies with every other pair the other way round, so that the tree runs against it."""
    pairs = tuple(
        replace(p, body_a=p.body_b, body_b=p.body_a, X_AP=p.X_BS, X_BS=p.X_AP) if k % 2 else p
        for k, p in enumerate(mech.pairs)
    )
    return replace(mech, pairs=pairs)


def anywhere(mech: Mechanism, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    step, qd = rng.normal(size=(2, len(mech.qd_names)))
    return displace(mech, home(mech), step), qd


def require_same_state(mech: Mechanism, built: Built, q: Array, qd: Array) -> None:
    """Poses as PyBullet computes them, twists as it computes them, and the vectors read back."""
    poses = forward(mech, q)
    twists = body_twists(mech, poses, qd)
    for i, body in enumerate(mech.bodies):
        X, place = built.pose(body.name), built.places[body.name]
        assert pytest.approx(poses.R_WL[i], abs=1e-12) == X.R
        assert pytest.approx(poses.p_WL[i], abs=1e-12) == X.p
        if place.link >= 0:
            state = built.bullet.getLinkState(
                place.id,
                place.link,
                computeLinkVelocity=1,
                computeForwardKinematics=1,
                physicsClientId=built.client,
            )
            arm = np.array(state[0]) - poses.p_WC[i]
            v = twists[i, :3] + np.cross(twists[i, 3:], arm)
            assert np.concatenate((v, twists[i, 3:])) == pytest.approx(np.concatenate(state[6:8]), abs=1e-9)
    q_read, qd_read = built.state()
    assert qd_read == pytest.approx(qd, abs=1e-12)
    again = forward(mech, q_read)
    assert pytest.approx(poses.R_WL, abs=1e-12) == again.R_WL
    assert again.p_WL == pytest.approx(poses.p_WL, abs=1e-12)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("way", ["along", "against"])
def test_a_chain_of_every_pair_stands_and_moves_as_ours(kind: str, way: str) -> None:
    mech, _ = chain(4, kind, np.random.default_rng(3))
    if way == "against":
        mech = turned(mech)
    q, qd = anywhere(mech, 5)
    with session() as (_, client):
        built = build(mech, client, q, qd)
        assert not built.left_out
        require_same_state(mech, built, q, qd)


def named(read: Mechanism, name: str) -> int:
    (index,) = [i for i, b in enumerate(read.bodies) if b.name == name or b.name.endswith(f"/{name}")]
    return index


def require_same_mechanism(mech: Mechanism, q: Array, qd: Array, read: Scene) -> None:
    """Masses, centres, inertias and twists in the world, and which motions the constraints allow."""
    assert read.state is not None
    poses, theirs = forward(mech, q), forward(read.mechanism, read.state.q)
    twists = body_twists(mech, poses, qd)
    their_twists = body_twists(read.mechanism, theirs, read.state.qd)
    index = [named(read.mechanism, body.name) for body in mech.bodies]
    for i, k in enumerate(index):
        body, other = mech.bodies[i], read.mechanism.bodies[k]
        assert theirs.p_WC[k] == pytest.approx(poses.p_WC[i], abs=1e-9)
        assert their_twists[k] == pytest.approx(twists[i], abs=1e-9)
        assert other.mass == pytest.approx(body.mass, rel=1e-12)
        ours = poses.R_WL[i] @ body.I_C @ poses.R_WL[i].T
        assert theirs.R_WL[k] @ other.I_C @ theirs.R_WL[k].T == pytest.approx(ours, abs=1e-9)
    C, C_read = (
        mb.constraint_matrix(m, x).C.toarray() for m, x in ((mech, q), (read.mechanism, read.state.q))
    )
    columns = np.concatenate([np.arange(6 * k, 6 * k + 6) for k in index])
    motions = null_space(C, rcond=1e-9)
    U, s, _ = np.linalg.svd(null_space(C_read, rcond=1e-9)[columns], full_matrices=False)
    seen = U[:, s > 1e-9]
    assert motions.shape[1] == seen.shape[1]
    assert motions @ motions.T == pytest.approx(seen @ seen.T, abs=1e-9)


def require_read_back(mech: Mechanism, q: Array, qd: Array) -> None:
    with session() as (bullet, client):
        built = build(mech, client, q, qd)
        bullet.setGravity(*mech.gravity, physicsClientId=client)
        assert not built.left_out
        require_same_state(mech, built, q, qd)
        read = read_client(client)
    require_same_mechanism(mech, q, qd, read)


@pytest.mark.parametrize("kind", ["planar", "spherical"])
@pytest.mark.parametrize("seed", range(5))
def test_a_random_mechanism_is_read_back(kind: str, seed: int) -> None:
    mech, q = loop_mechanism(seed, 1 + seed % 3, kind)
    require_read_back(mech, q, np.zeros(len(mech.qd_names)))


@pytest.mark.parametrize("kind", ["prismatic", "revolute", "cylindrical", "universal", "spherical"])
def test_a_random_tree_is_read_back(kind: str) -> None:
    mech, _ = chain(4, kind, np.random.default_rng(1))
    require_read_back(mech, *anywhere(mech, 2))


@pytest.mark.parametrize("file", ORACLES, ids=lambda f: f.stem)
def test_an_oracle_is_read_back(file: Path) -> None:
    scene = mb.load(file)
    mech = scene.mechanism
    with session() as (_, client):
        built = build(scene, client)
        assert not built.left_out
        require_same_state(mech, built, scene.state.q, scene.state.qd)
        if not built.halves:
            require_same_mechanism(mech, scene.state.q, scene.state.qd, read_client(client))


@pytest.mark.long_after(2)
@pytest.mark.parametrize("file", ROBOTS)
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_robot_is_read_back(file: str, base: str) -> None:
    mech = mb.load(DATA / file, base=base).mechanism
    q, qd = anywhere(mech, 4)
    with session() as (_, client):
        built = build(mech, client, q, qd)
        if base == "free" and mech.bodies[0].mass == 0:
            assert built.left_out
            return
        require_same_state(mech, built, q, qd)
        read = read_client(client)
    require_same_mechanism(replace(mech, couplings=()), q, qd, read)


@pytest.mark.parametrize("seed", range(4))
def test_cut_bodies_allow_the_same_motions(seed: int) -> None:
    """Closures that PyBullet lacks: the bodies' motions that two halves and a weld allow are those."""
    mech, q = loop_mechanism(seed, 2, "generic")
    with session() as (_, client):
        built = build(mech, client, q)
        require_same_state(mech, built, q, np.zeros(len(mech.qd_names)))
        read = read_client(client)
    whole = [replace(b, mass=2 * b.mass) for b in mech.bodies]
    assert sum(b.mass for b in read.mechanism.bodies) == pytest.approx(sum(b.mass for b in whole) / 2)
    C = mb.constraint_matrix(mech, q).C.toarray()
    C_read = mb.constraint_matrix(read.mechanism, read.state.q).C.toarray()
    index = [named(read.mechanism, body.name) for body in mech.bodies]
    columns = np.concatenate([np.arange(6 * k, 6 * k + 6) for k in index])
    motions, seen = null_space(C, rcond=1e-9), null_space(C_read, rcond=1e-9)[columns]
    assert np.linalg.matrix_rank(seen, tol=1e-9) == motions.shape[1]
    assert motions @ (motions.T @ seen) == pytest.approx(seen, abs=1e-9)


@pytest.mark.parametrize("file", ASSETS, ids=lambda f: f.stem)
def test_a_model_of_ours_is_built_and_its_wheels_are_named(file: Path) -> None:
    scene = mb.load(file)
    with session() as (_, client):
        built = build(scene, client)
        require_same_state(scene.mechanism, built, scene.state.q, scene.state.qd)
    assert len(built.left_out) == len(scene.mechanism.pfaffians) + len(scene.mechanism.drivers)
    for pfaffian in scene.mechanism.pfaffians:
        assert any(repr(pfaffian.name) in text for text in built.left_out)


def test_gears_are_read_back() -> None:
    mech = geared_twice(loop_mechanism(1, 1, "planar")[0])
    with session() as (_, client):
        build(mech, client)
        read = read_client(client).mechanism
    assert len(read.couplings) == 2
    for coupling in read.couplings:
        assert [t.coefficient for t in coupling.terms] == pytest.approx([1.0, 2.5])


def test_names_that_a_file_may_hold_stay_what_they_are() -> None:
    names = ('<b & "c">', "a'b/c", "ünï", "x" * 300)
    bodies = tuple(body_at(name) for name in names)
    ends = (WORLD, *names)
    pairs = tuple(
        Pair(f"{names[k]}>", "revolute", ends[k], names[k], pose_at(np.ones(3)), Pose.identity())
        for k in range(4)
    )
    mech = Mechanism("<&>", bodies, pairs)
    q, qd = anywhere(mech, 1)
    with session() as (_, client):
        require_same_state(mech, build(mech, client, q, qd), q, qd)


def test_an_inertia_that_bullet_zeroes_is_kept() -> None:
    """Moments that break the triangle inequality, which files have and Bullet's loader throws away."""
    body = Body("bar", 2.0, np.array([0.1, 0.2, 0.3]), np.diag([0.1, 0.1, 0.9]))
    mech = Mechanism(
        "m", (body,), (Pair("j", "revolute", WORLD, "bar", pose_at([0, 0, 0]), Pose.identity()),)
    )
    require_read_back(mech, np.array([0.4]), np.array([0.3]))


def test_payloads_move_with_their_body() -> None:
    load = Payload("b1", 3.0, np.array([0.3, 0.0, 0.1]), np.diag([0.1, 0.2, 0.25]))
    mech, _ = chain(2, "revolute", np.random.default_rng(6))
    q, qd = anywhere(mech, 1)
    weight = Body("weight", load.mass, load.com, load.inertia)
    same = Pose.identity()
    apart = replace(
        mech,
        bodies=(*mech.bodies, weight),
        pairs=(*mech.pairs, Pair("w", "fixed", "b1", "weight", same, same)),
    )
    matrices = []
    state = replace(mb.load(ORACLES[0]).state, q=q, qd=qd)
    for model in (Scene(mech, state, payloads=(load,)), apart):
        with session() as (bullet, client):
            built = build(model, client, q, qd)
            matrices.append(bullet.calculateMassMatrix(built.ids[0], q.tolist(), physicsClientId=client))
    assert np.array(matrices[0]) == pytest.approx(np.array(matrices[1]), abs=1e-12)


def test_a_free_base_without_mass_takes_over_what_is_fixed_to_it() -> None:
    frame = pose_at(np.array([0.1, 0.0, 0.2]))
    mech = Mechanism(
        "m",
        (Body("base"), body_at("hull", 4.0), body_at("arm")),
        (
            Pair("weld", "fixed", "base", "hull", frame, Pose.identity()),
            Pair("j", "revolute", "hull", "arm", frame, frame),
        ),
    )
    q, qd = anywhere(mech, 3)
    with session() as (bullet, client):
        built = build(mech, client, q, qd)
        assert not built.left_out
        require_same_state(mech, built, q, qd)
        assert bullet.getDynamicsInfo(built.ids[0], -1, physicsClientId=client)[0] == 4.0


def test_what_pybullet_cannot_hold_is_named() -> None:
    ends = Pose.identity()
    mech = Mechanism(
        "m",
        (body_at("a"), Body("b")),
        (
            Pair("rod", "distance", WORLD, "a", ends, ends, length=1.0),
            Pair("idle", "revolute", "a", "b", ends, ends),
        ),
    )
    with session() as (_, client):
        left_out = build(mech, client).left_out
    assert [text for text in left_out if "'rod'" in text]
    assert [text for text in left_out if "'idle' moves no mass" in text]


def test_bodies_look_as_they_are_told_to() -> None:
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    shape = Visual(vertices, np.array([[0, 2, 1], [0, 1, 3]]), (0.1, 0.2, 0.3, 0.5))
    mech, _ = chain(2, "revolute", np.random.default_rng(4))
    with session() as (bullet, client):
        built = build(mech, client, visuals={"b1": [shape, shape]})
        found = bullet.getVisualShapeData(built.ids[0], physicsClientId=client)
        assert [v[1] for v in found] == [built.places["b1"].link] * 2
        assert found[1][7] == pytest.approx((0.1, 0.2, 0.3, 0.5))
        X = mech.pairs[1].X_BS.inverse()
        assert np.array(found[0][5]) == pytest.approx(X.p, abs=1e-6)
        assert rotation_from_quaternion(found[0][6]) == pytest.approx(X.R, abs=1e-6)


def test_what_was_built_can_be_removed() -> None:
    mech, q = loop_mechanism(3, 2, "planar")
    with session() as (bullet, client):
        build(mech, client, q).remove()
        assert bullet.getNumBodies(physicsClientId=client) == 0
        assert bullet.getNumConstraints(physicsClientId=client) == 0


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 0.3])
def test_angles_of_a_rotation_give_it_back(pitch: float) -> None:
    from mbplugin.bullet.tree import rpy_from_rotation

    R = rotation_from_rpy((0.4, pitch, -1.2))
    assert rotation_from_rpy(rpy_from_rotation(R)) == pytest.approx(R, abs=1e-15)


# PyBullet reports nothing of a tree of more than 127 joints: bodies that fixed joints hold are parts of others there.


def branched(n: int, moving: int, *, free: bool) -> Mechanism:
    """A tree of ``n`` joints, ``moving`` of which turn, with frames anywhere and half of its joints reversed."""
    rng = np.random.default_rng(7)
    bodies = [
        Body(f"b{k}", rng.uniform(0.5, 2.0), rng.normal(size=3) / 20, np.diag(rng.uniform(0.01, 0.015, 3)))
        for k in range(n + free)
    ]
    turning = set(rng.choice(n, moving, replace=False).tolist())
    pairs = []
    for k in range(n):
        inner = int(rng.integers(max(0, k - 4), k + 1)) - (not free)
        ends = [WORLD if inner < 0 else f"b{inner}", f"b{k + free}"]
        X_AP, X_BS = (Pose(rotation_from_rpy(rng.normal(size=3)), rng.normal(size=3) / 10) for _ in range(2))
        kind = "revolute" if k in turning else "fixed"
        pairs.append(Pair(f"j{k}", kind, *ends[:: 1 if k % 2 else -1], X_AP, X_BS))
    return Mechanism("branched", tuple(bodies), tuple(pairs), gravity=np.array([0.0, 0.0, -9.81]))


@pytest.mark.parametrize("free", [True, False])
def test_a_tree_of_more_joints_than_pybullet_reports_stands_as_ours(free: bool) -> None:
    mech = branched(135, 5, free=free)
    q, qd = anywhere(mech, 5)
    with session() as (_, client):
        built = build(mech, client, q, qd)
        assert len(built.merged) == 130 and not built.left_out
        for i, body in enumerate(mech.bodies):
            poses, X = forward(mech, q), built.pose(body.name)
            assert pytest.approx(poses.R_WL[i], abs=1e-12) == X.R
            assert pytest.approx(poses.p_WL[i], abs=1e-12) == X.p
        q_read, qd_read = built.state()
        assert forward(mech, q_read).p_WL == pytest.approx(forward(mech, q).p_WL, abs=1e-12)
        assert qd_read == pytest.approx(qd, abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("free", [True, False])
def test_a_tree_of_more_joints_than_pybullet_reports_moves_as_ours(free: bool) -> None:
    """One body that is part of another link has a payload, and another one a force."""
    mech = branched(135, 5, free=free)
    _, qd = anywhere(mech, 5)
    carried = Payload("b134", 3.0, np.array([0.1, 0.0, 0.2]), 0.02 * np.eye(3))
    force = mb.Load("b130", np.array([3.0, 1.0, -2.0]), np.array([0.1, 0.3, 0.2]), np.zeros(3))
    found = mb.crosscheck(mech, 0.02, qd=qd, payloads=[carried], loads=[force], engine="pybullet")
    assert found.agrees, found


def test_so_many_moving_joints_are_refused_and_so_is_a_client_that_has_them(tmp_path: Path) -> None:
    with session() as (bullet, client):
        with pytest.raises(BrokenModel, match=r"at most 127 joints .* 130 joints move in the tree of 'b"):
            build(branched(140, 130, free=True), client)
        links = [f'<link name="l{k}"/>' for k in range(140)]
        joints = [
            f'<joint name="j{k}" type="fixed"><parent link="l{k}"/><child link="l{k + 1}"/></joint>'
            for k in range(139)
        ]
        file = tmp_path / "many.urdf"
        file.write_text("\n".join(['<robot name="many">', *links, *joints, "</robot>"]), encoding="utf-8")
        bullet.loadURDF(str(file), physicsClientId=client)
        with pytest.raises(
            BrokenModel, match=r"at most 127 joints of one body; body 0 has 139; read its file"
        ):
            read_client(client)


@pytest.mark.long
def test_so_many_moving_joints_leave_the_other_engine_its_answer() -> None:
    found = mb.crosscheck(branched(132, 130, free=False), 0.02)
    assert (found.engine, found.verdict) == ("MuJoCo", "agrees")
    assert found.second is not None and found.second.verdict == "not comparable"
    assert "at most 127 joints" in found.second.reason
