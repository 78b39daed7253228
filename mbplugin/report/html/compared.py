"""Comparisons with PyBullet, with another model, between engines, and with an earlier report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.report import shown
from mbplugin.report.against import change_words, input_words, title_of
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import (
    Chart,
    Curve,
    Html,
    choice,
    data_cell,
    element,
    figure,
    joined,
    section,
    table,
    unshown,
)
from mbplugin.report.text import COMPONENT_NAMES
from mbplugin.report.text.models import (
    absent_words,
    decided_texts,
    element_text,
    normalised_texts,
    quantities_text,
    stop_cells,
    wrench_cell,
)

if TYPE_CHECKING:
    from mbplugin.comparison.agreement import Agreement, Row
    from mbplugin.comparison.models.alignment import Difference, ModelDiff
    from mbplugin.comparison.side_by_side import JointWrench
    from mbplugin.model import Origin


_HEADS = ("quantity", "of", "deviation", "bound", "unit", "error at each step", "orders", "at [s]", "verdict")
#: Maximum number of coordinates with curves; those that move most are drawn.
_DRAWN = 5
_MOST = 500
#: Maximum number of differences shown; all are in the JSON.
_DIFF_MOST = 200
#: Maximum number of joints shown; all are in the JSON.
_ENGINES_MOST = 100


def agreement_section(chapter: Chapter) -> Html | None:
    """Return the section on the comparison with PyBullet: orders, errors, curves and compared quantities."""
    found = chapter.agreement
    if found is None:
        return None
    # disagreeing rows first, then rows with errors by step before those without motion
    rows = sorted(found.rows, key=lambda row: (row.agrees, not row.errors))
    parted = [row for row in rows if row.errors or not row.agrees]
    still = [row for row in rows if not row.errors and row.agrees]
    second = found.second
    return section(
        f"{found.engine}'s answer",
        element("p", f"{second.engine}: {second.verdict}. {second.reason[:1].upper()}{second.reason[1:]}.")
        if second is not None
        else None,
        element("ul", [element("li", sentence) for sentence in _settings(found)]),
        element("div", [figure(chart) for chart in _charts(found)], class_="charts"),
        _table(parted, decided=found.verdict != "not asymptotic") if parted else None,
        element(
            "details",
            element("summary", f"{len(still)} values that need no motion, all agree"),
            _table(still),
        )
        if still
        else None,
        _checks(found) if found.checks else None,
        _table([row for row in second.rows if not row.agrees])
        if second is not None and second.verdict == "disagrees"
        else None,
        [element("p", f"Note: {note}", class_="fine") for note in found.notes],
        lead=f"{found.verdict[:1].upper()}{found.verdict[1:]}: {found.reason}.",
    )


def _checks(found: Agreement) -> Html:
    """Return the table of the internal checks of each motion."""
    rows = [
        element(
            "tr",
            [
                element("td", check.program),
                element("td", check.name),
                element("td", f"{check.value:.3g}", class_="n"),
                element("td", f"{check.bound:.3g}", class_="n"),
                element("td", check.unit),
                element("td", "passes" if check.passes else "fails"),
            ],
            class_=None if check.passes else "warn",
        )
        for check in found.checks
    ]
    return table(
        ("motion of", "check of this motion alone", "off by", "bound", "unit", "verdict"),
        rows,
        numbers=(2, 3),
    )


def _settings(found: Agreement) -> Iterator[str]:
    if found.duration:
        yield f"Duration {found.duration:.4g} s."
    if found.steps:
        yield f"Steps of {found.engine}: {', '.join(f'{1e3 * step:.4g}' for step in found.steps)} ms."
    if found.orders:
        yield f"Observed orders of convergence: {', '.join(f'{order:.2f}' for order in found.orders)}."
    if found.settings:
        settings = [f"{name.replace('_', ' ')} {value:g}" for name, value in found.settings.items()]
        yield f"Solver: {', '.join(settings)}."


def _table(rows: Sequence[Row], decided: bool = True) -> Html:
    first = table(_HEADS, [_row(row, decided) for row in rows[:_MOST]], numbers=(2, 3, 7))
    return joined([first, unshown(len(rows), _MOST)])


def _row(row: Row, decided: bool) -> Html:
    """Return a row; without an extrapolation (``decided`` False), a deviation within its bound is undecided."""
    within = "agrees" if decided or not row.errors else "undecided"
    cells = (
        row.quantity,
        row.element,
        shown(row.deviation, digits=3),
        f"{row.bound:.3g}",
        row.unit,
        ", ".join(shown(error, digits=3) for error in row.errors),
        ", ".join(f"{order:.2f}" for order in row.orders),
        "" if row.time is None else f"{row.time:.4g}",
        within if row.agrees else element("span", "disagrees", class_="badge bad"),
    )
    sides = [None, None, "n", "n", None, None, None, "n", None]
    return element(
        "tr",
        [data_cell(cell, side) for cell, side in zip(cells, sides, strict=True)],
        class_=None if row.agrees else "bad",
    )


def _charts(found: Agreement) -> Iterator[Chart]:
    """Yield the errors by step, then the coordinates that move most, ours and the engine's."""
    units = {row.element: row.unit for row in found.rows if row.quantity == "coordinate"}
    if len(found.steps) > 1 and (errors := tuple(_errors(found))):
        shown = {units[curve.name] for curve in errors}
        label = f"[{' or '.join(sorted(shown, reverse=True))}]"
        yield Chart(f"{found.engine}'s error by its step", "step [s]", label, errors, powers="xy")
    curves = found.curves
    if curves is None or not len(curves.names):
        return
    moving = np.argsort(-np.ptp(curves.ours, axis=0), kind="stable")[:_DRAWN]
    for k in sorted(moving.tolist()):
        pair = (
            Curve("mbplugin", curves.time, curves.ours[:, k]),
            Curve(f"{found.engine} at its smallest step", curves.time, curves.bullet[:, k], dashed=True),
        )
        yield Chart(curves.names[k], "time [s]", f"[{units.get(curves.names[k], 'rad or m')}]", pair)


def _errors(found: Agreement) -> Iterator[Curve]:
    coordinates = [r for r in found.rows if r.quantity == "coordinate" and len(r.errors) == len(found.steps)]
    for row in sorted(coordinates, key=lambda r: -r.errors[0])[:_DRAWN]:
        if all(row.errors):
            yield Curve(row.element, np.log10(found.steps), np.log10(row.errors))


# Differences between two models, and normalisations.


def diff_section(chapter: Chapter) -> Html | None:
    """Return the section on two models, with a row for each difference and its probable cause."""
    found = chapter.difference
    if found is None:
        return None
    models = [
        f"A: {found.a.name}: {quantities_text(found.a)}",
        f"B: {found.b.name}: {quantities_text(found.b)}",
    ]
    rows = [row for one in found.differences[:_DIFF_MOST] for row in _rows(one)]
    heads = ("what", "element", "A", "B", "probable cause")
    return section(
        "Differences between two models",
        element("ul", [element("li", text) for text in (*models, *decided_texts(found))]),
        table(heads, rows) if rows else None,
        unshown(len(found.differences), _DIFF_MOST),
        *_stop_rows(found),
        element("h3", "Normalised before the comparison") if found.normalised else None,
        element("ul", [element("li", text) for text in normalised_texts(found.normalised)]),
        element("h3", "Not compared") if found.not_compared else None,
        element("ul", [element("li", one.text) for one in found.not_compared]),
        lead=f"A and B: {found.verdict}.",
    )


def _stop_rows(found: ModelDiff) -> Iterator[Html]:
    """Yield the table of the emergency stops, if they were requested."""
    if not found.stops:
        return
    rows = []
    for change in found.stops[:_DIFF_MOST]:
        before, after = (stop_cells(figure) for figure in (change.a, change.b))
        cells = (change.joint, *(cell for both in zip(before, after, strict=True) for cell in both))
        rows.append(element("tr", [data_cell(cell) for cell in cells]))
    yield element("h3", "Emergency stops of each joint from its velocity limit")
    yield table(("joint", "time A", "time B", "travel A", "travel B", "tool A", "tool B"), rows)


def _short(place: Origin) -> str:
    """Return a location with the name of its file only; the record has the folders."""
    return str(replace(place, file=Path(place.file).name))


def _rows(found: Difference) -> Iterator[Html]:
    places = [
        f"{value or 'none'}{f' ({_short(place)})' if place is not None and place.file else ''}"
        for value, place in ((found.value_a, found.place_a), (found.value_b, found.place_b))
    ]
    cells = (found.quantity, element_text(found), *places, found.cause)
    yield element("tr", [data_cell(cell) for cell in cells], class_="warn")


# The joint forces of several engines side by side, marked as determined or not, and as agreeing or not.


def engines_section(chapter: Chapter) -> Html | None:
    """Return the section on several engines, with a row for each component; undetermined ones are marked."""
    found = chapter.side_by_side
    if found is None:
        return None
    names = [answer.engine for answer in found.answers]
    absent = [absent_words(one.engine, one.reason) for one in found.engines if one.reason]
    rows = [row for joint in found.joints[:_ENGINES_MOST] for row in _engines_rows(joint, names)]
    return section(
        "Joint forces of several engines",
        element("ul", [element("li", sentence) for sentence in (*absent, *found.notes)]),
        table(("joint", "component", *names, "verdict"), rows, numbers=range(2, 2 + len(names))),
        unshown(len(found.joints), _ENGINES_MOST),
        lead="On the successor, at the origin of its joint frame, in N and N·m.",
    )


def _engines_rows(joint: JointWrench, names: list[str]) -> Iterator[Html]:
    for k, component in enumerate(COMPONENT_NAMES):
        unique, agrees = bool(joint.unique[k]), bool(joint.agrees[k])
        badge = "unique" if unique else "non-unique"
        said = badge if unique == agrees else f"{badge}, {'equal' if agrees else 'differs'}"
        yield element(
            "tr",
            element("td", choice(joint.name, "joint") if k == 0 else None),
            element("td", component),
            [
                element("td", wrench_cell(joint.wrenches[name][k], joint.size[k]), class_="n")
                for name in names
            ],
            element("td", element("span", said, class_=f"badge {badge if agrees or not unique else 'bad'}")),
            class_="bad" if unique and not agrees else None,
        )


# Differences from an earlier report.


def against_section(chapter: Chapter) -> Html | None:
    """Return the section on an earlier report: inputs that differ, and a row for each key with differing values."""
    comparison = chapter.comparison
    if comparison is None:
        return None
    inputs = [element("li", input_words(changed)) for changed in comparison.inputs]
    rows = [
        element("tr", [data_cell(cell) for cell in change_words(change)]) for change in comparison.changes
    ]
    return section(
        "Against an earlier report",
        element("ul", inputs) if inputs else None,
        table(("key", "what differs", "difference"), rows) if rows else None,
        lead=title_of(comparison),
    )
