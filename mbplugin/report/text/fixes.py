"""What ``--fix`` mended, and what it left, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.phrases import counted, visible
from mbplugin.report.text.layout import Line, wrapped

if TYPE_CHECKING:
    from mbplugin.linter.run import Report


def fix_lines(reports: Sequence[Report], width: int, *, unsafe: bool = True) -> Iterator[Line]:
    """Yield a heading with the numbers, a line on each mended finding, and the reasons for what was not mended.

    Without ``unsafe`` the heading names the rules among the rest that have an unsafe fix.
    """
    from mbplugin.linter.fixes.run import mended_line

    mended = [finding for report in reports for finding in report.mended]
    left = sum(len(report.findings) for report in reports)
    files = len({edit.file for finding in mended if finding.fix for edit in finding.fix.edits})
    where = f" in {counted(files, 'file')}" if mended else ""
    said = f"{counted(len(mended), 'finding')} mended{where}, {left} left"
    if not unsafe and (codes := _with_unsafe_fix(reports)):
        said += f"; --unsafe-fixes may mend {', '.join(codes)}"
    yield Line()
    yield from (Line(text, "bold") for text in wrapped(said, width, "", "  "))
    for finding in mended:
        yield from map(Line, wrapped(visible(mended_line(finding)), width, "  ", "    "))
    for text in unmended_lines(reports):
        yield from map(Line, wrapped(visible(text), width, "  ", "    "))


def _with_unsafe_fix(reports: Sequence[Report]) -> list[str]:
    """Return the codes of findings whose rule has an unsafe fix."""
    from mbplugin.linter.fixes.proposals import REMEDIES

    codes = sorted({finding.code for report in reports for finding in report.findings})
    return [code for code in codes if code in REMEDIES and REMEDIES[code].applicability == "unsafe"]


def unmended_lines(reports: Sequence[Report]) -> Iterator[str]:
    """Yield a sentence on each fix that was not made, and why."""
    for report in reports:
        for one in report.unmended:
            place = f"{one.finding.file}:{one.finding.line}" if one.finding.line else one.finding.file
            yield f"{place}: {one.finding.code} {one.finding.element} is not mended, {one.reason}"
