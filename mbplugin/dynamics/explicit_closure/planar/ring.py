"""A planar loop as a ring of hinges and sliders: E₁(x₁) E₂(x₂) … Eₙ(xₙ) K = 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.explicit_closure.planar.plane import Displacement, Twist
from mbplugin.model.spatial import Array


@dataclass(frozen=True)
class RingJoint:
    """One freedom on the way round a loop.

    Parameters
    ----------
    name : str
        Its pair, for messages.
    twist : Twist
        At zero coordinates, in the plane of the loop.
    at, rate : int
        Its coordinate among the coordinates of the tree and, behind them, of the cut pairs; its rate
        among the rates likewise.
    """

    name: str
    twist: Twist
    at: int
    rate: int

    @property
    def letter(self) -> str:
        """R for a hinge, P for a slider."""
        return "R" if self.twist.omega else "P"


@dataclass(frozen=True)
class Ring:
    """A loop whose joints all move in one plane.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    joints : tuple of RingJoint
        Once round the loop.
    K : Displacement
        What is left of the way round when all coordinates are zero.
    tilt : float
        Largest angle between a hinge and the normal of the plane, or a slider and the plane, rad.
    gap : float
        How far the loop stays open across the plane, m.
    """

    joints: tuple[RingJoint, ...]
    K: Displacement
    tilt: float
    gap: float

    def product(self, y: Array, start: int, stop: int) -> Displacement:
        """Return E_start … E_{stop−1}."""
        out = Displacement()
        for joint in self.joints[start:stop]:
            out = out @ joint.twist.exp(float(y[joint.at]))
        return out

    def twists(self, y: Array) -> list[Twist]:
        """Return the twist of every joint where it is now."""
        out, reached = [], Displacement()
        for joint in self.joints:
            out.append(joint.twist.moved(reached))
            reached = reached @ joint.twist.exp(float(y[joint.at]))
        return out

    def bias(self, twists: list[Twist], yd: Array) -> Array:
        """Return Σ ṫ ẋ (3,), what the rates alone add to the loop's acceleration."""
        body, velocity = Twist(0.0, 0j), 0j
        for joint, twist in zip(self.joints, twists, strict=True):
            rate = float(yd[joint.rate])
            velocity += rate * body.bracket(twist)
            body = body.plus(twist, rate)
        return np.array([0.0, velocity.real, velocity.imag])
