"""The document and the HTML report of a result, by its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from mbplugin.report.documents.json import dumps
from mbplugin.report.documents.stopping.stop_table import stop_table_document
from mbplugin.report.html import html_page
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.chapters import table_chapter
from mbplugin.stopping.table.values import StoppingTable

#: The document and the chapter of each type of result.
_RENDERERS: dict[type, tuple[Callable[[Any], dict[str, Any]], Callable[[Any], Chapter]]] = {
    StoppingTable: (stop_table_document, table_chapter)
}


def text_of(result: object, kind: Literal["json", "html"]) -> str:
    """Return the JSON document or the HTML page of a result.

    Raises
    ------
    TypeError
        No document is known for the type.
    """
    if type(result) not in _RENDERERS:
        raise TypeError(f"there is no document of a {type(result).__name__}")
    document, chapter = _RENDERERS[type(result)]
    return dumps(document(result)) if kind == "json" else html_page(chapter(result))
