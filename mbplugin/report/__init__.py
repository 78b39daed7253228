"""Reports: the results of a run as text and pages for people, and as JSON and other formats for programs.

Here are the formats of all commands, and one-line summaries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.phrases import counted, number

if TYPE_CHECKING:
    from mbplugin.linter.run import Report


#: Serializations of the document of a command.
DocumentFormat = Literal["json", "xlsx"]
#: Formats of every command, of commands with an HTML report, and of the stopping table.
OutputFormat = Literal["text", DocumentFormat]
PageFormat = Literal[OutputFormat, "html", "pdf"]
TableFormat = Literal[PageFormat, "csv"]
#: Formats of the comparison of two models: the comment of a pull request too.
DiffFormat = Literal[PageFormat, "github"]
#: Formats of a command that writes tables of a scene file.
SceneFormat = Literal[PageFormat, "toml"]
#: Formats of other programs, each written by ``NAME_text`` in :mod:`mbplugin.report.ci`; and all formats of a lint.
ProgramFormat = Literal["sarif", "github", "gitlab", "junit"]
LintFormat = Literal["text", DocumentFormat, ProgramFormat, "html"]
#: Module and function of each serialization, imported on use.
_SERIALIZERS: dict[str, tuple[str, str]] = {
    "json": ("mbplugin.report.documents.part", "dumps"),
    "xlsx": ("mbplugin.report.documents.xlsx", "workbook"),
}
#: Module and function that import the optional package of a format.
_PACKAGES: dict[str, tuple[str, str]] = {
    "xlsx": ("mbplugin.report.documents.xlsx", "openpyxl_module"),
    "pdf": ("mbplugin.report.pdf", "playwright_api"),
}
#: Code of the rule for files that were not linted in the time allowed.
_NOT_LINTED = "MB915"
#: Numbers below this fraction of the largest of their kind, or of 1 m, 1 rad or 1 s, are rounding.
ROUNDING = 1e-12


def require_package(output_format: str) -> None:
    """Raise early, before anything is computed, if the package of a format is not installed.

    Raises
    ------
    MissingDependency
    """
    if output_format in _PACKAGES:
        module, function = _PACKAGES[output_format]
        getattr(import_module(module), function)()


def serialized(document: object, output_format: str) -> str | bytes:
    """Serialize a document to text, or to bytes for a binary format.

    Raises
    ------
    MissingDependency
        The package of the format is not installed.
    """
    module, function = _SERIALIZERS[output_format]
    written: str | bytes = getattr(import_module(module), function)(document)
    return written


# One-line summaries of runs and findings.


def findings_summary(reports: Sequence[Report]) -> str:
    """Return the numbers of findings, such as ``1 error, 4 warnings, 0 notes, 1 ignored``."""
    found = [finding.severity for report in reports for finding in report.findings]
    counts = [counted(found.count(severity), severity) for severity in ("error", "warning", "note")]
    if ignored := sum(len(report.suppressed) for report in reports):
        counts.append(f"{ignored} ignored")
    return ", ".join(counts)


def runs_summary(reports: Sequence[Report]) -> str:
    """Return the numbers of runs and findings, such as ``4 runs: 1 passed, 1 failed, 1 unusable, 1 skipped; …``."""
    codes = [report.exit_code for report in reports if not report.skipped]
    runs = f"{counted(len(reports), 'run')}: {codes.count(0)} passed, {codes.count(1)} failed"
    skipped = f", {left} skipped" if (left := len(reports) - len(codes)) else ""
    late = sum(
        any(f.code == _NOT_LINTED for f in report.findings) for report in reports if not report.skipped
    )
    unusable = f"{codes.count(2) - late} unusable" + (f", {late} not linted" if late else "")
    return f"{runs}, {unusable}{skipped}; {findings_summary(reports)}"


def ignored_lines(report: Report) -> Iterator[str]:
    """Yield a line for each finding that the configuration ignores, with the reason."""
    for suppressed in report.suppressed:
        finding, ignore = suppressed.finding, suppressed.ignore
        yield f"ignored {finding.code} {finding.name} for {finding.element}: {ignore.reason}"


# Numbers in reports: rounding errors are shown as 0.


def shown(value: float, largest: float = 1.0, size: float = 1.0, digits: int = 4) -> str:
    """Format ``size * value`` with ``digits`` significant digits; rounding errors become 0.

    Parameters
    ----------
    value : float
        In SI units.
    largest : float
        Largest number of the same kind, in the same units.
    """
    return number(size * value if not abs(value) <= ROUNDING * largest else 0.0, f".{digits}g")


def largest_of(values: Iterable[float]) -> float:
    """Return the largest absolute value, 0 for none."""
    return max(map(abs, values), default=0.0)


def plain(value: Any) -> Any:
    """Convert a value, including numpy scalars and arrays, to JSON types; non-finite numbers become None."""
    # formats are listed without NumPy
    import numpy as np

    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        if value.dtype.kind in "bif" and np.isfinite(value).all():
            return (value + 0.0 if value.dtype.kind == "f" else value).tolist()
        value = value.tolist()
    if isinstance(value, float):
        return value + 0.0 if isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Sequence | set | frozenset):
        return [plain(item) for item in value]
    return str(value)
