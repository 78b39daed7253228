"""Position equations of a mechanism, in metres, at one or many poses; random starts, distances and the closed pose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from mbplugin.constraints import descent
from mbplugin.constraints.moving import Frames, MovingTree, homogeneous
from mbplugin.constraints.reduction import characteristic_length, rate_scale, tree_motion
from mbplugin.constraints.rows import JointFrames, Rows, position_rows, rows_of
from mbplugin.model import BodyPoses, DisjointSets, Freedom, Pair, RowKind, displace, forward, has_quaternion
from mbplugin.model.mechanism import Constraint, Coupling, Driver, Lock, Mechanism, TreeJoint
from mbplugin.model.spatial import AnyArray, Array, cross, is_turn, make_read_only
from mbplugin.phrases import dataclass, one_line_repr

#: A loop counts as closed when its residual is below this fraction of the characteristic length.
CLOSED = 1e-3
#: A dimensionless step below this ends a descent.
CONVERGED = 1e-12


class Closure:
    """Position equations of a mechanism, in metres; steps are dimensionless (``units``).

    Parameters
    ----------
    q : (nq,) array
        A pose, for the characteristic length and the ``initial`` residuals.

    Attributes
    ----------
    constraints : list of Constraint
        Those not satisfied automatically by the joint coordinates.
    units : (nv,) array
        The unit of each joint rate: the characteristic length for travels, 1 rad for turns.
    """

    def __init__(self, mech: Mechanism, q: Array) -> None:
        self.mech = mech
        self.constraints = constraints_to_close(mech)
        self.poses = forward(mech, q)
        self._rows = rows_of(mech, self.constraints, self.poses, q)
        self.length = characteristic_length(self._rows, self.poses.p_WC, mech)
        self.units = rate_scale(mech, self.length)
        self._metres = [
            _metres(constraint, rows, self.length)
            for constraint, rows in zip(self.constraints, self._rows, strict=True)
        ]
        self.initial = {
            rows.constraint: float(np.abs(unit * rows.Phi).max())
            for rows, unit in zip(self._rows, self._metres, strict=True)
        }

    @cached_property
    def members(self) -> list[frozenset[int]]:
        """Joints that move each constraint, as indices among ``mech.tree.joints``."""
        paths = Paths(self.mech)
        return [paths.of(constraint) for constraint in self.constraints]

    @cached_property
    def components(self) -> list[Group]:
        """Groups of constraints that share no joint with each other."""
        return connected(self.members, range(len(self.constraints)))

    @cached_property
    def systems(self) -> list[System]:
        """The equations of each of the ``components``."""
        return [self.system(group) for group in self.components]

    @cached_property
    def alike(self) -> list[AlikeParts]:
        """The ``components``, those of the same numbers of rows and rates together unless they are large."""
        joints = self.mech.tree.joints
        sizes: dict[tuple[int, int, int], list[int]] = {}
        for k, group in enumerate(self.components):
            rows = sum(len(self._rows[c].components) for c in group.constraints)
            rates = sum(joints[j].qd.stop - joints[j].qd.start for j in group.joints)
            sizes.setdefault((rows, rates, k if rates >= descent.WORTH_PARTING else -1), []).append(k)
        return [self._alike(parts) for parts in sizes.values()]

    def _alike(self, parts: list[int]) -> AlikeParts:
        groups = [self.components[k] for k in parts]
        union = Group(
            tuple(sorted(c for group in groups for c in group.constraints)),
            tuple(sorted(j for group in groups for j in group.joints)),
        )
        counts = np.array([len(self._rows[c].components) for c in union.constraints])
        ends = np.cumsum(counts)
        start = dict(zip(union.constraints, (ends - counts).tolist(), strict=True))
        count = dict(zip(union.constraints, counts.tolist(), strict=True))
        system = self.system(union)
        column = {int(rate): k for k, rate in enumerate(system.rates)}
        joints = self.mech.tree.joints
        rates = [
            [r for j in group.joints for r in range(joints[j].qd.start, joints[j].qd.stop)]
            for group in groups
        ]
        part_of = np.full(len(self.units), -1)
        for k, of_part in enumerate(rates):
            part_of[of_part] = k
        return AlikeParts(
            np.array(parts),
            system,
            np.array(
                [
                    [r for c in group.constraints for r in range(start[c], start[c] + count[c])]
                    for group in groups
                ]
            ),
            np.array([[column[rate] for rate in of_part] for of_part in rates]),
            part_of,
        )

    @cached_property
    def _whole(self) -> System:
        every = range(len(self.constraints))
        return self._system(Group(tuple(every), tuple(frozenset().union(*self.members))), self.poses)

    def system(self, group: Group, q: Array | None = None) -> System:
        """Return the equations of a group in its joints; all other joints stay as at q (or at the initial pose)."""
        if len(group.constraints) == len(self.constraints) and q is None:
            return self._whole
        return self._system(group, self.poses if q is None else forward(self.mech, q))

    def _system(self, group: Group, poses: BodyPoses) -> System:
        chosen = [self.constraints[k] for k in group.constraints]
        rows = [self._rows[k] for k in group.constraints]
        residuals = Residuals(self.mech, chosen, rows, group.joints, poses)
        metres = np.concatenate([np.zeros(0), *(self._metres[k] for k in group.constraints)])
        return System(residuals, self.length, self.units, metres)

    def residuals(self, q: Array) -> dict[str, float]:
        """Return the largest residual of each constraint at q (nq,), m."""
        return self._whole.gaps(self._whole.linearised(q[None])[1][0]) if self.constraints else {}

    def turned(self, q: Array) -> tuple[str, ...]:
        """Return the constraints whose largest residual at q (nq,) is a rotation."""
        return self._whole.turned(self._whole.linearised(q[None])[1][0])

    def closed(self, q: Array) -> bool:
        """Return True if all constraints are closed at q (nq,)."""
        return max(self.residuals(q).values(), default=0.0) <= CLOSED * self.length

    def solve(self, q: Array, movable: AnyArray, converged: float = CONVERGED) -> Array:
        """Return the end (nq,) of damped Gauss–Newton steps from q (nq,) in the rates ``movable`` (nv,) of bool.

        They end when all entries of a dimensionless step are below ``converged``.
        """
        return descent.gauss_newton(self._whole, q, movable, converged)[0]

    def displaced(self, q: Array, step: Array) -> Array:
        """Return the pose (nq,) after a dimensionless step (nv,) from q (nq,)."""
        return displace(self.mech, q, self.units * step)

    def linearise(self, q: Array) -> tuple[Array, Array]:
        """Return Jacobian (k, nv) in dimensionless joint rates and residual (k,) at q (nq,), both in metres."""
        J, Phi = self._whole.linearised(q[None])
        pattern = J.pattern
        out = np.zeros((pattern.shape[0], len(self.units)))
        out[pattern.rows, self._whole.rates[pattern.columns]] = J.values[0]
        return out, Phi[0]


def _metres(constraint: Constraint, rows: Rows, length: float) -> Array:
    """Return the metres per unit of each residual (k,): 1 for translations, ``length`` for rotations."""
    if isinstance(constraint, Coupling):
        return np.array([coupling_metres(constraint, length)])
    return np.where(rows.translation, 1.0, length)


class System(descent.Equations):
    """Some position equations, in metres, in the dimensionless rates of some joints.

    Parameters
    ----------
    length : float
        Characteristic length, m.
    units : (nv,) array
        Units of all joint rates of the mechanism.
    metres : (r,) array
        Metres per unit of each residual.

    Attributes
    ----------
    rates : (C,) int array
        Indices of these rates in qd.
    """

    def __init__(self, residuals: Residuals, length: float, units: Array, metres: Array) -> None:
        self._residuals = residuals
        self.length = length
        self.rates = residuals.tree.rates
        self.units = units[self.rates]
        self._scale = np.where(residuals.holonomic, metres, 0.0)
        self._last: tuple[Array, descent.Jacobians, Array] | None = None

    def linearised(self, Q: Array) -> tuple[descent.Jacobians, Array]:
        """Return J, (r, C) at each of K poses Q (K, nq), and Φ (K, r), both in metres and read-only.

        The last result is cached, since one descent begins where another ended.
        """
        if self._last is None or not np.array_equal(self._last[0], Q):
            values, Phi = self._residuals.at(Q)
            pattern = self._residuals.pattern
            values = values * (self._scale[pattern.rows] * self.units[pattern.columns])
            self._last = (np.array(Q), descent.Jacobians(pattern, values), Phi * self._scale)
            make_read_only(self._last[0], values, self._last[2])
        return self._last[1:]

    def in_lengths(self, Q: Array, metres: Array, units: Array) -> tuple[Array, Array]:
        """Return J (K, r, C) and Φ (K, r) at poses Q (K, nq), with metres (K, r) and units (K, C) of each pose."""
        values, Phi = self._residuals.at(Q)
        pattern = self._residuals.pattern
        scale = np.where(self._residuals.holonomic, metres, 0.0)
        J = np.zeros((len(Q), *pattern.shape))
        J[:, pattern.rows, pattern.columns] = values * (scale[:, pattern.rows] * units[:, pattern.columns])
        return J, Phi * scale

    def advanced(self, Q: Array, step: Array) -> Array:
        """Return the poses Q (K, nq) after a step (K, C), rad and m."""
        return self._residuals.tree.advanced(Q, step)

    def stepped(self, Q: Array, step: Array) -> Array:
        """Return the poses Q (K, nq) after dimensionless steps, step (K, C)."""
        return self._residuals.tree.advanced(Q, step * self.units)

    def gaps(self, Phi: Array) -> dict[str, float]:
        """Return the largest entry of a residual Phi (r,) of each constraint, m."""
        slices = self._residuals.slices
        return {name: float(np.abs(Phi[rows]).max(initial=0.0)) for name, rows in slices.items()}

    def turned(self, Phi: Array) -> tuple[str, ...]:
        """Return the constraints whose largest entry of a residual Phi (r,) is a rotation."""
        translation = self._residuals.translation
        slices = self._residuals.slices.items()
        return tuple(name for name, rows in slices if not translation[rows][np.abs(Phi[rows]).argmax()])


def solve_at_poses(closure: Closure, Q: Array, moved: AnyArray, movable: AnyArray) -> tuple[Array, Array]:
    """Return the ends (K, nq) of damped Gauss–Newton steps from poses, and their largest residuals (K,), m.

    Only the loops of one rate are closed at each pose; the others stay as they are. Loops of as many rows and rates are
    closed together.

    Parameters
    ----------
    Q : (K, nq) array
    moved : (K,) int array
        The rate of each pose whose loops are closed.
    movable : (nv,) bool array
        Rates of the mechanism that may change.
    """
    ends, gaps = np.array(Q), np.zeros(len(Q))
    for alike in closure.alike:
        own = alike.part_of[moved]
        here = np.flatnonzero(own >= 0)
        if not here.size:
            continue
        if (own[here] == own[here[0]]).all():
            system = closure.systems[alike.parts[own[here[0]]]]
            ends[here], gaps[here] = _solved(system, Q[here], movable)
        else:
            ends[here], gaps[here] = alike.solved(Q[here], own[here], movable)
    return ends, gaps


def _solved(system: System, Q: Array, movable: AnyArray) -> tuple[Array, Array]:
    """Return ends (K, nq) and residuals (K,) of one system's steps from Q (K, nq) in the rates ``movable`` (nv,)."""
    moving = movable[system.rates]
    if len(moving) >= descent.WORTH_PARTING or len(Q) == 1:
        ends = [descent.gauss_newton(system, q, movable, CONVERGED) for q in Q]
        return np.array([q for q, _ in ends]), np.array([gap for _, gap in ends])

    def linearised(_: AnyArray, here: Array) -> tuple[Array, Array]:
        J, Phi = system.linearised(here)
        return J.dense() * moving, Phi

    return descent.gauss_newton_at_poses(
        linearised, lambda _, here, step: system.stepped(here, step), Q, CONVERGED
    )


@dataclass(frozen=True, eq=False)
class AlikeParts:
    """Parts without common joints that have the same numbers of rows and rates, such as the legs of a robot.

    Parameters
    ----------
    parts : (g,) int array
        Their numbers among the components of the closure.
    system : System
        The equations of all of them.
    rows : (g, r) int array
        The rows of each in ``system``.
    columns : (g, C) int array
        Its columns there.
    part_of : (nv,) int array
        The part among these that each rate of the mechanism moves; −1 for none.
    """

    parts: AnyArray
    system: System
    rows: AnyArray
    columns: AnyArray
    part_of: AnyArray

    def solved(self, Q: Array, own: AnyArray, movable: AnyArray) -> tuple[Array, Array]:
        """Return ends (K, nq) and residuals (K,) from Q (K, nq) of the parts ``own`` (K,), in ``movable`` (nv,)."""
        moving = movable[self.system.rates][self.columns]

        def linearised(active: AnyArray, here: Array) -> tuple[Array, Array]:
            J, Phi = self.system.linearised(here)
            part, pose = own[active], np.arange(len(active))
            rows, columns = self.rows[part], self.columns[part]
            of_part = J.dense()[pose[:, None, None], rows[:, :, None], columns[:, None, :]]
            return of_part * moving[part][:, None, :], Phi[pose[:, None], rows]

        def stepped(active: AnyArray, here: Array, step: Array) -> Array:
            whole = np.zeros((len(here), len(self.system.rates)))
            whole[np.arange(len(here))[:, None], self.columns[own[active]]] = step
            return self.system.stepped(here, whole)

        return descent.gauss_newton_at_poses(linearised, stepped, Q, CONVERGED)


def coupling_metres(coupling: Coupling, length: float) -> float:
    """Return the metres per unit of a coupling's residual, for a mechanism of characteristic length ``length``, m.

    A coupling between turns and travels has no unit of its own and may be multiplied by any factor, so it is
    normalised: its largest term counts as one length.
    """
    turns = [is_turn(term.freedom) for term in coupling.terms]
    if all(turns) or not any(turns):
        return length if all(turns) else 1.0
    terms = [abs(t.coefficient) * (1.0 if is_turn(t.freedom) else length) for t in coupling.terms]
    return length / (max(terms) or length)


def constraints_to_close(mech: Mechanism) -> list[Constraint]:
    """Return the constraints that the joint coordinates do not satisfy automatically."""
    drivers: list[Driver] = [d for d in mech.drivers if d.value is not None]
    rolling = [p for p in mech.pfaffians if p.holonomic]
    cut = [p for p in mech.tree.cut if p.kind.constrained]
    return [*cut, *mech.couplings, *drivers, *rolling]


# Residuals of constraints and their derivatives in the joint rates that move them, at many poses at once.


@dataclass(frozen=True, eq=False)
class _CutPairs:
    """Cut pairs of one type, with the moving joints that carry both sides and the pair frames relative to them.

    For each entry of J: its row among these pairs' rows, its column, and the sign of the side that it moves.
    """

    pairs: tuple[Pair, ...]
    rows: AnyArray
    a: AnyArray
    b: AnyArray
    X_a: Array
    X_b: Array
    own_rows: AnyArray
    columns: AnyArray
    sign: Array


@dataclass(frozen=True, eq=False)
class _Linear:
    """A row Σ coefficient · q − target on tree joint coordinates."""

    row: int
    q: AnyArray
    coefficients: Array
    target: float
    columns: AnyArray
    derivative: Array


class Residuals:
    """Position residuals, m and rad, of some constraints while some joints move.

    Parameters
    ----------
    rows : sequence of Rows
        Rows of these constraints, for the labels.
    joints : sequence of int
        Moving joints, as indices among ``mech.tree.joints``; the others keep their values.
    poses : BodyPoses
        Poses of the mechanism, for any position of the moving joints.

    Attributes
    ----------
    tree : MovingTree
    pattern : Pattern
        Sparsity pattern of the derivatives.
    slices : dict of constraint name to slice of rows
    translation, holonomic : (r,) bool array
    """

    def __init__(
        self,
        mech: Mechanism,
        constraints: Sequence[Constraint],
        rows: Sequence[Rows],
        joints: Sequence[int],
        poses: BodyPoses,
    ) -> None:
        self.mech = mech
        self.tree = MovingTree(mech, joints, poses)
        self.slices: dict[str, slice] = {}
        start = 0
        for of_one in rows:
            self.slices[of_one.constraint] = slice(start, start + len(of_one.components))
            start += len(of_one.components)
        self.translation = np.concatenate([of_one.translation for of_one in rows])
        self.holonomic = np.concatenate([of_one.holonomic for of_one in rows])
        self._point = poses.p_WC.mean(axis=0) if len(poses.p_WC) else np.zeros(3)
        cut = [c for c in constraints if isinstance(c, Pair)]
        self._paths = Paths(mech)
        kinds = dict.fromkeys(p.type for p in cut)
        self._cut = [self._alike([p for p in cut if p.type == kind]) for kind in kinds]
        linear = {c.name: self._linear(c) for c in constraints if isinstance(c, Coupling | Driver)}
        self._linear_rows = [row for rows in linear.values() for row in rows or ()]
        #: Constraints without a fast vectorised form are evaluated with all bodies, one pose at a time.
        self._others = [c for c in constraints if not isinstance(c, Pair) and not linear.get(c.name)]
        places = [self.slices[c.name] for c in self._others]
        self._rows_of_others = [k for rows in places for k in range(rows.start, rows.stop)]
        self.pattern = descent.Pattern((start, len(self.tree.rates)), self._blocks())

    def _blocks(self) -> list[tuple[slice, AnyArray]]:
        """Return rows and columns of each constraint's derivatives, in the order of :meth:`at`."""
        pairs = [(p, self._columns(self._paths.of_pair(p))) for alike in self._cut for p in alike.pairs]
        others = [(c, self._columns(self._paths.of(c))) for c in self._others]
        return [
            *((self.slices[pair.name], columns) for pair, columns in pairs),
            *((slice(linear.row, linear.row + 1), linear.columns) for linear in self._linear_rows),
            *((self.slices[other.name], columns) for other, columns in others),
        ]

    def _columns(self, joints: Iterable[int]) -> AnyArray:
        """Return the columns (n,) of the moving joints among ``joints``."""
        outer = (self.mech.tree.joints[k].outer for k in sorted(joints))
        nodes = [self.tree.node[body] for body in outer if body in self.tree.node]
        own = [np.arange(self.tree.first[k], self.tree.first[k + 1]) for k in nodes]
        return np.concatenate([np.zeros(0, dtype=int), *own])

    def at(self, Q: Array) -> tuple[Array, Array]:
        """Return the entries (K, n) of the derivatives in moving rates, and residuals (K, r), at poses Q (K, nq)."""
        frames = self.tree.frames(Q)
        values = []
        Phi = np.zeros((len(Q), self.pattern.shape[0]))
        for alike in self._cut:
            of_pairs, Phi[:, alike.rows] = self._of_pairs(alike, frames)
            values.append(of_pairs)
        for linear in self._linear_rows:
            Phi[:, linear.row] = Q[:, linear.q] @ linear.coefficients - linear.target
            values.append(np.broadcast_to(linear.derivative, (len(Q), len(linear.derivative))))
        if self._others:
            each = [self._of_others(q) for q in Q]
            values.append(np.array([entries for entries, _ in each]))
            Phi[:, self._rows_of_others] = [residuals for _, residuals in each]
        return np.hstack(values), Phi

    def _of_pairs(self, alike: _CutPairs, frames: Frames) -> tuple[Array, Array]:
        K = len(frames.X)
        X_WP = (frames.X[:, alike.a] @ alike.X_a).reshape(-1, 4, 4)
        X_WS = (frames.X[:, alike.b] @ alike.X_b).reshape(-1, 4, 4)
        zero = np.zeros((len(X_WP), 3))
        R_WP, R_WS = X_WP[:, :3, :3], X_WS[:, :3, :3]
        p_WP, p_WS = X_WP[:, :3, 3], X_WS[:, :3, 3]
        ends = JointFrames([], [], R_WP, R_WS, p_WP, p_WS, zero, zero, zero, zero, zero, zero, False)
        L, Phi = position_rows(alike.pairs[0].type, alike.pairs * K, ends)
        force, moment = L[:, :, :3], L[:, :, 3:]
        about = moment + cross((ends.p_WS - self._point)[:, None, :], force)
        on_body = np.concatenate((force, about), axis=2).reshape(K, -1, 6)
        twist = np.concatenate((frames.v0 + cross(frames.omega, self._point), frames.omega), axis=2)
        J = np.einsum("kni,kni->kn", on_body[:, alike.own_rows], twist[:, alike.columns])
        return J * alike.sign, Phi.reshape(K, -1)

    def _alike(self, pairs: Sequence[Pair]) -> _CutPairs:
        sides = [(self.tree.anchor(p.body_a), self.tree.anchor(p.body_b)) for p in pairs]
        count = len(pairs[0].kind.constrained)
        own_rows, columns, sign = [], [], []
        for k, pair in enumerate(pairs):
            own = self._columns(self._paths.of_pair(pair))
            to_b = np.isin(own, self._columns(self._paths.to(pair.body_b)))
            own_rows.append(np.repeat(np.arange(k * count, (k + 1) * count), len(own)))
            columns.append(np.tile(own, count))
            sign.append(np.tile(np.where(to_b, 1.0, -1.0), count))
        rows = [np.arange(self.slices[p.name].start, self.slices[p.name].stop) for p in pairs]
        return _CutPairs(
            tuple(pairs),
            np.concatenate(rows),
            np.array([a for (a, _), _ in sides]),
            np.array([b for _, (b, _) in sides]),
            homogeneous(X @ p.X_AP for ((_, X), _), p in zip(sides, pairs, strict=True)),
            homogeneous(X @ p.X_BS for (_, (_, X)), p in zip(sides, pairs, strict=True)),
            np.concatenate(own_rows),
            np.concatenate(columns),
            np.concatenate(sign),
        )

    def _linear(self, constraint: Coupling | Driver) -> list[_Linear] | None:
        """Return the rows of a coupling or driver of tree joints with angles and travels, None for others."""
        rows = []
        for k, (terms, target) in enumerate(_terms(self.mech, constraint)):
            q = []
            derivative: dict[int, float] = {}
            for name, freedom, coefficient in terms:
                joint = self.mech.tree.joint_of_pair.get(name)
                if joint is None or joint.pair is None or has_quaternion(joint.pair.type):
                    return None
                slot = joint.pair.kind.free.index(freedom)
                q.append(joint.q.start + slot)
                if (node := self.tree.node.get(joint.outer)) is not None:
                    column = int(self.tree.first[node]) + slot
                    derivative[column] = derivative.get(column, 0.0) + coefficient
            coefficients = np.array([coefficient for _, _, coefficient in terms])
            row, columns = self.slices[constraint.name].start + k, np.array(list(derivative), dtype=int)
            values = np.array(list(derivative.values()))
            rows.append(_Linear(row, np.array(q), coefficients, target, columns, values))
        return rows

    def _of_others(self, q: Array) -> tuple[Array, Array]:
        """Return the entries (n,) of J, and the residuals, of constraints without a fast form at q (nq,)."""
        poses = forward(self.mech, q)
        rows = rows_of(self.mech, self._others, poses, q)
        J = tree_motion(self.mech, poses).reduce(rows)[:, self.tree.rates]
        start, values = 0, [np.zeros(0)]
        for constraint, of_one in zip(self._others, rows, strict=True):
            stop = start + len(of_one.components)
            values.append(J[start:stop, self._columns(self._paths.of(constraint))].ravel())
            start = stop
        return np.concatenate(values), np.concatenate([of_one.Phi for of_one in rows])


def _terms(
    mech: Mechanism, constraint: Coupling | Driver
) -> list[tuple[list[tuple[str, str, float]], float]]:
    """Return the terms of each row, as (joint, freedom, coefficient), and its target."""
    if isinstance(constraint, Coupling):
        return [([(t.joint, t.freedom, t.coefficient) for t in constraint.terms], constraint.offset)]
    freedoms = constraint.freedoms or mech.pair_by_name[constraint.joint].kind.free
    return [([(constraint.joint, freedom, 1.0)], constraint.value or 0.0) for freedom in freedoms]


# Joints that can close each constraint, and groups of constraints that share joints.


@dataclass(frozen=True)
class Group:
    """Constraints that must be closed together, and the joints that can close them.

    Parameters
    ----------
    constraints : tuple of int
        Indices among the constraints to close.
    joints : tuple of int
        Indices among ``mech.tree.joints``.
    """

    constraints: tuple[int, ...]
    joints: tuple[int, ...]


class Paths:
    """Paths through the spanning tree, as indices among ``mech.tree.joints``."""

    def __init__(self, mech: Mechanism) -> None:
        self.mech = mech
        self.index = {joint.outer: k for k, joint in enumerate(mech.tree.joints)}

    def to(self, body: str) -> frozenset[int]:
        """Return the joints between the ground and a body."""
        return frozenset(self.index[joint.outer] for joint in self.mech.tree.way_in(body))

    def of_pair(self, pair: Pair) -> frozenset[int]:
        """Return the joints between both bodies of a pair."""
        return self.to(pair.body_a) ^ self.to(pair.body_b)

    def of(self, constraint: Constraint) -> frozenset[int]:
        """Return the joints (with at least one freedom) that change the residual of a constraint."""
        match constraint:
            case Pair():
                found = self.of_pair(constraint)
            case Coupling():
                found = self._of_measured(term.joint for term in constraint.terms)
            case Driver() | Lock():
                found = self._of_measured((constraint.joint,))
            case _:
                found = self.to(constraint.body)
        joints = self.mech.tree.joints
        return frozenset(k for k in found if joints[k].qd.stop > joints[k].qd.start)

    def _of_measured(self, names: Iterable[str]) -> frozenset[int]:
        pairs = (self.mech.pair_by_name[name] for name in names)
        return frozenset().union(*(self.of_pair(pair) for pair in pairs))


def connected(members: Sequence[frozenset[int]], names: Sequence[int]) -> list[Group]:
    """Return the groups of constraints that share joints, in the order of their first constraint.

    Parameters
    ----------
    members : sequence of sets of int
        The joints of each constraint.
    names : sequence of int
        The number of each constraint.
    """
    owner: dict[int, int] = {}
    sets: DisjointSets[int] = DisjointSets()
    for k, joints in enumerate(members):
        for joint in joints:
            sets.join(k, owner.setdefault(joint, k))
    parts: dict[int, list[int]] = {}
    for k in range(len(members)):
        parts.setdefault(sets.find(k), []).append(k)
    return [
        Group(
            tuple(names[k] for k in part),
            tuple(sorted(frozenset().union(*(members[k] for k in part)))),
        )
        for part in sorted(parts.values(), key=lambda p: p[0])
    ]


#: Range to either side from which a travel without limits is drawn, in characteristic lengths.
_REACH = 2.0
_TURN = 2 * np.pi
#: Rounding tolerance of limits: rad or lengths of the mechanism, and as a fraction of the value.
LIMIT_SLACK = 1e-9


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
        slack = LIMIT_SLACK * (float(closure.units[joint.qd][0]) + abs(value))
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
