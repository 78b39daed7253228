"""A conversion with closures as text: the verdict, what was assumed, the closures, and their drift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.closing.assumptions import assumptions_of
from mbplugin.phrases import counted
from mbplugin.report.text.blocks import sentences_under
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped
from mbplugin.report.text.table import table_lines

if TYPE_CHECKING:
    from mbplugin.closing.drift.values import Drift
    from mbplugin.closing.values import Closing

_HEADS = ("closures of", "gap mm", "turn mrad", "force N", "noise N")


def close_lines(found: Closing, width: int = PLAIN_WIDTH, written: str | None = None) -> Iterator[Line]:
    """Yield the verdict, the closures and the table of drift."""
    style = "bold green" if found.proved else "bold yellow"
    for text in wrapped(f"{found.mechanism.name}: {close_verdict(found)}", width, "", "  "):
        yield Line(text, style)
    if written is not None:
        yield Line(f"written to {written}")
    yield from sentences_under("Assumptions", list(assumptions_of(found)), width)
    yield from sentences_under("Closures", [*_closures(found), *_changes(found)], width)
    yield from sentences_under(f"Held in {found.format} in another way", found.written.held, width)
    yield from sentences_under(f"Not in the {found.format}", found.written.left_out, width)
    yield from _drift(found, width)


def close_verdict(found: Closing) -> str:
    """Return what was proved of the file, or why not."""
    before, after = found.before, found.after
    p = (
        f"p = {before.degree_of_redundancy} before, {after.degree_of_redundancy} after; "
        f"mobility {before.dof} before, {after.dof} after"
    )
    if found.proved:
        singular = "" if not after.degree_of_redundancy else ", and more at this singular pose"
        return f"{counted(len(found.closures), 'closure')} without redundancy{singular} ({p})."
    reasons = [] if not found.reason else [found.reason]
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


def _cells(whose: str, drift: Drift) -> tuple[str, ...]:
    force = max((one.force for one in drift.closures), default=0.0)
    numbers = (1e3 * drift.gap, 1e3 * drift.turn, force, drift.noise)
    return (whose, *(f"{number:.2g}" if number < 100 else f"{number:.0f}" for number in numbers))
