"""What differs from an earlier report."""

from __future__ import annotations

from mbplugin.report.against.words import change_words, input_words, title_of
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, data_cell, element, section, table


def against_section(chapter: Chapter) -> Html | None:
    """Return the inputs that are not the same, and a row for each key whose values differ."""
    comparison = chapter.comparison
    if comparison is None:
        return None
    inputs = [element("li", input_words(changed)) for changed in comparison.inputs]
    rows = [
        element("tr", [data_cell(cell) for cell in change_words(change)]) for change in comparison.changes
    ]
    return section(
        "Against an earlier report",
        element("ul", inputs) if inputs else None,
        table(("key", "what differs", "difference"), rows) if rows else None,
        lead=title_of(comparison),
    )
