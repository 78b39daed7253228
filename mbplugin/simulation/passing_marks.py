"""Events, the schedule of changes, and the limits and user functions that a step passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, get_args

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.model import MOTION_WORDS, AnyArray, Array, Holder, Pair
from mbplugin.model.mechanism import Driver, Lock, Mechanism, TimedConstraint
from mbplugin.phrases import one_line_repr
from mbplugin.simulation.integrators.contract import Chunk, Step
from mbplugin.simulation.options import Options, UserEvent

#: Declared once, for the code that makes events and for the schemas.
EventKind = Literal["lock", "brake", "release", "stick", "slip", "limit", "user", "singular", "contradictory"]
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)
Displace = Callable[[Array, Array], Array]
#: A coordinate has passed a bound if it is beyond it by more than this, rad or m; a joint at rest on its end stop
#: crosses it back and forth by rounding errors.
BEYOND = 1e-10
#: Kinds of changes, in the order in which those of one instant are made: constraints open before others close
#: (mueller2026 (14), (22)), as if the closing came an instant later. Brakes come first: their forces are bounded and
#: give no impulse.
BRAKE, RELEASE, LOCK = "brake", "release", "lock"
_ORDER = (BRAKE, RELEASE, LOCK)
#: Times closer than this, relative to 1 s plus the time, are one instant.
_AT_ONCE = 1e-12
#: Zeros closer to the start of a step than this fraction belong to the step before.
START = 1e-9
#: Fractions of a step at which functions that are not polynomials are sampled.
LOOKS = tuple(np.linspace(0.0, 1.0, 13).tolist())


# An event during a motion, with its time.


@one_line_repr
@dataclass(frozen=True, eq=False)
class Event:
    """An instant at which the constraints changed, or a limit or user function was passed.

    Parameters
    ----------
    time : float
        s.
    kind : EventKind
        ``lock``, ``brake`` (one grips), ``release``, ``stick``, ``slip``, ``limit``, ``user``,
        ``singular`` (constraints lose rank) or ``contradictory`` (no rates satisfy all constraints).
    joint : str
        The joint, constraint or function concerned.
    velocity_before, velocity_after : (nv,) array
        Joint rates in the order of ``qd_names``, rad/s and m/s.
    impulse : dict of (constraint, component) to float
        Impulses on the successor, N·s and N·m·s; empty if the rates did not jump.
    open_impulses : tuple of (constraint, component)
        Impulses that the rigid model does not determine; ``impulse`` then holds the smallest ones.
    text : str
        One sentence for reports.
    """

    time: float
    kind: EventKind
    joint: str
    velocity_before: Array
    velocity_after: Array
    impulse: dict[tuple[str, str], float] = field(default_factory=dict)
    text: str = ""
    open_impulses: tuple[tuple[str, str], ...] = ()

    @property
    def sentence(self) -> str:
        """Description of the event in words."""
        return self.text or f"{self.joint}: {self.kind}"


def passing(time: float, kind: EventKind, joint: str, qd: Array, text: str = "") -> Event:
    """Return an event at which the rates qd (nv,) do not jump."""
    rates = np.array(qd, dtype=float)
    rates.setflags(write=False)
    return Event(time, kind, joint, rates, rates, {}, text)


def freedom_words(pair: Pair, freedom: str) -> str:
    """Return the name of a joint, followed by the freedom if it has several."""
    several = len(pair.kind.free) > 1
    return f"{pair.name} ({MOTION_WORDS.get(freedom, freedom)})" if several else pair.name


def release_words(name: str) -> str:
    """Return the release of a lock, a drive or another constraint, in words."""
    holder = Holder.of(name)
    if holder is None:
        return f"{name} is released"
    return (
        f"the {holder.kind} of {holder.joint} is {'switched off' if holder.kind == 'drive' else 'released'}"
    )


@dataclass(frozen=True)
class Limit:
    """A bound of a joint coordinate."""

    name: str
    coordinate: int
    rate: int
    bound: float
    upper: bool

    @property
    def passed_at(self) -> float:
        """Coordinate at which the bound counts as passed, rad or m."""
        return self.bound + BEYOND if self.upper else self.bound - BEYOND


@dataclass(frozen=True)
class Passing:
    """A limit or user event at a fraction of a step."""

    fraction: float
    kind: EventKind
    name: str
    terminal: bool
    text: str


def joint_limits(mech: Mechanism, options: Options) -> tuple[Limit, ...]:
    """Return the bounds to be monitored: the finite ones of joints with one coordinate per freedom."""
    found: list[Limit] = []
    if options.limits == "ignore":
        return ()
    for joint in mech.tree.joints:
        if joint.pair is None or len(joint.pair.freedoms) != joint.q.stop - joint.q.start:
            continue
        for k, freedom in enumerate(joint.pair.freedoms):
            if not freedom.lower < freedom.upper:
                continue
            name = mech.qd_names[joint.qd.start + k]
            for bound, upper in ((freedom.lower, False), (freedom.upper, True)):
                if np.isfinite(bound):
                    found.append(Limit(name, joint.q.start + k, joint.qd.start + k, bound, upper))
    return tuple(found)


class Limits:
    """The monitored bounds, and a fast test of which of them a step may reach.

    Parameters
    ----------
    limits : sequence of Limit
    """

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._limits = tuple(limits)
        self._coordinates = np.array([limit.coordinate for limit in limits], dtype=np.int64)
        self._rates = np.array([limit.rate for limit in limits], dtype=np.int64)
        self._bounds = np.array([limit.passed_at for limit in limits], dtype=float)

    def in_reach(self, step: Step) -> list[Limit]:
        """Return the bounds that a step may reach."""
        near = self._near(step.q[None], step.polynomial[None])[0]
        return [self._limits[n] for n in np.flatnonzero(near)]

    def first_in_reach(self, q: Array, chunk: Chunk, kept: int) -> int:
        """Return the index of the first step of a chunk that may reach a bound, or ``kept`` if none does.

        Parameters
        ----------
        q : (nq,) array
            Coordinates at the start of the chunk, rad and m.
        """
        if not self._limits or not kept:
            return kept
        near = self._near(np.concatenate((q[None], chunk.q[: kept - 1])), chunk.dense[:kept])
        first = int(near.any(axis=1).argmax())
        return first if near[first].any() else kept

    def _near(self, q: Array, dense: Array) -> AnyArray:
        """Return flags (k, n): whether each of k steps, from q (k, nq) along dense (k, d, 2, nv), may reach a bound."""
        reach = np.abs(dense[:, 1:, 0]).sum(axis=1).take(self._rates, axis=1)
        gap = dense[:, 0, 0].take(self._rates, axis=1) + q.take(self._coordinates, axis=1) - self._bounds
        return np.asarray(np.abs(gap) <= reach)


def passings(step: Step, limits: Limits, options: Options, displace: Displace) -> list[Passing]:
    """Return the limits and user events that a step passes, in the order of time."""
    found = [
        p for limit in limits.in_reach(step) for p in _limit_passings(step, limit, options.limits == "stop")
    ]
    for event in options.events:
        found += _user_passings(step, event, displace)
    return sorted(found, key=lambda p: p.fraction)


def _limit_passings(step: Step, limit: Limit, terminal: bool) -> list[Passing]:
    gap = step.polynomial[:, 0, limit.rate].copy()
    gap[0] += step.q[limit.coordinate] - limit.passed_at
    out = []
    for fraction in polynomial_zeros(gap):
        rate = step.at(fraction)[1][limit.rate]
        # only when moving outwards
        if (rate > 0) == limit.upper:
            side = "upper" if limit.upper else "lower"
            text = f"{limit.name} passes its {side} limit {limit.bound:.6g} at {rate:.4g} per second"
            out.append(Passing(fraction, "limit", limit.name, terminal, text))
    return out


def _user_passings(step: Step, event: UserEvent, displace: Displace) -> list[Passing]:
    def g(fraction: float) -> float:
        x, qd = step.at(fraction)
        time = step.start + fraction * step.length
        value = float(event.function(time, displace(step.q, x), qd))
        if not np.isfinite(value):
            raise BadNumber(
                f"event {event.name!r} returned {value} at t = {time:.9g} s", expected="a finite number"
            )
        return value

    zeros = function_zeros(g)
    kept = [f for f in zeros if event.direction * (g(min(f + 1e-6, 1.0)) - g(max(f - 1e-6, 0.0))) >= 0]
    return [Passing(f, "user", event.name, event.terminal, f"{event.name} passes zero") for f in kept]


# The schedule of changes in a motion: locks close, brakes engage, drives are switched off.


@dataclass(frozen=True)
class Change:
    """A change at an instant: its kind, and the names of the constraints or pairs concerned."""

    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class TimedDrive:
    """A drive that moves a joint for an interval.

    Parameters
    ----------
    driver : Driver
        Gives the name and the joint; the prescribed values are those of the segments.
    motion_segments : tuple of (start, coefficients)
        From ``start`` (s) on, a polynomial in t − start, lowest power first, rad or m.
    until : float or None
        Time at which the drive is switched off, s; None: never.
    """

    driver: Driver
    motion_segments: tuple[tuple[float, tuple[float, ...]], ...]
    until: float | None = None


@dataclass(frozen=True)
class Schedule:
    """Instants at which a run stops to change something.

    Parameters
    ----------
    changes : tuple of (time, Change)
        Times in s, in any order.
    breaks : tuple of float
        Times at which a prescribed motion changes, s.
    to_rest : bool
        Whether the run ends when everything is at rest after the last change.
    """

    changes: tuple[tuple[float, Change], ...] = ()
    breaks: tuple[float, ...] = ()
    to_rest: bool = False

    @property
    def last(self) -> float:
        """Time of the last change or break, s."""
        return max((*(time for time, _ in self.changes), *self.breaks), default=0.0)

    def instants(self, duration: float) -> list[tuple[float, tuple[Change, ...]]]:
        """Return all instants up to the end, in order, with their changes."""
        at: list[tuple[float, list[Change]]] = []
        times = [(time, None) for time in (*self.breaks, duration)]
        for time, change in sorted((*times, *self.changes), key=lambda one: one[0]):
            if not at or time - at[-1][0] > _AT_ONCE * (1.0 + time):
                at.append((time, []))
            if change is not None:
                at[-1][1].append(change)
        return [
            (time, tuple(sorted(changes, key=lambda one: _ORDER.index(one.kind))))
            for time, changes in at
            if time <= duration
        ]


def schedule_of(
    locks: Sequence[Lock | TimedConstraint],
    brakes: Sequence[tuple[float, str]],
    drives: Sequence[TimedDrive],
    to_rest: bool = False,
    breaks: Sequence[float] = (),
) -> Schedule:
    """Return the schedule of locks and other timed constraints, brakes (time, pair) and drives.

    ``breaks`` (s) are those of prescribed motions other than the drives.
    """
    found: dict[tuple[float, str], list[str]] = {}
    for lock in locks:
        found.setdefault((float(lock.at or 0.0), LOCK), []).append(lock.name)
        if lock.until is not None:
            found.setdefault((lock.until, RELEASE), []).append(lock.name)
    for time, pair in brakes:
        found.setdefault((time, BRAKE), []).append(pair)
    for drive in drives:
        if drive.until is not None:
            found.setdefault((drive.until, RELEASE), []).append(drive.driver.name)
    changes = tuple((time, Change(kind, tuple(names))) for (time, kind), names in found.items())
    all_breaks = {*breaks, *(start for drive in drives for start, _ in drive.motion_segments)}
    return Schedule(changes, tuple(sorted(time for time in all_breaks if time > 0)), to_rest)


# Zeros of functions inside a step, on its dense output, in the order of time.


def polynomial_zeros(coefficients: Array) -> list[float]:
    """Return the zeros in (0, 1] of a polynomial with coefficients (d + 1,), lowest power first."""
    scale = float(np.abs(coefficients).max(initial=0.0))
    if scale == 0.0 or not _may_vanish(coefficients):
        return []
    trimmed = np.trim_zeros(np.where(np.abs(coefficients) > 1e-15 * scale, coefficients, 0.0), "b")
    roots = np.polynomial.polynomial.polyroots(trimmed) if len(trimmed) > 1 else np.zeros(0)
    real = roots[np.abs(roots.imag) < 1e-9].real
    return sorted(float(r) for r in real if START < r <= 1.0 + 1e-12)


def _may_vanish(coefficients: Array) -> bool:
    """Return True if the other terms of coefficients (d + 1,) can cancel the constant one for |θ| ≤ 1."""
    return bool(abs(coefficients[0]) <= np.abs(coefficients[1:]).sum())


def function_zeros(g: Callable[[float], float]) -> list[float]:
    """Return the fractions in (``START``, 1] at which g changes sign, bracketed by samples and refined."""
    return list(_zeros(g, START))


def first_zero(g: Callable[[float], float], start: float = START, dips: bool = False) -> float | None:
    """Return the first fraction in (``start``, 1] at which g changes sign, or None.

    With ``dips``, minima of g between positive samples are searched as well, as g may be negative there.
    """
    return next(_zeros(g, start, dips), None)


def _zeros(g: Callable[[float], float], start: float, dips: bool = False) -> Iterator[float]:
    values = [g(f) for f in LOOKS]
    for k, ((low, a), (high, b)) in enumerate(pairwise(zip(LOOKS, values, strict=True))):
        if b == 0.0:
            zero = high
        elif a * b < 0:
            zero = float(bracketed_zero(g, low, high))
        elif dips and a > 0.0 and (dip := _dip(g, values, k)) is not None:
            zero = dip
        else:
            continue
        if zero > start:
            yield zero


def _dip(g: Callable[[float], float], values: list[float], k: int) -> float | None:
    """Return the place where g, positive at samples k and k + 1, becomes negative near a minimum, or None.

    ``values`` are the samples of g at ``LOOKS``. The method is that of the compiled search in ``events.py``.
    """
    last = len(values) - 1
    if k == 0 and values[0] <= values[1] and 4.0 * values[1] < 3.0 * values[0] + values[2]:
        zero = _zero_on_the_way_down(g, 0.0, LOOKS[1])
        if zero is not None:
            return zero
    if k + 2 <= last and values[k + 1] <= min(values[k], values[k + 2]):
        if values[k + 1] > max(values[k], values[k + 2]) - values[k + 1]:
            return None
        return _zero_on_the_way_down(g, LOOKS[k], LOOKS[k + 2])
    if k + 1 == last and values[last] <= values[k] and 3.0 * values[last] + values[k - 1] > 4.0 * values[k]:
        return _zero_on_the_way_down(g, LOOKS[k], 1.0)
    return None


def _zero_on_the_way_down(g: Callable[[float], float], low: float, high: float) -> float | None:
    """Return the zero of g between ``low``, where it is positive, and its minimum; None if the minimum is positive."""
    begin, golden = low, 0.3819660112501051
    a, b = low + golden * (high - low), high - golden * (high - low)
    fa, fb = g(a), g(b)
    while True:
        if fa <= 0.0:
            return float(bracketed_zero(g, begin, a))
        if fb <= 0.0:
            return float(bracketed_zero(g, a, b))
        if high - low < 1e-8:
            return None
        if fa < fb:
            high, b, fb = b, a, fa
            a = low + golden * (high - low)
            fa = g(a)
        else:
            low, a, fa = a, b, fb
            b = high - golden * (high - low)
            fb = g(b)


def bracketed_zero(g: Callable[[float], float], low: float, high: float, near: float = 1e-14) -> float:
    """Return the zero of g between two arguments with values of opposite sign, to within ``near``.

    Uses the method of Chandrupatla (1997), like the compiled search in ``events.py``; importing scipy's takes longer
    than a short motion.
    """
    b, a, part = low, high, 0.5
    fb, fa = g(b), g(a)
    c, fc = b, fb
    for _ in range(200):
        least = near / abs(b - a)
        if least > 0.5 or fa == 0.0 or fb == 0.0:
            break
        x = a + min(max(part, least), 1.0 - least) * (b - a)
        fx = g(x)
        c, fc, b, fb = (a, fa, b, fb) if (fx > 0.0) == (fa > 0.0) else (b, fb, a, fa)
        a, fa = x, fx
        if fa == 0.0 or x == b:
            break
        xi, phi, part = (a - b) / (c - b), (fa - fb) / (fc - fb), 0.5
        if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
            part = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return a if abs(fa) < abs(fb) else b


def early_zero(g: Callable[[float], float], sense: float) -> float:
    """Return the fraction, before the first sample, at which g, zero at the start, changes from ``sense`` to −sense."""
    high: float = LOOKS[1]
    while high > START:
        low = 0.25 * high
        if g(low) * sense > 0.0:
            return float(bracketed_zero(g, low, high))
        high = low
    return high
