"""Which pair can replace which: the same frames, fewer constrained components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mbplugin.mechanism.pair import Pair
from mbplugin.spatial import Array

#: How readily a workshop makes the pair; a lower cost is offered first.
_COST = {
    "revolute": 1.0,
    "prismatic": 1.0,
    "cylindrical": 1.0,
    "spherical": 1.0,
    "universal": 1.0,
    "planar": 1.5,
    "point-on-line": 1.5,
    "point-on-plane": 3.0,
}
_AXES = {axis: np.eye(3)[k] for k, axis in enumerate("xyz")}


@dataclass(frozen=True, eq=False)
class Replacement:
    """A weaker pair type in place of a pair.

    Parameters
    ----------
    pair, type : str
    axis : (3,) array or None
        New joint axis (for a universal joint the second cross axis) in axes of P.
    released : tuple of str
        The components that are no longer constrained.
    cost : float
    """

    pair: str
    type: str
    axis: Array | None
    released: tuple[str, ...]
    cost: float


def replacements(pair: Pair) -> Iterator[Replacement]:
    """Yield the catalogue pairs that constrain a proper subset of what a pair constrains."""
    if pair.type in ("screw", "distance"):
        return
    held = set(pair.kind.constrained)
    for type_, axis, kept in _variants(pair.type):
        if kept < held:
            released = tuple(c for c in pair.kind.constrained if c not in kept)
            yield Replacement(pair.name, type_, axis, released, _COST[type_])


def _variants(current: str) -> Iterator[tuple[str, Array | None, set[str]]]:
    """Yield (type, axis, constrained components in the current P) in every coordinate direction."""
    everything = {f"{kind}{axis}" for kind in "tr" for axis in "xyz"}
    points = {"tx", "ty", "tz"}
    yield "spherical", None, points
    if current == "universal":
        # its row lies along the cross product of the axes, so no other rotation can be kept
        return
    for k, direction in _AXES.items():
        i, j = (a for a in "xyz" if a != k)
        axis = None if k == "z" else direction
        yield "revolute", axis, everything - {f"r{k}"}
        yield "prismatic", axis, everything - {f"t{k}"}
        yield "cylindrical", axis, everything - {f"t{k}", f"r{k}"}
        yield "planar", axis, {f"t{k}", f"r{i}", f"r{j}"}
        yield "point-on-line", axis, points - {f"t{k}"}
        yield "point-on-plane", axis, {f"t{k}"}
        if k != "z":
            # the first cross axis is the old joint axis z, the second one is k
            yield "universal", direction, points | {"ry" if k == "x" else "rx"}
