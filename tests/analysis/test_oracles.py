"""Mechanisms with known answers, drawn up by independent programs (tests/oracles/expected.json)."""

import json

import numpy as np
import pytest
import scipy.linalg

import mbplugin as mb
from places import ORACLES

FOLDER = ORACLES
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


@pytest.fixture(scope="module", params=sorted(EXPECTED))
def case(request):
    scene = mb.load(FOLDER / EXPECTED[request.param]["file"])
    return scene, mb.analyze(scene), EXPECTED[request.param]


def test_counts_rank_and_redundancy(case):
    scene, analysis, expected = case
    assert len(scene.mechanism.bodies) == expected["bodies"]
    assert len(scene.mechanism.pairs) == expected["pairs"]
    for name in ("rows", "rank", "dof", "degree_of_redundancy", "structural_redundancy"):
        assert getattr(analysis, name) == expected[name], name


def test_dimension_of_every_indeterminate_reaction(case):
    _, analysis, expected = case
    found = {v.name: v.indeterminate_dim for v in analysis.constraints}
    assert found == expected["indeterminate_reaction_dim"]


@pytest.mark.parametrize("method", ["svd", "nullspace"])
def test_the_method_does_not_matter(case, method):
    scene, analysis, _ = case
    other = mb.analyze(scene, method=method, samples=0)
    assert other.constraints == analysis.constraints


def test_the_dense_matrix_says_the_same(case):
    """Rank and null space of the whole C in absolute coordinates, by SVD and nothing else."""
    scene, analysis, _ = case
    cm = mb.constraint_matrix(scene)
    C = cm.C.toarray()
    assert len(C) - np.linalg.matrix_rank(C, tol=1e-6) == analysis.degree_of_redundancy
    Z_dense = scipy.linalg.null_space(C.T, rcond=1e-6)
    Z = cm.left_null_space()
    assert Z.shape == Z_dense.shape
    np.testing.assert_allclose(C.T @ Z, 0, atol=1e-12)
    np.testing.assert_allclose(Z_dense @ (Z_dense.T @ Z), Z, atol=1e-9)
    loaded = np.linalg.norm(Z_dense, axis=1) > 1e-9
    unique = {(v.name, c.name): c.unique for v in analysis.constraints for c in v.components}
    assert {label: not bool(flag) for label, flag in zip(cm.rows, loaded, strict=True)} == unique


def test_remedies_take_all_redundancy_away_and_leave_the_mobility(case):
    from mbplugin.analysis.remedies import apply_changes
    from mbplugin.model.mechanism.kinematics import coordinates_of, forward

    scene, analysis, expected = case
    assert bool(analysis.remedies) == bool(expected["structural_redundancy"])
    if analysis.singular_pose:
        # the remedy was proved at a generic pose; this one stays singular
        return
    for remedy in analysis.remedies:
        changed = apply_changes(scene.mechanism, remedy.changes)
        q = coordinates_of(changed, forward(scene.mechanism, analysis.q))
        C = mb.constraint_matrix(changed, q).C.toarray()
        rank = np.linalg.matrix_rank(C, tol=1e-6)
        assert (len(C) - rank, C.shape[1] - rank) == (0, expected["dof"])
