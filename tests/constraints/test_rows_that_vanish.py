"""Rows that vanish: outside the plane that is looked at, and couplings whose terms cancel each other."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.mechanism import WORLD, Body, Coupling, Mechanism, Term
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose


def at(x: float, y: float) -> Pose:
    return Pose(np.eye(3), np.array([x, y, 0.0]))


def two_cranks(*closures: Pair) -> Mechanism:
    """Two bodies on hinges about z at (0, 0) and (1, 0) m, with closures between them."""
    bodies = tuple(Body(name, 1.0, np.zeros(3), np.eye(3)) for name in "ab")
    hinges = (
        Pair("ha", "revolute", WORLD, "a", at(0, 0), at(0, 0)),
        Pair("hb", "revolute", WORLD, "b", at(1, 0), at(0, 0)),
    )
    return Mechanism("two cranks", bodies, (*hinges, *closures))


def on_plane() -> Pair:
    """Its one row is along z."""
    return Pair("slab", "point-on-plane", "a", "b", at(0.5, 1), at(-0.5, 1), closure=True)


def rod() -> Pair:
    """A rod of length 1 m along x between points at y = 1 m."""
    return Pair("rod", "distance", "a", "b", at(0, 1), at(0, 1), closure=True, length=1.0)


def pin() -> Pair:
    return Pair("pin", "revolute", "a", "b", at(0.5, 1), at(-0.5, 1), closure=True)


@pytest.mark.parametrize("order", [1, -1], ids=["vanishing first", "vanishing last"])
@pytest.mark.parametrize(
    ("closure", "mobility", "redundancy"),
    # in the plane: 6 coordinates, 4 rows of hinges; the rod takes one more, the pin two
    [(rod, 1, 0), (pin, 0, 0)],
)
def test_mobility_in_the_plane(closure, mobility: int, redundancy: int, order: int) -> None:
    closures = (on_plane(), closure())[::order]
    found = mb.analyze(two_cranks(*closures), planar="xy")
    assert (found.dof, found.degree_of_redundancy) == (mobility, redundancy)


@pytest.mark.parametrize("turn", [0.0, 1e-11], ids=["exactly", "but for rounding"])
def test_a_coupling_of_a_hinge_with_itself_says_nothing(turn: float) -> None:
    """A second hinge on the same axis, back from b to a, turns by −q: coupled with q, 0 = 0."""
    c, s = np.cos(turn), np.sin(turn)
    tilted = Pose(np.array([[1.0, 0.0, 0.0], [0.0, -c, s], [0.0, -s, -c]]), np.zeros(3))
    back = Pair("back", "revolute", "b", "a", tilted, tilted, closure=True)
    bodies = tuple(Body(name, 1.0, np.zeros(3), np.eye(3)) for name in "ab")
    hinges = (
        Pair("base", "revolute", WORLD, "a", at(0, 0), at(0, 0)),
        Pair("arm", "revolute", "a", "b", at(0, 0), at(0, 0)),
    )
    mimic = Coupling("mimic", "mimic", (Term("back", "rz", 1.0), Term("arm", "rz", -1.0)))
    found = mb.analyze(Mechanism("twice", bodies, (*hinges, back), couplings=(mimic,)))
    # both hinges stay free; the five rows of the second one, and that of the coupling, are too many
    assert (found.dof, found.degree_of_redundancy) == (2, 6)
