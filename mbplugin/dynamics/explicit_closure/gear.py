"""Couplings: one coordinate as a linear function of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.explicit_closure.layout import Layout
from mbplugin.model.mechanism.coupling import Coupling
from mbplugin.model.spatial import Array


@dataclass(frozen=True)
class GearStep:
    """The last unknown coordinate of a coupling.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    joint : str
        Its pair.
    at, rate : int
        Its coordinate and rate.
    others_at, known : tuple of int
        Coordinates and rates of the other terms.
    ratios : tuple of float
        Rate of the unknown per rate of each other term.
    offset : float
        Of the unknown, rad or m.
    """

    joint: str
    at: int
    rate: int
    others_at: tuple[int, ...]
    known: tuple[int, ...]
    ratios: tuple[float, ...]
    offset: float

    kind = "coupling"
    branch = 0
    reason = ""

    @property
    def joints(self) -> tuple[str, ...]:
        """The unknown's name."""
        return (self.joint,)

    @property
    def dependent(self) -> tuple[int, ...]:
        """The unknown's rate."""
        return (self.rate,)

    def closed(self, y: Array) -> Array:
        """Return y (nq + c,) with the unknown coordinate solved."""
        out = np.array(y)
        out[self.at] = self.offset + np.dot(self.ratios, y[list(self.others_at)])
        return out

    def alternatives(self) -> Iterator[GearStep]:
        """Yield nothing: a coupling has one solution."""
        return iter(())

    def slope(self, y: Array) -> Array:
        """Return the ratios (1, known)."""
        return np.array([self.ratios])

    def bias(self, y: Array, yd: Array) -> Array:
        """Return zero (1,)."""
        return np.zeros(1)

    def margin(self, y: Array) -> float:
        """Return one: a coupling is singular nowhere."""
        return 1.0


def terms(layout: Layout, coupling: Coupling) -> dict[int, tuple[str, int, float]] | None:
    """Return name, coordinate and coefficient of each rate in a coupling; None if some have none."""
    out: dict[int, tuple[str, int, float]] = {}
    for term in coupling.terms:
        if layout.is_cut(term.joint) or term.joint not in layout.places:
            return None
        at, rate = layout.places[term.joint]
        k = layout.mech.pair_by_name[term.joint].kind.free.index(term.freedom)
        before = out[rate + k][2] if rate + k in out else 0.0
        out[rate + k] = (term.joint, at + k, before + term.coefficient)
    return out


def gear(layout: Layout, coupling: Coupling, unknown: int) -> GearStep | None:
    """Return the coupling solved for one rate; None where that has no part in it."""
    members = terms(layout, coupling)
    if members is None or not members[unknown][2]:
        return None
    joint, at, coefficient = members.pop(unknown)
    return GearStep(
        joint,
        at,
        unknown,
        tuple(place for _, place, _ in members.values()),
        tuple(members),
        tuple(-c / coefficient for _, _, c in members.values()),
        coupling.offset / coefficient,
    )
