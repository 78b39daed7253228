"""Physical units: what a text such as ``90deg`` means, and how a number is shown.

Everything computes in SI units with radians. This is the only table of units.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, pi

from mbplugin.errors import BadUsage, suggestion
from mbplugin.model.bounds import LARGEST, decimal

_ANGLE = {"rad": 1.0, "mrad": 1e-3, "deg": pi / 180, "rev": 2 * pi}
_LENGTH = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6}


def _per(units: dict[str, float], time: str) -> dict[str, float]:
    return {f"{name}/{time}": size for name, size in units.items()}


#: By dimension: the symbols of its units and their sizes in SI units. The first one is that of SI.
UNITS: dict[str, dict[str, float]] = {
    "angle": _ANGLE,
    "length": _LENGTH,
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6},
    "mass": {"kg": 1.0, "g": 1e-3, "t": 1e3},
    "force": {"N": 1.0, "kN": 1e3, "mN": 1e-3},
    "torque": {"Nm": 1.0, "kNm": 1e3, "Ncm": 1e-2, "Nmm": 1e-3, "mNm": 1e-3},
    "angular rate": {**_per(_ANGLE, "s"), "rpm": 2 * pi / 60},
    "speed": _per(_LENGTH, "s"),
    "angular acceleration": _per(_ANGLE, "s²"),
    "acceleration": _per(_LENGTH, "s²"),
    "rotary damping": {"Nms/rad": 1.0, "Nms/deg": 180 / pi},
    "damping": {"Ns/m": 1.0, "Ns/mm": 1e3},
}
#: What a message shows as an example.
EXAMPLES = {
    "angle": "an angle, such as 90deg",
    "length": "a length, such as 35mm",
    "time": "a time, such as 500ms",
    "mass": "a mass, such as 5kg",
    "force": "a force, such as 10N",
    "torque": "a torque, such as 0.1Nm",
    "angular rate": "an angular rate, such as 200deg/s",
    "speed": "a speed, such as 250mm/s",
    "angular acceleration": "an angular acceleration, such as 500deg/s²",
    "acceleration": "an acceleration, such as 2m/s²",
    "rotary damping": "a rotary damping, such as 5Nms/rad",
    "damping": "a damping, such as 5Ns/m",
    "number": "a number without a unit",
}
#: The dimension of what documents call ``rad``, ``m/s`` and so on.
DIMENSION_OF = {"rad": "angle", "m": "length", "rad/s": "angular rate", "m/s": "speed", "1": "number"}
DIMENSION_OF |= {"rad/s²": "angular acceleration", "m/s²": "acceleration"}

_QUANTITY = re.compile(r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*([^\s\d.+-]\S*)\s*")
_SPELLINGS = (("·", ""), ("⋅", ""), ("*", ""), ("°", "deg"), ("µ", "u"), ("μ", "u"))


def symbol(written: str) -> str:
    """Return the symbol of a unit as the table has it: ``°/s^2`` is ``deg/s²``."""
    for other, own in _SPELLINGS:
        written = written.replace(other, own)
    return re.sub(r"/s(\^2|2)$", "/s²", written)


@dataclass(frozen=True)
class Units:
    """The units of angles and lengths that a user reads and writes; those of rates follow.

    Parameters
    ----------
    angle, length : str
        Symbols.
    """

    angle: str = "rad"
    length: str = "m"

    @property
    def is_si(self) -> bool:
        """Whether nothing is converted."""
        return self == SI

    def shown(self, unit: str) -> tuple[float, str]:
        """Return the factor from an SI unit (``rad``, ``m/s`` …), and the symbol; others stay as they are."""
        for si, own in (("rad", self.angle), ("m", self.length)):
            if unit == si or unit.startswith(f"{si}/s"):
                return 1.0 / UNITS[DIMENSION_OF[si]][own], own + unit[len(si) :]
        return 1.0, unit

    def value(self, text: str, dimension: str, what: str) -> float:
        """Return the number of a text in SI units; a number without a unit is in the units of the user.

        Parameters
        ----------
        text : str
            ``1.5``, ``90deg``, ``35 mm``.
        dimension : str
            A key of ``UNITS``, ``number`` for none, or empty where any unit is accepted.
        what : str
            Begins the messages: the option, and the joint.

        Raises
        ------
        BadUsage
            No finite number, a unit of another dimension, or an unknown one.
        """
        bare, match = _float(text), _QUANTITY.fullmatch(text)
        if bare is not None or match is None:
            return self._checked(bare, self._own_size(dimension), text, dimension, what)
        written = symbol(match[2])
        owner = next((name for name, sizes in UNITS.items() if written in sizes), "")
        expected = EXAMPLES.get(dimension, "a number, such as 90deg or 35mm")
        if not owner:
            known = UNITS.get(dimension, {})
            if dimension and known:
                raise BadUsage(
                    f"{what} {text.strip()!r}, which has an unknown unit",
                    expected=expected,
                    remedy=suggestion(written, list(known)),
                )
            raise BadUsage(f"{what} {text.strip()!r}", expected="a finite number, with a known unit or none")
        if dimension and owner != dimension:
            article = "an" if owner[0] in "aeiou" else "a"
            raise BadUsage(f"{what} {text.strip()!r}, which is {article} {owner}", expected=expected)
        return self._checked(float(match[1]), UNITS[owner][written], text, dimension, what)

    def _own_size(self, dimension: str) -> float:
        """Return the size in SI units of the user's unit of a dimension."""
        si = next((unit for unit, name in DIMENSION_OF.items() if name == dimension), "")
        return 1.0 / self.shown(si)[0]

    def _checked(self, value: float | None, size: float, text: str, dimension: str, what: str) -> float:
        expected = "a finite number" + (f" or {EXAMPLES[dimension]}" if dimension in UNITS else "")
        if value is None or not isfinite(value):
            raise BadUsage(f"{what} {text!r}", expected=expected)
        if abs(value * size) > LARGEST:
            raise BadUsage(f"{what} {text!r}", expected=f"magnitudes up to {LARGEST:g}")
        return value * size


#: Radians and metres.
SI = Units()


def read_units(names: Iterable[str], what: str) -> Units:
    """Return the units of some symbols, one of angles and one of lengths at most.

    Raises
    ------
    BadUsage
        Another symbol, or two of one dimension.
    """
    found: dict[str, str] = {}
    for name in names:
        unit = symbol(name.strip())
        dimension = next((d for d in ("angle", "length") if unit in UNITS[d]), "")
        if not dimension:
            raise BadUsage(
                f"{what} names {name.strip()!r}", expected=f"some of {', '.join((*_ANGLE, *_LENGTH))}"
            )
        if dimension in found:
            raise BadUsage(f"{what} names {found[dimension]!r} and {unit!r}", expected=f"one {dimension}")
        found[dimension] = unit
    return Units(**found)


def in_both(value: float, unit: str, other: str) -> str:
    """Return a value in an SI unit, and in another unit: ``200 rad/s (11459 deg/s)``."""
    size = UNITS[DIMENSION_OF.get(unit, "mass" if unit == "kg" else "length")][other]
    return f"{value:g} {unit} ({value / size:.5g} {other})"


def _float(text: str) -> float | None:
    try:
        return decimal(text)
    except ValueError:
        return None
