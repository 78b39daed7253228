"""Measured stops as a CSV file: columns, units in the header, one row for each stop."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path

from mbplugin.csv_tables import CsvTable, read_csv
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.bounds import LARGEST
from mbplugin.stopping.calibration.measured.units import REQUIRED, Head, Quantity, read_head, require_one_unit

#: Cells that are no numbers to a program, and what to do about them.
_REMEDIES = (
    (
        re.compile(r"[-+]?\d+,\d+(e[-+]?\d+)?", re.IGNORECASE),
        "write decimal points, or decimal commas throughout",
    ),
    (re.compile(r"(stop|cat(egory)?\.?) ?\d", re.IGNORECASE), "write the number alone"),
    (re.compile(r"[-+]?[\d.]+ ?[^\d\s.,]+"), "write the number alone, and its unit in the header"),
)
#: Characters of a cell that a message quotes.
_SHOWN = 40
#: Bytes of a table.
_LONGEST = 20_000_000


@dataclass(frozen=True)
class Record:
    """A row before it is read: its line, its joint, and its numbers by column."""

    line: int
    joint: str
    numbers: dict[str, Quantity]


@dataclass(frozen=True)
class MeasuredFile:
    """What a file states.

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
        """Return a place in the file."""
        return f"{self.path}:{line}"


def read_measured(path: Path) -> MeasuredFile:
    """Return the rows of a CSV file; lines that begin with # are comments.

    Raises
    ------
    UnreadableFile, BadNumber, BadUsage
        No such file, no table, a missing column, or a cell that is no number; names the line.
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


#: Columns whose numbers are positive, and those that may be zero.
_POSITIVE, _NOT_NEGATIVE = ("time",), ("distance", "payload", "extension", "time_spread", "distance_spread")


def _require_possible(numbers: dict[str, Quantity], where: str) -> None:
    """Require what every stop has: a positive time, whole numbers where things are counted."""
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
