"""Instants of a motion at which a stop begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any, Protocol
from zipfile import BadZipFile, ZipFile

import numpy as np

from mbplugin.csv_tables import read_csv
from mbplugin.errors import BadNumber, BadUsage, UnknownName, UnreadableFile, suggestion
from mbplugin.files import LONGEST
from mbplugin.model.brake_law import LARGEST
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import JointValues, joint_vector
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr

State = tuple[Array, Array, Array]
#: Shortest interval between samples, as a share of the longest, for which a spline is accurate.
_LEAST_SPACING = 1e-10


class Start(Protocol):
    """An instant of a motion."""

    def state(self, mech: Mechanism, q: Array) -> State:
        """Return coordinates, rates and accelerations; ``q`` (nq,) is the pose of joints that do not move."""
        ...

    def stated(self, mech: Mechanism) -> tuple[JointValues, ...]:
        """Return mappings that name the coordinates stated by this motion; their values do not matter."""
        ...


@one_line_repr
@dataclass(frozen=True)
class Recorded:
    """An instant of a recorded motion.

    Parameters
    ----------
    file : str or Path
        A CSV table: a column ``time`` (s) and one per joint coordinate, ``NAME`` or ``q NAME``, rad or
        m, with rates in ``qd NAME``; units in brackets are allowed, other columns are ignored. Or
        the ``.npz`` of a trajectory.
    at : float
        Time in the file, s.
    """

    file: str | Path
    at: float

    def state(self, mech: Mechanism, q: Array) -> State:
        """Return the state from a spline through the samples and recorded rates; q (nq,) for joints not recorded."""
        return read_recording(Path(self.file), mech.q_names, mech.qd_names).state(mech, q, self.at)

    def stated(self, mech: Mechanism) -> tuple[JointValues, ...]:
        """Return the coordinates that have a column in the file."""
        return (recorded_coordinates(Path(self.file), mech),)


@one_line_repr
@dataclass(frozen=True)
class Move:
    """An instant of a straight move in joint space: all joints together, with a trapezoidal speed profile.

    Parameters
    ----------
    start, goal : mapping or vector
        Joint coordinates, rad or m.
    at : float
        Time since the move began, s.
    speed : mapping
        Highest rate by joint, rad/s or m/s; by default the velocity limits of the file.
    acceleration_time : float
        Time from rest to full speed, and from full speed to rest, s.
    """

    start: JointValues
    goal: JointValues
    at: float
    speed: Mapping[str, float] = field(default_factory=dict)
    acceleration_time: float = 0.25

    def state(self, mech: Mechanism, q: Array) -> State:
        """Return the state on the straight line between both poses; ``q`` (nq,) is the pose of other joints.

        Raises
        ------
        BadNumber
            The acceleration time is negative or not finite.
        BadUsage
            A speed is not positive, or the signal is not within the move.
        """
        first, last = joint_vector(mech, self.start, q), joint_vector(mech, self.goal, q)
        if not (isfinite(self.acceleration_time) and self.acceleration_time >= 0):
            raise BadNumber(
                f"the acceleration time is {self.acceleration_time:g}", expected="s, not negative"
            )
        change = last - first
        full = max(abs(change[i]) / self._speed(mech, i) for i in range(len(change))) if change.any() else 0.0
        s, rate, acceleration = trapezoid(full, self.acceleration_time, self.at)
        qd, qdd = np.zeros(len(mech.qd_names)), np.zeros(len(mech.qd_names))
        for i in np.flatnonzero(change).tolist():
            k = mech.qd_names.index(mech.q_names[i])
            qd[k], qdd[k] = rate * change[i], acceleration * change[i]
        return first + s * change, qd, qdd

    def stated(self, mech: Mechanism) -> tuple[JointValues, ...]:
        """Return the start and the goal."""
        return (self.start, self.goal)

    def _speed(self, mech: Mechanism, i: int) -> float:
        name = mech.q_names[i]
        if name not in mech.qd_names:
            return np.inf
        value = self.speed.get(name)
        if value is None:
            joint = next(j for j in mech.tree.joints if j.q.start <= i < j.q.stop)
            value = joint.pair.freedoms[i - joint.q.start].velocity if joint.pair else np.inf
        if not (isfinite(value) and value > 0):
            raise BadUsage(
                f"the speed of joint {name!r} is {value:g}",
                expected="a positive number, stated or as its velocity limit",
            )
        return float(value)


def trapezoid(full: float, ramp: float, t: float) -> tuple[float, float, float]:
    """Return path fraction 0 … 1, its rate and acceleration at time ``t`` of a trapezoidal move.

    Parameters
    ----------
    full : float
        Time that the slowest joint needs for the whole path at full speed, s.
    ramp : float
        Time from rest to full speed, s; a short path is covered at a lower speed with the same acceleration.

    Raises
    ------
    BadUsage
        The signal is not within the move.
    """
    if full <= 0:
        return 1.0, 0.0, 0.0
    if ramp > full:
        full = ramp = float(np.sqrt(full * ramp))
    end = full + ramp
    if not (isfinite(t) and 0 <= t <= end):
        raise BadUsage(f"the signal comes at {t:g} s", expected=f"a time in the move, 0 to {end:.6g} s")
    speed = 1.0 / full
    if ramp == 0.0:
        return speed * t, speed, 0.0
    acceleration = speed / ramp
    if t < ramp:
        return 0.5 * acceleration * t**2, acceleration * t, acceleration
    if t <= full:
        return speed * (t - 0.5 * ramp), speed, 0.0
    left = end - t
    return 1.0 - 0.5 * acceleration * left**2, acceleration * left, -acceleration


# A recorded motion as a file: a CSV table, or the arrays that a trajectory saves.


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples of a motion.

    Parameters
    ----------
    file : str
    time : (T,) array
        s, increasing.
    q, qd : dict of str to (T,) array
        Coordinates and, if recorded, their rates, rad and m, rad/s and m/s. Rates that are not derivatives of a
        single coordinate, as those of a free base, have different names.
    """

    file: str
    time: Array
    q: dict[str, Array]
    qd: dict[str, Array]

    def state(self, mech: Mechanism, q: Array, at: float) -> tuple[Array, Array, Array]:
        """Return coordinates, rates and accelerations at a time; ``q`` is the pose of joints not recorded.

        Raises
        ------
        BadUsage
            The time is outside the recording.
        """
        from scipy.interpolate import CubicSpline

        time = self.time
        if not time[0] <= at <= time[-1]:
            raise BadUsage(
                f"the signal comes at {at:g} s",
                where=self.file,
                expected=f"a time from {time[0]:g} to {time[-1]:g} s",
            )
        qd, qdd = np.zeros(len(mech.qd_names)), np.zeros(len(mech.qd_names))
        for name in self.q:
            if name in mech.qd_names:
                k, spline = mech.qd_names.index(name), self._spline(name)
                qd[k], qdd[k] = spline(at, 1), spline(at, 2)
        for k, values in self._own_rates(mech):
            spline = CubicSpline(time, values)
            qd[k], qdd[k] = spline(at), spline(at, 1)
        return self.pose(mech, q, at), qd, qdd

    def pose(self, mech: Mechanism, q: Array, at: float) -> Array:
        """Return the coordinates (nq,) at a time of the recording, s; those not recorded are as in q (nq,)."""
        out: Array = q.copy()
        for name in self.q:
            out[mech.q_names.index(name)] = self._spline(name)(at)
        for joint in mech.tree.joints:
            if joint.q.stop - joint.q.start > joint.qd.stop - joint.qd.start:
                turn = slice(joint.q.stop - 4, joint.q.stop)
                out[turn] /= np.linalg.norm(out[turn])
        return out

    def _spline(self, name: str) -> Any:
        """Return the spline through a coordinate, with its rates if recorded."""
        from scipy.interpolate import CubicHermiteSpline, CubicSpline

        rates = self.qd.get(name)
        if rates is None:
            return CubicSpline(self.time, self.q[name])
        return CubicHermiteSpline(self.time, self.q[name], rates)

    def states(self, mech: Mechanism, q: Array) -> Array:
        """Return all samples (T, nq + nv): coordinates and rates.

        Parameters
        ----------
        q : (nq,) array
            The pose of joints that are not recorded; their rates are zero.
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
        for k, values in self._own_rates(mech):
            out[:, len(q) + k] = values
        return out

    def _own_rates(self, mech: Mechanism) -> Iterator[tuple[int, Array]]:
        """Yield the rates (T,) that are not named like a coordinate, as those of a free base, each with its index.

        Raises
        ------
        BadUsage
            The joint's coordinates are recorded and these rates, which no single coordinate has as its derivative, are
            not.
        """
        for joint in mech.tree.joints:
            names = mech.q_names[joint.q]
            stated = [name for name in names if name in self.q]
            for k in range(joint.qd.start, joint.qd.stop):
                rate = mech.qd_names[k]
                if rate in names:
                    continue
                if rate in self.qd:
                    yield k, self.qd[rate]
                elif stated:
                    raise BadUsage(
                        f"{stated[0]!r} is recorded, and no rate {rate!r}",
                        where=self.file,
                        expected=f"a column 'qd {rate}'",
                        remedy="record it, or leave the coordinates of that joint out",
                    )


def recorded_coordinates(path: Path, mech: Mechanism) -> dict[str, float | str]:
    """Return the coordinates of a mechanism that have a column in a file, each with the dummy value 0."""
    return dict.fromkeys(read_recording(path, mech.q_names).q, 0.0)


def read_recording(path: Path, names: Sequence[str], rates: Sequence[str] = ()) -> Recording:
    """Read the recording of coordinates, and of the rates that are not named like a coordinate, from a file.

    Parameters
    ----------
    path : Path
        A CSV table with a column ``time`` (s) and one per joint coordinate, ``NAME`` or ``q NAME``, rad or
        m, with rates in ``qd NAME``; units in brackets are allowed, other columns are ignored. Or
        the ``.npz`` of a trajectory.

    Raises
    ------
    UnreadableFile, BadNumber, UnknownName
        The file is missing or unreadable, a cell is not a number, the times do not increase, or there is no joint.
    """
    heads, values = _arrays(path) if path.suffix == ".npz" else _table(path)
    q = {name: heads.index(h) for name in names for h in (name, f"q {name}") if h in heads}
    qd = {name: heads.index(f"qd {name}") for name in dict.fromkeys((*q, *rates)) if f"qd {name}" in heads}
    if "time" not in heads or not q:
        missing = "time" if "time" not in heads else "the coordinate of a joint"
        raise UnknownName(
            f"no column is {missing}",
            where=str(path),
            remedy=suggestion(heads[-1] if heads else "", list(names)),
        )
    time = values[:, heads.index("time")]
    # an event has two samples at the same time
    keep = np.concatenate(([True], np.diff(time) > 0))
    read = [heads.index("time"), *q.values(), *qd.values()]
    if (np.diff(time) < 0).any() or keep.sum() < 2 or not np.isfinite(values[:, read]).all():
        raise BadNumber("the times do not increase", where=str(path), expected="two rows or more")
    time = time[keep]
    _require_possible(path, [heads[k] for k in read[1:]], time, values[keep][:, read[1:]])
    _require_spline(path, time)
    return Recording(
        str(path),
        time,
        {name: values[keep, k] for name, k in q.items()},
        {name: values[keep, k] for name, k in qd.items()},
    )


def _require_spline(path: Path, time: Array) -> None:
    """Require that samples at ``time`` (T,), s, are spaced evenly enough for a spline."""
    shortest, longest = float(np.diff(time).min()), float(np.diff(time).max())
    if shortest < _LEAST_SPACING * longest:
        raise BadNumber(
            f"the samples are {shortest:g} to {longest:g} s apart",
            where=str(path),
            expected=f"distances that differ by less than a factor of {1 / _LEAST_SPACING:g}",
        )


def _require_possible(path: Path, heads: Sequence[str], time: Array, values: Array) -> None:
    """Require plausible magnitudes of the columns ``values`` (T, k), and of their slopes over ``time`` (T,), s."""
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
                "a cell is not a number", where=table.where(line), expected="decimal numbers in every column"
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
