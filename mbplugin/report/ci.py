"""Reports for other programs: SARIF 2.1.0, GitHub annotations, GitLab Code Quality, JUnit XML and pull requests.

In the comment on a pull request, whatever a file states (names, numbers with their units, causes) stands in code
spans on one line without backticks and bars, in which GitHub renders no markdown, no HTML, no mention and no link. The
review is the JSON that GitHub takes at ``POST /repos/…/pulls/…/reviews``: a suggestion replaces whole lines, and GitHub
takes it only on lines that the pull request adds or changes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.files import read_bounded
from mbplugin.linter.rule import LONGEST, Finding, FindingFix, TextRange, rules
from mbplugin.phrases import counted, shortened, visible
from mbplugin.processes.git import Repository, open_repository
from mbplugin.report import findings_summary, plain, runs_summary, shown
from mbplugin.report.documents.part import dumps
from mbplugin.report.text.lint import finding_text
from mbplugin.report.text.models import decided_texts, normalised_texts, stop_cells
from mbplugin.version import SUMMARY, __version__

if TYPE_CHECKING:
    from mbplugin.comparison.models.alignment import Difference, ModelDiff, Quantities, StopChange, StopFigure
    from mbplugin.linter.run import Report, Suppressed


Object = dict[str, Any]
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
#: Base of relative paths; the reader of the file knows where the repository is checked out.
_ROOT = "SRCROOT"
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_SEVERITIES = {"error": "critical", "warning": "major", "note": "info"}
_TAGS = {1: "failure", 2: "error"}


def sarif_text(reports: Sequence[Report]) -> str:
    """Return the SARIF log as JSON text."""
    return dumps(sarif_document(reports))


def sarif_document(reports: Sequence[Report]) -> Object:
    """Return the SARIF log: one run of the tool over all files."""

    known = rules()
    index = {rule.code: k for k, rule in enumerate(known)}
    results = [_result(report, f, index) for report in reports for f in report.findings]
    results += [_suppressed(report, s, index) for report in reports for s in report.suppressed]
    driver = {
        "name": "mbplugin",
        "semanticVersion": __version__,
        "shortDescription": {"text": SUMMARY},
        "rules": [
            {
                "id": rule.code,
                "name": "".join(word.capitalize() for word in rule.name.split("-")),
                "shortDescription": {"text": rule.summary},
                "fullDescription": {"text": rule.summary},
                "help": {"text": rule.documentation, "markdown": rule.documentation},
                "defaultConfiguration": {"level": rule.severity, "enabled": not rule.opt_in},
            }
            for rule in known
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [
            {
                "executionSuccessful": all(report.exit_code < 2 for report in reports),
                "exitCode": max((report.exit_code for report in reports), default=0),
            }
        ],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(report: Report, finding: Finding, index: Mapping[str, int]) -> Object:
    return {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": finding.severity,
        "message": {"text": annotation(finding)},
        "locations": [_location(report, finding)],
        "properties": {"source": report.source, "help": finding.help, "evidence": plain(finding.evidence)},
        **({"fixes": [_fix(finding.fix)]} if finding.fix else {}),
    }


def _fix(fix: FindingFix) -> Object:
    """Return a fix as the changes of each file."""
    changes: dict[str, list[Object]] = {}
    for edit in fix.edits:
        region = {
            "startLine": edit.start_line,
            "startColumn": edit.start_column,
            "endLine": edit.end_line,
            "endColumn": edit.end_column,
        }
        replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
        changes.setdefault(edit.file, []).append(replacement)
    return {
        "description": {"text": f"{visible(fix.title)} ({fix.applicability})"},
        "artifactChanges": [
            {**_physical(file, 0), "replacements": replacements} for file, replacements in changes.items()
        ],
    }


def _suppressed(report: Report, suppressed: Suppressed, index: Mapping[str, int]) -> Object:
    ignore = suppressed.ignore
    place = _physical(ignore.config, ignore.line)
    return {
        **_result(report, suppressed.finding, index),
        "suppressions": [
            {
                "kind": "external",
                "justification": ignore.reason,
                **({"location": {"physicalLocation": place}} if place else {}),
            }
        ],
    }


def _location(report: Report, finding: Finding) -> Object:
    location: Object = {}
    if place := _physical(finding.file or report.source, finding.line):
        location["physicalLocation"] = place
    if finding.element:
        model = report.analysis.mechanism.name if report.analysis else ""
        full = f"{model}/{finding.element}" if model and model != finding.element else finding.element
        kind = "element" if PurePath(finding.file).suffix != ".toml" else "object"
        location["logicalLocations"] = [{"name": finding.element, "fullyQualifiedName": full, "kind": kind}]
    return location


def _physical(file: str, line: int) -> Object:
    path = in_repository(file)
    if not path:
        return {}
    artifact: Object = {"uri": quote(os.fsencode(path)), "uriBaseId": _ROOT}
    if PurePath(path).is_absolute():
        artifact = {"uri": PurePath(path).as_uri()}
    return {"artifactLocation": artifact, **({"region": {"startLine": line}} if line else {})}


# Workflow commands of GitHub Actions: each finding becomes an annotation of its line.


def github_text(reports: Sequence[Report]) -> str:
    """Return one workflow command per finding, and the summary for the log."""
    commands = [_command(finding) for report in reports for finding in report.findings]
    return "".join(f"{line}\n" for line in (*commands, runs_summary(reports)))


def _command(finding: Finding) -> str:
    properties = ",".join(
        f"{key}={_data(value).replace(':', '%3A').replace(',', '%2C')}" for key, value in _properties(finding)
    )
    # annotations have no suggestions: GitHub reads those in comments of a review only
    fix = f"\nfix ({finding.fix.applicability}): {visible(finding.fix.title)}" if finding.fix else ""
    return f"::{_COMMANDS[finding.severity]} {properties}::{_data(annotation(finding) + fix)}"


def _properties(finding: Finding) -> Iterator[tuple[str, str]]:
    if file := in_repository(finding.file):
        yield "file", file
        if finding.line:
            yield "line", str(finding.line)
    element = f" [{visible(finding.element)}]" if finding.element else ""
    yield "title", f"{finding.code} {finding.name}{element}"


def _data(text: str) -> str:
    """Escape text for the runner; a raw line break would end the command and could start another."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


# GitLab's Code Quality report: a JSON list of findings.


def gitlab_text(reports: Sequence[Report]) -> str:
    """Return the list as JSON text, with one entry per report and finding."""
    seen: Counter[str] = Counter()
    return dumps([_entry(report, finding, seen) for report in reports for finding in report.findings])


def _entry(report: Report, finding: Finding, seen: Counter[str]) -> dict[str, Any]:
    path = in_repository(finding.file or report.source) or visible(report.source)
    return {
        "description": annotation(finding),
        "check_name": finding.code,
        "fingerprint": _fingerprint(path, finding, seen),
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": path, "lines": {"begin": max(finding.line or 1, 1)}},
    }


def _fingerprint(path: str, finding: Finding, seen: Counter[str]) -> str:
    """Return the fingerprint by which GitLab matches a finding across runs; it ignores line numbers and messages."""
    own = "\0".join((path, finding.code, finding.element))
    seen[own] += 1
    return hashlib.sha256(f"{own}\0{seen[own]}".encode("utf-8", "surrogateescape")).hexdigest()


# JUnit XML: each file is a test case; its findings at or above the threshold are the failure.


def junit_text(reports: Sequence[Report]) -> str:
    """Return the JUnit XML document."""
    from lxml import etree

    codes = [report.exit_code for report in reports]
    counts = {"tests": len(codes), "failures": codes.count(1), "errors": codes.count(2)}
    counts["skipped"] = sum(report.skipped for report in reports)
    root = etree.Element("testsuites")
    suite = etree.SubElement(root, "testsuite", name="mbplugin")
    for key, number in counts.items():
        suite.set(key, str(number))
    for report in reports:
        case = etree.SubElement(suite, "testcase", name=visible(report.source), classname="mbplugin.lint")
        _fill(case, report)
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return text.decode()


def _fill(case: Any, report: Report) -> None:
    from lxml import etree

    failing = [finding for finding in report.findings if report.fails(finding)]
    others = [finding for finding in report.findings if not report.fails(finding)]
    if failing:
        codes = ", ".join(dict.fromkeys(finding.code for finding in failing))
        failure = etree.SubElement(
            case, _TAGS[report.exit_code], message=findings_summary([report]), type=codes
        )
        failure.text = _texts(failing)
    if report.skipped:
        etree.SubElement(case, "skipped", message=report.findings[0].message)
    if others:
        etree.SubElement(case, "system-out").text = _texts(others)


def _texts(findings: Iterable[Finding]) -> str:
    return "\n".join(finding_text(finding) for finding in findings)


# File names for other tools: relative to the root of the repository, with forward slashes.


def repository_root() -> Path:
    """Return the base folder of paths for other tools: the CI workspace, else the git root, else the current folder."""
    if workspace := os.environ.get("GITHUB_WORKSPACE"):
        return Path(workspace).resolve()
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)


def in_repository(file: str) -> str:
    """Return a file's path relative to the root of the repository; absolute if it is outside.

    Empty for a source that is not a file, such as stdin or a live client.
    """
    if not file or file.startswith("<"):
        return ""
    # symbolic links are not resolved: the repository knows files by these names
    path = Path(os.path.abspath(file))  # noqa: PTH100
    root = repository_root()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


# The text of a finding in an annotation: the problem and the remedy, in at most ``LONGEST`` characters.


def annotation(finding: Finding) -> str:
    """Return the message and, on a separate line, the first line of the help if it fits.

    Lines to paste are in the text and in the JSON of the lint.
    """
    message = shortened(visible(finding.message), LONGEST)
    sentence = visible(next(iter(finding.help.splitlines()), "")).removesuffix(":")
    if not sentence or sentence in message:
        return message
    both = f"{message}\n{sentence}"
    return both if len(both) <= LONGEST else message


#: First line of every comment, which GitHub hides: by it an action finds the comment that it updates.
MARKER = "<!-- mbplugin:diff -->"
#: Longest comment, characters: GitHub refuses more than 65 536, and an action may put several into one.
LONGEST_COMMENT = 60_000
#: Longest value of a cell, and most names in one, characters and names.
_LONGEST_CELL, _MOST_NAMES = 120, 8
#: Look-alikes of the characters that end a code span or a cell.
_INERT = str.maketrans({"`": "ˋ", "|": "│"})
#: Differences by subject, in the order of the comment.
_SUBJECTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Masses", ("mass", "center", "inertia", "body")),
    (
        "Limits and drives",
        ("limit", "effort", "velocity", "acceleration", "deceleration", "jerk", "armature"),
    ),
    ("Loops and couplings", ("loop", "coupling", "lead", "length")),
    ("Redundancy", ("redundancy", "mobility")),
    ("Joints and frames", ("joint", "type", "ends", "axis", "origin", "zero", "frame")),
)
_OTHERS = "Other properties"
_NOTHING = "–"
#: Most lines of a suggestion, and most comments of a review.
_LINES, _COMMENTS = 30, 50
#: Edits with at most so many lines between them are one suggestion.
_NEAR = 3
#: Longest message in a comment, characters.
_LONGEST_TEXT = 400
_TICKS = re.compile(r"`+")


def diff_comment(found: ModelDiff, files: tuple[str, str]) -> str:
    """Return the comment: the marker, the verdict, the numbers of both models, what changed, and the stops."""
    head = [
        MARKER,
        f"### {code(found.b.name)}: {'the same robot' if found.same else _counts(found)}",
        "",
        f"Before: {code(files[0])}, after: {code(files[1])}.",
        "",
    ]
    parts = [_table(("", "before", "after"), _numbers(found))]
    parts += [_section(name, those) for name, those in _by_subject(found.differences)]
    if found.stops:
        parts.append(_stops(found.stops))
    tail = [*_folded(found), f"<sub>mbplugin {__version__}</sub>", ""]
    return "\n".join([*head, *_bounded(parts, LONGEST_COMMENT - len("\n".join((*head, *tail))) - 200), *tail])


def code(text: object, most: int = _LONGEST_CELL) -> str:
    """Return a text as a code span, in which nothing is rendered; an empty one as a dash."""
    plain = shortened(visible(str(text)), most).translate(_INERT).strip()
    # a name may not pass for the marker either
    plain = plain.replace("<!--", "<! --")
    return f"`{plain}`" if plain else _NOTHING


def _counts(found: ModelDiff) -> str:
    elements = len({(one.element_a, one.element_b) for one in found.differences})
    return f"{counted(len(found.differences), 'difference')} in {counted(elements, 'element')}"


def _bounded(parts: Iterable[list[str]], room: int) -> Iterator[str]:
    """Yield the lines of tables until the space is used up, then the number of rows left out."""
    left_out = 0
    for lines in parts:
        if left_out:
            left_out += _rows_of(lines)
            continue
        for k, line in enumerate(lines):
            if (room := room - len(line) - 1) < 0:
                left_out = _rows_of(lines[k:])
                break
            yield line
        yield ""
    if left_out:
        yield f"**{counted(left_out, 'row')} more**: run `mbplugin diff` to see all of them."
        yield ""


def _rows_of(lines: Sequence[str]) -> int:
    return sum(line.startswith("| ") for line in lines)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]


# The numbers of both models.


def _numbers(found: ModelDiff) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the whole: masses, loops, mobility and redundancy; changes are bold."""
    for name, values in (
        ("mass", [f"{side.mass:.6g} kg" for side in (found.a, found.b)]),
        ("bodies, joints", [f"{side.bodies}, {side.joints}" for side in (found.a, found.b)]),
        ("loops", [str(side.loops) for side in (found.a, found.b)]),
        ("mobility", [_known(side.mobility) for side in (found.a, found.b)]),
        ("redundant constraints", [_known(side.degree_of_redundancy) for side in (found.a, found.b)]),
        ("joints with undetermined reactions", [_undetermined(side) for side in (found.a, found.b)]),
    ):
        before, after = values
        yield (name, before, after) if before == after else (f"**{name}**", before, f"**{after}**")


def _known(value: int | None) -> str:
    return "the loops do not close" if value is None else str(value)


def _undetermined(side: Quantities) -> str:
    if side.undetermined is None:
        return _known(None)
    names = side.undetermined
    more = len(names) - _MOST_NAMES
    text = ", ".join(map(code, names[:_MOST_NAMES]))
    return f"{len(names)}: {text}{f' and {more} more' if more > 0 else ''}" if names else "none"


# What changed, by subject.


def _by_subject(differences: Sequence[Difference]) -> Iterator[tuple[str, list[Difference]]]:
    known = {kind for _, kinds in _SUBJECTS for kind in kinds}
    for name, kinds in _SUBJECTS:
        if those := [one for one in differences if one.kind in kinds]:
            yield name, those
    if those := [one for one in differences if one.kind not in known]:
        yield _OTHERS, those


def _section(name: str, differences: Sequence[Difference]) -> list[str]:
    rows = [
        (one.quantity, _element(one), code(one.value_a), code(one.value_b), code(one.cause))
        for one in differences
    ]
    return [f"#### {name}", "", *_table(("what", "of", "before", "after", "probably"), rows)]


def _element(found: Difference) -> str:
    if found.element_a and found.element_b and found.element_a != found.element_b:
        return f"{code(found.element_a)}, now {code(found.element_b)}"
    return code(found.element)


# The stops of both models.


def _stops(changes: Sequence[StopChange]) -> list[str]:
    rows = []
    for change in changes:
        before, after = change.a, change.b
        first, second = ((_outcome(one), *stop_cells(one)[1:]) for one in (before, after))
        cells = [a if a == b else f"{a} → **{b}**" for a, b in zip(first, second, strict=True)]
        rows.append((code(change.joint), _speeds(before, after), *cells))
    heads = ("joint", "from", "time", "travel of the joint", "path of the tool")
    lead = "Category 0, each joint alone from its velocity limit, at the pose of the file; computed, not measured."
    return ["#### Emergency stops, before → after", "", lead, "", *_table(heads, rows)]


def _speeds(before: StopFigure | None, after: StopFigure | None) -> str:
    speeds = list(dict.fromkeys(f"{shown(one.speed)} {one.unit}/s" for one in (before, after) if one))
    return " → ".join(speeds)


def _outcome(figure: StopFigure | None) -> str:
    """Return the time of a stop, or the reason why it has none."""
    if figure is None:
        return "no stop"
    if figure.time is None:
        return code(figure.reason or figure.outcome.replace("_", " "))
    return f"{stop_cells(figure)[0]}{' (into its limit)' if figure.outcome == 'limit_hit' else ''}"


# What is folded: how the comparison was made.


def _folded(found: ModelDiff) -> list[str]:
    """Return the assumptions of the comparison, which a reader unfolds."""
    texts = [*normalised_texts(found.normalised), *(one.text for one in found.not_compared)]
    texts += [*found.notes, *decided_texts(found)]
    shown_texts = [f"- {code(text)}" for text in texts[:20]]
    more = [f"- and {len(texts) - 20} more"] if len(texts) > 20 else []
    return ["<details><summary>How this was decided</summary>", "", *shown_texts, *more, "", "</details>", ""]


# Fixes as a review: suggestions beside the lines that the pull request adds or changes.


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
        The working folder is not in a repository, or a name is not a commit of the repository.
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
    """Return a comment for each place of a fix; none unless all its lines belong to the pull request."""
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
    """Return the first and last line that edits change, and their new text."""
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
    """Yield the lines of a comment; a hidden last one tells later runs that the suggestion exists already."""
    ticks = max((len(run) for run in _TICKS.findall(replacement)), default=0)
    fence = "`" * max(3, ticks + 1)
    own = "\0".join((path, finding.code, finding.element, replacement, str(part)))
    yield f"**{finding.code} {finding.name}**: {code(finding.message, _LONGEST_TEXT)}"
    yield ""
    yield f"{fix.applicability} fix: {code(fix.title, _LONGEST_TEXT)}"
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
