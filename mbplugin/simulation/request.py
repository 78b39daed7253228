"""The constraints that close and open during a motion, checked before the computation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model.mechanism.coupling import Driver, Lock, TimedConstraint
from mbplugin.model.mechanism.identity import Holder
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.motion_profile import MotionProfile
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array
from mbplugin.simulation.impact.timed import state_in
from mbplugin.simulation.options import Options, Profile


def checked_locks(mech: Mechanism, locks: Sequence[Lock], duration: float) -> tuple[Lock, ...]:
    """Return the locks, none of which is on an unknown joint or outside the motion.

    Raises
    ------
    UnknownName
        A joint of no pair.
    BadUsage
        A time outside the motion.
    """
    for lock in locks:
        if not isinstance(lock, Lock):
            raise BadUsage(f"a lock cannot be {lock!r}", expected="a list of mb.Lock(joint, at=seconds)")
        if lock.joint not in mech.pair_by_name:
            raise UnknownName(
                f"a lock names an unknown pair {lock.joint!r}",
                remedy=suggestion(lock.joint, list(mech.pair_by_name)),
            )
        _check_times(f"the lock of {lock.joint!r}", lock.at or 0.0, lock.until, duration)
    return tuple(locks)


def scene_state(scene: Scene | None, mech: Mechanism) -> tuple[Array | None, Array | None]:
    """Return the state of the scene in the coordinates of the mechanism that moves."""
    if scene is None:
        return None, None
    if scene.mechanism.q_names == mech.q_names:
        return scene.state.q, scene.state.qd
    return state_in(scene.mechanism, scene.state.q, scene.state.qd, mech)


def timed_holds(
    holds: Sequence[TimedConstraint], held: Sequence[Constraint], options: Options
) -> tuple[tuple[TimedConstraint, Constraint], ...]:
    """Return what holds for a while with its times, checked.

    Raises
    ------
    BadUsage
        A time outside the motion; other than joint coordinates; a planar view of a closure.
    """
    by_name = {constraint.name: constraint for constraint in held}
    for hold in holds:
        _check_times(f"constraint {hold.constraint!r}", hold.at, hold.until, options.duration)
        if options.coordinates != "joint" or (options.planar and isinstance(by_name[hold.name], Pair)):
            raise BadUsage(
                f"constraint {hold.constraint!r} is to hold for a while",
                expected="joint coordinates, and no planar view of a closure",
            )
    return tuple((hold, by_name[hold.constraint]) for hold in holds)


def each_once(locks: Sequence[Lock]) -> tuple[Lock, ...]:
    """Return the locks without their times: one that closes several times has its rows once.

    Raises
    ------
    BadUsage
        Two locks of different freedoms of a joint.
    """
    found = tuple(dict.fromkeys(replace(lock, at=None, until=None) for lock in locks))
    for k, lock in enumerate(found):
        if lock.joint in (other.joint for other in found[:k]):
            raise BadUsage(
                f"joint {lock.joint!r} has locks of different freedoms", expected="one lock for all of them"
            )
    return found


def _check_times(what: str, at: float, until: float | None, duration: float) -> None:
    """Refuse to close outside the motion, or to open before."""
    if not 0 <= at <= duration:
        raise BadUsage(
            f"{what} closes at {at:g} s", expected=f"a time from 0 to the duration, {duration:g} s"
        )
    if until is not None and not until > at:
        raise BadUsage(f"{what} closes at {at:g} s and opens at {until:g} s", expected="a later time")


def led_by(
    mech: Mechanism, profiles: Mapping[str, Profile | MotionProfile]
) -> tuple[Mechanism, dict[str, Profile]]:
    """Return a mechanism whose drivers follow motion profiles, and the callables of other drivers.

    Raises
    ------
    UnknownName
        A profile of neither a driver nor, if it is a MotionProfile, a joint that none leads.
    """
    drivers = {driver.name: driver for driver in mech.drivers}
    callables = {}
    for name, profile in profiles.items():
        if not isinstance(profile, MotionProfile):
            _require_driver(name, tuple(drivers))
            drivers[name], callables[name] = replace(drivers[name], profile=None), profile
        elif name in drivers:
            drivers[name] = replace(drivers[name], profile=profile)
        else:
            led = {driver.joint for driver in mech.drivers}
            _require_driver(name, (*drivers, *(pair for pair in mech.pair_by_name if pair not in led)))
            driver = Driver(str(Holder("drive", name)), name, profile=profile)
            drivers[driver.name] = driver
    changed = tuple(drivers.values())
    return (mech if changed == mech.drivers else replace(mech, drivers=changed)), callables


def _require_driver(name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise UnknownName(
            f"a profile is given for {name!r}, which is no driver",
            expected=f"one of {', '.join(known)}" if known else "a driver",
            remedy=suggestion(name, tuple(known)),
        )
