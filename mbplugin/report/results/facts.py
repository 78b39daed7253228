"""A result without a text of its own: its line, and its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mbplugin.phrases import number
from mbplugin.report.results.presentation import columns_of
from mbplugin.report.text.layout import Line, wrapped
from mbplugin.report.text.table import table_lines


def fact_lines(line: str, rows: Sequence[Mapping[str, Any]], width: int) -> Iterator[Line]:
    """Yield the line of a result, and its table, the first column on the left."""
    yield from head_lines(line, width)
    if rows:
        title, *heads = columns_of(rows)
        table = [(str(row[title]), [_cell(row.get(head)) for head in heads]) for row in rows]
        yield from table_lines(title, heads, table, width)


def head_lines(line: str, width: int) -> Iterator[Line]:
    """Yield the line of a result without its type."""
    _, _, facts = line.strip("<>").partition(" ")
    yield from map(Line, wrapped(facts, width, rest="  "))


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(value, ".6g") if isinstance(value, float) else "" if value is None else str(value)
