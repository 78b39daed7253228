"""The formats of a lint, by name; each is imported only if it is used."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal, get_args

from mbplugin.report.formats import DocumentFormat, serialized

if TYPE_CHECKING:
    from mbplugin.linter.run import Report
    from mbplugin.report.text.lint import Detail

#: Formats of other programs: ``NAME_text`` of ``ci`` beside this file writes each.
ProgramFormat = Literal["sarif", "github", "gitlab", "junit"]
LintFormat = Literal["text", DocumentFormat, ProgramFormat, "html"]


def rendered(
    name: LintFormat,
    reports: Sequence[Report],
    explain_dca: bool = False,
    detail: Detail = "normal",
    command: str = "",
) -> str | bytes:
    """Return reports in a format.

    ``explain_dca`` is of the text, ``detail`` of text and JSON; a page has a record where the command is stated.
    """
    if name == "text":
        from mbplugin.report.text.lint import lint_text

        return lint_text(reports, explain_dca=explain_dca, detail=detail)
    if name == "html":
        from mbplugin.report.html import html_page
        from mbplugin.report.html.chapters import lint_chapter

        return html_page(*(lint_chapter(report, command) for report in reports))
    if name in get_args(ProgramFormat):
        return str(getattr(import_module(f"{__package__}.ci"), f"{name}_text")(reports))
    from mbplugin.report.documents.lint import lint_document

    return serialized(lint_document(reports, detail == "verbose"), name)
