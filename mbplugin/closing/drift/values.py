"""Drift and noise of closures in an engine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mbplugin.model.component import axis_of, is_turn
from mbplugin.model.mechanism import Mechanism, Pair
from mbplugin.model.mechanism.pair import RowKind
from mbplugin.model.spatial import Array, Pose, vector_from_rotation
from mbplugin.phrases import one_line_repr


@dataclass(frozen=True)
class ClosureDrift:
    """One closure over a motion.

    Parameters
    ----------
    name, type : str
    gap, turn : float
        Largest violation of what it holds, m and rad.
    force, noise : float
        Root mean square of its force, and of the part of it that is white noise, N.
    """

    name: str
    type: str
    gap: float
    turn: float
    force: float
    noise: float


@one_line_repr
@dataclass(frozen=True)
class Drift:
    """All closures of a mechanism in one engine.

    Parameters
    ----------
    engine, version : str
    step : float
        Of the engine, s.
    duration : float
        s.
    closures : tuple of ClosureDrift
    reason : str
        Why the engine has no answer; empty with one.
    """

    engine: str
    version: str = ""
    step: float = 0.0
    duration: float = 0.0
    closures: tuple[ClosureDrift, ...] = ()
    reason: str = ""

    @property
    def gap(self) -> float:
        """The largest gap of all closures, m."""
        return max((one.gap for one in self.closures), default=0.0)

    @property
    def turn(self) -> float:
        """The largest violation of an angle, rad."""
        return max((one.turn for one in self.closures), default=0.0)

    @property
    def noise(self) -> float:
        """The largest noise, N."""
        return max((one.noise for one in self.closures), default=0.0)


@dataclass(frozen=True, eq=False)
class Task:
    """What every engine is given: a mechanism on the ground without limits, at a closed pose and at rest.

    Parameters
    ----------
    mech : Mechanism
    q : (nq,) array
        rad, m.
    closures : tuple of str
        Those that are measured.
    text : str
        The same as MJCF.
    duration : float
        s.
    """

    mech: Mechanism
    q: Array
    closures: tuple[str, ...]
    text: str
    duration: float


@dataclass(eq=False)
class Track:
    """The violations and forces of one closure while a motion goes on."""

    pair: Pair
    gap: float = 0.0
    turn: float = 0.0
    forces: list[Array] = field(default_factory=list)

    def add(self, X_WA: Pose, X_WB: Pose, force: Array) -> None:
        """Take a step: the poses of both bodies, and the force (3,) of the closure in any fixed order, N."""
        gap, turn = violations(self.pair, (X_WA @ self.pair.X_AP).inverse() @ X_WB @ self.pair.X_BS)
        self.gap, self.turn = max(self.gap, gap), max(self.turn, turn)
        self.forces.append(force)

    def result(self) -> ClosureDrift:
        """Return what was seen."""
        forces = np.array(self.forces)
        size = float(np.sqrt((forces**2).sum(axis=1).mean()))
        return ClosureDrift(self.pair.name, self.pair.type, self.gap, self.turn, size, white_noise(forces))


def violations(pair: Pair, X_PS: Pose) -> tuple[float, float]:
    """Return by how much a pose violates what a pair holds: a distance, m, and an angle, rad."""
    kind = pair.kind
    if pair.type == "distance":
        return abs(float(np.linalg.norm(X_PS.p)) - pair.length), 0.0
    held = [c for c in kind.constrained if kind.row_kind(c) is RowKind.AXIS]
    travels = [axis_of(c) for c in held if not is_turn(c)]
    gap = float(np.linalg.norm(X_PS.p[travels])) if travels else 0.0
    turns = [axis_of(c) for c in held if is_turn(c)]
    if len(turns) == 3:
        return gap, float(np.linalg.norm(vector_from_rotation(X_PS.R)))
    if len(turns) == 2:
        # the two axes z, whatever the turn about them is
        z = X_PS.R[:, 2]
        return gap, float(np.arctan2(np.hypot(z[0], z[1]), z[2]))
    if RowKind.CROSSED in kind.kinds.values():
        return gap, abs(float(np.arcsin(np.clip(X_PS.R[0, 1], -1, 1))))
    return gap, 0.0


def white_noise(values: Array) -> float:
    """Return the root mean square of the white noise in ``values`` (n, k), rows in time, from second differences.

    A smooth signal has none; of independent values with the variance s² it is s, summed over the columns.
    """
    if len(values) < 3:
        return 0.0
    second = values[2:] - 2 * values[1:-1] + values[:-2]
    return float(np.sqrt((second**2).sum(axis=1).mean() / 6))
