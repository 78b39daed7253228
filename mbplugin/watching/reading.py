"""What an engine says at one update: state, contacts and forces, in the order of a structure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.model import AnyArray, Array
from mbplugin.watching import Geometry, PairFrames


@dataclass(frozen=True, eq=False)
class Touching:
    """The points at which bodies touch, with the engine's force there.

    Parameters
    ----------
    body, on : (k,) array of int
        The body that is pushed and the one that pushes; the ground is −1.
    point, normal : (k, 3) array
        World axes, the normal into ``body``, m.
    mu : (k,) array
        Coefficients of friction.
    force : (k, 3) array
        On ``body``, world axes, N.
    spin : (k,) array
        Largest moment of rolling and spinning friction per normal force, m; engines do not report the moment.
    """

    body: AnyArray
    on: AnyArray
    point: Array
    normal: Array
    mu: Array
    force: Array
    spin: Array

    def __len__(self) -> int:
        return len(self.body)

    @classmethod
    def none(cls) -> Touching:
        """Return no contacts."""
        none, vectors = np.zeros(0, dtype=int), np.zeros((0, 3))
        return cls(none, none, vectors, vectors, np.zeros(0), vectors, np.zeros(0))


@dataclass(frozen=True, eq=False)
class Reading:
    """The state of a simulation in the step that its forces belong to, and these forces; not a number if unread.

    Parameters
    ----------
    time : float
        Simulated time of the steps that were seen, s; for MuJoCo its own.
    geometry : Geometry
        At the poses at which the forces acted.
    twists : (N, 6) array
        At the centres of mass, at these poses.
    twists_after : (N, 6) array
        After the step: they say what slips.
    rates : (nv,) array
    accelerations : (nv,) array or None
        None if the steps since the last update are unknown.
    positions : (nv,) array
        Of joints with limits, rad and m; not a number for others.
    gravity : (3,) array
        m/s².
    closures : PairFrames
        Frames of the closures now.
    tied : (c,) array
        Forces of the closures and gears, by row, N and N·m.
    drives : (nv,) array
        Force of each drive, N and N·m.
    known : (nv,) array
        Other forces along the joint rates: torques that the script gives, springs, damping, N and N·m.
    applied : (N, 6) array
        Wrenches that the script applies, at the origin, N and N·m.
    sensed : (k, 6) array
        Wrench of each tree pair on its successor, axes of P at the origin of S, N and N·m.
    drag : float
        Damping that the engine may apply to all bodies and does not report: the force on a body is up to
        ``drag`` m v (1 + |v|), and the moment likewise.
    """

    time: float
    geometry: Geometry
    twists: Array
    twists_after: Array
    rates: Array
    accelerations: Array | None
    positions: Array
    gravity: Array
    touching: Touching
    closures: PairFrames
    tied: Array
    drives: Array
    known: Array
    applied: Array
    sensed: Array
    drag: float = 0.0
