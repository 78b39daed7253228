"""A stopping table: curves of distance and time over speed, and all rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.chart import Chart, Curve, figure
from mbplugin.report.html.markup import Html, element, section, table
from mbplugin.stopping.table.values import StoppingTable, slip_words

_HEADS = (
    "category",
    "axis",
    "joint",
    "speed %",
    "extension %",
    "payload [kg]",
    "axis at rest [ms]",
    "arm at rest [ms]",
    "distance",
    "of it reaction",
    "tool path [m]",
    "tool, straight [m]",
    "outcome",
    "other joints",
    "again",
)
#: Columns that hold numbers.
_NUMBERS = (0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11)


def stopping_table_section(chapter: Chapter) -> Html | None:
    """Return curves and rows."""
    made = chapter.table
    if made is None:
        return None
    return section(
        "Stopping table",
        element("div", [figure(chart) for chart in _charts(made)], class_="charts"),
        table(_HEADS, [_row(row) for row in made.rows], numbers=_NUMBERS),
        lead=f"Tool: {made.tool}. Computed, not measured. Rows in which the arm does not stop, or another"
        " joint slips, are marked.",
    )


def _charts(made: StoppingTable) -> Iterator[Chart]:
    """Yield curves over the speed, one line per extension, at the largest payload."""
    full = max((row["payload_percent"] for row in made.rows), default=0)
    for k, joint in enumerate(made.axes, 1):
        for category in sorted({row["category"] for row in made.rows}):
            rows = [
                r
                for r in made.rows
                if r["axis"] == k and r["category"] == category and r["payload_percent"] == full
            ]
            # of one speed there is no curve
            if len({row["speed"] for row in rows}) > 1:
                yield from _of_axis(rows, f"Axis {k}, {joint}: category {category}, payload {full} %")


def _of_axis(rows: list[dict[str, Any]], title: str) -> Iterator[Chart]:
    unit = rows[0]["unit"]
    for key, factor, label in (("distance", 1.0, f"distance [{unit}]"), ("time", 1e3, "axis at rest [ms]")):
        curves = []
        for share in sorted({row["extension_percent"] for row in rows}):
            own = sorted((r["speed"], factor * r[key]) for r in rows if r["extension_percent"] == share)
            speed, value = np.array(own).T
            curves.append(Curve(f"{share} % extension", speed, value))
        yield Chart(title, f"speed [{unit}/s]", label, tuple(curves))


def _row(row: dict[str, Any]) -> Html:
    cells = (
        row["category"],
        row["axis"],
        row["joint"],
        row["speed_percent"],
        row["extension_percent"],
        f"{row['payload']:.4g} ({row['payload_percent']} %)",
        f"{1e3 * row['time']:.1f}",
        f"{1e3 * row['rest_time']:.1f}",
        f"{row['distance']:.4f} {row['unit']}",
        f"{row['reaction_distance']:.4f}",
        f"{row['tool_distance']:.4f}",
        f"{row['tool_displacement']:.4f}",
        row["outcome"].replace("_", " "),
        "; ".join(slip_words(row)),
        _again(row),
    )
    return element(
        "tr",
        [element("td", cell, class_="n" if k in _NUMBERS else None) for k, cell in enumerate(cells)],
        class_=None if row["outcome"] == "stopped" and not row["slips"] else "warn",
    )


def _again(row: dict[str, Any]) -> Html:
    """Return the pose at the signal and the command that computes the row again, folded up."""
    sense = "positive" if row["sense"] > 0 else "negative"
    pose = ", ".join(f"{name} {value:.6g}" for name, value in row["q"].items())
    return element(
        "details",
        element("summary", "pose, command"),
        element("p", f"{row['joint']} in its {sense} sense from {pose}"),
        element("code", row["command"]) if row["command"] else None,
    )
