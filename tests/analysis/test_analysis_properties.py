"""What must not change a verdict, over random mechanisms; and an independent brute force."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given, settings, strategies as st

import mbplugin as mb
from mbplugin.model.mechanism.kinematics import coordinates_of, forward
from mbplugin.model.spatial import Pose, rotation_from_vector
from random_mechanisms import geared_twice, mechanisms, moved, renamed, reordered, scaled, with_pendulum
from verdict_properties import analyzed, clear, verdicts

profile = settings(max_examples=40, deadline=None, derandomize=True)


@pytest.mark.long
@profile
@given(mechanisms)
def test_the_whole_matrix_decomposed_at_once_agrees(case):
    mech, q = case
    analysis = analyzed(mech, q)
    assume(clear(analysis))
    C = mb.constraint_matrix(mech, q).C.toarray()
    Z = scipy.linalg.null_space(C.T, rcond=1e-7)
    assert Z.shape[1] == analysis.degree_of_redundancy
    dims = {}
    start = 0
    for v in analysis.constraints:
        Z_X = Z[start : start + len(v.components)]
        start += len(v.components)
        dims[v.name] = int((np.linalg.svd(Z_X, compute_uv=False) > 1e-6).sum()) if Z_X.size else 0
    assert dims == {v.name: v.indeterminate_dim for v in analysis.constraints}


@pytest.mark.long
@profile
@given(mechanisms)
def test_perturbed_multipliers_move_only_non_unique_reactions(case):
    """Brute force: add random null vectors of Cᵀ to λ and see which reactions on bodies change."""
    mech, q = case
    analysis = analyzed(mech, q)
    assume(clear(analysis))
    cm = mb.constraint_matrix(mech, q)
    C = cm.C.toarray()
    rng = np.random.default_rng(0)
    Z = cm.left_null_space()
    change = Z @ rng.normal(size=Z.shape[1])
    np.testing.assert_allclose(C.T @ change, 0, atol=1e-9)
    names = np.array([constraint for constraint, _ in cm.rows])
    for v in analysis.constraints:
        mine = names == v.name
        force = C[mine].T @ change[mine]
        assert bool(np.abs(force).max(initial=0.0) > 1e-7) is not v.unique, v.name


@pytest.mark.long
@profile
@given(mechanisms, st.sampled_from([1e-3, 1e3]))
def test_units_do_not_matter(case, factor):
    mech, q = case
    analysis = analyzed(mech, q)
    assume(clear(analysis))
    other = scaled(mech, factor)
    poses = forward(mech, q)
    bodies = {b.name: Pose(poses.R_WL[k], factor * poses.p_WL[k]) for k, b in enumerate(mech.bodies)}
    from models import q_at

    q_other = q_at(other, bodies)
    stretched = type(poses)(poses.R_WL, factor * poses.p_WL, factor * poses.p_WC)
    q_other = coordinates_of(other, stretched)
    again = analyzed(other, q_other)
    assert verdicts(again) == verdicts(analysis)
    for ours, theirs in zip(analysis.blocks, again.blocks, strict=True):
        np.testing.assert_allclose(ours.spectrum.relative, theirs.spectrum.relative, atol=1e-9)


@pytest.mark.long
@profile
@given(mechanisms, st.integers(0, 1000))
def test_place_in_the_world_does_not_matter(case, seed):
    mech, q = case
    analysis = analyzed(mech, q)
    assume(clear(analysis))
    rng = np.random.default_rng(seed)
    X = Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-10, 10, 3))
    assert verdicts(analyzed(moved(mech, X), q)) == verdicts(analysis)


@pytest.mark.long
@profile
@given(mechanisms)
def test_names_do_not_matter(case):
    mech, q = case
    analysis = analyzed(mech, q)
    assume(clear(analysis))
    assert verdicts(analyzed(renamed(mech), q), strip="J ") == verdicts(analysis)


@pytest.mark.long
@profile
@given(mechanisms, st.integers(0, 1000))
def test_order_and_the_choice_of_cut_joints_do_not_matter(case, seed):
    mech, q = case
    analysis = analyzed(mech, q)
    assume(clear(analysis))
    other = reordered(mech, seed)
    poses = forward(mech, q)
    order = [[b.name for b in mech.bodies].index(b.name) for b in other.bodies]
    there = type(poses)(poses.R_WL[order], poses.p_WL[order], poses.p_WC[order])
    again = analyzed(other, coordinates_of(other, there))
    assert verdicts(again) == verdicts(analysis)


@pytest.mark.long
@profile
@given(mechanisms)
def test_a_pendulum_leaves_p_and_all_old_verdicts(case):
    mech, q = case
    before = analyzed(mech, q)
    after_mech = with_pendulum(mech)
    poses = forward(mech, q)
    after = analyzed(after_mech, _extended(after_mech, mech, q))
    assert after.degree_of_redundancy == before.degree_of_redundancy
    old = {v.name: v for v in before.constraints}
    for v in after.constraints:
        assert v == old[v.name] if v.name in old else v.unique
    assert len(poses.p_WL) + 2 == len(after.mechanism.bodies)


@pytest.mark.long
@profile
@given(mechanisms)
def test_gearing_twice_adds_one_redundancy_and_nothing_else(case):
    mech, q = case
    before = analyzed(mech, q)
    after_mech = geared_twice(mech)
    after = analyzed(after_mech, _extended(after_mech, mech, q))
    assert after.degree_of_redundancy == before.degree_of_redundancy + 1
    new = {v.name: v.unique for v in after.constraints if v.kind == "coupling"}
    assert new == {"gear0": False, "gear1": False}


def _extended(after, before, q):
    """q of the larger mechanism: old joints keep their values, new ones are at zero."""
    from mbplugin.model.mechanism.kinematics import home

    out = home(after)
    values = dict(zip(before.q_names, q, strict=True))
    for k, name in enumerate(after.q_names):
        out[k] = values.get(name, out[k])
    return out


@pytest.mark.long
@profile
@given(mechanisms)
def test_a_pair_in_parallel_to_itself_is_redundant_in_every_row(case):
    mech, q = case
    before = analyzed(mech, q)
    first = mech.pairs[0]
    twin = replace(first, name="twin", closure=True)
    after = analyzed(replace(mech, pairs=(*mech.pairs, twin)), q)
    rows = len(first.kind.constrained)
    assert after.degree_of_redundancy == before.degree_of_redundancy + rows
    dims = {v.name: v.indeterminate_dim for v in after.constraints}
    assert dims[first.name] == dims["twin"] == rows
