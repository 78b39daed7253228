"""Both ends of several pairs at once: joint frames, and the motion of the bodies that carry them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import ROTATION, TRANSLATION, Array, cross, shift_rows


@dataclass(frozen=True, eq=False)
class JointFrames:
    """Predecessor side a and successor side b of n pairs, world axes; the ground is at rest.

    Parameters
    ----------
    a, b : list of int
        Body indices; −1 is the ground.
    R_WP, R_WS : (n, 3, 3) array
    p_WP, p_WS, p_WCa, p_WCb : (n, 3) array, m
    v_a, v_b, omega_a, omega_b : (n, 3) array
        Velocities of the centres of mass (m/s) and angular velocities (rad/s).
    moving : bool
        Whether any twist was given.
    """

    a: list[int]
    b: list[int]
    R_WP: Array
    R_WS: Array
    p_WP: Array
    p_WS: Array
    p_WCa: Array
    p_WCb: Array
    v_a: Array
    v_b: Array
    omega_a: Array
    omega_b: Array
    moving: bool

    def velocity_a(self, p_W: Array) -> Array:
        """Return the velocities (n, 3) of a's material points at ``p_W`` (n, 3), m/s."""
        return self.v_a + cross(self.omega_a, p_W - self.p_WCa)

    def velocity_b(self, p_W: Array) -> Array:
        """Return the velocities (n, 3) of b's material points at ``p_W`` (n, 3), m/s."""
        return self.v_b + cross(self.omega_b, p_W - self.p_WCb)

    def entries(self, L: Array) -> tuple[Array, Array]:
        """Return what rows L (n, k, 6) on the relative twists at S are on each body's twist at its COM."""
        arm_a, arm_b = (self.p_WS - self.p_WCa)[:, None, :], (self.p_WS - self.p_WCb)[:, None, :]
        return -shift_rows(L, arm_a), shift_rows(L, arm_b)

    def gamma(self, L: Array, L_dot: Array) -> Array:
        """Return Γ (n, k) of rows L on the relative twists at S (wojtyra2013 (9), these coordinates).

        L and L_dot (n, k, 6) are rows and their derivatives. The point moves with b, so a's part follows
        b's motion.
        """
        if not self.moving:
            return np.zeros(L.shape[:2])
        v_point = self.velocity_b(self.p_WS)
        of_b = cross(self.omega_b, cross(self.omega_b, self.p_WS - self.p_WCb))
        of_a = cross(self.omega_a, v_point - self.v_a)
        relative = np.concatenate((v_point - self.velocity_a(self.p_WS), self.omega_b - self.omega_a), axis=1)
        bias = np.einsum("nki,ni->nk", L[:, :, TRANSLATION], of_b - of_a)
        return np.asarray(-bias - np.einsum("nki,ni->nk", L_dot, relative))


def joint_frames(
    mech: Mechanism, pairs: Sequence[Pair], poses: BodyPoses, twists: Array | None
) -> JointFrames:
    """Return both ends of some pairs at a pose, with twists (N, 6) or at rest."""
    a = [mech.body_index[pair.body_a] for pair in pairs]
    b = [mech.body_index[pair.body_b] for pair in pairs]
    # index −1 finds the ground behind the last body
    R_WL = np.concatenate((poses.R_WL, np.eye(3)[None]))
    p_WL, p_WC = (np.concatenate((p, np.zeros((1, 3)))) for p in (poses.p_WL, poses.p_WC))
    V = np.zeros((len(p_WL), 6))
    if twists is not None:
        V[:-1] = twists
    R_AP = np.array([pair.X_AP.R for pair in pairs])
    R_BS = np.array([pair.X_BS.R for pair in pairs])
    p_AP = np.array([pair.X_AP.p for pair in pairs])
    p_BS = np.array([pair.X_BS.p for pair in pairs])
    return JointFrames(
        a,
        b,
        R_WL[a] @ R_AP,
        R_WL[b] @ R_BS,
        p_WL[a] + np.einsum("nij,nj->ni", R_WL[a], p_AP),
        p_WL[b] + np.einsum("nij,nj->ni", R_WL[b], p_BS),
        p_WC[a],
        p_WC[b],
        V[a][:, TRANSLATION],
        V[b][:, TRANSLATION],
        V[a][:, ROTATION],
        V[b][:, ROTATION],
        twists is not None,
    )
