"""What the name of a component says: a travel or a turn, its axis, and its units.

``tx`` to ``tz`` lie along the axes of a joint frame, ``rx`` to ``rz`` about them.
"""

from __future__ import annotations

from typing import NamedTuple

from mbplugin.model.enumerations import CoordinateUnit, ReactionUnit
from mbplugin.model.spatial import ROTATION, TRANSLATION


class Units(NamedTuple):
    """Units along a freedom: of its coordinate, its rate, its acceleration, and its force."""

    coordinate: CoordinateUnit
    rate: str
    acceleration: str
    force: ReactionUnit


#: What a component is in words.
MOTION_WORDS = {
    "tx": "translation along x",
    "ty": "translation along y",
    "tz": "translation along z",
    "rx": "rotation about x",
    "ry": "rotation about y",
    "rz": "rotation about z",
}

_OF_TRAVELS = Units("m", "m/s", "m/s²", "N")
_OF_TURNS = Units("rad", "rad/s", "rad/s²", "N·m")


def is_turn(component: str) -> bool:
    """Whether a component is a rotation."""
    return component[0] == "r"


def axis_of(component: str) -> int:
    """Return the number of the axis of a component, 0 to 2."""
    return "xyz".index(component[1])


def half_of(component: str) -> slice:
    """Return the half of a twist, or of a row, in which a component is."""
    return ROTATION if is_turn(component) else TRANSLATION


def units_of(component: str) -> Units:
    """Return the units of a component."""
    return _OF_TURNS if is_turn(component) else _OF_TRAVELS
