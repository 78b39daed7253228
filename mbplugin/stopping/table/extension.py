"""Poses of a stopping table: the arm stretched out or retracted, with the largest load on the axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mbplugin.model.component import is_turn
from mbplugin.model.mechanism.kinematics import forward, joint_axes
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import Array
from mbplugin.stopping.compiled.batch import CompiledStop
from mbplugin.stopping.table.axes import moving_chain

#: Angles tried per joint, sweeps over all joints, and the room left to a limit, rad.
_TRIED, _SWEEPS, _MARGIN = 72, 3, 0.35
#: Of the coordinates of a pose, rad and m.
_DECIMALS = 6


@dataclass(frozen=True, eq=False)
class ExtensionPose:
    """A pose in which an axis is stopped.

    Parameters
    ----------
    q : (nq,) array
    extension : float
        Distance of the tool from the axis, m.
    share : float
        Of the largest one.
    sense : float
        +1 or −1: the sense in which the axis moves, down where gravity pulls on it.
    """

    q: Array
    extension: float
    share: float
    sense: float


class ExtensionPoses:
    """Finds the poses of one robot."""

    def __init__(self, compiled: CompiledStop, axes: tuple[str, ...]) -> None:
        self._machine, self._mech = compiled, compiled.scenario.mech
        self._chain = moving_chain(self._mech, compiled.scenario.tool)
        self._names = [joint.pair.name for joint in self._chain if joint.pair is not None]
        self._axes = axes
        self._stretched = {axis: self._stretch(axis) for axis in axes}

    def pose(self, axis: str, share: float) -> ExtensionPose:
        """Return the pose at a share of the largest extension: the last axis of the table is bent for it."""
        q = self._stretched[axis].copy()
        full = self.extension(axis, q)
        bent = self._axes[-1]
        if share < 1.0 and self.bends(axis):
            q = self._bent(axis, bent, q, share * full)
        q, sense = self._hardest(axis, q)
        q = self._rounded(q)
        found = self.extension(axis, q)
        return ExtensionPose(q, found, found / full if full > 0 else 1.0, sense)

    def bends(self, axis: str) -> bool:
        """Whether the last axis of the table, which bends the arm, is beyond an axis."""
        return self._names.index(self._axes[-1]) > self._names.index(axis)

    def extension(self, axis: str, q: Array) -> float:
        """Return the distance of the tool from an axis at a pose q (nq,), m."""
        joint = self._chain[self._names.index(axis)]
        S, point = joint_axes(self._mech, joint, forward(self._mech, q))
        return _distance(S, point, self._machine.tool_at(q))

    def _stretch(self, axis: str) -> Array:
        """Return the pose (nq,) with the tool farthest from an axis, joints in front as for the axis before."""
        first = self._names.index(axis)
        leading = [a for a in self._axes[:2] if a != axis and self._names.index(a) < first]
        q = self._stretch(leading[-1]) if leading else self._middle()
        joint = self._chain[first]
        S, point = joint_axes(self._mech, joint, forward(self._mech, q))
        for _ in range(_SWEEPS):
            for other in self._chain[first + 1 :]:
                self._best(other, q, lambda q: _distance(S, point, self._machine.tool_at(q)))
        return self._hardest(axis, q)[0]

    def _middle(self) -> Array:
        """Return the pose (nq,) nearest to zero that is within all limits with some room, rad and m."""
        q = np.array(self._machine.scenario.q)
        for joint in self._chain:
            low, high = _range(joint)
            q[joint.q.start] = min(max(0.0, low), high)
        return q

    def _bent(self, axis: str, bent: str, q: Array, wanted: float) -> Array:
        """Return the pose q (nq,) with one joint bent as little as brings the tool to a distance, m."""
        joint = self._chain[self._names.index(bent)]
        i, best = joint.q.start, (np.inf, 0.0)
        low, high = _range(joint)
        for angle in np.linspace(low, high, 4 * _TRIED):
            trial = q.copy()
            trial[i] = angle
            miss = abs(self.extension(axis, trial) - wanted)
            best = min(best, (miss + 1e-3 * abs(angle - q[i]), float(angle)))
        out = q.copy()
        out[i] = best[1]
        return np.asarray(out)

    def _rounded(self, q: Array) -> Array:
        """Return a pose q (nq,) that can be read and typed, as far as limits leave it."""
        q = q.copy()
        for joint in self._chain:
            i, (low, high) = joint.q.start, _range(joint)
            value = round(float(q[i]), _DECIMALS)
            q[i] = value if low <= value <= high else q[i]
        return q

    def _hardest(self, axis: str, q: Array) -> tuple[Array, float]:
        """Return the pose q (nq,) with the axis turned to where gravity pulls most, and the sense of its pull."""
        joint = self._chain[self._names.index(axis)]
        i = joint.q.start

        def pull(q: Array) -> float:
            ahead, behind = q.copy(), q.copy()
            ahead[i] += 1e-4
            behind[i] -= 1e-4
            return (self._machine.potential(behind) - self._machine.potential(ahead)) / 2e-4

        q = q.copy()
        weight = abs(float(self._machine.model.composites["weight"].sum(axis=0) @ np.ones(3)))
        if joint.pair is not None and is_turn(joint.pair.kind.free[0]):
            before = q[i]
            self._best(joint, q, lambda q: abs(pull(q)))
            if abs(pull(q)) < 1e-6 * max(weight, 1e-9):
                q[i] = before
        return q, (1.0 if pull(q) >= -1e-9 else -1.0)

    def _best(self, joint: TreeJoint, q: Array, value: Callable[[Array], float]) -> None:
        """Turn one joint of q (nq,) in place to where a function of the pose is largest."""
        i = joint.q.start
        low, high = _range(joint)
        candidates = np.append(np.linspace(low, high, _TRIED), q[i])
        values = []
        for candidate in candidates:
            q[i] = candidate
            values.append(value(q))
        # among equals the one that is nearest to zero
        best = max(values)
        near = [c for c, v in zip(candidates, values, strict=True) if v >= best - 1e-9 * max(abs(best), 1.0)]
        q[i] = min(near, key=abs)


def _range(joint: TreeJoint) -> tuple[float, float]:
    """Return the values a joint may take, some room from its limits."""
    assert joint.pair is not None
    freedom = joint.pair.freedoms[0]
    turns = is_turn(joint.pair.kind.free[0])
    low = max(freedom.lower, -np.pi if turns else -1.0)
    high = min(freedom.upper, np.pi if turns else 1.0)
    room = min(_MARGIN if turns else 0.0, 0.25 * (high - low))
    return low + room, high - room


def _distance(S: Array, point: Array, tool: Array) -> float:
    """Return the distance of the tool (3,) from an axis, or along it where it slides, m.

    S (6, f) and a point (3,) on the axis are those of ``joint_axes``, world.
    """
    turns, way = S[3:, 0], tool - point
    if not turns.any():
        return float(np.linalg.norm(way))
    return float(np.linalg.norm(way - (way @ turns) * turns))
