"""A document as an Excel workbook: a sheet of facts, a sheet per table, and a sheet with the meanings of the keys.

A list of objects becomes a table. Lists of objects nested in it become separate tables, whose first column is the
number of the row to which they belong. No cell is a formula, whatever its text starts with.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.phrases import visible
from mbplugin.report import plain
from mbplugin.report.documents.part import meaning_of
from mbplugin.report.record import time_of_report

#: Limits of Excel: rows of a sheet, characters of a cell, characters of a sheet's name.
_ROWS, _CELL, _NAME = 1_048_576, 32_767, 31
#: Numbers of a list that are written side by side; longer lists become tables.
_SHORT = 9
_WIDEST = 60
_FORBIDDEN = re.compile(r"[\\/*?:\[\]']")
_FACTS, _MEANINGS, _OF = "report", "meanings", "of row"

#: A row of a table: its cells by column.
Row = dict[str, Any]


def workbook(document: Mapping[str, Any]) -> bytes:
    """Return a document as the bytes of a workbook.

    Raises
    ------
    MissingDependency
        openpyxl is not installed.
    BadUsage
        A table has more rows than a sheet can hold.
    """
    openpyxl = openpyxl_module()
    tables = _Tables()
    tables.add_facts(document, "")
    book = openpyxl.Workbook()
    book.remove(book.active)
    # identifies the file as one that a later run may replace
    book.properties.creator = "mbplugin"
    names: set[str] = set()
    for title, rows in (*tables.rows.items(), (_MEANINGS, tables.meanings)):
        _write(book.create_sheet(_sheet_name(title, names)), title, rows)
    stream = io.BytesIO()
    book.save(stream)
    return _dated(stream)


def _dated(stream: io.BytesIO) -> bytes:
    """Return a workbook with the time of the report as all its dates, so that equal reports are equal files."""
    time = time_of_report()
    # ZIP dates start in 1980, and Excel refuses years of five digits
    packed = min(max(time.timetuple()[:6], (1980, 1, 1, 0, 0, 0)), (2107, 12, 31, 23, 59, 58))
    text = time.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    dated = io.BytesIO()
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(dated, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "docProps/core.xml":
                part = re.sub(rb"(<dcterms:(?:created|modified)\b[^>]*>)[^<]*", rb"\g<1>" + text, part)
            info = zipfile.ZipInfo(name, packed)
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, part)
    return dated.getvalue()


def openpyxl_module() -> Any:
    """Import and return openpyxl, which writes workbooks.

    Raises
    ------
    MissingDependency
        openpyxl is not installed.
    """
    try:
        import openpyxl
    except ImportError:
        raise MissingDependency.of("an .xlsx", "openpyxl", "xlsx") from None
    return openpyxl


class _Tables:
    """The tables of a document, by the path of their key, and the meaning of the keys."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {_FACTS: []}
        self._meanings: dict[tuple[str, str], str] = {}

    @property
    def meanings(self) -> list[Row]:
        """The rows of the table of meanings: sheet, key and meaning."""
        found = self._meanings.items()
        return [{"sheet": sheet, "key": key, "meaning": meaning} for (sheet, key), meaning in found]

    def add_facts(self, found: Mapping[str, Any], path: str) -> None:
        """Add single values to the facts, and lists of objects or of many numbers as tables."""
        if _is_columns(found):
            self.rows[path] = [
                dict(zip(found, cells, strict=True)) for cells in zip(*found.values(), strict=True)
            ]
            return
        for name, value in found.items():
            key = f"{path}.{name}" if path else name
            self._mean(_FACTS, key, found, name)
            if isinstance(value, Mapping):
                self.add_facts(value, key)
            elif _is_table(value := _listed(value)):
                self._add_table(key, value)
            else:
                self._add_values(key, value)

    def _add_values(self, key: str, value: Any) -> None:
        texts = isinstance(value, list) and any(isinstance(one, str) for one in value)
        for one in value if texts else [value]:
            cells = one if isinstance(one, list) else [one]
            self.rows[_FACTS].append({"key": key} | {f"value {k}": cell for k, cell in enumerate(cells, 1)})

    def _add_table(self, path: str, entries: list[Any], parents: list[int] | None = None) -> None:
        table = self.rows.setdefault(path, [])
        for k, entry in enumerate(entries):
            row: Row = {} if parents is None else {_OF: parents[k]}
            table.append(row)
            self._fill(row, entry, path, "", len(table))

    def _fill(self, row: Row, entry: Any, path: str, prefix: str, number: int) -> None:
        """Write an entry into a row; its nested tables become separate tables."""
        if not isinstance(entry, Mapping):
            if _is_table(cells := _listed(entry)):
                self._add_table(f"{path}.entries", cells, [number] * len(cells))
                return
            cells = cells if isinstance(cells, list) else [cells]
            row |= {f"value {k}": cell for k, cell in enumerate(cells, 1)}
            return
        for name, value in entry.items():
            column = f"{prefix}{name}"
            self._mean(path, column, entry, name)
            if isinstance(value, Mapping):
                self._fill(row, value, path, f"{column}.", number)
            elif _is_table(value := _listed(value)):
                self._add_table(f"{path}.{column}", value, [number] * len(value))
            elif isinstance(value, list):
                row |= {f"{column} {k}": cell for k, cell in enumerate(value, 1)}
            else:
                row[column] = value

    def _mean(self, sheet: str, key: str, found: Mapping[str, Any], name: str) -> None:
        meaning = meaning_of(found, name)
        if meaning:
            self._meanings.setdefault((sheet, key), meaning)


def _listed(value: Any) -> Any:
    """Convert arrays, tuples and sets to lists."""
    if isinstance(value, list):
        return value
    return plain(value) if hasattr(value, "tolist") or isinstance(value, tuple | set | frozenset) else value


def _is_table(value: Any) -> bool:
    """Return True if a value is a list that needs a table: of objects, of lists, or of many numbers."""
    if not isinstance(value, list) or not value:
        return False
    nested = any(isinstance(one, Mapping | list | tuple) or hasattr(one, "tolist") for one in value)
    return nested or (len(value) > _SHORT and not any(isinstance(one, str) for one in value))


def _is_columns(found: Mapping[str, Any]) -> bool:
    """Return True if an object is a table by columns: flat lists of equal length, too long to write side by side."""
    values = [_listed(value) for value in found.values()]
    lengths = {len(value) if isinstance(value, list) else -1 for value in values}
    flat = not any(
        isinstance(one, Mapping | list) for value in values if isinstance(value, list) for one in value
    )
    return len(lengths) == 1 and max(lengths, default=-1) > _SHORT and flat


def _sheet_name(title: str, taken: set[str]) -> str:
    """Return a sheet name that Excel accepts and that is unique regardless of case."""
    name = _FORBIDDEN.sub(" ", visible(title))[:_NAME].strip() or "table"
    k = 1
    while name.lower() in taken:
        k += 1
        ending = f" {k}"
        name = name[: _NAME - len(ending)] + ending
    taken.add(name.lower())
    return name


def _write(sheet: Any, title: str, rows: list[Row]) -> None:
    """Write the column heads and the rows of a table."""
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    if len(rows) >= _ROWS:
        raise BadUsage(
            f"{title} has {len(rows)} rows",
            expected=f"fewer than {_ROWS}, which a sheet can have",
            remedy="write .json",
        )
    columns = list(dict.fromkeys(column for row in rows for column in row))
    widths = [len(column) for column in columns]
    for i, cells in enumerate(_cells(columns, rows), 1):
        for j, value in enumerate(cells, 1):
            if value is None:
                continue
            cell = sheet.cell(i, j)
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"
            if i == 1:
                cell.font = Font(bold=True)
            widths[j - 1] = max(widths[j - 1], min(_WIDEST, len(str(value))))
    for j, width in enumerate(widths, 1):
        sheet.column_dimensions[get_column_letter(j)].width = width + 2
    sheet.freeze_panes = "A2"


def _cells(columns: list[str], rows: list[Row]) -> Iterator[list[Any]]:
    yield [_cell(column) for column in columns]
    for row in rows:
        yield [_cell(row.get(column)) for column in columns]


def _cell(value: Any) -> Any:
    """Return the content of a cell: a number, a boolean or text; None for non-finite numbers."""
    value = plain(value)
    if not isinstance(value, str):
        return value
    text = visible(value)
    return text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"
