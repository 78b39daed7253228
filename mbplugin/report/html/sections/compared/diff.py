"""What differs between two models, and what was normalised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, data_cell, element, section, table, unshown
from mbplugin.report.text.diff import (
    DIFFERENCE_NAMES,
    decided_texts,
    element_text,
    normalised_texts,
    quantities_text,
)

if TYPE_CHECKING:
    from mbplugin.comparison.models.values import Difference
    from mbplugin.model.scene import Origin

#: Differences that somebody reads; all are in the JSON.
_MOST = 200


def diff_section(chapter: Chapter) -> Html | None:
    """Return a row for each difference, with its probable cause."""
    found = chapter.difference
    if found is None:
        return None
    models = [
        f"A: {found.a.name}: {quantities_text(found.a)}",
        f"B: {found.b.name}: {quantities_text(found.b)}",
    ]
    rows = [row for one in found.differences[:_MOST] for row in _rows(one)]
    heads = ("what", "element", "A", "B", "probable cause")
    return section(
        "Differences between two models",
        element("ul", [element("li", text) for text in (*models, *decided_texts(found))]),
        table(heads, rows) if rows else None,
        unshown(len(found.differences), _MOST),
        element("h3", "Normalised before the comparison") if found.normalised else None,
        element("ul", [element("li", text) for text in normalised_texts(found.normalised)]),
        element("h3", "Not compared") if found.not_compared else None,
        element("ul", [element("li", one.text) for one in found.not_compared]),
        lead=f"A and B: {found.verdict}.",
    )


def _short(place: Origin) -> str:
    """Return a place without the folders of its file, which the record has."""
    return str(replace(place, file=Path(place.file).name))


def _rows(found: Difference) -> Iterator[Html]:
    places = [
        f"{value or 'none'}{f' ({_short(place)})' if place is not None and place.file else ''}"
        for value, place in ((found.value_a, found.place_a), (found.value_b, found.place_b))
    ]
    cells = (DIFFERENCE_NAMES[found.kind], element_text(found), *places, found.cause)
    yield element("tr", [data_cell(cell) for cell in cells], class_="warn")
