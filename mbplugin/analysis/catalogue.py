"""Which pair can replace which: the same frames, fewer constrained components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array

#: Types that replace others, and how readily a workshop makes each; a lower cost is offered first.
COST = {
    "revolute": 1.0,
    "prismatic": 1.0,
    "cylindrical": 1.0,
    "spherical": 1.0,
    "universal": 1.0,
    "planar": 1.5,
    "point-on-line": 1.5,
    "point-on-plane": 3.0,
}
#: Extra cost of making a joint where two links are one part.
_GLUED = 2.0
_AXES = {axis: np.eye(3)[k] for k, axis in enumerate("xyz")}


@dataclass(frozen=True, eq=False)
class Replacement:
    """A weaker pair type in place of a pair.

    Parameters
    ----------
    axis : (3,) array or None
        New joint axis (for a universal joint the second cross axis) in axes of P.
    released : (c, k) array
        Combinations of the pair's k rows that are no longer constrained.
    """

    pair: str
    type: str
    axis: Array | None
    released: Array
    cost: float


def replacements(pair: Pair, turn: float) -> Iterator[Replacement]:
    """Yield the catalogue pairs that constrain less than a pair does.

    Parameters
    ----------
    turn : float
        Present angle about its z, rad; a universal joint's second axis has turned with it.
    """
    if pair.type in ("screw", "distance"):
        return
    rows = pair.kind.constrained
    glued = _GLUED if pair.type == "fixed" else 0.0
    for type_, axis, kept in _variants(pair.type):
        if kept < set(rows):
            released = np.array([np.eye(len(rows))[rows.index(c)] for c in rows if c not in kept])
            yield Replacement(pair.name, type_, axis, released, COST[type_] + glued)
    if {"tx", "ty", "tz", "rx", "ry"} <= set(rows):
        for axis in (_AXES["x"], _AXES["y"]):
            yield Replacement(
                pair.name, "universal", axis, _second_axis(rows, axis, turn), COST["universal"] + glued
            )


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


def _second_axis(rows: tuple[str, ...], axis: Array, turn: float) -> Array:
    """Return the rotations (k, m) that a universal joint about z and ``axis`` (3,) frees besides those free now.

    One column for each of the m rows.
    """
    now = np.array(
        [np.cos(turn) * axis[0] - np.sin(turn) * axis[1], np.sin(turn) * axis[0] + np.cos(turn) * axis[1]]
    )
    released: Array = np.zeros((1, len(rows)))
    released[0, rows.index("rx")], released[0, rows.index("ry")] = now
    if "rz" in rows:
        about_z = np.eye(len(rows))[[rows.index("rz")]]
        released = np.vstack((released, about_z))
    return released
