"""A measured stop beside the computed one."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from mbplugin.model.enumerations import CoordinateUnit
from mbplugin.stopping.calibration.cover import ROUNDING


@dataclass(frozen=True)
class ComparedRow:
    """A measured stop beside the computed one.

    Parameters
    ----------
    line : int
        Of the file of measured stops.
    joint : str
    category : 0 or 1
    unit : "rad" or "m"
    speed : float
        rad/s or m/s.
    repeats : int
    shape_index : float or None
        2 d/(v T), of the measured values.
    time_measured, distance_measured : float or None
        s; rad or m.
    time_computed, distance_computed : float
    """

    line: int
    joint: str
    category: int
    unit: CoordinateUnit
    speed: float
    repeats: int
    shape_index: float | None
    time_measured: float | None
    time_computed: float
    distance_measured: float | None
    distance_computed: float

    @property
    def time_deviation(self) -> float | None:
        """Computed over measured time, minus 1."""
        return _deviation(self.time_computed, self.time_measured)

    @property
    def distance_deviation(self) -> float | None:
        """Computed over measured distance, minus 1."""
        return _deviation(self.distance_computed, self.distance_measured)

    @property
    def covered(self) -> bool:
        """Whether it took no longer and went no farther than computed."""
        return all(gap is None or gap >= -ROUNDING for gap in (self.time_deviation, self.distance_deviation))


def known(value: float) -> float | None:
    """Return a finite number, else None."""
    return value if isfinite(value) else None


def _deviation(computed: float, measured: float | None) -> float | None:
    return computed / measured - 1.0 if measured else None
