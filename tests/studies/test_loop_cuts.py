"""Where to cut a loop: the criterion of blajer1994 for every pair of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkage import Linkage
from mbplugin.closing.drift import Cut, loop_pairs, rank_cuts
from mbplugin.dynamics.formulations import eliminate, independent_coordinates, partition
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.spatial import Array
from mbplugin.studies.elimination import cos_squared
from models import coupled_four_bars

UNLIKE = Linkage((1.0, 3.0, 9.0), gravity=9.81)


def by_hand(linkage: Linkage, alpha: Array) -> Array:
    equations = linkage.equations(alpha, np.zeros(3))
    return cos_squared(equations, eliminate(equations))


@pytest.mark.parametrize("crank", [0.3, 1.2, 2.9, 4.4])
def test_the_linkage_by_hand_and_as_a_mechanism(crank: float) -> None:
    """Criterion, motion and force at the cut from the program's own equations in joint coordinates."""
    alpha = UNLIKE.closed(crank)
    rate = UNLIKE.rates(alpha, 2.0)
    ours = UNLIKE.equations(alpha, rate)
    mech, q = UNLIKE.mechanism(crank)
    theirs = joint_equations(mech, q, rate)
    assert theirs.degree_of_redundancy == 3
    assert np.abs(theirs.M - ours.M).max() < 1e-10
    assert cos_squared(theirs, eliminate(theirs)) == pytest.approx(by_hand(UNLIKE, alpha), rel=1e-9)
    for coordinate in range(2):
        a, b = (partition(eliminate(e), np.array([coordinate])).H for e in (ours, theirs))
        assert np.abs(a - b).max() < 1e-9


def test_cuts_at_either_ground_joint_are_the_linkage_from_either_side() -> None:
    crank = 1.2
    mech, q = UNLIKE.mechanism(crank)
    cuts = {cut.pair: cut for cut in rank_cuts(mech, q)}
    assert set(cuts) == {"O1", "O2", "O3", "O4"}
    assert {cut.instead_of for cut in cuts.values()} == {"O4"}
    alpha = UNLIKE.closed(crank)
    assert cuts["O4"].independence == pytest.approx(by_hand(UNLIKE, alpha).max(), rel=1e-9)
    # seen from O4 in a mirror, link 3 is the crank and the angle from +y is −(θ₃ + π)
    l0, l1, l2, l3 = UNLIKE.sizes
    mirrored = Linkage(UNLIKE.masses[::-1], sizes=(l0, l3, l2, l1))
    theta = np.cumsum(alpha)
    seen = -(theta[::-1] + np.pi)
    from_there = np.array([seen[0], seen[1] - seen[0], seen[2] - seen[1]])
    assert mirrored.tip(from_there) == pytest.approx([l0, 0])
    assert cuts["O1"].independence == pytest.approx(by_hand(mirrored, from_there).max(), rel=1e-9)


def test_best_first_and_named() -> None:
    mech, q = UNLIKE.mechanism(2.0)
    cuts = rank_cuts(mech, q)
    values = [cut.independence for cut in cuts]
    assert values == sorted(values, reverse=True) and 0 < values[-1] < values[0] <= 1
    for cut in cuts:
        assert len(cut.coordinates) == 1 and cut.pair not in cut.coordinates


def test_nothing_is_cut_where_a_body_without_mass_would_hang_loose() -> None:
    """A massless crank: cut at either of its ends, it is a branch that no force can be put on."""
    mech, q = UNLIKE.mechanism(2.0)
    crank = replace(mech.bodies[0], mass=0.0, I_C=np.zeros((3, 3)))
    cuts = {c.pair: c for c in rank_cuts(replace(mech, bodies=(crank, *mech.bodies[1:])), q)}
    assert cuts["O1"] == Cut("O1", "O4", 0.0, ()) and cuts["O2"].independence == 0.0
    assert cuts["O3"].independence > 0.01 and cuts["O4"].independence > 0.01


def test_every_loop_of_several_is_ranked() -> None:
    mech, q = coupled_four_bars(3)
    loops = {closure.name: {p.name for p in loop_pairs(mech, closure)} for closure in mech.tree.cut}
    assert len(loops) == 3
    cuts = rank_cuts(mech, q)
    for closure, others in loops.items():
        assert {cut.pair for cut in cuts if cut.instead_of == closure} == {closure, *others}


def test_the_best_coordinates_do_not_depend_on_the_sense_of_hinges() -> None:
    mech, q = UNLIKE.mechanism(2.0)
    equations = joint_equations(mech, q, np.zeros(3))
    best = independent_coordinates(equations, eliminate(equations))
    assert best[0] == by_hand(UNLIKE, UNLIKE.closed(2.0)).argmax()
