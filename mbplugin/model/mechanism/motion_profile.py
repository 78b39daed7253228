"""Prescribed motions of a driver over time: piecewise polynomials through points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.bounds import LARGEST
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr

#: What passes between points that state values only.
Between = Literal["spline", "rest"]
MOST_POINTS = 10_000


@one_line_repr
@dataclass(frozen=True)
class MotionProfile:
    """A motion as polynomials in time, each from its start on; calling it gives value, rate, acceleration.

    Parameters
    ----------
    segments : tuple of (start, coefficients)
        In order, the first one at 0: Σ cₖ (t − start)ᵏ, of degree 5 at most; s, rad or m. The value and the rate
        have no jump from one to the next.
    """

    segments: tuple[tuple[float, tuple[float, ...]], ...]

    def __call__(self, time: float) -> tuple[float, float, float]:
        """Return value, rate and acceleration at a time (s); rad or m, and per second."""
        start, coefficients = next(one for one in reversed(self.segments) if one[0] <= time or one[0] == 0.0)
        value = rate = acceleration = 0.0
        for c in reversed(coefficients):
            acceleration = acceleration * (time - start) + 2.0 * rate
            rate = rate * (time - start) + value
            value = value * (time - start) + c
        return value, rate, acceleration

    @property
    def breaks(self) -> tuple[float, ...]:
        """Where one polynomial follows another, s."""
        return tuple(start for start, _ in self.segments[1:])

    @classmethod
    def from_points(
        cls, points: Sequence[Sequence[float]] | Array, between: Between = "spline"
    ) -> MotionProfile:
        """Return the motion through points (n, 2 to 4).

        Parameters
        ----------
        points : (n, 2), (n, 3) or (n, 4) array
            Time (s), value (rad or m), and optionally rate and acceleration. With rates the pieces are cubic, with
            accelerations quintic.
        between : "spline" or "rest"
            Through values alone: a cubic spline that begins and ends at rest, or quintic pieces with a rest at
            every point.

        Raises
        ------
        BadUsage, BadNumber
            Too few or too many points, times that do not increase from 0 on, numbers that are not finite, or a motion
            that does not begin at time 0 with the rate that its first point states.
        """
        table = _checked(points)
        time, columns = table[:, 0], table[:, 1:]
        if between == "rest" and columns.shape[1] > 1:
            raise BadUsage("points with rates do not rest at every point", expected="time and value alone")
        pieces = _pieces(time, columns, between)
        segments = [(float(t), tuple(c)) for t, c in zip(time[:-1], pieces, strict=True)]
        first, last = cls((segments[0],))(float(time[0])), cls((segments[-1],))(float(time[-1]))
        if time[0] > 0.0:
            if first[1] != 0.0:
                raise BadUsage(
                    f"the motion begins at {time[0]:g} s with the rate {first[1]:g}",
                    expected="time 0, or a rate of 0 there",
                )
            segments.insert(0, (0.0, (first[0],)))
        moving = abs(last[1]) > 1e-9 * float(np.abs(columns).max(initial=1.0))
        segments.append((float(time[-1]), last[:2] if moving else (last[0],)))
        return cls(tuple(segments))


def _checked(points: Sequence[Sequence[float]] | Array) -> Array:
    """Return the points as an array (n, 2 to 4)."""
    try:
        table = np.array(points, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] not in (2, 3, 4) or not 2 <= len(table) <= MOST_POINTS:
        raise BadUsage(
            "the points of a motion are no table",
            expected=f"2 to {MOST_POINTS} rows of time, value and, in all rows or in none, rate and acceleration",
        )
    if not (np.abs(table) <= LARGEST).all():
        raise BadNumber("the points of a motion are not all finite", expected="numbers in s, rad or m")
    if table[0, 0] < 0.0 or not (np.diff(table[:, 0]) > 0.0).all():
        k = 0 if table[0, 0] < 0.0 else int(np.flatnonzero(np.diff(table[:, 0]) <= 0.0)[0]) + 1
        raise BadUsage(
            f"the time of point {k + 1} of a motion is {table[k, 0]:g} s",
            expected="times that increase from 0 s on",
        )
    return table


def _pieces(time: Array, columns: Array, between: Between) -> Array:
    """Return the coefficients (m, k) of the polynomials between times, the constant ones first, m = n − 1.

    Parameters
    ----------
    time : (n,) array
        s.
    columns : (n, c) array
        Values, and rates and accelerations where they are stated, rad or m and per second.
    """
    # here, because only such drivers need scipy
    from scipy.interpolate import BPoly, CubicSpline, PPoly

    if columns.shape[1] == 1 and between == "spline":
        coefficients = CubicSpline(time, columns[:, 0], bc_type="clamped").c
    else:
        ends = np.pad(columns, ((0, 0), (0, 2))) if columns.shape[1] == 1 else columns
        coefficients = PPoly.from_bernstein_basis(BPoly.from_derivatives(time, ends)).c
    return np.asarray(coefficients[::-1].T)
