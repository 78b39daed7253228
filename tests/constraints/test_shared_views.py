"""A view of a changed mechanism shares rows and blocks with the one before, and judges as one that shares nothing."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.analysis.catalogue import options_of
from mbplugin.analysis.remedies import Change, apply_changes
from mbplugin.analysis.uniqueness import stress
from mbplugin.constraints.rank import View
from mbplugin.constraints.reduction import find_blocks
from mbplugin.model.mechanism import Lock
from mbplugin.model.mechanism.kinematics import coordinates_of
from places import ASSETS

# the Minitaur comes with PyBullet
pytestmark = pytest.mark.bullet

SPACE = tuple(range(6))
CHANGES = (
    Change("foot_front_left", "spherical", "point-on-line"),
    Change("foot_back_left", "spherical", "fixed"),
)


@pytest.fixture(scope="module")
def view() -> View:
    scene = mb.load(ASSETS / "minitaur.scene.toml")
    found = View(scene.mechanism, mb.analyze(scene, samples=0).q, SPACE, 1e-4)
    assert len(found.blocks) == 4
    return found


def same_ranks(one: View, other: View) -> None:
    assert [b.block.constraints for b in one.blocks] == [b.block.constraints for b in other.blocks]
    for mine, fresh in zip(one.blocks, other.blocks, strict=True):
        assert mine.reduced.labels == fresh.reduced.labels
        np.testing.assert_allclose(mine.spectrum.relative, fresh.spectrum.relative, atol=1e-9)
    assert one.row_labels == other.row_labels


def test_changed_pairs_have_rows_of_their_own(view: View) -> None:
    mech = apply_changes(view.mech, CHANGES)
    q = coordinates_of(mech, view.poses)
    shared, fresh = view.retyped(mech, q), View(mech, q, SPACE, 1e-4)
    same_ranks(shared, fresh)
    assert [b.redundancy for b in shared.blocks] != [b.redundancy for b in view.blocks]
    before = {r.constraint: r for b in view.blocks for r in b.reduced.rows}
    after = {r.constraint: r for b in shared.blocks for r in b.reduced.rows}
    kept = {name for name, rows in after.items() if rows is before[name]}
    assert before.keys() - kept == {change.constraint for change in CHANGES}


def test_a_block_in_a_changed_mechanism_is_that_of_a_view_of_it(view: View) -> None:
    mech = apply_changes(view.mech, CHANGES)
    fresh = View(mech, coordinates_of(mech, view.poses), SPACE, 1e-4)
    for block, ranked in zip(find_blocks(view.mech), fresh.blocks, strict=True):
        found = view.ranked_in(mech, block)
        assert found.redundancy == ranked.redundancy
        np.testing.assert_allclose(found.spectrum.relative, ranked.spectrum.relative, atol=1e-9)


def test_blocks_without_a_lock_are_those_before(view: View) -> None:
    locks = (Lock("motor_front_leftL_joint"),)
    locked = view.locked(locks)
    mech = locked.mech
    same_ranks(locked, View(mech, view.q, SPACE, 1e-4))
    assert [mine is other for mine, other in zip(locked.blocks, view.blocks, strict=True)].count(True) == 3


def test_options_come_in_the_order_of_the_pairs(view: View) -> None:
    for s in stress(view.blocks):
        found = [option.replacement.pair for option in options_of(view.mech, s, {}, (), lambda *_: True)]
        order = [rows.constraint for rows in s.ranked.reduced.rows]
        assert len(set(found)) > 1 and found == sorted(found, key=order.index)
