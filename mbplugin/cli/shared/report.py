"""The report of a command: what it can write of its result, and the one place that writes it in a format.

The parts are functions that import their writers when they are called, so that no other format is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbplugin.cli.shared.output import emit, emit_lines

if TYPE_CHECKING:
    from mbplugin.report.against.earlier import EarlierReport
    from mbplugin.report.against.values import Comparison
    from mbplugin.report.documents import DocumentName
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.record import Record
    from mbplugin.report.text.layout import Line


@dataclass(frozen=True)
class CommandReport:
    """What a command can write of its result.

    Parameters
    ----------
    lines : callable
        Returns the lines of the text for a width in characters.
    document : callable
        Returns the JSON document, without a record.
    record : callable
        Returns the record; files are hashed for it.
    chapter : callable, optional
        Returns the chapter of an HTML page, without a record.
    texts : mapping, optional
        By format, what returns the text of formats that only this command has.
    """

    lines: Callable[[int], Iterable[Line]]
    document: Callable[[], dict[str, Any]]
    record: Callable[[], Record]
    chapter: Callable[[], Chapter] | None = None
    texts: Mapping[str, Callable[[], str]] = field(default_factory=dict)


def earlier_report(path: Path | None, document: DocumentName) -> EarlierReport | None:
    """Return the report of ``--against``, before anything is computed; None without the option.

    Raises
    ------
    UnreadableFile
        The file is missing, or no JSON.
    BadUsage
        It is not the JSON of this command.
    """
    if path is None:
        return None
    from mbplugin.report.against.earlier import read_earlier

    return read_earlier(path, document)


def emit_report(
    report: CommandReport,
    output_format: str,
    output: Path | None = None,
    earlier: EarlierReport | None = None,
) -> None:
    """Write a report in a format, with its record, and with what changed since an earlier one.

    Raises
    ------
    BadUsage
        The report cannot be written there.
    MissingDependency
        The format needs a package that is absent.
    """
    if output_format in report.texts:
        emit(report.texts[output_format](), output)
        return
    if output_format == "text":
        emit_lines(lambda width: _lines(report, earlier, width), output, report.record)
    elif output_format in ("html", "pdf"):
        emit(_page(report, earlier, output_format), output)
    else:
        emit(_document(report, earlier, output_format), output)


def _compared(report: CommandReport, earlier: EarlierReport | None) -> Comparison | None:
    """Return what changed since an earlier report; None without one."""
    if earlier is None:
        return None
    from mbplugin.report.against.compare import compared
    from mbplugin.report.documents.recorded import with_record

    return compared(earlier, with_record(report.document(), report.record()))


def _lines(report: CommandReport, earlier: EarlierReport | None, width: int) -> Iterator[Line]:
    yield from report.lines(width)
    comparison = _compared(report, earlier)
    if comparison is not None:
        from mbplugin.report.text.against import against_lines

        yield from against_lines(comparison, width)


def _page(report: CommandReport, earlier: EarlierReport | None, output_format: str) -> str | bytes:
    from mbplugin.report.html import html_page

    assert report.chapter is not None
    record = report.record()
    chapter = replace(report.chapter(), record=record, comparison=_compared(report, earlier))
    page = html_page(chapter)
    if output_format == "html":
        return page
    from mbplugin.report.pdf import pdf_of_page

    return pdf_of_page(page, record)


def _document(report: CommandReport, earlier: EarlierReport | None, output_format: str) -> str | bytes:
    from mbplugin.report.documents.recorded import with_comparison, with_record
    from mbplugin.report.formats import serialized

    document = with_record(report.document(), report.record())
    return serialized(with_comparison(document, _compared(report, earlier)), output_format)
