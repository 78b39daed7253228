"""The formats of a lint, by name; each is imported only if it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbplugin.linter.run import Report
    from mbplugin.report.text.lint import Detail


#: Endings of files that say their format.
ENDINGS = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".sarif": "sarif",
    ".xml": "junit",
    ".txt": "text",
}


def rendered(
    name: str, reports: Sequence[Report], explain_dca: bool = False, detail: Detail = "normal"
) -> str:
    """Return reports in a format: text, json, sarif, github, junit or html.

    ``explain_dca`` and ``detail`` are of the text.
    """
    if name == "text":
        from mbplugin.report.text.lint import lint_text

        return lint_text(reports, explain_dca=explain_dca, detail=detail)
    if name == "github":
        from mbplugin.report.ci.github import github_text

        return github_text(reports)
    if name == "junit":
        from mbplugin.report.ci.junit import junit_text

        return junit_text(reports)
    if name == "html":
        from mbplugin.report.html import html_page
        from mbplugin.report.html.chapters import lint_chapter

        return html_page(*(lint_chapter(report) for report in reports))
    from mbplugin.report.documents.json import dumps
    from mbplugin.report.documents.lint import lint_document

    if name == "sarif":
        from mbplugin.report.ci.sarif import sarif_document

        return dumps(sarif_document(reports))
    return dumps(lint_document(reports))
