"""Lines of styled text: wrapped for a width, printed plain or in colour."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mbplugin.visible import visible

#: Width where nobody's terminal decides it: files, pipes, CI logs.
PLAIN_WIDTH = 100
#: Style of titles.
TITLE = "bold cyan"
#: Names that a list of a report shows.
MOST_NAMES = 24
_NARROWEST, _WIDEST = 60, 140
#: A chain of names (crank–coupler–rocker) may break after its dashes.
_BREAKS = re.compile(r"(?<=[–→])|(\s+)")


@dataclass(frozen=True)
class Line:
    """One line; its first ``styled`` characters are in ``style`` (a name of rich), the rest plain.

    Whatever does not print is made visible.
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
        """The styled and the plain part, each (text, style)."""
        cut = len(self.text) if self.styled is None else self.styled
        return (self.text[:cut], self.style), (self.text[cut:], "")


def wrapped(text: str, width: int, first: str = "", rest: str | None = None) -> Iterator[str]:
    """Yield the lines of a text, the first and the following ones indented."""
    yield from filled(filter(None, _BREAKS.split(visible(text))), width, first, rest)


def filled(pieces: Iterable[str], width: int, first: str = "", rest: str | None = None) -> Iterator[str]:
    """Yield lines of pieces that stay whole, those that are blank between others, as :func:`wrapped` does."""
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
    """Return the lines without style."""
    return "".join(line.text + "\n" for line in lines)


def output_width() -> int:
    """Return the width to wrap for on stdout: COLUMNS, that of the terminal, or that of plain text."""
    return min(_WIDEST, max(_NARROWEST, shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns))


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines on the terminal, in colour unless NO_COLOR or a dumb terminal forbids it."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in lines:
        console.print(Text.assemble(*line.segments), soft_wrap=True)
