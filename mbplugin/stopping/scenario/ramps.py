"""Controlled deceleration: joints keep their rates for the delay, then decelerate at constant rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class Ramps:
    """Led motion in closed form, joint by joint.

    Parameters
    ----------
    q, v : (n,) array
        Coordinates and rates at the signal, rad and m, per second.
    delay, deceleration : (n,) array
        Until the ramp starts, s; rad/s² or m/s², positive.
    """

    q: Array
    v: Array
    delay: Array
    deceleration: Array

    @property
    def ends(self) -> Array:
        """When each joint has come to rest (n,), s from the signal; 0 for one that rests."""
        return np.where(self.v != 0.0, self.delay + np.abs(self.v) / self.deceleration, 0.0)

    def at(self, time: float | Array) -> tuple[Array, Array]:
        """Return coordinates and rates (n,) at a time, s; (k, n) at times (k, 1)."""
        sense = np.sign(self.v)
        led = np.minimum(np.maximum(time - self.delay, 0.0), np.abs(self.v) / self.deceleration)
        before = np.where(self.v != 0.0, np.minimum(time, self.delay), 0.0)
        q = self.q + self.v * (before + led) - 0.5 * sense * self.deceleration * led**2
        rate = np.where(time >= self.ends, 0.0, self.v - sense * self.deceleration * led)
        return q, rate

    def limit_time(self, lower: Array, upper: Array) -> float:
        """Return when the first joint moves past a bound, lower (n,) or upper (n,), s; infinite where none does."""
        times = [np.inf]
        for k in np.flatnonzero(self.v).tolist():
            v, a = abs(float(self.v[k])), float(self.deceleration[k])
            room = float(upper[k] - self.q[k] if self.v[k] > 0 else self.q[k] - lower[k])
            room = max(room, 0.0)
            left = room - v * float(self.delay[k])
            if left <= 0.0:
                times.append(room / v)
            elif v * v > 2.0 * a * left * (1.0 + 1e-12):
                times.append(float(self.delay[k]) + (v - float(np.sqrt(v * v - 2.0 * a * left))) / a)
        return min(times)

    def pieces(self, end: float) -> Array:
        """Return the motion up to a time (s) as pieces (k, 7, n): see :func:`~.tool_path.path_length`."""
        marks = np.unique(np.concatenate(([0.0, end], self.delay, self.ends)).clip(0.0, end))
        out, middle = np.zeros((len(marks), 7, len(self.q))), 0.5 * (marks[:-1, None] + marks[1:, None])
        ramping = (self.v != 0.0) & (middle > self.delay) & (middle < self.ends)
        q, rate = self.at(marks[:, None])
        out[:-1, 0, 0] = np.diff(marks)
        out[:-1, 1], out[:-1, 2] = q[:-1], rate[:-1]
        out[:-1, 4], out[:-1, 5] = q[1:], rate[1:]
        out[:-1, 3] = out[:-1, 6] = np.where(ramping, -np.sign(self.v) * self.deceleration, 0.0)
        return out
