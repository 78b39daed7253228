"""From the findings of a lint to diagnostics: one at each place that a finding names, in every file it names."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from time import monotonic
from typing import Any

from mbplugin.constraints.assembly import without_search
from mbplugin.editor.documents import Documents, Positions, Range
from mbplugin.errors import BadUsage, UnknownName, UnreadableFile
from mbplugin.files import cache_root, read_bounded, reading_instead, version_of
from mbplugin.linter import Settings, targets
from mbplugin.linter.batch import UNUSABLE, lint_one_of_many, skipped, without_verdict
from mbplugin.linter.fixes.proposals import fix_of
from mbplugin.linter.rule import FULL_MESSAGE, Finding, Rule, find_rule, rules
from mbplugin.linter.run import Report
from mbplugin.readers.paths import real_path
from mbplugin.report.documents.part import violation

#: Rules that need the remedies, a second reading of the model, other poses than that of the file, or the mobility in
#: fact, which take most of the time of a lint of a large robot with loops: a first answer leaves them out.
LATE = ("MB164", "MB201", "MB202", "MB501", "MB502", "MB503", "MB506", "MB507")
#: Groups of rules that need the closed pose. A first answer leaves them out where a loop does not close near the pose
#: of the file: the search for a closed one from many poses takes longer than everything else.
_OF_THE_POSE = ("MB2", "MB3", "MB4", "MB5", "MB6", "MB910")
#: Most diagnostics of one file, places of one finding, and places that are related to another.
_MOST, _MOST_PLACES, _MOST_RELATED = 500, 50, 5
#: Most characters behind the start of a line in which the tag that starts there ends, and most tags of a line.
_LONGEST_TAG, _MOST_TAGS = 5000, 50
#: Tags that a rule is about, for lines in which several elements begin; otherwise that of the named element counts.
_TAGS_OF = {
    **dict.fromkeys(("MB101",), ("mass",)),
    **dict.fromkeys(("MB102", "MB103", "MB104", "MB105", "MB141"), ("inertia", "inertial")),
    "MB108": ("mimic",),
    **dict.fromkeys(("MB111", "MB120", "MB121", "MB122", "MB127"), ("limit",)),
    "MB124": ("dynamics",),
    "MB125": ("axis",),
    **dict.fromkeys(("MB126", "MB501"), ("origin", "axis", "pose")),
    "MB136": ("pose",),
    **dict.fromkeys(("MB131", "MB132", "MB133"), ("mesh",)),
}
_SEVERITIES = {"error": 1, "warning": 2, "note": 3}
_TAG = re.compile(r"<[A-Za-z_][^\s<>/\"']*(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A place that a finding names: its file, its line (0 for the whole file), the element there, and its rule."""

    file: str
    line: int
    element: str
    code: str = ""


@dataclass(frozen=True, eq=False)
class Inspection:
    """A lint of an open document.

    Parameters
    ----------
    path : str
    version : int
        That of the document.
    target : Target or None
        What was linted: the document, or the scene that the configuration puts in its place. None if the document is
        not linted.
    report : Report or None
    left_out : tuple of str
        Codes of the rules that are left out; none in a complete inspection.
    diagnostics : mapping of URI to list
        As JSON of the protocol, by file.
    findings : tuple of (Finding, str, Range)
        Each finding with a file and range of its diagnostics.
    files : tuple of str
        Real paths of the files that the result depends on.
    seconds : float
    """

    path: str
    version: int
    target: targets.Target | None
    report: Report | None
    left_out: tuple[str, ...]
    diagnostics: Mapping[str, list[dict[str, Any]]]
    findings: tuple[tuple[Finding, str, Range], ...]
    files: tuple[str, ...]
    seconds: float

    @property
    def complete(self) -> bool:
        """True if no rule is left out."""
        return not self.left_out

    @property
    def is_redundant(self) -> bool | None:
        """True if the model has redundant constraints, whose remedies take time; None if it was not analyzed."""
        analysis = self.report.analysis if self.report else None
        return None if analysis is None else analysis.degree_of_redundancy > 0


def inspected(documents: Documents, path: str, *, complete: bool) -> Inspection:
    """Lint an open document, with the texts of all open documents in place of the contents of their files.

    Parameters
    ----------
    documents : Documents
    path : str
        Its file.
    complete : bool
        Also run the rules of :data:`LATE`, and search for the closed pose of loops that do not close near that of the
        file.
    """
    begin = monotonic()
    documents.forget_positions()
    document = documents.get(path)
    version = document.version if document else 0
    with reading_instead(documents.contents):
        target, report, left_out = _linted(path, complete=complete)
        found = tuple(_located(documents, path, report)) if report else ()
    diagnostics: dict[str, list[dict[str, Any]]] = {}
    uris = {file: documents.uri(file) for file in dict.fromkeys(file for _, file, _ in found)}
    for finding, alike in groupby(found, key=itemgetter(0)):
        located = [(uris[file], span) for _, file, span in alike]
        for uri, diagnostic in _diagnostics(finding, located):
            own = diagnostics.setdefault(uri, [])
            if len(own) < _MOST:
                own.append(diagnostic)
    files = _files(path, report, [*uris])
    return Inspection(path, version, target, report, left_out, diagnostics, found, files, monotonic() - begin)


def _linted(path: str, *, complete: bool) -> tuple[targets.Target | None, Report | None, tuple[str, ...]]:
    """Return the linted target, its report, and the codes of the rules that were left out."""
    if complete:
        return *_report_of(path, complete=True), ()
    with without_search() as unsearched:
        target, report = _report_of(path, complete=False)
    if not unsearched or report is None:
        return target, report, LATE
    left_out = tuple(one.code for one in rules() if one.code.startswith(_OF_THE_POSE) or one.code in LATE)
    known = tuple(finding for finding in report.findings if finding.code not in left_out)
    return target, replace(report, findings=known), left_out


def _report_of(path: str, *, complete: bool) -> tuple[targets.Target | None, Report | None]:
    try:
        settings = targets.settings_for(Path(path))
    except BadUsage as error:
        # without its settings nothing is known about the file, as on the command line
        target = targets.Target(path, Settings())
        return None, without_verdict(target, UNUSABLE, error.sentence().rstrip("."))
    if (
        targets.excluded(Path(path), settings)
        or not targets.is_candidate(path)
        or targets.why_skipped(path) is not None
    ):
        return None, None
    target = targets.target_of(path, settings)
    early = replace(settings, ignore=(*settings.ignore, *LATE))
    asked = target if complete else replace(target, settings=early)
    report = lint_one_of_many(asked, {} if complete else {"samples": 0})
    if settings.baseline:
        try:
            known = _known(settings.baseline, version_of(settings.baseline))
        except BadUsage as error:
            return None, without_verdict(target, UNUSABLE, error.sentence().rstrip("."))
        (report,) = targets.without_known([report], known)
    return target, skipped(report)


@lru_cache(maxsize=16)
def _known(baseline: str, version: tuple[int, ...]) -> targets.Known:
    """Return the findings of the baseline of a configuration; ``version`` changes with its content."""
    return targets.read_baseline(
        Path(baseline), lambda document: violation(document, "lint"), Path(baseline).parent
    )


def _files(path: str, report: Report | None, named: list[str]) -> tuple[str, ...]:
    scene = report.scene if report else None
    # meshes are not open in an editor
    files = (path, *named, *(scene.files if scene else ()))
    return tuple(dict.fromkeys(str(real_path(file)) for file in files))


# The places of a finding.


def _located(documents: Documents, path: str, report: Report) -> Iterator[tuple[Finding, str, Range]]:
    """Yield each finding with the file and the range of each place that it names."""
    for finding in report.findings:
        seen: set[tuple[str, int, int]] = set()
        for place in places(finding):
            positions = documents.positions(place.file) if place.file else None
            file = place.file
            if positions is None:
                file, positions = path, documents.positions(path) or Positions("", documents.encoding)
                place = replace(place, file=file, line=0)
            span = span_of(positions, place)
            if (file, *span) not in seen:
                seen.add((file, *span))
                yield finding, file, positions.range(*span)


def places(finding: Finding) -> list[Place]:
    """Return the places that a finding names, at most some dozens; that of the finding if it lists none."""
    listed = finding.evidence.get("places")
    found = [place for one in listed if (place := _place(one))] if isinstance(listed, list) else []
    if not found:
        return [Place(finding.file, finding.line, finding.element, finding.code)]
    names = finding.elements if len(finding.elements) == len(found) else (finding.element,) * len(found)
    return [
        replace(place, element=place.element or name, code=finding.code)
        for place, name in zip(found[:_MOST_PLACES], names[:_MOST_PLACES], strict=True)
    ]


def _place(stated: object) -> Place | None:
    if isinstance(stated, Mapping):
        file, line = stated.get("file"), stated.get("line")
        named = isinstance(file, str) and isinstance(line, int)
        return Place(str(file), int(str(line)), str(stated.get("joint", ""))) if named else None
    file, _, text = str(stated).rpartition(":")
    return Place(file, int(text), "") if file and text.isdecimal() else None


def span_of(positions: Positions, place: Place) -> tuple[int, int]:
    """Return the characters that a diagnostic underlines: the tag of the element in the line, else the line."""
    text = positions.text
    start = positions.index_of_line(place.line)
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if tags := list(_tags(text, start, end)):
        own = place.element.rpartition("/")[2]
        for name in _TAGS_OF.get(place.code, ()):
            if about := [tag for tag in tags if re.match(rf"<{name}[\s/>]", text[slice(*tag)])]:
                return about[0]
        named = re.compile(rf"\bname\s*=\s*[\"']{re.escape(own)}[\"']")
        return next((tag for tag in tags if own and named.search(text, *tag)), tags[0])
    line = text[start:end]
    if not line.strip():
        # an empty line has nothing to underline: the line before it has, or the first one of the text
        before = text[:start].rstrip() or text[: len(text) - len(text[start:].lstrip())].rstrip(" \t")
        start = before.rfind("\n") + 1
        end = text.find("\n", start)
        line = text[start : len(text) if end < 0 else end]
    first = start + len(line) - len(line.lstrip("\ufeff \t"))
    return first, max(first, start + len(line.rstrip()))


def _tags(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start tags that begin in a line, outside of comments that begin in it."""
    position = start
    for _ in range(_MOST_TAGS):
        position = text.find("<", position, end)
        if position < 0:
            return
        last = min(len(text), position + _LONGEST_TAG)
        comment = _COMMENT.match(text, position, last)
        tag = None if comment else _TAG.match(text, position, last)
        if tag:
            yield tag.span()
        found = comment or tag
        position = found.end() if found else position + 1


# Diagnostics as JSON.


def _diagnostics(
    finding: Finding, located: Sequence[tuple[str, Range]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the diagnostic at each place of a finding, with its URI; each names some of the others."""
    help = finding.help.partition("\n")[0]
    message = str(finding.evidence.get(FULL_MESSAGE, finding.message))
    page = page_uri(finding.code)
    common = {
        "severity": _SEVERITIES[finding.severity],
        "code": finding.code,
        "source": "mbplugin",
        "message": f"{message}\n{help}" if help else message,
        **({"codeDescription": {"href": page}} if page else {}),
    }
    others = [
        {"location": {"uri": uri, "range": span}, "message": f"{finding.code} here too"}
        for uri, span in located[: _MOST_RELATED + 1]
    ]
    for k, (uri, span) in enumerate(located):
        related = [other for j, other in enumerate(others) if j != k][:_MOST_RELATED]
        yield uri, {"range": span, **common, **({"relatedInformation": related} if related else {})}


# The pages of rules as files of this machine, which editors open from a diagnostic.

#: Longest page that is compared with what it would be, bytes.
_LONGEST = 1_000_000


@cache
def page_uri(code: str) -> str:
    """Return the URI of the page of a rule in the cache folder of this user; empty if it cannot be written."""
    root = cache_root()
    try:
        rule = find_rule(code)
    except UnknownName:
        return ""
    if root is None:
        return ""
    file = root / "mbplugin" / "rules" / f"{rule.code}.md"
    text = page_of(rule).encode()
    if not _holds(file, text):
        with contextlib.suppress(OSError):
            _write(file, text)
    return file.as_uri() if _holds(file, text) else ""


def page_of(rule: Rule) -> str:
    """Return the page of a rule in Markdown: its documentation, its severity and its fix."""
    facts = f"Severity: {rule.severity}. Fix: {fix_of(rule.code)}."
    return f"# {rule.code} {rule.name}\n\n{facts}\n\n{rule.documentation}\n"


def summary_of(code: str) -> str:
    """Return the summary of a rule in Markdown, with a link to its page; empty for a code that no rule has."""
    try:
        rule = find_rule(code)
    except UnknownName:
        return ""
    page = page_uri(code)
    title = f"[{rule.code} {rule.name}]({page})" if page else f"{rule.code} {rule.name}"
    return f"**{title}**: {rule.summary} Fix: {fix_of(rule.code)}."


def _holds(file: Path, text: bytes) -> bool:
    try:
        return read_bounded(file, _LONGEST) == text
    except UnreadableFile:
        return False


def _write(file: Path, text: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text)
    os.replace(temporary, file)  # noqa: PTH105
