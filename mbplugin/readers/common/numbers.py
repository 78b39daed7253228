"""Numbers as text: finite, counted, and angles that were rounded."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.model.bounds import LARGEST, decimal
from mbplugin.model.spatial import Array

#: From here on a limit means "no limit"; 1e16 was SDF's own default for long.
_UNLIMITED = 1e15

#: Infinity is larger.
_LARGEST_FLOAT = sys.float_info.max

_DECIMAL = re.compile(r"^[+-]?(\d*)\.?(\d*)$", re.ASCII)


def numbers(text: str, count: int, where: str, what: str, largest: float = LARGEST) -> Array:
    """Return ``count`` finite numbers separated by blanks or commas, (count,).

    Raises
    ------
    BadNumber
        Another count, a word, NaN or infinity, or a magnitude above ``largest``; ``where`` and ``what``
        name the place.
    """
    usual = usual_numbers(text, count, largest)
    if usual is not None:
        return usual
    words = text.replace(",", " ").split()
    try:
        values = np.array([decimal(word) for word in words])
    except ValueError:
        raise BadNumber(
            f"{what} is {_shown(text)}", where=where, expected=f"{count} numbers", remedy="correct the text"
        ) from None
    if values.size != count:
        raise BadNumber(
            f"{what} has {values.size} numbers", where=where, expected=f"{count}", remedy="correct the text"
        )
    if not np.isfinite(values).all():
        raise BadNumber(
            f"{what} is {_shown(text)}",
            where=where,
            expected="finite numbers",
            remedy="replace NaN and infinity",
        )
    raise BadNumber(
        f"{what} is {_shown(text)}",
        where=where,
        expected=f"magnitudes up to {largest:g}",
        remedy="correct the number or its unit",
    )


def usual_numbers(text: str, count: int, largest: float = LARGEST) -> Array | None:
    """Return ``count`` finite numbers up to ``largest`` in magnitude, (count,); None for any other text.

    A large model has ten thousands, too many to check them as arrays, or to say where each one stands.
    """
    # as decimal(), for all words at once
    if "_" in text or not text.isascii():
        return None
    try:
        values = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        return None
    bound = min(largest, _LARGEST_FLOAT)
    # comparisons with NaN are false
    if len(values) != count or not all(-bound <= value <= bound for value in values):
        return None
    return np.array(values)


def number(text: str, where: str, what: str) -> float:
    """Return one finite number."""
    return float(numbers(text, 1, where, what)[0])


def limit(value: float) -> float:
    """Return a joint limit; a magnitude that no joint reaches means that there is none."""
    return math.copysign(math.inf, value) if abs(value) >= _UNLIMITED else value


def infinity(text: str) -> float | None:
    """Return ±inf where a text states it (``inf``, ``-Infinity``, ``1e999``), else None."""
    try:
        value = decimal(text)
    except ValueError:
        return None
    return value if math.isinf(value) else None


def angles(text: str, where: str, what: str, *, snap: bool) -> Array:
    """Return three angles (3,) in rad, with ``snap`` those meant by rounded literals."""
    values = numbers(text, 3, where, what)
    if snap:
        for i, word in enumerate(text.replace(",", " ").split()):
            if rounded := rounded_angle(word):
                values[i] = rounded.meant
    return values


@dataclass(frozen=True)
class RoundedAngle:
    """A literal that is a rounded multiple of a common fraction of π.

    Parameters
    ----------
    literal : str
    meant : float
        rad.
    name : str
        ``π/2``, ``-π``, ``5π/36`` …
    error : float
        literal − meant, rad.
    """

    literal: str
    meant: float
    name: str
    error: float


def rounded_angle(literal: str) -> RoundedAngle | None:
    """Return what an angle literal stands for, or None where it is exact or stands for itself.

    A literal qualifies within five units of its last decimal (at most 1e-3 rad) of a multiple of
    π/4 or π/6, and within one unit of a multiple of π/36 (5°) when it has four significant digits.
    """
    match = _DECIMAL.match(literal.strip())
    if match is None or not match.group(2):
        return None
    value, unit = float(literal), 10.0 ** -len(match.group(2))
    digits = len((match.group(1) + match.group(2)).lstrip("0"))
    for fraction, units, least_digits in ((4, 5, 3), (6, 5, 3), (36, 1, 4)):
        k = round(value * fraction / math.pi)
        meant = k * math.pi / fraction
        error = value - meant
        if k and digits >= least_digits and 4e-16 * abs(k) < abs(error) <= min(units * unit, 1e-3):
            return RoundedAngle(literal.strip(), meant, _fraction_name(k, fraction), error)
    return None


def _fraction_name(k: int, fraction: int) -> str:
    divisor = math.gcd(k, fraction)
    k, fraction = k // divisor, fraction // divisor
    sign, factor = ("-" if k < 0 else ""), ("" if abs(k) == 1 else str(abs(k)))
    return f"{sign}{factor}π" + (f"/{fraction}" if fraction > 1 else "")


def _shown(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 40 else text[:37] + "...")
