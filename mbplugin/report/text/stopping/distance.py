"""A separation distance as text: every term with its value, its unit and its source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.phrases import joined_by_words
from mbplugin.report.text.blocks import sentences_under, warning_lines
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.stopping.scenario.tool_choice import ToolChoice
    from mbplugin.stopping.zones.distance import Distance


def tool_words(choice: ToolChoice) -> tuple[str, str]:
    """Return of which point the way is, and whether somebody named it."""
    return choice.place, f"as none is named: {choice.reason}" if choice.reason else "named"


def distance_lines(distance: Distance, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the report of one distance."""
    yield from warning_lines(distance.stop.of_effort.warning, width)
    yield from warning_lines(distance.tool_choice.warning, width)
    title = (
        f"{distance.stop.model}: {distance.symbol} = {distance.value:.4f} m by {distance.standard};"
        " computed, not measured"
    )
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    yield Line(f"  {distance.formula}")
    yield Line()
    for term in distance.terms:
        head = f"  {term.symbol:<6}{term.value:>9.4f} {term.unit:<5}"
        yield from (Line(text) for text in wrapped(f"{term.meaning} ({term.source})", width, head, " " * 22))
    if distance.tool_choice.body:
        place, why = tool_words(distance.tool_choice)
        style = "yellow" if distance.tool_choice.reason else ""
        said = wrapped(f"{place} ({why})", width, f"  {'tool':<20}", " " * 22)
        yield from (Line(text, style) for text in said)
    yield from sentences_under("Assumed in the stop", joined_by_words(distance.stop.assumed), width)
    yield from sentences_under("Notes", distance.notes, width)
    if distance.stop.file:
        yield Line()
        yield Line(f"  {distance.stop.file}, SHA-256 {distance.stop.sha256}")
