"""The tree velocity transformation v = S q̇, whole or only where some rows need it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.kinematics import BodyPoses, joint_axes
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import ROTATION, TRANSLATION, AnyArray, Array, shift_rows, shift_twists, skew


@dataclass(frozen=True, eq=False)
class TreeMotion:
    """Motion axes of all joint rates about one common point, and which rates move a body.

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
