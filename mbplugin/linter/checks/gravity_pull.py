"""The poses in which gravity pulls hardest on joints of a tree.

The pull has many local maxima. In one coordinate it is A + B cos q + C sin q + D q, whose largest value is known: many
poses climb at once, each coordinate in turn to the best value of its whole range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.model.component import is_turn
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.kinematics import forward, joint_axes
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import AnyArray, Array, skew

#: Poses that climb in each sense, sweeps over their coordinates; the best ones, which go on, and their sweeps.
_STARTS, _SWEEPS, _KEPT, _LAST = 64, 7, 12, 20
#: Shares of a pull below which it depends on no coordinate, and by which it is larger than another.
_NOTHING, _EQUAL = 1e-9, 1e-9


@dataclass(frozen=True, eq=False)
class GravityPull:
    """Joints of one freedom each and what they carry, as they are at a pose.

    Parameters
    ----------
    gravity : (3,) array
        m/s².
    S : (k, 6) array
        Twists of the joints at their ``points``, linear part first, world.
    points : (k, 3) array, m
    before : (k,) array of int
        The joint in front of each one, −1 for none.
    mass, moment : (k,), (k, 3) array
        Of what hangs on each joint and on none beyond it: kg; mass times place, kg·m, world.
    low, high : (k,) array
        Ranges of the coordinates from those of the pose, rad and m.
    """

    gravity: Array
    S: Array
    points: Array
    before: AnyArray
    mass: Array
    moment: Array
    low: Array
    high: Array

    def starts(self, count: int) -> Array:
        """Return displacements (count, k) of poses anywhere within the ranges, the nearest one to the pose first."""
        inner = np.random.default_rng(0).random((count - 1, len(self.low)))
        nearest = np.clip(0.0, self.low, self.high)
        return np.vstack((nearest, self.low + inner * (self.high - self.low)))

    def hardest(self, joints: Sequence[int]) -> Array:
        """Return the displacements (n, k) of the poses in which gravity pulls hardest on each of n joints."""
        of, count = np.array(joints), len(joints)
        sense = np.tile(np.repeat([1.0, -1.0], _STARTS), (count, 1))
        Q = np.tile(self.starts(_STARTS), (count, 2, 1))
        for _ in range(_SWEEPS):
            pull = self._climb(Q, sense, of)
        kept = np.argsort(-pull, axis=1, kind="stable")[:, :_KEPT]
        Q, sense = np.take_along_axis(Q, kept[..., None], 1), np.take_along_axis(sense, kept, 1)
        for _ in range(_LAST):
            pull = self._climb(Q, sense, of)
        near = pull >= pull.max(axis=1, keepdims=True) * (1.0 - _EQUAL)
        return np.asarray(Q[np.arange(count), near.argmax(axis=1)])

    def _climb(self, Q: Array, sense: Array, joints: AnyArray) -> Array:
        """Set each coordinate of poses Q (n, s, k) in turn to its best value; return the pulls (n, s) on joints (n,).

        ``sense`` (n, s) is the sign in which each pull is to be large. The pull on a joint is
        g · R_front dE h: h are mass and moment of what is beyond it, moved by the joints there.
        """
        R, inner = self._turned(Q), self._inner()
        pull = np.zeros(Q.shape[:2])
        axis = R[joints, np.arange(len(joints))] @ self.S[joints, None, 3:, None]
        across = np.cross(self.gravity, axis[..., 0])
        x = np.zeros((len(self.S), *Q.shape[:2], 3))
        for k in reversed(range(len(self.S))):
            beyond, own, front = inner[k, joints][:, None], (joints == k)[:, None], inner[joints, k][:, None]
            carries = beyond | own
            x[k] += carries[..., None] * self.moment[k]
            parts = self._parts(
                k, x[k], carries * self.mass[inner[:, k] | (np.arange(len(self.S)) == k)].sum()
            )
            way = np.where(beyond[..., None], across, self.gravity)
            factors = np.einsum("nsbi,nsji,nsj->nsb", parts, R[k], way)
            factors = np.where(own[..., None], _slopes(factors), factors) * (carries | front)[..., None]
            Q[..., k] = self._best(k, sense[..., None] * factors)
            moved = np.einsum("nsbi,nsb->nsi", parts, _basis(Q[..., k], own)) * (carries | front)[..., None]
            if self.before[k] >= 0:
                x[self.before[k]] += moved
            else:
                pull += moved @ self.gravity
        return sense * pull

    def _inner(self) -> AnyArray:
        """Return (k, k) whether each joint is beyond each other one."""
        inner = np.zeros((len(self.before),) * 2, dtype=bool)
        for k, before in enumerate(self.before.tolist()):
            if before >= 0:
                inner[k] = inner[before]
                inner[k, before] = True
        return inner

    def _turned(self, Q: Array) -> Array:
        """Return how far what is in front of each joint has turned at poses Q (n, s, k): (k, n, s, 3, 3)."""
        A = np.array([skew(a) for a in self.S[:, 3:]])
        angle = Q[..., None, None]
        turns = np.eye(3) + np.sin(angle) * A + (1 - np.cos(angle)) * (A @ A)
        R = np.empty((len(self.S), *Q.shape[:2], 3, 3))
        for k, before in enumerate(self.before.tolist()):
            R[k] = R[before] @ turns[:, :, before] if before >= 0 else np.eye(3)
        return R

    def _parts(self, k: int, x: Array, mass: Array) -> Array:
        """Return what (n, s, 4, 3) of moments x (n, s, 3) with masses (n, 1) goes with 1, cos q, sin q and q."""
        v, a, m = self.S[k, :3], self.S[k, 3:], mass[..., None]
        way = x - m * self.points[k]
        along = way @ np.outer(a, a) if a.any() else way
        slide = np.broadcast_to(m * v, x.shape)
        return np.stack((m * self.points[k] + along, way - along, np.cross(a, way), slide), axis=2)

    def _best(self, k: int, factors: Array) -> Array:
        """Return the displacements (n, s) in the range at which factors (n, s, 4) · (1, cos q, sin q, q) is largest."""
        low, high = self.low[k], self.high[k]
        top = low + np.mod(np.arctan2(factors[..., 2], factors[..., 1]) - low, 2 * np.pi)
        upper = factors @ (_basis(np.array(high)) - _basis(np.array(low))) > 0
        best = np.where((top <= high) & self.S[k, 3:].any(), top, np.where(upper, high, low))
        nothing = np.abs(factors[..., 1:]).sum(axis=-1) <= _NOTHING * np.abs(factors).sum(axis=-1)
        return np.asarray(np.where(nothing, np.clip(0.0, low, high), best))


def gravity_pull(
    mech: Mechanism, payloads: Sequence[Payload], q: Array
) -> tuple[GravityPull, list[str], bool]:
    """Return the pull of gravity at a pose q (nq,), the names of its joints, and whether these are all that moves.

    Screws, coupled joints, slides without limits and joints with several freedoms stay where they are.
    """
    poses, index = forward(mech, q), mech.body_index
    coupled = {term.joint for coupling in mech.couplings for term in coupling.terms}
    names: list[str] = []
    on, before, places, ranges, whole = {WORLD: -1}, [], [], [], True
    for joint in mech.tree.joints:
        on[joint.outer] = on[joint.inner]
        if joint.pair is None or len(joint.pair.kind.free) != 1:
            whole &= joint.pair is not None and not joint.pair.kind.free
            continue
        span = None if joint.pair.name in coupled else _range(joint.pair)
        whole &= span is not None
        before.append(on[joint.inner])
        on[joint.outer] = len(names)
        names.append(joint.pair.name)
        places.append(joint_axes(mech, joint, poses))
        here = float(q[joint.q.start])
        ranges.append(np.subtract(span or (here, here), here))
    mass, moment = np.zeros(len(names)), np.zeros((len(names), 3))
    loads = [(index[body.name], body.mass, poses.p_WC[index[body.name]]) for body in mech.bodies]
    loads += [(i, load.mass, poses.of(i).apply(load.com)) for load in payloads for i in [index[load.body]]]
    for i, m, place in loads:
        k = on[mech.bodies[i].name]
        if k >= 0:
            mass[k], moment[k] = mass[k] + m, moment[k] + m * place
    S, points = np.array([S[:, 0] for S, _ in places]), np.array([point for _, point in places])
    low, high = np.array(ranges).T
    return GravityPull(mech.gravity, S, points, np.array(before), mass, moment, low, high), names, whole


def _range(pair: Pair) -> tuple[float, float] | None:
    """Return the values that a joint of one freedom may take, a turn at most; None where that is not known."""
    low, high = pair.freedoms[0].lower, pair.freedoms[0].upper
    if pair.lead or not low < high:
        return None
    if not is_turn(pair.kind.free[0]):
        return (low, high) if np.isfinite([low, high]).all() else None
    if high - low > 2 * np.pi:
        # the turn that is nearest to zero
        low = min(max(low, -np.pi), high - 2 * np.pi)
        high = low + 2 * np.pi
    return low, high


def _slopes(factors: Array) -> Array:
    """Return the factors (n, s, 4) of the derivative of a sum with ``factors``, for one without q · cos q."""
    a, b, c, d = np.moveaxis(factors, -1, 0)
    return np.stack((d, c, -b, np.zeros_like(a)), axis=-1)


def _basis(q: Array, slopes: Array | bool = False) -> Array:
    """Return 1, cos q, sin q and q (…, 4), or their slopes."""
    values = np.stack((np.ones_like(q), np.cos(q), np.sin(q), q), axis=-1)
    rates = np.stack((np.zeros_like(q), -np.sin(q), np.cos(q), np.ones_like(q)), axis=-1)
    return np.where(np.asarray(slopes)[..., None], rates, values)
