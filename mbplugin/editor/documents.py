"""The documents that are open in an editor, and the texts and places of those and other files."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from mbplugin.errors import UnreadableFile
from mbplugin.files import read_bounded
from mbplugin.linter.fixes.edits import SourceText
from mbplugin.phrases import one_line_repr
from mbplugin.readers.paths import real_path

#: Places in longer files are not looked for, bytes.
_LONGEST = 20_000_000


@one_line_repr
@dataclass(frozen=True)
class OpenDocument:
    """A document as its client has it.

    Parameters
    ----------
    uri : str
        As the client writes it.
    path : str
    version : int
    text : str
    """

    uri: str
    path: str
    version: int
    text: str

    @cached_property
    def content(self) -> bytes:
        """The bytes that readers see in place of those of the file."""
        return encoded(self.text)


class Documents:
    """All open documents, by the real path of their files.

    Parameters
    ----------
    encoding : "utf-8", "utf-16" or "utf-32"
        Encoding whose units the client counts.
    """

    def __init__(self, encoding: str = "utf-16") -> None:
        self.encoding = encoding
        self._open: dict[str, OpenDocument] = {}
        self._positions: dict[str, Positions | None] = {}

    def put(self, document: OpenDocument) -> None:
        """Add a document, or replace its text."""
        self._open[str(real_path(document.path))] = document

    def remove(self, path: str) -> None:
        """Forget a document, so that the content of its file counts again."""
        self._open.pop(str(real_path(path)), None)

    def get(self, path: str) -> OpenDocument | None:
        """Return the open document of a file; None if it is not open."""
        return self._open.get(str(real_path(path)))

    @property
    def contents(self) -> dict[str, bytes]:
        """The contents of the open documents by real path, as readers look them up."""
        return {path: document.content for path, document in self._open.items()}

    def uri(self, path: str) -> str:
        """Return the URI of a file: that of the client if the file is open."""
        document = self.get(path)
        return document.uri if document else Path(path).absolute().as_uri()

    def forget_positions(self) -> None:
        """Forget the places in files, which may change from one request to the next."""
        self._positions.clear()

    def positions(self, path: str) -> Positions | None:
        """Return the places in a file as its document or the disk has it; None if it cannot be read."""
        if path not in self._positions:
            self._positions[path] = self._read(path)
        return self._positions[path]

    def _read(self, path: str) -> Positions | None:
        if document := self.get(path):
            return Positions(document.text, self.encoding)
        try:
            source = SourceText(path, read_bounded(Path(path), _LONGEST))
        except UnreadableFile:
            return None
        return Positions(source.data.decode(source.encoding).removeprefix("\ufeff"), self.encoding)


# Places in a text as editors count them: lines from 0, and units of the encoding that client and server agree on.

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
