"""A longer delay, so that no computed stop ends sooner or earlier on its way than the measured one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import floor, log10
from typing import NamedTuple

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model.spatial import Array
from mbplugin.stopping.calibration.laws import RowModel

#: A computed stop covers a measured one up to this share of it, which is rounding.
ROUNDING = 1e-6
#: Up to half of it a fit may miss: a scene that is read again is computed again.
_AIMED = 0.5 * ROUNDING
#: Of numbers in the tables of a scene.
_DIGITS = 6
#: How often a margin is doubled, and then halved: to a ten-thousandth of it.
_DOUBLINGS, _HALVINGS = 40, 14


class Margin(NamedTuple):
    """What is added to a delay or a reaction.

    Parameters
    ----------
    time : float
        s; 0 where the fit is on the safe side already.
    line : int or None
        The row that needs it.
    """

    time: float
    line: int | None


def as_written(value: float) -> float:
    """Return a number with the digits that the tables of a scene state."""
    return float(f"{value:.{_DIGITS}g}")


def written_up(value: float) -> float:
    """Return the least such number that is not below a value."""
    nearest = as_written(value)
    if nearest >= value:
        return nearest
    return as_written(nearest + 10.0 ** (floor(log10(value)) + 1 - _DIGITS))


def covering_margin(model: RowModel, values: Mapping[str, float], late: str, fixed: float) -> Margin:
    """Return the time by which a delay has to grow to cover all rows of a model.

    Parameters
    ----------
    values : mapping of str to float
        The fitted parameters, as they are written.
    late : str
        The parameter that grows, ``delay`` or ``reaction``.
    fixed : float
        Its value where it was not fitted, s.

    Raises
    ------
    BadUsage
        No delay covers a row: gravity stops it before the brake engages.
    """
    measured = np.array([(row.time, row.distance) for row in model.rows])
    base = values.get(late, fixed)

    def missing(extra: float) -> Array:
        """Return by how much rows (n,) are too short, relative to what was measured."""
        computed = model.predict({**values, late: base + extra})
        return np.asarray(np.nanmax((measured - computed) / measured, axis=1))

    worst = missing(0.0)
    if not (worst > _AIMED).any():
        return Margin(0.0, None)
    line = model.rows[int(worst.argmax())].line
    high = 1e-3 * float(np.nanmax(measured[:, 0], initial=1e-3))
    for _ in range(_DOUBLINGS):
        if not (missing(high) > _AIMED).any():
            return Margin(_least(lambda extra: not (missing(extra) > _AIMED).any(), high), line)
        high *= 2.0
    raise BadUsage(
        f"no {late} makes the computed stop of line {line} as long as the measured one",
        remedy="check the payload, the pose and the sense of this row",
    )


def _least(covers: Callable[[float], bool], high: float) -> float:
    """Return about the least number up to ``high`` that covers; it covers itself."""
    low = 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high
