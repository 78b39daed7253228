"""The spans of tables, keys and values of a TOML file, on its bytes as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from mbplugin.linter.fixes.edits import Edit, SourceText

_KEY_PART = re.compile(r"[A-Za-z0-9_-]+|\"((?:[^\"\\\n]|\\.)*)\"|'([^'\n]*)'")
_BLANKS = re.compile(r"[ \t]*")
#: What separates the entries of a list: blanks, line breaks, comments and commas.
_SEPARATORS = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_BARE = re.compile(r"[^\s,\]\[{}#\"'=]+(?: \d[^\s,\]#]*)?")


class NoSpans(ValueError):
    """The text cannot be followed, so nothing in the file is edited."""


@dataclass(frozen=True)
class TomlKey:
    """A key with its value.

    Parameters
    ----------
    name : str
    line : int
    start, end : int
        Offsets of the key.
    value_start, value_end : int
    entries : tuple of (int, int)
        Offsets of the entries of a list of plain values.
    """

    name: str
    line: int
    start: int
    end: int
    value_start: int
    value_end: int
    entries: tuple[tuple[int, int], ...] = ()


@dataclass(eq=False)
class TomlTable:
    """A table: its name with dots, the line of its header (0 for the top level), its span and its keys.

    ``end`` is behind the line of its last key, or of its header.
    """

    name: str
    line: int
    start: int
    end: int
    keys: dict[str, TomlKey] = field(default_factory=dict)


class TomlSpans:
    """The tables of a TOML file in file order; the first is the top level.

    Raises
    ------
    NoSpans
        The text cannot be followed.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.tables = tuple(_tables(source))

    def table(self, line: int) -> TomlTable | None:
        """Return the table whose header is in a line."""
        return next((table for table in self.tables if table.line == line and line), None)

    def keys_at(self, line: int) -> Iterator[TomlKey]:
        """Yield the keys that begin in a line."""
        for table in self.tables:
            yield from (key for key in table.keys.values() if key.line == line)

    def value(self, key: TomlKey) -> str:
        """Return the text of a value; a string without its quotes."""
        text = self.source.decoded(key.value_start, key.value_end)
        quoted = (
            len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and not text.startswith(('"""', "'''"))
        )
        return text[1:-1] if quoted else text

    # Edits.

    def with_entry(self, start: int, end: int, text: str) -> Edit:
        """Return the edit that replaces a value, or an entry of a list."""
        return Edit(self.source.file, start, end, text)

    def with_key(self, table: TomlTable, lines: str) -> Edit:
        """Return the edit that adds lines behind the last key of a table, with its indentation."""
        return self._inserted(table.end, lines, self.source.indentation(max(table.end - 1, 0)))

    def with_tables(self, text: str) -> Edit:
        """Return the edit that adds tables at the end of the file, behind an empty line."""
        return self._inserted(len(self.source.data), f"\n{text}", "")

    def removed(self, table: TomlTable) -> Edit:
        """Return the edit that removes a table and the empty line behind it."""
        text, end = self.source.text, table.end
        following = text.find("\n", end)
        if following >= 0 and not text[end:following].strip():
            end = following + 1
        return Edit(self.source.file, self.source.start_of_line(table.start), end, "")

    def _inserted(self, offset: int, lines: str, indentation: str) -> Edit:
        line_end = self.source.line_end
        written = "".join(f"{indentation if line else ''}{line}{line_end}" for line in lines.splitlines())
        open_line = offset > 0 and self.source.text[offset - 1] != "\n"
        return Edit(self.source.file, offset, offset, f"{line_end if open_line else ''}{written}")


def _tables(source: SourceText) -> Iterator[TomlTable]:
    text = source.text
    position = 3 if text.startswith("\xef\xbb\xbf") else 0
    table = TomlTable("", 0, position, position)
    while position < len(text):
        position = _blanks(text, position)
        if position >= len(text):
            break
        if text[position] in "\r\n":
            position += 1
        elif text[position] == "#":
            position = _end_of_line(text, position)
        elif text[position] == "[":
            yield table
            table, position = _header(source, position)
        else:
            key, position = _key(source, position)
            table.keys[key.name] = key
            table.end = position = _end_of_line(text, position)
    yield table


def _header(source: SourceText, start: int) -> tuple[TomlTable, int]:
    text = source.text
    brackets = 2 if text.startswith("[[", start) else 1
    name, position = _name(source, start + brackets)
    position = _blanks(text, position)
    if not text.startswith("]" * brackets, position):
        raise NoSpans("a header has no end")
    end = _end_of_line(text, position)
    return TomlTable(name, source.line(start), start, end), end


def _key(source: SourceText, start: int) -> tuple[TomlKey, int]:
    text = source.text
    name, end = _name(source, start)
    position = _blanks(text, end)
    if not text.startswith("=", position):
        raise NoSpans("a key has no value")
    value = _blanks(text, position + 1)
    entries: list[tuple[int, int]] = []
    behind = _value(text, value, entries)
    return TomlKey(name, source.line(start), start, end, value, behind, tuple(entries)), behind


def _name(source: SourceText, position: int) -> tuple[str, int]:
    """Return a key with dots, and the offset behind it."""
    parts = []
    while True:
        match = _KEY_PART.match(source.text, _blanks(source.text, position))
        if match is None:
            raise NoSpans("no key")
        quoted = match.group(1) is not None or match.group(2) is not None
        parts.append(source.decoded(match.start() + quoted, match.end() - quoted))
        dot = _blanks(source.text, match.end())
        if not source.text.startswith(".", dot):
            return ".".join(parts), match.end()
        position = dot + 1


def _value(text: str, start: int, entries: list[tuple[int, int]] | None = None) -> int:
    """Return the offset behind a value; the spans of a list's plain entries are appended to ``entries``."""
    for quotes in ('"""', "'''", '"', "'"):
        if text.startswith(quotes, start):
            return _string(text, start, quotes)
    if text[start : start + 1] in ("[", "{"):
        return _list(text, start, entries)
    match = _BARE.match(text, start)
    if match is None:
        raise NoSpans("no value")
    return match.end()


def _string(text: str, start: int, quotes: str) -> int:
    position = start + len(quotes)
    while position < len(text):
        if quotes[0] == '"' and text[position] == "\\":
            position += 2
        elif text.startswith(quotes, position):
            position += len(quotes)
            # a quote before the closing ones belongs to the text
            while len(quotes) == 3 and text.startswith(quotes[0], position):
                position += 1
            return position
        else:
            position += 1
    raise NoSpans("a string has no end")


def _list(text: str, start: int, entries: list[tuple[int, int]] | None) -> int:
    """Return the offset behind a list or an inline table; iterative, since files nest deeply."""
    closing, position = ["]" if text[start] == "[" else "}"], start + 1
    while closing:
        match = _SEPARATORS.match(text, position)
        position = match.end() if match else position
        mark = text[position : position + 1]
        if not mark:
            raise NoSpans("a list has no end")
        if mark == closing[-1]:
            closing.pop()
            position += 1
        elif mark in "[{":
            closing.append("]" if mark == "[" else "}")
            position += 1
        elif mark == "=" or mark == ".":
            position += 1
        else:
            end = _value(text, position)
            if entries is not None and closing == ["]"]:
                entries.append((position, end))
            position = end
    return position


def _blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def _end_of_line(text: str, position: int) -> int:
    """Return the offset behind the line."""
    end = text.find("\n", position)
    return len(text) if end < 0 else end + 1
