"""The folder of a sweep: its plan, and the validity of its part files."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.files import read_bounded, replacing
from mbplugin.model.spatial import AnyArray
from mbplugin.stopping.sweep.plan import SweepPlan
from mbplugin.visible import one_line

_NOTE = "sweep.json"
_LONGEST_NOTE = 4096
_PARTS = "part-*.parquet"
#: What a part file says of itself, in the metadata of its schema.
_PLAN, _RANGE, _CHECKSUM = b"mbplugin.plan", b"mbplugin.range", b"mbplugin.checksum"
#: Part files are this small, in bytes: those of another program could fill the memory.
_LEAST, _PER_VALUE = 1 << 20, 64


class UnfitPart(Exception):
    """A part file that cannot be counted, and why."""


def arrow() -> Any:
    """Return pyarrow with its parquet module.

    Raises
    ------
    MissingDependency
        It is not installed.
    """
    from mbplugin.errors import MissingDependency

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency.of("a sweep", "pyarrow", "sweep") from None
    return pyarrow


def part_file(folder: Path, part: int) -> Path:
    """Return where a part is kept."""
    return folder / f"part-{part:06d}.parquet"


def signed_table(plan: SweepPlan, part: int, columns: dict[str, Any]) -> Any:
    """Return the stops of a part as a table that says which part of which sweep it is."""
    schema = part_schema(plan)
    arrays = [_array_of(columns[field.name], field.type) for field in schema]
    table = arrow().Table.from_arrays(arrays, schema=schema)
    status = {_PLAN: plan.fingerprint, _RANGE: _range(plan, part), _CHECKSUM: _checksum(table)}
    return table.replace_schema_metadata(status)


def read_part(plan: SweepPlan, part: int, file: Path) -> Any:
    """Return the table of a part.

    Raises
    ------
    UnfitPart
        The file is missing, no part, one of another sweep or of other stops, or damaged.
    """
    pyarrow = arrow()
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnfitPart("it is no file")
        rows, schema = plan.size_of(part), part_schema(plan)
        if status.st_size > _LEAST + _PER_VALUE * rows * len(schema):
            raise UnfitPart("it is too large for its stops")
        with pyarrow.parquet.ParquetFile(file) as opened:
            _check_identity(plan, part, opened.schema_arrow, opened.metadata.num_rows)
            table = opened.read()
    except FileNotFoundError:
        raise UnfitPart("it is missing") from None
    except UnfitPart:
        raise
    # pyarrow raises many kinds of errors, also OSError, for what is no Parquet file
    except Exception as error:
        raise UnfitPart(f"it cannot be read ({one_line(error)[:120] or type(error).__name__})") from None
    if table.schema.metadata[_CHECKSUM] != _checksum(table).encode():
        raise UnfitPart("its checksum does not fit")
    return table


def claim(plan: SweepPlan, folder: Path, force: bool = False) -> str:
    """Let a folder belong to a plan, and return what is wrong with the note that says so; empty if nothing.

    Parameters
    ----------
    force : bool
        Whether files of somebody else with the names of a sweep's may be replaced.

    Raises
    ------
    BadUsage
        The folder cannot be made, or holds another sweep, or somebody else's file with the name of one of a
        sweep.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise BadUsage(f"the folder cannot be made ({reason})", where=str(folder)) from None
    note = folder / _NOTE
    claimed = _noted_plan(note)
    if claimed == plan.fingerprint:
        return ""
    if claimed or _other_plans(plan, folder):
        raise BadUsage("the folder holds another sweep", where=str(folder), remedy="name an empty one")
    if not force and (foreign := _foreign_file(plan, folder)) is not None:
        raise BadUsage(
            "this file exists, and mbplugin did not write it",
            where=str(foreign),
            expected="an empty folder, or that of this sweep",
            remedy="name another folder, or add --force to replace it",
        )
    with replacing(note) as temporary:
        status = {"plan": plan.fingerprint, "count": plan.count, "seed": plan.seed}
        temporary.write_text(json.dumps(status), encoding="utf-8")
    if claimed is None:
        return "it was missing" if any(folder.glob(_PARTS)) else ""
    return "it does not say which sweep this is"


def _noted_plan(note: Path) -> str | None:
    """Return the plan that a note names, empty where it names none, None where there is no note."""
    try:
        status = note.stat()
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    if not stat.S_ISREG(status.st_mode):
        raise BadUsage("this is no file", where=str(note), remedy="name an empty folder")
    try:
        content = json.loads(note.read_bytes()) if status.st_size <= _LONGEST_NOTE else None
    except (OSError, ValueError, RecursionError):
        return ""
    plan = content.get("plan") if isinstance(content, dict) else None
    return plan if isinstance(plan, str) else ""


def _other_plans(plan: SweepPlan, folder: Path) -> bool:
    """Return whether a folder holds parts of another sweep, which are not to be overwritten."""
    for file in sorted(folder.glob(_PARTS)):
        if file.is_file():
            try:
                metadata = arrow().parquet.read_schema(file).metadata or {}
            except Exception:
                continue
            if metadata.get(_PLAN, plan.fingerprint.encode()) != plan.fingerprint.encode():
                return True
    return False


def _foreign_file(plan: SweepPlan, folder: Path) -> Path | None:
    """Return a file with the name of a sweep's that somebody else wrote; None where a part is of this plan.

    What is damaged is no text, empty, or the beginning of a note.
    """
    candidates = [folder / _NOTE, *(part_file(folder, part) for part in range(plan.parts))]
    foreign = None
    for file in filter(Path.is_file, candidates):
        if file.suffix == ".json":
            content = read_bounded(file)
            damaged = b'{"plan": "'.startswith(content[:10]) or not _is_text(content)
        else:
            try:
                metadata = arrow().parquet.read_schema(file).metadata or {}
                if metadata.get(_PLAN) == plan.fingerprint.encode():
                    return None
                damaged = _PLAN in metadata
            # what is no Parquet file
            except Exception:
                damaged = not _is_text(read_bounded(file))
        if not damaged:
            foreign = foreign or file
    return foreign


def _is_text(content: bytes) -> bool:
    """Return whether bytes are what somebody may have typed."""
    try:
        return bool(content) and "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _check_identity(plan: SweepPlan, part: int, schema: Any, rows: int) -> None:
    status = schema.metadata or {}
    if _PLAN not in status or _RANGE not in status or _CHECKSUM not in status:
        raise UnfitPart("it does not say which stops of which sweep it holds")
    if status[_PLAN] != plan.fingerprint.encode():
        raise UnfitPart("it belongs to another sweep")
    if status[_RANGE] != _range(plan, part).encode():
        raise UnfitPart(f"it holds the stops {status[_RANGE].decode(errors='replace')[:40]}")
    if not schema.equals(part_schema(plan)) or rows != plan.size_of(part):
        raise UnfitPart("it has other columns or rows")


def _range(plan: SweepPlan, part: int) -> str:
    first = part * plan.part
    return f"{first} to {first + plan.size_of(part) - 1}"


def part_schema(plan: SweepPlan) -> Any:
    """Return the columns of a part: s, rad or m, rad/s or m/s, kg."""
    pyarrow = arrow()
    names = [f"{what} {joint}" for joint in plan.joints for what in ("time", "travel", "rate")]
    names = ["time", "tool_distance", "tool_displacement", "payload", *names]
    numbers = [(name, pyarrow.float64()) for name in names]
    return pyarrow.schema([("stop", pyarrow.int64()), ("outcome", pyarrow.string()), *numbers])


def _checksum(table: Any) -> str:
    """Return the checksum of a table's values, however its file is laid out."""
    total = hashlib.sha256()
    for name in table.column_names:
        column = table.column(name)
        total.update(f"{name}\0{len(column)}\0".encode())
        if column.type == arrow().string():
            total.update("\0".join(map(str, column.to_pylist())).encode())
        else:
            values = numbers_of(column)
            total.update(np.ascontiguousarray(values, values.dtype.newbyteorder("<")).tobytes())
    return total.hexdigest()


def numbers_of(column: Any) -> AnyArray:
    """Return the numbers (n,) of a column, NaN where one is missing.

    They are read where they lie: pyarrow's own way imports pandas, which takes as long as a thousand stops.
    """
    if column.null_count:
        return np.asarray(column.to_numpy())
    kind = np.dtype(str(column.type))
    parts = [
        np.frombuffer(part.buffers()[1], kind, len(part), part.offset * kind.itemsize)
        for part in column.chunks
    ]
    return np.concatenate(parts)


def _array_of(values: Sequence[Any], kind: Any) -> Any:
    """Return numbers or texts as an array of pyarrow, made of their bytes as :func:`numbers_of` reads them."""
    pyarrow = arrow()
    if kind == pyarrow.string():
        texts = [text.encode() for text in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        return pyarrow.StringArray.from_buffers(
            len(texts), pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(texts))
        )
    content = np.array(values, dtype=str(kind))
    return pyarrow.Array.from_buffers(kind, len(content), [None, pyarrow.py_buffer(content)])
