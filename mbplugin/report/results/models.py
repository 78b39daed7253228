"""The presentations of a model in another format, and of the comparison of two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mbplugin.report.results.presentation import Presentation

if TYPE_CHECKING:
    from mbplugin.closing.values import Closing
    from mbplugin.comparison.models.alignment import ModelDiff
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.text.layout import Line


_CLOSURE = ("name", "type", "was", "body_a", "body_b")
_DIFFERENCE = ("kind", "element_a", "element_b", "value_a", "value_b", "cause")


def _closures(found: Closing) -> list[dict[str, Any]]:
    return [
        {name: getattr(one, name) for name in _CLOSURE}
        | {"instead_of": one.cut.instead_of, "independence": one.cut.independence}
        for one in found.closures
    ]


def _closing_lines(found: Closing, width: int) -> Iterator[Line]:
    from mbplugin.report.text.compared import close_lines

    return close_lines(found, width)


def _closing_document(found: Closing) -> dict[str, Any]:
    from mbplugin.report.documents.models import close_document

    return close_document(found, found.mechanism.name, (), None)


def _differences(found: ModelDiff) -> list[dict[str, Any]]:
    return [{name: getattr(one, name) for name in _DIFFERENCE} for one in found.differences]


def _diff_lines(found: ModelDiff, width: int) -> Iterator[Line]:
    from mbplugin.report.text.models import diff_lines

    return diff_lines(found, (found.a.name, found.b.name), width)


def _diff_document(found: ModelDiff) -> dict[str, Any]:
    from mbplugin.report.documents.models import diff_document

    return diff_document(found, (found.a.name, found.b.name), ())


def _diff_chapter(found: ModelDiff) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    return Chapter(title=f"{found.a.name} and {found.b.name}", difference=found)


PRESENTATIONS = {
    "Closing": Presentation(
        rows=_closures,
        columns=(*_CLOSURE, "instead_of", "independence"),
        document=_closing_document,
        lines=_closing_lines,
    ),
    "ModelDiff": Presentation(
        rows=_differences,
        columns=_DIFFERENCE,
        document=_diff_document,
        lines=_diff_lines,
        chapter=_diff_chapter,
    ),
}
