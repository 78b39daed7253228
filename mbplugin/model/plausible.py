"""Numbers that are probably mistyped or in another unit: degrees for radians, grams for kilograms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, pi

from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import Array
from mbplugin.model.units import in_both

#: Relative to a velocity limit; full speed is the limit itself.
_ABOVE = 1.0 + 1e-6


def implausible(mech: Mechanism, qd: Array, payloads: Sequence[Payload] = ()) -> tuple[str, ...]:
    """Return a sentence on every rate above its limit, on masses below zero, and on payloads above the robot's mass.

    Parameters
    ----------
    mech : Mechanism
    qd : (nv,) array
        rad/s and m/s.
    payloads : sequence of Payload
    """
    return (*_rates(mech, qd), *_masses(mech), *_payloads(mech, payloads))


def in_degrees(mech: Mechanism, q: Mapping[str, float]) -> Iterator[str]:
    """Yield a sentence on every coordinate, rad, that is within the limits of its joint only as degrees."""
    for name, value in q.items():
        pair = mech.pair_by_name.get(name)
        if pair is None or len(pair.freedoms) != 1 or pair.kind.free[0][0] != "r":
            continue
        lower, upper = pair.freedoms[0].lower, pair.freedoms[0].upper
        if not lower <= value <= upper and lower <= value * pi / 180 <= upper and abs(value) > pi:
            yield (
                f"the coordinate of {name} is {in_both(value, 'rad', 'deg')}, beyond its limits; write"
                f" {value:g}deg if that is meant"
            )


def _masses(mech: Mechanism) -> Iterator[str]:
    for body in mech.bodies:
        if body.mass < 0:
            yield f"the mass of {body.name} is {body.mass:g} kg, and what follows is no motion of a robot: correct it"


def _rates(mech: Mechanism, qd: Array) -> Iterator[str]:
    """Yield a sentence on every rate of qd (nv,), rad/s and m/s, above its velocity limit."""
    for pair in mech.pairs:
        joint = mech.tree.joint_of_pair.get(pair.name)
        if joint is None or len(pair.freedoms) != 1:
            continue
        limit, rate = pair.freedoms[0].velocity, abs(float(qd[joint.qd.start]))
        if not (isfinite(limit) and 0 < limit * _ABOVE < rate):
            continue
        turns = pair.kind.free[0][0] == "r"
        unit, other, size = ("rad/s", "deg/s", pi / 180) if turns else ("m/s", "mm/s", 1e-3)
        meant = f"; write {rate:g}{other} if that is meant" if rate * size <= limit * _ABOVE else ""
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
