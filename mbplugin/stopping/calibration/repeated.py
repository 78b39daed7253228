"""Stops that were repeated often enough for a tolerance bound of what is measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import isfinite

from mbplugin.stopping.calibration.measured.measurement import Measurement
from mbplugin.stopping.calibration.values import CalibratedRow, RepeatedStop
from mbplugin.stopping.order_statistics import ToleranceBound, tolerance_bound

#: Fewer repeats say little about the largest one.
LEAST = 10


def repeated_stops(
    rows: Sequence[Measurement], found: Sequence[CalibratedRow], share: float, confidence: float
) -> tuple[RepeatedStop, ...]:
    """Return the stops with ten repeats or more, each with the bounds of its time and its distance.

    Two rows repeat one stop where all they state but time and distance is the same. A row that is the mean of
    several stops hides the largest of them and does not count.

    Parameters
    ----------
    rows : sequence of Measurement
    found : sequence of CalibratedRow
        The same rows beside their computed stops.
    share, confidence : float
        Of the bounds, between 0 and 1.
    """
    groups: dict[tuple[object, ...], list[Measurement]] = defaultdict(list)
    for row in rows:
        if row.repeats == 1:
            groups[row.condition].append(row)
    of_line = {row.line: row for row in found}
    bounded = []
    for group in groups.values():
        first = of_line[group[0].line]
        time, distance = (
            _bound([getattr(row, name) for row in group], share, confidence) for name in ("time", "distance")
        )
        if time or distance:
            lines = tuple(row.line for row in group)
            bounded.append(RepeatedStop(first, lines, time, distance))
    return tuple(bounded)


def _bound(values: Sequence[float], share: float, confidence: float) -> ToleranceBound | None:
    """Return the bound of the values that were measured; None where there are too few to speak of one."""
    measured = [value for value in values if isfinite(value)]
    return tolerance_bound(measured, share=share, confidence=confidence) if len(measured) >= LEAST else None
