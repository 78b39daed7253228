"""The schedule of changes in a motion: locks that close, brakes that engage, drives that are powered off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mbplugin.model.mechanism.coupling import Driver, Lock, TimedConstraint

#: Kinds of changes, in the order in which those of one instant are made: what opens is out before anything
#: closes (mueller2026 (14), (22)), as if the closing came an instant later. Brakes act by bounded forces:
#: they give no impulse, and come first.
BRAKE, RELEASE, LOCK = "brake", "release", "lock"
_ORDER = (BRAKE, RELEASE, LOCK)
#: Instants closer than this, relative and in seconds, are one.
_AT_ONCE = 1e-12


@dataclass(frozen=True)
class Change:
    """Something that changes at an instant: a kind, and the constraints or pairs concerned."""

    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class TimedDrive:
    """A drive that leads a joint for a while.

    Parameters
    ----------
    driver : Driver
        Its name; its values are those of the segments.
    motion_segments : tuple of (start, coefficients)
        From ``start`` (s) on, a polynomial in t − start, lowest power first, rad or m.
    until : float or None
        When the drive is powered off, s; None: never.
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
        s, in any order.
    breaks : tuple of float
        Where a prescribed motion changes, s.
    to_rest : bool
        Whether the run ends when everything stands still after the last change.
    """

    changes: tuple[tuple[float, Change], ...] = ()
    breaks: tuple[float, ...] = ()
    to_rest: bool = False

    @property
    def last(self) -> float:
        """Time of the last change or break, s."""
        return max((*(time for time, _ in self.changes), *self.breaks), default=0.0)

    def instants(self, duration: float) -> list[tuple[float, tuple[Change, ...]]]:
        """Return all instants up to the end, in order, with what changes there."""
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
    """Return the schedule of locks and what else holds for a while, brakes (time, pair) and drives.

    ``breaks`` (s) are those of prescribed motions besides the drives'.
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
