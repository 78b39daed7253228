"""Random starting poses inside joint limits, distances between poses, joint limits, and the closed pose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.assembly.closure import CLOSED, Closure
from mbplugin.model.mechanism.mechanism import TreeJoint
from mbplugin.model.mechanism.pair import Freedom, RowKind, has_quaternion
from mbplugin.model.spatial import AnyArray, Array, is_turn
from mbplugin.phrases import one_line_repr

#: Range to either side from which a travel without limits is drawn, in characteristic lengths.
_REACH = 2.0
_TURN = 2 * np.pi
#: Rounding tolerance of limits: rad or lengths of the mechanism, and as a fraction of the value.
_LIMIT_SLACK = 1e-9


def drawn(closure: Closure, Q: Array, joints: Iterable[int], rng: np.random.Generator) -> Array:
    """Return poses Q (K, nq) with the coordinates of some joints drawn at random, independently of each other.

    Angles are drawn within their limits or ±π, travels within their limits or some lengths about their value.

    Parameters
    ----------
    joints : iterable of int
        Indices among ``mech.tree.joints``.
    """
    out = np.array(Q)
    for k in joints:
        joint = closure.mech.tree.joints[k]
        out[:, joint.q] = _drawn(closure, joint, Q[:, joint.q], rng)
    return out


def _drawn(closure: Closure, joint: TreeJoint, q: Array, rng: np.random.Generator) -> Array:
    """Return random coordinates (K, c) of a joint in place of q (K, c)."""
    out = np.array(q)
    kind = "floating" if joint.pair is None else joint.pair.type
    travels = q.shape[1]
    if has_quaternion(kind):
        travels -= 4
        # normalised Gaussian vectors are uniform on the sphere, so these rotations are uniform
        turn = rng.normal(size=(len(q), 4))
        out[:, travels:] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    for slot in range(travels):
        freedom = Freedom() if joint.pair is None else joint.pair.freedoms[slot]
        is_angle = joint.pair is not None and is_turn(joint.pair.kind.free[slot])
        lower, upper = _range(freedom, is_angle, float(closure.length), q[:, slot])
        out[:, slot] = lower + (upper - lower) * rng.random(len(q))
    return out


def _range(freedom: Freedom, is_angle: bool, length: float, q: Array) -> tuple[Array, Array]:
    """Return the range from which a coordinate q (K,) is drawn; contradictory limits are ignored."""
    reach, middle = (np.pi, np.zeros_like(q)) if is_angle else (_REACH * length, q)
    lower, upper = freedom.lower, freedom.upper
    if lower > upper:
        lower, upper = -np.inf, np.inf
    if np.isfinite(lower) and np.isfinite(upper) and (not is_angle or upper - lower <= 2 * np.pi):
        return np.full_like(q, lower), np.full_like(q, upper)
    # one limit, or several turns: use the part near the current value (or zero angle)
    low = np.maximum(lower, np.minimum(middle - reach, upper - 2 * reach))
    return low, np.minimum(upper, low + 2 * reach)


# Distances between poses, and the nearest full turns of their angles.


def distances(closure: Closure, Q: Array, q: Array, joints: Iterable[int]) -> Array:
    """Return the Euclidean distances (K,) of poses Q (K, nq) from q (nq,) in some joints.

    Turns in rad, travels in characteristic lengths.
    """
    total = np.zeros(len(Q))
    for k in joints:
        joint = closure.mech.tree.joints[k]
        difference = Q[:, joint.q] - q[joint.q]
        units = closure.units[joint.qd]
        if has_quaternion("floating" if joint.pair is None else joint.pair.type):
            cosine = np.clip(np.abs(Q[:, joint.q][:, -4:] @ q[joint.q][-4:]), 0.0, 1.0)
            total += (2 * np.arccos(cosine)) ** 2
            difference, units = difference[:, :-4], units[:-3]
        total += ((difference / units) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(total))


def nearest_turns(closure: Closure, Q: Array, q: Array, joints: Iterable[int]) -> Array:
    """Return poses Q (K, nq) with angles shifted by full turns where that does not change the pose.

    Angles move into their limits if full turns allow, otherwise near those of q (nq,). Screws, and joints
    measured by a coupling or driver, keep their turns.
    """
    out = np.array(Q)
    for k in joints:
        pair = closure.mech.tree.joints[k].pair
        if pair is None or pair.name in closure.mech.measured_pairs:
            continue
        if pair.kind.row_kind("tz") is RowKind.SCREW:
            continue
        if has_quaternion(pair.type):
            continue
        for slot, (component, freedom) in enumerate(zip(pair.kind.free, pair.freedoms, strict=True)):
            if is_turn(component):
                column = closure.mech.tree.joints[k].q.start + slot
                near = Q[:, column] - _TURN * np.round((Q[:, column] - q[column]) / _TURN)
                low = near + _TURN * np.ceil((freedom.lower - near) / _TURN)
                high = near - _TURN * np.ceil((near - freedom.upper) / _TURN)
                near = np.where((near < freedom.lower) & (low <= freedom.upper), low, near)
                out[:, column] = np.where((near > freedom.upper) & (high >= freedom.lower), high, near)
    return out


# Joint limits: a nearby closed pose inside them, if one is found.


def respect_limits(
    closure: Closure, start: Array, q: Array, movable: AnyArray
) -> tuple[Array, tuple[str, ...]]:
    """Return a closed pose (nq,) inside the joint limits if one is found, and the joints left outside.

    Parameters
    ----------
    start, q : (nq,) array
        The given pose, whose limit violations are tolerated, and the closed one.
    movable : (nv,) bool array
        Rates that may change.
    """
    tolerated = beyond_limits(closure, start).keys()
    outside = beyond_limits(closure, q).keys() - tolerated
    movable, trial = np.array(movable), np.array(q)
    for _ in range(len(closure.mech.tree.joints)):
        now = {n: limit for n, limit in beyond_limits(closure, trial).items() if n not in tolerated}
        if not now:
            return trial, ()
        for name, limit in now.items():
            joint = closure.mech.tree.joint_of_pair[name]
            trial[joint.q], movable[joint.qd] = limit, False
        trial = closure.solve(trial, movable)
        if max(closure.residuals(trial).values()) > CLOSED * closure.length:
            break
    return q, tuple(sorted(outside))


def beyond_limits(closure: Closure, q: Array) -> dict[str, float]:
    """Return the single-freedom joints outside their limits at q (nq,), with the violated limit."""
    beyond: dict[str, float] = {}
    for joint in closure.mech.tree.joints:
        if joint.pair is None or len(joint.pair.freedoms) != 1:
            continue
        freedom, value = joint.pair.freedoms[0], float(q[joint.q][0])
        slack = _LIMIT_SLACK * (float(closure.units[joint.qd][0]) + abs(value))
        if freedom.lower <= freedom.upper and not freedom.lower - slack <= value <= freedom.upper + slack:
            beyond[joint.pair.name] = freedom.lower if value < freedom.lower else freedom.upper
    return beyond


# Result of closing a pose.


@one_line_repr
@dataclass(frozen=True, eq=False)
class Assembly:
    """A closed pose and the residual of each constraint.

    Parameters
    ----------
    q : (nq,) array
    residual_file, residual : dict of constraint name to float
        Largest position residual at the given pose and at q, in m (rotations times ``length``).
    length : float
        Characteristic length, m.
    moved : float
        Largest change of a joint coordinate, rad or m.
    beyond_limits : tuple of str
        Joints that had to leave their limits.
    starts : int
        Starting poses tried for the hardest group, including the given one; 0 if all were closed already.
    degenerate : tuple of str
        Constraints whose rows lose rank at the nearest closed pose found, but not at others.
    turned_file : tuple of str
        Constraints whose largest residual at the given pose is a rotation.
    """

    q: Array
    residual_file: dict[str, float]
    residual: dict[str, float]
    length: float
    moved: float
    beyond_limits: tuple[str, ...] = ()
    starts: int = 0
    degenerate: tuple[str, ...] = ()
    turned_file: tuple[str, ...] = ()

    @property
    def worst_file(self) -> float:
        """Largest residual at the given pose, m."""
        return max(self.residual_file.values(), default=0.0)

    @property
    def worst(self) -> float:
        """Largest residual at the closed pose, m."""
        return max(self.residual.values(), default=0.0)
