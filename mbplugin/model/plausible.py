"""Numbers that are probably mistyped or in another unit: degrees for radians, grams for kilograms."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, pi

from mbplugin.errors import ImplausibleValue
from mbplugin.model.brakes import JointBrake
from mbplugin.model.component import units_of
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.kinematics import JointValues, home, joint_vector
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Payload, Scene
from mbplugin.model.spatial import Array
from mbplugin.model.units import in_both
from mbplugin.phrases import listed

#: Relative to a velocity limit; full speed is the limit itself.
_ABOVE = 1.0 + 1e-6
#: A coordinate beyond its limit by less is rounding: rad or m, and parts of the value.
_ROUNDING = 1e-9
#: No brake takes longer from the signal until power is off, or from there until it grips, s.
_SLOWEST = 1.0
#: No brake is stronger, relative to the effort limit of its joint.
_STRONGEST = 20.0


def implausible(
    mech: Mechanism, qd: Array, payloads: Sequence[Payload] = (), brakes: Sequence[JointBrake] = ()
) -> tuple[str, ...]:
    """Return a sentence on rates above their limit, masses below zero, payloads above the robot's mass, strange brakes.

    Parameters
    ----------
    mech : Mechanism
    qd : (nv,) array
        rad/s and m/s.
    payloads : sequence of Payload
    brakes : sequence of JointBrake
        Whose delays and engagements are milliseconds, and whose torques are near the effort limits.
    """
    return (
        *_rates(mech, qd),
        *masses_below_zero(mech),
        *_payloads(mech, payloads),
        *_times(brakes),
        *_torques(mech, brakes),
    )


def weightless(scene: Scene) -> tuple[str, ...]:
    """Return a sentence on the links that have a shape and no mass and move: they count as without mass."""
    group = rigid_groups(scene.mechanism)
    names = [
        body.name
        for body in scene.mechanism.bodies
        if body.mass == 0 and scene.shapes.get(body.name) and WORLD not in group[body.name]
    ]
    if not names:
        return ()
    return (
        f"links that have a shape and no mass count as without mass, so that forces and travels may be too small:"
        f" {listed(names)}",
    )


def stated_coordinates(mech: Mechanism, q: JointValues, base: Array | None = None) -> Array:
    """Return q (nq,) as :func:`joint_vector` does, base (nq,) else, with a warning on each implausible coordinate.

    Of a vector those count that are not as in ``base`` or, without one, at home.

    Warns
    -----
    ImplausibleValue
        A coordinate beyond the limits of its joint, or of so many whole radians that degrees are meant.
    """
    found = joint_vector(mech, q, base)
    if q is not None:
        values = dict(zip(mech.q_names, found.tolist(), strict=True))
        own = home(mech) if base is None else base
        changed = [n for n, old in zip(mech.q_names, own.tolist(), strict=True) if values[n] != old]
        warn_of(
            _coordinates(mech, {name: values[name] for name in (q if isinstance(q, Mapping) else changed)})
        )
    return found


def warn_of(sentences: Iterable[str]) -> None:
    """Warn the one who called the package of implausible values, one sentence each.

    Warns
    -----
    ImplausibleValue
        For each sentence; the command line prints each once.
    """
    for sentence in sentences:
        warnings.warn(sentence, ImplausibleValue, stacklevel=_outside())


def meant_in_degrees(pair: Pair | None, value: float) -> bool:
    """Whether a coordinate of more than half a turn, rad, is within the limits of its joint as degrees.

    One that was written in degrees is not.
    """
    if pair is None or len(pair.freedoms) != 1 or not _is_short(value):
        return False
    turns, limits = pair.kind.free[0][0] == "r", pair.freedoms[0]
    return turns and abs(value) > pi and limits.lower <= value * pi / 180 <= limits.upper


def _outside() -> int:
    """Return how many calls above the caller of this function the package was entered."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and _is_own(frame.f_globals.get("__name__", "")):
        depth, frame = depth + 1, frame.f_back
    return depth


def _is_own(module: str) -> bool:
    return module.startswith("mbplugin.") or module == "contextlib"


def _is_short(value: float) -> bool:
    """Whether six digits write a number: whoever wrote it with a unit of angles, such as 300deg, left more."""
    return float(f"{value:g}") == value


def _coordinates(mech: Mechanism, q: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence on every coordinate, rad or m, that is implausible."""
    for name, value in q.items():
        pair = mech.pair_by_name.get(name)
        if pair is None or len(pair.freedoms) != 1:
            continue
        turns, limits = pair.kind.free[0][0] == "r", pair.freedoms[0]
        slack = _ROUNDING * max(1.0, abs(value))
        inside = limits.lower - slack <= value <= limits.upper + slack
        in_degrees = meant_in_degrees(pair, value)
        if inside and not (in_degrees and abs(value) > 2 * pi and value == round(value)):
            continue
        size = in_both(value, *(("rad", "deg") if turns else ("m", "mm")))
        beyond = "more than a turn" if inside else "beyond its limits"
        meant = f"; write {value:g}deg if that is meant" if in_degrees else ""
        yield f"the coordinate of {name} is {size}, {beyond}{meant}"


def masses_below_zero(mech: Mechanism) -> Iterator[str]:
    """Yield a sentence on every body of negative mass."""
    for body in mech.bodies:
        if body.mass < 0:
            yield f"the mass of {body.name} is {body.mass:g} kg, and what follows is no motion of a robot: correct it"


def _rates(mech: Mechanism, qd: Array) -> Iterator[str]:
    """Yield a sentence on every rate of qd (nv,), rad/s and m/s, above its velocity limit."""
    for pair in mech.pairs:
        joint = mech.tree.joint_of_pair.get(pair.name)
        if joint is None or len(pair.freedoms) != 1:
            continue
        limit, rate = pair.freedoms[0].velocity, float(qd[joint.qd.start])
        if not (isfinite(limit) and 0 < limit * _ABOVE < abs(rate)):
            continue
        turns = pair.kind.free[0][0] == "r"
        unit, other, size = ("rad/s", "deg/s", pi / 180) if turns else ("m/s", "mm/s", 1e-3)
        fits = abs(rate) * size <= limit * _ABOVE and _is_short(rate)
        meant = f"; write {rate:g}{other} if that is meant" if fits else ""
        yield (
            f"the rate of {pair.name} is {in_both(rate, unit, other)}, above its velocity limit of"
            f" {in_both(limit, unit, other)}{meant}"
        )


def _payloads(mech: Mechanism, payloads: Sequence[Payload]) -> Iterator[str]:
    own = sum(body.mass for body in mech.bodies)
    carried = sum(payload.mass for payload in payloads)
    if 0 < own < carried:
        meant = f"; write {carried:g}g if that is meant" if carried * 1e-3 <= own else ""
        yield (
            f"the payload is {in_both(carried, 'kg', 'g')}, more than the whole robot"
            f" ({in_both(own, 'kg', 'g')}){meant}"
        )


def _times(brakes: Sequence[JointBrake]) -> Iterator[str]:
    for brake in brakes:
        for name, value in (("delay", brake.delay), ("engagement", brake.engagement)):
            if value > _SLOWEST:
                meant = f"; write {value:g}ms if that is meant" if value * 1e-3 <= _SLOWEST else ""
                yield f"the {name} of the brake of {brake.joint} is {value:g} s{meant}"


def _torques(mech: Mechanism, brakes: Sequence[JointBrake]) -> Iterator[str]:
    for brake in brakes:
        effort = mech.pair_by_name[brake.joint].freedoms[0].effort
        if isfinite(effort) and brake.law.static > _STRONGEST * effort > 0:
            unit = units_of(brake.freedom).force
            yield (
                f"the brake of {brake.joint} holds {brake.law.static:g} {unit}, {brake.law.static / effort:.0f} times"
                f" the effort limit of the joint, {effort:g} {unit}"
            )
