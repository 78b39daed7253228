"""A separation distance: the formula with all its terms."""

from __future__ import annotations

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, section, table


def distance_section(chapter: Chapter) -> Html | None:
    """Return the formula, its terms, and what is assumed in the stop."""
    made = chapter.distance
    if made is None:
        return None
    terms = [(t.symbol, f"{t.value:.4f}", t.unit, t.meaning, t.source) for t in made.terms]
    assumed = [f"assumed in the stop: {sentence}" for sentence in made.stop.assumed]
    return section(
        f"{made.symbol} by {made.standard}",
        element("ul", [element("li", sentence) for sentence in (*assumed, *made.notes)]),
        element("p", made.formula),
        table(("term", "value", "unit", "meaning", "source"), terms, numbers=(1,)),
    )
