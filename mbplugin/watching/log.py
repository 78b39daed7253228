"""The record of a watch: one row per force and update, written as it goes and put in place when the watch ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from mbplugin.csv_tables import csv_text
from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.files import replacing, require_folder

#: Columns of the record; forces in N, moments in N·m, times in s.
COLUMNS = (
    "update", "time_s", "constraint", "component", "unit", "engine", "determined", "value", "lower", "upper", "mark",
)  # fmt: skip
_TEXTS = ("constraint", "component", "unit", "mark")
#: Rows that are kept in memory until a Parquet file gets them.
_CHUNK = 20_000


class LogRow(NamedTuple):
    """One row of the record; None where there is no number."""

    update: int
    time: float
    constraint: str
    component: str
    unit: str
    engine: float | None
    determined: bool | None
    value: float | None
    lower: float | None
    upper: float | None
    mark: str


class Log:
    """A record in a ``.csv`` or ``.parquet`` file.

    Rows are written to a temporary file beside it, which takes its place when the record is closed.

    Parameters
    ----------
    path : Path

    Raises
    ------
    BadUsage
        The ending means neither format, or the file cannot be written.
    MissingDependency
        PyArrow is needed for Parquet, and not installed.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.rows = path, 0
        ending = path.suffix.lower()
        if ending not in (".csv", ".parquet"):
            raise BadUsage(
                f"the log is {str(path)!r}, and {ending or 'a file without ending'} is no format of a log",
                expected="a file that ends in .csv or .parquet",
            )
        require_folder(path)
        self._stack = ExitStack()
        self._parts: dict[tuple[str, str, str], str] = {}
        self._waiting: list[LogRow] = []
        self._writer: Any = None
        self._parquet = ending == ".parquet"
        if self._parquet:
            try:
                import pyarrow.parquet  # noqa: F401
            except ImportError:
                raise MissingDependency.of(
                    "a log in Parquet", "PyArrow", "sweep", otherwise=", or end it in .csv"
                ) from None
        temporary = self._stack.enter_context(replacing(path))
        if self._parquet:
            self._writer = self._stack.enter_context(_parquet_writer(temporary))
        else:
            self._file = self._stack.enter_context(
                temporary.open("w", encoding="utf-8", errors="surrogateescape", newline="\n")
            )
            self._file.write(csv_text(COLUMNS, ()))

    def add(self, rows: Iterable[LogRow]) -> None:
        """Write the rows of one update."""
        if self._parquet:
            self._waiting += rows
            if len(self._waiting) >= _CHUNK:
                self._flush()
            return
        lines = [self._line(row) for row in rows]
        self.rows += len(lines)
        self._file.write("".join(lines))

    def _line(self, row: LogRow) -> str:
        key = row[2:5]
        if key not in self._parts:
            if len(self._parts) > _CHUNK:
                self._parts.clear()
            # names of files are kept from being computed by a spreadsheet
            self._parts[key] = csv_text((), [key])[:-1]
        number, time, _, _, _, engine, determined, value, lower, upper, mark = row
        known = "" if determined is None else "true" if determined else "false"
        numbers = f"{_digits(engine)},{known},{_digits(value)},{_digits(lower)},{_digits(upper)}"
        named = csv_text((), [[mark]])[:-1] if mark else ""
        return f"{number},{time:.9g},{self._parts[key]},{numbers},{named}\n"

    def flush(self) -> None:
        """Write what is buffered, which a child that is forked next would write a second time."""
        if not self._parquet:
            self._file.flush()

    def _flush(self) -> None:
        import pyarrow

        if not self._waiting:
            return
        columns: Sequence[tuple[Any, ...]] = list(zip(*self._waiting, strict=True))
        arrays = [pyarrow.array(c, t.type) for c, t in zip(columns, self._writer.schema, strict=True)]
        self._writer.write_table(pyarrow.Table.from_arrays(arrays, schema=self._writer.schema))
        self.rows += len(self._waiting)
        self._waiting.clear()

    def close(self) -> None:
        """Complete the file; closing twice does nothing.

        Raises
        ------
        BadUsage
            The file cannot be written.
        """
        if self._parquet:
            self._flush()
        self._stack.close()
        self._waiting.clear()


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"


def _parquet_writer(path: Path) -> Any:
    """Return a writer of the columns, with texts as dictionaries."""
    import pyarrow
    import pyarrow.parquet

    types = {name: pyarrow.string() for name in _TEXTS} | {
        "update": pyarrow.int64(),
        "determined": pyarrow.bool_(),
    }
    schema = pyarrow.schema([(name, types.get(name, pyarrow.float64())) for name in COLUMNS])
    return pyarrow.parquet.ParquetWriter(path, schema)
