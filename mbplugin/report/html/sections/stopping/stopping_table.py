"""A stopping table: curves of distance and time over speed, and all rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.chart import Chart, Curve, Point, figure
from mbplugin.report.html.markup import Html, data_cell, element, joined, section, table
from mbplugin.report.text.stopping.calibrate import ROW_HEADS, row_cells
from mbplugin.report.text.stopping.stop_table import MEASURED_TITLE, measured_name
from mbplugin.stopping.table.columns import HTML_CELLS
from mbplugin.stopping.table.in_units import head_in_units, rows_in_units
from mbplugin.stopping.table.values import StoppingTable

if TYPE_CHECKING:
    from mbplugin.model.units import Units
    from mbplugin.stopping.table.measured import MeasuredStops

#: Heads of the table of poses.
POSE_HEADS = ("axis", "joint", "extension %", "sense", "pose")
#: Columns that hold numbers.
_NUMBERS = tuple(k for k, cell in enumerate(HTML_CELLS) if cell.number)


def stopping_table_section(chapter: Chapter) -> Html | None:
    """Return curves and rows."""
    made = chapter.table
    if made is None:
        return None
    rows = rows_in_units(made, chapter.units)
    heads = (
        *(head_in_units(cell, chapter.units) for cell in HTML_CELLS),
        element("span", "again", class_="again"),
    )
    return section(
        "Stopping table",
        element("div", [figure(chart) for chart in _charts(made, rows)], class_="charts"),
        table(heads, [_row(row) for row in rows], numbers=_NUMBERS),
        _measured(made.measured, chapter.units) if made.measured is not None else None,
        table(POSE_HEADS, _poses(rows), caption="Poses at the signal"),
        lead=f"Tool: {made.tool}. Computed, not measured. Rows in which the arm does not stop are red,"
        " those in which another joint slips amber.",
    )


def _measured(beside: MeasuredStops, units: Units) -> Html:
    """Return measured stops beside computed ones; those that took longer or went farther are marked."""
    rows = [
        element(
            "tr",
            [element("td", cell, class_="n") for cell in (measured_name(row), *row_cells(row, units))],
            class_=None if row.covered else "bad",
        )
        for row in beside.rows
    ]
    return joined(
        [
            element("h3", MEASURED_TITLE),
            element("p", beside.sentence),
            element("p", str(beside.source), class_="fine"),
            table(("line", *ROW_HEADS), rows, numbers=range(8)),
        ]
    )


def _charts(made: StoppingTable, all_rows: list[dict[str, Any]]) -> Iterator[Chart]:
    """Yield curves over the speed, one line per extension, at the largest payload.

    A category of one speed only, as category 0 is by the standard, is points in the curves of the others. A stop
    that does not end at rest has no stopping time: it is in no curve, but a red point.
    """
    full = max((row["payload_percent"] for row in all_rows), default=0)
    for k, joint in enumerate(made.axes, 1):
        for category in sorted({row["category"] for row in all_rows}):
            rows = [
                r
                for r in all_rows
                if r["axis"] == k and r["category"] == category and r["payload_percent"] == full
            ]
            if _is_curve(rows):
                single = _single(all_rows, k, full)
                yield from _of_axis(
                    rows, f"Axis {k}, {joint}", f"category {category}, payload {full} %", single
                )


def _is_curve(rows: list[dict[str, Any]]) -> bool:
    return len({row["speed"] for row in rows}) > 1


def _single(all_rows: list[dict[str, Any]], axis: int, full: float) -> list[dict[str, Any]]:
    """Return the rows of an axis at full payload in the categories that have one speed only."""
    own = [r for r in all_rows if r["axis"] == axis and r["payload_percent"] == full]
    groups = [[r for r in own if r["category"] == category] for category in {r["category"] for r in own}]
    return [row for rows in groups if not _is_curve(rows) for row in rows]


def _of_axis(rows: list[dict[str, Any]], axis: str, at: str, single: list[dict[str, Any]]) -> Iterator[Chart]:
    unit = rows[0]["unit"]
    for key, factor, words, of in (("distance", 1.0, "distance", unit), ("time", 1e3, "time to rest", "ms")):
        curves = []
        for share in sorted({row["extension_percent"] for row in rows}):
            rested = [r for r in rows if r["extension_percent"] == share and _rests(r)]
            own = np.array(sorted((r["speed"], factor * r[key]) for r in rested)).reshape(-1, 2)
            if len(own):
                curves.append(Curve(f"{share} % extension", *own.T))
        missed = [r for r in rows if not _rests(r)]
        points = tuple(Point(r["speed"], factor * r[key], *_named(r)) for r in (*single, *missed))
        title = f"{axis}: {words}, {at}"
        yield Chart(title, f"speed [{unit}/s]", f"[{of}]", tuple(curves), points=points)


def _named(row: dict[str, Any]) -> tuple[str, bool]:
    """Return what the point of a row is, and whether the stop is not at rest there."""
    name = f"category {row['category']}, {row['extension_percent']} % extension"
    return (name, False) if _rests(row) else (f"{name}: {row['outcome'].replace('_', ' ')}", True)


def _rests(row: dict[str, Any]) -> bool:
    return bool(row["outcome"] == "stopped")


def _poses(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return the poses, each once: those of one axis and extension are the same at all speeds and payloads."""
    return list(
        dict.fromkeys(
            (
                f"{row['axis']}",
                row["joint"],
                f"{row['extension_percent']}",
                "positive" if row["sense"] > 0 else "negative",
                ", ".join(f"{name} {value:.6g}" for name, value in row["q"].items()),
            )
            for row in rows
        )
    )


def _row(row: dict[str, Any]) -> Html:
    cells = (*(cell.show(row) for cell in HTML_CELLS), _again(row))
    return element(
        "tr",
        [data_cell(cell, "n" if k in _NUMBERS else None) for k, cell in enumerate(cells)],
        class_="bad" if not _rests(row) else "warn" if row["slips"] else None,
    )


def _again(row: dict[str, Any]) -> Html:
    """Return the command that computes the row again, folded up."""
    return element(
        "details",
        element("summary", "command"),
        element("code", row["command"] or "the model was not read from a file"),
        class_="again",
    )
