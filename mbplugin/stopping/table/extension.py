"""Poses of a stopping table: the arm stretched or retracted, with the largest gravity load on the axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.errors import BadUsage, MbPluginError, UnknownName, suggestion
from mbplugin.model import AnyArray, Array, Mechanism, TreeJoint, cross, is_turn, skew
from mbplugin.model.mechanism.kinematics import BodyPoses, follows, forward, home, joint_axes
from mbplugin.phrases import names_of
from mbplugin.stopping.batch import ArmStops, CompiledStop

#: Number of angles tried for the axis that moves.
_TRIED = 72
#: Distance to the limits for the axis that moves, and for joints that are held and may slip, rad.
_MOVING, _STANDING = 0.35, 0.02
#: Grid points of a search for a zero, and number of refinements of the grid.
_SOUGHT, _ZOOMS = 181, 4
#: Decimals of the coordinates of a pose, rad and m.
_DECIMALS = 6
#: Initial poses of the ascent, sweeps over their joints, values per joint; poses that Newton's method refines.
_STARTS, _SWEEPS, _REACH_TRIED, _ENDED = 96, 6, 73, 4
_STEPS, _DAMPING = 60, 1e-3
#: Distances that differ by less than this share are equal: then the pose nearer to zero is taken.
_EQUAL = 1e-9
#: Most corners of the range that are tried; distance below which poses count as the same, rad and m.
_CORNERS, _ONE = 32, 0.3
_COUNT = 3
#: For arms with loops or couplings: random initial poses, sweeps over their joints, values per joint in the first
#: sweep; extremes that differ by less than this share are equal.
_COUPLED_STARTS, _COUPLED_SWEEPS, _COUPLED_TRIED, _COUPLED_EQUAL = 5, 9, 13, 1e-6
#: An axis is a roll axis if the sine of its angle with the next part of the arm is below this.
_ALONG = 0.2
#: Joints nearer to each other than this share of the reach count as coincident.
_NEAR = 0.01


@dataclass(frozen=True, eq=False)
class ExtensionPose:
    """A pose in which an axis is stopped.

    Parameters
    ----------
    q : (nq,) array
    extension : float
        Distance of the tool from the axis, m.
    share : float
        Ratio to the largest extension.
    sense : float
        +1 or −1: the sense in which the axis moves, downwards if gravity acts on it.
    """

    q: Array
    extension: float
    share: float
    sense: float


class ExtensionPoses:
    """Computes the extension poses of one robot."""

    def __init__(self, arm: ArmStops, axes: tuple[str, ...]) -> None:
        self._arm, self._mech = arm, arm.scenario.mech
        self._chain = arm.chain
        self._names = [joint.pair.name for joint in self._chain if joint.pair is not None]
        self._axes = axes
        self._stretched = {axis: self._stretch(axis) for axis in axes}

    def pose(self, axis: str, share: float) -> ExtensionPose:
        """Return the pose at a share of the largest extension, reached by bending the last axis of the table."""
        q = self._stretched[axis].copy()
        full = self.extension(axis, q)
        if share < 1.0 and self.bends(axis):
            q = self._drawn_in(axis, q, share * full)
        q, sense = self._hardest(axis, q)
        q = self._rounded(q)
        found = self.extension(axis, q)
        return ExtensionPose(q, found, found / full if full > 0 else 1.0, sense)

    def bends(self, axis: str) -> bool:
        """Return True if the last axis of the table, which bends the arm, is beyond an axis."""
        return self._names.index(self._axes[-1]) > self._names.index(axis)

    def extension(self, axis: str, q: Array) -> float:
        """Return the distance of the tool from an axis at a pose q (nq,), m."""
        reach = self._reach(axis, q)
        return float(reach.distances(reach.q[None])[0])

    def _reach(self, axis: str, q: Array) -> Reach | CoupledReach:
        """Return the tool's reach from an axis, as located at a pose q (nq,)."""
        first = self._names.index(axis)
        poses, beyond = forward(self._mech, q), self._chain[first + 1 :]
        S, point = joint_axes(self._mech, self._chain[first], poses)
        ranges = np.array([_range(joint, _STANDING) for joint in beyond]).reshape(-1, 2)
        if not isinstance(self._arm, CompiledStop):
            return CoupledReach(
                self._arm,
                S[3:, 0],
                point,
                q,
                np.array(self._coordinates(axis), dtype=int),
                ranges[:, 0],
                ranges[:, 1],
            )
        places = [joint_axes(self._mech, joint, poses) for joint in beyond]
        return Reach(
            S[3:, 0],
            point,
            np.array([twist[:, 0] for twist, _ in places]).reshape(-1, 6),
            np.array([place for _, place in places]).reshape(-1, 3),
            q[self._coordinates(axis)],
            ranges[:, 0],
            ranges[:, 1],
            self._arm.tool_at(q),
        )

    def _coordinates(self, axis: str) -> list[int]:
        """Return the indices in q of the joints beyond an axis."""
        return [joint.q.start for joint in self._chain[self._names.index(axis) + 1 :]]

    def _stretch(self, axis: str) -> Array:
        """Return the pose (nq,) with the tool farthest from an axis; joints before it as for the preceding axis."""
        first = self._names.index(axis)
        leading = [a for a in self._axes[:2] if a != axis and self._names.index(a) < first]
        q = self._stretch(leading[-1]) if leading else self._middle()
        q[self._coordinates(axis)] = self._reach(axis, q).extreme()
        return self._hardest(axis, self._arm.toward(q))[0]

    def _middle(self) -> Array:
        """Return the pose (nq,) nearest to zero that keeps a distance from all limits, rad and m."""
        q = np.array(self._arm.scenario.q)
        for joint in self._chain:
            low, high = _range(joint, _MOVING)
            q[joint.q.start] = min(max(0.0, low), high)
        return self._arm.toward(q)

    def _drawn_in(self, axis: str, q: Array, wanted: float) -> Array:
        """Return the stretched pose q (nq,), retracted just enough to bring the tool to the distance ``wanted``, m.

        The last axis of the table is bent. If that is not enough, all joints move along the straight line to the
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
            return self._arm.toward(out)
        way = reach.extreme(-1.0) - reach.q
        found = _crossing(lambda t: reach.distances(reach.q + np.outer(t, way)) - wanted, (0.0, 1.0), 0.0)
        # without a crossing, the nearest pose is the best possible
        out[own] = reach.q + (1.0 if found is None else found) * way
        return self._arm.toward(out)

    def _rounded(self, q: Array) -> Array:
        """Return a pose q (nq,) rounded to be easy to read and type, unless rounding violates limits."""
        q = q.copy()
        for joint in self._chain:
            i, (low, high) = joint.q.start, _range(joint, _STANDING)
            value = round(float(q[i]), _DECIMALS)
            q[i] = value if low <= value <= high else q[i]
        return self._arm.toward(q)

    def _hardest(self, axis: str, q: Array) -> tuple[Array, float]:
        """Return the pose q (nq,) with the axis moved to its largest gravity load, and the sense of that load."""
        joint = self._chain[self._names.index(axis)]
        i = joint.q.start

        def pull(q: Array) -> float:
            ahead, behind = q.copy(), q.copy()
            ahead[i] += 1e-4
            behind[i] -= 1e-4
            return (self._potential(behind) - self._potential(ahead)) / 2e-4

        q, weight = q.copy(), self._arm.weight
        if joint.pair is not None and is_turn(joint.pair.kind.free[0]):
            before = q[i]
            self._best(joint, q, lambda q: abs(pull(q)))
            if abs(pull(q)) < 1e-6 * max(weight, 1e-9):
                q[i] = float(np.clip(before, *_range(joint, _MOVING)))
        q = self._arm.toward(q)
        sense = 1.0 if pull(q) >= -1e-9 else -1.0
        if joint.pair is not None and not is_turn(joint.pair.kind.free[0]):
            # from the other end of its range a slide has the most room to stop, and its load is the same
            low, high = _range(joint, _MOVING)
            q[i] = low if sense > 0 else high
            q = self._arm.toward(q)
        return q, sense

    def _potential(self, q: Array) -> float:
        """Return the potential energy, J, at a pose q (nq,) after its loops are closed; NaN if they cannot."""
        there = self._arm.closed(q)
        return np.nan if there is None else self._arm.potential(there)

    def _best(self, joint: TreeJoint, q: Array, value: Callable[[Array], float]) -> None:
        """Set one joint of q (nq,) in place to the value that maximises a function of the pose."""
        i = joint.q.start
        low, high = _range(joint, _MOVING)
        candidates = np.append(np.linspace(low, high, _TRIED), np.clip(q[i], low, high))
        values = []
        for candidate in candidates:
            q[i] = candidate
            values.append(value(q))
        # among equal values, the one nearest to zero; poses that the loops cannot reach do not count
        values = [v if np.isfinite(v) else -np.inf for v in values]
        best = max(values)
        near = [c for c, v in zip(candidates, values, strict=True) if v >= best - 1e-9 * max(abs(best), 1.0)]
        q[i] = min(near, key=abs)


def _range(joint: TreeJoint, room: float) -> tuple[float, float]:
    """Return the range of a joint, at most one turn; a revolute joint keeps ``room`` (rad) from its limits."""
    assert joint.pair is not None
    freedom = joint.pair.freedoms[0]
    low, high = freedom.lower, freedom.upper
    if not is_turn(joint.pair.kind.free[0]):
        return (low if np.isfinite(low) else -1.0, high if np.isfinite(high) else 1.0)
    room = min(room, 0.25 * (high - low))
    low, high = low + room, high - room
    if high - low > 2 * np.pi:
        # the full turn that is nearest to zero
        low = min(max(low, -np.pi), high - 2 * np.pi)
        high = low + 2 * np.pi
    return low, high


def _crossing(function: Callable[[Array], Array], ends: tuple[float, float], near: float) -> float | None:
    """Return the zero, nearest to ``near``, of a function of values (n,) between two ends; None if there is none."""
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


# The distance of a tool from an axis as a function of the joints beyond it, and its extremes.
#
# The distance has many local maxima. In one coordinate it has a closed form: d² = b' G b with
# b = (1, cos q, sin q, q). So many poses are improved at once, coordinate by coordinate over the whole range.


@dataclass(frozen=True, eq=False)
class Reach:
    """A tool, an axis, and the joints between them, at a pose ``q``.

    Parameters
    ----------
    axis, point : (3,) array
        Direction of the axis, zero for a prismatic joint, and a point on it, m, world.
    S : (k, 6) array
        Twists of the joints beyond the axis at their ``points``, linear part first, world.
    points : (k, 3) array, m
    q, low, high : (k,) array
        Coordinates of this pose and their ranges, rad and m.
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
        """Return the pose (k,) in which the tool is farthest from the axis, or nearest to it for sign −1."""
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
        """Projector (3, 3) onto the plane perpendicular to the axis."""
        return np.eye(3) - np.outer(self.axis, self.axis)

    def _starts(self) -> Array:
        """Return the initial poses (n, k): this one, the one nearest to zero, corners and random ones."""
        rng, k = np.random.default_rng(0), len(self.q)
        corners = rng.permutation(2**k)[:_CORNERS] if k < 16 else rng.integers(2**16, size=_CORNERS)
        bits = (corners[:, None] >> np.arange(k)) & 1
        inner = rng.random((_STARTS - len(bits) - 2, k))
        within = self.low + np.vstack((bits, inner)) * (self.high - self.low)
        first = np.clip(np.array([self.q, np.zeros(k)]), self.low, self.high)
        return np.vstack((first, within))

    def _climb(self, Q: Array, sign: float) -> None:
        """Set each coordinate of the poses Q (n, k) in place to its best value, the last joint first."""
        R, p = self._frames(Q)
        x = np.broadcast_to(self.tool, (len(Q), 3))
        for j in reversed(range(len(self.q))):
            parts = self._parts(j, x)
            # transform the coefficients by the motion of the joints before this one
            way = np.einsum("nij,nbj->nbi", R[j], parts)
            way[:, 0] += p[j] - self.point
            way = way @ self._across
            gram = np.einsum("nbi,nci->nbc", way, way).reshape(len(Q), -1)
            ends = (self.low[j], self.high[j])
            tried = np.append(np.linspace(*ends, _REACH_TRIED), np.clip(0.0, *ends))
            basis = _basis(tried - self.q[j])
            squares = sign * gram @ np.einsum("gb,gc->gbc", basis, basis).reshape(len(tried), -1).T
            # among equal values, the one nearest to zero
            size = np.abs(squares).max(axis=1, keepdims=True)
            Q[:, j] = tried[(squares - _EQUAL * size * np.abs(tried)).argmax(axis=1)]
            x = np.einsum("nbi,nb->ni", parts, _basis(Q[:, j] - self.q[j]))

    def _parts(self, j: int, x: Array) -> Array:
        """Return the coefficients (n, 4, 3) of 1, cos q, sin q and q for points x (n, 3) beyond a joint."""
        v, a, p = self.S[j, :3], self.S[j, 3:], self.points[j]
        out = np.zeros((len(x), 4, 3))
        way = x - p
        along = way @ np.outer(a, a) if a.any() else way
        out[:, 0], out[:, 1], out[:, 2], out[:, 3] = p + along, way - along, cross(a, way), v
        return out

    def _frames(self, Q: Array) -> tuple[Array, Array]:
        """Return the frames before each joint at poses Q (n, k), and the last: R (k + 1, n, 3, 3), p (k + 1, n, 3)."""
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
        """Return the local extreme (k,) from a pose q (k,), by a damped Newton method within the ranges."""
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
            # enough to make it concave, and more after a failed step
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
        """Return gradient (k,) and Hessian (k, k) of half the squared distance at a pose q (k,)."""
        R, p = (one[:, 0] for one in self._frames(q[None]))
        a = np.einsum("kij,kj->ki", R[:-1], self.S[:, 3:])
        v = np.einsum("kij,kj->ki", R[:-1], self.S[:, :3])
        points = np.einsum("kij,kj->ki", R[:-1], self.points) + p[:-1]
        x = R[-1] @ self.tool + p[-1]
        J = cross(a, x - points) + v
        e = self._across @ (x - self.point)
        # e · (a_i × J_j) for i ≤ j
        second = np.triu(np.einsum("ijk,k->ij", cross(a[:, None], J[None]), e))
        second += np.triu(second, 1).T
        return J @ e, J @ self._across @ J.T + second


@dataclass(frozen=True, eq=False)
class CoupledReach:
    """A tool, an axis, and the independent joints between them, whose loops are closed for every pose.

    Parameters
    ----------
    axis, point : (3,) array
        Direction of the axis, zero for a prismatic joint, and a point on it, m, world.
    pose : (nq,) array
        The pose of the other joints.
    places : (k,) array
        Indices in q of the joints beyond the axis.
    low, high : (k,) array
        Their ranges, rad and m.
    """

    arm: ArmStops
    axis: Array
    point: Array
    pose: Array
    places: AnyArray
    low: Array
    high: Array

    @property
    def q(self) -> Array:
        """Coordinates (k,) of the joints beyond the axis at the pose, rad and m."""
        return np.asarray(self.pose[self.places])

    def distances(self, Q: Array) -> Array:
        """Return the distances (n,) of the tool from the axis at poses Q (n, k), m; NaN where no loop closes."""
        return np.array([self._distance(q) for q in Q])

    def extreme(self, sign: float = 1.0) -> Array:
        """Return the pose (k,) in which the tool is farthest from the axis, or nearest to it for sign −1.

        Each joint in turn takes the best value over its range, and then the best of the values around it.
        """
        if not len(self.places):
            return self.q
        rng = np.random.default_rng(0)
        starts = [self.q, *(self.low + rng.random((_COUPLED_STARTS, len(self.low))) * (self.high - self.low))]
        ends = [end for start in starts if (end := self._climbed(start, sign)) is not None]
        if not ends:
            return self.q
        best = max(value for value, _ in ends)
        equal = [q for value, q in ends if value >= best - _COUPLED_EQUAL * max(abs(best), 1.0)]
        return min(equal, key=lambda q: float(np.abs(q).sum()))

    def _climbed(self, q: Array, sign: float) -> tuple[float, Array] | None:
        """Return the best value from a pose q (k,), and its pose; None if no loop closes on the way."""
        q, best = q.copy(), -np.inf
        for sweep in range(_COUPLED_SWEEPS):
            for j in reversed(range(len(q))):
                ends = (self.low[j], self.high[j])
                width = (ends[1] - ends[0]) / (_COUPLED_TRIED - 1) / 3.0**sweep
                around = q[j] + width * np.arange(-2, 3)
                tried = np.linspace(*ends, _COUPLED_TRIED) if sweep == 0 else np.clip(around, *ends)
                for value in tried:
                    trial = q.copy()
                    trial[j] = value
                    found = sign * self._distance(trial)
                    # rounding decides nothing
                    if found > best + 1e-12:
                        best, q = found, trial
        return (best, q) if np.isfinite(best) else None

    def _distance(self, q: Array) -> float:
        """Return the distance of the tool from the axis at a pose q (k,), m; NaN if no loop closes."""
        pose = self.pose.copy()
        pose[self.places] = q
        there = self.arm.closed(pose)
        if there is None:
            return np.nan
        way = self.arm.tool_at(there) - self.point
        return float(np.linalg.norm(way - (way @ self.axis) * self.axis))


def _basis(angle: Array) -> Array:
    """Return 1, cos q, sin q and q, (n, 4), of values angle (n,), rad or m."""
    # numpy.stack takes as long as sine and cosine
    out = np.ones((len(angle), 4))
    out[:, 1], out[:, 2], out[:, 3] = np.cos(angle), np.sin(angle), angle
    return out


# The axes of a stopping table: the first three joints that are not roll axes along the arm.


def moving_chain(mech: Mechanism, tool: str) -> tuple[TreeJoint, ...]:
    """Return the joints with one freedom from the ground to the tool."""
    chain = [j for j in mech.tree.way_in(tool) if j.pair is not None and len(j.pair.kind.free) == 1]
    return tuple(reversed(chain))


def axes_that_stop(mech: Mechanism, tool: str, names: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the axes as :func:`table_axes`, or none if that raises an error, which the table reports later."""
    try:
        return table_axes(mech, tool, names)
    except MbPluginError:
        return ()


def table_axes(
    mech: Mechanism,
    tool: str,
    names: Sequence[str] | None = None,
    chain: tuple[TreeJoint, ...] | None = None,
) -> tuple[str, ...]:
    """Return the joints of a stopping table: given ones, or the first three that are not roll axes.

    Parameters
    ----------
    chain : tuple of TreeJoint, optional
        The independent joints that move the tool; by default those between the ground and the tool that do not
        follow others.

    Raises
    ------
    UnknownName
        A given name is not a joint between ground and tool.
    BadUsage
        No joint moves the tool, no axis is named, or an axis is named twice.
    """
    if chain is None:
        chain = tuple(j for j in moving_chain(mech, tool) if j.pair is not None and not follows(mech, j.pair))
    known = [joint.pair.name for joint in chain if joint.pair is not None]
    if not known:
        raise BadUsage(f"no joint moves the tool {tool!r}", remedy="name another tool")
    if names is not None:
        names = names_of(names)
        if not names:
            raise BadUsage(
                "no axis is named", expected="at least one joint", remedy="omit axes to use the default ones"
            )
        for name in names:
            if name not in known:
                raise UnknownName(
                    f"the joint {name!r} cannot be an axis: it does not move {tool!r} independently",
                    remedy=suggestion(name, known),
                )
        if len(set(names)) < len(names):
            raise BadUsage(f"the axes are {', '.join(names[:6])}", expected="each joint once")
        return tuple(names)
    poses = forward(mech, home(mech))
    places = [place(mech, joint, poses) for joint in chain]
    points = np.array([point for _, point in places] + [poses.p_WL[mech.body_index[tool]]])
    reach = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    found = [
        known[k]
        for k, joint in enumerate(chain)
        if k == 0 or not _is_roll(joint, places[k][0], points[k], points[k + 1 :], reach)
    ]
    return tuple(found[:_COUNT])


def place(mech: Mechanism, joint: TreeJoint, poses: BodyPoses) -> tuple[Array, Array]:
    """Return direction (3,) and a point (3,), m, of a joint's axis, world."""
    S, point = joint_axes(mech, joint, poses)
    turns = np.asarray(S[3:, 0])
    return (turns if turns.any() else np.asarray(S[:3, 0])), point


def _is_roll(joint: TreeJoint, axis: Array, point: Array, beyond: Array, reach: float) -> bool:
    """Return True if the next distinct point of the arm lies along a revolute axis.

    The axis (3,) goes through ``point`` (3,); the points ``beyond`` (k, 3) are in the order of the arm, m, world.
    """
    if joint.pair is None or not is_turn(joint.pair.kind.free[0]):
        return False
    for other in beyond:
        way = other - point
        distance = float(np.linalg.norm(way))
        if distance > _NEAR * reach:
            across = way - (way @ axis) * axis
            return bool(np.linalg.norm(across) < _ALONG * distance)
    return True
