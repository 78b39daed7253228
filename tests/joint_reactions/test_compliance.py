"""The physical reactions among the possible ones, against solutions by hand and the displacement method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.joint_reactions.flexible import pair_flexibility
from mbplugin.joint_reactions.stiffness_estimate import Layout, Section, beam_axes, deflections, lay_out
from mbplugin.joint_reactions.values import Reactions
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair, PairType, RowKind
from mbplugin.model.spatial import Array, Pose, shift_rows
from models import four_bar, from_world_frames, pose_at

SOFT = [1e6, 1e6, 1e6, 1e4, 1e4, 0.0]
STIFF = [2e6, 2e6, 2e6, 2e4, 2e4, 0.0]
INF = np.inf
SECTION = {"E": 210e9, "A": 1e-3, "Iy": 1e-7, "Iz": 2e-7, "J": 1e-7}


def side_loaded(stiffness: dict) -> Reactions:
    mech, q = four_bar()
    mech = replace(mech, gravity=np.zeros(3))
    return mb.reactions(mech, q, loads=[{"body": "coupler", "force": [0, 0, 1000]}], stiffness=stiffness)


def axial(result: Reactions) -> list[float]:
    return [abs(result.value(f"j{k}", "tz")) for k in range(4)]


def test_a_row_along_a_line_yields_by_all_translations_and_the_other_rows_by_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = PairType("ring", ("tz", "rx", "d"), (), {"d": RowKind.DISTANCE}, "length")
    monkeypatch.setitem(PAIR_TYPES, "ring", rows)
    pair = Pair("r", "ring", "world", "a", Pose.identity(), Pose.identity(), length=0.5)
    F = pair_flexibility(pair, np.diag([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]))
    assert F.tolist() == np.diag([1.0, 0.5, 0.25, 0.125, 0.0, 0.0]).tolist()


def test_equal_stiffness_halves_the_side_load() -> None:
    result = side_loaded({f"j{k}": SOFT for k in range(4)})
    assert axial(result) == pytest.approx([500.0] * 4, rel=1e-9)
    assert {c.source for r in result.constraints for c in r.components} == {"rigid", "stated"}
    assert result.unresolved == ()


def test_doubled_left_pairs_take_more() -> None:
    result = side_loaded({f"j{k}": STIFF if k < 2 else SOFT for k in range(4)})
    assert axial(result) == pytest.approx([589.8618, 589.8618, 410.1382, 410.1382], rel=1e-6)


def test_with_rigid_rotations_the_bending_moments_stay_open() -> None:
    result = side_loaded({f"j{k}": [*(2e6 if k < 2 else 1e6,) * 3, INF, INF, 0.0] for k in range(4)})
    assert axial(result) == pytest.approx([2000 / 3, 2000 / 3, 1000 / 3, 1000 / 3], rel=1e-9)
    assert result.unresolved == tuple((f"j{k}", c) for k in range(4) for c in ("rx", "ry"))
    assert all(result[f"j{k}"][c].value is None for k in range(4) for c in ("rx", "ry"))


def test_a_soft_and_a_hard_pair_differ_by_any_factor() -> None:
    """What is determined does not depend on how stiff it is, over 30 orders of magnitude."""
    k = {f"j{i}": np.array(SOFT) * 10.0 ** (10 * i - 15) for i in range(4)}
    result = side_loaded(k)
    assert result.unresolved == ()
    assert axial(result) == pytest.approx([0, 0, 1000, 1000], abs=1e-3)
    # one self-stress bends only what is softest, the others only what is hardest
    apart = {"j0": [1e-9, 1e-9, 1e-9, INF, INF, 0.0], "j1": [INF, INF, INF, 1e18, 1e18, 0.0]}
    apart |= {name: [1e18, 1e18, 1e18, INF, INF, 0.0] for name in ("j2", "j3")}
    result = side_loaded(apart)
    assert result.unresolved == ()
    assert result.value("j0", "tz") == pytest.approx(0, abs=1e-6)


def door(heights: list[float], stiffness: list[float], **options: object) -> Reactions:
    """W = 200 N, centre of mass 0.4 m from the vertical axis."""
    mech, q = from_world_frames(
        "door",
        {"door": Pose(np.eye(3), np.array([0.4, 0.0, 0.0]))},
        [(f"h{k}", "revolute", "world", "door", pose_at([0, 0, z])) for k, z in enumerate(heights)],
    )
    mech = replace(mech, bodies=(Body("door", 200 / 9.81, np.zeros(3), np.eye(3)),))
    given = {f"h{k}": stiffness for k in range(len(heights))}
    return mb.reactions(mech, q, stiffness=given, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("factor", [1.0, 1000.0])
def test_a_door_on_two_and_on_three_hinges(factor: float) -> None:
    k = [factor * value for value in SOFT]
    two, three = door([-0.75, 0.75], k), door([-0.75, 0.0, 0.75], k)
    for sign, name in ((1, "h0"), (-1, "h1")):
        expected = [sign * 52.40175, 0, 100, 0, -0.698690, 0]
        assert two[name].wrench == pytest.approx(expected, rel=1e-6, abs=1e-9)
    for sign, name in ((1, "h0"), (0, "h1"), (-1, "h2")):
        expected = [sign * 51.94805, 0, 200 / 3, 0, -0.692641, 0]
        assert three[name].wrench == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_a_misfit_loads_what_a_rigid_model_cannot_close() -> None:
    """Hinges k in series, gap 1 mm: ½ k · 1 mm between them; here the scale of stiffness matters."""
    free, tight = door([-0.75, 0.75], SOFT), door([-0.75, 0.75], SOFT, misfit={"h1.tz": 1e-3})
    assert tight.value("h1", "tz") - free.value("h1", "tz") == pytest.approx(-500.0)
    assert tight.value("h0", "tz") - free.value("h0", "tz") == pytest.approx(+500.0)
    stiffer = door([-0.75, 0.75], [10 * k for k in SOFT], misfit={"h1.tz": 1e-3})
    assert stiffer.value("h1", "tz") == pytest.approx(100 - 5000)


def beam(fractions: tuple[float, ...] = (0.0, 0.5, 1.0)) -> Reactions:
    """4 m of 30 N/m along x on hinges about y."""
    L, w, axis = 4.0, 30.0, np.array([0.0, 1.0, 0.0])
    mech, q = from_world_frames(
        "beam",
        {"beam": Pose(np.eye(3), np.array([L / 2, 0, 0]))},
        [
            (f"h{k}", "revolute", "world", "beam", pose_at([f * L, 0, 0], axis))
            for k, f in enumerate(fractions)
        ],
    )
    mech = replace(mech, bodies=(Body("beam", L * w / 9.81, np.zeros(3), np.eye(3)),))
    return mb.reactions(mech, q, stiffness={"beam": SECTION})


def test_a_beam_on_three_hinges_under_its_own_weight() -> None:
    """3/8, 10/8, 3/8 of q·L per span, whatever the section."""
    result = beam()
    up = [np.abs(result[f"h{k}"].wrench[:3]).max() / (30.0 * 2.0) for k in range(3)]
    assert up == pytest.approx([3 / 8, 10 / 8, 3 / 8], rel=1e-6)
    assert result.unresolved == ()


def test_unequal_spans_follow_the_three_moment_equation() -> None:
    """M₁ = −q (L₁³ + L₂³) / (8 (L₁ + L₂)) over the middle support, L₁ = 1 m, L₂ = 3 m."""
    result = beam((0.0, 0.25, 1.0))
    q, a, b = 30.0, 1.0, 3.0
    M = -q * (a**3 + b**3) / (8 * (a + b))
    outer = q * a / 2 + M / a, q * b / 2 + M / b
    # P of a hinge about y has its own y along −z of the world
    up = [-result[f"h{k}"].wrench[1] for k in range(3)]
    assert up == pytest.approx([outer[0], q * (a + b) - sum(outer), outer[1]], rel=1e-6)


def test_a_point_load_on_a_clamped_beam() -> None:
    """Both ends welded, P at a third: end forces P b² (3a + b) / L³, moments P a b² / L²."""
    L, a = 3.0, 1.0
    b, P = L - a, 60.0
    mech, q = from_world_frames(
        "beam",
        {"beam": Pose(np.eye(3), np.zeros(3))},
        [
            ("left", "fixed", "world", "beam", pose_at([0, 0, 0])),
            ("right", "fixed", "world", "beam", pose_at([L, 0, 0])),
        ],
    )
    mech = replace(mech, bodies=(Body("beam"),))
    load = {"body": "beam", "force": [0, 0, -P], "point": [a, 0, 0]}
    result = mb.reactions(mech, q, loads=[load], stiffness={"beam": SECTION})
    assert result.value("left", "tz") == pytest.approx(P * b**2 * (3 * a + b) / L**3, rel=1e-9)
    assert result.value("right", "tz") == pytest.approx(P * a**2 * (a + 3 * b) / L**3, rel=1e-9)
    assert result.value("left", "ry") == pytest.approx(-P * a * b**2 / L**2, rel=1e-9)
    assert result.value("right", "ry") == pytest.approx(P * a**2 * b / L**2, rel=1e-9)
    # torque: along the beam by the distance to either end
    twist = {"body": "beam", "torque": [9.0, 0, 0], "point": [a, 0, 0]}
    turned = mb.reactions(mech, q, loads=[twist], stiffness={"beam": SECTION})
    assert turned.value("left", "rx") == pytest.approx(-9.0 * b / L, rel=1e-9)


def random_frame(rng: np.random.Generator) -> tuple[Mechanism, Array, dict[str, Array]]:
    """Three bodies, welded to the ground and to each other more often than needed."""
    bodies = {f"b{k}": Pose(np.eye(3), rng.normal(size=3)) for k in range(3)}
    ends = [("world", "b0"), ("b0", "b1"), ("b1", "b2"), ("world", "b2"), ("world", "b1"), ("b0", "b2")]
    kinds = rng.choice(["fixed", "revolute", "spherical", "universal", "cylindrical", "planar"], size=6)
    kinds[0] = kinds[1] = kinds[2] = "fixed"
    joints = [
        (f"j{k}", str(kind), a, b, pose_at(rng.normal(size=3), rng.normal(size=3)))
        for k, (kind, (a, b)) in enumerate(zip(kinds, ends, strict=True))
    ]
    mech, q = from_world_frames("frame", bodies, joints)
    stiffness = {}
    for pair in mech.pairs:
        A = rng.normal(size=(6, 6))
        K = A @ A.T + np.eye(6)
        if pair.type == "universal":
            K = np.diag(np.diag(K))
        stiffness[pair.name] = K * rng.uniform(1, 1e3)
    return mech, q, stiffness


@pytest.mark.parametrize("seed", range(12))
def test_any_frame_of_springs_agrees_with_the_displacement_method(seed: int) -> None:
    """The other way round: displacements first, K u = F, then the force in every spring."""
    rng = np.random.default_rng(seed)
    mech, q, stiffness = random_frame(rng)
    result = mb.reactions(mech, q, stiffness=stiffness)
    matrix = mb.constraint_matrix(mech, q)
    C, k = matrix.C.toarray(), 0
    flexibility = np.zeros((len(C), len(C)))
    for pair in mech.pairs:
        kept = [["tx", "ty", "tz", "rx", "ry", "rz"].index(c) for c in pair.kind.constrained]
        rows = slice(k, k + len(kept))
        K, free = stiffness[pair.name], [i for i in range(6) if i not in kept]
        K_c = K[np.ix_(kept, kept)]
        if free:
            K_c = K_c - K[np.ix_(kept, free)] @ np.linalg.solve(K[np.ix_(free, free)], K[np.ix_(free, kept)])
        flexibility[rows, rows] = np.linalg.inv(K_c)
        k = rows.stop
    springs = np.linalg.inv(flexibility)
    F = np.zeros(18)
    F[2::6] = -9.81
    u = np.linalg.solve(C.T @ springs @ C, F)
    expected = -springs @ C @ u
    ours = np.array([result.value(*label) for label in matrix.rows])
    assert ours == pytest.approx(expected, rel=1e-7, abs=1e-8 * np.abs(expected).max())


def test_a_flexible_body_among_flexible_pairs_agrees_with_the_displacement_method() -> None:
    """A hub with three arms, each end on a spring: beams and springs assembled as one frame."""
    ends = np.array([[1.0, 0, 0], [-0.5, 0.8, 0.1], [-0.5, -0.8, 0.3]])
    mech, q = from_world_frames(
        "hub",
        {"hub": Pose(np.eye(3), np.zeros(3))},
        [(f"j{k}", "fixed", "world", "hub", pose_at(p)) for k, p in enumerate(ends)],
    )
    mech = replace(mech, bodies=(Body("hub", 8.0, np.array([0.05, 0.02, 0.1]), np.eye(3)),))
    load = {"body": "hub", "force": [3.0, 40, -20], "torque": [1.0, 2, 3], "point": ends[0]}
    k = np.diag([1e6, 2e6, 3e6, 4e4, 5e4, 6e4])
    result = mb.reactions(mech, q, loads=[load], stiffness={**{f"j{i}": k for i in range(3)}, "hub": SECTION})
    hub = mech.bodies[0].p_LC
    points = np.vstack((ends, hub))
    section = Section(**SECTION)
    K, f = np.zeros((24, 24)), np.zeros(24)
    lengths = [np.linalg.norm(p - hub) for p in ends]
    weight = np.array([0, 0, -8.0 * 9.81])
    moment = np.zeros(3)
    for i, L in enumerate(lengths):
        R = np.kron(np.eye(4), beam_axes(points[i] - hub, np.eye(3)))
        at = np.r_[18:24, 6 * i : 6 * i + 6]
        K[np.ix_(at, at)] += R @ section.stiffness(L) @ R.T
        share = weight / sum(lengths)
        end = L / 12 * np.cross(points[i] - hub, share)
        f[at] += np.concatenate((L / 2 * share, end, L / 2 * share, -end))
        moment += np.cross((points[i] - hub) / 2, L * share)
    # uniform arms have their centre elsewhere; a couple at the hub makes up for it
    f[21:24] -= moment
    f[0:6] += np.concatenate((load["force"], load["torque"]))
    springs = K.copy()
    springs[:18, :18] += np.kron(np.eye(3), k)
    u = np.linalg.solve(springs, f)
    for i in range(3):
        assert result[f"j{i}"].wrench == pytest.approx(-k @ u[6 * i : 6 * i + 6], rel=1e-6, abs=1e-6)


def test_beam_stiffness_has_six_rigid_motions_and_bends_as_known() -> None:
    section, L = Section(**SECTION), 2.0
    K = section.stiffness(L)
    assert np.allclose(K, K.T)
    assert np.linalg.matrix_rank(K, tol=1e-6) == 6
    layout = Layout(np.array([[0.0, 0, 0], [L, 0, 0]]), ((0, 1, 0),))
    tip = np.zeros(6)
    tip[:3] = [0, 0, -7.0]
    _, u = deflections(layout, [section], np.eye(3), np.zeros(3), [(1, tip)])
    assert u[8] == pytest.approx(-7 * L**3 / (3 * section.E * section.Iy))
    assert u[10] == pytest.approx(7 * L**2 / (2 * section.E * section.Iy))
    _, u = deflections(layout, [section], np.eye(3), np.array([0, -5.0, 0]), [])
    assert u[7] == pytest.approx(-5 * L**4 / (8 * section.E * section.Iz))


def test_layouts() -> None:
    in_line = np.array([[0.0, 0, 0], [2, 0, 0], [1, 0, 0], [1, 0, 0]])
    layout, node_of = lay_out(in_line, np.zeros(3))  # type: ignore[misc]
    assert sorted(layout.lengths()) == pytest.approx([1, 1]) and node_of == [0, 1, 2, 2]
    corner = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    layout, _ = lay_out(corner, np.zeros(3))  # type: ignore[misc]
    assert len(layout.nodes) == 4 and sorted(layout.lengths()) == pytest.approx([1, 1, 1])
    assert lay_out(corner[:1].repeat(3, axis=0), np.zeros(3)) is None
    rounded = np.array([[1.0, -1.5, 0.3], [1.0 + 2e-16, -1.5, 0.3 - 5e-17]])
    assert lay_out(rounded, np.zeros(3)) is None
    split, node = layout.nearest(np.array([0.3, -0.1, 0]))
    assert split.nodes[node] == pytest.approx([0.3, 0, 0]) and len(split.beams) == 4


@pytest.mark.long
def test_a_ladder_too_large_for_dense_methods() -> None:
    """64 coupled four-bars, pushed sideways in the middle: all ground hinges together take the push."""
    n = 64
    bodies, joints = {}, []
    for k in range(n + 1):
        bodies[f"c{k}"] = Pose(np.eye(3), np.array([k, 0.5, 0]))
        joints.append((f"g{k}", "revolute", "world", f"c{k}", pose_at([k, 0, 0])))
    for k in range(n):
        bodies[f"t{k}"] = Pose(np.eye(3), np.array([k + 0.5, 1, 0]))
        joints.append((f"l{k}", "revolute", f"c{k}", f"t{k}", pose_at([k, 1, 0])))
        joints.append((f"r{k}", "revolute", f"t{k}", f"c{k + 1}", pose_at([k + 1, 1, 0])))
    mech, q = from_world_frames("ladder", bodies, joints)
    mech = replace(mech, gravity=np.zeros(3))
    stiffness = {pair.name: SOFT for pair in mech.pairs}
    load = {"body": f"c{n // 2}", "force": [0, 0, 100], "point": [0, 0.5, 0]}
    result = mb.reactions(mech, q, loads=[load], stiffness=stiffness)
    ground = np.array([result.value(f"g{k}", "tz") for k in range(n + 1)])
    assert result.degree_of_redundancy == 3 * n
    assert ground.sum() == pytest.approx(-100)
    assert np.abs(ground).argmax() == n // 2
    # pushed in the middle, it gives way alike on either side, and less further away
    assert ground == pytest.approx(ground[::-1], abs=1e-6)
    # and the last crank is in balance
    poses = forward(mech, result.q)
    wrench = np.zeros(6)
    for pair in mech.pairs:
        if sign := (pair.body_b == f"c{n}") - (pair.body_a == f"c{n}"):
            arm = result[pair.name].point - poses.p_WC[mech.body_index[f"c{n}"]]
            wrench += sign * shift_rows(result[pair.name].wrench, arm)
    assert wrench == pytest.approx(0, abs=1e-6)
