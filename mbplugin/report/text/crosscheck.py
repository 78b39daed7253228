"""A cross-check as text: the verdict, PyBullet's convergence, and the largest deviations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.model.units import SI, Units
from mbplugin.phrases import counted, cut_short
from mbplugin.report.text.blocks import TITLE, note_lines, row_text
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.comparison.agreement import Agreement, Check, Row

_COLUMN = 12
#: Widths of the first column: beside errors at every step, and where there is no step.
_NARROW, _WIDE = 34, 56
_STYLES = {"agrees": "bold green", "disagrees": "bold red"}
#: Rows of elements that are printed for a quantity; all are in the JSON.
_MOST = 3


def crosscheck_lines(
    found: Agreement, name: str, width: int = PLAIN_WIDTH, units: Units = SI
) -> Iterator[Line]:
    """Yield the report of one cross-check, with angles and lengths in some units."""
    style = _STYLES.get(found.verdict, "bold yellow")
    for text in wrapped(f"{name}: {found.verdict}. {_sentence(found.reason)}", width, "", "  "):
        yield Line(text, style)
    if found.steps:
        yield from (Line(text) for text in wrapped(_steps(found), width, "", "  "))
    still = [row for row in found.rows if not row.errors]
    moved = [row for row in found.rows if row.errors]
    if still:
        yield Line()
        yield from _still(still, units)
    if moved:
        yield Line()
        yield from _moved(found, moved, units)
    if found.checks:
        yield Line()
        yield from _checks(found.checks)
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


def _still(rows: Sequence[Row], units: Units) -> Iterator[Line]:
    yield Line(row_text("without motion", ("compared", "deviation", "bound"), _WIDE, _COLUMN), TITLE)
    for quantity, own in _by_quantity(rows):
        worst = _worst(own)
        for row in [row for row in worst if not row.agrees] or worst[:1]:
            size, unit = units.shown(row.unit)
            label = f"{quantity} of {row.element} [{unit}]" if unit != "1" else quantity
            cells = (f"{len(own)}", f"{size * row.deviation:.3g}", f"{size * row.bound:.3g}")
            yield _cells(label, cells, row.agrees, _WIDE)


def _moved(found: Agreement, rows: Sequence[Row], units: Units) -> Iterator[Line]:
    heads = [f"{1e3 * step:.4g} ms" for step in found.steps]
    yield Line(row_text("largest deviation", (*heads, "step → 0", "bound"), _NARROW, _COLUMN), TITLE)
    for quantity, own in _by_quantity(rows):
        worst = _worst(own)
        for row in worst[:_MOST]:
            size, unit = units.shown(row.unit)
            cells = tuple(f"{size * e:.3g}" for e in (*row.errors, row.deviation, row.bound))
            yield _cells(f"{quantity} of {row.element} [{unit}]", cells, row.agrees, _NARROW)
        if len(own) > _MOST:
            yield Line(f"    and {counted(len(own) - _MOST, 'row')} of {quantity} that are closer")


def _checks(checks: Sequence[Check]) -> Iterator[Line]:
    yield Line(row_text("checks of each motion alone", ("off by", "bound"), _WIDE, _COLUMN), TITLE)
    for check in checks:
        unit = f" [{check.unit}]" if check.unit != "1" else ""
        cells = (f"{check.value:.3g}", f"{check.bound:.3g}")
        yield _cells(f"{check.program}: {check.name}{unit}", cells, check.passes, _WIDE)


def _cells(label: str, cells: Sequence[str], agrees: bool, wide: int) -> Line:
    text = row_text(cut_short(label, wide), cells, wide, _COLUMN)
    return Line(text if agrees else text + "  ✗", "" if agrees else "red")


def _by_quantity(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.quantity, []).append(row)
    return list(found.items())


def _worst(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: -row.deviation / row.bound if row.bound else 0.0)
