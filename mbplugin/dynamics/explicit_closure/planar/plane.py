"""Displacements and twists of a plane, written with complex numbers.

A point x + i·y of the plane is a complex number. A twist is (ω, v): turning rate and velocity at the
plane's origin. A hinge at z that turns at the rate s is (s, −i·s·z); a slider is (0, direction).
"""

from __future__ import annotations

from cmath import exp
from dataclasses import dataclass


@dataclass(frozen=True)
class Displacement:
    """The displacement p → turn·p + shift.

    Parameters
    ----------
    turn : complex
        exp(i·angle), of modulus one.
    shift : complex
        m.
    """

    turn: complex = 1.0
    shift: complex = 0.0

    def __matmul__(self, other: Displacement) -> Displacement:
        return Displacement(self.turn * other.turn, self.shift + self.turn * other.shift)

    def inverse(self) -> Displacement:
        """Return the displacement that takes this one back."""
        back = self.turn.conjugate()
        return Displacement(back, -back * self.shift)


@dataclass(frozen=True)
class Twist:
    """A unit twist of a joint: turning rate (rad per unit rate) and velocity at the origin (m)."""

    omega: float
    v: complex

    @property
    def pivot(self) -> complex:
        """Where a hinge is; for a slider zero, it has no place."""
        return 1j * self.v / self.omega if self.omega else 0j

    def exp(self, x: float) -> Displacement:
        """Return the displacement after the coordinate x."""
        if not self.omega:
            return Displacement(1.0, self.v * x)
        turn = exp(1j * self.omega * x)
        return Displacement(turn, (1 - turn) * self.pivot)

    def moved(self, by: Displacement) -> Twist:
        """Return the twist of the joint after its place was displaced."""
        return Twist(self.omega, by.turn * self.v - 1j * self.omega * by.shift)

    def bracket(self, other: Twist) -> complex:
        """Return the velocity part of the rate of change of ``other`` carried along by this twist."""
        return 1j * (self.omega * other.v - other.omega * self.v)

    def plus(self, other: Twist, rate: float) -> Twist:
        """Return this twist and another one at a rate."""
        return Twist(self.omega + rate * other.omega, self.v + rate * other.v)
