"""Joint frames: what does not depend on them, reactions in world axes, and the signs of λ and Λ."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, call
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.joint_reactions.values import Reactions
from mbplugin.model.mechanism import WORLD, Body, Lock, Mechanism
from mbplugin.model.mechanism.kinematics import coordinates_of, forward
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array, Pose, rotation_from_rpy, rotation_from_vector, shift_rows
from mbplugin.simulation.impact import activate
from models import chain, four_bar, from_world_frames, pose_at

FOUR_BAR = str(ASSETS / "four_bar.scene.toml")
RODS = dict(zip("ABCDEFGH", "AACCEEGG", strict=True))
SECTION = {"E": 210e9, "A": 1e-3, "Iy": 1e-7, "Iz": 2e-7, "J": 1e-7}


def turned(mech: Mechanism, turns: dict[str, Array]) -> Mechanism:
    """The same mechanism; both frames of a joint turned together, which moves nothing."""
    return replace(
        mech,
        pairs=tuple(
            replace(
                p,
                X_AP=p.X_AP @ Pose(turns[p.name], np.zeros(3)),
                X_BS=p.X_BS @ Pose(turns[p.name], np.zeros(3)),
            )
            for p in mech.pairs
        ),
    )


def about_z(angle: float) -> Array:
    return np.asarray(rotation_from_vector(np.array([0.0, 0.0, angle])))


@pytest.fixture(scope="module")
def parallelogram() -> Scene:
    return mb.load(ASSETS / "spatial_parallelogram.scene.toml")


def test_a_rod_is_open_along_itself_however_its_ball_joints_are_turned(parallelogram: Scene) -> None:
    """Ball joints of the lower rods: three open components, or one; one open direction, the rod's."""
    mech, q = parallelogram.mechanism, parallelogram.state.q
    poses = forward(mech, q)

    def at(name: str) -> Array:
        pair = mech.pair_by_name[name]
        return np.asarray(poses.of(mech.body_index[pair.body_b]).apply(pair.X_BS.p))

    along = at("B") - at("A")
    along /= np.linalg.norm(along)
    rng = np.random.default_rng(1)
    random = {p.name: rotation_from_rpy(rng.uniform(-3, 3, 3)) for p in mech.pairs}
    # z of the foot along the rod: then only tz is open
    x = np.cross(along, [1.0, 0, 0]) / np.linalg.norm(np.cross(along, [1.0, 0, 0]))
    aligned = {p.name: np.eye(3) for p in mech.pairs} | {"A": np.column_stack((x, np.cross(along, x), along))}
    seen = set()
    for turns in ({p.name: np.eye(3) for p in mech.pairs}, random, aligned):
        analysis = mb.analyze(turned(mech, turns), coordinates(mech, turned(mech, turns), q))
        verdicts = {v.name: v for v in analysis.constraints}
        seen.add(tuple(c.name for c in verdicts["A"].components if not c.unique))
        for name in RODS:
            (direction,) = verdicts[name].open_force or ()
            assert abs(np.dot(direction, along)) == pytest.approx(1.0, abs=1e-12)
            assert verdicts[name].open_moment == ()
        for name in "KLMNPQR":
            assert verdicts[name].open_force == verdicts[name].open_moment == ()
    assert seen == {("tx", "ty", "tz"), ("tz",)}


def coordinates(mech: Mechanism, other: Mechanism, q: Array) -> Array:
    """The same pose in the other's coordinates: quaternions are those of its own frames."""
    return np.asarray(coordinates_of(other, forward(mech, q)))


@pytest.mark.parametrize("seed", range(6))
def test_a_hinge_may_be_turned_about_its_axis(seed: int) -> None:
    """A bent three-bar loop of hinges and ball joints: components change with the angle, space does not."""
    rng = np.random.default_rng(seed)
    mech, q = four_bar(types=("revolute", "spherical", "revolute", "revolute"))
    before = {v.name: v for v in mb.analyze(mech, q).constraints}
    turns = {p.name: about_z(rng.uniform(-3, 3)) if p.type == "revolute" else np.eye(3) for p in mech.pairs}
    after = {v.name: v for v in mb.analyze(turned(mech, turns), q).constraints}
    assert any(v.open_moment for v in before.values())
    for name, verdict in before.items():
        for one, other in (
            (verdict.open_force, after[name].open_force),
            (verdict.open_moment, after[name].open_moment),
        ):
            assert np.array(one) == pytest.approx(np.array(other), abs=1e-9)


def test_a_planar_four_bar_is_open_along_its_axis() -> None:
    """p = 3: forces along the axis, moments across it."""
    mech, q = four_bar()
    for verdict in mb.analyze(mech, q).constraints:
        assert verdict.open_force == ((0.0, 0.0, 1.0),)
        assert verdict.open_moment == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    scene = json.loads(call("lint", FOUR_BAR, "--output-format", "json").out)
    jsonschema.validate(scene, json.loads(call("schema", "lint").out))
    hinges = [c for c in scene["constraints"] if c["name"].startswith("j")]
    assert len(hinges) == 4
    for c in hinges:
        assert c["open_force"] == [[0, 1, 0]] and len(c["open_moment"]) == 2
        assert np.abs(np.array(c["open_moment"]) @ [0, 1, 0]).max() < 1e-12
        R = np.array(c["R_WJ"])
        assert pytest.approx(np.eye(3), abs=1e-9) == R @ R.T
        assert abs(R[1, 2]) == pytest.approx(1.0, abs=1e-9)


def bar() -> tuple[Mechanism, Array]:
    """2 m along x between two ball joints on the ground, their frames turned by 45° about z."""
    mech, q = from_world_frames(
        "bar",
        {"bar": Pose(np.eye(3), np.array([1.0, 0, 0]))},
        [(f"s{k}", "spherical", WORLD, "bar", pose_at([2.0 * k, 0, 0])) for k in range(2)],
    )
    mech = replace(mech, bodies=(Body("bar", 0.0, np.zeros(3), np.zeros((3, 3))),))
    other = turned(mech, {"s0": about_z(np.pi / 4), "s1": about_z(np.pi / 4)})
    return other, coordinates(mech, other, q)


def test_a_direction_may_be_determined_where_no_component_is() -> None:
    mech, q = bar()
    found = mb.reactions(mech, q, loads=[{"body": "bar", "force": [0, 60.0, -100.0]}])
    for name in ("s0", "s1"):
        reaction = found[name]
        assert [c.value is None for c in reaction.components] == [True, True, False]
        assert reaction.world is not None and reaction.world.sources[:3] == (None, "rigid", "rigid")
        assert reaction.wrench_in("world")[1:3] == pytest.approx([-30.0, 50.0], rel=1e-12)
        assert np.isnan(reaction.wrench_in("world")[0])
        assert reaction.open_force == ((1.0, 0.0, 0.0),) and reaction.open_moment == ()
    assert pytest.approx(about_z(np.pi / 4), abs=1e-12) == found["s0"].R_WJ
    with pytest.raises(mb.MbPluginError, match="joint, world"):
        found["s0"].wrench_in("tool")


def unbalanced(mech: Mechanism, found: Reactions) -> Array:
    """What is left on every body (N, 6) at its centre of mass of all world wrenches and its weight."""
    poses = forward(mech, found.q)
    left = np.zeros((len(mech.bodies), 6))
    for k, body in enumerate(mech.bodies):
        left[k, :3] += body.mass * mech.gravity
    for c in found.constraints:
        assert c.world is not None and c.world.body == c.body_b
        for name, sign in ((c.body_b, 1.0), (c.body_a, -1.0)):
            k = mech.body_index[name]
            if k >= 0:
                left[k] += sign * shift_rows(c.world.wrench, c.world.point - poses.p_WC[k])
    return left


def test_world_wrenches_balance_every_body(parallelogram: Scene) -> None:
    soft = dict.fromkeys(("1", "2", "3", "4", "7"), SECTION)
    found = mb.reactions(parallelogram, hold=["A.rx", "P", "Q", "R"], stiffness=soft)
    assert found.unresolved == ()
    assert np.abs(unbalanced(parallelogram.mechanism, found)).max() < 1e-8
    scene = mb.load(FOUR_BAR)
    found = mb.reactions(scene, scene.state.q)
    assert np.abs(unbalanced(found.mechanism, found)).max() < 1e-8
    # and they are the components, turned
    for c in found.constraints:
        if c.wrench is not None:
            assert np.kron(np.eye(2), c.R_WJ) @ c.wrench == pytest.approx(c.wrench_in("world"), abs=1e-9)


def test_the_sign_of_lambda() -> None:
    """M v̇ = F + Cᵀλ, λ on the successor: a bar that hangs on its joint is pulled up by it."""
    mech, q = chain(1, "revolute", np.random.default_rng(4))
    found = mb.reactions(mech, q, hold=list(mech.qd_names))
    weight = mech.bodies[0].mass * mech.gravity
    (joint,) = (c for c in found.constraints if c.kind == "pair")
    assert joint.world is not None
    assert joint.world.wrench[:3] == pytest.approx(-weight, abs=1e-9)
    matrix = mb.constraint_matrix(replace(mech, locks=tuple(Lock(n) for n in mech.qd_names)), q)
    lam = np.array([found.value(*label) for label in matrix.rows])
    F = np.concatenate((weight, np.zeros(3)))
    assert matrix.C.T @ lam + F == pytest.approx(np.zeros(6), abs=1e-9)


def test_the_sign_of_an_impulse() -> None:
    """M Δq̇ = J₊ᵀΛ: who turns forwards is given an impulse backwards, Λ = −J q̇₋."""
    mech, q = chain(1, "revolute", np.random.default_rng(4))
    held = replace(mech, locks=(Lock(mech.qd_names[0]),))
    equations = joint_equations(held, q, np.array([2.0]))
    found = activate(equations, None, [held.locks[0].name])
    inertia = equations.M[0, 0]
    assert inertia > 0
    assert found.impulse[held.locks[0].name, "rz_lock"] == pytest.approx(-2.0 * inertia, rel=1e-12)


def test_what_a_joint_leaves_free_is_no_reaction() -> None:
    """Also in the joint that closes the loop, j3, where it used to be 8.9e-16 N·m."""
    scene = mb.load(FOUR_BAR)
    mech = replace(scene.mechanism, gravity=np.array([0.3, 2.0, -9.0]))
    motion = mb.simulate(mech, 0.2, q0=mb.analyze(scene).q, qd0={"j0": 3.0})
    assert [pair.name for pair in scene.mechanism.tree.cut] == ["j3"]
    for name in ("j0", "j1", "j2", "j3"):
        assert (motion.reactions(name)[:, 5] == 0.0).all()
        assert np.abs(motion.reactions(name)[:, :2]).max() > 1e-3
    printed = call("simulate", FOUR_BAR, "--duration", "0.2", "--qd", "j0=3", "--reactions", "j3").out
    (row,) = (line.split() for line in printed.splitlines() if line.strip().startswith("j3 "))
    # two forces in the plane have a size, three components are open, the free one is not there
    assert len(row) == 6 and row[3:] == ["?", "?", "?"]


def test_the_command_prints_world_axes_and_frames() -> None:
    side = ("--load", "coupler:0,1000,0@0.25,0,0", "--no-estimate")
    text = call("reactions", FOUR_BAR, *side, "--axes", "world", "--frames").out
    assert "in axes of the world" in text
    assert "j0, j1, j2, j3: force open along (0, 1, 0), moment open across (0, 1, 0)" in text
    (row,) = (line.split() for line in text.splitlines() if line.strip().startswith("j1 (cont"))
    assert row[2:] == ["5.886", "?", "9.3195", "?", "0", "?"]
    (frame,) = (line for line in text.splitlines() if "j1 (crank to coupler)" in line)
    assert re.findall(r"\(-?[\d.]+,.*?\)", frame) == ["(0, 0, 0.3)", "(0, 0, 1)", "(-1, 0, 0)", "(0, -1, 0)"]
    plain = call("reactions", FOUR_BAR, *side).out
    assert "Joint frames" not in plain and "predecessor's joint frame" in plain
    document = json.loads(call("reactions", FOUR_BAR, *side, "--output-format", "json").out)
    jsonschema.validate(document, json.loads(call("schema", "reactions").out))
    one = next(c for c in document["constraints"] if c["name"] == "j1")
    assert one["world"]["wrench"][1] is None and one["world"]["body"] == "coupler"
    assert one["world"]["wrench"][0] == pytest.approx(5.886)
    assert one["open_force"] == [[0, 1, 0]] and np.array(one["R_WJ"])[:, 2] == pytest.approx([0, -1, 0])


def test_a_group_has_one_word_for_one_verdict() -> None:
    """pekal2024 finds ACEG unique in its effect on the assembly; body by body its reaction is not."""
    text = call(
        "lint", str(ASSETS / "spatial_parallelogram.scene.toml"), "--group", "A,C,E,G", "--explain-dca"
    ).out
    groups, trace = text.split("Divide-and-conquer")
    assert "A, C, E, G: reaction non-unique" in groups and "effect on the assembly unique" in " ".join(
        groups.split()
    )
    assert "Tested on G, effect on the assembly / components" in trace
    assert "Tested on G, reaction" not in trace
