"""Places in a text as editors count them: lines from 0, and units of the encoding that client and server agree on."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Any

#: What ends a line in the protocol; Python's ``splitlines`` knows eight more.
_LINE_END = re.compile(r"\r\n|\n|\r")
#: A position or a range of the protocol, as JSON.
Position = dict[str, int]
Range = dict[str, Any]


class Positions:
    """A text whose characters are counted in three ways.

    Parameters
    ----------
    text : str
    encoding : "utf-8", "utf-16" or "utf-32"
        Encoding whose units the client counts.
    """

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self._encoding = encoding
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    def position(self, index: int) -> Position:
        """Return the position of a character; that of the end of a line for its line end."""
        index = min(max(index, 0), len(self.text))
        line = bisect_right(self._starts, index) - 1
        return {"line": line, "character": self._units(self.text[self._starts[line] : index])}

    def range(self, start: int, end: int) -> Range:
        """Return the range between two characters."""
        return {"start": self.position(start), "end": self.position(end)}

    def index(self, position: Position) -> int:
        """Return the character at a position; the end of the line for a position behind it."""
        line, left = position["line"], position["character"]
        if line >= len(self._starts):
            return len(self.text)
        start, end = self.line(line)
        if self._units(self.text[start:end]) <= left:
            return end
        index = start
        while left > 0:
            left -= self._units(self.text[index])
            index += 1
        return index

    def line(self, number: int) -> tuple[int, int]:
        """Return the first character of a line, from 0, and the one behind its last, without the line end."""
        start = self._starts[number]
        end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
        return start, start + len(self.text[start:end].rstrip("\r\n"))

    def index_of_line(self, line: int) -> int:
        """Return the first character of a line, from 1, as files count them: only a line feed ends one."""
        starts = self._fed
        return starts[min(max(line, 1), len(starts)) - 1]

    def index_of_byte(self, offset: int) -> int:
        """Return the character at an offset in the bytes of the text, which are UTF-8."""
        if self.text.isascii():
            return offset
        return bisect_right(self._bytes, offset) - 1

    @cached_property
    def _fed(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    @cached_property
    def _bytes(self) -> list[int]:
        """The offsets of all characters, and of the end, in bytes."""
        offsets, offset = [0], 0
        for character in self.text:
            offset += len(encoded(character))
            offsets.append(offset)
        return offsets

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32" or text.isascii():
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(character > "\uffff" for character in text)


def encoded(text: str) -> bytes:
    """Return a text of a client as the bytes of a file; half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace")
