"""How the report was made."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, section


def record_section(chapter: Chapter) -> Html | None:
    """Return when, by which version and command, and from which files the report was made."""
    if chapter.record is None:
        return None
    return section("Record", element("ul", [element("li", one) for one in _sentences(chapter)]))


def _sentences(chapter: Chapter) -> Iterator[str]:
    record = chapter.record
    if record is None:
        return
    yield f"date: {record.date}"
    yield f"mbplugin: {record.version}"
    yield f"command: {record.command}"
    yield f"robot: {record.robot}"
    yield from (f"file: {one.path}, SHA-256 {one.sha256}" for one in record.files)
    if record.standard is not None:
        yield f"form: {record.standard}"
