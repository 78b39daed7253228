"""Labelled rows of one constraint: coefficients on body twists, and the terms that go with them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.mechanism.kinematics import BodyPoses
from mbplugin.spatial import Array, Pose, cross, shift_rows


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one constraint,  Σ entries · twist + b = 0  and  Σ entries · acceleration = Gamma.

    Parameters
    ----------
    constraint : str
        Its name.
    components : tuple of str
        One label per row, k of them.
    entries : tuple of (int, (k, 6) array)
        Body index and coefficients on its twist [v; ω], world axes, at its centre of mass.
    b, Gamma, Phi : (k,) array
        Velocity term, acceleration right-hand side, position residual (zero for a row that has no
        position equation).
    translation : (k,) bool array
        Whether a row is in m/s (otherwise rad/s).
    holonomic : (k,) bool array
    """

    constraint: str
    components: tuple[str, ...]
    entries: tuple[tuple[int, Array], ...]
    b: Array
    Gamma: Array
    Phi: Array
    translation: np.ndarray
    holonomic: np.ndarray


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Pose and twist of one body, the ground included, as the row builders need them."""

    index: int
    X_WL: Pose
    p_WC: Array
    v: Array
    omega: Array

    def point_velocity(self, p_W: Array) -> Array:
        """Return the velocity of the body's material point at ``p_W``, m/s."""
        return self.v + cross(self.omega, p_W - self.p_WC)


_ZERO = np.zeros(3)


def body_motion(index: int, poses: BodyPoses, twists: Array | None) -> BodyMotion:
    """Return pose and twist of a body; index −1 is the ground, no twists means rest."""
    if index < 0:
        return BodyMotion(index, Pose.identity(), _ZERO, _ZERO, _ZERO)
    twist = np.zeros(6) if twists is None else twists[index]
    return BodyMotion(index, poses.of(index), poses.p_WC[index], twist[:3], twist[3:])


def relative_entries(
    a: BodyMotion, b: BodyMotion, rows: Array, point: Array
) -> tuple[tuple[int, Array], ...]:
    """Return the entries of rows (k, 6) that act on the twist of b minus that of a, at ``point``."""
    entries = []
    for body, sign in ((a, -1.0), (b, 1.0)):
        if body.index >= 0:
            entries.append((body.index, sign * shift_rows(rows, point - body.p_WC)))
    return tuple(entries)


def relative_twist(a: BodyMotion, b: BodyMotion, point: Array) -> Array:
    """Return the twist of b relative to a at a point fixed in b, (6,)."""
    return np.concatenate((b.point_velocity(point) - a.point_velocity(point), b.omega - a.omega))


def relative_bias(a: BodyMotion, b: BodyMotion, point: Array) -> Array:
    """Return what d/dt of :func:`relative_twist` contains besides accelerations, (6,).

    The point moves with b, so a's part follows b's motion (wojtyra2013 (9) in these coordinates).
    """
    v_point = b.point_velocity(point)
    of_b = cross(b.omega, cross(b.omega, point - b.p_WC))
    of_a = cross(a.omega, v_point - a.v)
    return np.concatenate((of_b - of_a, _ZERO))
