"""Instants of a motion at which a stop begins, and the decelerations stated for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from zipfile import BadZipFile, ZipFile

import numpy as np

from mbplugin.csv_tables import read_csv
from mbplugin.errors import BadNumber, BadUsage, UnknownName, UnreadableFile, suggestion
from mbplugin.files import LONGEST
from mbplugin.model import LARGEST, Actuator, Driver, Holder, JointValues, Mechanism, Ramp, joint_vector
from mbplugin.model.brakes import NO_FORCES, AppliedForces, JointBrake
from mbplugin.model.spatial import Array, FreedomUnits, units_of
from mbplugin.phrases import one_line_repr

if TYPE_CHECKING:
    from mbplugin.dynamics.formulations import Equations


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


#: Coordinates, rates and accelerations at the signal, (nq,), (nv,) and (nv,), rad and m.
MotionState = tuple[Array, Array, Array]


# Sources of the ramps of a controlled stop: given values, the scene's ramps, actuators, limits.


@dataclass(frozen=True, eq=False)
class RampSource:
    """The statements about the ramps of a robot, independent of its state at the signal.

    Parameters
    ----------
    stated : tuple of Ramp
        Ramps of the scene.
    actuators : tuple of Actuator
        Actuators of the scene.
    given : mapping of str to float
        Decelerations by joint, rad/s² or m/s²; they take precedence over stated ones.
    """

    stated: tuple[Ramp, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    given: Mapping[str, float] = field(default_factory=dict)

    def decelerations(
        self,
        mech: Mechanism,
        brakes: tuple[JointBrake, ...],
        state: tuple[Array, Array, Array],
        inertias: Callable[[], Array],
    ) -> Decelerations:
        """Return the decelerations of the joints with brakes for one state at the signal.

        Parameters
        ----------
        brakes : tuple of JointBrake
            Their delays are the reactions of the drives.
        state : (nq,), (nv,), (nv,) array
            Coordinates, rates and accelerations at the signal, rad and m.
        inertias : callable
            Returns the diagonal of the mass matrix at the pose, (nv,), kg·m² and kg.

        Raises
        ------
        BadUsage, UnknownName, BadNumber
            As for :func:`decelerations_at`.
        """
        given = {**ramp_decelerations(self.stated, rates_at_ramps(mech, brakes, state)), **self.given}
        return decelerations_at(mech, [brake.joint for brake in brakes], inertias, self.actuators, given)

    def of_many(
        self, mech: Mechanism, joints: Sequence[str], rates: Array, inertias: Callable[[], Array]
    ) -> Array:
        """Return the decelerations (k, n) of n joints for k starts, as :meth:`decelerations` does for one.

        Parameters
        ----------
        joints : sequence of str
            Joints of a tree with one freedom each, which do not accelerate at the signal.
        rates : (k, n) array
            Their rates at the signal, rad/s and m/s.
        inertias : callable
            Returns the inertias (k, n) that they move at the poses, kg·m² and kg.

        Raises
        ------
        BadUsage, UnknownName, BadNumber
            As for :func:`decelerations_at`.
        """
        fixed = {a.joint: a.deceleration for a in self.actuators if a.deceleration is not None}
        given, ramps = checked_decelerations(joints, self.given), {ramp.joint: ramp for ramp in self.stated}
        inertias, out = cache(inertias), np.empty(rates.shape)
        for n, joint in enumerate(joints):
            if joint in given:
                out[:, n] = given[joint]
            elif joint in ramps:
                out[:, n] = [ramps[joint].deceleration_from(rate) for rate in rates[:, n].tolist()]
            elif joint in fixed:
                out[:, n] = fixed[joint]
            else:
                out[:, n] = _assumed_decelerations(mech, joint, inertias, n)
        return out


class Assumed(NamedTuple):
    """An assumed deceleration.

    Parameters
    ----------
    value : float
        rad/s² or m/s².
    effort : float or None
        The effort limit from which it was computed, N·m or N; None if it is a limit stated in the robot's file.
    units : FreedomUnits
        Units of the joint.
    name : str
        What the effort is.
    """

    value: float
    effort: float | None
    units: FreedomUnits
    name: str = "effort limit"

    @property
    def source(self) -> str:
        """Its source, in words that hold for every pose."""
        if self.effort is None:
            return f"the limit that the file states, {self.value:g} {self.units.acceleration}"
        return f"its {self.name}, {self.effort:.6g} {self.units.force}, divided by the inertia at the pose"


class Decelerations(NamedTuple):
    """The decelerations of joints, and their sources.

    Parameters
    ----------
    values : dict of str to float
        rad/s² or m/s².
    assumed : tuple of str
        Sentences on those that are not stated.
    of_effort : tuple of str
        Joints whose deceleration is derived from the effort limit.
    """

    values: dict[str, float]
    assumed: tuple[str, ...] = ()
    of_effort: tuple[str, ...] = ()


def decelerations_at(
    mech: Mechanism,
    joints: Sequence[str],
    inertias: Callable[[], Array],
    actuators: Sequence[Actuator] = (),
    given: Mapping[str, float] | None = None,
) -> Decelerations:
    """Return the deceleration of every joint.

    A given value takes precedence, then that of an ``[[actuator]]``; others are assumed, and reported.

    Parameters
    ----------
    inertias : callable
        Returns the diagonal of the mass matrix at the pose, (nv,), kg·m² and kg.

    Raises
    ------
    BadUsage
        Neither a deceleration nor an effort limit of a joint is known.
    UnknownName, BadNumber
        A deceleration is given for an unknown joint, or is not positive.
    """
    found = {a.joint: a.deceleration for a in actuators if a.deceleration is not None}
    found.update(checked_decelerations(joints, given or {}))
    sentences, of_effort = [], []
    inertias = cache(inertias)
    for joint in joints:
        if joint in found:
            continue
        assumed = assumed_deceleration(mech, joint, inertias)
        found[joint], unit = assumed.value, assumed.units.acceleration
        of_effort += [joint] * (assumed.effort is not None)
        stated = "the limit that the file states"
        why = stated if assumed.effort is None else f"{assumed.name} over the inertia of the pose"
        sentences.append(f"{joint}: deceleration {assumed.value:.4g} {unit}, {why}")
    return Decelerations(found, tuple(sentences), tuple(of_effort))


def assumed_deceleration(mech: Mechanism, joint: str, inertias: Callable[[], Array]) -> Assumed:
    """Return the deceleration to assume for a joint if none is stated.

    It is the limit in the robot's file, else the effort limit divided by the inertia of the joint.

    Parameters
    ----------
    inertias : callable
        Returns the diagonal of the mass matrix at the pose, (nv,), kg·m² and kg.

    Raises
    ------
    BadUsage
        Neither is known.
    """
    pair = mech.pair_by_name[joint]
    freedom, units = pair.freedoms[0], units_of(pair.kind.free[0])
    if _is_stated(freedom.deceleration):
        return Assumed(freedom.deceleration, None, units)
    if not has_ramp(mech, joint):
        raise BadUsage(
            f"there is no ramp for joint {joint!r}: it has neither a deceleration nor an effort limit",
            remedy="state its [[ramp]], or stop in category 0",
        )
    inertia = float(inertias()[mech.tree.joint_of_pair[joint].qd.start])
    if not (inertia > 0.0 and _is_stated(freedom.effort / inertia)):
        raise BadUsage(
            f"there is no ramp for joint {joint!r}: it states no deceleration, and moves an inertia of {inertia:g}",
            remedy="state its [[ramp]], or stop in category 0",
        )
    name = "assumed brake" if joint in mech.assumed_drives else "effort limit"
    return Assumed(freedom.effort / inertia, freedom.effort, units, name)


def _assumed_decelerations(
    mech: Mechanism, joint: str, inertias: Callable[[], Array], n: int
) -> float | Array:
    """Return the decelerations (k,) to assume for a joint whose inertias are column n of ``inertias()`` (k, m)."""
    unit = np.ones(len(mech.qd_names))
    effort = (of_unit := assumed_deceleration(mech, joint, lambda: unit)).effort
    if effort is None:
        return of_unit.value
    inertia = inertias()[:, n]
    with np.errstate(divide="ignore", over="ignore"):
        found = effort / inertia
    wrong = inertia[~(np.isfinite(found) & (found > 0.0))]
    if wrong.size:
        # states the refusal of a single stop
        assumed_deceleration(mech, joint, lambda: unit * wrong[0])
    return np.asarray(found)


def has_ramp(mech: Mechanism, joint: str) -> bool:
    """Return True if a deceleration can be assumed for a joint for which none is stated."""
    freedom = mech.pair_by_name[joint].freedoms[0]
    by_effort = _is_stated(freedom.effort) and joint in mech.tree.joint_of_pair
    return by_effort or _is_stated(freedom.deceleration)


def inertias_at(mech: Mechanism, q: Array, actions: AppliedForces) -> Array:
    """Return the diagonal (nv,) of the mass matrix at coordinates q (nq,); kg·m² and kg."""
    # compiled code is loaded only when an inertia is needed; web pages show many scenarios without one
    from mbplugin.dynamics.tree_model import joint_equations

    return np.diag(joint_equations(mech, q, np.zeros(len(mech.qd_names)), actions).M)


def _is_stated(value: float) -> bool:
    return isfinite(value) and value > 0


def checked_decelerations(joints: Sequence[str], given: Mapping[str, float]) -> dict[str, float]:
    """Check given decelerations of joints with a brake, rad/s² or m/s², and return a copy.

    Raises
    ------
    UnknownName, BadNumber
        A deceleration is given for a joint without a brake, or is not positive.
    """
    for joint, value in given.items():
        if joint not in joints:
            raise UnknownName(
                f"a deceleration is given for {joint!r}, which has no brake",
                remedy=suggestion(joint, tuple(joints)),
            )
        if not _is_stated(value):
            raise BadNumber(f"the deceleration of {joint!r} is {value:g}", expected="a positive number")
    return dict(given)


# Ramps stated in a scene: the reaction time of each drive, and its deceleration, which depends on the rate.


def with_reactions(brakes: Iterable[JointBrake], ramps: Iterable[Ramp]) -> tuple[JointBrake, ...]:
    """Return the brakes of a controlled stop, with the reaction times of the ramps, if stated, as delays, s."""
    reactions = {ramp.joint: ramp.reaction for ramp in ramps if ramp.reaction is not None}
    return tuple(
        replace(brake, delay=reactions[brake.joint], at_once=False) if brake.joint in reactions else brake
        for brake in brakes
    )


def rates_at_ramps(mech: Mechanism, brakes: Iterable[JointBrake], state: MotionState) -> dict[str, float]:
    """Return the rates at which ramps begin, by joint: after the delay, at the accelerations of the signal.

    Parameters
    ----------
    state : (nq,), (nv,), (nv,) array
        Coordinates, rates and accelerations at the signal, rad and m.
    """
    brakes = tuple(brakes)
    states = joint_states(mech, brakes, state)
    return {brake.joint: v + a * brake.delay for brake, (_, v, a) in zip(brakes, states, strict=True)}


def joint_states(
    mech: Mechanism, brakes: Sequence[JointBrake], state: MotionState
) -> list[tuple[float, float, float]]:
    """Return coordinate, rate and acceleration of each joint with a brake, rad and m.

    The coordinate of a joint that closes a loop is measured between its bodies; which joint that is depends on the
    choice of the cut. If all accelerations are zero (not stated), its acceleration is taken as zero too.

    Parameters
    ----------
    state : (nq,), (nv,), (nv,) array
        Coordinates, rates and accelerations, rad and m.
    """
    q, qd, qdd = state
    tree = mech.tree.joint_of_pair
    if any(brake.joint not in tree for brake in brakes):
        equations, values = drive_equations(mech, NO_FORCES, brakes, (q, qd), 0)
        own = slice(len(equations.C) - len(brakes), None)
        changes = equations.C[own] @ qdd - equations.Gamma[own] if qdd.any() else np.zeros(len(brakes))
        return list(zip(values.tolist(), (equations.C[own] @ qd).tolist(), changes.tolist(), strict=True))
    places = [(tree[brake.joint].q.start, tree[brake.joint].qd.start) for brake in brakes]
    return [(float(q[i]), float(qd[k]), float(qdd[k])) for i, k in places]


def drive_equations(
    mech: Mechanism,
    actions: AppliedForces,
    brakes: Sequence[JointBrake],
    state: tuple[Array, Array],
    degree_of_redundancy: int,
) -> tuple[Equations, Array]:
    """Return the rows of a mechanism followed by those of all drives, and the drives' coordinates (n,), rad and m.

    Parameters
    ----------
    state : (nq,), (nv,) array
        Coordinates and rates, rad and m.
    degree_of_redundancy : int
        Of the rows of the mechanism alone.
    """
    # compiled code is loaded only when needed; web pages show many scenarios without a loop
    from mbplugin.dynamics.tree_model import equations_of, tree_model

    drivers = [drive_of(brake) for brake in brakes]
    model = tree_model(mech, actions, locks=drivers, q=state[0])
    count = model.table.persistent + len(drivers)
    equations = equations_of(
        *(model, *state),
        degree_of_redundancy=degree_of_redundancy + len(drivers),
        rows=range(count),
        drive=np.zeros((len(model.table.driven), 3)),
    )
    return equations, model.table.rows["phi"][model.table.persistent : count].copy()


def drive_of(brake: JointBrake) -> Driver:
    """Return the drive of a joint that has a brake."""
    return Driver(str(Holder("drive", brake.joint)), brake.joint, (brake.freedom,), 0.0)


def ramp_decelerations(ramps: Iterable[Ramp], rates: Mapping[str, float]) -> dict[str, float]:
    """Return the decelerations (rad/s², m/s²) of the joints that have a ramp, from their rates."""
    return {ramp.joint: ramp.deceleration_from(rates.get(ramp.joint, 0.0)) for ramp in ramps}
