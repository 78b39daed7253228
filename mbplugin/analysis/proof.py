"""Remedies that a second analysis confirms: no redundancy, freedoms of motion and drives unchanged."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice

from mbplugin.analysis.mobility import Mobility, finite_mobility
from mbplugin.analysis.releases import Allowed
from mbplugin.analysis.remedies import (
    OFFERED,
    Change,
    Obstacle,
    Remedy,
    any_type,
    apply_changes,
    candidate_changes,
    changeable,
    single_closures,
)
from mbplugin.analysis.uniqueness import StressedBlock, stress
from mbplugin.constraints.rank import RankedBlock, rank_blocks
from mbplugin.constraints.view import View
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.kinematics import coordinates_of

#: Ways that are tried for one block.
_TRIED = 30
#: Of more blocks than this the cures are first proved all together, not each for itself before.
_MANY = 30
_IN_SPACE = 6


@dataclass(frozen=True)
class Cures:
    """What to change, and what stands in the way where nothing can be changed."""

    remedies: tuple[Remedy, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()


def proved_cures(
    view: View,
    here: View,
    kept: Mapping[str, tuple[str, ...]],
    allowed: Allowed = any_type,
    mobility: Mobility | None = None,
) -> Cures:
    """Return the proved remedies of a mechanism.

    After the changes nothing is redundant any more at the generic pose, as many rows fewer as were redundant
    before, also with all joints held that have something to do; and the given pose has not become singular.
    Then all freedoms to first order are freedoms of motion, so those of a block must have been so before: of a
    block with others, such as a strut, no weaker pairs could make but a mechanism. It is only changed where the
    other freedoms are those of joints that have something to do: the loop locks these, and gets them back.

    Parameters
    ----------
    view, here : View
        At the generic pose and at the given one.
    kept : mapping of pair name to phrases
        What the joints do that are not passive: driven, braked, limited or locked, they stay as they are.
    allowed : callable
        Whether a pair may become of a type: a format or a workshop may have few.
    mobility : Mobility, optional
        At the given pose, if it is known.
    """
    if not view.redundancy:
        return Cures()
    stressed = [s for s in stress(view.blocks) if s.ranked.redundancy]
    rigid, restored = _not_of_motion(view, here, kept, mobility)
    apart = [s.ranked for s in stressed if s.ranked.block.constraints in rigid]
    stressed = [s for s in stressed if s.ranked.block.constraints not in rigid]
    if not stressed:
        return Cures()
    cures = _cured_blocks(view, here, kept, stressed, apart, allowed)
    if not restored:
        return cures
    return replace(cures, remedies=tuple(replace(remedy, restores=restored) for remedy in cures.remedies))


def _not_of_motion(
    view: View, here: View, kept: Mapping[str, tuple[str, ...]], mobility: Mobility | None
) -> tuple[frozenset[tuple[str, ...]], tuple[str, ...]]:
    """Return blocks with freedoms that are not of motion, and the joints of ``kept`` that others lock."""
    mobility = mobility or finite_mobility(here, _mobility(here))
    if mobility.blocks and view is not here:
        mobility = finite_mobility(view, _mobility(view))
    rigid: list[tuple[str, ...]] = []
    restored: list[str] = []
    for block in mobility.blocks:
        promised = [joint for joint in block.shaky_joints(view.mech) if joint in kept]
        restored += promised
        if not promised:
            rigid.append(block.constraints)
    return frozenset(rigid), tuple(restored)


def _cured_blocks(
    view: View,
    here: View,
    kept: Mapping[str, tuple[str, ...]],
    stressed: Sequence[StressedBlock],
    apart: Sequence[RankedBlock],
    allowed: Allowed,
) -> Cures:
    """Return the proved remedies of some blocks; those ``apart`` stay as they are."""
    cured = partial(_cured, view, here, kept, stressed, allowed=allowed, apart=apart)
    candidates = partial(_candidates, allowed=allowed)
    if len(stressed) > _MANY and (cures := cured(candidates)).remedies:
        return cures
    if len(stressed) == 1:
        # to prove the block for itself and the mechanism would be the same twice
        cures = cured(candidates)
        if len(cures.remedies) == OFFERED:
            return cures
    return cured(partial(_of_block, allowed=allowed))


def _cured(
    view: View,
    here: View,
    kept: Mapping[str, tuple[str, ...]],
    stressed: Sequence[StressedBlock],
    ways_of: Callable[[View, StressedBlock, Container[str]], Iterator[tuple[Change, ...]]],
    allowed: Allowed,
    apart: Sequence[RankedBlock],
) -> Cures:
    """Return what is proved of the first ways of all blocks."""
    ways: list[list[tuple[Change, ...]]] = []
    left = list(apart)
    obstacles: list[Obstacle] = []
    for s in stressed:
        if own := list(islice(ways_of(view, s, kept), OFFERED)):
            ways.append(own)
        else:
            left.append(s.ranked)
            obstacles += _obstacles(view, s, kept, allowed)
    remedies = tuple(_proved(view, here, ways, sum(b.redundancy for b in left), kept)) if ways else ()
    return Cures(remedies, tuple(obstacles))


def _candidates(
    view: View, s: StressedBlock, kept: Container[str], allowed: Allowed
) -> Iterator[tuple[Change, ...]]:
    """Yield the changes that may cure a block."""
    yield from candidate_changes(view.mech, view.poses, s, kept, allowed)
    if len(view.columns) < _IN_SPACE:
        yield from single_closures(view.mech, view.poses, s, kept, allowed)


def _of_block(
    view: View, s: StressedBlock, kept: Container[str], allowed: Allowed
) -> Iterator[tuple[Change, ...]]:
    """Yield the changes that cure a block for itself."""
    for changes in islice(_candidates(view, s, kept, allowed), _TRIED):
        if _cures(view, s.ranked, changes):
            yield changes


def _cures(view: View, ranked: RankedBlock, changes: Sequence[Change]) -> bool:
    """Return whether changes take the redundancy of a block and leave its mobility."""
    mech = apply_changes(view.mech, changes)
    (after,) = rank_blocks(mech, view.poses, view.columns, view.tolerance, blocks=(ranked.block,))
    released = len(ranked.reduced.labels) - len(after.reduced.labels)
    return released == ranked.redundancy and after.redundancy == 0


def _obstacles(
    view: View, s: StressedBlock, kept: Mapping[str, tuple[str, ...]], allowed: Allowed
) -> Iterator[Obstacle]:
    """Yield the joints without whose duties a block could be cured."""
    if kept and next(_of_block(view, s, (), allowed), None) is not None:
        for name in changeable(view.mech, view.poses, s, kept, allowed):
            yield Obstacle(name, kept[name])


def _proved(
    view: View,
    here: View,
    ways: Sequence[Sequence[tuple[Change, ...]]],
    left: int,
    kept: Mapping[str, tuple[str, ...]],
) -> Iterator[Remedy]:
    """Yield the ways of all blocks together that pass the proof."""
    rows, mobility = _rows(view), _held_mobility(view, kept)
    bound = here.redundancy - view.redundancy + left
    for k in range(min(OFFERED, max(len(own) for own in ways))):
        changes = tuple(chain.from_iterable(own[min(k, len(own) - 1)] for own in ways))
        after = _changed(view, changes)
        released = rows - _rows(after)
        # as many rows fewer as were redundant: rank, and with it the mobility, is what it was
        if after.redundancy != left or released != view.redundancy - left:
            continue
        there = after if here is view else _changed(here, changes)
        if _held_mobility(after, kept) == mobility and there.redundancy <= bound:
            columns = len(view.columns) * len(view.mech.bodies)
            yield Remedy(changes, after.redundancy, columns - rows + released + after.redundancy)


def _changed(view: View, changes: Sequence[Change]) -> View:
    """Return the view of a changed mechanism: its pairs have other coordinates for the same body poses."""
    mech = apply_changes(view.mech, changes)
    return replace(view, mech=mech, q=coordinates_of(mech, view.poses))


def _held_mobility(view: View, kept: Mapping[str, tuple[str, ...]]) -> int:
    """Return the mobility with all joints held that have something to do: what no drive or brake decides."""
    mech, taken = view.mech, {c.name for c in view.mech.constraints()}
    locks = tuple(
        Lock(pair.name)
        for pair in mech.pairs
        if pair.name in kept and pair.kind.free and Lock(pair.name).name not in taken
    )
    return _mobility(view.locked(locks) if locks else view)


def _mobility(view: View) -> int:
    """Return the mobility to first order."""
    return len(view.columns) * len(view.mech.bodies) - _rows(view) + view.redundancy


def _rows(view: View) -> int:
    return sum(len(components) for components in view.row_labels.values())
