"""A motion of a driver as a CSV file: time, value, and optionally rate and acceleration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mbplugin.csv_tables import CsvTable, quotable, read_csv
from mbplugin.errors import BadNumber, BadUsage, MbPluginError
from mbplugin.model.mechanism.motion_profile import Between, MotionProfile
from mbplugin.model.units import UNITS, symbol

#: The columns in their order, and what each is of a joint that turns, and of one that slides.
_COLUMNS = {
    "time": ("time", "time"),
    "value": ("angle", "length"),
    "rate": ("angular rate", "speed"),
    "acceleration": ("angular acceleration", "acceleration"),
}
_HEAD = re.compile(r"\s*([a-z]+)\s*(?:\[[^\]]*\])?\s*")
_UNIT = re.compile(r"\[\s*([^\]]*?)\s*\]")
#: Bytes of a file.
_LONGEST = 2_000_000


def read_profile(path: Path, turns: bool, between: Between = "spline") -> MotionProfile:
    """Return the motion through the rows of a CSV file; lines that begin with # are comments.

    Parameters
    ----------
    path : Path
        With a header: ``time`` and ``value``, then ``rate`` and ``acceleration`` where they are stated; in s, rad
        and m, or in the unit that the header has in brackets, such as ``value [deg]``.
    turns : bool
        Whether the value is an angle, or a length.
    between : "spline" or "rest"
        As for :meth:`MotionProfile.from_points`.

    Raises
    ------
    UnreadableFile, BadUsage, BadNumber
        No such file, no table, or no motion; with the line.
    """
    table = read_csv(path, _LONGEST)
    (line, header), *rows = table.rows
    factors = [
        _factor(cell, name, turns, table.where(line)) for cell, name in _heads(header, table.where(line))
    ]
    points = [_numbers(table, row, factors, table.where(line)) for line, row in rows]
    try:
        return MotionProfile.from_points(points, between)
    except MbPluginError as error:
        raise type(error)(error.what, where=str(path), expected=error.expected, remedy=error.remedy) from None


def _heads(cells: Sequence[str], where: str) -> list[tuple[str, str]]:
    """Return each cell of the header with the column that it must be."""
    named = [_HEAD.fullmatch(cell.lower()) for cell in cells]
    names = tuple(match[1] if match else cell for match, cell in zip(named, cells, strict=True))
    if names != tuple(_COLUMNS)[: len(names)] or len(names) < 2:
        wrong = next(
            (k for k, (name, known) in enumerate(zip(names, _COLUMNS, strict=False)) if name != known), -1
        )
        raise BadUsage(
            f"column {wrong + 1} of the motion is {quotable(cells[wrong], 'no name')}"
            if wrong >= 0
            else f"the motion has {len(names)} {'column' if len(names) == 1 else 'columns'}",
            where=where,
            expected="time, value and, where they are stated, rate, acceleration",
        )
    return list(zip(cells, names, strict=True))


def _factor(cell: str, name: str, turns: bool, where: str) -> float:
    """Return the size of the unit in a header, SI; 1 where there is none."""
    unit = (_UNIT.search(cell) or [""] * 2)[1]
    if not unit:
        return 1.0
    known = UNITS[_COLUMNS[name][0 if turns else 1]]
    if symbol(unit) not in known:
        raise BadUsage(
            f"column {name} is in {quotable(unit, 'no known unit')}",
            where=where,
            expected=f"one of {', '.join(known)}",
        )
    return known[symbol(unit)]


def _numbers(table: CsvTable, row: Sequence[str], factors: list[float], where: str) -> list[float]:
    if len(row) != len(factors):
        raise BadUsage(
            f"the row has {len(row)} cells", where=where, expected=f"{len(factors)}, as the header"
        )
    try:
        return [table.number(cell) * factor for cell, factor in zip(row, factors, strict=True)]
    except ValueError:
        raise BadNumber(
            "a cell of the motion is no number", where=where, expected="decimal numbers"
        ) from None
