"""The median; NumPy's imports masked arrays, and that of the standard library exact fractions."""

from __future__ import annotations

from collections.abc import Iterable


def median(values: Iterable[float]) -> float:
    """Return the median of some values, at least one."""
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(low + high) / 2
