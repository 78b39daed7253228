"""Code actions: the fixes of ``lint --fix`` at a place, and all safe fixes of a document.

A fix is offered by its title, and proved only if it is chosen: the document is linted with the edited text, and the
edit is returned only if the finding is gone, no worse one appears and nothing else of the robot changes.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mbplugin.editor.diagnostics import Inspection
from mbplugin.editor.documents import Documents, Positions, Range
from mbplugin.editor.hovers import within
from mbplugin.files import reading_instead
from mbplugin.linter.fixes.batch import mended_target
from mbplugin.linter.fixes.edits import Fix, SourceText, why_not_edited
from mbplugin.linter.fixes.proposals import REMEDIES, applicability_of, proposed
from mbplugin.linter.fixes.run import Mending, Proposals
from mbplugin.linter.fixes.sources import Sources
from mbplugin.linter.rule import Finding
from mbplugin.linter.run import Report
from mbplugin.linter.targets import settings_for, target_of
from mbplugin.readers.paths import lookups_kept, real_path

#: Most fixes that are offered at one place.
_MOST = 50
#: Edits of the protocol as JSON, by URI.
Edits = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class FixKey:
    """What tells a fix from the others of a document."""

    code: str
    element: str
    title: str


class Refused(Exception):
    """A fix that does not hold, or that no longer applies, with the reason."""


def offered(documents: Documents, inspection: Inspection, span: Range) -> list[dict[str, Any]]:
    """Return the fixes of the findings in a range as code actions without their edits.

    Parameters
    ----------
    documents : Documents
    inspection : Inspection
        The last one of the document.
    span : Range
    """
    report, target = inspection.report, inspection.target
    if report is None or target is None or target.settings.xacro_unsafe:
        return []
    own = real_path(inspection.path)
    touched: dict[int, tuple[Finding, Range]] = {}
    for finding, file, there in inspection.findings:
        if real_path(file) == own and _overlap(there, span):
            touched.setdefault(id(finding), (finding, there))
    sources, found = Sources(), list[dict[str, Any]]()
    # the edits at the place come first: those of other elements are offered at theirs
    with reading_instead(documents.contents), lookups_kept():
        for finding, there in touched.values():
            fixes = [
                fix
                for fix in proposed(finding, sources, report.scene)
                if fix.edits and not any(why_not_edited(edit.file, report.source) for edit in fix.edits)
            ]
            here = [fix for fix in fixes if _is_here(fix, documents, inspection.path, there)]
            found += [_action(fix, there, finding) for fix in here or fixes]
    return found[:_MOST]


def has_safe_fixes(inspection: Inspection) -> bool:
    """Return True if a finding of a document is of a rule with a safe fix."""
    report, target = inspection.report, inspection.target
    if report is None or target is None or target.settings.xacro_unsafe:
        return False
    remedies = (REMEDIES.get(finding.code) for finding in report.findings)
    return any(remedy is not None and remedy.applicability == "safe" for remedy in remedies)


def proved_fix(documents: Documents, path: str, key: FixKey) -> Edits:
    """Return the edits of one fix, proved on the present texts.

    Raises
    ------
    Refused
        The fix does not hold, or the document no longer has the finding.
    """
    chosen: list[Fix] = []

    def only(finding: Finding, sources: Sources, report: Report) -> Iterator[Fix]:
        for fix in proposed(finding, sources, report.scene):
            if _key(fix) == key and not chosen:
                chosen.append(fix)
                yield fix

    mending, sources = _mending(documents, path, unsafe=True, propose=only)
    if not chosen:
        raise Refused("this finding is gone")
    if not mending.contents:
        reason = mending.after.unmended[0].reason if mending.after.unmended else "it changes nothing"
        raise Refused(reason)
    edits: Edits = {}
    for edit in chosen[0].edits:
        source = sources(edit.file)
        positions = _positions(documents, source)
        span = positions.range(_index(positions, source, edit.start), _index(positions, source, edit.end))
        own = edits.setdefault(documents.uri(edit.file), [])
        if (stated := {"range": span, "newText": edit.text}) not in own:
            own.append(stated)
    return edits


def all_safe_fixes(documents: Documents, path: str) -> Edits:
    """Return the edits of all safe fixes of a document, proved together as by ``lint --fix``."""
    mending, sources = _mending(documents, path, unsafe=False, propose=None)
    edits: Edits = {}
    for file, data in mending.contents.items():
        source = sources(file)
        positions = _positions(documents, source)
        after = data.decode(source.encoding).removeprefix("\ufeff" if positions.text[:1] != "\ufeff" else "")
        edits[documents.uri(file)] = list(edits_between(positions, after))
    return edits


def edits_between(positions: Positions, after: str) -> Iterator[dict[str, Any]]:
    """Yield the edits that turn a text into another one, each of whole lines."""
    before = positions.text
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for what, first, last, new_first, new_last in matcher.get_opcodes():
        if what != "equal":
            span = positions.range(starts[first], starts[last])
            yield {"range": span, "newText": "".join(new[new_first:new_last])}


def _mending(
    documents: Documents, path: str, *, unsafe: bool, propose: Proposals | None
) -> tuple[Mending, Callable[[str], SourceText]]:
    """Return the fixes that hold, and the texts that they were made for."""
    with reading_instead(documents.contents):
        target = target_of(path, settings_for(Path(path)))
        mending = mended_target(target, {}, unsafe=unsafe, propose=propose)
    originals = mending.originals
    return mending, partial(_source, originals)


def _source(originals: Mapping[str, bytes], file: str) -> SourceText:
    return SourceText(file, originals[file])


def _positions(documents: Documents, source: SourceText) -> Positions:
    document = documents.get(source.file)
    text = document.text if document else source.data.decode(source.encoding).removeprefix("\ufeff")
    return Positions(text, documents.encoding)


def _index(positions: Positions, source: SourceText, offset: int) -> int:
    """Return the character at an offset of a source; editors do not see the byte order mark of a file."""
    before = source.data[:offset].decode(source.encoding)
    hidden = before.startswith("\ufeff") and positions.text[:1] != "\ufeff"
    return len(before) - hidden


def _key(fix: Fix) -> FixKey:
    return FixKey(fix.code, fix.element, fix.title)


def _is_here(fix: Fix, documents: Documents, path: str, there: Range) -> bool:
    """Return True if a fix edits the lines of a range, or the element that it is about stands there."""
    document = documents.get(path)
    if document is None:
        return False
    positions = Positions(document.text, documents.encoding)
    own = real_path(path)
    for edit in fix.edits:
        if real_path(edit.file) == own:
            span = positions.range(positions.index_of_byte(edit.start), positions.index_of_byte(edit.end))
            if _overlap(span, there):
                return True
    return False


def _action(fix: Fix, there: Range, finding: Finding) -> dict[str, Any]:
    safe = applicability_of(fix) == "safe"
    suffix = "" if safe else " (unsafe: changes the robot)"
    return {
        "title": f"{fix.code}: {fix.title}{suffix}",
        "isPreferred": safe,
        "key": {"code": fix.code, "element": fix.element, "title": fix.title},
        "at": there,
        "of": finding.code,
    }


def _overlap(first: Range, second: Range) -> bool:
    return any(
        within(one, other[which])
        for one, other in ((first, second), (second, first))
        for which in ("start", "end")
    )
