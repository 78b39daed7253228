"""The comparison with PyBullet: the verdict, the order of convergence, every compared quantity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.chart import Chart, Curve, figure
from mbplugin.report.html.markup import Html, element, section, table

if TYPE_CHECKING:
    from mbplugin.bullet.agreement import Agreement, Row

_HEADS = ("quantity", "of", "deviation", "bound", "unit", "error at each step", "orders", "at [s]", "")
#: Coordinates whose curves are drawn: those that move most.
_DRAWN = 5
_MOST = 500


def agreement_section(chapter: Chapter) -> Html | None:
    """Return the section."""
    found = chapter.agreement
    if found is None:
        return None
    steps = ", ".join(f"{step:.3g}" for step in found.steps)
    orders = ", ".join(f"{order:.2f}" for order in found.orders)
    told = [
        f"Duration {found.duration:.4g} s." if found.duration else "",
        f"Steps of PyBullet: {steps} s." if steps else "",
        f"Observed orders of convergence: {orders}." if orders else "",
        " ".join(f"{name.replace('_', ' ')} {value:g};" for name, value in found.settings.items()),
    ]
    return section(
        "PyBullet's answer",
        element("ul", [element("li", one) for one in told if one]),
        element("div", [figure(chart) for chart in _charts(found)], class_="charts"),
        table(_HEADS, [_row(row) for row in found.rows[:_MOST]], numbers=(2, 3, 7)),
        [element("p", f"Note: {note}", class_="fine") for note in found.notes],
        lead=f"PyBullet {found.verdict}: {found.reason}" if found.reason else f"PyBullet {found.verdict}.",
    )


def _row(row: Row) -> Html:
    cells = (
        row.quantity,
        row.element,
        f"{row.deviation:.3g}",
        f"{row.bound:.3g}",
        row.unit,
        ", ".join(f"{error:.3g}" for error in row.errors),
        ", ".join(f"{order:.2f}" for order in row.orders),
        "" if row.time is None else f"{row.time:.4g}",
        "agrees" if row.agrees else "disagrees",
    )
    sides = [None, None, "n", "n", None, None, None, "n", None]
    return element(
        "tr",
        [element("td", cell, class_=side) for cell, side in zip(cells, sides, strict=True)],
        class_=None if row.agrees else "warn",
    )


def _charts(found: Agreement) -> Iterator[Chart]:
    """Yield the coordinates that move most, ours and PyBullet's at its smallest step."""
    curves = found.curves
    if curves is None or not len(curves.names):
        return
    moving = np.argsort(-np.ptp(curves.ours, axis=0), kind="stable")[:_DRAWN]
    for k in sorted(moving.tolist()):
        pair = (
            Curve("mbplugin", curves.time, curves.ours[:, k]),
            Curve("PyBullet", curves.time, curves.bullet[:, k]),
        )
        yield Chart(curves.names[k], "time [s]", "[rad or m]", pair)
