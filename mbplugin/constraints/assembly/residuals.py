"""Residuals of constraints and their derivatives in the joint rates that move them, at many poses at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.assembly.descent.jacobians import Pattern
from mbplugin.constraints.assembly.loops import Paths
from mbplugin.constraints.assembly.moving import Frames, MovingTree, homogeneous
from mbplugin.constraints.reduction.velocity import tree_motion
from mbplugin.constraints.rows.build import rows_of
from mbplugin.constraints.rows.joint_frames import JointFrames
from mbplugin.constraints.rows.pairs import position_rows
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.coupling import Coupling, Driver
from mbplugin.model.mechanism.joint import has_quaternion
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array, cross


@dataclass(frozen=True, eq=False)
class _CutPairs:
    """Pairs of one type that are no tree joints: the carriers of both sides, and their frames there.

    Of each entry of J: its row among theirs, its column, and the side that it moves.
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
    """A row Σ coefficient · q − target on coordinates of tree joints."""

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
        Theirs, for the labels.
    joints : sequence of int
        Positions among ``mech.tree.joints`` of those that move; the others keep their values.
    poses : BodyPoses
        Of the mechanism, with the moving joints anywhere.

    Attributes
    ----------
    tree : MovingTree
    pattern : Pattern
        Of the derivatives.
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
        #: What has no short form is computed with all bodies, one pose after the other.
        self._others = [c for c in constraints if not isinstance(c, Pair) and not linear.get(c.name)]
        places = [self.slices[c.name] for c in self._others]
        self._rows_of_others = [k for rows in places for k in range(rows.start, rows.stop)]
        self.pattern = Pattern((start, len(self.tree.rates)), self._blocks())

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
        """Return the columns (n,) of those of some joints that move."""
        outer = (self.mech.tree.joints[k].outer for k in sorted(joints))
        nodes = [self.tree.node[body] for body in outer if body in self.tree.node]
        own = [np.arange(self.tree.first[k], self.tree.first[k + 1]) for k in nodes]
        return np.concatenate([np.zeros(0, dtype=int), *own])

    def at(self, Q: Array) -> tuple[Array, Array]:
        """Return the entries (K, n) of the derivatives in the moving rates and residuals (K, r) at poses Q (K, nq)."""
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
        ends = _at_rest(X_WP, X_WS)
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
        """Return the rows of a coupling or driver of tree joints whose coordinates are angles and travels."""
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
        """Return entries (n,) of J and residuals of the constraints without a short form at q (nq,)."""
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
    """Return what each row adds up, as (joint, freedom, coefficient), and its target."""
    if isinstance(constraint, Coupling):
        return [([(t.joint, t.freedom, t.coefficient) for t in constraint.terms], constraint.offset)]
    freedoms = constraint.freedoms or mech.pair_by_name[constraint.joint].kind.free
    return [([(constraint.joint, freedom, 1.0)], constraint.value or 0.0) for freedom in freedoms]


def _at_rest(X_WP: Array, X_WS: Array) -> JointFrames:
    """Return both ends of pairs, X_WP (n, 4, 4) and X_WS (n, 4, 4), as frames of pairs that do not move."""
    zero = np.zeros((len(X_WP), 3))
    R_WP, R_WS = X_WP[:, :3, :3], X_WS[:, :3, :3]
    p_WP, p_WS = X_WP[:, :3, 3], X_WS[:, :3, 3]
    return JointFrames([], [], R_WP, R_WS, p_WP, p_WS, zero, zero, zero, zero, zero, zero, False)
