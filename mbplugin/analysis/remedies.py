"""Remedies: replace few pairs by less restrictive ones so that p = 0 with the same mobility.

Releasing p rows removes all redundancy exactly when these rows of Z form a nonsingular block
(docs/theory.md). The proof by re-analysis is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice

import numpy as np

from mbplugin.analysis.catalogue import Allowed, Replacement, completed, options_of, replacements
from mbplugin.analysis.mobility import Mobility, finite_mobility
from mbplugin.analysis.uniqueness import StressedBlock, stress
from mbplugin.constraints.rank import RankedBlock, View, rank_blocks
from mbplugin.errors import BrokenModel, UnknownName
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, relative_pose
from mbplugin.model.mechanism.mechanism import WORLD, Lock, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, listed, one_line_repr

#: First choices that are tried, times p: larger blocks get fewer.
_EFFORT = 360
#: Ways that are offered.
OFFERED = 3
#: Ways that are tried for one block.
_TRIED = 30
#: Of more blocks than this the cures are first proved all together, not each for itself before.
_MANY = 30
_IN_SPACE = 6


def any_type(pair: Pair, type: str) -> bool:
    """Allow every pair of the catalogue."""
    return True


@dataclass(frozen=True)
class Change:
    """One pair to retype: its old and new type, and the new axis in axes of P where it turns."""

    constraint: str
    old: str
    new: str
    axis: tuple[float, float, float] | None = None

    def toml(self) -> str:
        """Return the lines to paste into a scene file."""
        lines = ["[[pair]]", f"name = {_quoted(self.constraint)}", f'type = "{self.new}"']
        if self.axis is not None:
            lines.append(f"axis = [{', '.join(f'{a:g}' for a in self.axis)}]")
        return "\n".join(lines)


@one_line_repr
@dataclass(frozen=True)
class Remedy:
    """Changes after which less is redundant and what could move can move (proved by analysis).

    Only blocks that no change of passive pairs can cure stay redundant.

    Parameters
    ----------
    dof : int
        Mobility after the changes.
    restores : tuple of str
        Joints with a function that the loops lock, and that can move after the changes.
    """

    changes: tuple[Change, ...]
    degree_of_redundancy: int
    dof: int
    restores: tuple[str, ...] = ()

    @property
    def toml(self) -> str:
        """The lines to paste into a scene file."""
        return "\n\n".join(change.toml() for change in self.changes)

    @property
    def proof(self) -> str:
        """What the analysis after the changes shows."""
        freed = f"; {listed(self.restores, 4)} can move again" if self.restores else ""
        return f"{counted(self.degree_of_redundancy, 'redundant constraint')}, mobility {self.dof}{freed}"


@dataclass(frozen=True)
class Obstacle:
    """A pair that could be made weaker, but for what it does: one phrase each."""

    constraint: str
    duties: tuple[str, ...]


def at_singular_pose(singular: bool) -> str:
    """Return where a remedy is proved: not at a singular pose, whose own redundancy no change of types removes."""
    return (
        ", at the poses around this singular one; at it some stays, so start from another pose"
        if singular
        else ""
    )


def no_remedy(obstacles: Sequence[Obstacle]) -> str:
    """Return why there is no remedy, without a full stop."""
    names = "; ".join(f"{o.constraint!r} has {' and '.join(o.duties)}" for o in obstacles)
    return f"no change of passive joints and closures alone removes the redundancy: {names}"


def candidate_changes(
    mech: Mechanism, poses: BodyPoses, s: StressedBlock, kept: Container[str], allowed: Allowed = any_type
) -> Iterator[tuple[Change, ...]]:
    """Yield sets of changes that may release one block: fewest pairs first, then closures, then simple ones.

    Parameters
    ----------
    kept : container of str
        Pairs that stay as they are.
    allowed : callable
        Whether a pair may become of a type.
    """
    yield from _of_block(mech, s, _turns(mech, poses, s), kept, allowed)


def _turns(mech: Mechanism, poses: BodyPoses, s: StressedBlock) -> dict[str, float]:
    """Return by how much the pairs of a block that turn about their own axis have turned, rad."""
    own = (mech.pair_by_name.get(name) for name in s.ranked.block.constraints)
    return {p.name: _turn(mech, p, poses) for p in own if p is not None and p.kind.free[-1:] == ("rz",)}


def single_closures(
    mech: Mechanism, poses: BodyPoses, s: StressedBlock, kept: Container[str], allowed: Allowed = any_type
) -> Iterator[tuple[Change, ...]]:
    """Yield every weaker type of every closure of a block, the simplest first.

    In a plane some rows have vanished, so that what a catalogue pair would release is found by trial.
    """
    closures = [
        pair
        for name in s.ranked.block.constraints
        if (pair := mech.pair_by_name.get(name)) is not None and pair.closure and name not in kept
    ]
    options = [
        option
        for pair in closures
        for option in replacements(pair, _turn(mech, pair, poses))
        if allowed(pair, option.type)
    ]
    for option in sorted(options, key=lambda option: option.cost):
        yield (_change(mech, option),)


def changeable(
    mech: Mechanism,
    poses: BodyPoses,
    s: StressedBlock,
    names: Container[str],
    allowed: Allowed = any_type,
) -> tuple[str, ...]:
    """Return which of some pairs of a block could release self-stresses by a weaker type."""
    found = (option.replacement.pair for option in options_of(mech, s, _turns(mech, poses, s), (), allowed))
    return tuple(dict.fromkeys(name for name in found if name in names))


def apply_changes(mech: Mechanism, changes: Sequence[Change]) -> Mechanism:
    """Return the mechanism with some pairs retyped."""
    by_name = {change.constraint: change for change in changes}

    def retyped(pair: Pair) -> Pair:
        change = by_name.get(pair.name)
        if change is None:
            return pair
        return pair.retyped(change.new, None if change.axis is None else np.array(change.axis))

    return replace(mech, pairs=tuple(retyped(pair) for pair in mech.pairs))


def _of_block(
    mech: Mechanism,
    s: StressedBlock,
    turns: Mapping[str, float],
    kept: Container[str],
    allowed: Allowed,
) -> Iterator[tuple[Change, ...]]:
    """Yield ways to release one block: three that differ in kind where possible, then all others."""
    options = sorted(options_of(mech, s, turns, kept, allowed), key=lambda option: option.order)
    starts = options[: max(OFFERED, _EFFORT // s.ranked.redundancy)]
    different: dict[frozenset[tuple[str, str, str]], tuple[Replacement, ...]] = {}
    for start in starts:
        if way := completed(s, start, options):
            # from two starts the same may follow, in another order
            different.setdefault(frozenset((o.pair, o.type, str(o.axis)) for o in way), way)
    found = sorted(
        different.values(),
        key=lambda way: (len(way), _of_tree(mech, way), sum(option.cost for option in way)),
    )
    first = _varied(found)
    for way in (*first, *(way for way in found if all(way is not other for other in first))):
        yield tuple(_change(mech, option) for option in way)


def _of_tree(mech: Mechanism, way: Sequence[Replacement]) -> int:
    """Return how many pairs of a way are no stated closures: the tree had better stay as it was drawn."""
    return sum(not mech.pair_by_name[option.pair].closure for option in way)


def _varied(ways: Sequence[tuple[Replacement, ...]]) -> list[tuple[Replacement, ...]]:
    """Return three ways that differ in kind where possible, else in the pairs they change."""
    kinds: dict[tuple[str, ...], tuple[Replacement, ...]] = {}
    places: dict[tuple[str, ...], tuple[Replacement, ...]] = {}
    for way in ways:
        kinds.setdefault(tuple(sorted({option.type for option in way})), way)
        places.setdefault(tuple(sorted(f"{option.pair} {option.type}" for option in way)), way)
    others = [way for way in places.values() if all(way is not kind for kind in kinds.values())]
    return [*kinds.values(), *others][:OFFERED]


def _turn(mech: Mechanism, pair: Pair, poses: BodyPoses) -> float:
    R_PS = relative_pose(mech, pair, poses).R
    return float(np.arctan2(R_PS[1, 0], R_PS[0, 0]))


def _change(mech: Mechanism, option: Replacement) -> Change:
    axis = None
    if option.axis is not None:
        axis = (float(option.axis[0]), float(option.axis[1]), float(option.axis[2]))
    return Change(option.pair, mech.pair_by_name[option.pair].type, option.type, axis)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# Remedies that a second analysis confirms: no redundancy, freedoms of motion and drives unchanged.


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
    return cured(partial(_proof_of_block, allowed=allowed))


def _cured(
    view: View,
    here: View,
    kept: Mapping[str, tuple[str, ...]],
    stressed: Sequence[StressedBlock],
    ways_of: Callable[[View, StressedBlock, Container[str]], Iterator[tuple[Change, ...]]],
    allowed: Allowed,
    apart: Sequence[RankedBlock],
) -> Cures:
    """Return the proof for the first candidates of all blocks."""
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


def _proof_of_block(
    view: View, s: StressedBlock, kept: Container[str], allowed: Allowed
) -> Iterator[tuple[Change, ...]]:
    """Yield the changes that cure a block for itself."""
    for changes in islice(_candidates(view, s, kept, allowed), _TRIED):
        if _cures(view, s.ranked, changes):
            yield changes


def _cures(view: View, ranked: RankedBlock, changes: Sequence[Change]) -> bool:
    """Return whether changes take the redundancy of a block and leave its mobility."""
    try:
        mech = apply_changes(view.mech, changes)
    except (UnknownName, BrokenModel):
        # a coupling, a drive or a lock names a freedom that the new type has not
        return False
    (after,) = rank_blocks(mech, view.poses, view.columns, view.tolerance, blocks=(ranked.block,))
    released = len(ranked.reduced.labels) - len(after.reduced.labels)
    return released == ranked.redundancy and after.redundancy == 0


def _obstacles(
    view: View, s: StressedBlock, kept: Mapping[str, tuple[str, ...]], allowed: Allowed
) -> Iterator[Obstacle]:
    """Yield the joints without whose duties a block could be cured."""
    if kept and next(_proof_of_block(view, s, (), allowed), None) is not None:
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


# Loops that lock: a closure that is stronger than the real joint takes all motion of its loop.

#: Pairs of a loop for which a closure is sought: of more it is a truss, or the search too long.
_LONGEST_LOOP = 40
#: What a closure may be instead, from strong to weak.
_WEAKER = {"fixed": ("revolute", "spherical"), "revolute": ("universal", "spherical")}


@one_line_repr
@dataclass(frozen=True)
class Freeing:
    """A weaker closure with which a locked loop moves, proved by its finite mobility.

    Parameters
    ----------
    dof : int
        Mobility of the mechanism after the change.
    """

    change: Change
    dof: int


def freeing_change(
    here: View,
    constraints: Sequence[str],
    finite: int,
    groups: Mapping[str, frozenset[str]],
    allowed: Allowed = any_type,
) -> Freeing | None:
    """Return the strongest closure with which a loop that has no mobility moves; None where it is a structure.

    Parameters
    ----------
    here : View
        At the pose that is judged.
    constraints : sequence of str
        Those of the loop.
    finite : int
        The mobility in fact before the change.
    groups : mapping of body name to frozenset of str
        The bodies that are rigid with each, as of :func:`~mbplugin.model.mechanism.kinematics.rigid_groups`.
    allowed : callable
        Whether a pair may become of a type.
    """
    if len(constraints) > _LONGEST_LOOP:
        return None
    alone = _alone(here, frozenset(constraints), groups)
    before = finite_mobility(alone, _mobility(alone)).finite
    for change in _weaker_closures(here, constraints) if before is not None else ():
        if not allowed(here.mech.pair_by_name[change.constraint], change.new):
            continue
        there = _changed(alone, [change])
        after = finite_mobility(there, _mobility(there)).finite
        if before is not None and after is not None and after > before:
            return Freeing(change, finite + after - before)
    return None


def _alone(here: View, constraints: frozenset[str], groups: Mapping[str, frozenset[str]]) -> View:
    """Return the view of some constraints with the bodies they join, and what is rigid with these."""
    mech = here.mech
    joined = {body for pair in mech.pairs if pair.name in constraints for body in pair.bodies}
    joined |= {pfaffian.body for pfaffian in mech.pfaffians if pfaffian.name in constraints}
    bodies = frozenset[str]({WORLD}).union(*(groups[body] for body in joined))
    rows = [i for i, body in enumerate(mech.bodies) if body.name in bodies]
    pairs = tuple(
        pair
        for pair in mech.pairs
        if pair.name in constraints or (pair.type == "fixed" and bodies.issuperset(pair.bodies))
    )
    names = {pair.name for pair in pairs}
    part = replace(
        mech,
        bodies=tuple(mech.bodies[i] for i in rows),
        pairs=pairs,
        couplings=tuple(c for c in mech.couplings if names.issuperset(term.joint for term in c.terms)),
        drivers=tuple(driver for driver in mech.drivers if driver.joint in names),
        locks=tuple(lock for lock in mech.locks if lock.joint in names),
        pfaffians=tuple(pfaffian for pfaffian in mech.pfaffians if pfaffian.name in constraints),
    )
    poses = here.poses
    q = coordinates_of(part, BodyPoses(poses.R_WL[rows], poses.p_WL[rows], poses.p_WC[rows]))
    return replace(here, mech=part, q=q)


def _weaker_closures(here: View, constraints: Sequence[str]) -> Iterator[Change]:
    """Yield weaker types of the closures of a loop, the strongest first, about the axes of its hinges."""
    mech, poses = here.mech, here.poses
    pairs = [mech.pair_by_name[name] for name in constraints if name in mech.pair_by_name]
    # what a coupling, a drive or a lock names keeps its freedoms
    named = {term.joint for coupling in mech.couplings for term in coupling.terms}
    named |= {driver.joint for driver in mech.drivers} | {lock.joint for lock in mech.locks}
    axes_W = _axes_of([p for p in pairs if p.type in ("revolute", "continuous")], mech, poses)
    for rank in (0, 1):
        for pair in pairs:
            options = _WEAKER.get(pair.type, ())
            if not pair.closure or pair.name in named or len(options) <= rank:
                continue
            new = options[rank]
            if new == "spherical":
                yield Change(pair.name, pair.type, new)
                continue
            for axis_W in axes_W:
                R_WP = (poses.of(mech.body_index[pair.body_a]) @ pair.X_AP).R
                x, y, z = (float(a) for a in np.round(R_WP.T @ axis_W, 12) + 0.0)
                if new == "universal" and abs(z) > 1 - 1e-6:
                    # its other axis is the hinge itself
                    continue
                yield Change(pair.name, pair.type, new, (x, y, z))


def _axes_of(hinges: Sequence[Pair], mech: Mechanism, poses: BodyPoses) -> list[Array]:
    """Return the directions (3,) of some hinges in world axes, each once."""
    found: list[Array] = []
    for pair in hinges:
        axis = (poses.of(mech.body_index[pair.body_b]) @ pair.X_BS).R[:, 2]
        if all(abs(axis @ other) < 1 - 1e-6 for other in found):
            found.append(axis)
    return found
