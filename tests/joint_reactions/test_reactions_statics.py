"""Joint wrenches at rest, against statics by hand, and what is said where rigid bodies leave them open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadUsage, MbPluginError, UnknownName
from mbplugin.model.mechanism import Body, Driver, Lock, Mechanism
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.scene import read_loads
from mbplugin.model.spatial import Array, Pose
from mbplugin.readers import load
from models import chain, four_bar, from_world_frames, pose_at, ring
from places import ORACLES

G = 9.81


def at(*p: float) -> Pose:
    return Pose(np.eye(3), np.array(p, dtype=float))


def with_masses(mech: Mechanism, **masses: float) -> Mechanism:
    bodies = tuple(
        Body(b.name, masses.get(b.name, 0.0), b.p_LC, masses.get(b.name, 0.0) * np.eye(3))
        for b in mech.bodies
    )
    return replace(mech, bodies=bodies)


def two_link_arm() -> tuple[Mechanism, Array]:
    """Two links of 1 m along x, hinges about y, masses 3 and 2 kg at their middles."""
    y = np.array([0.0, 1.0, 0.0])
    mech, q = from_world_frames(
        "arm",
        {"upper": at(0.5, 0, 0), "lower": at(1.5, 0, 0)},
        [
            ("shoulder", "revolute", "world", "upper", pose_at([0, 0, 0], y)),
            ("elbow", "revolute", "upper", "lower", pose_at([1, 0, 0], y)),
        ],
    )
    return with_masses(mech, upper=3.0, lower=2.0), q


def world_wrench(result, name: str) -> Array:
    """A pair's wrench turned into world axes; the home pose of P is known from its axis."""
    mech = result.mechanism
    from mbplugin.model.mechanism.kinematics import forward

    pair = mech.pair_by_name[name]
    R = (forward(mech, result.q).of(mech.body_index[pair.body_a]) @ pair.X_AP).R
    w = result[name].wrench
    return np.concatenate((R @ w[:3], R @ w[3:]))


def test_an_arm_held_out_by_hand() -> None:
    """Shoulder: all weight, and the moments of both; elbow: the lower link and the payload alone."""
    mech, q = two_link_arm()
    payload = {"body": "lower", "mass": 1.0, "com": [0.5, 0.2, 0.0]}
    result = mb.reactions(mech, q, payloads=[payload], hold=["shoulder", "elbow"])
    assert result.mode == "statics"
    assert world_wrench(result, "shoulder")[:3] == pytest.approx([0, 0, 6 * G])
    # the weight 1 kg at y = 0.2 twists the arm about x
    assert world_wrench(result, "shoulder")[3:] == pytest.approx([0.2 * G, 0, 0], abs=1e-9)
    assert result.value("lock shoulder", "rz_lock") == pytest.approx(-(3 * 0.5 + 2 * 1.5 + 1 * 2.0) * G)
    assert result.value("lock elbow", "rz_lock") == pytest.approx(-(2 * 0.5 + 1 * 1.0) * G)
    assert world_wrench(result, "elbow")[:3] == pytest.approx([0, 0, 3 * G])
    assert all(c.unique for c in result.constraints)


def test_a_simple_beam_by_hand() -> None:
    """Pinned at 0, on a roller at 2 m, 100 N at 0.5 m along the beam: 75 N and 25 N."""
    mech, q = from_world_frames(
        "beam",
        {"beam": at(1, 0, 0)},
        [
            ("pin", "revolute", "world", "beam", pose_at([0, 0, 0], np.array([0.0, 1, 0]))),
            ("roller", "point-on-plane", "world", "beam", pose_at([2, 0, 0])),
        ],
    )
    load = {"body": "beam", "force": [30, 0, -100], "point": [-0.5, 0, 0]}
    result = mb.reactions(with_masses(mech), q, loads=[load])
    assert world_wrench(result, "pin")[:3] == pytest.approx([-30, 0, 75])
    assert result.value("roller", "tz") == pytest.approx(25)
    assert result.held == ()


def test_a_slider_crank_by_hand() -> None:
    """Crank at 90° (1 m), rod √5 m to the slider at x = 2: F pushes along the rod, torque F·1."""
    z = np.array([0.0, 0, 1])
    mech, q = from_world_frames(
        "slider-crank",
        {"crank": at(0, 0.5, 0), "rod": at(1, 0.5, 0), "slider": at(2, 0, 0)},
        [
            ("ground", "revolute", "world", "crank", pose_at([0, 0, 0], z)),
            ("crankpin", "spherical", "crank", "rod", pose_at([0, 1, 0], z)),
            ("wristpin", "spherical", "rod", "slider", pose_at([2, 0, 0], z)),
            ("guide", "cylindrical", "world", "slider", pose_at([2, 0, 0], np.array([1.0, 0, 0]))),
        ],
    )
    F = 100.0
    result = mb.reactions(
        with_masses(mech), q, loads=[{"body": "slider", "force": [-F, 0, 0]}], hold=["ground"]
    )
    # the rod carries F/cos along itself, and the guide its part across
    assert world_wrench(result, "wristpin")[:3] == pytest.approx([F, -F / 2, 0], abs=1e-9)
    assert world_wrench(result, "guide")[:3] == pytest.approx([0, F / 2, 0], abs=1e-9)
    assert world_wrench(result, "ground")[:3] == pytest.approx([F, -F / 2, 0], abs=1e-9)
    # on the crank pin acts (−F, F/2) at height 1 m; the drive balances its moment +F
    assert result.value("lock ground", "rz_lock") == pytest.approx(-F)


SIDE_LOAD = [{"body": "coupler", "force": [0, 0, 1000]}]


def weightless_four_bar() -> tuple[Mechanism, Array]:
    mech, q = four_bar()
    return replace(mech, gravity=np.zeros(3)), q


@pytest.mark.parametrize("cut", range(4))
def test_the_four_bar_says_the_same_wherever_it_is_cut(cut: int) -> None:
    mech, q = weightless_four_bar()
    pairs = tuple(replace(p, closure=k == cut) for k, p in enumerate(mech.pairs))
    turned = replace(mech, pairs=pairs)
    assert turned.tree.cut[0].name == f"j{cut}"
    from mbplugin.model.mechanism.kinematics import coordinates_of, forward

    result = mb.reactions(turned, coordinates_of(turned, forward(mech, q)), loads=SIDE_LOAD)
    for c in result.constraints:
        assert [x.name for x in c.components if not x.unique] == ["tz", "rx", "ry"]
        assert [x.value for x in c.components] == [pytest.approx(0, abs=1e-9)] * 2 + [None] * 3
        assert np.isnan(c.wrench[2:5]).all()
        assert set(c.shared_with) == {"j0", "j1", "j2", "j3"} - {c.name}
        assert c.indeterminate_dim == 3 and len(c.directions) == 3
    (family,) = result.families
    assert {c for _, c, _ in family.parameters} == {"tz", "rx", "ry"}


def test_the_family_holds_for_every_possible_reaction() -> None:
    """Relations are satisfied by the resolved reactions of two different stiffnesses."""
    mech, q = weightless_four_bar()
    rng = np.random.default_rng(3)
    for _ in range(2):
        k = {f"j{i}": [*rng.uniform(1e5, 1e7, 5), 0.0] for i in range(4)}
        result = mb.reactions(mech, q, loads=SIDE_LOAD, stiffness=k)
        (family,) = result.families
        for r in family.relations:
            follows = r.constant + sum(t.weight * result.value(t.constraint, t.component) for t in r.terms)
            assert result.value(r.constraint, r.component) == pytest.approx(follows, abs=1e-6)
    # any split of the load between the ground joints
    sums = {(r.constraint, r.component): r for r in family.relations}
    assert sums["j3", "tz"].constant == pytest.approx(-1000)


def test_a_motion_that_the_load_drives_is_named() -> None:
    mech, q = weightless_four_bar()
    with pytest.raises(BadUsage) as refused:
        mb.reactions(mech, q, loads=[{"body": "coupler", "force": [10, 0, 0]}], hold=[])
    for part in ("moves under the load", "j0 by -1 rad", "j1 by +1 rad", "--hold"):
        assert part in str(refused.value)
    held = mb.reactions(mech, q, loads=[{"body": "coupler", "force": [10, 0, 0]}], hold=["j0"])
    # the crank of 1 m takes the whole push as torque about +z
    assert held.value("lock j0", "rz_lock") == pytest.approx(10)


def test_a_free_body_under_gravity_is_named() -> None:
    mech = Mechanism("stone", (Body("stone", 1.0, np.zeros(3), np.eye(3)),))
    with pytest.raises(BadUsage, match="nothing holds stone in the world"):
        mb.reactions(mech)


def test_who_is_held_by_default() -> None:
    mech, q = two_link_arm()
    with pytest.raises(BadUsage, match="moves under the load: elbow by"):
        mb.reactions(mech, q, hold=())
    held = mb.reactions(mech, q, hold=["shoulder", "elbow"])
    assumed = mb.reactions(mech, q)
    assert assumed.held == assumed.assumed_held == ("shoulder", "elbow") and held.assumed_held == ()
    for joint in ("shoulder", "elbow"):
        np.testing.assert_array_equal(assumed[joint].wrench, held[joint].wrench)
    efforts = {"shoulder": 0.0, "elbow": 5.0}
    limited = replace(
        mech, pairs=tuple(replace(p, freedoms=(Freedom(effort=efforts[p.name]),)) for p in mech.pairs)
    )
    assumed = mb.reactions(limited, q)
    assert assumed.held == ("elbow", "shoulder") and assumed.assumed_held == ("shoulder",)
    efforts["shoulder"] = 7.0
    limited = replace(
        mech, pairs=tuple(replace(p, freedoms=(Freedom(effort=efforts[p.name]),)) for p in mech.pairs)
    )
    assert mb.reactions(limited, q).held == ("shoulder", "elbow")
    assert not mb.reactions(limited, q).assumed_held
    driven = replace(limited, drivers=(Driver("motor", "shoulder", rate=1.0),), locks=(Lock("elbow"),))
    result = mb.reactions(driven, q)
    assert result.held == () and result.mode == "statics"
    assert result.value("motor", "rz_drive") == pytest.approx(-(3 * 0.5 + 2 * 1.5) * G)


def test_a_joint_that_the_load_does_not_move_is_not_held() -> None:
    """The arm hangs down: nothing moves, and nothing is assumed."""
    mech, _ = two_link_arm()
    hanging = mb.reactions(mech, {"shoulder": np.pi / 2})
    assert hanging.held == hanging.assumed_held == ()


def test_in_a_loop_without_drives_the_first_joint_is_held() -> None:
    mech, q = four_bar()
    pairs = tuple(replace(p, freedoms=(Freedom(),)) for p in mech.pairs)
    mech = replace(with_masses(mech, **{body.name: 1.0 for body in mech.bodies}), pairs=pairs)
    mech = replace(mech, gravity=np.array([G, -G, 0.0]))
    assumed, named = mb.reactions(mech, q), mb.reactions(mech, q, hold=["j0"])
    assert assumed.held == assumed.assumed_held == ("j0",)
    assert assumed.degree_of_redundancy == named.degree_of_redundancy
    np.testing.assert_array_equal(assumed["j0"].wrench, named["j0"].wrench)


def test_of_coupled_joints_the_leader_is_assumed_to_be_held() -> None:
    """The follower comes first in the file; a drive is on the joint that it follows."""
    text = """<robot name="g"><link name="world"/>{links}
    <joint name="follower" type="continuous"><parent link="world"/><child link="b"/><axis xyz="0 1 0"/>
      <mimic joint="leader" multiplier="0.5"/></joint>
    <joint name="leader" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/></joint></robot>"""
    link = """<link name="{}"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    scene = load("g.urdf", text=text.format(links=link.format("a") + link.format("b")))
    result = mb.reactions(scene)
    assert result.held == result.assumed_held == ("leader",)
    # both weights act on the drive: 2 g 0.3 m, and half as much through the coupling
    assert result.value("lock leader", "rz_lock") == pytest.approx(-1.5 * 2 * G * 0.3)


def test_what_falls_is_not_held_by_its_joints() -> None:
    mech, _ = two_link_arm()
    loose = replace(mech, pairs=mech.pairs[1:])
    with pytest.raises(BadUsage, match=r"falls under the load: nothing holds .*; fix the base"):
        mb.reactions(loose)


def test_only_independent_joints_are_held() -> None:
    mech, q = four_bar()
    mech = replace(mech, pairs=tuple(replace(p, freedoms=(Freedom(effort=9.0),)) for p in mech.pairs))
    result = mb.reactions(mech, q)
    assert result.held == ("j0",)
    assert result.degree_of_redundancy == 3
    # every brake closed: the in-plane forces are then open too
    both = mb.reactions(mech, q, hold=["j0", "j3"])
    assert both.degree_of_redundancy == 4
    assert not both["lock j0"].unique and not both["j0"]["tx"].unique


def test_a_long_chain_is_exact() -> None:
    """Weight of 400 links: the moment at the ground is that of all of them."""
    mech, q = chain(400, "fixed", np.random.default_rng(0))
    result = mb.reactions(mech, q)
    from mbplugin.model.mechanism.kinematics import forward

    p = forward(mech, q).p_WC - result["j0"].point
    M = np.cross(p, [0, 0, -G]).sum(axis=0)
    w = world_wrench(result, "j0")
    assert w[:3] == pytest.approx([0, 0, 400 * G], rel=1e-9)
    assert w[3:] == pytest.approx(-M, rel=1e-8, abs=1e-6)


def test_a_floating_ring_carries_loads_in_balance_only() -> None:
    mech, q = ring(40)
    mech = replace(mech, gravity=np.zeros(3))
    loads = [{"body": "b3", "force": [0, 0, 5]}, {"body": "b20", "force": [0, 0, -5]}]
    # the ring floats, its two loads make a couple
    with pytest.raises(BadUsage):
        mb.reactions(mech, q, loads=loads)
    balanced = [*loads, {"body": "b3", "force": [0, 0, -5]}, {"body": "b20", "force": [0, 0, 5]}]
    assert mb.reactions(mech, q, loads=balanced).degree_of_redundancy == 3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"loads": [{"body": "copler"}]}, "did you mean 'coupler'"),
        ({"loads": [{"body": "world"}]}, "not a body"),
        ({"loads": [{"body": "coupler", "fource": [1, 0, 0]}]}, "did you mean 'force'"),
        ({"loads": [{"body": "coupler", "force": [1, 0]}]}, "three finite numbers"),
        ({"loads": [{"body": "coupler", "force": [1, 0, np.nan]}]}, "three finite numbers"),
        ({"payloads": [{"body": "tool", "mass": 1}]}, "not a body"),
        ({"payloads": [{"body": "coupler", "mass": -1}]}, "not negative"),
        ({"hold": ["j9"]}, "not a"),
        ({"hold": ["j0.tx"]}, "cannot be held"),
        ({"misfit": {"j0.rz": 0.1}}, "not a row"),
        ({"material": "cheese"}, "steel, aluminium"),
        ({"tolerance": 2.0}, "between 0 and 1"),
        ({"stiffness": {"j7": [1] * 6}}, "unknown pair"),
        ({"stiffness": {"j7": {"E": 1}}}, "unknown body"),
        ({"stiffness": {"coupler": {"E": 1, "A": 1, "Iy": 1, "Iz": 1}}}, "wrong in J"),
        ({"stiffness": {"j0": [1] * 5}}, "not six numbers"),
        ({"stiffness": {"j0": [1, 1, 1, 1, -1, 0]}}, "not positive semidefinite"),
        ({"stiffness": {"j0": np.eye(6) + np.eye(6, k=1)}}, "not symmetric"),
        ({"stiffness": {"j0": [1, 1, 1, 0, 1, 0]}}, "zero in rx"),
        ({"stiffness": {"j0": np.eye(6) + 2 * (np.eye(6, k=1) + np.eye(6, k=-1))}}, "semidefinite"),
    ],
)
def test_unusable_input_is_one_sentence(arguments: dict, said: str) -> None:
    mech, q = weightless_four_bar()
    with pytest.raises(MbPluginError) as refused:
        mb.reactions(mech, q, **arguments)
    assert said in str(refused.value)
    assert str(refused.value).count("\n") == 0


def test_loads_in_either_frame() -> None:
    mech, q = two_link_arm()
    raised = q + np.array([-np.pi / 2, 0.0])
    along = {"body": "upper", "force": [10, 0, 0], "point": [0.5, 0, 0], "frame": "body"}
    world = {"body": "upper", "force": [0, 0, 10], "point": [0.5, 0, 0]}
    hold = ["shoulder", "elbow"]
    one, other = (mb.reactions(mech, raised, loads=[load], hold=hold) for load in (along, world))
    assert one["shoulder"].wrench == pytest.approx(other["shoulder"].wrench, abs=1e-9)
    assert read_loads(mech, [world])[0].frame == "world"


def test_names_that_do_not_exist_are_suggested() -> None:
    mech, q = weightless_four_bar()
    result = mb.reactions(mech, q)
    with pytest.raises(UnknownName, match="did you mean"):
        result["j00"]
    with pytest.raises(UnknownName, match="known names"):
        result["j0"]["qq"]


@pytest.mark.long
def test_the_legs_of_a_platform_are_held_and_not_its_universal_joints() -> None:
    found = mb.reactions(ORACLES / "stewart_6UPS.sdf")
    assert found.assumed_held == tuple(f"p{k}" for k in range(6))
