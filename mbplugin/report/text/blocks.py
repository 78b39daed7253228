"""Blocks that several reports have: warnings, notes, sentences under a title, events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.report.text.layout import TITLE, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.simulation.events.event import Event

#: Rows and events that are printed; all are in the JSON.
MOST = 40


def warning_lines(warning: str, width: int) -> Iterator[Line]:
    """Yield what stands on top of a report in amber, nothing where there is no warning."""
    if warning:
        yield from (Line(text, "bold yellow") for text in wrapped(warning, width, "! ", "! "))
        yield Line()


def sentences_under(title: str, sentences: Sequence[str], width: int) -> Iterator[Line]:
    """Yield sentences under a title, nothing where there are none."""
    if sentences:
        yield Line()
        yield Line(title, TITLE)
    for sentence in sentences:
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))


def note_lines(notes: Sequence[str], width: int) -> Iterator[Line]:
    """Yield notes after a blank line, nothing where there are none."""
    if notes:
        yield Line()
    for note in notes:
        yield from (Line(text) for text in wrapped(note, width, "note: ", "  "))


def event_lines(events: Sequence[Event], width: int, digits: int) -> Iterator[Line]:
    """Yield events, their times with so many digits; nothing where there are none."""
    if events:
        yield Line()
        yield Line("Events", TITLE)
    for event in events[:MOST]:
        yield from (
            Line(text) for text in wrapped(event.sentence, width, f"  {event.time:.{digits}g} s  ", "    ")
        )
    yield from more_lines(len(events), MOST)


def more_lines(number: int, printed: int) -> Iterator[Line]:
    """Yield how many of a number are not printed, nothing where all are."""
    if number > printed:
        yield Line(f"  and {number - printed} more (all are in the JSON)")
