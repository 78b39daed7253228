"""Joint rates and accelerations that agree with every loop: C v + b = 0 and C v̇ = Γ."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.constraints.reduction.scaling import characteristic_length, rate_scale, row_scale
from mbplugin.constraints.reduction.velocity import body_twists, tree_motion
from mbplugin.constraints.rows.build import rows_of
from mbplugin.constraints.rows.planar import planar_rows
from mbplugin.constraints.rows.row import Rows
from mbplugin.constraints.stated_state import following_rates, seen_rates
from mbplugin.dynamics.accelerations import body_accelerations
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.scene import State
from mbplugin.model.spatial import Array

#: Below this fraction of the largest motion, what a loop cannot follow is rounding of the file.
_FOLLOWED = 1e-3
#: And below this fraction of the motion itself it is rounding of the numbers.
_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class JointMotion:
    """The closing constraints of a mechanism at a pose, in joint rates.

    Parameters
    ----------
    q : (nq,) array
        A closed pose.
    columns : tuple of int
        Twist components that count, all six or those of a plane.
    """

    mech: Mechanism
    q: Array
    poses: BodyPoses
    columns: tuple[int, ...]

    @cached_property
    def closing(self) -> tuple[Constraint, ...]:
        """All constraints but the pairs of the tree, in the order of the rows."""
        in_tree = self.mech.tree.joint_of_pair
        return tuple(c for c in self.mech.constraints() if c.name not in in_tree)

    def rows(self, twists: Array | None = None) -> list[Rows]:
        """Return the rows of the closing constraints; ``twists`` (N, 6)."""
        rows = rows_of(self.mech, self.closing, self.poses, self.q, twists)
        return [planar_rows(r, self.columns) for r in rows]

    @cached_property
    def length(self) -> float:
        """Characteristic length, m."""
        return characteristic_length(self.rows(), self.poses.p_WC, self.mech)

    @cached_property
    def units(self) -> Array:
        """Size of one unit of each rate: a travel is measured in characteristic lengths; (nv,).

        Zero where a rate does not move anything in the plane.
        """
        seen = seen_rates(tree_motion(self.mech, self.poses).axes, self.columns)
        return rate_scale(self.mech, self.length) * seen

    def jacobian(self, rows: list[Rows]) -> Array:
        """Return rows in joint rates, both in characteristic lengths, (k, nv)."""
        J = tree_motion(self.mech, self.poses).reduce(rows)
        scale = [row_scale(r, self.length) for r in rows]
        return np.asarray((np.concatenate(scale)[:, None] if scale else 1.0) * J * self.units)

    def free_motions(self, redundancy: int) -> Array:
        """Return an orthonormal basis (nv, f) of the scaled rates that all constraints allow."""
        J = self.jacobian(self.rows())
        inside = self.units > 0
        Vt = np.linalg.svd(J[:, inside])[2] if len(J) else np.eye(int(inside.sum()))
        rank = min(len(J) - redundancy, len(Vt))
        free = np.zeros((len(inside), len(Vt) - rank))
        free[inside] = Vt[rank:].T
        return free

    def _follow(self, wanted: Array, gap: Array, named: Collection[str]) -> Array:
        """Return accelerations (nv,) near ``wanted`` (nv,) that close a ``gap`` (k,) of the k closing rows.

        Named ones are kept where the others can close the gap; the correction is the smallest in characteristic
        lengths.

        Raises
        ------
        BadUsage
            No accelerations close it: two drivers contradict each other, for example.
        """
        rows = self.rows()
        if not rows or not gap.any():
            return wanted
        J = self.jacobian(rows)
        gap = gap * np.concatenate([row_scale(r, self.length) for r in rows])
        free = np.array([name not in named for name in self.mech.qd_names])
        size = max(float(np.abs(gap).max()), 1e-300)
        # what is left of rates that satisfy redundant rows already is rounding, which no step closes
        moved = np.divide(wanted, self.units, out=np.zeros_like(wanted), where=self.units > 0)
        closed = max(_FOLLOWED * size, _ROUNDING * float((np.abs(J) @ np.abs(moved)).max(initial=0.0)))
        for movable in (free, np.ones_like(free)):
            step = np.zeros(len(wanted))
            step[movable] = np.linalg.lstsq(J[:, movable], -gap, rcond=1e-4)[0] if movable.any() else 0.0
            left = J @ step + gap
            if np.abs(left).max() <= closed:
                return np.asarray(wanted + step * self.units)
        worst = int(np.abs(left).argmax())
        owner = [r.constraint for r in rows for _ in r.components][worst]
        raise BadUsage(
            f"no accelerations satisfy constraint {owner!r} together with the others",
            remedy="change what its drivers prescribe, or give fewer values",
        )

    def rates(self, wanted: Array, named: Collection[str]) -> Array:
        """Return joint rates (nv,) near ``wanted`` (nv,) with C v + b = 0 (wojtyra2013 (5)), the named ones as wanted.

        Raises
        ------
        ContradictedState
            Named rates that contradict each other.
        """
        names = frozenset(named)
        stated = State(self.q, wanted, given_rates=names, named_rates=names)
        return following_rates(self.mech, self.q, stated, self.columns, self.poses)[0]

    def accelerations(self, wanted: Array, qd: Array, named: Collection[str]) -> tuple[Array, Array]:
        """Return joint accelerations (nv,) with C v̇ = Γ (wojtyra2013 (8)), and v̇ of all bodies (N, 6).

        The accelerations are near ``wanted`` (nv,); the rates are ``qd`` (nv,).
        """
        twists = body_twists(self.mech, self.poses, qd)
        v_dot = body_accelerations(self.mech, self.poses, twists, wanted)
        qdd = self._follow(wanted, self._gap(self.rows(twists), v_dot), named)
        return qdd, body_accelerations(self.mech, self.poses, twists, qdd)

    def _gap(self, rows: list[Rows], v_dot: Array) -> Array:
        """Return C v̇ − Γ of the closing rows, (k,), for accelerations of the bodies v_dot (N, 6)."""
        sides = [
            sum((e @ v_dot[i] for i, e in r.entries), np.zeros(len(r.components))) - r.Gamma for r in rows
        ]
        return np.concatenate(sides) if sides else np.zeros(0)
