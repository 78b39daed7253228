"""Poses to start a descent from: drawn inside the joint limits, all turns alike where there are none."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbplugin.constraints.assembly.closure import Closure
from mbplugin.model.component import is_turn
from mbplugin.model.mechanism.joint import has_quaternion
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import Array

#: How far a travel without limits is drawn to either side, in characteristic lengths.
_REACH = 2.0


def drawn(closure: Closure, Q: Array, joints: Iterable[int], rng: np.random.Generator) -> Array:
    """Return poses Q (K, nq) with the coordinates of some joints drawn anew, each on its own.

    Angles come from their limits, or ±π; travels from theirs, or some lengths about where they are.

    Parameters
    ----------
    joints : iterable of int
        Positions among ``mech.tree.joints``.
    """
    out = np.array(Q)
    for k in joints:
        joint = closure.mech.tree.joints[k]
        out[:, joint.q] = _drawn(closure, joint, Q[:, joint.q], rng)
    return out


def _drawn(closure: Closure, joint: TreeJoint, q: Array, rng: np.random.Generator) -> Array:
    """Return coordinates (K, c) of a joint drawn anew in place of q (K, c)."""
    out = np.array(q)
    kind = "floating" if joint.pair is None else joint.pair.type
    travels = q.shape[1]
    if has_quaternion(kind):
        travels -= 4
        # directions of normal numbers are uniform on the sphere, and so are such rotations
        turn = rng.normal(size=(len(q), 4))
        out[:, travels:] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    for slot in range(travels):
        freedom = Freedom() if joint.pair is None else joint.pair.freedoms[slot]
        is_angle = joint.pair is not None and is_turn(joint.pair.kind.free[slot])
        lower, upper = _range(freedom, is_angle, float(closure.length), q[:, slot])
        out[:, slot] = lower + (upper - lower) * rng.random(len(q))
    return out


def _range(freedom: Freedom, is_angle: bool, length: float, q: Array) -> tuple[Array, Array]:
    """Return what a coordinate q (K,) is drawn between; limits that exclude each other do not count."""
    reach, middle = (np.pi, np.zeros_like(q)) if is_angle else (_REACH * length, q)
    lower, upper = freedom.lower, freedom.upper
    if lower > upper:
        lower, upper = -np.inf, np.inf
    if np.isfinite(lower) and np.isfinite(upper) and (not is_angle or upper - lower <= 2 * np.pi):
        return np.full_like(q, lower), np.full_like(q, upper)
    # one limit, or several turns: the part that is near
    low = np.maximum(lower, np.minimum(middle - reach, upper - 2 * reach))
    return low, np.minimum(upper, low + 2 * reach)
