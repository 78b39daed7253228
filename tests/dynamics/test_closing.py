"""Explicit closing conditions: against the papers' four-bar, finite differences and the KKT equations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings, strategies as st

import mbplugin as mb
from closed_mechanisms import (
    L0,
    L1,
    L2,
    L3,
    check_closed_motion as check_motion,
    check_closing as check,
    dyads,
    paper_four_bar,
    planar,
)
from mbplugin.constraints.assembly import assemble
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.explicit_closure import closing_conditions, minimal_accelerations
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import BadNumber, BadUsage, CannotClose, UnknownName
from mbplugin.model.mechanism import WORLD, Coupling, Mechanism, Term
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose, rotation_from_vector
from mbplugin.readers import reload
from models import body_at, coupled_four_bars, four_bar, pose_at
from places import ORACLES, ROOT

TURN = np.linspace(0, 2 * np.pi, 49)
KINDS = ("RRR", "RRP", "RPR", "PRR", "RPP", "PRP", "PPR")


# the four-bar as the papers solve it


def paper_angles(a1, sign=1.0):
    """α₃ and α₂ (blajer1993 (17a), (18); blajer1994 (40), (41))."""
    a3 = sign * np.arccos((L0**2 + L1**2 - L2**2 - L3**2 - 2 * L0 * L1 * np.sin(a1)) / (2 * L2 * L3))
    length = L0**2 + L1**2 - 2 * L0 * L1 * np.sin(a1)
    sine = L0 * L2 * np.cos(a1) + L0 * L3 * np.cos(a1 + a3) + L1 * L3 * np.sin(a3)
    cosine = L0 * L2 * np.sin(a1) + L0 * L3 * np.sin(a1 + a3) - L1 * L3 * np.cos(a3) - L1 * L2
    return np.array([a1, np.arctan2(sine / length, cosine / length), a3])


def paper_A(q, independent):
    """Columns in the order α₁, α₂, α₃ (blajer1993 (22))."""
    a1, a2, a3 = q
    if independent == "a1":
        down = L2 * L3 * np.sin(a3)
        return np.array(
            [1.0, -(L0 * L1 * np.cos(a1) + L0 * L2 * np.cos(a1 + a2)) / down, L0 * L1 * np.cos(a1) / down]
        )
    up = L0 * L1 * np.cos(a1)
    return np.array([L2 * L3 * np.sin(a3) / up, -(L2 * np.cos(a1 + a2) / (L1 * np.cos(a1)) + 1), 1.0])


def paper_xi(q, qd, independent):
    """ξ in the order α₁, α₂, α₃ (blajer1993 (23))."""
    (a1, a2, a3), (d1, d2, d3) = q, qd
    if independent == "a1":
        k1 = L0 * L1 * (d1 * np.sin(a1) * np.sin(a3) + d3 * np.cos(a1) * np.cos(a3))
        k2 = (d1 + d2) * np.sin(a1 + a2) * np.sin(a3) + d3 * np.cos(a1 + a2) * np.cos(a3)
        down = L2 * L3 * np.sin(a3) ** 2
        return d1 * np.array([0.0, k1 + L0 * L2 * k2, -k1]) / down
    k3 = L2 * L3 * (d3 * np.cos(a3) * np.cos(a1) + d1 * np.sin(a3) * np.sin(a1))
    k4 = L0 * L2 * (d1 * np.sin(a2) + d2 * np.sin(a1 + a2) * np.cos(a1))
    return d3 * np.array([k3, k4, 0.0]) / (L0 * L1 * np.cos(a1) ** 2)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("independent", ["a1", "a3"])
def test_four_bar_of_the_papers_over_a_full_turn(independent, sign):
    mech = paper_four_bar()
    for a1 in TURN:
        q = paper_angles(a1, sign)
        if independent == "a3" and abs(np.cos(a1)) < 0.1:
            continue
        closing = closing_conditions(mech, q, [independent])
        assert [step.kind for step in closing.steps] == ["RRR"]
        k = closing.independent_coordinates
        np.testing.assert_allclose(closing.g(q[k], near=q + 0.1), q, atol=1e-12)
        A = paper_A(q, independent)
        np.testing.assert_allclose(closing.A(q)[:, 0], A, rtol=1e-11, atol=1e-12)
        qd = 1.7 * A
        np.testing.assert_allclose(closing.xi(q, qd), paper_xi(q, qd, independent), rtol=1e-9, atol=1e-10)


def test_alpha_3_is_singular_where_the_crank_lies_along_the_ground():
    mech = paper_four_bar()
    for a1 in TURN:
        q = paper_angles(a1)
        by_a3, by_a1 = (closing_conditions(mech, q, [name]) for name in ("a3", "a1"))
        # the sine of the angle opposite to the longest of O₁O₂, O₁O₄ and O₂O₄, by the law of sines
        diagonal = np.sqrt(L0**2 + L1**2 - 2 * L0 * L1 * np.sin(a1))
        assert by_a3.margin(q) == pytest.approx(L0 * abs(np.cos(a1)) / min(L0, diagonal), abs=1e-7)
        assert not by_a1.is_near_singular(q)
    for a1 in (np.pi / 2, 3 * np.pi / 2):
        q = paper_angles(a1)
        closing = closing_conditions(mech, q, ["a3"])
        assert closing.margin(q) < 1e-7
        with pytest.raises(CannotClose, match=r"lie in a line.*change the independent coordinates"):
            closing.A(q)
        assert closing.change(q).independent != ("a3",)
        assert not closing.change(q).is_near_singular(q)


@pytest.mark.parametrize("a1", [0.3, 1.4, 2.9, 5.1])
def test_changing_the_independent_coordinate_makes_no_jump(a1):
    mech, q = paper_four_bar(), paper_angles(a1)
    before = closing_conditions(mech, q, ["a3"])
    qd = 2.0 * before.A(q)[:, 0]
    equations = joint_equations(mech, q, qd)
    qdd = minimal_accelerations(equations, before, q)
    for after in (before.change(q), *(closing_conditions(mech, q, [name]) for name in ("a1", "a2"))):
        k = after.independent_coordinates
        np.testing.assert_allclose(after.g(q[k]), q, atol=1e-12)
        np.testing.assert_allclose(after.A(q) @ qd[k], qd, atol=1e-11)
        np.testing.assert_allclose(minimal_accelerations(equations, after, q), qdd, rtol=1e-9, atol=1e-9)


def test_ten_turns_driven_by_whatever_coordinate_is_good_keep_the_branch():
    """The crank goes round; the pose is only ever taken from the present independent coordinate."""
    mech, q = paper_four_bar(), paper_angles(0.2)
    closing, changes, poses = closing_conditions(mech, q, ["a3"]), 0, [q]
    for a1 in 0.2 + np.arange(1, 2001) * 0.01 * np.pi:
        if closing.is_near_singular(q, below=0.4):
            closing, changes = closing.change(q), changes + 1
        # the exact motion tells the next value of the one coordinate, up to its turns
        (k,) = closing.independent_coordinates
        here = paper_angles(a1)[k]
        here += 2 * np.pi * np.round((q[k] - here) / (2 * np.pi))
        q = closing.g(np.array([here]), near=q)
        poses.append(q)
    assert changes > 0
    path = np.array(poses)
    assert path[-1, 0] == pytest.approx(0.2 + 20 * np.pi, abs=1e-9)
    assert (np.sin(path[:, 2]) > 0).all()
    assert np.abs(np.diff(path, axis=0)).max() < 0.2
    assert closing.residuals(q)["o4"] < 1e-9


def test_the_other_branch_is_another_assemble():
    mech = paper_four_bar()
    up, down = (closing_conditions(mech, paper_angles(0.7, sign), ["a1"]) for sign in (1, -1))
    assert sorted((*up.branch, *down.branch)) == [-1, 1]
    np.testing.assert_allclose(down.g(np.array([2.0])), paper_angles(2.0, -1), atol=1e-12)
    np.testing.assert_allclose(up.g(np.array([2.0])), paper_angles(2.0, 1), atol=1e-12)


# every kind of planar loop


CRANK = ("crank", "revolute", WORLD, "crank", (0.0, 0.0), 0.0)
NAMED = {
    "slider-crank": (
        [
            CRANK,
            ("pin", "revolute", "crank", "rod", (0.2, 0.3), 0.0),
            ("wrist", "revolute", "rod", "piston", (1.0, 0.1), 0.0),
            ("slider", "prismatic", WORLD, "piston", (1.0, 0.1), 0.0),
        ],
        ["crank"],
        ["RRP"],
    ),
    "piston-driven": (
        [
            ("slider", "prismatic", WORLD, "piston", (1.0, 0.1), 0.0),
            CRANK,
            ("pin", "revolute", "crank", "rod", (0.2, 0.3), 0.0),
            ("wrist", "revolute", "rod", "piston", (1.0, 0.1), 0.0),
        ],
        ["slider"],
        ["RRR"],
    ),
    "inverted slider-crank": (
        [
            CRANK,
            ("pin", "revolute", "crank", "block", (0.2, 0.3), 0.0),
            ("rocker", "revolute", WORLD, "rocker", (0.9, -0.1), 0.0),
            ("slide", "prismatic", "block", "rocker", (0.5, 0.1), -0.5),
        ],
        ["crank"],
        ["RPR"],
    ),
    "Scotch yoke": (
        [
            CRANK,
            ("yoke", "prismatic", WORLD, "yoke", (1.0, 0.0), 0.0),
            ("pin", "revolute", "crank", "block", (0.2, 0.3), 0.0),
            ("slot", "prismatic", "block", "yoke", (0.2, 0.3), 1.4),
        ],
        ["crank"],
        ["RPP"],
    ),
    "five-bar": (
        [
            CRANK,
            ("elbow", "revolute", "crank", "forearm", (-0.5, 0.6), 0.0),
            ("crank2", "revolute", WORLD, "crank2", (0.3, 0.0), 0.0),
            ("elbow2", "revolute", "crank2", "forearm2", (0.9, 0.5), 0.0),
            ("tip", "revolute", "forearm", "forearm2", (0.2, 1.3), 0.0),
        ],
        ["crank", "crank2"],
        ["RRR"],
    ),
    "parallelogram": (
        [
            CRANK,
            ("pin", "revolute", "crank", "coupler", (0.2, 0.8), 0.0),
            ("crank2", "revolute", WORLD, "crank2", (1.0, 0.0), 0.0),
            ("pin2", "revolute", "coupler", "crank2", (1.2, 0.8), 0.0),
        ],
        ["crank"],
        ["RRR"],
    ),
    "three cranks": (
        [
            CRANK,
            ("pin", "revolute", "crank", "coupler", (0.2, 0.8), 0.0),
            ("crank2", "revolute", WORLD, "crank2", (1.0, 0.0), 0.0),
            ("pin2", "revolute", "coupler", "crank2", (1.2, 0.8), 0.0),
            ("crank3", "revolute", WORLD, "crank3", (0.4, 0.3), 0.0),
            ("pin3", "revolute", "coupler", "crank3", (0.6, 1.1), 0.0),
        ],
        ["crank"],
        ["RRR", "RR"],
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_loops_by_name(name):
    joints, independent, kinds = NAMED[name]
    mech, q = planar(joints, turn=np.array([0.4, -1.1, 0.7]))
    closing = closing_conditions(mech, q, independent)
    assert [step.kind for step in closing.steps] == kinds
    assert closing.independent == tuple(n for n in mech.qd_names if n in independent)
    assert set(closing.dependent) == set(mech.qd_names) - set(independent)
    check(mech, q, closing)
    check(mech, q, closing_conditions(mech, q))


def test_a_dyad_is_read_from_the_known_joint_on():
    mech, q = planar(NAMED["slider-crank"][0])
    kinds = {name: closing_conditions(mech, q, [name]).steps[0].kind for name in mech.qd_names}
    assert kinds == {"crank": "RRP", "pin": "RPR", "wrist": "PRR"}


@pytest.mark.parametrize("n", [2, 7])
def test_coupled_four_bars_come_off_one_after_another(n):
    mech, q = coupled_four_bars(n)
    for name in ("g0", f"g{n}", "a1"):
        closing = closing_conditions(mech, q, [name])
        assert [step.kind for step in closing.steps] == ["RRR"] * n
        check(mech, q, closing)


@pytest.mark.long
@settings(deadline=None, max_examples=30)
@example(seed=1495715, kinds=["RRR"] * 4)
@example(seed=1380, kinds=["PPR", "PPR", "RRP"])
@given(seed=st.integers(0, 2**31), kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4))
def test_any_chain_of_dyads_has_a_closed_form(seed, kinds):
    mech, q = dyads(seed, kinds)
    closing = closing_conditions(mech, q, ["crank"])
    assert closing.explicit
    assert closing.independent == ("crank",)
    assume(closing.margin(q) > 0.2)
    check(mech, q, closing)


@pytest.mark.long
@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**31), kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=3))
def test_automatic_coordinates_give_the_same_motion(seed, kinds):
    mech, q = dyads(seed, kinds)
    crank = closing_conditions(mech, q, ["crank"])
    assume(crank.margin(q) > 0.2)
    closing = closing_conditions(mech, q)
    assert closing.margin(q) >= 0.1
    qd = crank.A(q)[:, 0]
    scale = 1 + np.abs(qd).max() ** 2
    np.testing.assert_allclose(closing.A(q) @ qd[closing.independent_rates], qd, atol=1e-9 * scale)
    check_motion(mech, q, qd, closing, tolerance=1e-8)


# where a dyad is flat, and what is refused


def test_a_lying_row_of_four_bars_is_singular_and_never_a_number_from_nowhere():
    mech, q = coupled_four_bars(2)
    closing = closing_conditions(mech, q, ["g0"])
    lying = closing.g(np.array([np.pi / 2]))
    assert closing.margin(lying) < 1e-7
    with pytest.raises(CannotClose, match=r"lie in a line.*change the independent coordinates"):
        closing.A(lying)


def test_out_of_reach_is_said_with_the_gap():
    """The piston is pulled half a metre further than crank and rod are long together."""
    mech, q = planar(NAMED["piston-driven"][0])
    closing = closing_conditions(mech, q, ["slider"])
    pin, rod = np.hypot(0.2, 0.3), np.hypot(0.8, 0.2)
    segment = np.sqrt((pin + rod) ** 2 - 0.1**2)
    closing.g(np.array([segment - 1.0 - 1e-6]))
    with pytest.raises(CannotClose, match=r"'wrist', 'pin', 'crank' cannot close .* 0\.5 m apart"):
        closing.g(np.array([np.sqrt((pin + rod + 0.5) ** 2 - 0.1**2) - 1.0]))


def test_wrong_choices_are_refused_in_one_sentence():
    mech, q = four_bar()
    with pytest.raises(UnknownName, match=r"'j7'"):
        closing_conditions(mech, q, ["j7"])
    with pytest.raises(BadUsage, match=r"2 joints inside loops.*at most 1"):
        closing_conditions(mech, q, ["j0", "j1"])
    with pytest.raises(BadUsage, match=r"'j3' do not determine 'j0', 'j1', 'j2'; expected 1 more"):
        closing_conditions(mech, q, [])
    closing = closing_conditions(mech, q, ["j0"])
    with pytest.raises(BadNumber, match=r"2 numbers; expected finite values of j0"):
        closing.g(np.zeros(2))
    with pytest.raises(BadNumber, match="finite"):
        closing.g(np.array([np.nan]))
    with pytest.raises(BadUsage, match="equations in joint coordinates"):
        minimal_accelerations(absolute_equations(mech, q, np.zeros(3)), closing, q)


# planes that move, pairs that leave more free than a hinge, and rounding


def on_a_turntable(mech: Mechanism, q: np.ndarray) -> tuple[Mechanism, np.ndarray]:
    """Everything that stood on the ground stands on a free body's turntable."""
    stand = Pose(rotation_from_vector(np.array([0.5, 0.2, -0.3])), np.array([0.1, 0.2, 0.3]))
    pairs = tuple(
        replace(p, body_a=p.body_a.replace(WORLD, "table"), body_b=p.body_b.replace(WORLD, "table"))
        for p in mech.pairs
    )
    turn = Pair("turn", "revolute", "raft", "table", stand, Pose.identity())
    free = np.array([0.3, -0.2, 0.5, *(np.array([0.1, 0.2, 0.3, 0.9]) / np.sqrt(0.95))])
    bodies = (*mech.bodies, body_at("raft"), body_at("table"))
    moved = Mechanism("moved", bodies, (turn, *pairs), gravity=mech.gravity)
    return moved, np.concatenate((free, [0.7], q))


@pytest.mark.parametrize("name", ["five-bar", "inverted slider-crank"])
def test_the_plane_may_move_with_a_free_body(name):
    joints, independent, kinds = NAMED[name]
    mech, q = on_a_turntable(*planar(joints))
    closing = closing_conditions(mech, q, independent)
    assert [step.kind for step in closing.steps] == kinds
    assert set(closing.independent) == {f"raft.{c}" for c in ("vx", "vy", "vz", "wx", "wy", "wz")} | {
        "turn",
        *independent,
    }
    check(mech, q, closing)


OPEN_CHAIN = [
    CRANK,
    ("elbow", "revolute", "crank", "forearm", (-0.5, 0.6), 0.0),
    ("crank2", "revolute", WORLD, "crank2", (0.8, 0.0), 0.0),
]


@pytest.mark.parametrize(
    ("closed_by", "axis", "kind", "count"),
    [
        ("spherical", (0.3, 0.5, 0.8), "RRR", 1),
        ("cylindrical", (0.0, 0.0, 1.0), "RRR", 1),
        ("point-on-line", (0.0, 0.0, 1.0), "RRR", 1),
        ("point-on-line", (0.6, 0.8, 0.0), "RPR", 2),
        ("point-on-plane", (0.6, 0.8, 0.0), "RPR", 2),
        ("prismatic", (0.6, 0.8, 0.0), "RRP", 1),
        ("fixed", (0.0, 0.0, 1.0), "RRR", 0),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_what_a_cut_pair_leaves_free_in_the_plane(closed_by, axis, kind, count, swapped):
    mech, q = planar(OPEN_CHAIN, turn=np.array([0.4, -1.1, 0.7]))
    poses = forward(mech, q)
    R = rotation_from_vector(np.array([0.4, -1.1, 0.7]))
    X_WP = Pose(R, np.zeros(3)) @ pose_at(np.array([0.9, 0.7, 0.0]), axis)
    a, b = ("forearm", "crank2") if swapped else ("crank2", "forearm")
    frames = [poses.of(mech.body_index[name]).inverse() @ X_WP for name in (a, b)]
    # the file may turn the successor's frame any way that the pair leaves free
    loose = {"cylindrical": np.array([0.0, 0.0, 0.9])} | dict.fromkeys(
        ("spherical", "point-on-line", "point-on-plane"), np.array([0.7, -0.4, 1.1])
    )
    turned = Pose(rotation_from_vector(loose.get(closed_by, np.zeros(3))), np.zeros(3))
    pair = Pair("last", closed_by, a, b, frames[0], frames[1] @ turned, closure=True)
    mech = replace(mech, pairs=(*mech.pairs, pair))
    independent = ["crank", "crank2"][:count]
    if closed_by == "fixed":
        # crank, forearm with crank2, ground: two hinges on the ground and one between hold everything
        assert closing_conditions(mech, q).independent == ()
        return
    closing = closing_conditions(mech, q, independent)
    assert closing.explicit
    assert sorted(closing.steps[0].kind) == sorted(kind)
    check(mech, q, closing)


def test_a_planar_joint_is_two_sliders_and_a_hinge():
    joints = [
        ("table", "planar", WORLD, "plate", (0.2, 0.1), 0.0),
        CRANK,
        ("pin", "revolute", "crank", "plate", (0.5, 0.5), 0.0),
    ]
    mech, q = planar(joints, turn=np.array([0.4, -1.1, 0.7]))
    closing = closing_conditions(mech, q, ["table.tx", "crank"])
    assert [step.kind for step in closing.steps] == ["PRR"]
    check(mech, q, closing)


def test_couplings_are_closing_conditions():
    """A five-bar whose cranks are geared is a mechanism of one freedom."""
    mech, q = planar(NAMED["five-bar"][0])
    gear = Coupling("gear", "gear", (Term("crank", "rz", 1.0), Term("crank2", "rz", -2.0)), offset=0.3)
    mech = replace(mech, couplings=(gear,))
    q = assemble(mech, q, given=("crank",)).q
    for independent in (["crank"], ["crank2"]):
        closing = closing_conditions(mech, q, independent)
        assert [step.kind for step in closing.steps] == ["coupling", "RRR"]
        check(mech, q, closing)


def layered(tilt: float) -> tuple[Mechanism, np.ndarray]:
    """A five-bar whose bodies lie in layers 10 cm apart, with a knee tilted by rounding."""
    joints = [*NAMED["five-bar"][0][:-1], ("tip", "spherical", "forearm", "forearm2", (0.2, 1.3), 0.0)]
    mech, q = planar(joints)
    layer = Pose(rotation_from_vector(np.array([tilt, 0.0, 0.0])), np.array([0.0, 0.0, 0.1]))
    back = Pose(np.eye(3), np.array([0.0, 0.0, -0.1]))

    def laid(pair: Pair) -> Pair:
        if pair.name == "elbow":
            return replace(pair, X_AP=pair.X_AP @ layer)
        return replace(pair, X_BS=back @ pair.X_BS) if pair.name == "elbow2" else pair

    mech = replace(mech, pairs=tuple(laid(p) for p in mech.pairs))
    return mech, assemble(mech, q).q


def test_a_loop_that_is_planar_only_up_to_rounding_states_its_residual():
    for tilt in (0.0, 5e-5):
        mech, q = layered(tilt)
        closing = closing_conditions(mech, q, ["crank", "crank2"])
        (step,) = closing.steps
        assert step.kind == "RRR"
        assert step.ring.tilt <= tilt + 1e-12
        residual = closing.residuals(closing.g(q[closing.independent_coordinates]))["tip"]
        assert residual <= 1e-12 if tilt == 0 else 1e-7 < residual < 1e-4
    mech, q = layered(0.0)
    closing = closing_conditions(layered(0.2)[0], q)
    (step,) = closing.steps
    assert step.kind == "Newton"
    assert "are not parallel" in step.reason


MINITAUR = ROOT / "assets" / "minitaur.scene.toml"


@pytest.mark.bullet
@pytest.mark.parametrize("snapped", [True, False])
def test_minitaur_s_legs_are_four_five_bars(snapped):
    scene = mb.load(MINITAUR)
    if snapped:
        scene = reload(scene, snap_angles=True)
    mech = scene.mechanism
    q = mb.analyze(scene, snap_angles=snapped).q
    motors = [name for name in mech.qd_names if name.startswith("motor")]
    closing = closing_conditions(mech, q, motors)
    assert [step.kind for step in closing.steps] == ["RRR"] * 4
    assert len(closing.independent) == 8
    tilts = [step.ring.tilt for step in closing.steps]
    gaps = closing.residuals(closing.g(q[closing.independent_coordinates]))
    if snapped:
        assert max(tilts) < 1e-9
        assert max(gaps.values()) < 1e-9
    else:
        # 1.57075 for π/2 tilts a hinge by 4.6e-5
        assert 1e-5 < max(tilts) < 2e-4
        assert 1e-9 < max(gaps.values()) < 1e-4


# loops without a closed form

SPATIAL = {
    "bricard_A04": "are not parallel",
    "bennett_4R": "are not parallel",
    "sarrus_6R": "are not parallel",
    "four_bar_RSRR": "spherical pair 'j1' moves in no plane",
    "stewart_6UPS": "universal pair 'u0' moves in no plane",
    "parallelogram_3UU": "universal pair 'b0' moves in no plane",
}


@pytest.mark.parametrize("name", SPATIAL)
def test_newton_closes_what_has_no_closed_form_and_says_why(name):
    scene = mb.load(ORACLES / f"{name}.sdf")
    mech, q = scene.mechanism, mb.analyze(scene).q
    closing = closing_conditions(mech, q)
    (step,) = closing.steps
    assert step.kind == "Newton"
    assert step.reason.startswith("The loop through ")
    assert SPATIAL[name] in step.reason
    assert not closing.explicit
    # away from the symmetric pose of the file
    k = closing.independent_coordinates
    q = closing.g(q[k] + 0.05)
    check(mech, q, closing, tolerance=1e-5)


@pytest.mark.long
def test_bricard_goes_round_on_its_branch():
    """Newton follows a large change of the independent coordinate in small steps, there and back."""
    scene = mb.load(ORACLES / "bricard_A04.sdf")
    closing = closing_conditions(scene.mechanism, mb.analyze(scene).q)
    k = closing.independent_coordinates
    # in one go Newton's steps do not arrive
    there = closing.g(closing.q[k] + 2.5)
    stepwise = closing.q
    for part in np.linspace(0, 2.5, 101)[1:]:
        stepwise = closing.g(closing.q[k] + part, near=stepwise)
    np.testing.assert_allclose(there, stepwise, atol=1e-9)
    np.testing.assert_allclose(closing.g(closing.q[k], near=there), closing.q, atol=1e-9)


def test_a_rod_that_spins_between_balls_has_no_coordinate_for_it():
    scene = mb.load(ORACLES / "parallelogram_3SS.sdf")
    match = r"each with a coordinate per rate; .*universal, .*by a distance .*needs no coordinates"
    with pytest.raises(BadUsage, match=match):
        closing_conditions(scene.mechanism, mb.analyze(scene).q)


@pytest.mark.parametrize("closed_by", ["revolute", "cylindrical"])
def test_a_gap_across_the_plane_is_closed_only_by_a_pair_that_slides(closed_by):
    mech, q = planar(NAMED["parallelogram"][0])
    last = mech.tree.cut[0].retyped(closed_by)
    apart = replace(last, X_AP=last.X_AP @ Pose(np.eye(3), np.array([0.0, 0.0, 0.05])))
    mech = replace(mech, pairs=tuple(apart if p.name == last.name else p for p in mech.pairs))
    (step,) = closing_conditions(mech, q).steps
    if closed_by == "cylindrical":
        assert step.kind == "RRR"
    else:
        assert step.reason.endswith("its two ends are 0.05 m apart across the plane.")


def test_a_slider_out_of_the_plane_of_the_hinges_is_named_with_its_tilt():
    mech, q = planar(NAMED["slider-crank"][0])
    # z is the slider's axis; its y lies across the plane or in it, so both are turned a little
    tilt = Pose(rotation_from_vector(np.array([0.2, 0.2, 0.0])), np.zeros(3))
    pairs = [
        replace(p, X_AP=p.X_AP @ tilt, X_BS=p.X_BS @ tilt) if p.name == "slider" else p for p in mech.pairs
    ]
    (step,) = closing_conditions(replace(mech, pairs=tuple(pairs)), q).steps
    assert step.kind == "Newton"
    assert step.reason.endswith("its joints are 0.2 rad out of one plane.")


def test_of_the_joints_that_move_well_one_is_taken_behind_which_all_dyads_come_off():
    mech, q = dyads(5, ["RRR", "PRP", "RRR"])
    kinds = {name: closing_conditions(mech, q, [name]).explicit for name in mech.qd_names}
    assert set(kinds.values()) == {True, False}
    closing = closing_conditions(mech, q)
    assert closing.explicit
    assert not closing.is_near_singular(q)
    # the one that moves most holds three dyads locked in one another
    moves = np.abs(closing.A(q)[:, 0])
    hinges = [k for k, name in enumerate(mech.qd_names) if mech.pair_by_name[name].type == "revolute"]
    assert not kinds[mech.qd_names[max(hinges, key=lambda k: moves[k])]]


def test_a_rigid_frame_beside_a_pendulum_has_no_independent_coordinate():
    """Three legs hold a plate; no dyad comes off."""
    feet, tops = ((0, 0), (2, 0), (1, 2)), ((0.2, 0.9), (1.7, 0.8), (1.1, 1.2))

    def hinge(name, body_a, body_b, place, closure=False):
        point = pose_at((*place, 0.0))
        return Pair(name, "revolute", body_a, body_b, point, point, closure=closure)

    pairs = [hinge(f"foot{k}", WORLD, f"leg{k}", feet[k]) for k in range(3)]
    pairs += [hinge(f"top{k}", f"leg{k}", "plate", tops[k], closure=k > 0) for k in range(3)]
    pairs.append(hinge("pendulum", WORLD, "bob", (5, 0)))
    bodies = tuple(body_at(name) for name in ("leg0", "leg1", "leg2", "plate", "bob"))
    closing = closing_conditions(Mechanism("frame", bodies, tuple(pairs)), np.zeros(5))
    assert closing.independent == ("pendulum",)
