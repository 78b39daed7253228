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
from mbplugin.stopping.table.reach import Reach

#: Angles tried for the axis that moves.
_TRIED = 72
#: Room to a limit for the axis that moves, and for joints that stand and may slip, rad.
_MOVING, _STANDING = 0.35, 0.02
#: Values at which a zero is looked for, and how often between two of them.
_SOUGHT, _ZOOMS = 181, 4
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
        if share < 1.0 and self.bends(axis):
            q = self._drawn_in(axis, q, share * full)
        q, sense = self._hardest(axis, q)
        q = self._rounded(q)
        found = self.extension(axis, q)
        return ExtensionPose(q, found, found / full if full > 0 else 1.0, sense)

    def bends(self, axis: str) -> bool:
        """Whether the last axis of the table, which bends the arm, is beyond an axis."""
        return self._names.index(self._axes[-1]) > self._names.index(axis)

    def extension(self, axis: str, q: Array) -> float:
        """Return the distance of the tool from an axis at a pose q (nq,), m."""
        reach = self._reach(axis, q)
        return float(reach.distances(reach.q[None])[0])

    def _reach(self, axis: str, q: Array) -> Reach:
        """Return the tool's reach from an axis, whose place is that at a pose q (nq,)."""
        first = self._names.index(axis)
        poses, beyond = forward(self._mech, q), self._chain[first + 1 :]
        S, point = joint_axes(self._mech, self._chain[first], poses)
        places = [joint_axes(self._mech, joint, poses) for joint in beyond]
        ranges = np.array([_range(joint, _STANDING) for joint in beyond]).reshape(-1, 2)
        return Reach(
            S[3:, 0],
            point,
            np.array([twist[:, 0] for twist, _ in places]).reshape(-1, 6),
            np.array([place for _, place in places]).reshape(-1, 3),
            q[self._coordinates(axis)],
            ranges[:, 0],
            ranges[:, 1],
            self._machine.tool_at(q),
        )

    def _coordinates(self, axis: str) -> list[int]:
        """Return the indices in q of the joints beyond an axis."""
        return [joint.q.start for joint in self._chain[self._names.index(axis) + 1 :]]

    def _stretch(self, axis: str) -> Array:
        """Return the pose (nq,) with the tool farthest from an axis, joints in front as for the axis before."""
        first = self._names.index(axis)
        leading = [a for a in self._axes[:2] if a != axis and self._names.index(a) < first]
        q = self._stretch(leading[-1]) if leading else self._middle()
        q[self._coordinates(axis)] = self._reach(axis, q).extreme()
        return self._hardest(axis, q)[0]

    def _middle(self) -> Array:
        """Return the pose (nq,) nearest to zero that is within all limits with some room, rad and m."""
        q = np.array(self._machine.scenario.q)
        for joint in self._chain:
            low, high = _range(joint, _MOVING)
            q[joint.q.start] = min(max(0.0, low), high)
        return q

    def _drawn_in(self, axis: str, q: Array, wanted: float) -> Array:
        """Return the stretched pose q (nq,) drawn in as little as brings the tool to a distance, m.

        The last axis of the table bends for it; where that does not do, all joints go on the straight way to the
        pose in which the tool is nearest to the axis.
        """
        reach, own = self._reach(axis, q), self._coordinates(axis)
        bent = self._names.index(self._axes[-1]) - self._names.index(axis) - 1
        bend = np.eye(len(own))[bent]
        start = reach.q[bent]
        found = _crossing(
            lambda t: reach.distances(reach.q + np.outer(t - start, bend)) - wanted,
            (reach.low[bent], reach.high[bent]),
            start,
        )
        out = q.copy()
        if found is not None:
            out[own[bent]] = found
            return np.asarray(out)
        way = reach.extreme(-1.0) - reach.q
        found = _crossing(lambda t: reach.distances(reach.q + np.outer(t, way)) - wanted, (0.0, 1.0), 0.0)
        # nearer than the nearest it does not come
        out[own] = reach.q + (1.0 if found is None else found) * way
        return np.asarray(out)

    def _rounded(self, q: Array) -> Array:
        """Return a pose q (nq,) that can be read and typed, as far as limits leave it."""
        q = q.copy()
        for joint in self._chain:
            i, (low, high) = joint.q.start, _range(joint, _STANDING)
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
        low, high = _range(joint, _MOVING)
        candidates = np.append(np.linspace(low, high, _TRIED), q[i])
        values = []
        for candidate in candidates:
            q[i] = candidate
            values.append(value(q))
        # among equals the one that is nearest to zero
        best = max(values)
        near = [c for c, v in zip(candidates, values, strict=True) if v >= best - 1e-9 * max(abs(best), 1.0)]
        q[i] = min(near, key=abs)


def _range(joint: TreeJoint, room: float) -> tuple[float, float]:
    """Return the values a joint may take, each once, with some room (rad) from the limits of one that turns."""
    assert joint.pair is not None
    freedom = joint.pair.freedoms[0]
    low, high = freedom.lower, freedom.upper
    if not is_turn(joint.pair.kind.free[0]):
        return (low if np.isfinite(low) else -1.0, high if np.isfinite(high) else 1.0)
    room = min(room, 0.25 * (high - low))
    low, high = low + room, high - room
    if high - low > 2 * np.pi:
        # the turn that is nearest to zero
        low = min(max(low, -np.pi), high - 2 * np.pi)
        high = low + 2 * np.pi
    return low, high


def _crossing(function: Callable[[Array], Array], ends: tuple[float, float], near: float) -> float | None:
    """Return the zero of a function of values (n,) between two ends that is nearest to a value; None without one."""
    low, high = ends
    for _ in range(_ZOOMS):
        t = np.linspace(low, high, _SOUGHT)
        values = function(t)
        changes = np.flatnonzero(values[:-1] * values[1:] <= 0)
        if not len(changes):
            return None
        k = changes[np.abs(t[changes] - near).argmin()]
        low, high = t[k], t[k + 1]
    return float(low + high) / 2
