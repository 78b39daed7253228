"""Length must not invent redundancy: long chains and rings."""

import numpy as np
import pytest

from mbplugin.analysis import analyze_mechanism
from mbplugin.constraints.rank import constraint_matrix
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import coordinates_of, forward, relative_pose
from mbplugin.model.mechanism.pair import PAIR_TYPES
from models import chain, ring


@pytest.mark.long_after(2)
@pytest.mark.parametrize("pair_type", [t for t, kind in PAIR_TYPES.items() if kind.has_coordinates])
def test_an_open_chain_of_2000_bodies_has_no_redundancy_at_any_tolerance(pair_type):
    mech, q = chain(2000, pair_type, np.random.default_rng(1))
    analysis = analyze_mechanism(mech, q)
    assert [(p.start, p.stop, p.degree_of_redundancy) for p in analysis.plateaus] == [(1e-12, 1e-2, 0)]
    assert analysis.rows == 2000 * len(PAIR_TYPES[pair_type].constrained)
    assert analysis.dof == 2000 * len(PAIR_TYPES[pair_type].free)


def test_an_open_chain_of_2000_distances_has_no_redundancy_at_any_tolerance():
    from dataclasses import replace

    loose, q = chain(2000, "distance", np.random.default_rng(1))
    poses = forward(loose, q)
    pairs = [replace(p, length=float(np.linalg.norm(relative_pose(loose, p, poses).p))) for p in loose.pairs]
    mech = Mechanism("chain", loose.bodies, tuple(pairs))
    analysis = analyze_mechanism(mech, q)
    assert [(p.start, p.stop, p.degree_of_redundancy) for p in analysis.plateaus] == [(1e-12, 1e-2, 0)]
    assert analysis.dof == 5 * 2000


@pytest.mark.long
@pytest.mark.parametrize("n", [4, 50, 1000])
def test_a_planar_ring_has_three_redundant_constraints(n):
    mech, q = ring(n)
    analysis = analyze_mechanism(mech, q, samples=2)
    assert (analysis.degree_of_redundancy, analysis.structural_redundancy) == (3, 3)
    # n hinges that form a ring, floating as a whole
    assert analysis.dof == n - 3 + 6
    assert analysis.remedies


def test_a_chain_of_1000_links_has_no_redundancy():
    mech, q = chain(1000, "revolute", np.random.default_rng(2))
    assert analyze_mechanism(mech, q).degree_of_redundancy == 0


@pytest.mark.long
@pytest.mark.parametrize(("pair_type", "p"), [("cylindrical", 2), ("spherical", 1), ("universal", 2)])
def test_one_weaker_pair_in_a_ring_of_1000_is_seen(pair_type, p):
    mech, q = ring(1000)
    pairs = (*mech.pairs[:400], mech.pairs[400].retyped(pair_type), *mech.pairs[401:])
    weaker = Mechanism("ring", mech.bodies, pairs)
    there = coordinates_of(weaker, forward(mech, q))
    analysis = analyze_mechanism(weaker, there, samples=0)
    assert analysis.degree_of_redundancy == p


def test_self_stresses_of_a_large_ring_balance_every_body():
    """With a universal joint in it, forces and moments of the closing rows depend on each other."""
    mech, q = ring(300)
    pairs = (*mech.pairs[:100], mech.pairs[100].retyped("universal"), *mech.pairs[101:])
    weaker = Mechanism("ring", mech.bodies, pairs)
    cm = constraint_matrix(weaker, coordinates_of(weaker, forward(mech, q)))
    Z = cm.left_null_space()
    assert Z.shape[1] == 2
    np.testing.assert_allclose(cm.C.T @ Z, 0, atol=1e-11)
