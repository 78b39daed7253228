"""How far a tool is from an axis over the joints beyond it, and where it is farthest or nearest.

The distance has many local maxima. In one coordinate it is known in closed form: d² = b' G b with
b = (1, cos q, sin q, q), so that many poses climb at once, each to the best value of its whole range.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.model.spatial import Array, skew

#: Poses that climb at once, sweeps over their joints, angles tried per joint; and those that Newton's method ends.
_STARTS, _SWEEPS, _TRIED, _ENDED = 96, 6, 73, 4
_STEPS, _DAMPING = 60, 1e-3
#: Distances closer than this share are equal: then the pose nearer to zero is taken.
_EQUAL = 1e-9
#: Corners of the range that are tried, at most; poses nearer than this are one, rad and m.
_CORNERS, _ONE = 32, 0.3


@dataclass(frozen=True, eq=False)
class Reach:
    """A tool, an axis, and the joints between them, as they are at a pose ``q``.

    Parameters
    ----------
    axis, point : (3,) array
        Direction of the axis, zero for one that slides, and a point on it, m, world.
    S : (k, 6) array
        Twists of the joints beyond the axis at their ``points``, linear part first, world.
    points : (k, 3) array, m
    q, low, high : (k,) array
        Coordinates of this pose and their range, rad and m.
    tool : (3,) array, m
    """

    axis: Array
    point: Array
    S: Array
    points: Array
    q: Array
    low: Array
    high: Array
    tool: Array

    def distances(self, Q: Array) -> Array:
        """Return the distances (n,) of the tool from the axis at poses Q (n, k), m."""
        x = np.broadcast_to(self.tool, (len(Q), 3))
        for j in reversed(range(len(self.q))):
            x = np.einsum("nbi,nb->ni", self._parts(j, x), _basis(Q[:, j] - self.q[j]))
        return np.asarray(np.linalg.norm((x - self.point) @ self._across, axis=1))

    def extreme(self, sign: float = 1.0) -> Array:
        """Return the pose (k,) in which the tool is farthest from the axis, with sign −1 nearest to it."""
        if not len(self.q):
            return np.array(self.q)
        Q = self._starts()
        for _ in range(_SWEEPS):
            self._climb(Q, sign)
        values = sign * self.distances(Q)
        ends: list[Array] = []
        for k in np.argsort(-values, kind="stable"):
            if all(np.abs(Q[k] - other).max() > _ONE for other in ends):
                ends.append(Q[k])
            if len(ends) == _ENDED:
                break
        ended = np.array([self._ended(end, sign) for end in ends])
        values = sign * self.distances(ended)
        equal = ended[values >= values.max() - _EQUAL * max(abs(values.max()), 1.0)]
        return np.asarray(equal[np.abs(equal).sum(axis=1).argmin()])

    @cached_property
    def _across(self) -> Array:
        """What projects a way onto the plane across the axis, (3, 3)."""
        return np.eye(3) - np.outer(self.axis, self.axis)

    def _starts(self) -> Array:
        """Return the poses (n, k) that climb: this one, the one nearest to zero, corners and random ones."""
        rng, k = np.random.default_rng(0), len(self.q)
        corners = rng.permutation(2**k)[:_CORNERS] if k < 16 else rng.integers(2**16, size=_CORNERS)
        bits = (corners[:, None] >> np.arange(k)) & 1
        inner = rng.random((_STARTS - len(bits) - 2, k))
        within = self.low + np.vstack((bits, inner)) * (self.high - self.low)
        first = np.clip(np.array([self.q, np.zeros(k)]), self.low, self.high)
        return np.vstack((first, within))

    def _climb(self, Q: Array, sign: float) -> None:
        """Set each coordinate of the poses Q (n, k) in turn to its best value, the last joint first."""
        R, p = self._frames(Q)
        x = np.broadcast_to(self.tool, (len(Q), 3))
        for j in reversed(range(len(self.q))):
            parts = self._parts(j, x)
            # the point in front of the parts moves with the joints before
            way = np.einsum("nij,nbj->nbi", R[j], parts)
            way[:, 0] += p[j] - self.point
            way = way @ self._across
            gram = np.einsum("nbi,nci->nbc", way, way).reshape(len(Q), -1)
            ends = (self.low[j], self.high[j])
            tried = np.append(np.linspace(*ends, _TRIED), np.clip(0.0, *ends))
            basis = _basis(tried - self.q[j])
            squares = sign * gram @ np.einsum("gb,gc->gbc", basis, basis).reshape(len(tried), -1).T
            # of equal ones that nearest to zero
            size = np.abs(squares).max(axis=1, keepdims=True)
            Q[:, j] = tried[(squares - _EQUAL * size * np.abs(tried)).argmax(axis=1)]
            x = np.einsum("nbi,nb->ni", parts, _basis(Q[:, j] - self.q[j]))

    def _parts(self, j: int, x: Array) -> Array:
        """Return what (n, 4, 3) of places x (n, 3) beyond a joint goes with 1, cos q, sin q and q."""
        v, a, p = self.S[j, :3], self.S[j, 3:], self.points[j]
        out = np.zeros((len(x), 4, 3))
        way = x - p
        along = way @ np.outer(a, a) if a.any() else way
        out[:, 0], out[:, 1], out[:, 2], out[:, 3] = p + along, way - along, np.cross(a, way), v
        return out

    def _frames(self, Q: Array) -> tuple[Array, Array]:
        """Return what joints before each one do to a place at poses Q (n, k): R (k + 1, n, 3, 3), p (k + 1, n, 3)."""
        n, k = Q.shape
        R, p = np.empty((k + 1, n, 3, 3)), np.empty((k + 1, n, 3))
        R[0], p[0] = np.eye(3), 0.0
        for j in range(k):
            angle = Q[:, j] - self.q[j]
            a, q = self.S[j, 3:], self.points[j]
            A = skew(a)
            turn = np.eye(3) + np.sin(angle)[:, None, None] * A + (1 - np.cos(angle))[:, None, None] * (A @ A)
            moved = q - turn @ q + angle[:, None] * self.S[j, :3]
            R[j + 1] = R[j] @ turn
            p[j + 1] = p[j] + np.einsum("nij,nj->ni", R[j], moved)
        return R, p

    def _ended(self, q: Array, sign: float) -> Array:
        """Return the end (k,) of a climb from a pose q (k,), by Newton's method with damping within the range."""
        damping, best = _DAMPING, sign * self.distances(q[None])[0]
        for _ in range(_STEPS):
            slope, curvature = self._derivatives(q)
            slope, curvature = sign * slope, -sign * curvature
            inward = np.where(slope > 0, q < self.high, q > self.low)
            free = np.flatnonzero(inward & (slope != 0))
            if not len(free) or damping > 1e9:
                break
            H = curvature[np.ix_(free, free)]
            scale = max(np.abs(H).max(), 1e-12)
            # as much as makes it concave, and more where a step fails
            lift = max(0.0, -float(np.linalg.eigvalsh(H)[0])) + damping * scale
            trial = q.copy()
            trial[free] += np.linalg.solve(H + lift * np.eye(len(free)), slope[free])
            trial = np.clip(trial, self.low, self.high)
            value = sign * self.distances(trial[None])[0]
            if value > best:
                small = value - best < 1e-13 * max(abs(value), 1e-12)
                q, best, damping = trial, value, max(damping / 10, 1e-9)
                if small:
                    break
            else:
                damping *= 10
        return np.asarray(q)

    def _derivatives(self, q: Array) -> tuple[Array, Array]:
        """Return slope (k,) and curvature (k, k) of half the squared distance at a pose q (k,)."""
        R, p = (one[:, 0] for one in self._frames(q[None]))
        a = np.einsum("kij,kj->ki", R[:-1], self.S[:, 3:])
        v = np.einsum("kij,kj->ki", R[:-1], self.S[:, :3])
        points = np.einsum("kij,kj->ki", R[:-1], self.points) + p[:-1]
        x = R[-1] @ self.tool + p[-1]
        J = np.cross(a, x - points) + v
        e = self._across @ (x - self.point)
        # e · (a_i × J_j) for i at or before j
        second = np.triu(np.einsum("ijk,k->ij", np.cross(a[:, None], J[None]), e))
        second += np.triu(second, 1).T
        return J @ e, J @ self._across @ J.T + second


def _basis(angle: Array) -> Array:
    """Return 1, cos, sin and the value itself, (n, 4), of angle (n,), rad or m."""
    return np.stack((np.ones_like(angle), np.cos(angle), np.sin(angle), angle), axis=1)
