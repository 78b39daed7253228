"""What each format holds of closures and joints, as far as remedies may choose it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mbplugin.analysis.catalogue import COST
from mbplugin.model.mechanism import Pair

_EVERY = frozenset(COST)


@dataclass(frozen=True)
class Holding:
    """The types that a format has.

    Parameters
    ----------
    closures : frozenset of str
        For closures.
    joints : frozenset of str
        For joints of the tree.
    in_parts : bool
        Whether a closure of any other type is held by a part of a body that is welded to the rest.
    """

    closures: frozenset[str]
    joints: frozenset[str]
    in_parts: bool = False

    def holds(self, pair: Pair) -> bool:
        """Return whether the format has a closure of the type of a pair, without parts of bodies."""
        return pair.type in self.closures


#: By format. A scene has every type; closures of a URDF are those of ``<loop_joint>``.
HOLDINGS: Mapping[str, Holding] = {
    "scene": Holding(_EVERY | {"fixed", "continuous", "screw", "distance"}, _EVERY),
    "sdf": Holding(
        frozenset({"fixed", "revolute", "continuous", "prismatic", "screw", "universal", "spherical"}),
        frozenset({"revolute", "prismatic", "universal", "spherical"}),
    ),
    "usd": Holding(_EVERY | {"fixed", "continuous", "distance"}, _EVERY),
    "urdf": Holding(
        _EVERY | {"fixed", "continuous"},
        frozenset({"revolute", "prismatic", "planar", "spherical"}),
    ),
    "mjcf": Holding(frozenset({"spherical", "fixed"}), _EVERY, in_parts=True),
}
