"""Contacts as constraints, and bounds of what the rigid model does not determine (oracles by hand)."""

from __future__ import annotations

import itertools
from dataclasses import replace
from math import atan, cos, radians, sin, tan
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import null_space

import mbplugin as mb
from mbplugin.constraints.rows import rows_of
from mbplugin.errors import BadNumber, BadUsage, BrokenModel, MbPluginError, UnknownName
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import MOST_CONTACTS, SIDES, Freedom, Pair
from mbplugin.model.spatial import Pose, rotation_from_rpy

FOUR_BAR = Path(__file__).parents[2] / "assets/four_bar.scene.toml"

#: The table of all tests: 10 kg, legs at the corners of a square of 2 m.
MASS, W = 10.0, 98.1
SQUARE = ((1, 1), (-1, 1), (-1, -1), (1, -1))


def table(com=(0.0, 0.0), height=0.5, gravity=(0.0, 0.0, -9.81)):
    body = Body("top", MASS, np.array([*com, height]), np.eye(3))
    return Mechanism("table", (body,), gravity=np.array(gravity))


def feet(mu, places=SQUARE, normal=(0, 0, 1)):
    return [
        {"body_a": "top", "name": f"leg {k}", "point": [x, y, 0], "normal": list(normal), "mu": mu}
        for k, (x, y) in enumerate(places)
    ]


def ends(result, name, component="cn"):
    found = result[name][component]
    return found.lower, found.upper


# The table of THEORY, by hand.


def test_a_square_table_without_friction_has_one_self_stress_and_each_leg_up_to_half_the_weight():
    result = mb.reactions(table(), contacts=feet(0.0))
    assert result.degree_of_redundancy == 1
    for k in range(4):
        found = result[f"leg {k}"]["cn"]
        assert (found.unique, found.value, found.source) == (False, None, None)
        assert (found.lower, found.upper) == pytest.approx((0.0, W / 2), abs=1e-9)
        assert set(found.bounded_by) <= {f"leg {j}.cn" for j in range(4)}


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_load_on_the_middle_of_an_edge_is_determined_by_the_inequalities(mu):
    result = mb.reactions(table((0.0, 1.0)), contacts=feet(mu))
    for k, expected in enumerate((W / 2, W / 2, 0.0, 0.0)):
        found = result[f"leg {k}"]["cn"]
        assert not found.unique and found.source == "inequalities"
        assert (found.lower, found.value, found.upper) == pytest.approx((expected,) * 3, abs=1e-9)


def test_a_load_on_the_diagonal_shifts_a_fixed_amount_between_opposite_legs():
    result = mb.reactions(table((0.25, 0.25)), contacts=feet(0.0))
    # moments: N0 − N2 = W/4 and N1 = N3; sum: N0 + N1 + N2 + N3 = W; so N2 = (3/4 W − 2 N1)/2 ≥ 0
    assert ends(result, "leg 0") == pytest.approx((W / 4, 5 / 8 * W), abs=1e-9)
    assert ends(result, "leg 2") == pytest.approx((0.0, 3 / 8 * W), abs=1e-9)
    assert ends(result, "leg 1") == pytest.approx((0.0, 3 / 8 * W), abs=1e-9)
    (family,) = result.families
    shift = next(r for r in family.relations if r.component == "cn" and r.constraint == "leg 2")
    assert shift.constant == pytest.approx(-W / 4, abs=1e-9)


def test_three_legs_are_unique_and_four_and_five_are_not():
    three = mb.reactions(table(), contacts=feet(0.0, ((1, 1), (-1, 1), (0, -1))))
    assert three.degree_of_redundancy == 0
    assert [c.components[0].value for c in three.constraints] == pytest.approx([W / 4, W / 4, W / 2])
    assert all(
        c.components[0].lower is None and c.components[0].bounded_by is None for c in three.constraints
    )
    for places, p in ((SQUARE, 1), ((*SQUARE, (0.2, 0.1)), 2)):
        more = mb.reactions(table(), contacts=feet(0.0, places))
        assert more.degree_of_redundancy == p and not any(c.unique for c in more.constraints)


def test_with_friction_three_legs_have_a_self_stress_of_three_dimensions():
    result = mb.reactions(table(), contacts=feet(0.4, ((1, 1), (-1, 1), (0, -1))))
    assert result.degree_of_redundancy == 3
    assert [c["cn"].value for c in result.constraints] == pytest.approx([W / 4, W / 4, W / 2])
    assert all(c["cn"].unique and not c["ct1"].unique for c in result.constraints)


@pytest.mark.parametrize("mu", [0.6, 1.0])
def test_a_block_on_a_slope_between_two_contacts_has_the_textbooks_bounds(mu):
    # gravity is turned instead of the plane; in the x–z plane N1, N2 follow from statics
    slope, a, h = radians(25.0), 1.0, 0.5
    tilted = (9.81 * sin(slope), 0.0, -9.81 * cos(slope))
    result = mb.reactions(table(gravity=tilted, height=h), contacts=feet(mu, ((-a, 0), (a, 0))), planar="zx")
    pull, press = W * sin(slope), W * cos(slope)
    back = press / 2 - pull * h / (2 * a)
    front = press - back
    assert [result[f"leg {k}"]["cn"].value for k in (0, 1)] == pytest.approx([back, front], abs=1e-9)
    # ct1 is downhill, the friction on the block uphill
    for k, (own, other) in enumerate(((back, front), (front, back))):
        lower = max(-mu * own, -pull - mu * other)
        upper = min(mu * own, -pull + mu * other)
        assert ends(result, f"leg {k}", "ct1") == pytest.approx((lower, upper), abs=1e-9)
    assert result.standing.smallest_friction == pytest.approx(tan(slope), abs=1e-8)
    assert result.standing.friction_factor == pytest.approx(tan(slope) / mu, abs=1e-8)


def test_a_block_wedged_between_two_walls_is_bounded_from_below_only():
    mu = 0.4
    walls = [
        {"body_a": "top", "name": "left", "point": [-1, 0, 0.5], "normal": [1, 0, 0], "mu": mu},
        {"body_a": "top", "name": "right", "point": [1, 0, 0.5], "normal": [-1, 0, 0], "mu": mu},
    ]
    result = mb.reactions(table(), contacts=walls, planar="zx")
    for name in ("left", "right"):
        lower, upper = ends(result, name)
        assert lower == pytest.approx(W / (2 * mu), abs=1e-9) and upper is None
        assert result[name]["ct1"].value == pytest.approx(-W / 2)
    assert f"≥ {W / (2 * mu):.4g}" in str(result)


def test_bounds_reach_the_joints_between_the_contacts_and_the_load():
    plate = Body("plate", MASS, np.array([0.0, 0.0, 1.0]), np.eye(3))
    legs = tuple(Body(f"leg {k}", 1.0, np.array([x, y, 0.5]), np.eye(3)) for k, (x, y) in enumerate(SQUARE))
    welds = tuple(
        Pair(
            f"weld {k}",
            "fixed",
            "plate",
            f"leg {k}",
            Pose(np.eye(3), np.array([x, y, 1.0])),
            Pose(np.eye(3), np.array([x, y, 1.0])),
        )
        for k, (x, y) in enumerate(SQUARE)
    )
    contacts = [
        {"body_a": f"leg {k}", "point": [x, y, 0], "normal": [0, 0, 1], "mu": 0.0}
        for k, (x, y) in enumerate(SQUARE)
    ]
    result = mb.reactions(Mechanism("table", (plate, *legs), welds), contacts=contacts)
    # the weld carries the weight of its leg, 9.81 N, less the force on the foot
    for k in range(4):
        assert ends(result, f"contact leg {k}") == pytest.approx((0.0, W / 2 + 2 * 9.81), abs=1e-9)
        assert ends(result, f"weld {k}", "tz") == pytest.approx((9.81 - (W / 2 + 2 * 9.81), 9.81), abs=1e-9)
        assert result[f"weld {k}"]["tx"].value == pytest.approx(0.0, abs=1e-9)


def test_two_drives_on_one_shaft_share_the_torque_within_their_efforts():
    shaft = Body("shaft", 1.0, np.zeros(3), np.eye(3))
    turns = tuple(
        Pair(
            name,
            "revolute",
            "world",
            "shaft",
            Pose.identity(),
            Pose.identity(),
            closure,
            freedoms=(Freedom(effort=effort),),
        )
        for name, effort, closure in (("a", 6.0, False), ("b", 9.0, True))
    )
    mech = Mechanism("shaft", (shaft,), turns, gravity=np.zeros(3))
    result = mb.reactions(mech, loads=[{"body": "shaft", "torque": [0, 0, 10]}], hold=["a", "b"])
    # τa + τb = −10 with |τa| ≤ 6 and |τb| ≤ 9
    assert ends(result, "lock a", "rz_lock") == pytest.approx((-6.0, -1.0), abs=1e-9)
    assert ends(result, "lock b", "rz_lock") == pytest.approx((-9.0, -4.0), abs=1e-9)
    assert set(result["lock a"]["rz_lock"].bounded_by) == {"a.effort", "b.effort"}
    assert result["a"]["tx"].lower is None and result["a"]["tx"].upper is None


def test_drives_that_are_too_weak_leave_the_bounds_open_and_are_named():
    X = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    turn = Pair(
        "hip",
        "revolute",
        "top",
        "arm",
        Pose(X, np.array([0, 0, 0.5])),
        Pose(X, np.zeros(3)),
        freedoms=(Freedom(effort=1.0),),
    )
    arm = Body("arm", 1.0, np.array([0.0, 0.3, 0.0]), np.eye(3))
    mech = Mechanism("table", (*table().bodies, arm), (turn,))
    result = mb.reactions(mech, contacts=feet(0.5))
    assert result.held == ("hip",)
    assert any("hip" in note and "too weak" in note for note in result.notes)
    assert abs(result["lock hip"]["rz_lock"].value) == pytest.approx(9.81 * 0.3)


@pytest.mark.parametrize("rpy", [(0.0, 0.0, 0.0), (1.5707963267948966, 0.0, 0.0), (2.0, -1.1, 0.7)])
def test_a_weak_drive_does_not_bound_by_rounding_what_it_does_not_restrain(rpy):
    """Forces along the hinges of a planar four-bar have nothing to do with the drive, however its axes are turned."""
    scene = mb.load(FOUR_BAR)
    whole = Pose(rotation_from_rpy(rpy), np.zeros(3))
    pairs = []
    for k, pair in enumerate(scene.mechanism.pairs):
        about = Pose(rotation_from_rpy((0.0, 0.0, 0.1 * k + 3)), np.zeros(3))
        X_AP = pair.X_AP @ about
        pairs.append(
            replace(pair, X_AP=whole @ X_AP if pair.body_a == "world" else X_AP, X_BS=pair.X_BS @ about)
        )
    mech = replace(scene.mechanism, pairs=tuple(pairs))
    result = mb.reactions(
        mech,
        scene.state.q,
        loads=[{"body": "coupler", "force": [1e6, 2e6, 3e6]}],
        hold=["j0"],
        estimate=False,
    )
    open_ones = [c for name in ("j0", "j1", "j2", "j3") for c in result[name].components if not c.unique]
    assert len(open_ones) > 8
    assert all(c.lower is None and c.upper is None for c in open_ones)


# Loads that the contacts cannot carry.


@pytest.mark.parametrize(
    ("com", "words"),
    [
        ((0.0, 1.2), "tips it about the line through leg 0 and leg 1; leg 2, leg 3 open"),
        ((-1.3, 0.0), "tips it about the line through leg 1 and leg 2; leg 0, leg 3 open"),
    ],
)
@pytest.mark.parametrize("mu", [0.0, 0.7])
def test_a_load_beyond_an_edge_tips_about_it(com, words, mu):
    with pytest.raises(BadUsage, match=words):
        mb.reactions(table(com), contacts=feet(mu))


def test_a_load_that_lifts_is_refused():
    with pytest.raises(BadUsage, match=r"cannot hold .* tips"):
        mb.reactions(table(), loads=[{"body": "top", "force": [0, 0, 150]}], contacts=feet(0.5))


def test_a_slope_steeper_than_the_friction_slips_and_the_message_has_the_coefficient():
    slope = radians(30.0)
    tilted = (9.81 * sin(slope), 0.0, -9.81 * cos(slope))
    with pytest.raises(BadUsage, match=f"slip at .*at least {tan(slope):.4g}"):
        mb.reactions(table(gravity=tilted), contacts=feet(0.5))
    assert mb.reactions(table(gravity=tilted), contacts=feet(0.58)).standing.friction_factor == pytest.approx(
        tan(slope) / 0.58, abs=1e-7
    )


def test_no_friction_holds_what_only_pulls_sideways():
    walls = [
        {"body_a": "top", "name": "left", "point": [-1, 0, 0.5], "normal": [1, 0, 0], "mu": 0.2},
        {"body_a": "top", "name": "floor", "point": [0, 0, 0.0], "normal": [0, 0, 1], "mu": 0.2},
    ]
    with pytest.raises(BadUsage, match=r"tips|slip"):
        mb.reactions(
            table(),
            loads=[{"body": "top", "force": [-50, 0, 150], "point": [0, 0, 0.5]}],
            contacts=walls,
            planar="zx",
        )


# Margins.


def test_the_load_on_an_edge_can_grow_until_the_far_legs_open():
    # P at 2 m from the middle tips about y = 1: P (2 − 1) = W · 1
    result = mb.reactions(
        table(), loads=[{"body": "top", "force": [0, 0, -20], "point": [0, 2, 0.5]}], contacts=feet(0.5)
    )
    assert result.standing.load_factor == pytest.approx(W / 20, abs=1e-8)
    assert set(result.standing.load_limited_by) == {"leg 2.cn", "leg 3.cn"}


def test_the_sideways_reserve_is_that_of_a_block():
    # tips when the resultant passes the edge: f h = 1 with f in weights; slips at f = μ for level loads
    high = mb.reactions(table(height=2.0), contacts=feet(0.8)).standing
    assert high.tips and high.sideways == pytest.approx(0.5, abs=1e-8)
    assert high.sideways_direction == pytest.approx((1.0, 0.0, 0.0))
    assert set(high.sideways_limited_by) == {"leg 1.cn", "leg 2.cn"}
    low = mb.reactions(table(height=0.25), contacts=feet(0.3)).standing
    assert not low.tips and low.sideways == pytest.approx(0.3, abs=1e-8)
    assert any(name.endswith(".friction") for name in low.sideways_limited_by)


# Two hundred random stances against the vertices of the polytope of possible forces.


def vertices_of(N, G, h):
    """Return the vertices y (v, p) of G y ≤ h by solving every p of the inequalities."""
    p = N.shape[1]
    sets = np.array(list(itertools.combinations(range(len(h)), p)))
    A, b = G[sets], h[sets]
    regular = np.abs(np.linalg.det(A)) > 1e-9
    y = np.linalg.solve(A[regular], b[regular][:, :, None])[:, :, 0]
    return y[(y @ G.T <= h + 1e-7).all(axis=1)]


def enumerated(E, load, friction, box):
    """Return the bounds (m, 2) of λ with E λ = load, or None if there are none; infinite at the box.

    Parameters
    ----------
    friction : list of (row, coefficients)
        Rows of G with G λ ≤ 0.
    """
    start = np.linalg.lstsq(E, load, rcond=None)[0]
    assert np.allclose(E @ start, load, atol=1e-9)
    N = null_space(E, rcond=1e-9)
    G = np.array(friction)
    inside = np.vstack((G @ N, np.eye(N.shape[1]), -np.eye(N.shape[1])))
    h = np.concatenate((-G @ start, np.full(2 * N.shape[1], box)))
    if not N.shape[1]:
        return np.stack((start, start), axis=1) if (G @ start <= 1e-7).all() else None
    y = vertices_of(N, inside, h)
    if not len(y):
        return None
    values = start + y @ N.T
    out = np.stack((values.min(axis=0), values.max(axis=0)), axis=1)
    out[np.abs(out) > 1e-2 * box] *= np.inf
    return out


def stance(rng, kind):
    """Return contacts of a random stance and the independent model: equilibrium E λ = load, inequalities G."""
    if kind == "level":
        places = rng.uniform(-1, 1, (int(rng.integers(4, 8)), 3))
        normals = np.tile([0.0, 0.0, 1.0], (len(places), 1))
        mu = np.zeros(len(places))
    elif kind == "tilted":
        places, mu = rng.uniform(-1, 1, (3, 3)), rng.uniform(0.3, 1.2, 3)
        places[:, 2] *= 0.3
        normals = np.array([0, 0, 1]) + 0.4 * rng.normal(size=(3, 3))
    else:
        places = rng.uniform(-1, 1, (int(rng.integers(2, 5)), 3))
        places[:, 1] = 0.0
        normals = np.array([0, 0, 1]) + 0.8 * rng.normal(size=(len(places), 3)) * [1, 0, 1]
        mu = rng.uniform(0.2, 1.2, len(places))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return places, normals, mu


def independent(places, normals, mu, com, kind):
    """Return E (n, m), load (n,), G (k, m) and (contact, component) by row, from the geometry alone."""
    columns, labels, G = [], [], []
    for k, (p, n, m) in enumerate(zip(places, normals, mu, strict=True)):
        down = np.array([0, 0, -1.0]) - (np.array([0, 0, -1.0]) @ n) * n
        t1 = down / np.linalg.norm(down) if np.linalg.norm(down) > 1e-9 else np.array([1.0, 0, 0])
        directions = [("cn", n), ("ct1", t1), ("ct2", np.cross(n, t1))]
        directions = directions[: 1 if m == 0 else 2 if kind == "planar" else 3]
        for name, e in directions:
            columns.append(np.concatenate((e, np.cross(p, e))))
            labels.append((k, name))
    E = np.array(columns).T
    load = -np.concatenate(([0, 0, -W], np.cross(com, [0, 0, -W])))
    chosen = [2, 3, 4] if kind == "level" else [0, 2, 4] if kind == "planar" else list(range(6))
    for k, m in enumerate(mu):
        own = {name: i for i, (j, name) in enumerate(labels) if j == k}
        row = np.zeros(len(labels))
        row[own["cn"]] = -1.0
        G.append(row)
        sides = 0 if m == 0 else 2 if kind == "planar" else SIDES
        for angle in 2 * np.pi * np.arange(sides) / max(sides, 1):
            row = np.zeros(len(labels))
            row[own["cn"]] = -m
            row[own["ct1"]] = cos(angle)
            if "ct2" in own:
                row[own["ct2"]] = sin(angle)
            G.append(row)
    return E[chosen], load[chosen], G, labels


@pytest.mark.long
@pytest.mark.parametrize("kind", ["level", "tilted", "planar"])
def test_random_stances_have_the_bounds_of_the_vertices(kind):
    count = {"level": 70, "tilted": 60, "planar": 70}[kind]
    held = refused = 0
    for seed in range(count):
        rng = np.random.default_rng([seed, len(kind)])
        places, normals, mu = stance(rng, kind)
        com = np.average(places, axis=0, weights=rng.uniform(0.2, 1, len(places)))
        com[2] = 0.6
        if seed % 7 == 0:
            com[:2] = [1.5, 0.0]
        if kind == "planar":
            com[1] = 0.0
        body = Body("top", MASS, com, np.eye(3))
        contacts = [
            {"body_a": "top", "name": f"c{k}", "point": p.tolist(), "normal": n.tolist(), "mu": float(m)}
            for k, (p, n, m) in enumerate(zip(places, normals, mu, strict=True))
        ]
        E, load, G, labels = independent(places, normals, mu, com, kind)
        expected = enumerated(E, load, G, 1e5 * W)
        mech = Mechanism("stance", (body,))
        planar = "zx" if kind == "planar" else None
        if expected is None:
            refused += 1
            with pytest.raises(BadUsage, match="cannot hold"):
                mb.reactions(mech, contacts=contacts, planar=planar)
            continue
        held += 1
        result = mb.reactions(mech, contacts=contacts, planar=planar)
        for (k, name), (low, high) in zip(labels, expected, strict=True):
            found = result[f"c{k}"][name]
            if found.value is not None:
                assert (found.value, found.value) == pytest.approx((low, high), abs=1e-6 * W), (seed, k, name)
                continue
            lower = -np.inf if found.lower is None else found.lower
            upper = np.inf if found.upper is None else found.upper
            assert (lower, upper) == pytest.approx((low, high), rel=1e-6, abs=1e-6 * W), (seed, k, name)
    assert held >= 20 and refused >= 5


# Rows.


def test_a_contact_between_two_bodies_has_the_rows_of_a_ball_at_its_point():
    rng = np.random.default_rng(4)
    bodies = tuple(Body(name, 1.0, rng.normal(size=3), np.eye(3)) for name in "ab")
    point, n = rng.normal(size=3), np.array([0.36, 0.48, 0.8])
    contact = mb.Contact("c", "b", point, n, 0.3, "a")
    E = contact.axes(np.array([0, 0, -9.81]))
    assert np.allclose(E @ E.T, np.eye(3)) and np.allclose(E[0], n) and E[1] @ [0, 0, -1] > 0
    ball = Pair("ball", "spherical", "a", "b", Pose(E.T, point), Pose(np.eye(3), point))
    mech = Mechanism("two", bodies, contacts=(contact,))
    joined = Mechanism("two", bodies, (ball,))
    q = np.concatenate([np.concatenate((body.p_LC, [0, 0, 0, 1])) for body in bodies])
    poses = forward(mech, q)
    twists = rng.normal(size=(2, 6))
    arms = [point - body.p_LC for body in bodies]
    # the points move together
    twists[1, :3] = twists[0, :3] + np.cross(twists[0, 3:], arms[0]) - np.cross(twists[1, 3:], arms[1])
    (rows,) = rows_of(mech, mech.contacts, poses, twists=twists)
    (other,) = rows_of(joined, (ball,), poses, twists=twists)
    assert rows.components == ("cn", "ct1", "ct2") and other.components == ("tx", "ty", "tz")
    for body in (0, 1):
        assert np.allclose(dict(rows.entries)[body], dict(other.entries)[body])
    assert np.allclose(rows.Gamma, other.Gamma)


# Motions: who holds, slips and opens.


def test_a_sliding_table_has_the_friction_of_its_normal_forces():
    mu, v = 0.3, 2.0
    mech = table(height=0.5)
    result = mb.reactions(
        mech,
        qd={"top.vx": v},
        qdd={"top.vx": -mu * 9.81},
        contacts=feet(mu),
    )
    assert [c.state for c in result.contacts] == ["slips"] * 4
    assert result.degree_of_redundancy == 1
    # braking by μ W at height h moves this much from each rear to each front leg, x = 1
    moved = mu * W * 0.5 / 2
    for k in (0, 3):
        assert ends(result, f"leg {k}") == pytest.approx((moved, W / 2), abs=1e-6)
    for k in (1, 2):
        assert ends(result, f"leg {k}") == pytest.approx((0.0, W / 2 - moved), abs=1e-6)


def test_contacts_that_separate_carry_nothing_and_those_that_collide_are_refused():
    # turning about the line through legs 0 and 3 (the y axis at x = 1) lifts legs 1 and 2
    turning = {"top.wy": 1.0, "top.vx": 0.5, "top.vz": 1.0}
    force = np.array([MASS * 0.5, 0.0, W + MASS])
    torque = 1.0 - float(np.cross([1.0, 0.0, -0.5], force)[1])
    load = [{"body": "top", "torque": [0, torque, 0]}]
    result = mb.reactions(table(), qdd=turning, loads=load, contacts=feet(0.9))
    assert [c.state for c in result.contacts] == ["holds", "opens", "opens", "holds"]
    assert [c.name for c in result.constraints] == ["leg 0", "leg 3"]
    assert [c["cn"].value for c in result.constraints] == pytest.approx([(W + MASS) / 2] * 2)
    with pytest.raises(BadUsage, match="into each other"):
        mb.reactions(table(), qd={"top.vz": -1.0}, contacts=feet(0.9))


# Wrong input, in one sentence each.


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"mu": None}, BadUsage, "has no mu"),
        ({"normal": None}, BadUsage, "has no normal"),
        ({"mu": -0.1}, BadNumber, "friction coefficient"),
        ({"mu": float("nan")}, BadNumber, "friction coefficient"),
        ({"mu": 1e4}, BadNumber, "from 0 to 100"),
        ({"normal": [0, 0, 2]}, BadNumber, "has the length 2"),
        ({"normal": [0, 0, 0]}, BadNumber, "has the length 0"),
        ({"normal": [0, 1]}, BadNumber, "normal"),
        ({"point": [0, 0, float("inf")]}, BadNumber, "point"),
        ({"point": ["here", 0, 0]}, BadUsage, "not a number"),
        ({"body_b": "top"}, BadUsage, "itself"),
        ({"body_a": "world"}, BadUsage, "pushes the ground"),
        ({"body_a": "tup"}, UnknownName, "did you mean 'top'"),
        ({"body_b": "floor"}, UnknownName, "floor"),
        ({"friction": 0.3}, UnknownName, "unknown key 'friction'"),
        ({"body_a": 3}, BadUsage, "names no body_a"),
        ({"name": "leg 1"}, BrokenModel, "leg 1"),
    ],
)
def test_a_wrong_contact_is_one_sentence(change, error, words):
    contacts = feet(0.5)
    changed = {**contacts[0], **change}
    contacts[0] = {key: value for key, value in changed.items() if value is not None}
    with pytest.raises(error, match=words) as caught:
        mb.reactions(table(), contacts=contacts)
    assert str(caught.value).count("\n") == 0


def test_more_contacts_than_the_bound_are_refused():
    one = feet(0.5)[0]
    del one["name"]
    with pytest.raises(BadUsage, match=f"more than {MOST_CONTACTS} contacts"):
        mb.reactions(table(), contacts=[one] * (MOST_CONTACTS + 1))


def test_contacts_without_a_name_are_numbered():
    contacts = feet(0.5)
    for one in contacts[:2]:
        del one["name"]
    result = mb.reactions(table(), contacts=contacts)
    assert [c.name for c in result.constraints] == ["contact top 1", "contact top 2", "leg 2", "leg 3"]


def test_the_angle_of_friction_is_on_the_safe_side_of_the_circle():
    # the polygon lies around the circle: at a corner it exceeds it by 1/cos(π/16)
    corner = np.pi / SIDES
    pull = W * 0.5
    direction = [cos(corner), sin(corner), 0.0]
    load = [{"body": "top", "force": [pull * d for d in direction], "point": [0, 0, 0]}]
    needed = mb.reactions(table(), loads=load, contacts=feet(0.6)).standing.smallest_friction
    assert needed == pytest.approx(0.5 * cos(corner), abs=1e-7)
    assert atan(needed) < atan(0.5)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"mu": None}, "the contact of 't' has no mu"),
        ({"mu": -1.0}, "friction coefficient of the contact of 't' is -1.0; expected a number from 0 to 100"),
        ({"body_b": "t"}, "the contact of 't' is between 't' and itself; expected two bodies"),
        ({"normal": [0, 0, 0]}, "the normal of the contact of 't' has the length 0"),
        ({"point": [0, 0, np.inf]}, "the point of the contact of 't' is"),
        ({"body_b": "floor"}, "a contact names 'floor'"),
    ],
)
def test_an_impossible_contact_without_a_name_is_named_by_its_body(changed, words):
    stated = {"body_a": "t", "point": [0, 0, 0], "normal": [0, 0, 1], "mu": 0.5, **changed}
    contact = {name: value for name, value in stated.items() if value is not None}
    with pytest.raises(MbPluginError) as caught:
        mb.reactions(mb.Mechanism("crate", (mb.Body("t", 10.0),)), contacts=[contact])
    assert words in str(caught.value) and "\n" not in str(caught.value)


# Contacts in an analysis.


@pytest.mark.parametrize(
    ("mu", "places", "p"),
    [
        (0.0, ((1, 1), (-1, 1), (0, -1)), 0),
        (0.0, SQUARE, 1),
        (0.0, (*SQUARE, (0.2, 0.1)), 2),
        (0.4, ((1, 1), (-1, 1), (0, -1)), 3),
        (0.4, SQUARE, 6),
    ],
)
def test_an_analysis_counts_contacts_beside_the_joints(mu, places, p):
    """One body has six freedoms, of which level contacts without friction take three."""
    found = mb.analyze(table(), contacts=feet(mu, places))
    assert found.degree_of_redundancy == p
    assert found.mobility.infinitesimal == (3 if mu == 0 else 0)
    assert {v.name for v in found.constraints if not v.unique} == (
        {f"leg {k}" for k in range(len(places))} if p else set()
    )


def test_an_analysis_of_a_scene_takes_its_contacts_only_if_it_is_told_to(tmp_path):
    path = tmp_path / "table.scene.toml"
    legs = [
        f'[[contact]]\nbody_a = "top"\npoint = [{x}, {y}, 0]\nnormal = [0, 0, 1]\nmu = 0.0\n'
        for x, y in SQUARE
    ]
    path.write_text(
        '[[body]]\nname = "top"\nmass = 10\ncom = [0, 0, 0.5]\ninertia = [1, 1, 1]\n' + "".join(legs),
        encoding="utf-8",
    )
    scene = mb.load(path)
    assert mb.analyze(scene).degree_of_redundancy == 0
    assert mb.analyze(scene, contacts=True).degree_of_redundancy == 1
    middle = [{"body_a": "top", "point": [0, 0, 0], "normal": [0, 0, 1], "mu": 0.0}]
    assert mb.analyze(scene, contacts=middle).degree_of_redundancy == 2
    again = [{"body_a": "top", "point": [1, 1, 0], "normal": [0, 0, 1], "mu": 0.0}]
    with pytest.raises(BadUsage, match="are the same"):
        mb.analyze(scene, contacts=again)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"contacts": True}, "'table' states no contacts"),
        ({"contacts": feet(0.3), "method": "dca"}, "the method 'dca' takes no contacts"),
        ({"contacts": feet(0.3), "q": np.zeros((2, 7))}, "a batch of poses takes no contacts"),
    ],
)
def test_an_analysis_that_cannot_take_contacts_says_so(options, words):
    with pytest.raises(BadUsage, match=words):
        mb.analyze(table(), **options)


def test_contacts_hold_at_the_pose_only_so_that_no_others_are_sampled_unless_asked_for():
    X = Pose(np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]), np.array([0, 0, 0.5]))
    wing = Body("wing", 1.0, np.array([0, 2.0, 0.5]), np.eye(3))
    mech = Mechanism("table", (*table().bodies, wing), (Pair("hinge", "revolute", "top", "wing", X, X),))
    legs = [
        *feet(0.0),
        {"body_a": "wing", "name": "under", "point": [0, 3, 0], "normal": [0, 0, 1], "mu": 0.0},
    ]
    assert mb.analyze(mech, contacts=legs).samples == 0
    assert mb.analyze(mech, contacts=legs, samples=3).samples == 3


# Cables and bearings that act on one side.


def test_a_beam_on_three_cables_has_their_bounds_by_hand():
    """A cable is a contact without friction whose normal points along it: T0 = T2 and T0 + T1 + T2 = W."""
    cables = [
        {"body_a": "top", "name": f"cable {k}", "point": [k - 1, 0, 1.0], "normal": [0, 0, 1], "mu": 0.0}
        for k in range(3)
    ]
    result = mb.reactions(table(), contacts=cables, planar="zx")
    assert ends(result, "cable 0") == pytest.approx((0.0, W / 2), abs=1e-9)
    assert ends(result, "cable 1") == pytest.approx((0.0, W), abs=1e-9)
    assert set(result["cable 0"]["cn"].bounded_by) <= {f"cable {k}.cn" for k in range(3)}


def test_a_bearing_that_pushes_on_one_side_bounds_the_joints_of_a_loop():
    """A shaft in a pin at x = 0 with two rests under it, at 1 and 2 m; its weight is at 1.5 m.

    Moments about the pin: R1 + 2 R2 = 1.5 W with both ≥ 0, and the pin carries W − R1 − R2: from W/4 (all on the far
    rest) to −W/2 (all on the near one).
    """
    shaft = Body("top", MASS, np.array([1.5, 0.0, 0.0]), np.eye(3))
    turn = Pair("pin", "spherical", "world", "top", Pose.identity(), Pose.identity())
    rests = [
        {"body_a": "top", "name": f"rest {x}", "point": [x, 0, 0], "normal": [0, 0, 1], "mu": 0.0}
        for x in (1, 2)
    ]
    result = mb.reactions(Mechanism("shaft", (shaft,), (turn,)), contacts=rests, hold=[])
    assert ends(result, "rest 1") == pytest.approx((0.0, 1.5 * W), abs=1e-9)
    assert ends(result, "rest 2") == pytest.approx((0.0, 0.75 * W), abs=1e-9)
    assert ends(result, "pin", "tz") == pytest.approx((-W / 2, W / 4), abs=1e-9)
    assert set(result["pin"]["tz"].bounded_by) == {"rest 1.cn", "rest 2.cn"}
