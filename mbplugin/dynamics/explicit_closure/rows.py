"""Closing rows in joint rates: J q̈ = Γ, with the position residual, all in metres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from mbplugin.constraints.reduction.scaling import characteristic_length, rate_scale
from mbplugin.constraints.reduction.velocity import TreeMotion, body_twists, tree_motion
from mbplugin.constraints.rows.build import rows_of
from mbplugin.constraints.rows.row import Rows
from mbplugin.dynamics.accelerations import body_accelerations
from mbplugin.model.mechanism.coupling import Coupling
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array

Closings = Sequence[Pair | Coupling]


@dataclass(frozen=True, eq=False)
class ClosingRows:
    """Rows of some closures and couplings at a pose.

    Parameters
    ----------
    closings : sequence of Pair or Coupling
    length : float
        Multiplies rows in rad, m.
    """

    mech: Mechanism
    closings: Closings
    length: float

    @cached_property
    def units(self) -> Array:
        """The unit of each joint rate, (nv,): ``length`` for travels, so that columns are comparable."""
        return rate_scale(self.mech, self.length)

    def linearise(self, q: Array) -> tuple[Array, Array]:
        """Return J (k, nv) and the residual (k,) at joint coordinates q (nq,)."""
        poses, motion = _pose(self.mech, q.tobytes())
        rows = rows_of(self.mech, self.closings, poses, q)
        scale = self._scale(rows)
        return scale[:, None] * motion.reduce(rows), scale * _joined([r.Phi for r in rows])

    def gamma(self, q: Array, qd: Array) -> Array:
        """Return Γ (k,) of J q̈ = Γ at q (nq,) and qd (nv,): the rows' own, less what the rates alone accelerate."""
        poses, _ = _pose(self.mech, q.tobytes())
        twists, carried = _carried(self.mech, q.tobytes(), qd.tobytes())
        rows = rows_of(self.mech, self.closings, poses, q, twists)
        own = [r.Gamma - sum((e @ carried[i] for i, e in r.entries), np.zeros(len(r.Gamma))) for r in rows]
        return self._scale(rows) * _joined(own)

    def residuals(self, q: Array) -> dict[str, float]:
        """Return the largest position residual of each constraint at q (nq,), m."""
        rows = rows_of(self.mech, self.closings, forward(self.mech, q), q)
        return {r.constraint: float(np.abs(self._scale([r]) * r.Phi).max(initial=0.0)) for r in rows}

    def _scale(self, rows: Sequence[Rows]) -> Array:
        """Return the factors (k,) that make the rows metres: 1 for travels, ``length`` for angles."""
        return _joined([np.where(r.translation, 1.0, self.length) for r in rows])


@lru_cache(maxsize=2)
def _pose(mech: Mechanism, q: bytes) -> tuple[BodyPoses, TreeMotion]:
    """Return the bodies at joint coordinates, and how they move; loops of one mechanism ask for the same pose."""
    poses = forward(mech, np.frombuffer(q))
    return poses, tree_motion(mech, poses)


@lru_cache(maxsize=2)
def _carried(mech: Mechanism, q: bytes, qd: bytes) -> tuple[Array, Array]:
    """Return twists (N, 6) of all bodies at a state, and what they accelerate by the rates alone (N, 6)."""
    poses, rates = _pose(mech, q)[0], np.frombuffer(qd)
    twists = body_twists(mech, poses, rates)
    return twists, body_accelerations(mech, poses, twists, np.zeros(len(rates)))


def closing_rows(mech: Mechanism, closings: Closings, q: Array) -> ClosingRows:
    """Return the rows of some closures and couplings; the pose q (nq,) sets the characteristic length."""
    poses = forward(mech, q)
    rows = rows_of(mech, closings, poses, q)
    return ClosingRows(mech, closings, characteristic_length(rows, poses.p_WC, mech) if rows else 1.0)


def _joined(parts: Sequence[Array]) -> Array:
    """Return the parts one behind the other, (k,)."""
    return np.concatenate(parts) if parts else np.zeros(0)
