"""The dimension of the set of poses near one, without the package's kinematics: random slices and Newton.

Bodies have rotation vectors and displacements from the given pose; pairs are products of points and directions.
"""

from __future__ import annotations

import numpy as np

from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array

_ROWS = {
    "revolute": ("tx", "ty", "tz", "rx", "ry"),
    "prismatic": ("tx", "ty", "rx", "ry", "rz"),
    "cylindrical": ("tx", "ty", "rx", "ry"),
    "spherical": ("tx", "ty", "tz"),
    "universal": ("tx", "ty", "tz", "cross"),
    "planar": ("tz", "rx", "ry"),
    "fixed": ("tx", "ty", "tz", "rx", "ry", "rz"),
    "point-on-line": ("tx", "ty"),
    "point-on-plane": ("tz",),
    "distance": ("d",),
}


class Poses:
    """The position equations of a mechanism's pairs around a closed pose q (nq,)."""

    def __init__(self, mech: Mechanism, q: Array) -> None:
        placed = forward(mech, q)
        index = {body.name: k for k, body in enumerate(mech.bodies)}
        self.n = 6 * len(mech.bodies)
        ends = [[], []]
        for pair in mech.pairs:
            for side, name, local in zip(
                ends, (pair.body_a, pair.body_b), (pair.X_AP, pair.X_BS), strict=True
            ):
                X = local if name == WORLD else placed.of(index[name]) @ local
                side.append((index.get(name, len(mech.bodies)), X.p, X.R))
        self.ends = [tuple(np.array(part) for part in zip(*side, strict=True)) for side in ends]
        self.lengths = np.array([pair.length for pair in mech.pairs])
        self.rows = [
            (row, np.array([k for k, pair in enumerate(mech.pairs) if row in _ROWS[pair.type]], dtype=int))
            for row in dict.fromkeys(row for rows in _ROWS.values() for row in rows)
        ]

    def residuals(self, X: Array) -> Array:
        """Of all pairs, (D, r), at displacements X (D, 6 N)."""
        parts = X.reshape(len(X), -1, 6)
        R = np.concatenate((_turns(parts[..., 3:]), np.broadcast_to(np.eye(3), (len(X), 1, 3, 3))), axis=1)
        t = np.concatenate((parts[..., :3], np.zeros((len(X), 1, 3))), axis=1)
        (p_a, F_a), (p_b, F_b) = (
            ((R[:, body] @ p[..., None])[..., 0] + t[:, body], R[:, body] @ F) for body, p, F in self.ends
        )
        d = p_b - p_a
        x, y, z = (F_a[..., k] for k in range(3))
        values = {
            "tx": (x * d).sum(-1),
            "ty": (y * d).sum(-1),
            "tz": (z * d).sum(-1),
            "rx": (y * F_b[..., 2]).sum(-1),
            "ry": (x * F_b[..., 2]).sum(-1),
            "rz": (x * F_b[..., 1]).sum(-1),
            "cross": (x * F_b[..., 1]).sum(-1),
            "d": np.sqrt((d * d).sum(-1) + 1e-300) - self.lengths,
        }
        return np.concatenate([values[row][:, pairs] for row, pairs in self.rows], axis=1)

    def at(self, x: Array) -> Array:
        """The residuals (r,) at x (6 N,)."""
        return self.residuals(x[None])[0]

    def jacobian(self, x: Array) -> Array:
        """By central differences."""
        step = 1e-5 * np.eye(self.n)
        return ((self.residuals(x + step) - self.residuals(x - step)) / 2e-5).T

    def freedoms(self, tolerance: float) -> Array:
        """Orthonormal infinitesimal motions (k, 6 N) of the pose itself."""
        _, sigma, Vt = np.linalg.svd(self.jacobian(np.zeros(self.n)))
        return Vt[int((sigma > tolerance * sigma[0]).sum()) :]


def local_dimension(
    mech: Mechanism, q: Array, *, tolerance: float = 1e-7, size: float = 0.1
) -> tuple[int, int]:
    """Infinitesimal and finite mobility at a closed pose: the most random equations that poses near still satisfy.

    A set of d dimensions meets d random affine equations near the pose; d + 1 it misses by what it is curved.
    """
    poses = Poses(mech, q)
    K = poses.freedoms(tolerance)
    rng = np.random.default_rng(7)
    for d in range(len(K), 0, -1):
        if any(_meets(poses, K, d, size, rng) for _ in range(4)):
            return len(K), d
    return len(K), 0


def _meets(poses: Poses, K: Array, d: int, size: float, rng: np.random.Generator) -> bool:
    """Whether closed poses meet a slice of d random equations, all of them in the freedoms K (k, n), at a distance."""
    A = np.linalg.qr(rng.normal(size=(len(K), d)))[0].T @ K
    u = rng.normal(size=len(K))
    centre = size * (u / np.linalg.norm(u)) @ K
    for start in (centre, centre + 0.3 * size * rng.normal(size=len(K)) @ K):
        x = np.array(start)
        for _ in range(120):
            value = np.concatenate((poses.at(x), A @ (x - centre)))
            if np.abs(value).max() < 1e-12 or np.linalg.norm(x) > 8 * size:
                break
            step = np.linalg.lstsq(np.vstack((poses.jacobian(x), A)), -value, rcond=1e-8)[0]
            x = x + step * min(1.0, size / np.linalg.norm(step))
        if np.abs(value).max() < 1e-10 and np.linalg.norm(x) < 8 * size:
            return True
    return False


def _turns(w: Array) -> Array:
    """Rotations (..., 3, 3) by rotation vectors w (..., 3)."""
    angle = np.linalg.norm(w, axis=-1)[..., None, None]
    K = np.zeros((*w.shape[:-1], 3, 3))
    K[..., 0, 1], K[..., 0, 2], K[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    K = K - np.swapaxes(K, -1, -2)
    return np.eye(3) + np.sinc(angle / np.pi) * K + 0.5 * np.sinc(0.5 * angle / np.pi) ** 2 * K @ K
