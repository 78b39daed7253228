"""All uniqueness tools give one answer; so does the elimination that large mechanisms are judged by."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings

import mbplugin as mb
from mbplugin.analysis import analyze_mechanism
from mbplugin.analysis.uniqueness import TOOLS
from mbplugin.constraints import rank
from mbplugin.constraints.reduction import Entry
from mbplugin.constraints.sparse_qr import eliminate
from models import coupled_four_bars, ring
from places import ASSETS, ORACLES
from random_mechanisms import mechanisms
from verdict_properties import analyzed, clear, verdicts

FOLDER = ORACLES
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


@pytest.mark.parametrize("method", TOOLS)
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_tool_knows_the_oracles(name, method):
    analysis = mb.analyze(mb.load(FOLDER / EXPECTED[name]["file"]), method=method, samples=0)
    dims = {v.name: v.indeterminate_dim for v in analysis.constraints}
    assert dims == EXPECTED[name]["indeterminate_reaction_dim"]


@pytest.mark.parametrize("method", TOOLS)
@pytest.mark.parametrize(
    ("asset", "non_unique"),
    [("spatial_parallelogram", set("ABCDEFGH")), ("four_wheel_robot", {"B", "C", "W1", "W2", "W3", "W4"})],
)
def test_every_tool_knows_the_published_mechanisms(asset, non_unique, method):
    analysis = mb.analyze(mb.load(ASSETS / f"{asset}.scene.toml"), method=method, samples=0)
    assert {v.name for v in analysis.constraints if not v.unique} == non_unique
    assert {b.name for b in analysis.bodies if not b.may_stay_rigid} >= {"1", "2", "3"}


@pytest.mark.long
@settings(max_examples=200, deadline=None, derandomize=True)
@given(mechanisms)
def test_all_tools_agree_on_random_mechanisms(case):
    mech, q = case
    reference = analyzed(mech, q)
    assume(clear(reference))
    for method in TOOLS:
        other = analyze_mechanism(mech, q, samples=0, method=method)
        assert other.constraints == reference.constraints, method


@pytest.mark.long
@settings(max_examples=60, deadline=None, derandomize=True)
@given(mechanisms)
def test_a_mechanism_judged_as_if_it_were_large_gets_the_same_verdict(case):
    mech, q = case
    reference = analyzed(mech, q)
    assume(clear(reference))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank, "LARGEST_DENSE", -1)
        large = analyzed(mech, q)
    assert all(b.elimination for b in large.blocks)
    assert verdicts(large) == verdicts(reference)
    for own, other in zip(large.constraints, reference.constraints, strict=True):
        assert replace(own, open_force=None, open_moment=None, B_norm=None) == replace(
            other, open_force=None, open_moment=None, B_norm=None
        )
        for direction in ("open_force", "open_moment"):
            first, second = getattr(own, direction), getattr(other, direction)
            assert np.shape(first) == np.shape(second) and np.allclose(first, second, atol=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_elimination_finds_rank_and_null_space_of_a_sparse_matrix(seed):
    rng = np.random.default_rng(seed)
    groups, joints = 12, 9
    pieces: dict[tuple[int, int], np.ndarray] = {}
    for g in range(groups):
        for j in rng.choice(joints, 3, replace=False):
            pieces[g, int(j)] = rng.normal(size=(4, 2))
        if g % 3 == 2:
            # rows that repeat an earlier group, and rows of nothing
            for j in range(joints):
                pieces.pop((g, j), None)
                if (g - 1, j) in pieces:
                    pieces[g, j] = pieces[g - 1, j] * [[2.0], [1.0], [0.0], [-1.0]]
    entries = [Entry(slice(4 * g, 4 * g + 4), slice(2 * j, 2 * j + 2), v) for (g, j), v in pieces.items()]
    J = np.zeros((4 * groups, 2 * joints))
    for entry in entries:
        J[entry.rows, entry.rates] = entry.values
    found = eliminate(entries, J.shape, 1e-6)
    assert found.redundancy == len(J) - np.linalg.matrix_rank(J)
    mu = found.null_vectors(np.eye(found.redundancy))
    np.testing.assert_allclose(J.T @ mu, 0, atol=1e-11)
    np.testing.assert_allclose(mu.T @ mu, np.eye(found.redundancy), atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("n", [30, 300])
def test_coupled_four_bars_have_three_redundant_constraints_each(n):
    mech, q = coupled_four_bars(n)
    analysis = analyze_mechanism(mech, q, samples=0)
    assert (analysis.degree_of_redundancy, analysis.dof) == (3 * n, 1)
    for v in analysis.constraints:
        assert (v.indeterminate_dim, [c.unique for c in v.components]) == (
            3,
            [True, True, False, False, False],
        )


def test_a_long_ring_is_judged_by_elimination_too():
    mech, q = ring(300)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank, "LARGEST_DENSE", -1)
        analysis = analyze_mechanism(mech, q, samples=0)
    assert analysis.degree_of_redundancy == 3
    assert {v.indeterminate_dim for v in analysis.constraints} == {3}


class TestDivideAndConquer:
    """The fifth method, as a user asks for it."""

    def test_it_agrees_on_the_spatial_parallelogram(self):
        scene = mb.load(ASSETS / "spatial_parallelogram.scene.toml")
        by_dca, by_qr = mb.analyze(scene, method="dca"), mb.analyze(scene, method="qr")
        assert [v.reaction for v in by_dca.constraints] == [v.reaction for v in by_qr.constraints]
        assert by_dca.bodies == by_qr.bodies
        assert by_dca.dca is not None
        assert (len(by_dca.dca.G), by_dca.dca.rank) == (18, 17)

    def test_it_refuses_nonholonomic_rows_and_names_what_applies(self):
        with pytest.raises(mb.MbPluginError, match=r"nonholonomic rows.*use method qr"):
            mb.analyze(mb.load(ASSETS / "four_wheel_robot.scene.toml"), method="dca")

    def test_where_it_stalls_it_says_so_and_guesses_nothing(self):
        mech, q = coupled_four_bars(3)
        by_dca, by_qr = mb.analyze(mech, q, method="dca"), mb.analyze(mech, q, method="qr")
        assert by_dca.dca is not None
        assert by_dca.dca.stalled
        reactions = {v.name: v.reaction for v in by_dca.constraints}
        assert "undecided" in reactions.values()
        for v in by_qr.constraints:
            assert reactions[v.name] in (v.reaction, "undecided")
