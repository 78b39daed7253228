"""A cross-check as text: the verdict, PyBullet's convergence, and the largest deviations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted, joined_by_words
from mbplugin.report.rounding import shown
from mbplugin.report.text.blocks import note_lines, sentences_under, warning_lines
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped
from mbplugin.report.text.table import grid_lines

if TYPE_CHECKING:
    from mbplugin.comparison.agreement import Agreement, Check, Row

_COLUMN = 12
_STYLES = {"agrees": "bold green", "disagrees": "bold red"}
#: Rows of elements that are printed for a quantity; all are in the JSON.
_MOST = 3


def crosscheck_lines(
    found: Agreement, name: str, width: int = PLAIN_WIDTH, units: Units = SI
) -> Iterator[Line]:
    """Yield the report of one cross-check, with angles and lengths in some units."""
    yield from warning_lines(found.of_effort.warning, width)
    style = "bold yellow" if found.agrees and found.assumed else _STYLES.get(found.verdict, "bold yellow")
    for text in wrapped(f"{name}: {found.verdict}. {_sentence(found.reason)}", width, "", "  "):
        yield Line(text, style)
    if found.steps:
        yield from (Line(text) for text in wrapped(_steps(found), width, "", "  "))
    still = [row for row in found.rows if not row.errors]
    moved = [row for row in found.rows if row.errors]
    if still:
        yield from _still(still, width, units)
    if moved:
        yield from _moved(found, moved, width, units)
    if found.checks:
        yield from _checks(found.checks, width)
    yield from sentences_under("Assumed", joined_by_words(found.assumed), width)
    yield from note_lines(found.notes, width)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _steps(found: Agreement) -> str:
    steps = ", ".join(f"{1e3 * step:.4g}" for step in found.steps)
    solver = found.settings
    orders = ", ".join(f"{order:.2f}" for order in found.orders) or "none, it is exact"
    return (
        f"{found.duration:.6g} s in steps of {steps} ms; observed orders {orders}; "
        f"{solver['iterations']:.0f} iterations, residual threshold {solver['residual_threshold']:g}, "
        f"ERP {solver['erp']:g}"
    )


def _still(rows: Sequence[Row], width: int, units: Units) -> Iterator[Line]:
    cells, agree = [], []
    for quantity, own in _by_quantity(rows):
        worst = _worst(own)
        for row in [row for row in worst if not row.agrees] or worst[:1]:
            size, unit = units.shown(row.unit)
            label = f"{quantity} of {row.element} [{unit}]" if unit != "1" else quantity
            cells.append((label, (f"{len(own)}", f"{size * row.deviation:.3g}", f"{size * row.bound:.3g}")))
            agree.append(row.agrees)
    yield from _table("without motion", ("compared", "deviation", "bound"), cells, agree, width)


def _moved(found: Agreement, rows: Sequence[Row], width: int, units: Units) -> Iterator[Line]:
    cells, agree, below = [], [], []
    for quantity, own in _by_quantity(rows):
        worst = _worst(own)
        for row in worst[:_MOST]:
            size, unit = units.shown(row.unit)
            numbers = (*row.errors, row.deviation, row.bound)
            cells.append(
                (
                    f"{quantity} of {row.element} [{unit}]",
                    [shown(value, size=size, digits=3) for value in numbers],
                )
            )
            agree.append(row.agrees)
            below.append(list[Line]())
        if len(own) > _MOST:
            below[-1].append(
                Line(f"    and {counted(len(own) - _MOST, 'row')} of {quantity} that are closer")
            )
    heads = (*(f"{1e3 * step:.4g} ms" for step in found.steps), "step → 0", "bound")
    yield from _table("largest deviation", heads, cells, agree, width, below)


def _checks(checks: Sequence[Check], width: int) -> Iterator[Line]:
    cells = [
        (
            f"{check.program}: {check.name}{f' [{check.unit}]' if check.unit != '1' else ''}",
            (f"{check.value:.3g}", f"{check.bound:.3g}"),
        )
        for check in checks
    ]
    agree = [check.passes for check in checks]
    yield from _table("checks of each motion alone", ("off by", "bound"), cells, agree, width)


def _table(
    title: str,
    heads: Sequence[str],
    cells: Sequence[tuple[str, Sequence[str]]],
    agree: Sequence[bool],
    width: int,
    below: Sequence[Sequence[Line]] = (),
) -> Iterator[Line]:
    """Yield a table in which a row that does not agree is marked."""
    rows = [(label, [*own, "" if agrees else "✗"]) for (label, own), agrees in zip(cells, agree, strict=True)]
    styles = ["" if agrees else "red" for agrees in agree]
    yield Line()
    yield from grid_lines(title, heads, rows, width, _COLUMN, styles, below)


def _by_quantity(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.quantity, []).append(row)
    return list(found.items())


def _worst(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -row.deviation / row.bound if row.bound else 0.0)
