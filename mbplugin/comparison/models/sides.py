"""How far two joint frames on one body differ, in what the type of the joint makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.model.spatial import Array, Pose

#: Types with one axis, whatever turn about it.
AXIAL = ("revolute", "continuous", "screw", "cylindrical", "prismatic")
#: Half a turn about x: the same axis, downwards.
FLIP = Pose(np.diag([1.0, -1.0, -1.0]), np.zeros(3))


@dataclass(frozen=True)
class Tolerances:
    """What counts as equal: relative, of lengths m, of centres of mass m, of angles rad."""

    relative: float
    length: float
    center: float
    angle: float


def angle_between(R: Array, S: Array) -> float:
    """Return the angle between two rotations R and S (3, 3), rad."""
    D = R.T @ S
    sine = float(np.linalg.norm(D - D.T)) / np.sqrt(8.0)
    return float(np.arctan2(sine, (np.trace(D) - 1) / 2))


def axis_angle(z: Array, w: Array) -> float:
    """Return the angle between two axes z and w (3,) without their signs, rad."""
    return float(np.arctan2(np.linalg.norm(np.cross(z, w)), abs(z @ w)))


def turn_about_z(R: Array) -> Pose:
    """Return the turn about z that is nearest to a rotation R (3, 3)."""
    angle = np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])
    c, s = np.cos(angle), np.sin(angle)
    return Pose(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3))


def side_gap(type: str, X: Pose, Y: Pose) -> tuple[float, float]:
    """Return the distance, m, and the angle, rad, between two joint frames on one body.

    Only what counts for the type: the line of a revolute joint, the direction of a prismatic one, the point of a
    spherical one, both frames of any other.
    """
    between = Y.p - X.p
    if type in ("spherical", "distance"):
        return float(np.linalg.norm(between)), 0.0
    if type in AXIAL:
        z = X.R[:, 2]
        # where a slider is across its axis counts together with its other side
        distance = 0.0 if type == "prismatic" else float(np.linalg.norm(between - (between @ z) * z))
        return distance, axis_angle(z, Y.R[:, 2])
    return float(np.linalg.norm(between)), angle_between(X.R, Y.R)
