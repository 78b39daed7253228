"""The formats of outputs: a serialization of documents is a name and a line here, besides its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from mbplugin.phrases import counted, number

if TYPE_CHECKING:
    from mbplugin.linter.run import Report

#: Serializations of the document of a command.
DocumentFormat = Literal["json", "xlsx"]
#: What every command writes, and what commands with an HTML report and the stopping table write.
OutputFormat = Literal["text", DocumentFormat]
PageFormat = Literal[OutputFormat, "html", "pdf"]
TableFormat = Literal[PageFormat, "csv"]
#: What a command writes that makes tables of a scene.
SceneFormat = Literal[PageFormat, "toml"]
#: Formats of other programs: ``NAME_text`` of ``ci`` beside this file writes each; and all that a lint has.
ProgramFormat = Literal["sarif", "github", "gitlab", "junit"]
LintFormat = Literal["text", DocumentFormat, ProgramFormat, "html"]
#: Where each serialization is; imported when it is used.
_SERIALIZERS: dict[str, tuple[str, str]] = {
    "json": ("mbplugin.report.documents.part", "dumps"),
    "xlsx": ("mbplugin.report.documents.xlsx", "workbook"),
}
#: Where formats get the package that they need.
_PACKAGES: dict[str, tuple[str, str]] = {
    "xlsx": ("mbplugin.report.documents.xlsx", "openpyxl_module"),
    "pdf": ("mbplugin.report.pdf", "playwright_api"),
}
#: The rule for files that the time of a run did not suffice for.
_NOT_LINTED = "MB915"
#: Beside the largest of its kind, what is smaller is rounding. Beside 1 m, 1 rad and 1 s, too.
ROUNDING = 1e-12


def require_package(output_format: str) -> None:
    """Refuse a format whose package is not installed, before anything is computed for it.

    Raises
    ------
    MissingDependency
    """
    if output_format in _PACKAGES:
        module, function = _PACKAGES[output_format]
        getattr(import_module(module), function)()


def serialized(document: object, output_format: str) -> str | bytes:
    """Return the text of a document, or the bytes where the format is no text.

    Raises
    ------
    MissingDependency
        The format needs a package that is absent.
    """
    module, function = _SERIALIZERS[output_format]
    written: str | bytes = getattr(import_module(module), function)(document)
    return written


# The number of passed runs and of findings, in one line.


def findings_summary(reports: Sequence[Report]) -> str:
    """Return ``1 error, 4 warnings, 0 notes, 1 ignored``."""
    found = [finding.severity for report in reports for finding in report.findings]
    counts = [counted(found.count(severity), severity) for severity in ("error", "warning", "note")]
    if ignored := sum(len(report.suppressed) for report in reports):
        counts.append(f"{ignored} ignored")
    return ", ".join(counts)


def runs_summary(reports: Sequence[Report]) -> str:
    """Return ``4 runs: 1 passed, 1 failed, 1 unusable, 1 skipped; …``."""
    codes = [report.exit_code for report in reports if not report.skipped]
    runs = f"{counted(len(reports), 'run')}: {codes.count(0)} passed, {codes.count(1)} failed"
    skipped = f", {left} skipped" if (left := len(reports) - len(codes)) else ""
    late = sum(
        any(f.code == _NOT_LINTED for f in report.findings) for report in reports if not report.skipped
    )
    unusable = f"{codes.count(2) - late} unusable" + (f", {late} not linted" if late else "")
    return f"{runs}, {unusable}{skipped}; {findings_summary(reports)}"


def ignored_lines(report: Report) -> Iterator[str]:
    """Yield what the configuration ignores, and why."""
    for suppressed in report.suppressed:
        finding, ignore = suppressed.finding, suppressed.ignore
        yield f"ignored {finding.code} {finding.name} for {finding.element}: {ignore.reason}"


# Numbers of reports: what is only rounding beside the others of its kind is shown as 0.


def shown(value: float, largest: float = 1.0, size: float = 1.0, digits: int = 4) -> str:
    """Return a number, times the size of its unit, with some digits; rounding is 0.

    Parameters
    ----------
    value : float
        In SI units.
    largest : float
        Of its kind, in the same units.
    """
    return number(size * value if not abs(value) <= ROUNDING * largest else 0.0, f".{digits}g")


def largest_of(values: Iterable[float]) -> float:
    """Return the largest size of some numbers."""
    return max(map(abs, values), default=0.0)
