"""A cross-check as text: the verdicts, the convergence of each engine, and the largest deviations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.closing.drift import assumptions_of
from mbplugin.model.brake_law import SI, Units
from mbplugin.phrases import counted, joined_by_words
from mbplugin.report.formats import shown
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, grid_lines, table_lines, wrapped
from mbplugin.report.text.models import note_lines, sentences_under, warning_lines

if TYPE_CHECKING:
    from mbplugin.closing.commanded import Commanded
    from mbplugin.closing.drift import Closing, Drift
    from mbplugin.comparison.agreement import Agreement, Check, Row

_COLUMN = 12
_STYLES = {"agrees": "bold green", "disagrees": "bold red"}
#: Maximum number of elements printed for a quantity; all are in the JSON.
_MOST = 3
_HEADS = ("closures of", "gap mm", "turn mrad", "force N", "noise N")


def crosscheck_lines(
    found: Agreement, name: str, width: int = PLAIN_WIDTH, units: Units = SI
) -> Iterator[Line]:
    """Yield the report of a cross-check with one engine or two, with angles and lengths in some units."""
    yield from warning_lines(found.of_effort.warnings, width)
    of_engines = [found] if found.second is None else [found, found.second]
    # who reads one line reads that something disagrees
    of_engines.sort(key=lambda one: one.verdict != "disagrees")
    for one in of_engines:
        style = (
            "bold yellow"
            if one.verdict == "agrees" and one.assumed
            else _STYLES.get(one.verdict, "bold yellow")
        )
        who = name if found.second is None else f"{name}, {one.engine}"
        for text in wrapped(f"{who}: {one.verdict}. {_sentence(one.reason)}", width, "", "  "):
            yield Line(text, style)
    for one in of_engines:
        if one is found or one.verdict != "agrees":
            yield from _engine_lines(one, width, units)
    yield from sentences_under("Assumed", joined_by_words(found.assumed), width)
    yield from note_lines(tuple(dict.fromkeys(note for one in of_engines for note in one.notes)), width)


def _engine_lines(found: Agreement, width: int, units: Units) -> Iterator[Line]:
    """Yield the steps and tables of one engine."""
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


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _steps(found: Agreement) -> str:
    steps = ", ".join(f"{1e3 * step:.4g}" for step in found.steps)
    solver = found.settings
    orders = ", ".join(f"{order:.2f}" for order in found.orders) or "none, it is exact"
    of_solver = ""
    if "iterations" in solver:
        of_solver = (
            f"{solver['iterations']:.0f} iterations, residual threshold {solver['residual_threshold']:g}, "
        )
    return (
        f"{found.engine}: {found.duration:.6g} s in steps of {steps} ms; observed orders {orders}; "
        f"{of_solver}ERP {solver['erp']:g}"
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
    """Yield a table in which rows that do not agree are marked."""
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


# A conversion with closures as text: the verdict, the assumptions, the closures, and their drift.


def close_lines(
    found: Closing, width: int = PLAIN_WIDTH, written: str | None = None, refused: Sequence[str] = ()
) -> Iterator[Line]:
    """Yield the report of one conversion: verdict, losses that were not allowed, assumptions, closures and drift."""
    style = "bold green" if found.proved and not found.strays else "bold yellow"
    for text in wrapped(f"{found.mechanism.name}: {close_verdict(found)}", width, "", "  "):
        yield Line(text, style)
    if written is not None:
        yield Line(f"written to {written}")
    if how := _copy_or_anew(found):
        yield from (Line(text) for text in wrapped(how, width, "", "  "))
    if refused:
        kinds = ",".join(refused)
        text = f"the {found.format} lacks parts of the model ({kinds}), see below; --allow-loss {kinds} accepts this"
        for line in wrapped(text, width, "", "  "):
            yield Line(line, "bold yellow")
    yield from sentences_under("Assumptions", list(assumptions_of(found)), width)
    yield from sentences_under("Closures", [*_closures(found), *_changes(found)], width)
    yield from sentences_under("Written in another way, with the same motion", found.written.held, width)
    yield from sentences_under(f"Not in the {found.format}", found.written.left_out, width)
    yield from _drift(found, width)
    if found.motions:
        told = [_under_command(one) for one in found.motions]
        if found.before.structural_redundancy and not all(one.reason for one in found.motions):
            told.append(
                "FILE has redundant constraints: where it does not fit exactly, it moves in another way without them"
            )
        yield from sentences_under("Under the same commands", told, width)


def _copy_or_anew(found: Closing) -> str:
    """Return a sentence that a file in its original format is a copy, or why it was written anew; else empty."""
    written = found.written
    if written.copy_of is not None:
        changed = sum(one.was != one.type for one in found.closures) + len(found.changes)
        rest = f"only {counted(changed, 'joint')} changed" if changed else "nothing is changed"
        return f"a copy of {written.copy_of.path}: {rest}"
    if not written.anew:
        return ""
    return (
        f"written anew, since {written.anew}; looks, sensors, contacts and comments of the file are not in it"
    )


def close_verdict(found: Closing) -> str:
    """Return the proved verdict on the written file, or the reasons why it is not proved."""
    before, after = found.before, found.after
    p = (
        f"p = {before.degree_of_redundancy} before, {after.degree_of_redundancy} after; "
        f"mobility {before.mobility} before, {after.mobility} after"
    )
    if found.proved and not found.strays:
        singular = "" if not after.degree_of_redundancy else ", and more at this singular pose"
        unknown = bool(found.motions) and all(one.reason for one in found.motions)
        compared = ", its motion not compared" if unknown else ""
        return f"{counted(len(found.closures), 'closure')} without redundancy{singular}{compared} ({p})."
    reasons = [] if not found.reason else [found.reason]
    if found.strays:
        reasons.append("the written file moves in another way under the same commands, see below")
    if not found.keeps_mobility:
        reasons.append(
            f"the mobility is not kept (with driven joints held {before.held_dof} before, {after.held_dof} after)"
        )
    return f"not proved: {'; '.join(reasons) or 'constraints are redundant'} ({p})."


def _closures(found: Closing) -> Iterator[str]:
    for one in found.closures:
        cut = "" if one.cut.instead_of == one.name else f", cut here instead of at {one.cut.instead_of}"
        was = "" if one.was == one.type else f" instead of {one.was}"
        yield (
            f"{one.name}: {one.type}{was}, {one.body_a}–{one.body_b}{cut} (criterion {one.cut.independence:.2f})"
        )


def _changes(found: Closing) -> Iterator[str]:
    for change in found.changes:
        yield f"{change.constraint}: the joint becomes {change.new} instead of {change.old}"


def _drift(found: Closing, width: int) -> Iterator[Line]:
    rows: list[tuple[str, Sequence[str]]] = []
    reasons: list[str] = []
    for before, after in zip(found.drift.before, found.drift.after, strict=True):
        for whose, drift in (("FILE", before), (found.format, after)):
            if drift.reason:
                reasons.append(f"{drift.engine}, closures of {whose}: {drift.reason.rstrip('.')}")
            else:
                rows.append((drift.engine, _cells(whose, drift)))
    if rows:
        yield from table_lines("Drift", _HEADS, rows, width, 12)
    yield from sentences_under("No drift", list(dict.fromkeys(reasons)), width)


#: If no body moves farther than this, the comparison under commands proves nothing, m.
_STILL = 1e-4


def _under_command(found: Commanded) -> str:
    """Return a sentence on the difference between the two motions, or the reason why it is unknown."""
    if found.reason:
        return f"no answer of {found.engine}: {found.reason.rstrip('.')}"
    driven = {
        "command": f"{counted(len(found.driven), 'actuator')} got the same random commands",
        "torque": f"{counted(len(found.driven), 'joint')} got the same random torques",
        "none": "nothing is driven, and both moved freely",
    }[found.kind]
    proves = "" if found.moved > _STILL else ": next to nothing moves, which proves nothing"
    return (
        f"{driven} for {found.duration:g} s in {found.engine}, without contacts (seed {found.seed}, "
        f"steps of {1e3 * found.step:g} ms): bodies end up to "
        f"{found.angle:.2g} rad and {found.distance:.2g} m apart ({found.body}), after ways of up to "
        f"{found.moved:.2g} m{proves}"
    )


def _cells(whose: str, drift: Drift) -> tuple[str, ...]:
    force = max((one.force for one in drift.closures), default=0.0)
    numbers = (1e3 * drift.gap, 1e3 * drift.turn, force, drift.noise)
    return (whose, *(f"{number:.2g}" if number < 100 else f"{number:.0f}" for number in numbers))
