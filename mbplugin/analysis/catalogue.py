"""Catalogue of replacement pairs: the same frames, fewer constrained components."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from mbplugin.analysis.uniqueness import StressedBlock
from mbplugin.constraints.rank import RankedBlock, View, redundancy, sample_poses
from mbplugin.constraints.rows import Rows
from mbplugin.constraints.sparse_qr import Strip, strip_of
from mbplugin.model import AnyArray, Array, Mechanism, Pair

#: Cost of each replacement type: how hard it is to manufacture; cheaper ones are offered first.
COST = {
    "revolute": 1.0,
    "prismatic": 1.0,
    "cylindrical": 1.0,
    "spherical": 1.0,
    "universal": 1.0,
    "planar": 1.5,
    "point-on-line": 1.5,
    "point-on-plane": 3.0,
}
#: Extra cost of a joint between two links that are now rigidly connected (``fixed``).
_GLUED = 2.0
_AXES = {axis: np.eye(3)[k] for k, axis in enumerate("xyz")}
#: A set of released rows is accepted if the smallest singular value of these rows of Z exceeds this fraction
#: of the largest force or moment; below it, the released rows hardly carry the self-stress.
_WELL_CONDITIONED = 1e-3
#: Entries of an eliminated row up to this size are rounding.
_NOTHING = 1e-9
#: A pivot may be as small as this fraction of the largest entry, if it keeps the rows sparse.
_PIVOT = 0.1
#: Predicate: may this pair be changed to this type?
Allowed = Callable[[Pair, str], bool]
#: The search ends after this many consecutive samples without change: a random pose has the generic rank with
#: probability one.
_ENOUGH = 3
#: At sampled poses singular values must exceed this multiple of the tolerance to prove a higher rank.
CLEAR = 10.0


@dataclass(frozen=True, eq=False)
class Replacement:
    """A weaker type for a pair.

    Parameters
    ----------
    axis : (3,) array or None
        New joint axis (for a universal joint the second cross axis) in axes of P.
    released : (c, k) array
        Combinations of the pair's k rows that the new type no longer constrains.
    """

    pair: str
    type: str
    axis: Array | None
    released: Array
    cost: float


def replacements(pair: Pair, turn: float) -> Iterator[Replacement]:
    """Yield the catalogue types that constrain strictly less than a pair.

    Parameters
    ----------
    turn : float
        Present angle of the pair about its z, rad; a universal joint's second axis rotates with it.
    """
    if pair.kind.size:
        return
    for weaker in _weaker(pair.type, pair.kind.constrained, turn):
        yield Replacement(pair.name, weaker.type, weaker.axis, weaker.released, weaker.cost)


class _Weaker(NamedTuple):
    """A weaker type: see :class:`Replacement`."""

    type: str
    axis: Array | None
    released: Array
    cost: float


@lru_cache(maxsize=1024)
def _weaker(type: str, rows: tuple[str, ...], turn: float) -> tuple[_Weaker, ...]:
    """Return the types of the catalogue that constrain strictly less than a type with these rows."""
    found = []
    glued = _GLUED if type == "fixed" else 0.0
    for type_, axis, kept in _variants(type):
        if kept < set(rows):
            released = np.array([np.eye(len(rows))[rows.index(c)] for c in rows if c not in kept])
            found.append(_Weaker(type_, axis, released, COST[type_] + glued))
    if {"tx", "ty", "tz", "rx", "ry"} <= set(rows):
        for axis in (_AXES["x"], _AXES["y"]):
            second = _second_axis(rows, axis, turn)
            found.append(_Weaker("universal", axis, second, COST["universal"] + glued))
    return tuple(found)


def _variants(current: str) -> Iterator[tuple[str, Array | None, set[str]]]:
    """Yield (type, axis, constrained components in the current P) in every coordinate direction."""
    everything = {f"{kind}{axis}" for kind in "tr" for axis in "xyz"}
    points = {"tx", "ty", "tz"}
    yield "spherical", None, points
    if current == "universal":
        # its row lies along the cross product of the axes, so no other rotation can be kept
        return
    for k, direction in _AXES.items():
        i, j = (a for a in "xyz" if a != k)
        axis = None if k == "z" else direction
        yield "revolute", axis, everything - {f"r{k}"}
        yield "prismatic", axis, everything - {f"t{k}"}
        yield "cylindrical", axis, everything - {f"t{k}", f"r{k}"}
        yield "planar", axis, {f"t{k}", f"r{i}", f"r{j}"}
        yield "point-on-line", axis, points - {f"t{k}"}
        yield "point-on-plane", axis, {f"t{k}"}


def _second_axis(rows: tuple[str, ...], axis: Array, turn: float) -> Array:
    """Return the rotations (k, m) that a universal joint about z and ``axis`` (3,) frees in addition.

    One column for each of the m rows of the present pair.
    """
    now = np.array(
        [np.cos(turn) * axis[0] - np.sin(turn) * axis[1], np.sin(turn) * axis[0] + np.cos(turn) * axis[1]]
    )
    released: Array = np.zeros((1, len(rows)))
    released[0, rows.index("rx")], released[0, rows.index("ry")] = now
    if "rz" in rows:
        about_z = np.eye(len(rows))[[rows.index("rz")]]
        released = np.vstack((released, about_z))
    return released


# Self-stresses of a block that weaker pairs release, and sets of weaker pairs that release all of them.


@dataclass(frozen=True, eq=False)
class Option:
    """A replacement with the rows of the self-stress basis that it releases.

    Parameters
    ----------
    loads : Loads
        The self-stresses in the rows of its pair.
    conditioning : float
        The smallest singular value of the released rows in an orthonormal basis.
    """

    replacement: Replacement
    loads: Loads
    conditioning: float

    @property
    def count(self) -> int:
        """The number of released rows, c."""
        return len(self.replacement.released)

    @property
    def columns(self) -> AnyArray:
        """The basis vectors that load its pair, (n,)."""
        return self.loads.columns

    @property
    def rows(self) -> Array:
        """The released rows of these vectors, (c, n); few options are tried, so they are not computed before."""
        return np.asarray(self.replacement.released @ self.loads.values)

    @property
    def order(self) -> tuple[int, float, float]:
        """Sort key: more released rows first, then lower cost, then better conditioning.

        The conditioning is rounded, so that equally good options stay in file order on every machine.
        """
        return -self.count, self.replacement.cost, -round(self.conditioning, 6)


def options_of(
    mech: Mechanism,
    s: StressedBlock,
    turns: Mapping[str, float],
    kept: Container[str],
    allowed: Allowed,
) -> Iterator[Option]:
    """Yield the well-conditioned replacements of the pairs of a block, in the order of the pairs.

    Parameters
    ----------
    turns : mapping of str to float
        Present angles of the pairs that rotate about their z axis, rad.
    kept : container of str
        Pairs that must not change.
    allowed : callable
        Predicate: may this pair be changed to this type?
    """
    measured = mech.measured_pairs
    alike = defaultdict[tuple[Any, ...], list[tuple[int, Pair, Loads]]](list)
    for place, loads in enumerate(loads_of(s)):
        pair = mech.pair_by_name.get(loads.rows.constraint)
        # a coupling, driver or lock relies on the present freedoms of its pair
        if pair is None or pair.name in measured or pair.name in kept:
            continue
        # in a plane some rows vanish, and with them those that a catalogue pair would release
        if loads.rows.components != pair.kind.constrained or pair.kind.size:
            continue
        turn = turns.get(pair.name, 0.0)
        alike[pair.type, pair.kind.constrained, turn, loads.orthonormal.shape].append((place, pair, loads))
    found: list[tuple[int, int, Option]] = []
    # pairs of one type are judged together
    for (kind, constrained, turn, _), members in alike.items():
        stack = np.array([loads.orthonormal for *_, loads in members])
        for number, weaker in enumerate(_weaker(kind, constrained, turn)):
            if len(weaker.released) > s.ranked.redundancy:
                continue
            smallest = _smallest_of_each(weaker.released @ stack)
            for (place, pair, loads), value in zip(members, smallest.tolist(), strict=True):
                if value > _WELL_CONDITIONED and allowed(pair, weaker.type):
                    option = Option(Replacement(pair.name, *weaker), loads, value)
                    found.append((place, number, option))
    yield from (option for *_, option in sorted(found, key=lambda item: item[:2]))


def completed(s: StressedBlock, start: Option, options: Sequence[Option]) -> tuple[Replacement, ...] | None:
    """Return a greedy set of replacements that releases all self-stresses, or None.

    Options are added in their order as long as the released rows stay independent.
    """
    p, chosen, changed = s.ranked.redundancy, [start.replacement], {start.replacement.pair}
    released = _Orthonormal(p) if s.complete else _Echelon()
    released.take(start)
    for option in options:
        if released.count == p:
            break
        fits = released.count + option.count <= p
        if fits and option.replacement.pair not in changed and released.take(option):
            chosen.append(option.replacement)
            changed.add(option.replacement.pair)
    return tuple(chosen) if released.count == p else None


class _Orthonormal:
    """Span of the released rows, for a dense orthonormal basis of self-stresses."""

    def __init__(self, p: int) -> None:
        self._span = np.zeros((p, 0))

    @property
    def count(self) -> int:
        """Number of released rows."""
        return self._span.shape[1]

    def take(self, option: Option) -> bool:
        """Release the rows of an option unless they hardly differ from those that are."""
        new = option.rows - (option.rows @ self._span) @ self._span.T
        if _smallest(new) <= _WELL_CONDITIONED:
            return False
        self._span = np.hstack((self._span, np.linalg.qr(new.T)[0]))
        return True


class _Echelon:
    """Released rows of a sparse basis in reduced row echelon form: no row has an entry in another's pivot column."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[int, float]] = {}
        self._pivots_by_column: defaultdict[int, set[int]] = defaultdict(set)

    @property
    def count(self) -> int:
        """Number of released rows."""
        return len(self._rows)

    def take(self, option: Option) -> bool:
        """Release the rows of an option unless they hardly differ from those that are."""
        left = self._reduced(option)
        columns, rows = list(left), [list(row) for row in zip(*left.values(), strict=True)]
        if len(columns) < option.count or _smallest(np.array(rows)) <= _WELL_CONDITIONED:
            return False
        pivots = self._eliminate(columns, rows)
        for j, row in zip(pivots, rows, strict=True):
            others = enumerate(row)
            self._put(columns[j], {columns[k]: own for k, own in others if abs(own) > _NOTHING and k != j})
        return True

    # a pair has few rows, in few columns: for lists of numbers this takes half the time that it takes for arrays

    def _reduced(self, option: Option) -> dict[int, Sequence[float]]:
        """Return the columns (c,) of the option's rows after elimination of the existing pivot columns."""
        left: dict[int, Sequence[float]] = {}
        for column, own in zip(option.columns.tolist(), option.rows.T.tolist(), strict=True):
            if (row := self._rows.get(column)) is None:
                before = left.get(column)
                left[column] = own if before is None else [a + b for a, b in zip(before, own, strict=True)]
                continue
            for other, factor in row.items():
                before = left.get(other)
                change = [factor * one for one in own]
                left[other] = (
                    [-one for one in change]
                    if before is None
                    else [a - b for a, b in zip(before, change, strict=True)]
                )
        return {column: own for column, own in left.items() if max(map(abs, own)) > _NOTHING}

    def _eliminate(self, columns: Sequence[int], rows: list[list[float]]) -> list[int]:
        """Reduce ``rows`` (c, n) in place to the identity in the pivot columns, and return the pivot indices.

        Of the pivots that are large enough, those in columns with few entries are preferred.
        """
        pivots: list[int] = []
        used = [len(self._pivots_by_column.get(column, ())) for column in columns]
        for k in range(len(rows)):
            least = _PIVOT * max(abs(one) for row in rows[k:] for one in row)
            _, i, j = min(
                (used[j], i, j)
                for i in range(k, len(rows))
                for j, one in enumerate(rows[i])
                if abs(one) >= least
            )
            rows[k], rows[i] = rows[i], rows[k]
            pivot = rows[k][j]
            own = rows[k] = [one / pivot for one in rows[k]]
            for other, row in enumerate(rows):
                if other != k and (factor := row[j]):
                    rows[other] = [a - factor * b for a, b in zip(row, own, strict=True)]
            pivots.append(j)
        return pivots

    def _put(self, pivot: int, row: dict[int, float]) -> None:
        """Store a row, and eliminate its pivot from the other rows."""
        for of_other in self._pivots_by_column.pop(pivot, ()):
            other = self._rows[of_other]
            factor = other.pop(pivot)
            for column, own in row.items():
                other[column] = other.get(column, 0.0) - factor * own
                self._pivots_by_column[column].add(of_other)
        self._rows[pivot] = row
        for column in row:
            self._pivots_by_column[column].add(pivot)


def _smallest(rows: Array) -> float:
    """Return the smallest singular value of rows (k, n)."""
    if len(rows) == 1:
        return sqrt(rows[0] @ rows[0])
    return float(np.linalg.svd(rows, compute_uv=False)[-1])


def _smallest_of_each(stack: Array) -> Array:
    """Return the smallest singular value of each of the matrices stack (n, k, m), shape (n,)."""
    if stack.shape[1] == 1:
        return np.asarray(np.linalg.norm(stack[:, 0], axis=-1))
    return np.asarray(np.linalg.svd(stack, compute_uv=False)[:, -1])


# Loads that the self-stresses of a block put on each constraint, in units of the largest force and moment.


@dataclass(frozen=True, eq=False)
class Loads:
    """The self-stresses in the k rows of one constraint.

    Parameters
    ----------
    columns : (n,) int array
        The basis vectors that load the constraint.
    values : (k, n) array
        Their entries.
    orthonormal : (k, r) array
        The rows in an orthonormal basis, up to a rotation of the basis.
    """

    rows: Rows
    columns: AnyArray
    values: Array
    orthonormal: Array


def loads_of(s: StressedBlock) -> Iterator[Loads]:
    """Yield the loads of all constraints of a block.

    Moments grow with the size of a mechanism, forces do not; neither may hide the other. So forces and moments
    are scaled separately: in an orthonormal basis the longest force row and the longest moment row have length one.
    """
    rows = s.ranked.reduced.rows
    found = _of_basis(s) if s.complete else _of_local_basis(s)
    translation = np.concatenate([one.translation for one in rows])
    length = np.concatenate([np.linalg.norm(orthonormal, axis=1) for _, orthonormal in found])
    unit = np.ones(len(length))
    for kind in (translation, ~translation):
        unit[kind] = max(float(length[kind].max(initial=0.0)), s.ranked.zero)
    for one, (strip, orthonormal) in zip(rows, found, strict=True):
        own = unit[s.slices[one.constraint], None]
        yield Loads(one, strip.columns, strip.values / own, orthonormal / own)


def _of_basis(s: StressedBlock) -> list[tuple[Strip, Array]]:
    """Return the rows (k, p) of each constraint in an orthonormal basis, as a strip and as an array."""
    every = np.arange(s.Z.shape[1])
    parts = [s.Z[s.slices[one.constraint]] for one in s.ranked.reduced.rows]
    return [(Strip(every, part), part) for part in parts]


def _of_local_basis(s: StressedBlock) -> list[tuple[Strip, Array]]:
    """Return the rows of each constraint in the sparse local basis, and (k, k) in an orthonormal one."""
    places = [s.slices[one.constraint] for one in s.ranked.reduced.rows]
    # rotate the basis so that the rows become triangular: (k, k) holds the same information
    wide = [strip_of(s.ranked.orthonormal_stresses, at).values for at in places]
    tall = [_padded(one).T for one in wide]
    turned = [np.zeros((0, 0))] * len(tall)
    by_shape = defaultdict[tuple[int, ...], list[int]](list)
    for n, matrix in enumerate(tall):
        by_shape[matrix.shape].append(n)
    for group in by_shape.values():
        factors = np.linalg.qr(np.array([tall[n] for n in group]), mode="r")
        for n, factor in zip(group, np.asarray(factors), strict=True):
            turned[n] = factor.T
    return [(strip_of(s.ranked.local_stresses, at), own) for at, own in zip(places, turned, strict=True)]


def _padded(rows: Array) -> Array:
    """Return rows (k, n) with columns of zeros, so that there are at least k."""
    lacking = rows.shape[0] - rows.shape[1]
    return np.pad(rows, ((0, 0), (0, lacking))) if lacking > 0 else rows


# The generic pose: redundancy at all poses is structural; redundancy only at this pose means a singular pose.


def generic_pose(
    view: View, blocks: Sequence[RankedBlock], samples: int, seed: int
) -> tuple[int, Array, int]:
    """Return the redundancy at the generic rank, the pose of least redundancy, and the number of samples taken.

    The generic rank of a block is the largest over the sampled poses.
    """
    redundant = [b for b in blocks if b.redundancy]
    fewest = [b.redundancy for b in redundant]
    best_q, best = view.q, sum(fewest)
    again = [b.block for b in redundant]
    strict = replace(view, tolerance=CLEAR * view.tolerance)
    taken = nothing_new = 0
    for q in sample_poses(view.mech, view.q, samples, seed=seed):
        there = strict.at(q).ranked(again)
        now = [min(f, b.redundancy) for f, b in zip(fewest, there, strict=True)]
        taken, nothing_new = taken + 1, nothing_new + 1 if now == fewest else 0
        fewest = now
        if redundancy(there) < best:
            best_q, best = q, redundancy(there)
        if nothing_new == _ENOUGH:
            break
    return sum(fewest), best_q, taken
