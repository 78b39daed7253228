"""A recorded motion as a file: a CSV table, or the arrays that a trajectory saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np

from mbplugin.csv_tables import read_csv
from mbplugin.errors import BadNumber, BadUsage, UnknownName, UnreadableFile, suggestion
from mbplugin.files import LONGEST
from mbplugin.model.bounds import LARGEST
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples of a motion.

    Parameters
    ----------
    file : str
    time : (T,) array
        s, increasing.
    q, qd : dict of str to (T,) array
        Coordinates and, where they were recorded, their rates, rad and m, per second.
    """

    file: str
    time: Array
    q: dict[str, Array]
    qd: dict[str, Array]

    def state(self, mech: Mechanism, q: Array, at: float) -> tuple[Array, Array, Array]:
        """Return coordinates, rates and accelerations at a time; ``q`` is the pose of what is not recorded.

        Raises
        ------
        BadUsage
            A time outside the recording.
        """
        from scipy.interpolate import CubicHermiteSpline, CubicSpline

        time = self.time
        if not time[0] <= at <= time[-1]:
            raise BadUsage(
                f"the signal comes at {at:g} s",
                where=self.file,
                expected=f"a time from {time[0]:g} to {time[-1]:g} s",
            )
        out, qd, qdd = q.copy(), np.zeros(len(mech.qd_names)), np.zeros(len(mech.qd_names))
        for name, values in self.q.items():
            rates = self.qd.get(name)
            spline = CubicSpline(time, values) if rates is None else CubicHermiteSpline(time, values, rates)
            out[mech.q_names.index(name)] = spline(at)
            if name in mech.qd_names:
                k = mech.qd_names.index(name)
                qd[k], qdd[k] = spline(at, 1), spline(at, 2)
        return out, qd, qdd

    def states(self, mech: Mechanism, q: Array) -> Array:
        """Return all samples (T, nq + nv): coordinates and rates.

        Parameters
        ----------
        q : (nq,) array
            The pose of what is not recorded; its rates are zero.
        """
        from scipy.interpolate import CubicSpline

        out = np.zeros((len(self.time), len(q) + len(mech.qd_names)))
        out[:, : len(q)] = q
        for name, values in self.q.items():
            out[:, mech.q_names.index(name)] = values
            if name in mech.qd_names:
                rates = self.qd.get(name)
                k = len(q) + mech.qd_names.index(name)
                out[:, k] = CubicSpline(self.time, values)(self.time, 1) if rates is None else rates
        return out


def read_recording(path: Path, names: Sequence[str]) -> Recording:
    """Return what a file tells of some coordinates.

    Parameters
    ----------
    path : Path
        A CSV table with a column ``time`` (s) and one per joint coordinate, ``NAME`` or ``q NAME``, rad or
        m, with rates in ``qd NAME``; units in brackets are allowed, other columns are not looked at. Or
        the ``.npz`` of a trajectory.

    Raises
    ------
    UnreadableFile, BadNumber, UnknownName
        No such file, cells that are no numbers, times that do not increase, or no joint in it.
    """
    heads, values = _arrays(path) if path.suffix == ".npz" else _table(path)
    q = {name: heads.index(h) for name in names for h in (name, f"q {name}") if h in heads}
    qd = {name: heads.index(f"qd {name}") for name in q if f"qd {name}" in heads}
    if "time" not in heads or not q:
        missing = "time" if "time" not in heads else "the coordinate of a joint"
        raise UnknownName(
            f"no column is {missing}",
            where=str(path),
            remedy=suggestion(heads[-1] if heads else "", list(names)),
        )
    time = values[:, heads.index("time")]
    # an event has two samples of one time
    keep = np.concatenate(([True], np.diff(time) > 0))
    read = [heads.index("time"), *q.values(), *qd.values()]
    if (np.diff(time) < 0).any() or keep.sum() < 2 or not np.isfinite(values[:, read]).all():
        raise BadNumber("the times do not increase", where=str(path), expected="two rows or more")
    time = time[keep]
    _require_possible(path, [heads[k] for k in read[1:]], time, values[keep][:, read[1:]])
    return Recording(
        str(path),
        time,
        {name: values[keep, k] for name, k in q.items()},
        {name: values[keep, k] for name, k in qd.items()},
    )


def _require_possible(path: Path, heads: Sequence[str], time: Array, values: Array) -> None:
    """Require that values (T, k) of columns, and their slopes over time (T,), s, are those of a machine."""
    with np.errstate(over="ignore"):
        sizes = np.abs(values), np.abs(np.diff(values, axis=0)) / np.diff(time)[:, None]
    for size, what in zip(sizes, ("is", "changes by"), strict=True):
        row, k = np.unravel_index(np.argmax(size), size.shape)
        if size[row, k] > LARGEST:
            unit = "" if what == "is" else " per second"
            raise BadNumber(
                f"column {heads[int(k)]} {what} {size[row, k]:g}{unit} at {time[row]:g} s",
                where=str(path),
                expected=f"magnitudes up to {LARGEST:g}{unit}",
            )


def _table(path: Path) -> tuple[list[str], Array]:
    table = read_csv(path)
    (_, header), *rows = table.rows
    heads = [head.partition("[")[0].strip() for head in header]
    values = np.empty((len(rows), len(heads)))
    for k, (line, cells) in enumerate(rows):
        try:
            values[k] = [table.number(cell) for cell in cells]
        except ValueError:
            raise BadNumber(
                "a cell is no number", where=table.where(line), expected="decimal numbers in every column"
            ) from None
    return heads, values


def _arrays(path: Path) -> tuple[list[str], Array]:
    try:
        with ZipFile(path) as archive:
            large = sum(member.file_size for member in archive.infolist()) > LONGEST
        if large:
            raise UnreadableFile(f"the arrays are larger than {LONGEST // 10**6} MB", where=str(path))
        with np.load(path, allow_pickle=False) as held:
            time, q, qd = (np.asarray(held[name], dtype=float) for name in ("time", "q", "qd"))
            heads = ["time", *(f"q {n}" for n in held["q_names"]), *(f"qd {n}" for n in held["qd_names"])]
        values = np.column_stack((time, q, qd))
        if len(heads) != values.shape[1]:
            raise ValueError("as many names as columns")
        return heads, values
    except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile, MemoryError, RuntimeError):
        raise UnreadableFile(
            "the arrays cannot be read", where=str(path), expected="a trajectory saved as .npz"
        ) from None
