"""A stopping table as text: the assumptions, one line per stop, slipping joints, and the poses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted, number
from mbplugin.report.text.blocks import warning_lines
from mbplugin.report.text.layout import PLAIN_WIDTH, TITLE, Line, wrapped
from mbplugin.report.text.stopping.calibrate import ROW_HEADS, row_cells
from mbplugin.report.text.stopping.worst_stop import found_lines
from mbplugin.report.text.table import grid_lines, table_lines
from mbplugin.stopping.table.columns import TEXT_CELLS
from mbplugin.stopping.table.in_units import head_in_units, rows_in_units
from mbplugin.stopping.table.values import slip_words

if TYPE_CHECKING:
    from mbplugin.stopping.table.measured import MeasuredRow, MeasuredStops
    from mbplugin.stopping.table.values import StoppingTable

#: Of the measured stops of a table.
MEASURED_TITLE = "Measured stops beside computed ones, nothing fitted"
#: Widths of columns: in SI units, and in smaller ones.
_COLUMN, _WIDE_COLUMN = 10, 13


def stop_table_lines(
    table: StoppingTable, width: int = PLAIN_WIDTH, *, commands: bool = False, units: Units = SI
) -> Iterator[Line]:
    """Yield the table, by category and axis; optionally with the command that computes each row again."""
    for warning in table.warnings:
        yield from warning_lines(warning, width)
    title = f"{table.model}: stopping table, tool {table.tool}; computed, not measured"
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    for sentence in table.assumptions[1:]:
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    blocks = groupby(rows_in_units(table, units), key=lambda row: (row["category"], row["axis"]))
    for _, rows in blocks:
        yield from _block(list(rows), width, commands, units)
    if table.measured is not None:
        yield from _measured(table.measured, width, units)
    if table.worst is not None:
        title = f"Worst of {counted(table.worst.count, 'stop')} of category 0, seed {table.worst.seed}"
        yield Line()
        yield from (Line(text, TITLE) for text in wrapped(title, width, "", "  "))
        for sentence in table.worst.only_here(table.assumptions):
            yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
        yield from found_lines(table.worst, width, commands=commands, units=units)


def _measured(beside: MeasuredStops, width: int, units: Units) -> Iterator[Line]:
    """Yield the measured stops of a file beside computed ones."""
    yield Line()
    yield Line(MEASURED_TITLE, TITLE)
    yield from (Line(text) for text in wrapped(str(beside.source), width, "  ", "    "))
    missed = any(not row.covered for row in beside.rows)
    yield from (
        Line(text, "bold red" if missed else "") for text in wrapped(beside.sentence, width, "  ", "    ")
    )
    rows = [(measured_name(row), row_cells(row, units)) for row in beside.rows]
    yield from table_lines("line", ROW_HEADS, rows, width, 14)


def measured_name(row: MeasuredRow) -> str:
    """Return what a measured stop is, and how the computed one ends where it does not come to rest."""
    outcome = "" if row.outcome == "stopped" else f", {row.outcome.replace('_', ' ')}"
    return f"{row.line} {row.joint}, category {row.category}{outcome}"


def _block(rows: list[dict[str, Any]], width: int, commands: bool, units: Units) -> Iterator[Line]:
    """Yield the rows of an axis in a category, and the poses at the signal."""
    first = rows[0]
    full = first["speed"] * 100 / first["speed_percent"]
    title = f"Category {first['category']}, axis {first['axis']}: {first['joint']}"
    yield Line()
    title += f", {full:.4g} {first['unit']}/s"
    yield from (Line(text, TITLE) for text in wrapped(title, width, "", "  "))
    heads = [head_in_units(cell, units) for cell in TEXT_CELLS]
    cells = [("", [*(cell.show(row) for cell in TEXT_CELLS), _outcome(row)]) for row in rows]
    below = [list(_below(row, width, commands)) for row in rows]
    yield from grid_lines("", heads, cells, width, _COLUMN if units.is_si else _WIDE_COLUMN, below=below)
    for share, row in {row["extension_percent"]: row for row in rows}.items():
        sense = "positive" if row["sense"] > 0 else "negative"
        pose = ", ".join(f"{name} {number(value)}" for name, value in row["q"].items())
        said = f"pose ({units.angle}, {units.length}) of {share} % extension, the axis in its {sense} sense: {pose}"
        yield from (Line(text) for text in wrapped(said, width, "  ", "    "))


def _outcome(row: Mapping[str, Any]) -> str:
    return "" if row["outcome"] == "stopped" else str(row["outcome"]).replace("_", " ")


def _below(row: Mapping[str, Any], width: int, commands: bool) -> Iterator[Line]:
    """Yield which other joints slip in the stop of a row, and the command that computes it again."""
    for phrase in slip_words(row):
        yield from (Line(text, "yellow") for text in wrapped(phrase, width, "    ! ", "      "))
    if commands and row["command"]:
        yield Line(f"    {row['command']}")
