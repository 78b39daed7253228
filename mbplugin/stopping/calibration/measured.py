"""Measured stops: one stop, and a CSV file of them with columns, units in the header and a row for each stop."""

from __future__ import annotations

import hashlib
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, f

from mbplugin.csv_tables import CsvTable, read_csv
from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model import LARGEST, Array, Mechanism
from mbplugin.model.brake_law import UNITS, symbol
from mbplugin.phrases import listed
from mbplugin.stopping.defaults import require_joints

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
#: A stop was written in mixed units if its distance exceeds this multiple of speed × time, or is less than this share
#: of it.
_FARTHEST, _NEAREST = 2.0, 0.05
#: Longest plausible time of a stop, s, the same as in separation distances.
_MEASUREMENTS_LONGEST = 10.0
#: Relative tolerance for stops over the whole travel.
_ROUNDING = 1 + 1e-6
#: Probability of a false alarm when repeats are tested for contradictions.
_CHANCE = 1e-6
#: Largest ratio of repeats if there are neither a stated spread nor other repeats for comparison.
_FACTOR = 2.0
_FORM = "COLUMN=VALUE, with = != < <= > or >=; several, all of which hold, with commas"
#: Numbers that differ by less than this share are equal.
_EQUAL = 1e-9
#: Patterns of cells that are not numbers, with remedies.
_REMEDIES = (
    (
        re.compile(r"[-+]?\d+,\d+(e[-+]?\d+)?", re.IGNORECASE),
        "write decimal points, or decimal commas throughout",
    ),
    (re.compile(r"(stop|cat(egory)?\.?) ?\d", re.IGNORECASE), "write the number alone"),
    (re.compile(r"[-+]?[\d.]+ ?[^\d\s.,]+"), "write the number alone, and its unit in the header"),
)
#: Number of characters of a cell that a message quotes.
_SHOWN = 40
#: Size limit of a table, bytes.
_LONGEST = 20_000_000
#: Columns whose numbers must be positive, and those whose numbers may also be zero.
_POSITIVE, _NOT_NEGATIVE = ("time",), ("distance", "payload", "extension", "time_spread", "distance_spread")


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


# The file: a heading, and a row for each stop.


@dataclass(frozen=True)
class Record:
    """A row not yet converted: its line, its joint, and its numbers by column."""

    line: int
    joint: str
    numbers: dict[str, Quantity]


@dataclass(frozen=True)
class MeasuredFile:
    """The contents of a file of measured stops.

    Parameters
    ----------
    path, sha256 : str
    heads : tuple of Head
    records : tuple of Record
    """

    path: str
    sha256: str
    heads: tuple[Head, ...]
    records: tuple[Record, ...]

    def where(self, line: int) -> str:
        """Return a location in the file, ``PATH:LINE``."""
        return f"{self.path}:{line}"


def read_measured(path: Path) -> MeasuredFile:
    """Read the rows of a CSV file; lines that begin with # are comments.

    Raises
    ------
    UnreadableFile, BadNumber, BadUsage
        The file is missing or no table, a column is missing, or a cell is not a number; the message names the line.
    """
    table = read_csv(path, _LONGEST)
    (line, header), *rows = table.rows
    heads = _heads(header, table.where(line))
    records = tuple(_record(table, heads, row, line) for line, row in rows)
    if not records:
        raise BadUsage("the table has no row", where=str(path), expected="one row for each measured stop")
    return MeasuredFile(str(path), hashlib.sha256(table.data).hexdigest(), heads, records)


def _heads(cells: Iterable[str], where: str) -> tuple[Head, ...]:
    heads = tuple(read_head(cell, where) for cell in cells)
    names = [head.name for head in heads]
    for name in names:
        if names.count(name) > 1:
            raise BadUsage(f"column {name!r} is there twice", where=where, expected="each column once")
    for name in REQUIRED:
        if name not in names:
            raise BadUsage(f"there is no column {name!r}", where=where, expected=", ".join(REQUIRED))
    require_one_unit(heads, where)
    return heads


def _record(table: CsvTable, heads: tuple[Head, ...], cells: Sequence[str], line: int) -> Record:
    where = table.where(line)
    if (len(cells) > len(heads) and any(cells[len(heads) :])) or len(cells) < len(heads):
        raise BadUsage(
            f"the row has {len(cells)} cells", where=where, expected=f"{len(heads)}, one for each column"
        )
    joint, numbers = "", {}
    for head, cell in zip(heads, cells, strict=False):
        if head.name == "joint":
            joint = cell
        elif cell:
            numbers[head.name] = Quantity(head.factor * _number(table, cell, head, where), head.kind)
    for name in ("category", "speed"):
        if name not in numbers:
            raise BadNumber(f"{name} is empty", where=where, expected="a number")
    if "time" not in numbers and "distance" not in numbers:
        raise BadNumber("time and distance are empty", where=where, expected="a number in one at least")
    _require_possible(numbers, where)
    return Record(line, joint, numbers)


def _number(table: CsvTable, cell: str, head: Head, where: str) -> float:
    try:
        value = table.number(cell)
    except ValueError:
        value = nan
    if not isfinite(value) or abs(value) > LARGEST:
        remedy = next((word for pattern, word in _REMEDIES if pattern.fullmatch(cell)), "")
        expected = "0 or 1" if head.name == "category" else "a number; its unit stands in the header"
        raise BadNumber(f"{head.name} is {cell[:_SHOWN]!r}", where=where, expected=expected, remedy=remedy)
    return value


def _require_possible(numbers: dict[str, Quantity], where: str) -> None:
    """Require valid numbers of a stop: a positive time, a nonzero speed, whole counts and so on."""
    for name, (value, _) in numbers.items():
        if name in _POSITIVE and value <= 0:
            raise BadNumber(f"{name} is {value:g} s", where=where, expected="a positive number")
        if name in _NOT_NEGATIVE and value < 0:
            raise BadNumber(f"{name} is {value:g}", where=where, expected="a number that is not negative")
    if numbers["category"].value not in (0, 1):
        raise BadNumber(f"category is {numbers['category'].value:g}", where=where, expected="0 or 1")
    if numbers["speed"].value == 0:
        raise BadNumber("speed is 0", where=where, expected="the speed of the joint at the signal")
    if "sense" in numbers and numbers["sense"].value not in (-1, 1):
        raise BadNumber(f"sense is {numbers['sense'].value:g}", where=where, expected="1 or -1")
    if "repeats" in numbers and (numbers["repeats"].value < 1 or numbers["repeats"].value % 1):
        raise BadNumber(
            f"repeats is {numbers['repeats'].value:g}", where=where, expected="a whole number from 1 on"
        )


# A row as a stop of a robot.


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


# Conversion of the rows of a file to stops of a robot: joints, their units, and speeds from shares.


def measurements_of(
    file: MeasuredFile, mech: Mechanism, speeds: Mapping[str, float] | None = None
) -> tuple[Measurement, ...]:
    """Return the measured stops of a robot.

    Parameters
    ----------
    speeds : mapping, optional
        Full speed by joint, rad/s or m/s; by default the velocity limits.

    Raises
    ------
    UnknownName, BadUsage
        The robot has no such joint, the joint has several freedoms, a unit does not match it,
        or a speed is a share of an unknown full speed.
    """
    require_joints(mech, speeds or {})
    return tuple(_measurement(file.where(record.line), record, mech, speeds or {}) for record in file.records)


def _measurement(where: str, record: Record, mech: Mechanism, speeds: Mapping[str, float]) -> Measurement:
    numbers, length = record.numbers, _slides(record.joint, mech, where)
    for name in ("speed", "distance", "distance_spread"):
        kind = numbers[name].kind if name in numbers else ""
        if kind == ("angle" if length else "length"):
            raise BadUsage(
                f"the {name} of joint {record.joint!r} is {'an angle' if length else 'a length'}",
                where=where,
                expected="m, as the joint slides" if length else "rad or deg, as the joint turns",
            )
    speed = numbers["speed"].value
    if numbers["speed"].kind == "share":
        speed *= _full_speed(record.joint, mech, speeds, where)
    q = []
    for name, quantity in numbers.items():
        if name.startswith("q "):
            if name[2:] not in mech.q_names:
                raise UnknownName(
                    f"column {name!r} names no coordinate",
                    where=where,
                    remedy=suggestion(name[2:], mech.q_names),
                )
            q.append((name[2:], quantity.value))
    values = {name: quantity.value for name, quantity in numbers.items()}
    row = Measurement(
        record.line,
        record.joint,
        int(values["category"]),
        abs(speed),
        int(values.get("sense", 0)) * (1 if speed > 0 else -1) or (0 if speed > 0 else -1),
        numbers.get("payload"),
        numbers.get("extension"),
        tuple(q),
        values.get("time", nan),
        values.get("distance", nan),
        int(values.get("repeats", 1)),
        values.get("time_spread"),
        values.get("distance_spread"),
        numbers,
    )
    _require_one_unit(row, where)
    freedom = mech.pair_by_name[record.joint].freedoms[0]
    travel, unit = freedom.upper - freedom.lower, "m" if length else "rad"
    _require_below(
        _MEASUREMENTS_LONGEST,
        row.time,
        f"takes {row.time:g} s",
        where,
        f"{_MEASUREMENTS_LONGEST:g} s",
        "time [ms]",
    )
    _require_below(
        travel * _ROUNDING,
        row.distance,
        f"goes {row.distance:g} {unit}",
        where,
        f"the whole travel of the joint, {travel:.4g} {unit}",
        "distance [mm]" if length else "distance [deg]",
    )
    return row


def _require_one_unit(row: Measurement, where: str) -> None:
    """Require that distance, speed and time are consistent, which they are not if degrees and radians are mixed."""
    ratio = 0.5 * row.shape_index
    if ratio > _FARTHEST or ratio < _NEAREST:
        raise BadUsage(
            f"joint {row.joint!r} goes {row.distance:g} in {row.time:g} s from a speed of {row.speed:g} (SI units),"
            f" {ratio:.3g} times its way at undiminished speed",
            where=where,
            expected=f"{_NEAREST:g} to {_FARTHEST:g} times, with all columns in the units of the header",
            remedy="state units in the header, such as speed [deg/s]",
        )


def _require_below(most: float, value: float, what: str, where: str, limit: str, head: str) -> None:
    """Require a plausible time or distance: columns that all lack their units are consistent with each other."""
    if value > most:
        raise BadUsage(
            f"the stop {what}",
            where=where,
            expected=f"at most {limit}",
            remedy=f"state the unit in the header, such as {head}",
        )


def _slides(joint: str, mech: Mechanism, where: str) -> bool:
    if joint not in mech.pair_by_name:
        movable = [pair.name for pair in mech.pairs if pair.kind.free]
        raise UnknownName(f"there is no joint {joint!r}", where=where, remedy=suggestion(joint, movable))
    free = mech.pair_by_name[joint].kind.free
    if len(free) != 1:
        raise BadUsage(
            f"joint {joint!r} has {len(free)} freedoms", where=where, expected="a joint with one freedom"
        )
    return free[0][0] == "t"


def _full_speed(joint: str, mech: Mechanism, speeds: Mapping[str, float], where: str) -> float:
    value = speeds.get(joint, mech.pair_by_name[joint].freedoms[0].velocity)
    if not (isfinite(value) and value > 0):
        raise BadUsage(
            f"the speed of joint {joint!r} is a share, but its full speed is unknown",
            where=where,
            expected="a velocity limit in the robot's file",
            remedy=f"state it with --speed {joint}=VALUE",
        )
    return float(value)


# Repeats of one stop: it is an error if they differ by more than their spread.


def require_consistent(file: MeasuredFile, rows: Sequence[Measurement]) -> None:
    """Require that rows of one condition agree within their spread.

    The spread is the stated one, else that of the other repeats of the same joint in the same category.

    Raises
    ------
    BadUsage
        Rows disagree; the message names the lines, the values and the spread.
    """
    groups: dict[tuple[object, ...], list[Measurement]] = defaultdict(list)
    for row in rows:
        groups[row.condition].append(row)
    repeated = [group for group in groups.values() if len(group) > 1]
    for group in repeated:
        for column, unit in (("time", "s"), ("distance", "rad or m")):
            others = [g for g in repeated if g is not group and g[0].condition[:2] == group[0].condition[:2]]
            spread = _contradicted(group, others, column)
            if spread is not None:
                lines = listed([str(row.line) for row in group])
                values = listed([f"{getattr(row, column):g}" for row in group])
                raise BadUsage(
                    f"the repeats in lines {lines} contradict each other: {column} is {values} {unit}",
                    where=file.where(group[0].line),
                    expected=f"a scatter like {spread}",
                    remedy="correct the rows, or state in a column what is different between them",
                )


def _contradicted(group: list[Measurement], others: list[list[Measurement]], column: str) -> str | None:
    """Return the spread that the values of a group exceed, as a phrase; None if they agree."""
    values, counts = _values(group, column)
    if len(values) < 2:
        return None
    mean = float(np.average(values, weights=counts))
    squares, freedom = float((counts * (values - mean) ** 2).sum()), len(values) - 1
    stated = [s for s in (getattr(row, f"{column}_spread") for row in group) if s]
    if stated:
        spread = float(np.mean(stated))
        return f"the stated {spread:g}" if squares > spread**2 * chi2.isf(_CHANCE, freedom) else None
    # scatter may be absolute or relative: values contradict each other only if both tests fail
    beyond, shown = [], 0.0
    for size in (1.0, mean):
        pooled = [_squares(*_values(other, column), relative=size != 1.0) for other in others]
        degrees = sum(n for _, n in pooled)
        spread = size * float(np.sqrt(sum(s for s, _ in pooled) / degrees)) if degrees else 0.0
        if degrees >= 4 and spread > 0.0:
            beyond.append(squares / freedom > spread**2 * f.isf(_CHANCE, freedom, degrees))
            shown = max(shown, spread)
    if beyond:
        return f"that of the other repeats, {shown:.3g}" if all(beyond) else None
    return f"a factor below {_FACTOR:g}" if values.max() > _FACTOR * values.min() else None


def _values(group: list[Measurement], column: str) -> tuple[Array, Array]:
    """Return the measured values (n,) of a column, and the numbers (n,) of stops of which they are means."""
    found = [(getattr(row, column), float(row.repeats)) for row in group]
    kept = np.array([pair for pair in found if np.isfinite(pair[0])]).reshape(-1, 2)
    return kept[:, 0], kept[:, 1]


def _squares(values: Array, counts: Array, *, relative: bool) -> tuple[float, int]:
    """Return the sum of squares of values (n,) about their mean, weighted by counts (n,), and degrees of freedom.

    If ``relative``, the sum is divided by the square of the mean.
    """
    if len(values) < 2:
        return 0.0, 0
    mean = float(np.average(values, weights=counts))
    size = mean if relative and mean else 1.0
    return float((counts * (values - mean) ** 2).sum()) / size**2, len(values) - 1


# Conditions for rows that are predicted, not fitted, such as ``speed=100%`` or ``payload>3``.


def _equal(a: float, b: float) -> bool:
    return abs(a - b) <= _EQUAL * max(abs(a), abs(b))


_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<=": lambda a, b: a < b or _equal(a, b),
    ">=": lambda a, b: a > b or _equal(a, b),
    "!=": lambda a, b: not _equal(a, b),
    "=": _equal,
    "<": operator.lt,
    ">": operator.gt,
}


def held_out(expression: str | None, file: MeasuredFile, rows: Sequence[Measurement]) -> tuple[bool, ...]:
    """Return for each row whether it is predicted, not fitted.

    Raises
    ------
    BadUsage
        The condition has not the form COLUMN=VALUE, names an unknown column or a unit of another kind, or holds for
        no row or for all.
    """
    if expression is None:
        return (False,) * len(rows)
    tests = [_test(part, file) for part in expression.split(",")]
    found = tuple(all(test(row) for test in tests) for row in rows)
    if not any(found) or all(found):
        raise BadUsage(
            f"--hold-out {expression!r} holds for {'all rows' if any(found) else 'no row'} of {file.path}",
            expected="a condition for some rows",
        )
    return found


def _test(text: str, file: MeasuredFile) -> Callable[[Measurement], bool]:
    match = re.fullmatch(r"\s*([^=<>!]+?)\s*(<=|>=|!=|=|<|>)\s*(.+?)\s*", text)
    if not match:
        raise BadUsage(f"--hold-out has {text!r}", expected=_FORM)
    column, symbol, value = match.groups()
    heads = {head.name: head for head in file.heads}
    if column not in heads:
        raise BadUsage(f"--hold-out names {column!r}", expected=f"a column of {', '.join(heads)}")
    compare = _OPERATORS[symbol]
    if column == "joint":
        if symbol not in ("=", "!="):
            raise BadUsage(f"--hold-out has {text!r}", expected="joint=NAME or joint!=NAME")
        return lambda row: (row.joint == value) == (symbol == "=")
    number, unit, factor = read_quantity(value, column)
    head = heads[column]
    if unit and (unit == "%") != (head.kind == "share"):
        raise BadUsage(
            f"--hold-out compares {column!r} with {value}",
            expected=f"its unit in the file, {head.unit or 'SI'}",
        )
    wanted = number * (factor if unit else head.factor)
    return lambda row: column in row.columns and compare(row.columns[column].value, wanted)
