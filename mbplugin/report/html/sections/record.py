"""How the report was made, and on paper who signs it."""

from __future__ import annotations

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, section
from mbplugin.report.record import record_facts

_LINES = (
    *("serial number of the robot", "version of its controller", "place"),
    *("computed by", "date", "signature", "checked and released by", "date", "signature"),
)


def record_section(chapter: Chapter) -> Html | None:
    """Return when, by which version and command, and from which files the report was made."""
    if chapter.record is None:
        return None
    return section(
        "Record",
        element("ul", [element("li", one) for one in record_facts(chapter.record)]),
        element("div", [element("span", line) for line in _LINES], class_="sign"),
    )
