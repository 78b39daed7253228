"""Mechanisms whose constraints close and open."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose
from models import from_world_frames, pose_at

PRECISE: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13}


REST = np.zeros(3)


def dead_centre() -> tuple[Mechanism, Array]:
    """A crank and coupler in one line: the rocker is at its extreme and stands still."""
    A, B, C, D = (np.array(p) for p in ((0.0, 0, 0), (1.0, 0, 0), (3.0, 0, 0), (2.5, -1.5, 0)))
    bodies = {n: Pose(np.eye(3), 0.5 * (a + b)) for n, a, b in (("c", A, B), ("k", B, C), ("r", C, D))}
    joints = [
        ("crank", "revolute", WORLD, "c", pose_at(A)),
        ("knee", "revolute", "c", "k", pose_at(B)),
        ("rocker", "revolute", WORLD, "r", pose_at(D)),
        ("elbow", "revolute", "k", "r", pose_at(C)),
    ]
    return from_world_frames("dead centre", bodies, joints)


def flywheels(inertia: tuple[float, ...]) -> Mechanism:
    """Wheels on the ground about z, side by side."""
    bodies = tuple(Body(f"w{k}", 1.0, REST, J * np.eye(3)) for k, J in enumerate(inertia))
    pairs = tuple(
        Pair(f"h{k}", "revolute", WORLD, f"w{k}", pose_at([3.0 * k, 0, 0]), Pose.identity())
        for k in range(len(inertia))
    )
    return Mechanism("flywheels", bodies, pairs)
