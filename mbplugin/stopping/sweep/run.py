"""``sweep``: many stops on all cores or a cluster, in a folder from which an interrupted run resumes."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage, MbPluginError, MissingDependency, UnreadableFile
from mbplugin.files import read_bounded, replacing, temporary_beside
from mbplugin.model import AnyArray, Array
from mbplugin.phrases import one_line_repr, visible_one_line
from mbplugin.processes.foreign import cores, require_possible
from mbplugin.stopping import CONFIDENCE, SHARE, ToleranceBound, tolerance_bound
from mbplugin.stopping.many import TIMES, TRAVELS
from mbplugin.stopping.sweep.plan import (
    Stopper,
    SweepPlan,
    computed_in_one_process,
    finished,
    joblib_with,
    stopper_of,
    working,
)

QUANTILES = (0.5, 0.9, 0.99, 1.0)
#: Called with (stops done, stops in total).
Progress = Callable[[int, int], None]
_STOPPERS: dict[tuple[str, int], Stopper] = {}
#: Most stops that threads of this process compute where that is possible. Of more, processes compute some faster: they
#: take seconds to start, but share nothing, where threads wait for each other to draw starts and write parts.
_MOST_IN_THREADS = 100_000
_NOTE = "sweep.json"
_LONGEST_NOTE = 4096
_PARTS = "part-*.parquet"
#: Keys by which a part file identifies itself in the metadata of its schema.
_PLAN, _RANGE = b"mbplugin.plan", b"mbplugin.range"
#: A Parquet file ends with the length of its footer, 4 bytes, and a word of 4 bytes; a SHA-256 has 32 bytes.
_END, _DIGEST = 8, 32
#: Size limit of a part file, bytes: constant part, and per value. Files of other programs could fill the memory.
_LEAST, _PER_VALUE = 1 << 20, 64


@one_line_repr
@dataclass(frozen=True, eq=False)
class SweepReport:
    """The result of a sweep.

    Parameters
    ----------
    quantiles : dict of str to dict of float to float
        Of the stops that come to rest: time (s), tool_distance along its path and
        tool_displacement, straight (m), and for every joint the time and the
        magnitude of the travel (rad, m).
    worst : dict of str to int
        Number of the stop with the largest value, by quantity.
    first : dict of str to int
        Number of the first stop with each outcome.
    table : pyarrow.Table
        One row per stop.
    replaced : dict of str to str
        Existing files of the folder that were computed again, each with the reason.
    """

    count: int
    outcomes: dict[str, int]
    quantiles: dict[str, dict[float, float]]
    worst: dict[str, int]
    first: dict[str, int]
    table: Any
    replaced: dict[str, str] = field(default_factory=dict)

    def bounds(self, share: float = SHARE, confidence: float = CONFIDENCE) -> dict[str, ToleranceBound]:
        """Return an upper bound of each single quantity, s, m and rad: see :func:`mbplugin.tolerance_bound`.

        A stop that does not come to rest, or reaches a limit, counts as infinite. The bounds hold for the stops
        that the plan draws, not for quantities that it does not vary.
        """
        rested = _rested(self.table)
        return {
            name: tolerance_bound(
                np.where(rested, _sizes(self.table, name), np.inf), share=share, confidence=confidence
            )
            for name in quantities_in(self.table)
        }


def sweep(
    plan: SweepPlan,
    folder: str | Path,
    *,
    jobs: int = -1,
    backend: str = "loky",
    progress: Progress | None = None,
    force: bool = False,
) -> SweepReport:
    """Run a sweep, or the rest of an interrupted one, and return its report.

    Parameters
    ----------
    folder : str or Path
        For the part files; a sweep of the same plan in the folder is continued. Invalid files in it are
        computed again.
    jobs : int
        Number of processes, or of threads where these are enough; −1 for all cores.
    backend : "loky", "dask" or "ray"
        The machine's cores, or the cluster to which a dask client or ray is connected.
    progress : callable, optional
        Called with (stops done, stops in total), first for the stops that the folder contains already.
    force : bool
        Replace files of other programs that have the names of a sweep's files.

    Raises
    ------
    BadUsage
        The folder belongs to another sweep or has files of another program, ``jobs`` is invalid, or a part cannot be
        written.
    MissingDependency
        joblib, pyarrow, or what the backend needs is not installed.
    """
    require_possible(jobs)
    joblib = joblib_with(backend)
    arrow()
    folder = Path(folder)
    wrong_note = claim(plan, folder, force)
    unfit = _unfit_parts(plan, folder)
    done = plan.count - sum(plan.size_of(part) for part in unfit)
    if progress is not None:
        progress(done, plan.count)
    for part in _computed(joblib, backend, jobs, plan, list(unfit), folder):
        done += plan.size_of(part)
        if progress is not None:
            progress(done, plan.count)
    replaced = {"sweep.json": wrong_note} | {part_file(folder, n).name: why for n, why in unfit.items()}
    return report_of(plan, folder, {name: why for name, why in replaced.items() if why})


def _computed(
    joblib: Any, backend: str, jobs: int, plan: SweepPlan, parts: Sequence[int], folder: Path
) -> Iterator[int]:
    """Compute parts, and yield their numbers as they finish."""
    # a process may have another working folder
    where, count = str(folder.absolute()), sum(plan.size_of(part) for part in parts)
    try:
        if backend == "loky" and count <= _MOST_IN_THREADS and computed_in_one_process(plan.scenario):
            for part in parts:
                yield run_part(plan, part, where, cores() if jobs == -1 else min(jobs, cores()))
            return
        with working(joblib, backend, jobs):
            work = [joblib.delayed(run_part)(plan, part, where) for part in parts]
            yield from finished(joblib, backend, work)
    except OSError as error:
        reason = (error.strerror or visible_one_line(error) or "no reason given").lower()
        raise BadUsage(f"a part of the sweep cannot be written ({reason})", where=str(folder)) from None
    except BrokenProcessPool:
        raise MbPluginError(
            "a process of the sweep was killed",
            where=str(folder),
            remedy="give it more memory or fewer jobs; the same command goes on",
        ) from None


def report_of(plan: SweepPlan, folder: Path, replaced: Mapping[str, str]) -> SweepReport:
    """Return the report of a finished sweep.

    Parameters
    ----------
    replaced : mapping of str to str
        As in :class:`SweepReport`.

    Raises
    ------
    BadUsage
        A part was changed in the meantime.
    """
    tables = []
    for part in range(plan.parts):
        file = part_file(folder, part)
        try:
            tables.append(read_part(plan, part, file))
        except UnfitPart as error:
            raise BadUsage(
                f"the part was changed meanwhile: {error}", where=str(file), remedy="run the sweep again"
            ) from None
    table = arrow().concat_tables(tables)
    outcomes = table.column("outcome").to_pylist()
    rested = _rested(table)
    quantiles, worst = {}, {}
    for key in quantities_in(table):
        values = _sizes(table, key)
        if rested.any():
            quantiles[key] = {p: float(np.quantile(values[rested], p)) for p in QUANTILES}
            worst[key] = int(np.flatnonzero(rested)[values[rested].argmax()])
    counted = {outcome: outcomes.count(outcome) for outcome in sorted(set(outcomes))}
    first = {outcome: outcomes.index(outcome) for outcome in counted}
    return SweepReport(len(outcomes), counted, quantiles, worst, first, table, dict(replaced))


def quantities_in(table: Any) -> list[str]:
    """Return the reported columns of a sweep's table: times, travels and tool distances."""
    first = ("time", "tool_distance", "tool_displacement")
    joints = (name for name in table.column_names if name.startswith(("time ", "travel ")))
    return [*first, *joints]


def _rested(table: Any) -> AnyArray:
    """Return a mask (n,) of the stops with the outcome ``stopped``."""
    return np.array([outcome == "stopped" for outcome in table.column("outcome").to_pylist()])


def _sizes(table: Any, name: str) -> Array:
    """Return the magnitudes (n,) of a quantity, s, rad or m."""
    return np.abs(numbers_of(table.column(name)))


def _unfit_parts(plan: SweepPlan, folder: Path) -> dict[int, str]:
    """Return the parts to compute, each with the defect of its file, empty if there is no file."""
    unfit = {}
    for part in range(plan.parts):
        file = part_file(folder, part)
        try:
            read_part(plan, part, file)
        except UnfitPart as error:
            unfit[part] = str(error) if os.path.lexists(file) else ""
    return unfit


# One part of a sweep: some hundred stops in one file.


def run_part(plan: SweepPlan, part: int, folder: str, threads: int = 1) -> int:
    """Compute a part and write its file; return its number."""
    content = part_content(plan, part, part_columns(plan, part, threads))
    temporary = temporary_beside(part_file(Path(folder), part))
    try:
        temporary.write_bytes(content)
        temporary.replace(part_file(Path(folder), part))
    finally:
        temporary.unlink(missing_ok=True)
    return part


def part_columns(plan: SweepPlan, part: int, threads: int = 1) -> dict[str, Any]:
    """Return the stops of a part by column: s, rad or m, kg; the number of threads does not affect them."""
    own = range(part * plan.part, min((part + 1) * plan.part, plan.count))
    stops, rates, masses = _stopper(plan, threads).part(plan, own)
    columns: dict[str, Any] = {"stop": list(own), "outcome": stops.outcomes, "time": stops.times}
    columns["tool_distance"] = stops.ended["tool_distance"]
    columns["tool_displacement"], columns["payload"] = stops.ended["tool_displacement"], masses
    for n, name in enumerate(plan.joints):
        columns[f"time {name}"] = stops.joints[:, TIMES, n]
        columns[f"travel {name}"] = stops.joints[:, TRAVELS, n]
        columns[f"rate {name}"] = rates[:, plan.scenario.rate_of(name)]
    return columns


def _stopper(plan: SweepPlan, threads: int) -> Stopper:
    """Return the stopper of a plan, built once per process."""
    key = plan.fingerprint, threads
    if key not in _STOPPERS:
        _STOPPERS.clear()
        _STOPPERS[key] = stopper_of(plan.scenario, threads)
    return _STOPPERS[key]


# The folder of a sweep: its plan, and the validity of its part files.


class UnfitPart(Exception):
    """A part file cannot be used; the message gives the reason."""


def arrow() -> Any:
    """Return pyarrow with its parquet module.

    Raises
    ------
    MissingDependency
        It is not installed.
    """

    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency.of("a sweep", "pyarrow", "sweep") from None
    return pyarrow


def part_file(folder: Path, part: int) -> Path:
    """Return the path of the file of a part."""
    return folder / f"part-{part:06d}.parquet"


def part_content(plan: SweepPlan, part: int, columns: dict[str, Any]) -> bytes:
    """Return the bytes of the file of a part, which identify the sweep and the part and contain their checksum.

    Parameters
    ----------
    columns : dict of str to sequence
        The stops of the part, see :func:`part_schema`.
    """
    schema = part_schema(plan)
    arrays = [_array_of(columns[field.name], field.type) for field in schema]
    table = arrow().Table.from_arrays(arrays, schema=schema)
    table = table.replace_schema_metadata({_PLAN: plan.fingerprint, _RANGE: _range(plan, part)})
    stream = arrow().BufferOutputStream()
    arrow().parquet.write_table(table, stream)
    content: bytes = stream.getvalue().to_pybytes()
    footer = _footer(content)
    # readers find everything by its offset from the start, and the footer from the end: nothing refers to this gap
    return content[:footer] + hashlib.sha256(content).digest() + content[footer:]


def _footer(content: bytes) -> int:
    """Return the offset of the footer of a Parquet file, negative where its length is damaged."""
    return len(content) - _END - int.from_bytes(content[-_END : -_END + 4], "little")


def _is_as_written(content: bytes) -> bool:
    """Return True if every byte of a part file is the one that was written.

    Values alone do not show all damage: other programs skip stops by the bounds in the footer.
    """
    footer = _footer(content)
    begin = max(footer - _DIGEST, 0)
    return hashlib.sha256(content[:begin] + content[footer:]).digest() == content[begin:footer]


def read_part(plan: SweepPlan, part: int, file: Path) -> Any:
    """Return the table of a part.

    Raises
    ------
    UnfitPart
        The file is missing, no part, damaged, or belongs to another sweep or other stops.
    """
    pyarrow = arrow()
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnfitPart("it is not a file")
        rows, schema = plan.size_of(part), part_schema(plan)
        most = _LEAST + _PER_VALUE * rows * len(schema)
        if status.st_size > most:
            raise UnfitPart("it is too large for its stops")
        content = read_bounded(file, most)
        # without threads of Arrow: one that still holds bytes of Python when the interpreter ends aborts the process
        with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(content), pre_buffer=False) as opened:
            _check_identity(plan, part, opened.schema_arrow, opened.metadata.num_rows)
            if not _is_as_written(content):
                raise UnfitPart("its checksum does not fit")
            return opened.read(use_threads=False)
    except FileNotFoundError:
        raise UnfitPart("it is missing") from None
    except UnfitPart:
        raise
    # pyarrow raises many kinds of errors, also OSError, for files that are not Parquet
    except Exception as error:
        raise UnfitPart(
            f"it cannot be read ({visible_one_line(error)[:120] or type(error).__name__})"
        ) from None


def claim(plan: SweepPlan, folder: Path, force: bool = False) -> str:
    """Assign a folder to a plan, and return the defect of an existing note in it; empty if there is none.

    Parameters
    ----------
    force : bool
        Whether files of other programs with the names of a sweep's files may be replaced.

    Raises
    ------
    BadUsage
        The folder cannot be created, contains another sweep, or contains a file of another program with the name
        of a sweep's file.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise BadUsage(f"the folder cannot be made ({reason})", where=str(folder)) from None
    note = folder / _NOTE
    text = json.dumps({"plan": plan.fingerprint, "count": plan.count, "seed": plan.seed})
    claimed = _noted_plan(note)
    own = claimed == plan.fingerprint
    if own and read_bounded(note, _LONGEST_NOTE) == text.encode():
        return ""
    if (claimed and not own) or _other_plans(plan, folder):
        raise BadUsage("the folder holds another sweep", where=str(folder), remedy="name an empty one")
    if not force and (foreign := _foreign_file(plan, folder)) is not None:
        raise BadUsage(
            "this file exists, and mbplugin did not write it",
            where=str(foreign),
            expected="an empty folder, or that of this sweep",
            remedy="name another folder, or add --force to replace it",
        )
    with replacing(note) as temporary:
        temporary.write_bytes(text.encode())
    if own:
        return "it was changed"
    if claimed is None:
        return "it was missing" if any(folder.glob(_PARTS)) else ""
    return "it does not say which sweep this is"


def _noted_plan(note: Path) -> str | None:
    """Return the plan that a note names, empty if it names none, None if there is no note."""
    try:
        status = note.stat()
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    if not stat.S_ISREG(status.st_mode):
        raise BadUsage("this is not a file", where=str(note), remedy="name an empty folder")
    try:
        content = json.loads(read_bounded(note, _LONGEST_NOTE))
    except (UnreadableFile, ValueError, RecursionError):
        return ""
    plan = content.get("plan") if isinstance(content, dict) else None
    return plan if isinstance(plan, str) else ""


def _other_plans(plan: SweepPlan, folder: Path) -> bool:
    """Return True if a folder contains parts of another sweep, which must not be overwritten."""
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
    """Return a file of another program that has the name of a sweep's file; None if a part belongs to this plan.

    A file counts as a damaged file of a sweep if it is empty, no text, or the beginning of a note.
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
            # not a Parquet file
            except Exception:
                damaged = not _is_text(read_bounded(file))
        if not damaged:
            foreign = foreign or file
    return foreign


def _is_text(content: bytes) -> bool:
    """Return True if bytes are a non-empty text."""
    try:
        return bool(content) and "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _check_identity(plan: SweepPlan, part: int, schema: Any, rows: int) -> None:
    status = schema.metadata or {}
    if _PLAN not in status or _RANGE not in status:
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
    """Return the schema of a part: s, rad or m, rad/s or m/s, kg."""
    pyarrow = arrow()
    names = [f"{what} {joint}" for joint in plan.joints for what in ("time", "travel", "rate")]
    names = ["time", "tool_distance", "tool_displacement", "payload", *names]
    numbers = [(name, pyarrow.float64()) for name in names]
    return pyarrow.schema([("stop", pyarrow.int64()), ("outcome", pyarrow.string()), *numbers])


def numbers_of(column: Any) -> AnyArray:
    """Return the numbers (n,) of a column, NaN where one is missing.

    Columns without missing numbers are read from their buffers: pyarrow's conversion imports pandas, which takes as
    long as a thousand stops.
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
    """Return numbers or texts as a pyarrow array, built from their bytes, see :func:`numbers_of`."""
    pyarrow = arrow()
    if kind == pyarrow.string():
        texts = [text.encode() for text in values]
        ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
        return pyarrow.StringArray.from_buffers(
            len(texts), pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(texts))
        )
    content = np.array(values, dtype=str(kind))
    return pyarrow.Array.from_buffers(kind, len(content), [None, pyarrow.py_buffer(content)])
