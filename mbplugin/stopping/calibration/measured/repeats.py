"""Repeats of one stop: rows that contradict each other by more than their spread are an error."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2, f

from mbplugin.errors import BadUsage
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed
from mbplugin.stopping.calibration.measured.measurement import Measurement
from mbplugin.stopping.calibration.measured.table import MeasuredFile

#: Repeats scatter as much as they do by chance in one file of so many.
_CHANCE = 1e-6
#: Without a stated spread and other repeats to compare with, the largest may be so many times the smallest.
_FACTOR = 2.0


def require_consistent(file: MeasuredFile, rows: Sequence[Measurement]) -> None:
    """Require that rows of one condition agree within their spread.

    The spread is the stated one; else that of the other repeats of the same joint in the same category.

    Raises
    ------
    BadUsage
        Names the lines, the values and the spread.
    """
    groups: dict[tuple[object, ...], list[Measurement]] = defaultdict(list)
    for row in rows:
        groups[row.condition].append(row)
    repeated = [group for group in groups.values() if len(group) > 1]
    for group in repeated:
        for column, unit in (("time", "s"), ("distance", "rad or m")):
            others = [g for g in repeated if g is not group and g[0].condition[:2] == group[0].condition[:2]]
            spread = _contradicted(group, others, column)
            if spread is not None:
                lines = listed([str(row.line) for row in group])
                values = listed([f"{getattr(row, column):g}" for row in group])
                raise BadUsage(
                    f"the repeats in lines {lines} contradict each other: {column} is {values} {unit}",
                    where=file.where(group[0].line),
                    expected=f"a scatter like {spread}",
                    remedy="correct the rows, or state in a column what is different between them",
                )


def _contradicted(group: list[Measurement], others: list[list[Measurement]], column: str) -> str | None:
    """Return the spread that the values of a group contradict, as a phrase; None where they agree."""
    values, counts = _values(group, column)
    if len(values) < 2:
        return None
    mean = np.average(values, weights=counts)
    squares, freedom = float((counts * (values - mean) ** 2).sum()), len(values) - 1
    stated = [s for s in (getattr(row, f"{column}_spread") for row in group) if s]
    if stated:
        spread = float(np.mean(stated))
        return f"the stated {spread:g}" if squares > spread**2 * chi2.isf(_CHANCE, freedom) else None
    pooled = [_squares(*_values(other, column)) for other in others]
    degrees = sum(n for _, n in pooled)
    spread = float(np.sqrt(sum(s for s, _ in pooled) / degrees)) if degrees else 0.0
    if degrees >= 4 and spread > 0.0:
        beyond = squares / freedom > spread**2 * f.isf(_CHANCE, freedom, degrees)
        return f"that of the other repeats, {spread:.3g}" if beyond else None
    return f"a factor below {_FACTOR:g}" if values.max() > _FACTOR * values.min() else None


def _values(group: list[Measurement], column: str) -> tuple[Array, Array]:
    """Return the measured values (n,) of a column, and how many stops each is the mean of (n,)."""
    found = [(getattr(row, column), float(row.repeats)) for row in group]
    kept = np.array([pair for pair in found if np.isfinite(pair[0])]).reshape(-1, 2)
    return kept[:, 0], kept[:, 1]


def _squares(values: Array, counts: Array) -> tuple[float, int]:
    """Return the squares of values (n,) about their mean, weighted by counts (n,), and their freedoms."""
    if len(values) < 2:
        return 0.0, 0
    mean = np.average(values, weights=counts)
    return float((counts * (values - mean) ** 2).sum()), len(values) - 1
