"""A stopping table: its first page, curves over speed, all rows, measured stops, and the swept zone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.model import Array, Units
from mbplugin.phrases import counted
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import (
    Chart,
    Curve,
    Html,
    Point,
    data_cell,
    element,
    figure,
    joined,
    section,
    table,
    tick_labels,
    ticks,
)
from mbplugin.report.html.view import signature_lines
from mbplugin.report.text import stopping
from mbplugin.stopping.table import (
    HTML_CELLS,
    Cell,
    StoppingTable,
    cells_with_bounds,
    rows_in_units,
    slip_words,
)
from mbplugin.stopping.zones import zone_sentences

if TYPE_CHECKING:
    from mbplugin.stopping.calibration import MeasuredStops
    from mbplugin.stopping.calibration.intervals import ComparedRow


#: Heads of the table of poses.
POSE_HEADS = ("axis", "joint", "extension %", "sense", "pose")
#: Curves that differ by less than this fraction of the largest value are indistinguishable.
_SAME = 5e-3
#: Digits of a file hash on the first page; the record has all.
_DIGEST = 16
#: Colours of points in charts of measured stops: fitted or computed, and predicted.
_OWN, _PREDICTED = 0, 1


# The first page: the longest stops, the robot, and the evidence.
#: Size of the plan and its margin, in units of the drawing.
_PLAN, _MARGIN = 420.0, 46.0


def first_page_section(chapter: Chapter) -> Html | None:
    """Return the summary of a stopping table for an auditor, with signature lines on paper."""
    made = chapter.table
    if made is None or not made.rows:
        return None
    rows = rows_in_units(made, chapter.units)
    return element(
        "section",
        element("h2", "Longest stops"),
        table(
            ("axis", *stopping.summary_heads(chapter.units), "brake or ramp"),
            [
                element(
                    "tr",
                    element("td", name),
                    [element("td", cell, class_="n") for cell in numbers],
                    element("td", evidence),
                )
                for name, (*numbers, evidence) in stopping.summary_cells(rows)
            ],
            numbers=range(1, 8),
        ),
        element(
            "dl",
            [
                element("div", element("dt", name), element("dd", said))
                for name, said in _facts(chapter, made)
            ],
            class_="facts",
        ),
        signature_lines(),
        class_="first",
    )


def _facts(chapter: Chapter, made: StoppingTable) -> Iterator[tuple[str, str]]:
    """Yield the facts of the first page with their names: robot, stops, payload, evidence, files and so on."""
    categories = sorted({row["category"] for row in made.rows})
    yield "robot", f"{made.model}, tool {made.tool}"
    yield "stops", f"{counted(len(made.rows), 'stop')} of category {' and '.join(map(str, categories))}"
    heaviest = max(row["payload"] for row in made.rows)
    yield "payload", f"up to {heaviest:g} kg" if heaviest else "none is stated"
    if made.form is not None:
        yield "form", made.form
    yield "evidence", stopping.evidence_sentence(made)
    for sentence in filter(None, (made.bound_sentence, made.equal_loads)):
        yield "", sentence
    if made.measured is not None:
        yield "measured stops", made.measured.sentence
    record = chapter.record
    if record is not None:
        files = (
            f"{Path(one.path).name}, SHA-256 {(one.sha256 or '')[:_DIGEST]}…"
            for one in record.files
            if one.sha256
        )
        yield "files", "; ".join(files)
        yield "computed", f"{record.date}, mbplugin {record.version}"


# Curves, all rows, measured stops, and poses.


def stopping_table_section(chapter: Chapter) -> Html | None:
    """Return the section with the curves, rows, measured stops and poses of a stopping table."""
    made = chapter.table
    if made is None:
        return None
    units = chapter.units
    rows = rows_in_units(made, units)
    shown = cells_with_bounds(HTML_CELLS, made.bounded)
    units_of_axes = {row["unit"] for row in rows}
    # a unit that all axes share is written in the head only
    unit = units_of_axes.pop() if len(units_of_axes) == 1 else ""
    heads = (*(cell.title(units, unit) for cell in shown), element("span", "again", class_="again"))
    numbers = range(len(shown))
    charts = [figure(*one) for one in _charts(made, rows, units)]
    return section(
        "Stopping table",
        element("div", charts, class_="charts"),
        table(heads, list(_grouped(rows, shown, bool(unit))), numbers=numbers, class_="stops"),
        _measured(made.measured, units) if made.measured is not None else None,
        table(POSE_HEADS, _poses(rows), caption="Poses at the signal"),
        lead=f"Tool: {made.tool}. Computed, not measured; numbers are rounded up. Rows in which the arm does not"
        " stop are red, those in which another joint slips amber.",
    )


def _grouped(rows: Sequence[dict[str, Any]], shown: Sequence[Cell], unit_in_head: bool) -> Iterator[Html]:
    """Yield the rows grouped by category and axis, each group below a heading row."""
    for (category, axis), own in groupby(rows, key=lambda row: (row["category"], row["axis"])):
        block = list(own)
        first = block[0]
        full = first["speed"] * 100 / first["speed_percent"]
        title = f"Category {category}, axis {axis}: {first['joint']}, full speed {full:.4g} {first['unit']}/s"
        head = element("th", title, colspan=len(shown) + 1, scope="rowgroup")
        yield element("tr", head, class_="group")
        for row in block:
            yield from _row(row, shown, unit_in_head)


def _row(row: dict[str, Any], shown: Sequence[Cell], unit_in_head: bool) -> Iterator[Html]:
    """Yield the row of a stop, and below it its outcome unless at rest, and other joints that slip."""
    class_ = "bad" if not _rests(row) else "warn" if row["slips"] else None
    cells = [data_cell(cell.text(row, unit_in_head), "n") for cell in shown]
    yield element("tr", [*cells, element("td", command_details(row["command"]))], class_=class_)
    outcome = [] if _rests(row) else [row["outcome"].replace("_", " ")]
    if said := "; ".join((*outcome, *slip_words(row))):
        yield element("tr", element("td", said, colspan=len(shown) + 1, class_="below"), class_=class_)


def command_details(command: str | None) -> Html:
    """Return the folded command that recomputes a row of a table."""
    return element(
        "details",
        element("summary", "command"),
        element("code", command or "the model was not read from a file"),
        class_="again",
    )


def _rests(row: Mapping[str, Any]) -> bool:
    return bool(row["outcome"] == "stopped")


def _poses(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Return the distinct poses, as those of one axis and extension are the same at all speeds and payloads."""
    return list(
        dict.fromkeys(
            (
                f"{row['axis']}",
                row["joint"],
                f"{row['extension_percent']}",
                "positive" if row["sense"] > 0 else "negative",
                ", ".join(f"{name} {value:.4g}" for name, value in row["q"].items()),
            )
            for row in rows
        )
    )


# Curves over the speed, one line per extension, at the largest payload.


def _charts(made: StoppingTable, all_rows: list[dict[str, Any]], units: Units) -> Iterator[tuple[Chart, str]]:
    """Yield the charts of each axis and category, each with a note.

    A category with a single speed, such as category 0 by the standard, is drawn as points in the charts of the
    others. A stop that does not end at rest has no stopping time: it is a red point instead of part of a curve.
    """
    full = max((row["payload_percent"] for row in all_rows), default=0)
    beside = [] if made.measured is None else made.measured.rows
    for k, joint in enumerate(made.axes, 1):
        for category in sorted({row["category"] for row in all_rows}):
            rows = [
                r
                for r in all_rows
                if r["axis"] == k and r["category"] == category and r["payload_percent"] == full
            ]
            if _is_curve(rows):
                single = _single(all_rows, k, full)
                drawn = {category, *(row["category"] for row in single)}
                measured = [row for row in beside if row.joint == joint and row.category in drawn]
                at = f"category {category}, payload {full} %"
                yield from _of_axis(rows, f"Axis {k}, {joint}", at, single, measured, units)


def _is_curve(rows: list[dict[str, Any]]) -> bool:
    return len({row["speed"] for row in rows}) > 1


def _single(all_rows: list[dict[str, Any]], axis: int, full: float) -> list[dict[str, Any]]:
    """Return the rows of an axis at payload ``full`` in the categories with a single speed."""
    own = [r for r in all_rows if r["axis"] == axis and r["payload_percent"] == full]
    groups = [[r for r in own if r["category"] == category] for category in {r["category"] for r in own}]
    return [row for rows in groups if not _is_curve(rows) for row in rows]


def _of_axis(
    rows: list[dict[str, Any]],
    axis: str,
    at: str,
    single: list[dict[str, Any]],
    measured: Sequence[ComparedRow],
    units: Units,
) -> Iterator[tuple[Chart, str]]:
    unit = rows[0]["unit"]
    for key, factor, words, of in (("distance", 1.0, "distance", unit), ("time", 1e3, "time to rest", "ms")):
        curves = []
        for share in sorted({row["extension_percent"] for row in rows}):
            rested = [r for r in rows if r["extension_percent"] == share and _rests(r)]
            own = np.array(sorted((r["speed"], factor * r[key]) for r in rested)).reshape(-1, 2)
            if len(own):
                curves.append(Curve(f"{share}", *own.T))
        missed = [r for r in rows if not _rests(r)]
        points = [Point(r["speed"], factor * r[key], *_named(r)) for r in (*single, *missed)]
        size = units.shown(measured[0].unit)[0] if measured else 1.0
        for row in measured:
            value = row.time_measured if key == "time" else row.distance_measured
            if value is not None:
                scale = factor if key == "time" else size
                name = f"measured, category {row.category}"
                points.append(
                    Point(size * row.speed, scale * value, name, filled=True, colour=_OWN + row.category)
                )
        title = f"{axis}: {words}, {at}"
        chart = Chart(
            title, f"speed [{unit}/s]", f"[{of}]", merged(curves), points=tuple(points), from_zero=True
        )
        yield chart, _falling(rows) if key == "time" else ""


def merged(curves: Sequence[Curve]) -> tuple[Curve, ...]:
    """Merge indistinguishable curves of extensions (%) into one with all their names."""
    groups: list[list[Curve]] = []
    largest = max((float(np.abs(curve.y).max()) for curve in curves), default=0.0)
    for curve in curves:
        for group in groups:
            first = group[0]
            if np.array_equal(first.x, curve.x) and np.abs(first.y - curve.y).max() <= _SAME * largest:
                group.append(curve)
                break
        else:
            groups.append([curve])
    return tuple(
        Curve(f"{', '.join(curve.name for curve in group)} % extension", group[0].x, group[0].y)
        for group in groups
    )


def _falling(rows: list[dict[str, Any]]) -> str:
    """Return a note on why the stopping time decreases with speed; empty if it does not."""
    for share in {row["extension_percent"] for row in rows}:
        own = sorted(
            (r for r in rows if r["extension_percent"] == share and _rests(r)),
            key=lambda r: float(r["speed"]),
        )
        for slow, fast in pairwise(own):
            if fast["time"] >= slow["time"] * (1.0 - _SAME):
                continue
            if slow["category"] == 1:
                why = "the slower stop has the lower deceleration, or its joint moves on after the ramp"
            else:
                why = "the faster stop ends in another pose, where gravity helps to brake it"
            return f"The time falls where the speed grows ({share} % extension): {why}."
    return ""


def _named(row: dict[str, Any]) -> tuple[str, bool]:
    """Return the name of a row's point, and True if the stop did not come to rest."""
    name = f"category {row['category']}, {row['extension_percent']} % extension"
    return (name, False) if _rests(row) else (f"{name}: {row['outcome'].replace('_', ' ')}", True)


# Measured and computed stops.


def _measured(beside: MeasuredStops, units: Units) -> Html:
    """Return charts and a table of measured and computed stops; measured stops beyond the computed ones are marked."""
    rows = [
        element(
            "tr",
            [
                element("td", cell, class_="n")
                for cell in (stopping.measured_name(row), *stopping.row_cells(row, units))
            ],
            class_="bad" if not row.covered else "warn" if row.far else None,
        )
        for row in beside.rows
    ]
    return joined(
        [
            element("h3", stopping.MEASURED_TITLE),
            element("p", beside.sentence),
            element("p", str(beside.source), class_="fine"),
            element(
                "div", [figure(chart) for chart in compared_charts(beside.rows, units)], class_="charts four"
            ),
            table(("line", *stopping.ROW_HEADS), rows, numbers=range(8)),
        ]
    )


def compared_charts(
    rows: Sequence[ComparedRow], units: Units, predicted: Iterable[int] = ()
) -> Iterator[Chart]:
    """Yield charts of computed over measured times and distances, and of their deviations over the speed.

    Parameters
    ----------
    rows : sequence of ComparedRow
    units : Units
    predicted : iterable of int
        Line numbers of the rows that were predicted, not fitted.
    """
    out = set(predicted)
    for name, unit in (("time", "s"), *(("distance", unit) for unit in dict.fromkeys(r.unit for r in rows))):
        own = [
            row
            for row in rows
            if getattr(row, f"{name}_measured") is not None and (name == "time" or row.unit == unit)
        ]
        if not own:
            continue
        size, shown = (1e3, "ms") if name == "time" else units.shown(unit)
        pairs = [
            (size * getattr(row, f"{name}_measured"), size * getattr(row, f"{name}_computed")) for row in own
        ]
        most = max(value for pair in pairs for value in pair)
        kinds = [_kind(row, name, out) for row in own]
        yield Chart(
            f"{name.capitalize()}: computed over measured",
            f"measured [{shown}]",
            f"computed [{shown}]",
            (Curve("computed as measured", np.array([0.0, most]), np.array([0.0, most]), dashed=True),),
            points=tuple(
                Point(*pair, words, bad, colour=colour)
                for pair, (words, bad, colour) in zip(pairs, kinds, strict=True)
            ),
            from_zero=True,
        )
        speed, of_speed = units.shown(own[0].unit)
        yield Chart(
            f"{name.capitalize()}: deviation of computed from measured",
            f"speed [{of_speed}/s]",
            "[%]",
            (
                Curve(
                    "computed as measured",
                    np.array([0.0, max(speed * row.speed for row in own)]),
                    np.zeros(2),
                    dashed=True,
                ),
            ),
            points=tuple(
                Point(speed * row.speed, 100.0 * (b / a - 1.0) if a else 0.0, words, bad, colour=colour)
                for row, (a, b), (words, bad, colour) in zip(own, pairs, kinds, strict=True)
            ),
        )


def _kind(row: ComparedRow, name: str, predicted: set[int]) -> tuple[str, bool, int]:
    """Return the name of a point, True if it is red, and its colour index."""
    gap = row.time_deviation if name == "time" else row.distance_deviation
    short = gap is not None and gap < 0.0
    own = "predicted" if row.line in predicted else "computed"
    return (
        (f"{own} shorter", True, 0)
        if short
        else (f"{own} longer", False, _PREDICTED if own != "computed" else 0)
    )


# The zone that the stops sweep, in top view.


def zone_section(chapter: Chapter) -> Html | None:
    """Return the section with the plan of the zone, its scale and its assumptions."""
    zone = chapter.zone
    if zone is None:
        return None
    size, metre = chapter.units.shown("m")
    lower, upper = size * zone.lower[:2], size * zone.upper[:2]
    reach = float(max(upper - lower)) or 1.0
    scale = (_PLAN - 2 * _MARGIN) / reach

    def place(corner: Array) -> tuple[float, float]:
        x, y = _MARGIN + scale * (size * corner - lower)
        return float(x), _PLAN - float(y)

    outlines = [
        element("polygon", points=" ".join("{:.1f},{:.1f}".format(*place(c)) for c in polygon), class_="zone")
        for polygon in zone.polygons
    ]
    drawn = element(
        "svg",
        element("title", "The zone on the floor, seen from above"),
        list(_plan_axes(lower, upper, scale)),
        outlines,
        element("path", d="M{:.1f} {:.1f}m-6 0h12m-6 -6v12".format(*place(np.zeros(2))), class_="axis"),
        element("text", f"x [{metre}]", x=_PLAN - 4, y=_PLAN - 8, class_="label end"),
        element("text", f"y [{metre}]", x=4, y=14, class_="label"),
        viewBox=f"0 0 {_PLAN:g} {_PLAN:g}",
        role="img",
        aria_label="The zone on the floor, seen from above",
    )
    caption = element("figcaption", element("strong", "The zone on the floor; the cross is the origin"))
    return section(
        "Zone",
        element("figure", caption, drawn, class_="chart plan"),
        element("ul", [element("li", one) for one in zone_sentences(zone) if one not in chapter.warnings]),
        lead="What the robot, its tool and its payload sweep in these stops. Computed, not measured.",
    )


def _plan_axes(lower: Array, upper: Array, scale: float) -> Iterator[Html]:
    """Yield the grid lines of a plan with their labels, from lower (2,) to upper (2,)."""
    for k, (low, high) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        values = ticks(low, high, 5)
        for value, label in zip(values, tick_labels(values), strict=True):
            at = _MARGIN + scale * (value - low)
            if k == 0:
                yield element("path", d=f"M{at:.1f} {_MARGIN:g}V{_PLAN:g}", class_="grid")
                yield element("text", label, x=f"{at:.1f}", y=_MARGIN - 6, class_="tick middle")
            else:
                y = _PLAN - at
                yield element("path", d=f"M{_MARGIN:g} {y:.1f}H{_PLAN:g}", class_="grid")
                yield element("text", label, x=_MARGIN - 6, y=f"{y + 4:.1f}", class_="tick end")
