"""Where all bodies are along a motion, and how fast they move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.dynamics.kernels.composite_bodies import find_composites
from mbplugin.dynamics.kernels.motion import move
from mbplugin.dynamics.kernels.tree import composite_records, rate_records
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class PointMotion:
    """The path of a point that is fixed in a body, world axes.

    Parameters
    ----------
    p_W, v_W : (T, 3) array
        Place and velocity at the samples, m and m/s.
    """

    p_W: Array
    v_W: Array


@dataclass(frozen=True, eq=False)
class BodyMotions:
    """Poses and twists of all bodies at the samples of a motion, world axes.

    Parameters
    ----------
    R_WL, p_WL : (T, N, 3, 3), (T, N, 3) array
        Link frames, m.
    p_WC : (T, N, 3) array
        Centres of mass, m.
    twists : (T, N, 6) array
        [v; ω] at the centres of mass, m/s and rad/s.
    """

    R_WL: Array
    p_WL: Array
    p_WC: Array
    twists: Array

    def point(self, body: int, p_L: Array) -> tuple[Array, Array]:
        """Return places and velocities (T, 3) of a body's point p_L (3,) in its link frame, m and m/s."""
        path = self.p_WL[:, body] + self.R_WL[:, body] @ p_L
        twist = self.twists[:, body]
        return path, twist[:, :3] + np.cross(twist[:, 3:], path - self.p_WC[:, body])


def body_motions(mech: Mechanism, q: Array, qd: Array | None = None) -> BodyMotions:
    """Return where all bodies are at coordinates q (T, nq) and rates qd (T, nv), by default at rest."""
    of = find_composites(mech, apart=True)
    composites = composite_records(mech, of)
    rates = rate_records(mech, of, np.zeros(len(mech.qd_names)))
    rows = np.zeros((len(q), len(rates))) if qd is None else qd
    bodies = list(of.of_body)
    out = np.empty((len(q), len(bodies), 3, 3)), *(np.empty((len(q), len(bodies), n)) for n in (3, 3, 6))
    for k in range(len(q)):
        # of arrays that cannot be written the kernel would be compiled once more
        move(composites, rates, q[k].copy(), rows[k].copy())
        for values, field in zip(out, ("R", "p", "c", "v"), strict=True):
            values[k] = composites[field][bodies]
    R_WK, p_WK, p_WC, twists = out
    R_KL, p_KL = (np.array([getattr(X, part) for X in of.X_KL]) for part in ("R", "p"))
    return BodyMotions(R_WK @ R_KL, p_WK + np.einsum("tnij,nj->tni", R_WK, p_KL), p_WC, twists)
