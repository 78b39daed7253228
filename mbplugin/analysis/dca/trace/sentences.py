"""Lines of the explanation: names, titles and sentences, no more of them than one reads."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from mbplugin.phrases import listed

_WIDTH = 100
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
    """Return a sentence as lines."""
    return textwrap.wrap(
        sentence,
        _WIDTH,
        initial_indent="  " + indent,
        subsequent_indent="    " + indent,
        break_long_words=False,
    )
