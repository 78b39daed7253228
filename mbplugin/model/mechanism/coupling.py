"""Couplings, drivers and locks: rows over joint velocities."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.identity import Holder
from mbplugin.model.mechanism.motion_profile import MotionProfile
from mbplugin.model.units import SI
from mbplugin.phrases import one_line_repr


@one_line_repr
@dataclass(frozen=True)
class Term:
    """One joint in a coupling: ``coefficient`` times the coordinate (rad or m) of a freedom of a pair."""

    joint: str
    freedom: str
    coefficient: float


@one_line_repr
@dataclass(frozen=True)
class Coupling:
    """One row  Σ coefficient · q̇ = 0, with  Σ coefficient · q = offset.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    type : str
        ``mimic``, ``gear`` or ``rack`` (what the file called it).
    terms : tuple of Term
        Rotations in rad, translations in m.
    offset : float
        Right-hand side of the position equation.
    """

    name: str
    type: str
    terms: tuple[Term, ...]
    offset: float = 0.0


@one_line_repr
@dataclass(frozen=True)
class Driver:
    """A prescribed motion of freedoms of a pair: q(t) = value + rate·t + ½·acceleration·t², or a profile.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    joint : str
        The driven joint.
    freedoms : tuple of str
        The driven free components; empty means all of them.
    value : float or None
        Position at t = 0 (rad or m); None takes the given pose.
    rate, acceleration : float
        rad/s or m/s, and per second once more.
    profile : MotionProfile, optional
        In place of the numbers, which are then those of the profile at t = 0.
    """

    name: str
    joint: str
    freedoms: tuple[str, ...] = ()
    value: float | None = None
    rate: float = 0.0
    acceleration: float = 0.0
    profile: MotionProfile | None = None

    def __post_init__(self) -> None:
        if self.profile is not None:
            for key, number in zip(("value", "rate", "acceleration"), self.profile(0.0), strict=True):
                object.__setattr__(self, key, number)

    def segments(self, start: float = 0.0) -> tuple[tuple[float, tuple[float, ...]], ...]:
        """Return the polynomials of the motion as in :class:`MotionProfile`; ``start`` (rad, m) where no value is."""
        if self.profile is not None:
            return self.profile.segments
        value = start if self.value is None else self.value
        return ((0.0, (value, self.rate, 0.5 * self.acceleration)),)

    def at(self, time: float) -> tuple[float, float, float]:
        """Return value, rate and acceleration at a time (s); the value counts from 0 where none is stated."""
        if self.profile is not None:
            return self.profile(time)
        a, start = self.acceleration, 0.0 if self.value is None else self.value
        return start + self.rate * time + 0.5 * a * time**2, self.rate + a * time, a


@one_line_repr
@dataclass(frozen=True)
class Lock:
    """A locked pair: all its freedoms (or the named ones) are constrained, permanently or for an interval.

    Parameters
    ----------
    joint : str
        The pair.
    at : float or None
        Time at which the lock closes, s; None or 0: closed from the start.
    freedoms : tuple of str
        The locked free components; empty means all of them.
    until : float or None
        Time at which the lock opens again, s; None: never.
    """

    joint: str
    at: float | None = None
    freedoms: tuple[str, ...] = ()
    until: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise BadUsage(f"a lock is of the joint {self.joint!r}", expected="a name, such as 'elbow'")
        _read_times(self)

    @property
    def for_good(self) -> bool:
        """Whether the lock is permanent."""
        return not self.at and self.until is None

    @property
    def name(self) -> str:
        """The constraint's name in reports."""
        return str(Holder("lock", self.joint))


@one_line_repr
@dataclass(frozen=True)
class TimedConstraint:
    """A closure, coupling, driver, wheel or knife edge that is active only for an interval.

    A closure keeps the relative pose of its bodies at that time, a clutch keeps the angle at that time. A
    wheel touches its plane all the time; only its no-slip rows are limited to the interval.

    Parameters
    ----------
    constraint : str
        Its name in the mechanism.
    at : float
        Start of the interval, s; the rates jump there.
    until : float or None
        End of the interval, s; None: never.
    """

    constraint: str
    at: float = 0.0
    until: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.constraint, str):
            raise BadUsage(
                f"an interval is of the constraint {self.constraint!r}", expected="a name, such as 'clutch'"
            )
        _read_times(self)

    @property
    def name(self) -> str:
        """The constraint's name in reports."""
        return self.constraint


def _read_times(interval: Lock | TimedConstraint) -> None:
    """Put seconds where the ends of an interval are texts, such as ``500ms``."""
    for end in ("at", "until"):
        value = getattr(interval, end)
        if isinstance(value, str):
            object.__setattr__(interval, end, SI.value(value, "time", f"{interval.name!r}: {end} is"))
