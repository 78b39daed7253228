"""Fixes as a review of a pull request: the JSON that GitHub takes at ``POST /repos/…/pulls/…/reviews``.

A suggestion replaces whole lines, and GitHub takes it only on lines that the pull request adds or changes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.files import read_bounded
from mbplugin.phrases import counted
from mbplugin.processes.git import Repository, open_repository
from mbplugin.report.documents.part import dumps
from mbplugin.report.markdown import code

if TYPE_CHECKING:
    from mbplugin.linter.finding import Finding, FindingFix, TextRange
    from mbplugin.linter.run import Report

#: Most lines of a suggestion, and most comments of a review.
_LINES, _COMMENTS = 30, 50
#: Edits with at most so many lines between them are one suggestion.
_NEAR = 3
#: Longest message in a comment, characters.
_LONGEST = 400
_TICKS = re.compile(r"`+")


def review_text(reports: Sequence[Report], changes: str) -> str:
    """Return the review as JSON text.

    Parameters
    ----------
    reports : sequence of Report
        Of a lint with fixes that are not written.
    changes : str
        ``BASE...HEAD`` as git writes it, or ``BASE`` alone for the commit that is checked out.

    Raises
    ------
    BadUsage
        The working folder is in no repository, or one of them is no commit of it.
    """
    repository, base, head = _commits(changes)
    comments: list[dict[str, Any]] = []
    left_out = 0
    for finding in (f for report in reports for f in report.findings if f.fix is not None):
        # two robots may include one file
        found = [one for one in _comments(finding, repository, base, head) if one not in comments]
        if not found or len(comments) + len(found) > _COMMENTS:
            left_out += 1
        else:
            comments += found
    more = f"; {counted(left_out, 'fix', 'fixes')} more cannot be suggested here" if left_out else ""
    body = f"mbplugin has {counted(len(comments), 'suggestion')} in the lines of this pull request{more}."
    return dumps({"commit_id": head, "event": "COMMENT", "body": body, "comments": comments})


def _commits(changes: str) -> tuple[Repository, str, str]:
    """Return the repository, and the commits of ``BASE...HEAD``."""
    repository = open_repository(Path.cwd(), "--report github-review")
    first, _, second = changes.partition("...")
    names = first, second or "HEAD"
    found = [repository.commit(name) for name in names]
    for name, commit in zip(names, found, strict=True):
        if commit is None:
            raise BadUsage(
                f"--changes names {name!r}, which is no commit of the repository",
                expected="BASE...HEAD",
                remedy="fetch it first (git fetch)",
            )
    base, head = found
    assert base is not None and head is not None
    return repository, base, head


def _comments(finding: Finding, repository: Repository, base: str, head: str) -> list[dict[str, Any]]:
    """Return a comment for each place of a fix; none if its lines are not all those of the pull request."""
    assert finding.fix is not None
    edits = finding.fix.edits
    if not edits or len({edit.file for edit in edits}) > 1 or repository.top is None:
        return []
    file = Path(os.path.realpath(edits[0].file))
    top = Path(os.path.realpath(repository.top))
    if not file.is_relative_to(top):
        return []
    path = file.relative_to(top).as_posix()
    try:
        data = read_bounded(file)
    except MbPluginError:
        return []
    # numbers of lines are those of the head; GitHub's own line ends are not those of such a file
    if b"\r" in data or repository.content(head, path) != data:
        return []
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return []
    blocks = [_block(text, those) for those in _places(edits)]
    added = repository.added_lines(base, head, path)
    if any(
        last - first >= _LINES or not added.issuperset(range(first, last + 1)) for first, last, _ in blocks
    ):
        return []
    return [
        {
            "path": path,
            **({"start_line": first, "start_side": "RIGHT"} if first < last else {}),
            "line": last,
            "side": "RIGHT",
            "body": "\n".join(_body(finding, finding.fix, path, replacement, (k + 1, len(blocks)))),
        }
        for k, (first, last, replacement) in enumerate(blocks)
    ]


def _places(edits: Sequence[TextRange]) -> list[list[TextRange]]:
    """Return the edits of a file, those that are near each other together."""
    places: list[list[TextRange]] = []
    for edit in sorted(set(edits), key=lambda one: (one.start_line, one.start_column)):
        if places and edit.start_line - places[-1][-1].end_line <= _NEAR:
            places[-1].append(edit)
        else:
            places.append([edit])
    return places


def _block(text: str, edits: Sequence[TextRange]) -> tuple[int, int, str]:
    """Return the first and last line that edits change, and what stands there after them."""
    old = text.split("\n")
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line) + 1)
    spans = sorted(
        (
            starts[edit.start_line - 1] + edit.start_column - 1,
            starts[edit.end_line - 1] + edit.end_column - 1,
            edit.text,
        )
        for edit in edits
    )
    changed, position = "", 0
    for start, end, own in spans:
        changed += text[position:start] + own
        position = end
    new = (changed + text[position:]).split("\n")
    before = next(
        (k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    most = min(len(old), len(new)) - before
    after = next((k for k in range(most) if old[-1 - k] != new[-1 - k]), most)
    # a suggestion cannot add lines between others: it replaces one at least
    if before + after == len(old):
        before, after = (before, after - 1) if after else (before - 1, after)
    return before + 1, len(old) - after, "\n".join(new[before : len(new) - after])


def _body(
    finding: Finding, fix: FindingFix, path: str, replacement: str, part: tuple[int, int]
) -> Iterator[str]:
    """Yield the lines of a comment; the hidden last one tells later runs that the suggestion is made already."""
    ticks = max((len(run) for run in _TICKS.findall(replacement)), default=0)
    fence = "`" * max(3, ticks + 1)
    own = "\0".join((path, finding.code, finding.element, replacement, str(part)))
    yield f"**{finding.code} {finding.name}**: {code(finding.message, _LONGEST)}"
    yield ""
    yield f"{fix.applicability} fix: {code(fix.title, _LONGEST)}"
    if fix.applicability == "unsafe":
        yield ""
        yield "It changes the robot."
    if part[1] > 1:
        yield ""
        yield f"Part {part[0]} of {part[1]}; all parts belong together."
    yield ""
    yield f"{fence}suggestion"
    if replacement:
        yield replacement
    yield fence
    yield ""
    yield f"<!-- mbplugin:fix {hashlib.sha256(own.encode('utf-8', 'surrogateescape')).hexdigest()[:16]} -->"
