"""Residuals of constraints and their derivatives in joint rates, at many poses at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

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
    """Pairs of one type that are no tree joints: the carriers of both sides, and their frames there."""

    pairs: tuple[Pair, ...]
    rows: AnyArray
    a: AnyArray
    b: AnyArray
    X_a: Array
    X_b: Array
    sign: Array


@dataclass(frozen=True, eq=False)
class _Linear:
    """A row Σ coefficient · q − target on coordinates of tree joints."""

    row: int
    q: AnyArray
    coefficients: Array
    target: float
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
        paths = Paths(mech)
        self._cut = [
            self._alike([p for p in cut if p.type == kind], paths)
            for kind in dict.fromkeys(p.type for p in cut)
        ]
        linear = {c.name: self._linear(c) for c in constraints if isinstance(c, Coupling | Driver)}
        self._linear_rows = [row for rows in linear.values() for row in rows or ()]
        #: What has no short form is computed with all bodies, one pose after the other.
        self._others = [c for c in constraints if not isinstance(c, Pair) and not linear.get(c.name)]

    def at(self, Q: Array) -> tuple[Array, Array]:
        """Return derivatives (K, r, C) in the moving rates and residuals (K, r) at poses Q (K, nq)."""
        frames = self.tree.frames(Q)
        J = np.zeros((len(Q), len(self.translation), len(self.tree.rates)))
        Phi = np.zeros(J.shape[:2])
        for alike in self._cut:
            J[:, alike.rows], Phi[:, alike.rows] = self._of_pairs(alike, frames)
        for linear in self._linear_rows:
            Phi[:, linear.row] = Q[:, linear.q] @ linear.coefficients - linear.target
            J[:, linear.row] = linear.derivative
        for k, q in enumerate(Q) if self._others else ():
            for rows, derivative, residual in self._of_others(q):
                J[k, rows], Phi[k, rows] = derivative, residual
        return J, Phi

    def _of_pairs(self, alike: _CutPairs, frames: Frames) -> tuple[Array, Array]:
        K = len(frames.X)
        X_WP = (frames.X[:, alike.a] @ alike.X_a).reshape(-1, 4, 4)
        X_WS = (frames.X[:, alike.b] @ alike.X_b).reshape(-1, 4, 4)
        ends = _at_rest(X_WP, X_WS)
        L, Phi = position_rows(alike.pairs[0].type, alike.pairs * K, ends)
        force, moment = L[:, :, :3], L[:, :, 3:]
        about = (moment + cross((ends.p_WS - self._point)[:, None, :], force)).reshape(K, -1, 3)
        v = frames.v0 + cross(frames.omega, self._point)
        J = force.reshape(K, -1, 3) @ np.swapaxes(v, 1, 2) + about @ np.swapaxes(frames.omega, 1, 2)
        return J * alike.sign, Phi.reshape(K, -1)

    def _alike(self, pairs: Sequence[Pair], paths: Paths) -> _CutPairs:
        sides = [(self.tree.anchor(p.body_a), self.tree.anchor(p.body_b)) for p in pairs]
        count = len(pairs[0].kind.constrained)
        sign = np.zeros((len(pairs), count, len(self.tree.rates)))
        outer = self.mech.tree.joints
        for k, pair in enumerate(pairs):
            to_b = paths.to(pair.body_b)
            for joint in paths.of_pair(pair):
                if (node := self.tree.node.get(outer[joint].outer)) is not None:
                    columns = slice(self.tree.first[node], self.tree.first[node + 1])
                    sign[k, :, columns] = 1.0 if joint in to_b else -1.0
        rows = [np.arange(self.slices[p.name].start, self.slices[p.name].stop) for p in pairs]
        return _CutPairs(
            tuple(pairs),
            np.concatenate(rows),
            np.array([a for (a, _), _ in sides]),
            np.array([b for _, (b, _) in sides]),
            homogeneous(X @ p.X_AP for ((_, X), _), p in zip(sides, pairs, strict=True)),
            homogeneous(X @ p.X_BS for (_, (_, X)), p in zip(sides, pairs, strict=True)),
            sign.reshape(len(pairs) * count, -1),
        )

    def _linear(self, constraint: Coupling | Driver) -> list[_Linear] | None:
        """Return the rows of a coupling or driver of tree joints whose coordinates are angles and travels."""
        rows = []
        for k, (terms, target) in enumerate(_terms(self.mech, constraint)):
            q, rates = [], []
            for name, freedom, _ in terms:
                joint = self.mech.tree.joint_of_pair.get(name)
                if joint is None or joint.pair is None or has_quaternion(joint.pair.type):
                    return None
                slot = joint.pair.kind.free.index(freedom)
                q.append(joint.q.start + slot)
                rates.append(joint.qd.start + slot)
            coefficients = np.array([term[2] for term in terms])
            derivative = np.zeros(len(self.tree.rates))
            for rate, coefficient in zip(rates, coefficients, strict=True):
                derivative[self.tree.rates == rate] += coefficient
            row = self.slices[constraint.name].start + k
            rows.append(_Linear(row, np.array(q), coefficients, target, derivative))
        return rows

    def _of_others(self, q: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Yield rows, their part of J and residual at q (nq,)."""
        poses = forward(self.mech, q)
        rows = rows_of(self.mech, self._others, poses, q)
        J = tree_motion(self.mech, poses).reduce(rows)[:, self.tree.rates]
        start = 0
        for of_one in rows:
            stop = start + len(of_one.components)
            yield self.slices[of_one.constraint], J[start:stop], of_one.Phi
            start = stop


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
