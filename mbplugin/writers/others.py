"""What a scene states besides bodies and joints, as clauses for formats that have no place for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import isfinite

from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.scene import Scene
from mbplugin.phrases import counted, listed

#: Fields of a scene, and what one entry is called.
_NOUNS = {
    "loads": "load",
    "payloads": "payload",
    "brakes": "brake",
    "ramps": "ramp",
    "springs": "spring",
    "stiffness": "stiffness",
    "locks": "timed lock",
    "holds": "timed constraint",
    "misfits": "misfit",
    "shapes": "body with shapes",
    "actuators": "actuator",
}
_PLURALS = {"stiffness": "stiffnesses", "shapes": "bodies with shapes"}


def unwritten(scene: Scene, written: Collection[str] = ()) -> Iterator[str]:
    """Yield a clause per field of a scene that is not empty and that the writer does not write."""
    for field, noun in _NOUNS.items():
        number = len(getattr(scene, field))
        if number and field not in written:
            yield f"{counted(number, noun, _PLURALS.get(field, ''))} of the scene"


def unwritten_constraints(mech: Mechanism, written: Collection[str] = ()) -> Iterator[str]:
    """Yield a clause per kind of constraint that is no pair and that the writer does not write."""
    for field, noun in (
        ("couplings", "coupling"),
        ("drivers", "driver"),
        ("locks", "lock"),
        ("pfaffians", "velocity constraint"),
    ):
        names = [constraint.name for constraint in getattr(mech, field)]
        if names and field not in written:
            yield f"{counted(len(names), noun)}: {listed(names)}"


def states_freedom(pair: Pair) -> bool:
    """Return whether a pair has limits, a drive, damping or friction."""
    return any(freedom != Freedom() for freedom in pair.freedoms)


def limited(freedom: Freedom) -> bool:
    """Return whether a freedom has a limit on either side."""
    return isfinite(freedom.lower) or isfinite(freedom.upper)
