"""Dimensionless rows with one characteristic length ℓ per block, and the tree velocity transformation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mbplugin.constraints.rows import Rows
from mbplugin.model.mechanism.kinematics import BodyPoses, joint_axes
from mbplugin.model.mechanism.mechanism import WORLD, Mechanism
from mbplugin.model.spatial import (
    COMPONENTS,
    ROTATION,
    TRANSLATION,
    AnyArray,
    Array,
    is_turn,
    shift_rows,
    shift_twists,
    skew,
)
from mbplugin.phrases import median

#: A lever arm counts as zero below this fraction of the longest one.
_LEVER_ARM_FLOOR = 1e-9
#: A length counts as zero below this fraction of the largest coordinate it is computed from (rounding noise).
_NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class BlockFrame:
    """Reference of a block's dimensionless rows: lengths in units of ℓ, moments about one point.

    Parameters
    ----------
    length : float
        ℓ, m.
    point : (3,) array
        Near the block, so that lever arms stay small, m.
    mask : (6,) array
        One for the twist components of the view (space or a plane), else zero.
    """

    length: float
    point: Array
    mask: Array

    def rows_at_all(self, items: Sequence[tuple[Rows, Array, Array, Array]]) -> list[Array]:
        """Return :meth:`rows_at` of many (rows, entry, p_WC, at), vectorised over equal shapes."""
        out: list[Array] = [np.zeros((0, 6))] * len(items)
        by_count: dict[int, list[int]] = {}
        for k, (_, entry, _, _) in enumerate(items):
            by_count.setdefault(len(entry), []).append(k)
        for members in by_count.values():
            entries = np.array([items[k][1] for k in members])
            scale = np.array([row_scale(items[k][0], self.length) for k in members])
            arms = np.array([items[k][2] - items[k][3] for k in members]) / self.length
            sized = entries * scale[:, :, None] * ([self.length] * 3 + [1.0] * 3)
            for k, W in zip(members, shift_rows(sized, arms[:, None, :]) * self.mask, strict=True):
                out[k] = W
        return out

    def scaled(self, rows: Rows, entry: Array) -> Array:
        """Return dimensionless rows (k, 6) on a body's twist [v/ℓ, ω] at its centre of mass; entry (k, 6)."""
        return np.asarray(entry * row_scale(rows, self.length)[:, None] * ([self.length] * 3 + [1.0] * 3))

    def rows_at(self, rows: Rows, entry: Array, p_WC: Array, at: Array) -> Array:
        """Return dimensionless rows (k, 6) on a body's twist [v/ℓ, ω] at a point.

        Parameters
        ----------
        entry : (k, 6) array
            Coefficients on the body's twist at its centre of mass.
        p_WC, at : (3,) array
            The centre of mass and the point, m.
        """
        arm = (p_WC - at) / self.length
        return np.asarray(shift_rows(self.scaled(rows, entry), arm) * self.mask)


def characteristic_length(rows: Sequence[Rows], points: Array, mech: Mechanism) -> float:
    """Return the median nonzero lever arm |rotation part|/|translation part| of the rows, m.

    If there is none, return the extent of the bodies' centres of mass ``points`` (n, 3); if that is zero too, the
    largest distance of a joint from a centre of mass; if all are zero, 1 m.
    """
    entries = [entry[r.translation] for r in rows for _, entry in r.entries]
    stacked = np.concatenate(entries) if entries else np.zeros((0, 6))
    force, moment = (np.linalg.norm(stacked[:, half], axis=1) for half in (TRANSLATION, ROTATION))
    lever_arms = moment[force > 0] / force[force > 0]
    noise = _NOISE * max(float(np.abs(points).max(initial=0.0)), mech.largest_place)
    if lever_arms.size and lever_arms.max() > noise:
        return median(lever_arms[lever_arms > _LEVER_ARM_FLOOR * lever_arms.max()].tolist())
    extent = float(np.ptp(points, axis=0).max()) if len(points) else 0.0
    if extent > noise:
        return extent
    return mech.largest_arm if mech.largest_arm > noise else 1.0


def rate_scale(mech: Mechanism, length: float) -> Array:
    """Return the unit of each joint rate, (nv,): ``length`` (m) for travels, 1 rad for turns.

    Rates divided by it are comparable and independent of the unit of length.
    """
    scale = np.ones(len(mech.qd_names))
    for joint in mech.tree.joints:
        free = joint.pair.kind.free if joint.pair else COMPONENTS
        scale[joint.qd] = [1.0 if is_turn(component) else length for component in free]
    return scale


def row_scale(rows: Rows, length: float) -> Array:
    """Return the factor that makes each row dimensionless and of unit size, (k,)."""
    if rows.components != ("c",):
        return np.where(rows.translation, 1.0 / length, 1.0)
    # the scale of a coupling's coefficients is arbitrary, so it is normalised by its largest term before summation
    size = np.array([length] * 3 + [1.0] * 3)
    entries = (*rows.entries, *rows.parts)
    return np.array([1.0 / max(float(np.linalg.norm(_pure_part(e) * size)) for _, e in entries)])


def _pure_part(entry: Array) -> Array:
    """Return a coupling's ``entry`` (1, 6) as (6,), without the lever arm of translations."""
    e = entry[0]
    return np.concatenate((e[:3], np.zeros(3))) if e[:3].any() else e


# The tree velocity transformation v = S q̇, as a whole or applied to some rows.


@dataclass(frozen=True, eq=False)
class TreeMotion:
    """Motion axes of all joint rates about one common point, and the rates that move each body.

    Parameters
    ----------
    axes : (6, nv) array
        Twist per unit rate, world axes, at ``point``.
    point : (3,) array
        Near the mechanism, so that lever arms stay small.
    """

    mech: Mechanism
    poses: BodyPoses
    axes: Array
    point: Array
    _paths: dict[str, AnyArray] = field(default_factory=dict)

    def path(self, body: str) -> AnyArray:
        """Return the indices (k,) of the k rates that move a body, inner ones first."""
        chain: list[str] = []
        while body != WORLD and body not in self._paths:
            chain.append(body)
            body = self.mech.tree.joint_of_body[body].inner
        path = self._paths.get(body, np.zeros(0, dtype=int))
        for outer in reversed(chain):
            qd = self.mech.tree.joint_of_body[outer].qd
            path = np.concatenate((path, np.arange(qd.start, qd.stop)))
            self._paths[outer] = path
        return path

    def reduce(self, rows: Sequence[Rows]) -> Array:
        """Return rows in joint rates, C_rows S, shape (k, nv)."""
        out = np.zeros((sum(len(r.components) for r in rows), self.axes.shape[1]))
        start = 0
        for r in rows:
            stop = start + len(r.components)
            for body, entry in r.entries:
                path = self.path(self.mech.bodies[body].name)
                about_point = shift_rows(entry, self.poses.p_WC[body] - self.point)
                out[start:stop, path] += about_point @ self.axes[:, path]
            start = stop
        return out


def tree_motion(mech: Mechanism, poses: BodyPoses) -> TreeMotion:
    """Return the motion axes of the spanning tree at a pose."""
    point = poses.p_WC.mean(axis=0) if len(mech.bodies) else np.zeros(3)
    axes = np.zeros((6, len(mech.qd_names)))
    for joint in mech.tree.joints:
        S, at = joint_axes(mech, joint, poses)
        axes[:, joint.qd] = shift_twists(S, point - at)
    return TreeMotion(mech, poses, axes, point)


def velocity_transformation(mech: Mechanism, poses: BodyPoses) -> Array:
    """Return S (6N, nv): twists [v; ω] of all bodies per joint rate, world axes at the COMs."""
    motion = tree_motion(mech, poses)
    S = np.zeros((6 * len(mech.bodies), motion.axes.shape[1]))
    for i, body in enumerate(mech.bodies):
        path = motion.path(body.name)
        S[6 * i : 6 * i + 6, path] = shift_twists(motion.axes[:, path], poses.p_WC[i] - motion.point)
    return S


def body_twists(mech: Mechanism, poses: BodyPoses, qd: Array) -> Array:
    """Return the twists (N, 6) of all bodies at joint rates qd (nv,)."""
    twists = np.zeros((len(mech.bodies), 6))
    if not qd.any():
        return twists
    motion = tree_motion(mech, poses)
    for joint in mech.tree.joints:
        step = motion.axes[:, joint.qd] @ qd[joint.qd]
        inner = mech.body_index[joint.inner]
        twists[mech.body_index[joint.outer]] = step + (twists[inner] if inner >= 0 else 0.0)
    # from the common point to each centre of mass
    arms = poses.p_WC - motion.point
    twists[:, TRANSLATION] -= np.einsum("nij,nj->ni", skew(arms), twists[:, ROTATION])
    return twists


def mass_matrix(mech: Mechanism, poses: BodyPoses) -> Array:
    """Return M (6N, 6N), block-diagonal: m I and R I_C Rᵀ per body, world axes."""
    M = np.zeros((6 * len(mech.bodies), 6 * len(mech.bodies)))
    for i, body in enumerate(mech.bodies):
        R = poses.R_WL[i]
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = body.mass * np.eye(3)
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = R @ body.I_C @ R.T
    return M
