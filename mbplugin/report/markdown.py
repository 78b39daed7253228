"""The comparison of two models as one comment of a pull request, in GitHub's markdown.

Whatever a file states (names, numbers with their units, causes) stands in code spans on one line without backticks and
bars, in which GitHub renders no markdown, no HTML, no mention and no link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.phrases import counted, shortened, visible
from mbplugin.report.formats import shown
from mbplugin.report.text.models import DIFFERENCE_NAMES, decided_texts, normalised_texts, stop_cells
from mbplugin.version import __version__

if TYPE_CHECKING:
    from mbplugin.comparison.models.alignment import Difference, ModelDiff, Quantities
    from mbplugin.comparison.models.stops import StopChange, StopFigure

#: First line of every comment, which GitHub hides: by it an action finds the comment that it updates.
MARKER = "<!-- mbplugin:diff -->"
#: Longest comment, characters: GitHub refuses more than 65 536, and an action may put several into one.
LONGEST = 60_000
#: Longest value of a cell, and most names in one, characters and names.
_LONGEST_CELL, _NAMES = 120, 8
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
    return "\n".join([*head, *_bounded(parts, LONGEST - len("\n".join((*head, *tail))) - 200), *tail])


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
    """Yield the lines of tables until the room is used, then how many rows are left out."""
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
    """Yield the rows of the whole: masses, loops, mobility and redundancy; what changed is bold."""
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
    more = len(names) - _NAMES
    text = ", ".join(map(code, names[:_NAMES]))
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
        (DIFFERENCE_NAMES[one.kind], _element(one), code(one.value_a), code(one.value_b), code(one.cause))
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
    """Return the time of a stop, or why there is none."""
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
