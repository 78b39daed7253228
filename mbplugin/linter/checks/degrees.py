"""Angles that should be in radians and look like degrees."""

from __future__ import annotations

from collections.abc import Iterable
from math import log10, pi

#: Up to here a joint may turn, rad; and up to here people write degrees.
_TWO_TURNS, _MOST = 4 * pi, 720.0


def in_degrees(values: Iterable[float]) -> bool:
    """Return whether the limits of a joint are whole degrees: one beyond two turns, none a fraction.

    Powers of ten stand for "no limit".
    """
    stated = [abs(float(value)) for value in values if value]
    whole = all(value <= _MOST and value == round(value) for value in stated)
    return whole and any(value > _TWO_TURNS and log10(value) % 1 for value in stated)
