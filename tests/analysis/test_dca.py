"""The divide-and-conquer uniqueness test: the published answer, preconditions, stalls (pekal2024)."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.analysis.dca import TOOLS, DcaNotApplicable, GroupUniqueness, dca_uniqueness
from mbplugin.analysis.dca.assembly import Floating, floating_body, join, unit_inertia
from mbplugin.analysis.dca.propagation import Decision, Joint, propagate
from mbplugin.errors import BadUsage, UnknownName
from mbplugin.model.mechanism import WORLD, Body, Coupling, Driver, KnifeEdge, Lock, Mechanism, Term
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, forward, home
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose
from models import body_at, chain, four_bar, from_world_frames, pose_at, ring
from places import ASSETS, ORACLES


@pytest.fixture(scope="module")
def scene():
    return mb.load(ASSETS / "spatial_parallelogram.scene.toml")


@pytest.fixture(scope="module")
def parallelogram(scene):
    return dca_uniqueness(scene.mechanism, scene.state.q)


class TestSpatialParallelogramWithTriplePendulum:
    """pekal2024 §4."""

    def test_G_is_18_by_18_symmetric_and_of_rank_17(self, parallelogram):
        G = parallelogram.G
        assert G.shape == (18, 18)
        np.testing.assert_array_equal(G, G.T)
        sigma = np.linalg.svd(G, compute_uv=False)
        assert sigma[16] / sigma[0] > 1e-3
        assert sigma[17] / sigma[0] < 1e-12
        assert (parallelogram.rank, parallelogram.degree_of_redundancy) == (17, 1)

    def test_columns_of_G_are_those_of_the_ground_joints_in_order(self, parallelogram):
        assert list(parallelogram.groups) == list("ACEGKM")
        assert [(s.start, s.stop) for s in parallelogram.groups.values()] == [
            (3 * k, 3 * k + 3) for k in range(6)
        ]

    def test_T_holds_the_forces_of_six_ball_joints(self, parallelogram):
        """(52), with the pair's axes, which are those of the world here."""
        (connection,) = parallelogram.connections
        ball = np.vstack((np.eye(3), np.zeros((3, 3))))
        np.testing.assert_allclose(connection.T, np.kron(np.eye(6), ball), atol=1e-12)
        assert connection.Phi_11.shape == (36, 36)

    def test_null_vector_loads_lower_rods_only(self, parallelogram):
        N = parallelogram.N
        assert N.shape == (18, 1)
        assert (np.abs(N[:12]) > 1e-2).all()
        assert (np.abs(N[12:]) < 1e-12).all()
        np.testing.assert_allclose(parallelogram.G @ N, 0, atol=1e-12)

    @pytest.mark.parametrize("tool", TOOLS)
    @pytest.mark.parametrize(
        ("group", "unique", "components"),
        [
            *((joint, False, False) for joint in "ACEG"),
            *((joint, True, True) for joint in "KM"),
            ("KM", True, True),
            ("ACEG", True, False),
            ("ACEGKM", True, False),
        ],
    )
    def test_table_1(self, parallelogram, tool, group, unique, components):
        assert parallelogram.test_group(list(group), tool) == GroupUniqueness(unique, components)

    @pytest.mark.parametrize(
        ("group", "ranks"),
        [
            # a lower rod's ball shares one direction with the rest; the four lower ones are 12 columns of rank 11
            *((joint, (3, 3, 15)) for joint in "ACEG"),
            *((joint, (3, 3, 14)) for joint in "KM"),
            ("KM", (6, 6, 11)),
            ("ACEG", (12, 11, 6)),
            ("ACEGKM", (18, 17, 0)),
        ],
    )
    def test_the_ranks_of_table_1_are_those_of_G(self, parallelogram, group, ranks):
        (found,) = (t for t in parallelogram.tested if "".join(t.members) == group)
        r = found.ranks
        assert (r.columns, r.tested, r.remaining) == ranks
        tested = np.concatenate([np.arange(18)[parallelogram.groups[j]] for j in group])
        rest = np.delete(np.arange(18), tested)
        # of G itself, SI, by another program
        G = parallelogram.G / np.abs(parallelogram.G).max()
        assert np.linalg.matrix_rank(G[:, tested], tol=1e-9) == r.tested
        assert (np.linalg.matrix_rank(G[:, rest], tol=1e-9) if rest.size else 0) == r.remaining
        # (27), and the second step
        assert (r.excess == 0) == all(a.assembly_effect_unique for _, a in found.answers)
        assert (r.excess == 0 and r.full) == all(a.components_unique for _, a in found.answers)

    def test_the_text_and_the_document_have_the_ranks(self):
        name = str(ASSETS / "spatial_parallelogram.scene.toml")
        text = call("lint", name, "--explain-dca").out
        for line in ("A   3f + 15 − 17 = 1", "K M   6f + 11 − 17 = 0", "A C E G   11 + 6 − 17 = 0"):
            group, ranks = line.split("   ")
            assert re.search(rf"^ +{group}: ranks {re.escape(ranks)}, ", text, re.MULTILINE)
        document = json.loads(call("lint", name, "--method", "dca", "--output-format", "json").out)
        by_group = {"".join(t["members"]): t for t in document["dca"]["tested"]}
        assert [by_group["ACEG"][k] for k in ("columns", "rank", "rank_rest", "excess")] == [12, 11, 6, 0]
        assert set(by_group["ACEG"]["assembly_effect_unique"].values()) == {True}
        assert set(by_group["ACEG"]["components_unique"].values()) == {False}

    def test_order_of_propagation(self, parallelogram):
        assert [(d.step, d.execution, d.body, d.joint, d.unique) for d in parallelogram.order] == [
            *((2, 0, "(19)", joint, joint in "KM") for joint in "ACEGKM"),
            (4, 0, "10", "R", True),
            (6, 1, "1", "B", False),
            (6, 1, "2", "D", False),
            (6, 1, "3", "F", False),
            (6, 1, "4", "H", False),
            (6, 1, "5", "L", True),
            (6, 1, "6", "N", True),
            (6, 1, "9", "Q", True),
            (6, 2, "8", "P", True),
        ]

    def test_verdicts_and_flexible_bodies(self, parallelogram):
        reactions = parallelogram.reactions
        assert {name for name, r in reactions.items() if r == "non-unique"} == set("ABCDEFGH")
        assert {name for name, r in reactions.items() if r == "unique"} == set("KLMNPQR")
        assert parallelogram.flexible_bodies == ("1", "2", "3", "4", "7")
        assert parallelogram.stalled == parallelogram.undecided_bodies == ()

    def test_components_are_told_where_the_method_knows_them(self, parallelogram):
        components = {v.name: dict(v.components) for v in parallelogram.verdicts}
        assert components["A"] == dict.fromkeys(("tx", "ty", "tz"), False)
        assert components["B"] == dict.fromkeys(("tx", "ty", "tz"), None)
        assert components["L"] == dict.fromkeys(("tx", "ty", "tz"), True)

    def test_the_extension_adds_components_and_changes_no_verdict(self, scene, parallelogram):
        extended = dca_uniqueness(scene.mechanism, scene.state.q, extended=True)
        assert extended.reactions == parallelogram.reactions
        components = {v.name: dict(v.components) for v in extended.verdicts}
        # a rod between two balls is loaded along its axis only, which is its own x
        assert components["B"] == {"tx": False, "ty": True, "tz": True}
        assert components["A"] == dict.fromkeys(("tx", "ty", "tz"), False)

    def test_trace_tells_the_steps(self, parallelogram):
        trace = parallelogram.trace
        steps = [line[:6] for line in trace.splitlines() if line.startswith("Step")]
        assert steps == [f"Step {k}" for k in (1, 2, 3, 4, 5, 6, 7, 6, 7, 8)]
        for fact in (
            "G = TᵀΦ₁₁T is 18×18 of rank 17",
            "Null space N is 18×1",
            "not zero: A (tx ty tz), C (tx ty tz), E (tx ty tz), G (tx ty tz)\n",
            "that are zero: K (tx ty tz), M (tx ty tz)\n",
            "A (non-unique): (19) →",
            "→ body 1\n",
            "body 10: nothing else can carry what R carries",
            "body 1: A is non-unique and accelerations are unique, so B is non-unique",
            "body 8: Q is unique and so are accelerations; so P is unique",
            "bodies to be modelled as flexible: 1, 2, 3, 4, 7",
        ):
            assert fact in trace

    @pytest.mark.parametrize("names", ["ACEGKMBDFHLNPQR", "RQPNLHFDBMKGECA"])
    def test_the_order_of_the_file_does_not_matter(self, scene, names):
        mech = scene.mechanism
        pairs = tuple(mech.pair_by_name[name] for name in names)
        other = replace(mech, pairs=pairs, bodies=mech.bodies[::-1])
        at = forward(mech, scene.state.q)
        q = coordinates_of(other, BodyPoses(at.R_WL[::-1], at.p_WL[::-1], at.p_WC[::-1]))
        result = dca_uniqueness(other, q)
        assert {n for n, r in result.reactions.items() if r == "non-unique"} == set("ABCDEFGH")
        assert not result.stalled

    def test_values_are_frozen(self, parallelogram):
        for array in (parallelogram.G, parallelogram.N, parallelogram.q, parallelogram.connections[0].T):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0


def coupled_four_bars(n, crank_pair="revolute"):
    """n unit-square four-bars in a row; neighbours share a crank."""
    bodies, joints = {}, []
    for k in range(n + 1):
        bodies[f"crank{k}"] = Pose(np.eye(3), np.array([k, 0.5, 0.0]))
        joints.append((f"g{k}", crank_pair, WORLD, f"crank{k}", pose_at([k, 0, 0])))
    for k in range(n):
        bodies[f"coupler{k}"] = Pose(np.eye(3), np.array([k + 0.5, 1.0, 0.0]))
        joints.append((f"l{k}", "revolute", f"crank{k}", f"coupler{k}", pose_at([k, 1, 0])))
        joints.append((f"r{k}", "revolute", f"coupler{k}", f"crank{k + 1}", pose_at([k + 1, 1, 0])))
    return from_world_frames("four-bars", bodies, joints)


class TestStall:
    @pytest.mark.parametrize("n", [1, 2])
    def test_one_and_two_four_bars_are_decided(self, n):
        result = dca_uniqueness(*coupled_four_bars(n))
        assert set(result.reactions.values()) == {"non-unique"}
        assert (result.stalled, result.degree_of_redundancy) == ((), 3 * n)

    def test_three_stall_at_the_inner_cranks(self):
        result = dca_uniqueness(*coupled_four_bars(3))
        assert {n for n, r in result.reactions.items() if r == "undecided"} == {"l1", "r1"}
        assert result.stalled == ("crank1", "crank2")
        assert set(result.flexible_bodies) == {f"crank{k}" for k in range(4)} | {"coupler0", "coupler2"}
        assert result.undecided_bodies == ("coupler1",)
        undecided = next(v for v in result.verdicts if v.name == "l1")
        assert (undecided.indeterminate_dim, undecided.decided_by) == (None, "")
        assert {told for _, told in undecided.components} == {None}
        assert "Stalled at body crank1: its loaded handles are g1, r0, l1." in result.trace
        assert "undecided by this method: l1, r1" in result.trace

    def test_the_extension_finishes_and_says_so(self):
        mech, q = coupled_four_bars(3)
        result = dca_uniqueness(mech, q, extended=True)
        assert set(result.reactions.values()) == {"non-unique"}
        assert result.stalled == ("crank1", "crank2")
        assert {v.name for v in result.verdicts if v.decided_by == "extension"} == {"l1", "r1"}
        l1 = next(v for v in result.verdicts if v.name == "l1")
        assert l1.components == (("tx", True), ("ty", True), ("tz", False), ("rx", False), ("ry", False))
        assert l1.indeterminate_dim == 3
        assert "Extension, not in the paper" in result.trace

    def test_the_extension_also_finds_unique_reactions(self):
        """Two rigid frames, each held redundantly by itself, on one bar: what joins them to it is unique."""
        frames = {"left": [0, 0, 1], "bar": [1, 0, 1], "right": [2, 0, 1]}
        joints = [
            *((f"a{k}", "spherical", WORLD, "left", pose_at([0, k, 0])) for k in range(3)),
            *((f"b{k}", "spherical", WORLD, "right", pose_at([2, k, 0.5 * k * k])) for k in range(3)),
            ("l", "spherical", "left", "bar", pose_at([0.5, 0, 1])),
            ("r", "point-on-line", "bar", "right", pose_at([1.5, 0, 1])),
        ]
        bodies = {name: Pose(np.eye(3), np.array(p, dtype=float)) for name, p in frames.items()}
        mech, q = from_world_frames("frames", bodies, joints)
        result = dca_uniqueness(mech, q, samples=0, extended=True)
        expected = {v.name: v.reaction for v in mb.analyze(mech, q, samples=0).constraints}
        assert result.reactions == expected

    def test_known_loads_do_not_stall(self):
        """Three handles, two of them unique: the third is decided, by the same balance."""
        at_ground = [Decision(2, 0, "(3)", "a", True), Decision(2, 0, "(3)", "b", True)]
        result = propagate(["one", "two"], [("a", "b", "c"), ("c", "d", "e")], at_ground)
        assert result.unique == {"a": True, "b": True, "c": True}
        assert result.stalled == ()
        at_ground = [Decision(2, 0, "(3)", "a", True), Decision(2, 0, "(3)", "b", False)]
        assert propagate(["one"], [("a", "b", "c")], at_ground).unique["c"] is False
        at_ground = [Decision(2, 0, "(3)", "a", False), Decision(2, 0, "(3)", "b", False)]
        assert propagate(["one"], [("a", "b", "c")], at_ground).stalled == ("one",)


class TestWithoutMultiJointConnection:
    def test_a_single_ground_joint(self):
        mech, q = chain(5, "universal", np.random.default_rng(0))
        result = dca_uniqueness(mech, q)
        assert set(result.reactions.values()) == {"unique"}
        assert result.G.shape == result.N.shape == (0, 0)
        assert result.rank == result.degree_of_redundancy == 0
        assert "hangs on the single joint j0: its reaction cannot split" in result.trace

    def test_a_floating_tree(self):
        mech, _ = chain(4, "revolute", np.random.default_rng(0))
        result = dca_uniqueness(Mechanism("floating", mech.bodies, mech.pairs[1:]))
        assert set(result.reactions.values()) == {"unique"}
        assert "floats: nothing to decide" in result.trace

    def test_a_floating_joint_ties_nothing(self):
        pairs = tuple(
            Pair(f"j{k}", t, WORLD, "b", Pose.identity(), Pose.identity())
            for k, t in enumerate(["floating", "revolute"])
        )
        result = dca_uniqueness(Mechanism("m", (body_at("b"),), pairs))
        assert result.reactions == {"j0": "unique", "j1": "unique"}
        assert result.verdicts[0].decided_by == "no rows"

    @pytest.mark.parametrize("bodies", [(), (body_at("b"),)])
    def test_nothing_at_all(self, bodies):
        result = dca_uniqueness(Mechanism("empty", bodies))
        assert (result.verdicts, result.order, result.flexible_bodies) == ((), (), ())
        assert "Result" in result.trace


class TestAnyConnection:
    def test_a_body_welded_twice(self):
        pairs = tuple(
            Pair(name, "fixed", WORLD, "b", Pose.identity(), Pose.identity()) for name in ("one", "two")
        )
        result = dca_uniqueness(Mechanism("m", (body_at("b"),), pairs))
        assert (result.rank, result.degree_of_redundancy) == (6, 6)
        assert {(v.reaction, v.indeterminate_dim) for v in result.verdicts} == {("non-unique", 6)}

    def test_two_assemblies_are_independent(self):
        mech, _ = four_bar()
        twin = tuple(replace(b, name=f"{b.name} 2") for b in mech.bodies)
        ends = {WORLD: WORLD, **{b.name: f"{b.name} 2" for b in mech.bodies}}
        loose = ("revolute", "spherical", "cylindrical", "revolute")
        pairs = tuple(
            replace(p, name=f"{p.name} 2", body_a=ends[p.body_a], body_b=ends[p.body_b]).retyped(t)
            for p, t in zip(mech.pairs, loose, strict=True)
        )
        result = dca_uniqueness(Mechanism("twins", (*mech.bodies, *twin), (*mech.pairs, *pairs)))
        assert len(result.connections) == 2
        assert [c.redundancy for c in result.connections] == [3, 0]
        assert {n for n, r in result.reactions.items() if r == "non-unique"} == {"j0", "j1", "j2", "j3"}
        assert list(result.groups) == ["j0", "j3", "j0 2", "j3 2"]
        both = result.test_group(["j0", "j3", "j0 2"])
        assert both == GroupUniqueness(True, False)

    def test_a_plane(self):
        mech, q = four_bar()
        assert dca_uniqueness(mech, q).degree_of_redundancy == 3
        result = dca_uniqueness(mech, q, planar="xy")
        assert result.G.shape == (4, 4)
        assert (result.rank, set(result.reactions.values())) == (4, {"unique"})

    def test_a_base_welded_to_the_world_is_ground(self):
        scene = mb.load(ASSETS / "four_bar.scene.toml")
        result = dca_uniqueness(scene.mechanism, scene.state.q)
        (weld,) = result.model.welded
        assert result.order[0] == Decision(2, 0, "ground", weld, True)
        assert {n for n, r in result.reactions.items() if r == "non-unique"} == {"j0", "j1", "j2", "j3"}
        assert result.G.shape == (10, 10)
        assert result.flexible_bodies == ("crank", "coupler", "rocker")
        # the other method says the same: what is welded to the world is never to be flexible
        bodies = mb.analyze(scene).bodies
        assert [b.name for b in bodies if not b.may_stay_rigid] == ["crank", "coupler", "rocker"]
        assert f"Body ground is welded by {weld} and counts as ground." in result.trace
        with pytest.raises(BadUsage, match="between the assembly and the ground"):
            result.test_group([weld])

    @pytest.mark.bullet
    def test_minitaur_on_a_stand(self):
        """Four legs on one welded base: four multi-joint connections; pairs inside the base are statics."""
        scene = mb.load(ASSETS / "minitaur.scene.toml", base="fixed")
        result = dca_uniqueness(scene.mechanism, scene.state.q)
        extended = dca_uniqueness(scene.mechanism, scene.state.q, extended=True)
        assert [c.redundancy for c in result.connections] == [1, 1, 1, 1]
        assert result.stalled
        expected = {v.name: v.reaction for v in mb.analyze(scene, samples=0).constraints}
        assert extended.reactions == expected
        assert all(r in ("undecided", expected[n]) for n, r in result.reactions.items())

    @pytest.mark.bullet
    def test_the_extension_is_a_method_of_analyze(self):
        scene = mb.load(ASSETS / "minitaur.scene.toml", base="fixed")
        expected = {v.name: v.reaction for v in mb.analyze(scene, samples=0).constraints}
        plain = mb.analyze(scene, samples=0, method="dca").constraints
        assert any(v.reaction == "undecided" for v in plain)
        extended = mb.analyze(scene, samples=0, method="dca-extended")
        assert {v.name: v.reaction for v in extended.constraints} == expected
        assert extended.method == "dca-extended"
        assert "Extension, not in the paper" in extended.dca.trace

    def test_a_body_held_by_a_weld_and_another_joint_is_a_body(self):
        pairs = (
            Pair("weld", "fixed", WORLD, "b", Pose.identity(), Pose.identity()),
            Pair("pin", "spherical", "b", WORLD, pose_at([1, 0, 0]), pose_at([1, 0, 0])),
        )
        result = dca_uniqueness(Mechanism("m", (body_at("b"),), pairs))
        assert result.model.welded == {}
        assert result.reactions == {"weld": "non-unique", "pin": "non-unique"}

    def test_the_ground_may_be_the_successor_and_trees_run_against_their_pairs(self):
        mech, q = four_bar()
        turned = tuple(
            replace(p, body_a=p.body_b, body_b=p.body_a, X_AP=p.X_BS, X_BS=p.X_AP) for p in mech.pairs
        )
        result = dca_uniqueness(replace(mech, pairs=turned), extended=True)
        straight = dca_uniqueness(mech, q, extended=True)
        assert result.verdicts == straight.verdicts
        np.testing.assert_allclose(result.G, straight.G, atol=1e-12)

    @pytest.mark.parametrize("n", [20, 400])
    def test_long_chains(self, n):
        """A ring opened at one link, which is welded to the ground in its place: two ground joints."""
        mech, _ = ring(n)
        # the last link becomes the ground
        last = mech.bodies[-1].name
        X = forward(mech, home(mech)).of(n - 1)
        pairs = tuple(
            replace(
                p,
                body_a=WORLD if p.body_a == last else p.body_a,
                body_b=WORLD if p.body_b == last else p.body_b,
                X_AP=X @ p.X_AP if p.body_a == last else p.X_AP,
                X_BS=X @ p.X_BS if p.body_b == last else p.X_BS,
            )
            for p in mech.pairs
        )
        result = dca_uniqueness(Mechanism("ring", mech.bodies[:-1], pairs), samples=0, extended=True)
        assert result.degree_of_redundancy == 3
        assert {v.indeterminate_dim for v in result.verdicts} == {3}

    @pytest.mark.parametrize(
        "body",
        [
            Body("rocker"),
            Body("rocker", -1.0, np.zeros(3), np.eye(3)),
            Body("rocker", 1.0, np.zeros(3), np.diag([1.0, 1.0, -2.0])),
            Body("rocker", 1e-3, np.array([0.3, 0.2, 0.1]), 1e-6 * np.eye(3)),
        ],
        ids=["massless", "negative mass", "no inertia that exists", "light"],
    )
    def test_the_verdict_does_not_depend_on_inertia(self, body):
        mech, q = four_bar()
        bodies = tuple(body if b.name == "rocker" else b for b in mech.bodies)
        result = dca_uniqueness(replace(mech, bodies=bodies), q, extended=True)
        assert result.verdicts == dca_uniqueness(mech, q, extended=True).verdicts
        np.testing.assert_allclose(result.G @ result.N, 0, atol=1e-6 * np.abs(result.G).max())

    def test_an_inertia_that_drowns_G_changes_no_verdict(self):
        mech, q = four_bar()
        speck = Body("rocker", 1e-6, np.array([0.3, 2.0, 0.1]), 1e-12 * np.eye(3))
        result = dca_uniqueness(replace(mech, bodies=(*mech.bodies[:2], speck)), q, extended=True)
        assert result.verdicts == dca_uniqueness(mech, q, extended=True).verdicts

    def test_an_open_pose_is_closed_first(self):
        mech, q = four_bar()
        result = dca_uniqueness(mech, q + 0.3)
        assert result.degree_of_redundancy == 3
        assert set(result.reactions.values()) == {"non-unique"}


def test_the_assembly_tree_of_a_chain_is_as_shallow_as_can_be():
    mech, q = chain(64, "revolute", np.random.default_rng(0))
    depth = {body.name: 0 for body in mech.bodies}
    for node in dca_uniqueness(mech, q).model.tree.nodes:
        depth[node.label] = 1 + max(depth[node.left], depth[node.right])
    assert max(depth.values()) == 6


class TestElimination:
    """(7), for two bodies in one joint."""

    @staticmethod
    def parts(T):
        rng = np.random.default_rng(1)
        joint = Joint("j", 0, 1, -1, ("c",) * T.shape[1], np.zeros(3), T, np.ones(T.shape[1]))
        i = floating_body("i", ["a", "j"], rng.normal(size=(2, 3)), unit_inertia(0.5), (0, 1, 2, 3, 4, 5))
        j = floating_body("j", ["j", "b"], rng.normal(size=(2, 3)), unit_inertia(2.0), (0, 1, 2, 3, 4, 5))
        return i, j, joint

    @pytest.mark.parametrize("k", [0, 1, 3, 5, 6])
    def test_the_reaction_prevents_the_forbidden_acceleration(self, k):
        """Solve both bodies with the reaction f = Tλ written out, and compare with the assembly's answer."""
        T = np.linalg.qr(np.random.default_rng(k).normal(size=(6, 6)))[0][:, :k]
        i, j, joint = self.parts(T)
        load = np.random.default_rng(2).normal(size=12)
        on_i = i.Phi @ np.concatenate((load[:6], np.zeros(6)))
        on_j = j.Phi @ np.concatenate((np.zeros(6), load[6:]))
        U = i.Phi[6:, 6:] + j.Phi[:6, :6]
        multipliers = np.linalg.solve(T.T @ U @ T, T.T @ (on_i[6:] - on_j[:6])) if k else np.zeros(0)
        f = T @ multipliers
        expected = np.concatenate((on_i[:6] - i.Phi[:6, 6:] @ f, on_j[6:] + j.Phi[6:, :6] @ f))
        assembly = join("(3)", i, j, joint)
        assert assembly.handles == ("a", "b")
        np.testing.assert_allclose(assembly.Phi @ load, expected, atol=1e-10)

    def test_a_singular_U_is_refused_with_the_joint(self):
        i, j, joint = self.parts(np.eye(6))
        with pytest.raises(DcaNotApplicable, match=r"U is singular at pair 'j'.*use method qr") as refused:
            join("(3)", Floating("i", i.handles, 0 * i.Phi), Floating("j", j.handles, 0 * j.Phi), joint)
        assert refused.value.precondition == "nonsingular U"


def refused(mech, q=None, **options):
    with pytest.raises(DcaNotApplicable) as error:
        dca_uniqueness(mech, q, **options)
    text = str(error.value)
    assert text.startswith("the divide-and-conquer test does not apply: ")
    assert "method qr" in text
    assert text.endswith(".")
    assert "\n" not in text
    return error.value


class TestPreconditions:
    def test_four_wheel_robot(self):
        error = refused(mb.load(ASSETS / "four_wheel_robot.scene.toml").mechanism)
        assert error.precondition == "holonomic"
        assert error.elements == ("W1", "W2", "W3", "W4", "W5")
        assert "nonholonomic rows (side)" in str(error)

    @pytest.mark.parametrize(
        ("extra", "words"),
        [
            (
                {"couplings": (Coupling("gear", "gear", (Term("j0", "rz", 1.0), Term("j3", "rz", 1.0))),)},
                "coupling 'gear'",
            ),
            ({"drivers": (Driver("motor", "j0"),)}, "driver 'motor'"),
            ({"locks": (Lock("j0"),)}, "lock 'lock j0'"),
        ],
    )
    def test_what_is_no_pair(self, extra, words):
        mech, q = four_bar()
        error = refused(replace(mech, **extra), q)
        assert error.precondition == "pairs only"
        assert words in str(error)

    def test_nonholonomic_rows_are_named_before_anything_else(self):
        mech, _ = four_bar()
        edge = KnifeEdge("edge", "crank", np.zeros(3), np.array([1.0, 0, 0]))
        assert refused(replace(mech, pfaffians=(edge,), locks=(Lock("j0"),))).elements == ("edge",)

    def test_an_internal_loop(self):
        mech, _ = ring(5)
        stand = Pair("stand", "revolute", WORLD, "b0", Pose.identity(), Pose.identity())
        error = refused(replace(mech, pairs=(stand, *mech.pairs)))
        assert error.precondition == "ground connection"
        assert set(error.elements) == {f"j{k}" for k in range(5)}
        assert "form a loop that does not pass through the ground" in str(error)

    def test_two_joints_between_two_bodies(self):
        pairs = (
            Pair("stand", "revolute", WORLD, "a", Pose.identity(), Pose.identity()),
            Pair("one", "spherical", "a", "b", Pose.identity(), Pose.identity()),
            Pair("two", "spherical", "b", "a", pose_at([1, 0, 0]), pose_at([1, 0, 0])),
        )
        error = refused(Mechanism("m", (body_at("a"), body_at("b")), pairs))
        assert error.elements == ("one", "two")
        assert "multi-joint connection between the bodies 'b' and 'a'" in str(error)

    def test_a_singular_pose(self):
        scene = mb.load(ORACLES / "four_bar_fold_rectangle.sdf")
        error = refused(scene.mechanism, scene.state.q)
        assert error.precondition == "nonsingular pose"
        assert "has rank 6 here and 7" in str(error)
        result = dca_uniqueness(scene.mechanism, scene.state.q, samples=0)
        assert result.degree_of_redundancy == 4
        assert "not checked: the pose is not singular" in result.trace

    @pytest.mark.parametrize("tolerance", [1e-7, 1e-12])
    def test_a_tolerance_that_G_cannot_resolve(self, tolerance):
        assert refused(*four_bar(), tolerance=tolerance).precondition == "tolerance"

    @pytest.mark.parametrize("tolerance", [0.0, 1.0, -1.0, float("nan")])
    def test_a_tolerance_that_is_none(self, tolerance):
        with pytest.raises(BadUsage, match="between 0 and 1"):
            dca_uniqueness(*four_bar(), tolerance=tolerance)


class TestGroups:
    def test_unknown_and_inner_members(self, parallelogram):
        with pytest.raises(UnknownName, match="'X'"):
            parallelogram.test_group(["A", "X"])
        with pytest.raises(BadUsage, match=r"'B' is not between the assembly and the ground.*use method qr"):
            parallelogram.test_group(["A", "B"])
        with pytest.raises(BadUsage, match="rank, qr, svd, nullspace"):
            parallelogram.test_group(["A"], tool="lu")

    def test_a_single_ground_joint_is_unique_as_a_group(self):
        mech, q = chain(3, "revolute", np.random.default_rng(0))
        assert dca_uniqueness(mech, q).test_group(["j0"]) == GroupUniqueness(True, True)

    @pytest.mark.parametrize("tool", TOOLS)
    def test_extreme_ranks(self, tool):
        groups = [[0], [0, 1], [0, 1, 2]]
        assert set(TOOLS[tool](np.eye(3), 3, groups, 1e-9)) == {GroupUniqueness(True, True)}
        alone, _, every = TOOLS[tool](np.ones((3, 3)), 1, groups, 1e-9)
        assert alone == GroupUniqueness(False, False)
        assert every == GroupUniqueness(True, False)
