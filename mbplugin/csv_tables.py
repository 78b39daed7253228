"""CSV tables: written so that no spreadsheet evaluates a cell as a formula, and read as spreadsheets write them.

A spreadsheet evaluates text that begins with ``=``, ``+``, ``-`` or ``@`` at the start of a cell, and, if it uses
another separator, also within one of our cells. Such text gets a leading apostrophe, which marks it as text and is
removed again on reading. Numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mbplugin.choices import decimal
from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import read_bounded

#: Largest table, bytes.
LONGEST_TABLE = 50_000_000
_SEPARATORS = r",;|\t\r\n"
_NUMBER = r" *[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
#: A number that fills the space between two separators of one kind is left unchanged.
_KEPT = "|".join(
    [rf"\A{_NUMBER}\Z", *(rf"(?<={mark}){_NUMBER}(?={mark}|\Z)" for mark in (",", ";", r"\|", r"\t"))]
)
#: Start of a formula; the full-width signs come from East Asian keyboards.
_FORMULA = r"(?=[ '\"]*[-=+@＝＋－＠])"
_START = rf"(?<![^{_SEPARATORS}])"
_COMPUTED = re.compile(rf"{_START}(?!{_KEPT}){_FORMULA}")
_MADE_TEXT = re.compile(rf"{_START}'{_FORMULA}")
#: A cell with one of these is quoted; other programs separate cells by semicolons or tabs.
_QUOTED = re.compile(r"[,;\t\r\n\"]")

#: First line in which some programs state the separator.
_STATED = re.compile(r"sep=([,;\t])\s*")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
_DECIMAL_POINT = re.compile(r"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?")
#: Ambiguous: ``1,500`` is one and a half, or fifteen hundred.
_EITHER = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
#: Text that may name a column or a unit; messages quote only such text.
_NAME = re.compile(r"[^\W\d]\w{0,23}|[\w/°%²·^*]{1,12}")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]], comments: Iterable[str] = ()) -> str:
    """Return a table as CSV: comments after ``#``, the header, and the rows.

    Parameters
    ----------
    header : sequence of str
        Empty for a table without columns; then no header line is written.
    rows : iterable of sequences
        Texts and numbers; None is an empty cell.
    comments : iterable of str
    """
    lines = [as_text(f"# {' '.join(comment.split())}") for comment in comments]
    lines += [_line(header)] if header else []
    lines += map(_line, rows)
    return "".join(f"{line}\n" for line in lines)


def write_csv(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], comments: Iterable[str] = ()
) -> None:
    """Write the text of :func:`csv_text` to a file; undecodable bytes of names are written as they were read."""
    text = csv_text(header, rows, comments)
    path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="\n")


def _line(cells: Iterable[object]) -> str:
    line = ",".join(map(_cell, cells))
    # an empty line would not be read as a row
    return line or '""'


def _cell(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value)
    text = as_text(value)
    # text that begins with # would be read as a comment
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) or text.startswith("#") else text


def as_text(text: str) -> str:
    """Return a text that a spreadsheet does not evaluate as a formula."""
    return _COMPUTED.sub("'", text)


def as_written(text: str) -> str:
    """Undo :func:`as_text`; other text is returned unchanged."""
    return _MADE_TEXT.sub("", text)


@dataclass(frozen=True)
class CsvTable:
    """The cells of a CSV file.

    Parameters
    ----------
    file : str
    data : bytes
        The file's content.
    rows : tuple of (int, tuple of str)
        Line number, from 1, and stripped cells; the header first. Comments and empty lines are left out.
    decimal_commas : bool
        Whether the file writes numbers with decimal commas.
    """

    file: str
    data: bytes
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    decimal_commas: bool

    def where(self, line: int) -> str:
        """Return a location in the file, ``FILE:LINE``."""
        return f"{self.file}:{line}"

    def number(self, cell: str) -> float:
        """Return the number of a cell.

        Raises
        ------
        ValueError
            The cell holds no number.
        """
        if self.decimal_commas and _DECIMAL_COMMA.fullmatch(cell):
            cell = cell.replace(",", ".")
        return decimal(cell)


def read_csv(path: Path, most: int = LONGEST_TABLE) -> CsvTable:
    """Read a CSV file, as spreadsheets and programs write them.

    The encoding is UTF-8, or UTF-16 with a byte order mark. Cells are separated by commas, semicolons or tabs,
    determined from the header; numbers have decimal points or decimal commas, the same in the whole file. Lines
    that begin with # are comments. Trailing columns that are empty in all rows are dropped.

    Raises
    ------
    UnreadableFile
        There is no such file, it is not text, or a quote is not closed.
    BadUsage
        There is no header.
    """
    data = read_bounded(path, most)
    text = _decoded(data, str(path))
    # other line separators of Python's splitlines are ordinary characters of a cell
    lines = list(io.StringIO(text, newline=""))
    stated = _STATED.fullmatch(lines[0]) if lines else None
    heads = (line for line in lines[1 if stated else 0 :] if not _is_passed_over(line))
    separator = stated[1] if stated else _separator(next(heads, ""))
    numbered: list[tuple[int, list[str]]] = []
    try:
        for line, cells in _records(lines, separator, 1 if stated else 0):
            if any(map(str.strip, cells)):
                numbered.append((line, [as_written(cell.strip()).strip() for cell in cells]))
    except csv.Error as error:
        at = numbered[-1][0] + 1 if numbered else 1
        raise UnreadableFile(
            f"the table cannot be read from line {at} on ({error})", where=str(path), expected="CSV"
        ) from None
    if not numbered:
        raise BadUsage("the table is empty", where=str(path), expected="a header, and rows below it")
    filled = max(k for _, cells in numbered for k, cell in enumerate(cells, 1) if cell)
    rows = tuple((line, tuple(cells[:filled])) for line, cells in numbered)
    return CsvTable(str(path), data, rows, _has_decimal_commas(rows))


def _decoded(data: bytes, where: str) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    expected = "CSV in UTF-8, or in UTF-16 with its byte order mark"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"the table is not text in {encoding.removesuffix('-sig').upper()}, from byte {error.start + 1} on",
            where=where,
            expected=expected,
            remedy="save it as CSV UTF-8",
        ) from None
    if "\0" in text:
        raise UnreadableFile(
            "the table holds null characters",
            where=where,
            expected=expected,
            remedy="save it as CSV UTF-8",
        )
    return text


def _is_passed_over(line: str) -> bool:
    return not line.strip() or line.startswith("#")


def _separator(head: str) -> str:
    """Return the cell separator of a header; separators inside quoted cells are ignored."""
    bare = re.sub(r'"[^"]*"', "", head)
    return next((mark for mark in "\t;" if mark in bare), ",")


def _records(lines: Sequence[str], separator: str, start: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of the first line of each row, and its cells."""
    first = 0

    def feed() -> Iterator[str]:
        nonlocal first
        for number, line in enumerate(lines[start:], start + 1):
            # a quoted cell continues on the next line, even if that is empty or begins with #
            if first or not _is_passed_over(line):
                first = first or number
                yield line

    for cells in csv.reader(feed(), delimiter=separator, strict=True):
        yield first, cells
        first = 0


def _has_decimal_commas(rows: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Return True if commas are decimal: no number has a point, and at least one has no thousands separator."""
    cells = [cell for _, row in rows[1:] for cell in row if "," in cell or "." in cell]
    commas = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
    points = any(_DECIMAL_POINT.fullmatch(cell) for cell in cells)
    return not points and any(not _EITHER.fullmatch(cell) for cell in commas)


def quotable(cell: str, otherwise: str) -> str:
    """Return a cell quoted for a message if it may name a column or a unit; else ``otherwise``.

    Any file may be given as a table, so messages do not disclose other cells.
    """
    return repr(cell) if _NAME.fullmatch(cell) else otherwise
