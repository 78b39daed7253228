"""Answers from the literature and by hand (pekal2024 §4, wojtyra2013 §4, and plain statics)."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

import mbplugin as mb
from command_line import call
from mbplugin.constraints.assembly import assemble
from mbplugin.model.mechanism import Coupling, Driver, Lock, Mechanism, Term
from mbplugin.model.mechanism.kinematics import joint_vector
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose
from models import body_at, four_bar, from_world_frames, pose_at
from places import ASSETS


def non_unique(analysis):
    return {v.name for v in analysis.constraints if not v.unique}


def flexible(analysis):
    return {b.name for b in analysis.bodies if not b.may_stay_rigid}


@pytest.fixture(scope="module")
def parallelogram():
    groups = [list("ACEG"), list("KM"), list("ACEGKM")]
    return mb.analyze(mb.load(ASSETS / "spatial_parallelogram.scene.toml"), groups=groups)


class TestSpatialParallelogramWithTriplePendulum:
    """pekal2024 §4, Table 1."""

    def test_one_redundant_row_of_45(self, parallelogram):
        assert (parallelogram.rows, parallelogram.rank) == (45, 44)
        assert parallelogram.degree_of_redundancy == parallelogram.structural_redundancy == 1

    def test_unique_reactions(self, parallelogram):
        assert non_unique(parallelogram) == set("ABCDEFGH")
        assert {v.name for v in parallelogram.constraints} == set("ABCDEFGHKLMNPQR")

    def test_flexible_bodies(self, parallelogram):
        assert flexible(parallelogram) == set("12347")

    def test_groups(self, parallelogram):
        ACEG, KM, ACEGKM = parallelogram.groups
        assert (ACEG.reaction, ACEG.assembly_effect_unique, ACEG.components_unique) == (
            "non-unique",
            True,
            False,
        )
        assert ACEG.resultant_unique
        assert (KM.reaction, KM.assembly_effect_unique, KM.components_unique) == ("unique", True, True)
        assert ACEGKM.assembly_effect_unique


@pytest.fixture(scope="module")
def four_wheel_robot():
    return mb.load(ASSETS / "four_wheel_robot.scene.toml")


class TestFourWheelRobot:
    """wojtyra2013 (35), (36) and §4.2."""

    def test_ranks(self, four_wheel_robot):
        analysis = mb.analyze(four_wheel_robot)
        assert (analysis.columns, analysis.holonomic_rows, analysis.pfaffian_rows) == (21, 17, 5)
        assert (analysis.rank_holonomic, analysis.rank_pfaffian, analysis.rank) == (17, 4, 20)
        assert analysis.degree_of_redundancy == 2

    def test_the_text_compares_the_ranks(self):
        text = " ".join(call("lint", str(ASSETS / "four_wheel_robot.scene.toml"), "--verbose").out.split())
        ranks = "17 of 17 holonomic rows, 4 of 5 nonholonomic ones; together 20 < 17 + 4: the kinds share 1"
        assert f"rank by kind: {ranks}" in text

    def test_norms_of_B(self, four_wheel_robot):
        """(27), (38): zero exactly where reactions are unique, by a QR factorisation of the whole C here."""
        analysis = mb.analyze(four_wheel_robot)
        norms = {v.name: v.B_norm for v in analysis.constraints}
        assert {name for name, norm in norms.items() if norm > 1e-10} == non_unique(analysis)
        matrix = mb.constraint_matrix(four_wheel_robot, analysis.q)
        length = analysis.characteristic_length
        turns = [component[0] == "w" for _, component in matrix.columns]
        C = matrix.C.toarray() / length * np.where(turns, 1.0, length)
        C[[k for k, (_, component) in enumerate(matrix.rows) if component == "ry"]] *= length
        Q = scipy.linalg.qr(C, pivoting=True)[0][:, -2:]
        for name, norm in norms.items():
            rows = [k for k, (owner, _) in enumerate(matrix.rows) if owner == name]
            assert norm == pytest.approx(np.linalg.norm(C[rows].T @ Q[rows]), abs=1e-12), name

    def test_the_text_and_the_document_have_the_norms_of_B(self):
        name = str(ASSETS / "four_wheel_robot.scene.toml")
        text = " ".join(call("lint", name, "--verbose").out.split())
        assert (
            "norms of B_X = C_XᵀQ_X: B 1.48, C 1.48, W1 0.408, W2 0.408, W3 0.816, W4 0.816; below 1e-12"
            in text
        )
        document = json.loads(call("lint", name, "--output-format", "json").out)
        assert {c["name"] for c in document["constraints"] if c["B_norm"] > 1e-10} == set("BC") | {
            f"W{k}" for k in range(1, 5)
        }

    def test_unique_reactions(self, four_wheel_robot):
        analysis = mb.analyze(four_wheel_robot)
        assert non_unique(analysis) == {"B", "C", "W1", "W2", "W3", "W4"}
        assert {v.name for v in analysis.constraints} - non_unique(analysis) == {*"ADEFGH", "drive", "W5"}

    @pytest.mark.parametrize("dropped", [(6, 21), (18, 21), (19, 21), (18, 20)])
    def test_admissible_eliminations(self, four_wheel_robot, dropped):
        """Rows counted from 1 in the order A…G, H, drive, W1…W5; dropping two leaves full row rank."""
        C = mb.constraint_matrix(four_wheel_robot).C.toarray()
        assert C.shape == (22, 21)
        kept = np.delete(C, [k - 1 for k in dropped], axis=0)
        assert np.linalg.matrix_rank(kept) == 20


class TestPlanarFourBarInSpace:
    def test_in_plane_forces_are_unique_and_nothing_else(self):
        mech, q = four_bar()
        analysis = mb.analyze(mech, q)
        for verdict in analysis.constraints:
            assert {c.name: c.unique for c in verdict.components} == {
                "tx": True,
                "ty": True,
                "tz": False,
                "rx": False,
                "ry": False,
            }
        assert (analysis.degree_of_redundancy, analysis.dof) == (3, 1)

    def test_in_the_plane_nothing_is_redundant(self):
        mech, q = four_bar()
        analysis = mb.analyze(mech, q, planar="xy")
        assert (analysis.rows, analysis.columns, analysis.degree_of_redundancy, analysis.dof) == (8, 9, 0, 1)

    @pytest.mark.parametrize(("second_axis", "p", "dof"), [("normal to BC", 0, 1), ("along BC", 1, 2)])
    def test_ball_at_B_and_universal_at_C(self, second_axis, p, dof):
        mech, _ = four_bar()
        # B and C are the ends of the coupler, which lies along x
        axis = np.array([0.0, 1.0, 0.0] if second_axis == "normal to BC" else [1.0, 0.0, 0.0])
        pairs = list(mech.pairs)
        pairs[1], pairs[2] = pairs[1].retyped("spherical"), pairs[2].retyped("universal", axis)
        changed = Mechanism("four-bar", mech.bodies, tuple(pairs))
        analysis = mb.analyze(changed)
        assert (analysis.degree_of_redundancy, analysis.dof) == (p, dof)


def plate(*heights, types="revolute"):
    """One body hung on coaxial hinges about z."""
    joints = [(f"h{k}", types, "world", "door", pose_at([0, 0, z])) for k, z in enumerate(heights)]
    return from_world_frames("door", {"door": Pose(np.eye(3), np.array([0.4, 0, 0.75]))}, joints)


def test_a_mass_fixed_to_a_bar_on_two_hinges_keeps_its_reaction():
    mech, _ = plate(0.0, 1.5)
    weld = Pair("weld", "fixed", "door", "mass", Pose.identity(), Pose.identity())
    analysis = mb.analyze(Mechanism("m", (*mech.bodies, body_at("mass")), (*mech.pairs, weld)))
    assert analysis.degree_of_redundancy == 5
    assert non_unique(analysis) == {"h0", "h1"}
    assert flexible(analysis) == {"door"}


def test_a_motion_on_each_of_two_coaxial_hinges_adds_one():
    mech, _ = plate(0.0, 1.5)
    drivers = (Driver("m0", "h0", rate=1.0), Driver("m1", "h1", rate=1.0))
    analysis = mb.analyze(Mechanism("m", mech.bodies, mech.pairs, drivers=drivers))
    assert (analysis.rows, analysis.rank, analysis.degree_of_redundancy) == (12, 6, 6)


def test_a_driven_lock_is_redundant():
    mech, _ = plate(0.0)
    analysis = mb.analyze(
        Mechanism("m", mech.bodies, mech.pairs, drivers=(Driver("m0", "h0"),), locks=(Lock("h0"),))
    )
    assert (analysis.degree_of_redundancy, analysis.dof) == (1, 0)
    components = {(v.name, c.name): c.unique for v in analysis.constraints for c in v.components}
    assert {label for label, unique in components.items() if not unique} == {
        ("m0", "rz_drive"),
        ("lock h0", "rz_lock"),
    }


def geared(*ratios):
    """Two hinges on the ground, geared by each of the ratios."""
    frames = [
        ("a", "revolute", "world", "A", pose_at([0, 0, 0])),
        ("b", "revolute", "world", "B", pose_at([1, 0, 0])),
    ]
    mech, _ = from_world_frames("gears", {n: Pose.identity() for n in "AB"}, frames)
    gears = tuple(
        Coupling(f"gear{k}", "gear", (Term("a", "rz", 1.0), Term("b", "rz", r))) for k, r in enumerate(ratios)
    )
    return mb.analyze(Mechanism("gears", mech.bodies, mech.pairs, couplings=gears))


def test_geared_once_geared_twice_alike_and_geared_twice_in_contradiction():
    assert (geared(3.0).degree_of_redundancy, geared(3.0).dof) == (0, 1)
    twice = geared(3.0, 3.0)
    assert (twice.degree_of_redundancy, twice.dof) == (1, 1)
    assert non_unique(twice) == {"a", "b", "gear0", "gear1"} - {"a", "b"}
    locked = geared(3.0, 2.0)
    assert (locked.degree_of_redundancy, locked.dof) == (0, 0)


@pytest.mark.parametrize(
    ("closure", "p"), [("point-on-line", 0), ("spherical", 1), ("revolute", 3), ("fixed", 3)]
)
def test_the_type_of_a_closure_decides(closure, p):
    """A planar five-bar: read as xy, ball, hinge or weld; the weld also takes a degree of freedom."""
    corners = np.array([[0, 0, 0], [-0.3, 0.8, 0], [0.5, 1.4, 0], [1.3, 0.8, 0], [1, 0, 0]], dtype=float)
    ends = [("world", "1"), ("1", "2"), ("2", "3"), ("3", "4"), ("4", "world")]
    types = ["revolute", "revolute", closure, "revolute", "revolute"]
    bodies = {str(k + 1): Pose(np.eye(3), 0.5 * (corners[k] + corners[k + 1])) for k in range(4)}
    joints = [
        (f"j{k}", t, *e, pose_at(c)) for k, (t, e, c) in enumerate(zip(types, ends, corners, strict=True))
    ]
    analysis = mb.analyze(*from_world_frames("five-bar", bodies, joints))
    assert analysis.degree_of_redundancy == p
    assert analysis.dof == (1 if closure == "fixed" else 2)


class TestWheels:
    @pytest.mark.bullet
    def test_husky_on_four_rolling_wheels(self):
        scene = mb.load(ASSETS / "husky.scene.toml")
        analysis = mb.analyze(scene)
        assert analysis.degree_of_redundancy == 3
        assert (analysis.pfaffian_rows, len(scene.mechanism.pfaffians)) == (8, 4)
        J = analysis.blocks[0].reduced.J
        assert (len(J), analysis.blocks[0].rank) == (12, 9)

    @pytest.mark.bullet
    @pytest.mark.parametrize(("steering", "p"), [(0.3, 2), (0.0, 3)])
    def test_racecar_steered_and_straight(self, steering, p):
        scene = mb.load(ASSETS / "racecar.scene.toml")
        q = {"left_steering_hinge_joint": steering, "right_steering_hinge_joint": steering}
        analysis = mb.analyze(scene, q)
        assert analysis.degree_of_redundancy == p
        assert analysis.singular_pose is (steering == 0.0)


@pytest.fixture(scope="module")
def minitaur():
    return mb.analyze(mb.load(ASSETS / "minitaur.scene.toml"))


class TestMinitaur:
    @pytest.mark.bullet
    def test_four_redundant_constraints_and_eight_freedoms(self, minitaur):
        assert (minitaur.degree_of_redundancy, minitaur.structural_redundancy, minitaur.dof) == (4, 4, 8)

    @pytest.mark.bullet
    def test_a_free_base_has_six_more(self):
        assert mb.analyze(mb.load(ASSETS / "minitaur.scene.toml", base="free")).dof == 14

    @pytest.mark.bullet
    def test_plateaus(self, minitaur):
        def p(tolerance):
            return next(x.degree_of_redundancy for x in minitaur.plateaus if x.start <= tolerance <= x.stop)

        assert [p(t) for t in (1e-12, 1e-9, 1e-7)] == [0, 0, 0]
        assert [p(t) for t in (1e-4, 3e-4, 1e-3)] == [4, 4, 4]
        # 4.6e-5 rad of rounding, seen through lever arms of about one characteristic length
        jump = minitaur.plateaus[0].stop
        assert 1e-5 < jump < 1e-4
        assert jump == pytest.approx(minitaur.sigma_r_plus_1, rel=1e-2)

    @pytest.mark.bullet
    def test_angles_as_intended_are_redundant_at_every_tolerance(self):
        snapped = mb.analyze(mb.load(ASSETS / "minitaur.scene.toml"), snap_angles=True)
        assert [x.degree_of_redundancy for x in snapped.plateaus] == [4]
        assert (snapped.plateaus[0].start, snapped.plateaus[0].stop) == (1e-12, 1e-2)
        assert snapped.dof == 8

    @pytest.mark.bullet
    def test_rounding_makes_no_component_non_unique(self):
        """Self-stresses of the rounded file are tilted by 1e-5; the verdict is that of the exact one.

        Taken where no leg is symmetric, so that no component vanishes by accident of the pose.
        """
        scene = mb.load(ASSETS / "minitaur.scene.toml")
        moved = {
            name: float(value) + (0.3 if name.endswith("R_joint") else 0.1)
            for name, value in zip(scene.mechanism.q_names, scene.state.q, strict=True)
            if name.startswith("motor")
        }
        written = mb.analyze(scene, moved, samples=0)
        meant = mb.analyze(scene, moved, samples=0, snap_angles=True)
        assert written.degree_of_redundancy == meant.degree_of_redundancy == 4
        for ours, exact in zip(written.constraints, meant.constraints, strict=True):
            assert replace(ours, open_force=None, open_moment=None, B_norm=None) == replace(
                exact, open_force=None, open_moment=None, B_norm=None
            )
            # directions in space are tilted by as much as the file is rounded, and are as many
            for one, other in ((ours.open_force, exact.open_force), (ours.open_moment, exact.open_moment)):
                assert np.shape(one) == np.shape(other)
                assert np.array(one) == pytest.approx(np.array(other), abs=1e-4)

    @pytest.mark.bullet
    def test_a_universal_joint_is_proposed_where_the_knees_are_bent(self, minitaur, tmp_path):
        """Its second axis has turned with the shin, so the released direction is not the file's x or y.

        The file gives the knees an effort limit, which stands for a motor, until the scene knows better.
        """
        knees = {p.name for p in minitaur.mechanism.pairs if p.name.startswith("knee")}
        changed = {c.constraint for remedy in minitaur.remedies for c in remedy.changes}
        assert minitaur.remedies and not changed & knees
        scene = tmp_path / "minitaur.scene.toml"
        passive = "".join(
            f'[[pair]]\nname = "{n}"\ntype = "revolute"\npassive = true\n' for n in sorted(knees)
        )
        scene.write_text((ASSETS / "minitaur.scene.toml").read_text() + passive)
        remedies = mb.analyze(mb.load(scene)).remedies
        assert any({c.new for c in remedy.changes} == {"universal"} for remedy in remedies)
        assert {c.constraint for c in remedies[0].changes} == {p for p in changed if p.startswith("foot")}

    @pytest.mark.bullet
    def test_closing_the_rounded_legs_does_not_fling_them_about(self):
        """Only motions that a 4.6e-5 rad tilt allows could close the last micrometres sideways."""
        scene = mb.load(ASSETS / "minitaur.scene.toml")
        knees = {
            n: v + 0.02 for n, v in zip(scene.mechanism.q_names, scene.state.q, strict=True) if "L_link" in n
        }
        q = joint_vector(scene.mechanism, knees, scene.state.q)
        closed = assemble(scene.mechanism, q)
        assert closed.worst_file > 1e-3
        assert closed.worst < 1e-4
        assert closed.moved < 0.1

    @pytest.mark.bullet
    def test_only_the_legs_are_concerned(self, minitaur):
        assert "base_chassis_link" not in flexible(minitaur)
        assert {v.name for v in minitaur.constraints if v.kind == "closure"} <= non_unique(minitaur)


@pytest.mark.parametrize(("tilt", "p", "dof"), [(0.0, 5, 1), (1e-6, 5, 1), (1e-2, 4, 0)])
def test_hinges_out_of_line_by_rounding_turn_and_by_a_hundredth_jam(tilt, p, dof):
    """J is all rounding there, so its own largest singular value is not a reference."""
    bodies = {"door": Pose(np.eye(3), np.array([0.4, 0, 0.75]))}
    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    joints = [
        ("h0", "revolute", "world", "door", pose_at([0, 0, 0])),
        ("h1", "revolute", "world", "door", pose_at([0, 0, 1.5], axis)),
    ]
    analysis = mb.analyze(*from_world_frames("door", bodies, joints))
    assert (analysis.degree_of_redundancy, analysis.dof) == (p, dof)


def test_a_gear_between_two_locked_hinges_is_redundant():
    """The gear ties two blocks together: alone, neither of them could tell."""
    frames = [(n, "revolute", "world", n.upper(), pose_at([k, 0, 0])) for k, n in enumerate("ab")]
    mech, _ = from_world_frames("gears", {n: Pose.identity() for n in "AB"}, frames)
    gear = Coupling("gear", "gear", (Term("a", "rz", 1.0), Term("b", "rz", 3.0)))
    locked = Mechanism("gears", mech.bodies, mech.pairs, couplings=(gear,), locks=(Lock("a"), Lock("b")))
    analysis = mb.analyze(locked)
    assert (analysis.degree_of_redundancy, analysis.dof) == (1, 0)
    assert non_unique(analysis) == {"gear", "lock a", "lock b"}


def test_a_body_welded_twice_has_six_redundant_constraints_and_no_joint_at_all():
    analysis = mb.analyze(plate(0.0, 1.5, types="fixed")[0])
    assert (analysis.degree_of_redundancy, analysis.structural_redundancy, analysis.dof) == (6, 6, 0)
    assert non_unique(analysis) == {"h0", "h1"}


def test_the_resultant_of_hinges_does_not_depend_on_which_side_is_the_ground():
    mech, _ = plate(0.0, 1.5)
    h1 = mech.pairs[1]
    turned = Pair("h1", h1.type, h1.body_b, h1.body_a, h1.X_BS, h1.X_AP)
    analysis = mb.analyze(Mechanism("m", mech.bodies, (mech.pairs[0], turned)), groups=[["h0", "h1"], ["h1"]])
    both, one = analysis.groups
    assert both.resultant_unique
    assert not one.resultant_unique


def test_axes_tilted_by_rounding_do_not_spoil_the_plane():
    mech, q = four_bar()
    tilt = Pose.from_xyz_rpy((0, 0, 0), (4.6e-5, -3.7e-6, 0))
    pairs = tuple(Pair(p.name, p.type, p.body_a, p.body_b, p.X_AP @ tilt, p.X_BS @ tilt) for p in mech.pairs)
    analysis = mb.analyze(Mechanism("rounded", mech.bodies, pairs), q, planar="xy")
    assert (analysis.rows, analysis.degree_of_redundancy, analysis.dof) == (8, 0, 1)
