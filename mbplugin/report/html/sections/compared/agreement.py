"""The comparison with PyBullet: the verdict, the order of convergence, every compared quantity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.chart import Chart, Curve, figure
from mbplugin.report.html.markup import Html, data_cell, element, joined, section, table, unshown
from mbplugin.report.rounding import shown

if TYPE_CHECKING:
    from mbplugin.comparison.agreement import Agreement, Row

_HEADS = ("quantity", "of", "deviation", "bound", "unit", "error at each step", "orders", "at [s]", "verdict")
#: Coordinates whose curves are drawn: those that move most.
_DRAWN = 5
_MOST = 500


def agreement_section(chapter: Chapter) -> Html | None:
    """Return the section."""
    found = chapter.agreement
    if found is None:
        return None
    # what has moved comes before what only stands, what disagrees before what agrees
    rows = sorted(found.rows, key=lambda row: (row.agrees, not row.errors))
    parted = [row for row in rows if row.errors or not row.agrees]
    still = [row for row in rows if not row.errors and row.agrees]
    return section(
        "PyBullet's answer",
        element("ul", [element("li", sentence) for sentence in _settings(found)]),
        element("div", [figure(chart) for chart in _charts(found)], class_="charts"),
        _table(parted, decided=found.verdict != "not asymptotic") if parted else None,
        _folded(still) if still else None,
        _checks(found) if found.checks else None,
        [element("p", f"Note: {note}", class_="fine") for note in found.notes],
        lead=f"{found.verdict[:1].upper()}{found.verdict[1:]}: {found.reason}.",
    )


def _checks(found: Agreement) -> Html:
    """Return what speaks for and against each motion, seen for itself."""
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


def _folded(rows: Sequence[Row]) -> Html:
    words = f"{len(rows)} values that need no motion, all agree"
    return element("details", element("summary", words), _table(rows))


def _settings(found: Agreement) -> Iterator[str]:
    if found.duration:
        yield f"Duration {found.duration:.4g} s."
    if found.steps:
        yield f"Steps of PyBullet: {', '.join(f'{1e3 * step:.4g}' for step in found.steps)} ms."
    if found.orders:
        yield f"Observed orders of convergence: {', '.join(f'{order:.2f}' for order in found.orders)}."
    if found.settings:
        settings = [f"{name.replace('_', ' ')} {value:g}" for name, value in found.settings.items()]
        yield f"Solver: {', '.join(settings)}."


def _table(rows: Sequence[Row], decided: bool = True) -> Html:
    first = table(_HEADS, [_row(row, decided) for row in rows[:_MOST]], numbers=(2, 3, 7))
    return joined([first, unshown(len(rows), _MOST)])


def _row(row: Row, decided: bool) -> Html:
    """Return a row; where nothing can be extrapolated, a deviation within its wide bound is no agreement."""
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
    """Yield the errors by step, then the coordinates that move most, ours and PyBullet's."""
    units = {row.element: row.unit for row in found.rows if row.quantity == "coordinate"}
    if len(found.steps) > 1 and (errors := tuple(_errors(found))):
        shown = {units[curve.name] for curve in errors}
        label = f"[{' or '.join(sorted(shown, reverse=True))}]"
        yield Chart("PyBullet's error by its step", "step [s]", label, errors, powers="xy")
    curves = found.curves
    if curves is None or not len(curves.names):
        return
    moving = np.argsort(-np.ptp(curves.ours, axis=0), kind="stable")[:_DRAWN]
    for k in sorted(moving.tolist()):
        pair = (
            Curve("mbplugin", curves.time, curves.ours[:, k]),
            Curve("PyBullet at its smallest step", curves.time, curves.bullet[:, k], dashed=True),
        )
        yield Chart(curves.names[k], "time [s]", f"[{units.get(curves.names[k], 'rad or m')}]", pair)


def _errors(found: Agreement) -> Iterator[Curve]:
    coordinates = [r for r in found.rows if r.quantity == "coordinate" and len(r.errors) == len(found.steps)]
    for row in sorted(coordinates, key=lambda r: -r.errors[0])[:_DRAWN]:
        if all(row.errors):
            yield Curve(row.element, np.log10(found.steps), np.log10(row.errors))
