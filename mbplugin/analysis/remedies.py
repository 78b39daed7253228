"""Remedies: replace few pairs by less restrictive ones so that p = 0 with the same mobility.

Releasing p rows removes all redundancy exactly when these rows of Z form a nonsingular block
(docs/theory.md). Each remedy is proved by a second analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice, tee

import numpy as np

from mbplugin.analysis.catalogue import Allowed, Replacement, completed, options_of, replacements
from mbplugin.analysis.mobility import Mobility, finite_mobility
from mbplugin.analysis.uniqueness import StressedBlock, stress
from mbplugin.constraints.rank import RankedBlock, View
from mbplugin.constraints.rows import joint_frames
from mbplugin.errors import BrokenModel, UnknownName
from mbplugin.files import toml_text
from mbplugin.model import WORLD, Array, BodyPoses, Lock, Mechanism, Pair, coordinates_of, relative_pose
from mbplugin.phrases import counted, dataclass, listed, one_line_repr

#: Number of initial options tried, times p: larger blocks get fewer.
_EFFORT = 360
#: Maximum number of remedies offered.
OFFERED = 3
#: Maximum number of sets of changes tried for one block.
_TRIED = 30
#: With more blocks than this, the changes of all blocks are first proved together, without a proof for each block.
_MANY = 30
_IN_SPACE = 6
#: Blocks as they are after changes, by the changes.
_Proofs = dict[tuple["Change", ...], RankedBlock]


def any_type(pair: Pair, type: str) -> bool:
    """Allow every type of the catalogue."""
    return True


@dataclass(frozen=True)
class Change:
    """One pair to retype: its old and new type, and the new axis in axes of P if it changes."""

    constraint: str
    old: str
    new: str
    axis: tuple[float, float, float] | None = None

    def toml(self) -> str:
        """Return the lines to paste into a scene file."""
        lines = ["[[pair]]", f"name = {toml_text(self.constraint)}", f'type = "{self.new}"']
        if self.axis is not None:
            lines.append(f"axis = [{', '.join(f'{a:g}' for a in self.axis)}]")
        return "\n".join(lines)


@one_line_repr
@dataclass(frozen=True)
class Remedy:
    """Changes that reduce the redundancy and keep the mobility (proved by analysis).

    Only blocks that no change of passive pairs can cure stay redundant.

    Parameters
    ----------
    mobility : int
        Mobility after the changes. ``dof`` is another name of it.
    restores : tuple of str
        Joints with a role that the loops lock and that can move after the changes.
    """

    changes: tuple[Change, ...]
    degree_of_redundancy: int
    mobility: int
    restores: tuple[str, ...] = ()

    @property
    def dof(self) -> int:
        """The mobility, by its other name."""
        return self.mobility

    @property
    def toml(self) -> str:
        """The lines to paste into a scene file."""
        return "\n\n".join(change.toml() for change in self.changes)

    @property
    def proof(self) -> str:
        """Results of the analysis after the changes, in words."""
        freed = f"; {listed(self.restores, 4)} can move again" if self.restores else ""
        return (
            f"{counted(self.degree_of_redundancy, 'redundant constraint')}, mobility {self.mobility}{freed}"
        )


@dataclass(frozen=True)
class Obstacle:
    """A pair that could be made weaker if it had no role; one phrase for each role."""

    constraint: str
    duties: tuple[str, ...]


def at_singular_pose(singular: bool) -> str:
    """Return the qualification of a remedy at a singular pose: no change of types removes the redundancy there."""
    return (
        ", at the poses around this singular one; at it some stays, so start from another pose"
        if singular
        else ""
    )


def no_remedy(obstacles: Sequence[Obstacle]) -> str:
    """Return the reason why there is no remedy, without a full stop."""
    names = "; ".join(f"{o.constraint!r} has {' and '.join(o.duties)}" for o in obstacles)
    return f"no change of passive joints and closures alone removes the redundancy: {names}"


def candidate_changes(
    mech: Mechanism, poses: BodyPoses, s: StressedBlock, kept: Container[str], allowed: Allowed = any_type
) -> Iterator[tuple[Change, ...]]:
    """Yield sets of changes that may release one block: fewest pairs first, then fewest tree pairs, then cheapest.

    Parameters
    ----------
    kept : container of str
        Pairs that must not change.
    allowed : callable
        Predicate: may this pair be changed to this type?
    """
    yield from _of_block(mech, s, _turns(mech, poses, s), kept, allowed)


def _turns(mech: Mechanism, poses: BodyPoses, s: StressedBlock) -> dict[str, float]:
    """Return the present angles of the pairs of a block that rotate about their z axis, rad."""
    own = (mech.pair_by_name.get(name) for name in s.ranked.block.constraints)
    pairs = [pair for pair in own if pair is not None and pair.kind.free[-1:] == ("rz",)]
    if not pairs:
        return {}
    frames = joint_frames(mech, pairs, poses, None)
    R_PS = np.swapaxes(frames.R_WP, 1, 2) @ frames.R_WS
    turns = np.arctan2(R_PS[:, 1, 0], R_PS[:, 0, 0]).tolist()
    return {pair.name: turn for pair, turn in zip(pairs, turns, strict=True)}


def single_closures(
    mech: Mechanism, poses: BodyPoses, s: StressedBlock, kept: Container[str], allowed: Allowed = any_type
) -> Iterator[tuple[Change, ...]]:
    """Yield every weaker type of every closure of a block, the cheapest first.

    In a plane some rows vanish, so the released rows cannot be read off the catalogue; the caller has to try.
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
    """Return those of the named pairs of a block that could release self-stresses with a weaker type."""
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
    """Yield sets of changes that release one block: three that differ in type if possible, then all others."""
    options = sorted(options_of(mech, s, turns, kept, allowed), key=lambda option: option.order)
    starts = options[: max(OFFERED, _EFFORT // s.ranked.redundancy)]
    different: dict[frozenset[tuple[str, str, str]], tuple[Replacement, ...]] = {}
    for start in starts:
        if way := completed(s, start, options):
            # two starts may give the same set in another order
            different.setdefault(frozenset((o.pair, o.type, str(o.axis)) for o in way), way)
    found = sorted(
        different.values(),
        # changes of the tree are better avoided
        key=lambda way: (
            len(way),
            sum(not mech.pair_by_name[option.pair].closure for option in way),
            sum(option.cost for option in way),
        ),
    )
    first = _varied(found)
    for way in (*first, *(way for way in found if all(way is not other for other in first))):
        yield tuple(_change(mech, option) for option in way)


def _varied(ways: Sequence[tuple[Replacement, ...]]) -> list[tuple[Replacement, ...]]:
    """Return three sets of changes that differ in types if possible, else in the pairs they change."""
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


# Remedies proved by a second analysis: no redundancy, freedoms of motion and drives unchanged.


@dataclass(frozen=True)
class Cures:
    """Remedies, and the obstacles where there is none."""

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

    The proof requires that after the changes no row is redundant at the generic pose; that exactly as many rows
    were released as were redundant, so that the mobility is unchanged; that the mobility with all joints of
    ``kept`` fixed is also unchanged; and that the given pose has not become singular.

    After such a change all freedoms to first order are freedoms of motion. So a block that has others before,
    such as a strut, would turn into a mechanism; it is left unchanged, unless these freedoms belong to joints
    with a role: such joints are locked by the loop, and the remedy restores them.

    Parameters
    ----------
    view, here : View
        At the generic pose and at the given one.
    kept : mapping of pair name to phrases
        Roles of the joints that are not passive (driven, braked, limited or locked); these are not changed.
    allowed : callable
        Predicate: may this pair be changed to this type? A format or a workshop may offer few types.
    mobility : Mobility, optional
        At the given pose, if already computed.
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
    """Return the blocks to leave unchanged, and the joints of ``kept`` that loops lock.

    The former have freedoms that are only infinitesimal, none of them in a joint of ``kept``.
    """
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
    """Return the proved remedies of some blocks; the blocks ``apart`` are left unchanged."""
    proofs: _Proofs = {}
    cured = partial(_cured, view, here, kept, stressed, allowed=allowed, apart=apart, proofs=proofs)
    known = dict[StressedBlock, Iterator[tuple[Change, ...]]]()

    def candidates(s: StressedBlock) -> Iterator[tuple[Change, ...]]:
        # found once, although they are tried without a proof for the block first and then with one
        known[s], found = tee(known.get(s) or _candidates(view, s, kept, allowed))
        return found

    if len(stressed) > _MANY and (cures := cured(candidates)).remedies:
        return cures
    if len(stressed) == 1:
        # with a single block, a proof for the block alone would repeat that for the mechanism
        cures = cured(candidates)
        if cures.remedies and len(cures.remedies) == len(list(islice(candidates(stressed[0]), OFFERED))):
            return cures
    return cured(lambda s: _proved_for_block(view, s, candidates(s), proofs))


def _cured(
    view: View,
    here: View,
    kept: Mapping[str, tuple[str, ...]],
    stressed: Sequence[StressedBlock],
    ways_of: Callable[[StressedBlock], Iterator[tuple[Change, ...]]],
    allowed: Allowed,
    apart: Sequence[RankedBlock],
    proofs: _Proofs,
) -> Cures:
    """Return the remedies proved from the first candidates of all blocks, and the obstacles of blocks without any."""
    ways: list[list[tuple[Change, ...]]] = []
    left = list(apart)
    obstacles: list[Obstacle] = []
    for s in stressed:
        if own := list(islice(ways_of(s), OFFERED)):
            ways.append(own)
        else:
            left.append(s.ranked)
            obstacles += _obstacles(view, s, kept, allowed)
    redundancy = sum(b.redundancy for b in left)
    remedies = tuple(_proved(view, here, ways, redundancy, kept, proofs)) if ways else ()
    return Cures(remedies, tuple(obstacles))


def _candidates(
    view: View, s: StressedBlock, kept: Container[str], allowed: Allowed
) -> Iterator[tuple[Change, ...]]:
    """Yield the changes that may cure a block."""
    yield from candidate_changes(view.mech, view.poses, s, kept, allowed)
    if len(view.columns) < _IN_SPACE:
        yield from single_closures(view.mech, view.poses, s, kept, allowed)


def _proved_for_block(
    view: View, s: StressedBlock, candidates: Iterator[tuple[Change, ...]], proofs: _Proofs
) -> Iterator[tuple[Change, ...]]:
    """Yield the changes that cure a block considered alone; ``proofs`` takes the changed blocks."""
    for changes in islice(candidates, _TRIED):
        if _cures(view, s.ranked, changes, proofs):
            yield changes


def _cures(view: View, ranked: RankedBlock, changes: tuple[Change, ...], proofs: _Proofs) -> bool:
    """Return True if changes remove the redundancy of a block and keep its mobility."""
    try:
        mech = apply_changes(view.mech, changes)
    except (UnknownName, BrokenModel):
        # a coupling, a drive or a lock names a freedom that the new type does not have
        return False
    after = view.ranked_in(mech, ranked.block)
    released = len(ranked.reduced.labels) - len(after.reduced.labels)
    proofs[changes] = after
    return released == ranked.redundancy and after.redundancy == 0


def _obstacles(
    view: View, s: StressedBlock, kept: Mapping[str, tuple[str, ...]], allowed: Allowed
) -> Iterator[Obstacle]:
    """Yield the joints whose roles alone prevent that a block is cured."""
    if kept and next(_proved_for_block(view, s, _candidates(view, s, (), allowed), {}), None) is not None:
        for name in changeable(view.mech, view.poses, s, kept, allowed):
            yield Obstacle(name, kept[name])


def _proved(
    view: View,
    here: View,
    ways: Sequence[Sequence[tuple[Change, ...]]],
    left: int,
    kept: Mapping[str, tuple[str, ...]],
    proofs: _Proofs,
) -> Iterator[Remedy]:
    """Yield the combined changes of all blocks that pass the proof."""
    rows, mobility = _rows(view), _held_mobility(view, kept)
    bound = here.redundancy - view.redundancy + left
    for k in range(min(OFFERED, max(len(own) for own in ways))):
        chosen = [own[min(k, len(own) - 1)] for own in ways]
        changes = tuple(chain.from_iterable(chosen))
        after = _ranked_after(view, changes, [proofs[one] for one in chosen if one in proofs])
        released = rows - _rows(after)
        # the rows released are as many as were redundant, so the rank and the mobility are unchanged
        if after.redundancy != left or released != view.redundancy - left:
            continue
        there = after if here is view else _ranked_after(here, changes)
        if _held_mobility(after, kept) == mobility and there.redundancy <= bound:
            columns = len(view.columns) * len(view.mech.bodies)
            yield Remedy(changes, after.redundancy, columns - rows + released + after.redundancy)


def _changed(view: View, changes: Sequence[Change]) -> View:
    """Return the view of the changed mechanism at the same body poses, with new pair coordinates."""
    mech = apply_changes(view.mech, changes)
    return view.retyped(mech, coordinates_of(mech, view.poses))


def _ranked_after(view: View, changes: Sequence[Change], known: Sequence[RankedBlock] = ()) -> View:
    """Return :func:`_changed` for ranks alone, for which only couplings and drivers need the coordinates."""
    mech = apply_changes(view.mech, changes)
    needed = mech.couplings or mech.drivers
    q = coordinates_of(mech, view.poses) if needed else np.zeros(len(mech.q_names))
    return view.retyped(mech, q, known)


def _held_mobility(view: View, kept: Mapping[str, tuple[str, ...]]) -> int:
    """Return the mobility with all joints of ``kept`` locked: the freedoms that no drive or brake determines."""
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


# Locked loops: a closure stronger than the real joint removes all motion of its loop.

#: Largest number of constraints of a loop for which a weaker closure is sought: a larger one is a truss, or the
#: search takes too long.
_LONGEST_LOOP = 40
#: Types that may replace a closure, from strong to weak.
_WEAKER = {"fixed": ("revolute", "spherical"), "revolute": ("universal", "spherical")}


@one_line_repr
@dataclass(frozen=True)
class Freeing:
    """A weaker closure that lets a locked loop move, proved by its finite mobility.

    Parameters
    ----------
    mobility : int
        Mobility of the mechanism after the change.
    """

    change: Change
    mobility: int


def freeing_change(
    here: View,
    constraints: Sequence[str],
    finite: int,
    groups: Mapping[str, frozenset[str]],
    allowed: Allowed = any_type,
) -> Freeing | None:
    """Return the strongest of the weaker closures that let a locked loop move; None if the loop is a structure.

    Parameters
    ----------
    here : View
        At the pose examined.
    constraints : sequence of str
        Constraints of the loop.
    finite : int
        Finite mobility of the mechanism before the change.
    groups : mapping of body name to frozenset of str
        The bodies rigidly connected to each, from :func:`~mbplugin.model.mechanism.kinematics.rigid_groups`.
    allowed : callable
        Predicate: may this pair be changed to this type?
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
    """Return a view of only some constraints, the bodies they join, and the bodies rigidly connected to these."""
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
    """Yield weaker types of the closures of a loop, the strongest first, with axes taken from its hinges."""
    mech, poses = here.mech, here.poses
    pairs = [mech.pair_by_name[name] for name in constraints if name in mech.pair_by_name]
    # a pair named by a coupling, a drive or a lock must keep its freedoms
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
                    # the first axis of the universal joint is already the hinge
                    continue
                yield Change(pair.name, pair.type, new, (x, y, z))


def _axes_of(hinges: Sequence[Pair], mech: Mechanism, poses: BodyPoses) -> list[Array]:
    """Return the distinct axis directions (3,) of some hinges, world axes."""
    found: list[Array] = []
    for pair in hinges:
        axis = (poses.of(mech.body_index[pair.body_b]) @ pair.X_BS).R[:, 2]
        if all(abs(axis @ other) < 1 - 1e-6 for other in found):
            found.append(axis)
    return found
