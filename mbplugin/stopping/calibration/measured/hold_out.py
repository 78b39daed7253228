"""Conditions on rows, such as ``speed=100%`` or ``payload>3``: which rows are predicted and not fitted."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence

from mbplugin.errors import BadUsage
from mbplugin.stopping.calibration.measured.measurement import Measurement
from mbplugin.stopping.calibration.measured.table import MeasuredFile
from mbplugin.stopping.calibration.measured.units import read_quantity

_FORM = "COLUMN=VALUE, with = != < <= > or >=; several, all of which hold, with commas"
#: Numbers that differ by less than this share are equal.
_EQUAL = 1e-9


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
    """Return of each row whether it is predicted and not fitted.

    Raises
    ------
    BadUsage
        No condition of the form COLUMN=VALUE, a column that the file does not have, a unit of another kind,
        or a condition that holds for no row or for all.
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
