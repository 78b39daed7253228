"""A separation distance: the formula with all its terms."""

from __future__ import annotations

from collections.abc import Sequence

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, section, table
from mbplugin.report.text.stopping.distance import tool_words


def distance_section(chapter: Chapter) -> Html | None:
    """Return the formula, its terms, and what is assumed in the stop."""
    made = chapter.distance
    if made is None:
        return None
    terms = [(t.symbol, f"{t.value:.4f}", t.unit, t.meaning, t.source) for t in made.terms]
    choice = made.tool_choice
    tool = [element("td", cell) for cell in ("tool", "", "", *tool_words(choice))]
    rows: list[Sequence[str] | Html] = [*terms]
    if choice.body:
        rows.append(element("tr", tool, class_="warn" if choice.reason else None))
    assumed = [f"assumed in the stop: {sentence}" for sentence in made.stop.assumed]
    return section(
        f"{made.symbol} by {made.standard}",
        element("ul", [element("li", sentence) for sentence in (*assumed, *made.notes)]),
        element("p", made.formula),
        table(("term", "value", "unit", "meaning", "source"), rows, numbers=(1,)),
    )
