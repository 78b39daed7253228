"""Recorded motions: tables of coordinates, rates and accelerations as ``simulate --save`` writes them, or arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np

from mbplugin.csv_tables import CsvTable, quotable, read_csv
from mbplugin.errors import BadNumber, BadUsage, MissingDependency, UnreadableFile
from mbplugin.files import LONGEST, read_bounded
from mbplugin.model import LARGEST, Array, Mechanism, coordinate_units, make_read_only, rate_units
from mbplugin.phrases import listed, visible

#: Largest number of instants of a recorded motion.
MOST_INSTANTS = 100_000


@dataclass(frozen=True, eq=False)
class RecordedMotion:
    """The states of a motion at some instants.

    Parameters
    ----------
    time : (T,) array
        s.
    q : (T, nq) array
        rad and m.
    qd, qdd : (T, nv) arrays
        rad/s and m/s, rad/s² and m/s².
    source : str
    """

    time: Array
    q: Array
    qd: Array
    qdd: Array
    source: str


def read_motion(path: str | Path, mech: Mechanism) -> RecordedMotion:
    """Read a motion of a mechanism from a file that ``simulate --save`` writes, or a table with its columns.

    These are ``time [s]``, and for each coordinate or rate ``q NAME [unit]``, ``qd NAME [unit]`` and
    ``qdd NAME [unit]``, in a ``.csv`` or ``.parquet`` file; others are ignored. A ``.npz`` file has the arrays
    ``time``, ``q``, ``qd`` and ``qdd`` with ``q_names`` and ``qd_names``.

    Raises
    ------
    UnreadableFile
        The file is missing, or no table and no arrays.
    BadUsage
        A column is missing, or there are no or too many rows.
    BadNumber
        A cell holds no finite number.
    MissingDependency
        The file is a ``.parquet`` file, and pyarrow is not installed.
    """
    ending = Path(path).suffix.lower()
    if ending == ".npz":
        return _from_arrays(Path(path), mech)
    if Path(path).is_dir():
        raise BadUsage(
            f"the motion {visible(str(path))!r} is a folder",
            expected="a file of one motion",
            remedy="for a sweep's folder run 'mbplugin sweep … --save-envelope loads.csv' again with its options",
        )
    if ending not in (".csv", ".parquet"):
        raise BadUsage(
            f"the motion {visible(str(path))!r} is no .csv, .npz or .parquet file",
            expected="a motion as 'mbplugin simulate … --save motion.csv' or motion.npz writes it, or the table of"
            " its .csv as .parquet",
        )
    wanted = ["time [s]"]
    wanted += [f"q {n} [{u}]" for n, u in zip(mech.q_names, coordinate_units(mech), strict=True)]
    for what, square in (("qd", ""), ("qdd", "²")):
        wanted += [f"{what} {n} [{u}{square}]" for n, u in zip(mech.qd_names, rate_units(mech), strict=True)]
    # a coordinate without unit, as of a quaternion, has no brackets
    wanted = [name.removesuffix(" []") for name in wanted]
    parquet = ending == ".parquet"
    values = _from_parquet(Path(path), wanted) if parquet else _columns(read_csv(Path(path)), wanted)
    nq, nv = len(mech.q_names), len(mech.qd_names)
    time, q, qd, qdd = np.split(values, [1, 1 + nq, 1 + nq + nv], axis=1)
    make_read_only(time, q, qd, qdd)
    return RecordedMotion(time[:, 0], q, qd, qdd, Path(path).name)


def require_instants(count: int, file: str = "") -> None:
    """Require a number of instants that a motion may have.

    Raises
    ------
    BadUsage
        There are none, or too many; the message names the ``file``.
    """
    if not 0 < count <= MOST_INSTANTS:
        raise BadUsage(f"the motion has {count} instants", where=file, expected=f"1 to {MOST_INSTANTS}")


def _from_arrays(path: Path, mech: Mechanism) -> RecordedMotion:
    """Return the motion in a ``.npz`` file, its columns in the order of the mechanism."""
    file = visible(str(path))
    content = read_bounded(path)
    try:
        with ZipFile(BytesIO(content)) as archive:
            large = sum(member.file_size for member in archive.infolist()) > LONGEST
        if large:
            raise UnreadableFile(f"the arrays are larger than {LONGEST // 10**6} MB", where=file)
        with np.load(BytesIO(content), allow_pickle=False) as held:
            values = {name: np.asarray(held[name], dtype=float) for name in ("time", "q", "qd", "qdd")}
            names = {name: [str(one) for one in held[name].tolist()] for name in ("q_names", "qd_names")}
    except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile, MemoryError, RuntimeError):
        raise UnreadableFile(
            "the arrays cannot be read", where=file, expected="a motion that 'simulate --save' wrote as .npz"
        ) from None
    count = len(values["time"]) if values["time"].ndim == 1 else 0
    require_instants(count, file)
    ordered = {"time": values["time"]}
    for what, labels in (("q", "q_names"), ("qd", "qd_names"), ("qdd", "qd_names")):
        if values[what].shape != (count, len(names[labels])):
            raise BadUsage(
                f"array {what!r} has the shape {values[what].shape}",
                where=file,
                expected=f"({count}, {len(names[labels])}), an instant by row and the {labels} by column",
            )
        wanted = mech.q_names if what == "q" else mech.qd_names
        if missing := [name for name in wanted if name not in names[labels]]:
            raise BadUsage(
                f"the motion has no {what} of {listed([repr(name) for name in missing], 4)}",
                where=file,
                expected="a motion of this mechanism, as 'mbplugin simulate … --save motion.npz' writes it",
            )
        ordered[what] = values[what][:, [names[labels].index(name) for name in wanted]]
    for what, array in ordered.items():
        if array.size and not np.abs(array).max() <= LARGEST:
            raise BadNumber(
                f"array {what!r} has numbers that are not finite or too large",
                where=file,
                expected=f"magnitudes up to {LARGEST:g}",
            )
    make_read_only(*ordered.values())
    return RecordedMotion(ordered["time"], ordered["q"], ordered["qd"], ordered["qdd"], path.name)


def _from_parquet(path: Path, wanted: Sequence[str]) -> Array:
    """Return some columns (T, n) of a ``.parquet`` file by their names."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency.of(
            "a motion in Parquet", "PyArrow", "sweep", otherwise=", or save the motion as .csv or .npz"
        ) from None
    file = visible(str(path))
    unreadable = UnreadableFile(
        "the table cannot be read", where=file, expected="a Parquet file with the columns of a saved motion"
    )
    content = read_bounded(path)
    # without threads of Arrow: one that still holds bytes of Python when the interpreter ends aborts the process
    try:
        with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), pre_buffer=False) as opened:
            names, count = opened.schema_arrow.names, opened.metadata.num_rows
    # a damaged file raises errors of many types
    except Exception:
        raise unreadable from None
    if missing := [name for name in wanted if name not in names]:
        raise BadUsage(
            f"the motion has no column {listed([repr(name) for name in missing], 4)}",
            where=file,
            expected="a motion of this mechanism, with the columns that 'mbplugin simulate … --save motion.csv' writes",
        )
    if twice := [name for name in wanted if names.count(name) > 1]:
        raise BadUsage(
            f"the motion has the column {twice[0]!r} twice", where=file, expected="each column once"
        )
    # before any value is decoded: a small file can say that it has billions of equal rows
    require_instants(count, file)
    try:
        with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), pre_buffer=False) as opened:
            table = opened.read(columns=list(wanted), use_threads=False)
    except Exception:
        raise unreadable from None
    out = np.empty((count, len(wanted)))
    for k, name in enumerate(wanted):
        kind = table.schema.field(name).type
        if not (pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind)):
            raise BadNumber(f"column {name!r} has the type {kind}", where=file, expected="numbers")
        out[:, k] = [np.nan if value is None else value for value in table.column(name).to_pylist()]
        wrong = np.flatnonzero(~(np.abs(out[:, k]) <= LARGEST))
        if wrong.size:
            raise BadNumber(
                f"column {name!r} has no finite number at instant {wrong[0] + 1}",
                where=file,
                expected=f"magnitudes up to {LARGEST:g}",
            )
    return out


def _columns(table: CsvTable, wanted: Sequence[str]) -> Array:
    """Return some columns (T, n) of a table by their headers."""
    place = {name: k for k, name in reversed(list(enumerate(table.rows[0][1])))}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise BadUsage(
            f"the motion has no column {listed([repr(name) for name in missing], 4)}",
            where=table.where(table.rows[0][0]),
            expected="a motion of this mechanism, as 'mbplugin simulate … --save motion.csv' writes it",
        )
    rows = table.rows[1:]
    require_instants(len(rows), table.file)
    out = np.empty((len(rows), len(wanted)))
    for n, (line, cells) in enumerate(rows):
        for k, name in enumerate(wanted):
            cell = cells[place[name]] if place[name] < len(cells) else ""
            try:
                out[n, k] = table.number(cell)
            except ValueError:
                out[n, k] = np.nan
            if not abs(out[n, k]) <= LARGEST:
                raise BadNumber(
                    f"column {name!r} has {quotable(cell, 'a cell')}, which is no number",
                    where=table.where(line),
                    expected="a finite number",
                )
    return out
