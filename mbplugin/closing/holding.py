"""What each format holds of closures and joints, as far as remedies may choose it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mbplugin.analysis.catalogue import COST
from mbplugin.model.mechanism import Freedom, Mechanism, Pair

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
    bare_closures : bool
        Whether closures have no limits, drive, damping and friction.
    several : bool
        Whether joints of several freedoms have them; balls never do.
    """

    closures: frozenset[str]
    joints: frozenset[str]
    in_parts: bool = False
    bare_closures: bool = False
    several: bool = False

    def holds(self, pair: Pair) -> bool:
        """Return whether the format has a closure of the type of a pair, without parts of bodies."""
        return pair.type in self.closures

    def states(self, pair: Pair) -> bool:
        """Return whether the format has a place for limits, a drive, damping and friction of a pair."""
        if pair.closure and (self.bare_closures or (self.in_parts and self.holds(pair))):
            return False
        return len(pair.kind.free) == 1 or (self.several and pair.type != "spherical")

    def lost(self, before: Mechanism, after: Mechanism) -> tuple[str, ...]:
        """Return the pairs of which the format does not keep what one of its freedoms has, once types are changed."""
        names = []
        for pair in before.pairs:
            stated = [freedom for freedom in pair.freedoms if freedom != Freedom()]
            new = after.pair_by_name[pair.name]
            kept = [freedom for freedom in new.freedoms if freedom != Freedom()] if self.states(new) else []
            if len(kept) < len(stated):
                names.append(pair.name)
        return tuple(names)


#: By format. A scene has every type; closures of a URDF are those of ``<loop_joint>``.
HOLDINGS: Mapping[str, Holding] = {
    "scene": Holding(_EVERY | {"fixed", "continuous", "screw", "distance"}, _EVERY, bare_closures=True),
    "sdf": Holding(
        frozenset({"fixed", "revolute", "continuous", "prismatic", "screw", "universal", "spherical"}),
        frozenset({"revolute", "prismatic", "universal", "spherical"}),
        several=True,
    ),
    "usd": Holding(_EVERY | {"fixed", "continuous", "distance"}, _EVERY),
    "urdf": Holding(
        _EVERY | {"fixed", "continuous"},
        frozenset({"revolute", "prismatic", "planar", "spherical"}),
        bare_closures=True,
    ),
    "mjcf": Holding(frozenset({"spherical", "fixed"}), _EVERY, in_parts=True, several=True),
}
