"""A measured stop: one row of the file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model.brake_law import UNITS, symbol

_TIME, _MASS, _SHARE = UNITS["time"], UNITS["mass"], {"%": 0.01}
_COORDINATE = {"angle": UNITS["angle"], "length": UNITS["length"]}
_RATE = {"angle": UNITS["angular rate"], "length": UNITS["speed"]}
#: Units of each column of numbers, by kind, with their factors to SI.
COLUMNS: dict[str, dict[str, dict[str, float]]] = {
    "category": {},
    "speed": {**_RATE, "share": _SHARE},
    "sense": {},
    "payload": {"mass": _MASS, "share": _SHARE},
    "extension": {"length": UNITS["length"], "share": _SHARE},
    "time": {"time": _TIME},
    "distance": _COORDINATE,
    "repeats": {},
    "time_spread": {"time": _TIME},
    "distance_spread": _COORDINATE,
}
REQUIRED = ("joint", "category", "speed", "time", "distance")
_HEAD = re.compile(r"\s*(?P<name>[^\[\]]*?)\s*(?:\[\s*(?P<unit>[^\[\]]*?)\s*\])?\s*")


# Units of the columns of measured stops: stated in the header, else SI.


class Quantity(NamedTuple):
    """A number in SI units (a share: 0 … 1), and its kind: ``angle``, ``length``, ``share`` …"""

    value: float
    kind: str


class Head(NamedTuple):
    """The head of a column: its name, its stated unit (empty: SI), the factor to SI, and the kind of its numbers.

    ``kind`` is empty for numbers without a unit, and if no unit is stated and several kinds are possible.
    """

    name: str
    unit: str
    factor: float
    kind: str


def read_head(text: str, where: str) -> Head:
    """Return the column that a cell of the header states.

    Raises
    ------
    UnknownName
        There is no such column.
    BadUsage
        The column cannot have this unit.
    """
    match = _HEAD.fullmatch(text)
    name, unit = (match["name"], match["unit"] or "") if match else (text.strip(), "")
    known = name if name.startswith("q ") else name.lower()
    if known == "joint" and not unit:
        return Head(known, "", 1.0, "")
    units = _COORDINATE if known.startswith("q ") else COLUMNS.get(known)
    if units is None:
        raise UnknownName(
            f"there is no column {name!r}",
            where=where,
            remedy=_remedy(name, known),
        )
    if not unit:
        kinds = [kind for kind in units if kind != "share"]
        return Head(known, "", 1.0, kinds[0] if len(kinds) == 1 else "")
    for kind, sizes in units.items():
        if symbol(unit) in sizes:
            return Head(known, unit, sizes[symbol(unit)], kind)
    expected = ", ".join(name for sizes in units.values() for name in sizes) or "no unit"
    raise BadUsage(f"column {name!r} has the unit {unit!r}", where=where, expected=expected)


def _remedy(name: str, known: str) -> str:
    """Return a remedy for an unknown column, such as the column to write instead."""
    for column in sorted(COLUMNS, key=len, reverse=True):
        rest = known.removeprefix(column).strip(" _()").replace("percent", "%").replace("_per_", "/")
        units = {unit for sizes in COLUMNS[column].values() for unit in sizes}
        if known.startswith(column) and symbol(rest) in units:
            return f"write {column} [{rest}]"
    if known in ("robot", "model", "arm"):
        return "write the rows of each robot to a file of their own, without this column"
    return suggestion(name, ["joint", *COLUMNS, "q NAME"])


def require_one_unit(heads: tuple[Head, ...], where: str) -> None:
    """Require that no column has a non-SI unit, such as deg, while another has none and would be read as SI.

    Raises
    ------
    BadUsage
        The units are mixed; the message names both columns.
    """
    moving = [head for head in heads if head.name in ("speed", "distance") or head.name.startswith("q ")]
    scaled = [head for head in moving if head.kind in ("angle", "length") and head.factor != 1.0]
    silent = [head for head in moving if not head.unit]
    if scaled and silent:
        raise BadUsage(
            f"the header mixes units: {scaled[0].name!r} is in {scaled[0].unit}, and {silent[0].name!r} has no unit",
            where=where,
            remedy=f"state the unit of every column, such as {silent[0].name} [{_like(scaled[0], silent[0])}]",
        )


def _like(scaled: Head, silent: Head) -> str:
    unit = symbol(scaled.unit).removesuffix("/s")
    # for revolutions per minute
    unit = unit if unit in _COORDINATE[scaled.kind] else "rev"
    return f"{unit}/s" if silent.name == "speed" else unit


def read_quantity(text: str, column: str) -> tuple[float, str, float]:
    """Return number, unit (empty if none is stated) and factor to SI of a text such as ``100%``.

    Raises
    ------
    BadUsage
        The text is not a number, or the column cannot have this unit.
    """
    match = re.fullmatch(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(\S*)\s*", text)
    units = _COORDINATE if column.startswith("q ") else COLUMNS[column]
    sizes = {name: size for kind in units.values() for name, size in kind.items()}
    unit = symbol(match[2]) if match else ""
    try:
        if match and (not unit or unit in sizes):
            return float(match[1]), match[2], sizes.get(unit, 1.0)
    except ValueError:
        pass
    names = ", ".join(sizes) or "none"
    raise BadUsage(
        f"{text.strip()!r} is not a value of {column!r}", expected=f"a number, with a unit of {names}"
    )


@dataclass(frozen=True)
class Measurement:
    """A measured stop of one joint, SI units.

    Parameters
    ----------
    line : int
        Line of the file, from 1.
    joint : str
    category : 0 or 1
    speed : float
        Speed of the joint at the signal, rad/s or m/s, positive.
    sense : int
        +1 or −1 for the sense of the motion; 0 if the file does not state it.
    payload : Quantity or None
        kg, or a share of the rated payload; None for the payload of the scene.
    extension : Quantity or None
        m from the axis, or a share of the largest extension; None for the start pose.
    q : tuple of (str, float)
        Stated joint coordinates at the signal, rad and m.
    time, distance : float
        From the signal to rest, s; rad or m. NaN if not measured.
    repeats : int
        Number of stops of which the row is the mean.
    time_spread, distance_spread : float or None
        Standard deviation of one stop, s; rad or m.
    columns : mapping of str to Quantity
        The numbers of the row by column, to evaluate conditions on rows.
    """

    line: int
    joint: str
    category: int
    speed: float
    sense: int
    payload: Quantity | None
    extension: Quantity | None
    q: tuple[tuple[str, float], ...]
    time: float
    distance: float
    repeats: int = 1
    time_spread: float | None = None
    distance_spread: float | None = None
    columns: Mapping[str, Quantity] = field(default_factory=dict, compare=False)

    @property
    def condition(self) -> tuple[object, ...]:
        """The values that all repeats of one stop share."""
        return self.joint, self.category, self.speed, self.sense, self.payload, self.extension, self.q

    @property
    def shape_index(self) -> float:
        """2 d/(v T): 1 for constant deceleration, larger if a reaction at full speed precedes it."""
        return 2.0 * self.distance / (self.speed * self.time)
