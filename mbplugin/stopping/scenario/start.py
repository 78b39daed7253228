"""A time in a motion at which a stop begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Protocol

import numpy as np

from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.mechanism.kinematics import JointValues, joint_vector
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr
from mbplugin.stopping.scenario.recording import read_recording

State = tuple[Array, Array, Array]


class Start(Protocol):
    """A moment in a motion."""

    def state(self, mech: Mechanism, q: Array) -> State:
        """Return coordinates, rates and accelerations; ``q`` (nq,) is the pose of what is not moved."""
        ...


@one_line_repr
@dataclass(frozen=True)
class Recorded:
    """A moment of a recorded motion.

    Parameters
    ----------
    file : str or Path
        A CSV table: a column ``time`` (s) and one per joint coordinate, ``NAME`` or ``q NAME``, rad or
        m, with rates in ``qd NAME``; units in brackets are allowed, other columns are not looked at. Or
        the ``.npz`` of a trajectory.
    at : float
        s, in the time of the file.
    """

    file: str | Path
    at: float

    def state(self, mech: Mechanism, q: Array) -> State:
        """Return the state of a cubic spline through the samples, with the rates if they are recorded; q (nq,)."""
        return read_recording(Path(self.file), mech.q_names).state(mech, q, self.at)


@one_line_repr
@dataclass(frozen=True)
class Move:
    """A moment of a move in joint space: straight, all joints together, with a trapezoidal speed.

    Parameters
    ----------
    start, goal : mapping or vector
        Joint coordinates, rad or m.
    at : float
        s after the move has begun.
    speed : mapping
        Highest rate by joint, rad/s or m/s; by default the velocity limits of the file.
    acceleration_time : float
        To full speed, and from it to rest, s.
    """

    start: JointValues
    goal: JointValues
    at: float
    speed: Mapping[str, float] = field(default_factory=dict)
    acceleration_time: float = 0.25

    def state(self, mech: Mechanism, q: Array) -> State:
        """Return the state on the straight line between both poses; ``q`` (nq,).

        Raises
        ------
        BadNumber
            The acceleration time is no time.
        BadUsage
            A speed is not positive, or the signal is not within the move.
        """
        first, last = joint_vector(mech, self.start, q), joint_vector(mech, self.goal, q)
        if not (isfinite(self.acceleration_time) and self.acceleration_time >= 0):
            raise BadNumber(
                f"the acceleration time is {self.acceleration_time:g}", expected="s, not negative"
            )
        change = last - first
        full = max(abs(change[i]) / self._speed(mech, i) for i in range(len(change))) if change.any() else 0.0
        s, rate, acceleration = trapezoid(full, self.acceleration_time, self.at)
        qd, qdd = np.zeros(len(mech.qd_names)), np.zeros(len(mech.qd_names))
        for i in np.flatnonzero(change).tolist():
            k = mech.qd_names.index(mech.q_names[i])
            qd[k], qdd[k] = rate * change[i], acceleration * change[i]
        return first + s * change, qd, qdd

    def _speed(self, mech: Mechanism, i: int) -> float:
        name = mech.q_names[i]
        if name not in mech.qd_names:
            return np.inf
        value = self.speed.get(name)
        if value is None:
            joint = next(j for j in mech.tree.joints if j.q.start <= i < j.q.stop)
            value = joint.pair.freedoms[i - joint.q.start].velocity if joint.pair else np.inf
        if not (isfinite(value) and value > 0):
            raise BadUsage(
                f"the speed of joint {name!r} is {value:g}",
                expected="a positive number, stated or as its velocity limit",
            )
        return float(value)


def trapezoid(full: float, ramp: float, t: float) -> tuple[float, float, float]:
    """Return path 0 … 1, rate and acceleration at a time of a move whose slowest joint needs ``full``.

    Parameters
    ----------
    full : float
        The whole way at full speed, s.
    ramp : float
        From rest to full speed, s; a short way is done at lower speed with the same acceleration.

    Raises
    ------
    BadUsage
        The signal is not within the move.
    """
    if full <= 0:
        return 1.0, 0.0, 0.0
    if ramp > full:
        full = ramp = float(np.sqrt(full * ramp))
    end = full + ramp
    if not (isfinite(t) and 0 <= t <= end):
        raise BadUsage(f"the signal comes at {t:g} s", expected=f"a time in the move, 0 to {end:.6g} s")
    speed = 1.0 / full
    if ramp == 0.0:
        return speed * t, speed, 0.0
    acceleration = speed / ramp
    if t < ramp:
        return 0.5 * acceleration * t**2, acceleration * t, acceleration
    if t <= full:
        return speed * (t - 0.5 * ramp), speed, 0.0
    left = end - t
    return 1.0 - 0.5 * acceleration * left**2, acceleration * left, -acceleration
