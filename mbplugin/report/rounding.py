"""Numbers of reports: what is only rounding beside the others of its kind is shown as 0."""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.phrases import number

#: Beside the largest of its kind, what is smaller is rounding. Beside 1 m, 1 rad and 1 s, too.
ROUNDING = 1e-12


def shown(value: float, largest: float = 1.0, size: float = 1.0, digits: int = 4) -> str:
    """Return a number, times the size of its unit, with some digits; rounding is 0.

    Parameters
    ----------
    value : float
        In SI units.
    largest : float
        Of its kind, in the same units.
    """
    return number(size * value if not abs(value) <= ROUNDING * largest else 0.0, f".{digits}g")


def largest_of(values: Iterable[float]) -> float:
    """Return the largest size of some numbers."""
    return max(map(abs, values), default=0.0)
