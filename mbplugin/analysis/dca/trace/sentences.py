"""Lines of the explanation: names, titles and sentences, no more of them than one reads, set for a width."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from mbplugin.phrases import listed

#: Of sentences where no width is asked for.
_WIDTH = 100
#: First head of the table; its cells are at least so many blanks apart.
FIRST_HEAD = "ranks"
_BLANKS = re.compile(r"\s{2,}")
#: Of more names, bodies or executions than these only so many are told; the table keeps to the groups.
FEW = 24


def names_of(names: Sequence[str]) -> str:
    """Return names joined by commas, and how many more there are."""
    return listed(names, FEW)


def few(sentences: Sequence[str]) -> Iterator[str]:
    """Tell the first sentences, and how many more there are."""
    for sentence in sentences[:FEW]:
        yield from text(sentence)
    yield from more(len(sentences))


def more(number: int) -> Iterator[str]:
    """Tell how many there are beyond the first few."""
    if number > FEW:
        yield f"  and {number - FEW} more"


def title(words: str) -> Iterator[str]:
    """Yield a title after an empty line."""
    yield ""
    yield words


def text(sentence: str, indent: str = "") -> list[str]:
    """Return a sentence as a line, not set yet."""
    return [f"  {indent}{sentence}"]


def set_lines(lines: Iterable[str], width: int | None = None) -> Iterator[str]:
    """Yield lines no wider than ``width``, a row of the table that does not fit as a sentence.

    Without a width, the table stays as it is.
    """
    heads: list[str] = []
    for line in lines:
        cells = _BLANKS.split(line.strip())
        if cells[0] == FIRST_HEAD:
            heads = cells
        if len(cells) == 1 or (width is not None and len(line) > width and cells is not heads):
            yield from _wrapped(line if len(cells) == 1 else _row_sentence(cells, heads), width or _WIDTH)
        elif width is None or len(line) <= width:
            yield line


def _row_sentence(cells: Sequence[str], heads: Sequence[str]) -> str:
    label, *own = cells
    return f"    {label}: " + ", ".join(f"{head} {cell}" for head, cell in zip(heads, own, strict=True))


def _wrapped(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line.lstrip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
    ) or [""]
