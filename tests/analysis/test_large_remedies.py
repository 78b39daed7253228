"""Remedies and self-stresses of blocks that are judged by elimination: those of dense algebra, and proved."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import mbplugin as mb
from benchmark_mechanisms import n_four_bar
from mbplugin.analysis import analyze_mechanism, remedies as of_remedies
from mbplugin.analysis.catalogue import (
    Loads,
    Option,
    Replacement,
    _Echelon,
    _smallest,
    _smallest_of_each,
)
from mbplugin.analysis.remedies import apply_changes
from mbplugin.constraints import rank
from mbplugin.constraints.rank import View, local_stresses
from mbplugin.constraints.reduction import ReducedBlock
from mbplugin.model.spatial import Array
from models import ring
from places import ORACLES
from random_mechanisms import loop_mechanism


def by_both(mech: mb.Mechanism, q: Array) -> tuple[mb.Analysis, mb.Analysis]:
    """The analysis by dense algebra, and that by elimination, with what both compute at the first use."""
    found = []
    for largest in (10**9, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rank, "LARGEST_DENSE", largest)
            analysis = analyze_mechanism(mech, q, samples=0)
            assert len(analysis.self_stresses) == analysis.degree_of_redundancy
            _ = analysis.remedies
        found.append(analysis)
    assert all(b.elimination for b in found[1].blocks)
    return found[0], found[1]


def eliminated(mech: mb.Mechanism, q: Array) -> tuple[ReducedBlock, csr_array]:
    """The only block, judged by elimination, and its local self-stresses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank, "LARGEST_DENSE", -1)
        (block,) = View(mech, q, tuple(range(6)), 1e-4).blocks
    return block.reduced, local_stresses(block.reduced, block.elimination)


@pytest.mark.parametrize("loops", [1, 2, 7])
def test_coupled_loops_have_the_same_remedies_and_words(loops: int) -> None:
    mech, q, _ = n_four_bar(loops)
    dense, large = by_both(mech, q)
    assert [r.changes for r in large.remedies] == [r.changes for r in dense.remedies] != []
    assert [s.text for s in large.self_stresses] == [s.text for s in dense.self_stresses]
    for one, other in zip(large.self_stresses, dense.self_stresses, strict=True):
        np.testing.assert_allclose(
            [c.weight for c in one.components], [c.weight for c in other.components], atol=1e-9
        )


@pytest.mark.parametrize("file", sorted(ORACLES.glob("*.sdf")), ids=lambda file: file.stem)
def test_the_oracles_have_the_same_remedies(file) -> None:
    scene = mb.load(file)
    dense, large = by_both(scene.mechanism, scene.state.q)
    assert [r.changes for r in large.remedies] == [r.changes for r in dense.remedies]
    assert {s.closed_by for s in large.self_stresses} == {s.closed_by for s in dense.self_stresses}


@pytest.mark.parametrize("kind", ["planar", "spherical", "generic"])
@pytest.mark.parametrize("seed", range(4))
def test_random_mechanisms_have_the_same_remedies(kind: str, seed: int) -> None:
    dense, large = by_both(*loop_mechanism(seed, 1 + seed, kind))
    assert [r.changes for r in large.remedies] == [r.changes for r in dense.remedies]


@pytest.mark.long
def test_a_large_model_names_every_loop_and_its_remedies_are_true() -> None:
    mech, q, _ = n_four_bar(70)
    analysis = analyze_mechanism(mech, q, samples=0)
    assert analysis.blocks[0].elimination is not None
    assert len(analysis.self_stresses) == analysis.degree_of_redundancy == 210
    assert len({s.loop for s in analysis.self_stresses}) == 70
    assert len({frozenset(remedy.changes) for remedy in analysis.remedies}) == len(analysis.remedies) > 0
    for remedy in analysis.remedies:
        assert (remedy.degree_of_redundancy, remedy.dof) == (0, analysis.dof)
    changed = apply_changes(mech, analysis.remedies[0].changes)
    matrix = mb.matrix(changed)
    # of the matrix of the changed mechanism in absolute coordinates, by another decomposition
    assert np.linalg.matrix_rank(matrix.C.toarray(), tol=1e-9) == len(matrix.rows)


def test_local_self_stresses_are_in_equilibrium_and_reach_no_further_than_their_loop() -> None:
    reduced, Z = eliminated(*n_four_bar(9)[:2])
    np.testing.assert_allclose(Z.T @ reduced.dense(), 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(Z.toarray()) == Z.shape[1] == 27
    # four hinges of five rows
    assert np.diff(Z.tocsc().indptr).max() <= 20


def test_a_local_self_stress_of_one_long_loop_is_that_of_dense_statics() -> None:
    """So long that its closing rows are measured in larger units."""
    reduced, Z = eliminated(*ring(60))
    assert reduced.row_units.min() < 0.5
    mu = Z.toarray()[-reduced.shape[0] :] / reduced.row_units[:, None]
    np.testing.assert_allclose(reduced.self_stresses(mu), Z.toarray(), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(Z.toarray(), axis=0), 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_released_rows_are_counted_once(seed: int) -> None:
    """Rows of two entries along a chain, in any order: as many are taken as are independent."""
    rng = np.random.default_rng(seed)
    rows = [(np.array([k, (k + 1) % 12]), np.array([[1.0, -1.0]])) for k in range(12)]
    rows += [(np.sort(rng.choice(12, 3, replace=False)), rng.normal(size=(2, 3))) for _ in range(2)]
    echelon, taken = _Echelon(), []
    for k in rng.permutation(len(rows)):
        before = np.vstack([np.zeros((1, 12)), *taken])
        columns, values = rows[k]
        whole = np.zeros((len(values), 12))
        whole[:, columns] = values
        new = np.linalg.matrix_rank(np.vstack((before, whole))) - np.linalg.matrix_rank(before)
        replacement = Replacement("a", "spherical", None, np.eye(len(values)), 1.0)
        option = Option(replacement, Loads(None, columns, values, values), 1.0)
        assert echelon.take(option) == (new == len(values))
        if new == len(values):
            taken.append(whole)
    assert echelon.count == len(np.vstack(taken)) >= 11


@pytest.mark.parametrize("loops", [1, 12])
def test_the_options_of_a_block_are_found_once(loops: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the first candidates do not give all remedies, the others are tried from the same options."""
    calls = []
    options_of = of_remedies.options_of
    monkeypatch.setattr(of_remedies, "options_of", lambda *given: calls.append(1) or options_of(*given))
    mech, q, _ = n_four_bar(loops)
    assert analyze_mechanism(mech, q, samples=0).remedies and calls == [1]


def test_smallest_singular_values_of_many_matrices_are_those_of_each() -> None:
    rng = np.random.default_rng(5)
    stacks = [rng.normal(size=(3, k, n)) for k, n in ((1, 4), (2, 4), (3, 5), (2, 1))]
    stacks.append(np.zeros((1, 2, 4)))
    for stack in stacks:
        expected = [np.linalg.svd(one, compute_uv=False)[-1] for one in stack]
        assert _smallest_of_each(stack) == pytest.approx(expected, abs=1e-14)
        assert [_smallest(one) for one in stack] == pytest.approx(expected, abs=1e-14)
