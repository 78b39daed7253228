"""What differs from an earlier report, in words."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.report.against.values import Comparison
from mbplugin.report.against.words import change_words, input_words, title_of
from mbplugin.report.text.layout import Line, wrapped


def against_lines(comparison: Comparison, width: int) -> Iterator[Line]:
    """Yield a heading, the inputs that are not the same, and a line for each key whose values differ."""
    yield Line()
    for line in wrapped(title_of(comparison), width):
        yield Line(line, "bold")
    for changed in comparison.inputs:
        yield from map(Line, wrapped(input_words(changed), width, "  ", "    "))
    for change in comparison.changes:
        key, count, most = change_words(change)
        yield from map(Line, wrapped(f"{key}: {count} {most}", width, "  ", "    "))
