"""Remedies: replace few pairs by less restrictive ones so that p = 0 with the same mobility.

Releasing p rows removes all redundancy exactly when these rows of Z form a nonsingular block
(docs/theory.md). The proof by re-analysis is the caller's.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.analysis.catalogue import Replacement, replacements
from mbplugin.analysis.releases import Allowed, completed, options_of
from mbplugin.analysis.uniqueness import StressedBlock
from mbplugin.model.mechanism.kinematics import BodyPoses, relative_pose
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.phrases import counted, listed, one_line_repr

#: First choices that are tried, times p: larger blocks get fewer.
_EFFORT = 360
#: Ways that are offered.
OFFERED = 3


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
