"""What weaker pairs release of the self-stresses of a block, and which of them together release all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.catalogue import Replacement, replacements
from mbplugin.analysis.loads import loads_of
from mbplugin.analysis.uniqueness import StressedBlock
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array

#: A released set is accepted when the smallest singular value of its rows of Z exceeds this fraction
#: of the largest force or moment; below, the released rows hardly carry the self-stress.
_WELL_CONDITIONED = 1e-3
#: What is left of a released row and smaller is rounding.
_NOTHING = 1e-9
#: A pivot may be smaller than the largest one by so much where it keeps rows short.
_PIVOT = 0.1

#: Whether a pair may become of a type.
Allowed = Callable[[Pair, str], bool]


@dataclass(frozen=True, eq=False)
class Option:
    """A replacement and what it releases of the self-stresses.

    Parameters
    ----------
    columns : (n,) int array
        Those of the basis that load its pair.
    rows : (c, n) array
        What it releases of them.
    conditioning : float
        The smallest singular value of its rows of an orthonormal basis.
    """

    replacement: Replacement
    columns: AnyArray
    rows: Array
    conditioning: float

    @property
    def order(self) -> tuple[int, float, float]:
        """Many released rows first, then cheap, then well-conditioned.

        Rounded, so that equally good options stay in file order on every machine.
        """
        return -len(self.rows), self.replacement.cost, -round(self.conditioning, 6)


def options_of(
    mech: Mechanism,
    s: StressedBlock,
    turns: Mapping[str, float],
    kept: Container[str],
    allowed: Allowed,
) -> Iterator[Option]:
    """Yield what the pairs of a block could release by a weaker type.

    Parameters
    ----------
    turns : mapping of str to float
        By how much pairs that turn about their own axis have turned, rad.
    kept : container of str
        Pairs that stay as they are.
    allowed : callable
        Whether a pair may become of a type.
    """
    measured = mech.measured_pairs
    for loads in loads_of(s):
        pair = mech.pair_by_name.get(loads.rows.constraint)
        # a coupling, driver or lock counts on the freedoms its pair has now
        if pair is None or pair.name in measured or pair.name in kept:
            continue
        # in a plane some rows have vanished, and with them what a catalogue pair would release
        if loads.rows.components != pair.kind.constrained:
            continue
        for replacement in replacements(pair, turns.get(pair.name, 0.0)):
            released = replacement.released
            if not allowed(pair, replacement.type) or len(released) > s.ranked.redundancy:
                continue
            if (smallest := _smallest(released @ loads.orthonormal)) > _WELL_CONDITIONED:
                yield Option(replacement, loads.columns, released @ loads.values, smallest)


def completed(s: StressedBlock, start: Option, options: Sequence[Option]) -> tuple[Replacement, ...] | None:
    """Add the largest options that keep the released rows independent until all self-stresses are released."""
    p, chosen, changed = s.ranked.redundancy, [start.replacement], {start.replacement.pair}
    released = _Orthonormal(p) if s.complete else _Echelon()
    released.take(start)
    for option in options:
        if released.count == p:
            break
        fits = released.count + len(option.rows) <= p
        if fits and option.replacement.pair not in changed and released.take(option):
            chosen.append(option.replacement)
            changed.add(option.replacement.pair)
    return tuple(chosen) if released.count == p else None


class _Orthonormal:
    """Released rows of an orthonormal basis, as an orthonormal basis of their span."""

    def __init__(self, p: int) -> None:
        self._span = np.zeros((p, 0))

    @property
    def count(self) -> int:
        """How many rows are released."""
        return self._span.shape[1]

    def take(self, option: Option) -> bool:
        """Release the rows of an option unless they hardly differ from those that are."""
        new = option.rows - (option.rows @ self._span) @ self._span.T
        if _smallest(new) <= _WELL_CONDITIONED:
            return False
        self._span = np.hstack((self._span, np.linalg.qr(new.T)[0]))
        return True


class _Echelon:
    """Released rows with entries in few columns, fully reduced: no row has an entry where another has its pivot."""

    def __init__(self) -> None:
        self._rows: dict[int, dict[int, float]] = {}
        self._pivots_by_column: defaultdict[int, set[int]] = defaultdict(set)

    @property
    def count(self) -> int:
        """How many rows are released."""
        return len(self._rows)

    def take(self, option: Option) -> bool:
        """Release the rows of an option unless they hardly differ from those that are."""
        left = self._reduced(option)
        columns, rows = list(left), np.array(list(left.values())).T
        if len(columns) < len(option.rows) or _smallest(rows) <= _WELL_CONDITIONED:
            return False
        pivots = self._eliminate(columns, rows)
        for j, row in zip(pivots, rows, strict=True):
            others = [k for k in np.flatnonzero(np.abs(row) > _NOTHING).tolist() if k != j]
            self._put(columns[j], {columns[k]: float(row[k]) for k in others})
        return True

    def _reduced(self, option: Option) -> dict[int, Array]:
        """Return the columns (c,) of the option's rows after those that have pivots are eliminated."""
        left: dict[int, Array] = {}
        for column, own in zip(option.columns.tolist(), option.rows.T, strict=True):
            if (row := self._rows.get(column)) is None:
                left[column] = left.get(column, 0.0) + own
                continue
            for other, factor in row.items():
                left[other] = left.get(other, 0.0) - factor * own
        return {column: own for column, own in left.items() if np.abs(own).max() > _NOTHING}

    def _eliminate(self, columns: Sequence[int], rows: Array) -> list[int]:
        """Make ``rows`` (c, n) the identity in the places that are returned: columns of few rows, if not small."""
        pivots: list[int] = []
        used = np.array([len(self._pivots_by_column[column]) for column in columns])
        for k in range(len(rows)):
            size = np.abs(rows[k:])
            allowed = size >= _PIVOT * size.max()
            i, j = np.unravel_index(np.where(allowed, used, np.inf).argmin(), size.shape)
            rows[[k, k + i]] = rows[[k + i, k]]
            rows[k] /= rows[k, j]
            factors = rows[:, j].copy()
            factors[k] = 0.0
            rows -= np.outer(factors, rows[k])
            pivots.append(int(j))
        return pivots

    def _put(self, pivot: int, row: dict[int, float]) -> None:
        """Keep a row, and eliminate its pivot from the others."""
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
        return float(np.linalg.norm(rows))
    return float(np.linalg.svd(rows, compute_uv=False)[-1])
