"""One update of a watch: its forces, marks and intervals, each put together when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np

from mbplugin.model import ReactionUnit, RowLabel, lock_label
from mbplugin.phrases import counted, one_line
from mbplugin.watching.intervals import Interval, intervals_of, outside
from mbplugin.watching.log import LogRow
from mbplugin.watching.numbers import MOST_ROWS, Mark, Numbers, drifts_of, row_labels


@dataclass(frozen=True)
class Force:
    """One component of a force at an update.

    Parameters
    ----------
    constraint, component : str
        As in :func:`mbplugin.reactions`.
    unit : "N" or "N·m"
    engine : float or None
        The engine's number; None if it does not tell.
    determined : bool
        Whether the rigid model determines it.
    value : float or None
        The only possible value, if it is determined and the motion is known.
    """

    constraint: str
    component: str
    unit: ReactionUnit
    engine: float | None
    determined: bool
    value: float | None


@dataclass(frozen=True, eq=False)
class Update:
    """What a watch found at one update (N, N·m, m, s).

    Parameters
    ----------
    number : int
        From 1.
    time : float
        Simulated time since the watch began, s; for MuJoCo that of its data.
    numbers : Numbers
        The arrays behind it.
    cheap : tuple of Mark
        Marks of the checks that are made at every update.
    tolerance : float
        Relative deviation of a force that is accepted.
    """

    number: int
    time: float
    numbers: Numbers
    cheap: tuple[Mark, ...]
    tolerance: float

    def __repr__(self) -> str:
        facts = [counted(len(self.numbers.reading.touching), "contact")]
        if self.decided:
            facts.append(f"degree of redundancy {self.degree_of_redundancy}")
        return one_line(self, f"at {self.time:.4g} s", (*facts, counted(len(self.marks), "mark")))

    @property
    def decided(self) -> bool:
        """Whether uniqueness is decided at every update: not for very many contacts, where asking takes long."""
        return len(self.numbers.rows.J) <= MOST_ROWS

    @property
    def degree_of_redundancy(self) -> int:
        """Number of independent self-stresses of closures, contacts that hold, and held joints."""
        return self.numbers.verdict.redundancy

    @property
    def balanced(self) -> bool | None:
        """Whether the engine's forces explain the motion; None if the steps since the last update are unknown."""
        return None if self.numbers.needed is None else not any(mark.kind == "balance" for mark in self.cheap)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """What is not possible: of the checks at every update, and of the intervals if they were computed."""
        if "intervals" not in self.__dict__:
            return self.cheap
        return (*self.cheap, *outside(self.numbers, dict(self.intervals), self.tolerance))

    @cached_property
    def intervals(self) -> Mapping[RowLabel, Interval]:
        """What each force may be under the inequalities, by (constraint, component), N and N·m.

        Solved by linear programs when it is first asked for, which takes tens of milliseconds and more. Empty if the
        motion is unknown, or if forces that cannot be read move the mechanism or hold it at a contact.

        Raises
        ------
        MbPluginError
            The programs have no solution.
        """
        return intervals_of(self.numbers)

    @property
    def drifts(self) -> dict[str, tuple[float, float]]:
        """How far each closure is open: m, and rad."""
        return drifts_of(self.numbers.reading)

    @cached_property
    def forces(self) -> tuple[Force, ...]:
        """Forces of closures, gears and contacts, of held joints, and of the joints of the tree, N and N·m."""
        return (*self._rows(), *self._drives(), *self._joints())

    def __getitem__(self, constraint: str) -> dict[str, Force]:
        """Return the forces of one constraint by component.

        Raises
        ------
        KeyError
            There is no such constraint at this update.
        """
        found = {force.component: force for force in self.forces if force.constraint == constraint}
        if not found:
            raise KeyError(constraint)
        return found

    def _rows(self) -> Iterator[Force]:
        n, v = self.numbers, self.numbers.verdict
        for k, label in enumerate(row_labels(n)):
            unit: ReactionUnit = "N·m" if n.rows.turn[k] else "N"
            determined = bool(v.rows[k])
            yield Force(
                *label,
                unit,
                _number(n.rows.engine[k]),
                determined,
                _number(v.values[k]) if determined else None,
            )

    def _drives(self) -> Iterator[Force]:
        n, v, s = self.numbers, self.numbers.verdict, self.numbers.structure
        rest = None if n.needed is None else n.needed - n.rows.J.T @ np.nan_to_num(v.values)
        for k in np.flatnonzero(n.held & ~s.free).tolist():
            unit: ReactionUnit = "N·m" if s.turn[k] else "N"
            determined = bool(v.held[k])
            value = None if rest is None or not determined else float(rest[k])
            yield Force(*lock_label(*s.freedom[k]), unit, _number(n.reading.drives[k]), determined, value)

    def _joints(self) -> Iterator[Force]:
        n, own = self.numbers, self.numbers.structure.pairs
        values, sensed = n.pair_values, n.reading.sensed
        for k, label in enumerate(own.labels):
            pair, axis = int(own.of_row[k]), int(own.axis[k] + 3 * own.turn[k])
            determined = bool(n.pairs_determined[k])
            value = _number(values[pair, axis]) if determined else None
            unit: ReactionUnit = "N·m" if own.turn[k] else "N"
            yield Force(*label, unit, _number(sensed[pair, axis]), determined, value)

    def log_rows(self, names: tuple[RowLabel, ...]) -> list[LogRow]:
        """Return the rows of the log: closures and contacts, of these names, held joints, and what is marked."""
        n, s = self.numbers, self.numbers.structure
        marks = {RowLabel(mark.constraint, mark.component): str(mark.kind) for mark in self.marks}
        known = n.verdict if self.decided else None
        intervals = self.intervals if "intervals" in self.__dict__ else {}
        unique = known.rows.tolist() if known else [None] * len(names)
        values = known.values.tolist() if known else [np.nan] * len(names)

        def row(
            label: RowLabel, turn: bool, engine: float, determined: bool | None, value: float | None
        ) -> LogRow:
            interval = intervals.get(label)
            lower, upper = (None, None) if interval is None else (interval.lower, interval.upper)
            unit, mark = "N·m" if turn else "N", marks.pop(label, "") if marks else ""
            return LogRow(
                self.number, self.time, *label, unit, _number(engine), determined, value, lower, upper, mark
            )

        engine, turn = n.rows.engine.tolist(), n.rows.turn.tolist()
        out = [
            row(label, turn[k], engine[k], unique[k], _number(values[k]) if unique[k] else None)
            for k, label in enumerate(names)
        ]
        for k in np.flatnonzero(n.held & ~s.free).tolist():
            determined = bool(known.held[k]) if known else None
            drive = float(n.reading.drives[k])
            out.append(row(lock_label(*s.freedom[k]), bool(s.turn[k]), drive, determined, None))
        for label, kind in marks.items():
            out.append(LogRow(self.number, self.time, *label, "", None, None, None, None, None, kind))
        return out


def _number(value: float) -> float | None:
    return float(value) if isfinite(value) else None
