"""Planar arms of thin rods, whose equations are written by hand."""

from __future__ import annotations

from math import cos, sin

import numpy as np

from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose

G = 9.81


def arm(
    lengths: tuple[float, ...], mass: float = 1.0, gravity: float = G, limits: Freedom | None = None
) -> Mechanism:
    """Thin rods in the x-y plane, one behind the other, their joints j0, j1, … about z; gravity −y."""
    bodies, pairs = [], []
    for k, length in enumerate(lengths):
        inertia = np.diag([1e-3, mass * length**2 / 12, mass * length**2 / 12])
        bodies.append(Body(f"b{k}", mass, np.array([length / 2, 0, 0]), inertia))
        X_AP = Pose.from_xyz_rpy((lengths[k - 1] if k else 0.0, 0, 0))
        before = f"b{k - 1}" if k else "world"
        freedoms = (limits or Freedom(),)
        pairs.append(Pair(f"j{k}", "revolute", before, f"b{k}", X_AP, Pose.identity(), freedoms=freedoms))
    return Mechanism("arm", tuple(bodies), tuple(pairs), gravity=np.array([0, -gravity, 0.0]))


def two_rods(q: Array, qd: Array) -> tuple[Array, Array]:
    """M and h of two rods of 1 m and 1 kg, by hand: M q̈ + h = τ."""
    c, s = cos(q[1]), sin(q[1])
    M = np.array([[5 / 3 + c, 1 / 3 + c / 2], [1 / 3 + c / 2, 1 / 3]])
    swing = 0.5 * s
    h = np.array([-swing * (2 * qd[0] * qd[1] + qd[1] ** 2), swing * qd[0] ** 2])
    h += G * np.array([1.5 * cos(q[0]) + 0.5 * cos(q[0] + q[1]), 0.5 * cos(q[0] + q[1])])
    return M, h
