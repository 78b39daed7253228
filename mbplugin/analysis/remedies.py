"""What to change: replace few pairs by weaker ones so that p = 0 and the mobility stays.

Releasing p rows removes all redundancy exactly when these rows of Z form a nonsingular block
(THEORY §4). The proof by re-analysis is the caller's.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.analysis.catalogue import Replacement, replacements
from mbplugin.analysis.uniqueness import StressedBlock
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.mechanism.pair import Pair
from mbplugin.spatial import Array

#: A released set is accepted when the smallest singular value of its block of Z (rows of length one
#: at most) exceeds this; below, the released rows hardly carry the self-stress.
_WELL_CONDITIONED = 1e-3
_STARTS, _OFFERED = 60, 3


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


@dataclass(frozen=True)
class Remedy:
    """Changes after which nothing is redundant and the mobility is as before (proved by analysis)."""

    changes: tuple[Change, ...]
    degree_of_redundancy: int
    dof: int

    @property
    def toml(self) -> str:
        """The lines to paste into a scene file."""
        return "\n\n".join(change.toml() for change in self.changes)


def candidate_remedies(mech: Mechanism, stressed: Sequence[StressedBlock]) -> Iterator[tuple[Change, ...]]:
    """Yield sets of changes that release every redundancy, the simplest first."""
    per_block = [list(_of_block(mech, s)) for s in stressed if s.Z.shape[1]]
    if not per_block or not all(per_block):
        return
    for k in range(min(_OFFERED, max(len(options) for options in per_block))):
        chosen = (options[min(k, len(options) - 1)] for options in per_block)
        yield tuple(itertools.chain.from_iterable(chosen))


def apply_changes(mech: Mechanism, changes: Sequence[Change]) -> Mechanism:
    """Return the mechanism with some pairs retyped."""
    by_name = {change.constraint: change for change in changes}

    def retyped(pair: Pair) -> Pair:
        change = by_name.get(pair.name)
        if change is None:
            return pair
        return pair.retyped(change.new, None if change.axis is None else np.array(change.axis))

    return replace(mech, pairs=tuple(retyped(pair) for pair in mech.pairs))


def _of_block(mech: Mechanism, s: StressedBlock) -> Iterator[tuple[Change, ...]]:
    """Yield up to three ways to release one block: fewest pairs first, then the most ordinary ones."""
    row = {label: k for k, label in enumerate(s.ranked.reduced.labels)}
    options = []
    for name in s.ranked.block.constraints:
        if name in mech.pair_by_name:
            for option in replacements(mech.pair_by_name[name]):
                rows = [row[(name, c)] for c in option.released if (name, c) in row]
                if rows and len(rows) <= s.Z.shape[1] and _smallest(s.Z[rows]) > _WELL_CONDITIONED:
                    options.append((option, rows))
    options.sort(key=lambda item: (-len(item[1]), item[0].cost, -_smallest(s.Z[item[1]])))
    found = [way for start in options[:_STARTS] if (way := _complete(s.Z, start, options))]
    found.sort(key=lambda way: (len(way), sum(option.cost for option in way)))
    ordinary = [way for way in found if all(option.cost <= 1.0 for option in way)]
    offered: dict[tuple[tuple[str, str], ...], tuple[Replacement, ...]] = {}
    for way in [*found[:1], *ordinary[:1], *found[1:]]:
        offered.setdefault(tuple(sorted((o.pair, o.type) for o in way)), way)
    for way in itertools.islice(offered.values(), _OFFERED):
        yield tuple(_change(mech, option) for option in way)


def _complete(
    Z: Array,
    start: tuple[Replacement, list[int]],
    options: Sequence[tuple[Replacement, list[int]]],
) -> tuple[Replacement, ...] | None:
    """Add the largest options that keep the released rows independent until p rows are released."""
    chosen, rows = [start[0]], list(start[1])
    for option, more in options:
        if len(rows) == Z.shape[1]:
            break
        fits = len(rows) + len(more) <= Z.shape[1] and option.pair not in {o.pair for o in chosen}
        if fits and _smallest(Z[rows + more]) > _WELL_CONDITIONED:
            chosen.append(option)
            rows += more
    return tuple(chosen) if len(rows) == Z.shape[1] else None


def _smallest(rows: Array) -> float:
    return float(np.linalg.svd(rows, compute_uv=False)[-1])


def _change(mech: Mechanism, option: Replacement) -> Change:
    axis = None
    if option.axis is not None:
        axis = (float(option.axis[0]), float(option.axis[1]), float(option.axis[2]))
    return Change(option.pair, mech.pair_by_name[option.pair].type, option.type, axis)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
