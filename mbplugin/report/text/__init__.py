"""Lines of styled text, wrapped to a width and printed plain or in colour; tables, and blocks of several reports."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mbplugin.phrases import Assumption, dataclass, visible

if TYPE_CHECKING:
    from mbplugin.simulation.passing_marks import Event

#: Width without a terminal: files, pipes, CI logs.
PLAIN_WIDTH = 100
#: Style of titles.
TITLE = "bold cyan"
#: Maximum number of names in a list of a report.
MOST_NAMES = 24
#: Names and units of the components of a wrench.
COMPONENT_NAMES = ("fx N", "fy N", "fz N", "mx N·m", "my N·m", "mz N·m")
_NARROWEST, _WIDEST = 60, 140
#: Break points: white space, and after the dashes in a chain of names (crank–coupler–rocker).
_BREAKS = re.compile(r"(?<=[–→])|(\s+)")
_INDENT = 2
#: Gap between columns, characters.
_GAP = 2
#: Minimum width reserved for labels when columns are tight; a longer label gets a separate line.
_LEAST_LABEL = 20


#: Maximum number of printed rows or events; all are in the JSON.
MOST = 40
#: All assumptions of a result are in so many lines of its report, blank ones not counted.
FIRST = 5


@dataclass(frozen=True)
class Line:
    """One line; its first ``styled`` characters (None: all) are in ``style`` (a style of rich), the rest plain.

    Non-printable characters are made visible.
    """

    text: str = ""
    style: str = ""
    styled: int | None = None

    def __post_init__(self) -> None:
        if not self.text.isprintable():
            if self.styled is not None:
                object.__setattr__(self, "styled", len(visible(self.text[: self.styled])))
            object.__setattr__(self, "text", visible(self.text))

    @property
    def segments(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """The styled and the plain part, each as (text, style)."""
        cut = len(self.text) if self.styled is None else self.styled
        return (self.text[:cut], self.style), (self.text[cut:], "")


def wrapped(text: str, width: int, first: str = "", rest: str | None = None) -> Iterator[str]:
    """Wrap a text to ``width``; ``first`` and ``rest`` are the prefixes of the first and the following lines."""
    yield from filled(filter(None, _BREAKS.split(visible(text))), width, first, rest)


def filled(pieces: Iterable[str], width: int, first: str = "", rest: str | None = None) -> Iterator[str]:
    """Fill lines with unbreakable pieces, with white space between them, as :func:`wrapped` does."""
    indent, line = first, ""
    for piece in pieces:
        blank = piece.isspace()
        if line.strip() and not blank and len(indent) + len(line) + len(piece) > width:
            yield indent + line.rstrip()
            indent, line = first if rest is None else rest, ""
        if line or not blank:
            line += " " if blank else piece
    yield (indent + line).rstrip()


def plain_text(lines: Iterable[Line]) -> str:
    """Return the lines as text without styles."""
    return "".join(line.text + "\n" for line in lines)


def output_width() -> int:
    """Return the width for stdout, within limits: COLUMNS, else that of the terminal, else ``PLAIN_WIDTH``."""
    return min(_WIDEST, max(_NARROWEST, shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns))


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines on the terminal, in colour unless NO_COLOR or a dumb terminal forbids it."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in lines:
        console.print(Text.assemble(*line.segments), soft_wrap=True)


# Tables that fit a width without cutting numbers: narrower columns, two-line heads, columns split into blocks.


@dataclass(frozen=True)
class _Column:
    """A column: its head in one or two lines, its cells, its width with the gap; remarks are left-aligned."""

    head: tuple[str, ...]
    cells: tuple[str, ...]
    remarks: bool = False
    wide: int = 0

    @property
    def natural(self) -> int:
        """The minimum width, including the gap before the column."""
        return _GAP + max(map(len, (*self.head, *self.cells)))

    def text(self, cell: str) -> str:
        """Return a cell padded to the width of the column."""
        return f"{'':{_GAP}}{cell:<{self.wide - _GAP}}" if self.remarks else f"{cell:>{self.wide}}"


def table_lines(
    title: str,
    heads: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    width: int = PLAIN_WIDTH,
    column: int = 13,
) -> Iterator[Line]:
    """Yield a blank line, then a table; see :func:`grid_lines`."""
    yield Line()
    yield from grid_lines(title, heads, rows, width, column)


def grid_lines(
    title: str,
    heads: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    width: int = PLAIN_WIDTH,
    column: int = 13,
    styles: Sequence[str] = (),
    below: Sequence[Sequence[Line]] = (),
) -> Iterator[Line]:
    """Yield a table with labels on the left and cells below their heads, no line wider than ``width``.

    Parameters
    ----------
    title : str
        Head of the labels.
    rows : sequence of (str, sequence of str)
        Labels and cells; cells beyond the heads are remarks.
    column : int
        Preferred width of every column, used if the columns fit.
    styles : sequence of str
        Styles of the rows; empty if all are plain.
    below : sequence of sequences of Line
        Lines to insert after each row; empty for none.
    """
    labels = [visible(label) for label, _ in rows]
    longest = max(map(len, (title, *labels)))
    blocks = list(_blocks(_columns(heads, rows), longest, width, column))
    for k, block in enumerate(blocks):
        if k:
            yield Line()
        room = width - _INDENT - sum(one.wide for one in block)
        wide = min(longest, room)
        # long labels get a separate line; if most are long, all labels do
        alone = 2 * sum(len(label) > wide for label in labels) > len(labels)
        yield from _head_lines(title, block, wide, width)
        for n, label in enumerate(labels):
            cells = "".join(one.text(one.cells[n]) for one in block)
            own_line = alone or len(label) > wide
            yield from _row_lines(label, cells, wide, width, styles[n] if styles else "", own_line)
            if below and block is blocks[-1]:
                yield from below[n]


def warning_lines(warnings: Iterable[str], width: int) -> Iterator[Line]:
    """Yield each non-empty warning as a paragraph, for the top of a report; those of one line stand together."""
    paragraphs = [list(wrapped(warning, width, "! ", "! ")) for warning in warnings if warning]
    for k, lines in enumerate(paragraphs):
        yield from (Line(text, "bold yellow") for text in lines)
        if len(lines) > 1 or paragraphs[k + 1 : k + 2] == [] or len(paragraphs[k + 1]) > 1:
            yield Line()


def first_lines(
    headline: Sequence[Line],
    warnings: Iterable[str],
    width: int,
    *,
    notes: Iterable[str] = (),
    warnings_first: bool = False,
) -> Iterator[Line]:
    """Yield the headline of a report and its warnings, with all assumptions in the first ``FIRST`` lines.

    If the warnings are too long for that, the short forms of all assumptions come before them, and before a headline
    that leaves them no room.

    Parameters
    ----------
    headline : sequence of Line
    warnings : iterable of str
        Whole sentences to print; empty ones are left out.
    notes : iterable of str
        Sentences printed elsewhere; those that are an ``Assumption`` get their short form here.
    warnings_first : bool
        Whether short warnings come before the headline, so that nobody reads it without them.
    """
    told = [warning for warning in warnings if warning]
    more = [note for note in notes if isinstance(note, Assumption) and note not in told]
    whole = list(warning_lines(told, width))
    lines = sum(bool(line.text) for line in whole)
    if warnings_first and lines + len(rest := _in_short(more, width)) <= FIRST:
        yield from (*whole, *rest, *headline)
        return
    assumed = _in_short((*told, *more), width) if more or lines + len(headline) > FIRST else []
    order = (headline, assumed) if len(headline) + len(assumed) <= FIRST else (assumed, headline)
    yield from (line for part in order for line in part)
    yield Line()
    yield from whole


def _in_short(sentences: Sequence[str], width: int) -> list[Line]:
    """Return the short forms of the assumptions among some sentences, as one paragraph; empty if there are none."""
    shorts = dict.fromkeys(one.short for one in sentences if isinstance(one, Assumption) and one.short)
    if not shorts:
        return []
    text = f"assumed: {'; '.join(shorts)}."
    return [Line(line, "bold yellow") for line in wrapped(text, width, "! ", "! ")]


def sentences_under(title: str, sentences: Sequence[str], width: int) -> Iterator[Line]:
    """Yield sentences under a title; nothing if there are none."""
    if sentences:
        yield Line()
        yield Line(title, TITLE)
    for sentence in sentences:
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))


def note_lines(notes: Sequence[str], width: int) -> Iterator[Line]:
    """Yield notes after a blank line; nothing if there are none."""
    if notes:
        yield Line()
    for note in notes:
        yield from (Line(text) for text in wrapped(note, width, "note: ", "  "))


def event_lines(events: Sequence[Event], width: int, digits: int) -> Iterator[Line]:
    """Yield events, with ``digits`` significant digits of their times; nothing if there are none."""
    if events:
        yield Line()
        yield Line("Events", TITLE)
    for event in events[:MOST]:
        yield from (
            Line(text) for text in wrapped(event.sentence, width, f"  {event.time:.{digits}g} s  ", "    ")
        )
    yield from more_lines(len(events), MOST)


def more_lines(number: int, printed: int) -> Iterator[Line]:
    """Yield a line with the number of rows not printed; nothing if all are."""
    if number > printed:
        yield Line(f"  and {number - printed} more (all are in the JSON)")


def _columns(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> list[_Column]:
    count = max((len(cells) for _, cells in rows), default=0)
    found = []
    for j in range(max(count, len(heads))):
        cells = tuple(visible(cells[j]) if j < len(cells) else "" for _, cells in rows)
        remarks = j >= len(heads)
        found.append(_Column(("" if remarks else heads[j],), cells, remarks))
    return found


def _blocks(columns: list[_Column], label: int, width: int, column: int) -> Iterator[list[_Column]]:
    """Split the columns into blocks that fit ``width``, and set their widths, as wide as possible."""
    room = width - _INDENT - label
    numbers = [one for one in columns if not one.remarks]
    remarks = sum(one.natural for one in columns if one.remarks)
    even = min(column, (room - remarks) // max(1, len(numbers)))
    if even >= max((one.natural for one in numbers), default=0):
        yield [replace(one, wide=one.natural if one.remarks else even) for one in columns]
        return
    if sum(one.natural for one in columns) > room:
        columns = [replace(one, head=_in_two_lines(one.head[0])) for one in columns]
    room = width - _INDENT - min(label, _LEAST_LABEL)
    block: list[_Column] = []
    for one in columns:
        if block and sum(c.wide for c in block) + one.natural > room:
            yield block
            block = []
        block = [*block, replace(one, wide=one.natural)]
    yield block


def _in_two_lines(head: str) -> tuple[str, ...]:
    """Split a head of several words into two lines, each with the trailing spaces of the head."""
    words = head.rstrip()
    first, _, last = words.rpartition(" ")
    end = head[len(words) :]
    return first + end, last + end


def _head_lines(title: str, block: list[_Column], wide: int, width: int) -> Iterator[Line]:
    count = max(len(one.head) for one in block)
    lines = ["".join(one.text(("", *one.head)[k - count]) for one in block) for k in range(count)]
    *above, last = lines
    yield from (Line(_beside("", cells, wide), TITLE) for cells in above if cells.strip())
    yield from _row_lines(title, last, wide, width, TITLE, len(title) > wide)


def _row_lines(label: str, cells: str, wide: int, width: int, style: str, own_line: bool) -> Iterator[Line]:
    """Yield a row, with its label beside the cells or on a separate line."""
    if own_line:
        yield from (Line(text, style) for text in wrapped(label, width, " " * _INDENT, " " * 2 * _INDENT))
        label = ""
    text = _beside(label, cells, wide)
    if text:
        yield Line(text, style)


def _beside(label: str, cells: str, wide: int) -> str:
    return f"{'':{_INDENT}}{label:<{wide}}{cells}".rstrip()
