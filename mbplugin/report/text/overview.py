"""The first screen of a lint as text: verdict, counts, each kind of finding once, and the reactions to distrust."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from mbplugin.linter.overview import Freedoms, Kind, Overview, Place, overview_of
from mbplugin.phrases import counted, cut_short, listed, visible
from mbplugin.report.formats import findings_summary
from mbplugin.report.text.layout import Line, wrapped

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.linter.run import Report

SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
#: Maximum numbers of kinds of findings that are shown in full, and in two lines each if they are notes.
_IN_FULL, _TWO_LINES = 4, 9
#: Maximum number of lines of one file, of parts of one kind, and of groups of reactions that are listed.
_LINES, _PARTS, _REACTIONS = 4, 2, 8
#: Longest path of a file that is shown with its folders, characters.
_LONGEST_PATH = 40
#: Minimum width left for a message on the line of its kind, characters.
_LEAST_MESSAGE = 24


def overview_lines(report: Report, width: int, among: int = 1) -> Iterator[Line]:
    """Yield the first screen of a report: about two lines for each kind of finding.

    Parameters
    ----------
    width : int
        Width of the lines, characters.
    among : int
        Number of reports; of several, each states its file.
    """
    overview = overview_of(report)
    style = "bold red" if overview.exit_code else "bold yellow" if overview.kinds else "bold green"
    yield from (Line(text, style) for text in wrapped(_verdict(report, overview, among), width, "", "  "))
    yield from (Line(text, style) for text in wrapped(_outcome(report, overview), width, "", "  "))
    for sentence in overview.assumptions:
        yield from (Line(text) for text in wrapped(f"Assumed: {sentence}", width, "", "  "))
    for sentence in _reactions(overview):
        yield from (Line(text) for text in wrapped(sentence, width, "", "  "))
    for kind in overview.kinds:
        if len(overview.kinds) <= _IN_FULL:
            yield from _in_full(kind, width)
        elif kind.severity == "note" and len(overview.kinds) > _TWO_LINES:
            yield _in_one_line(kind, width)
        else:
            yield from _in_two_lines(kind, width)


def more_line(reports: Sequence[Report], width: int) -> Iterator[Line]:
    """Yield the line that says where more is."""
    codes = [finding.code for report in reports for finding in report.findings]
    rule = f", mbplugin explain {codes[0]}" if codes else ""
    text = f"More: -v (whole report), --output-format html (a page){rule}"
    yield from (Line(line) for line in wrapped(text, width, "", "  "))


def kind_remedy(kind: Kind, below: str = "see -v") -> str:
    """Return the first remedy of a kind and the number of the others; ``below`` says where lines to paste are."""
    if not kind.remedies:
        return ""
    first, *others = kind.remedies
    # lines to paste follow
    first = f"{first} {below}" if first.endswith(":") else first
    return f"{first} (and {counted(len(others), 'other remedy', 'other remedies')})" if others else first


def shown_places(places: Sequence[Place], names_only: bool = False) -> str:
    """Return the files with their lines, such as ``robot.urdf:3, 17``; without their folders if ``names_only``."""
    lines: dict[str, list[int]] = {}
    for place in places:
        name = PurePath(place.file).name if names_only else _short(place.file)
        lines.setdefault(name, []).extend([place.line] if place.line else [])
    numbers = {name: listed([str(line) for line in sorted(own)], _LINES) for name, own in lines.items()}
    return "; ".join(f"{name}:{own}" if own else name for name, own in numbers.items())


def freedoms_sentence(freedoms: Freedoms) -> str:
    """Return the degrees of freedom of the joints and of the free bases."""
    bases = "the free base" if freedoms.bases == 1 else f"{freedoms.bases} free bases"
    return f"{freedoms.joints} of the joints, {6 * freedoms.bases} of {bases}"


def relative_path(file: str) -> str:
    """Return an absolute path relative to the working directory if it lies below; others unchanged."""
    with contextlib.suppress(ValueError, OSError):
        if Path(file).is_absolute():
            return str(Path(file).relative_to(Path.cwd()))
    return file


def _verdict(report: Report, overview: Overview, among: int) -> str:
    analysis, file = report.analysis, relative_path(report.source)
    if analysis is None:
        nothing = "" if overview.verdict == "configuration" else ", nothing was analyzed"
        return f"{file}: {overview.verdict.upper()}{nothing}"
    name = analysis.mechanism.name
    where = f" ({file})" if among > 1 and file != name else ""
    return f"{name}{where}: {', '.join(_facts(analysis, overview))}"


def _facts(analysis: Analysis, overview: Overview) -> Iterator[str]:
    yield overview.verdict.upper() + (" as declared" if overview.declared else "")
    p, ps = analysis.degree_of_redundancy, analysis.structural_redundancy
    if p:
        elsewhere = f" at this singular pose ({ps} elsewhere)" if p > ps else ""
        yield counted(p, "redundant constraint") + elsewhere
    parts = "" if overview.freedoms is None else f": {freedoms_sentence(overview.freedoms)}"
    formula = "" if analysis.gruebler == analysis.dof else f" (Grübler: {analysis.gruebler})"
    plane = f" in the {analysis.planar} plane" if analysis.planar else ""
    yield analysis.mobility.words + parts + formula + plane


def _outcome(report: Report, overview: Overview) -> str:
    counts = findings_summary([report]) if overview.kinds or overview.ignored else "no findings"
    if overview.verdict in ("skipped", "configuration") and not overview.exit_code:
        return counts
    return f"{'FAILS' if overview.exit_code else 'PASSES'}: {counts}"


def _reactions(overview: Overview) -> Iterator[str]:
    for groups, words in (
        (overview.distrusted, "Distrust the reactions of"),
        (overview.undecided, "The method cannot decide the reactions of"),
    ):
        if groups:
            count = sum(len(group.names) for group in groups)
            labels = listed([group.label for group in groups], _REACTIONS, room=150)
            yield f"{words} {count} of {overview.constraints} constraints: {labels}"


def _in_full(kind: Kind, width: int) -> Iterator[Line]:
    """Yield the whole message of a kind's first finding, and the remedy unless the message has it."""
    first, *rest = wrapped(f"{_head(kind, width)}: {_message(kind)}", width, "", "    ")
    yield _styled(kind, first)
    yield from map(Line, rest)
    if (remedy := kind_remedy(kind)) and remedy not in _message(kind):
        yield from map(Line, wrapped(remedy, width, "  → ", "    "))


def _in_two_lines(kind: Kind, width: int) -> Iterator[Line]:
    """Yield the beginning of the message if it fits on the line of the kind, and the beginning of the remedy."""
    head = _head(kind, width)
    whole = f"{head}: {_message(kind)}" if len(head) + _LEAST_MESSAGE <= width else head
    yield _styled(kind, cut_short(whole, width))
    if remedy := kind_remedy(kind):
        yield Line(cut_short(f"  → {remedy}", width))


def _in_one_line(kind: Kind, width: int) -> Line:
    """Return the line of a kind with the beginning of its remedy."""
    head, remedy = _head(kind, width), kind_remedy(kind)
    return _styled(kind, cut_short(f"{head} → {remedy}" if remedy else head, width))


def _styled(kind: Kind, text: str) -> Line:
    text = visible(text)
    return Line(text, SEVERITY_STYLES[kind.severity], min(len(_counted(kind)), len(text)))


def _counted(kind: Kind) -> str:
    return f"{counted(kind.count, kind.severity)} {kind.code}"


def _head(kind: Kind, width: int) -> str:
    """Return the number of findings, the rule, the parts if there are several findings, and the places.

    Folders are left out if the line would become wider than ``width``.
    """
    about = [f"{_counted(kind)} {kind.name}"]
    if kind.count > 1 and kind.parts:
        about.append(listed([part.label for part in kind.parts], _PARTS, room=60))
    if not kind.places:
        return visible(", ".join(about))
    whole, short = (visible(", ".join((*about, shown_places(kind.places, names)))) for names in (False, True))
    return whole if len(whole) <= width else short


def _message(kind: Kind) -> str:
    """Return the message of the first finding, without the place at its beginning."""
    finding = kind.findings[0]
    message = finding.message
    for place in (f"{finding.file}:{finding.line}: ", f"{finding.file}: "):
        message = message.removeprefix(place) if finding.file else message
    return message


def _short(file: str) -> str:
    """Return the path of a file below the working directory, and the name of any other."""
    path = relative_path(file)
    return PurePath(path).name if PurePath(path).is_absolute() or len(path) > _LONGEST_PATH else path
