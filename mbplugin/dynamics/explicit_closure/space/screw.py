"""Hinges and sliders in space, and the equations of one angle, one travel and two crossing hinges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, atan2, hypot, inf, sqrt

import numpy as np

from mbplugin.model.spatial import Array, Pose, cross, rotation_from_vector

#: How far, relative to its lengths, a loop may be out of reach by rounding.
_REACH = 1e-9
#: Below this fraction of its lengths an equation does not depend on its unknown.
_INDEPENDENT = 1e-9
#: Up to here axes that miss each other, relative to the size of their loop, meet but for rounding; sines likewise.
ROUNDING = 1e-3


@dataclass(frozen=True, eq=False)
class Screw:
    """The axis of a hinge, or of a slider.

    Parameters
    ----------
    turns : bool
        A hinge.
    e, p : (3,) array
        Direction of length one, and a point of a hinge, m.
    """

    turns: bool
    e: Array
    p: Array

    def exp(self, x: float) -> Pose:
        """Return the displacement after the coordinate x, rad or m."""
        if not self.turns:
            return Pose(np.eye(3), self.e * x)
        R = rotation_from_vector(self.e * x)
        return Pose(R, self.p - R @ self.p)

    def moved(self, X: Pose) -> Screw:
        """Return the axis after a displacement."""
        return Screw(self.turns, X.R @ self.e, X.apply(self.p))

    def across(self, point: Array) -> Array:
        """Return the vector (3,) to a point (3,) from the foot of its perpendicular on the axis."""
        arm = point - self.p
        return np.asarray(arm - self.e * (self.e @ arm))

    def angle(self, start: Array, end: Array) -> float:
        """Return the angle of the hinge that takes a point ``start`` (3,) to ``end`` (3,), rad."""
        u, v = self.across(start), self.across(end)
        return atan2(float(self.e @ cross(u, v)), float(u @ v))


def angles(A: float, B: float, C: float, size: float) -> tuple[float, float, float] | None:
    """Solve A cos x + B sin x = C; return both x and by how much C is out of reach, None if x is not in it."""
    amplitude = hypot(A, B)
    if amplitude <= _INDEPENDENT * size:
        return None
    gap = max(0.0, abs(C) - amplitude * (1 + _REACH))
    half = acos(max(-1.0, min(1.0, C / amplitude)))
    middle = atan2(B, A)
    return middle + half, middle - half, gap


def travels(a: float, b: float, c: float, size: float) -> tuple[float, float, float] | None:
    """Solve a x² + 2 b x + c = 0, lengths² and a ≤ 1; return both x and a gap² as :func:`angles` does."""
    if a <= _INDEPENDENT:
        return None
    under = b * b - a * c
    gap = max(0.0, -under - _REACH * size * size)
    root = sqrt(max(0.0, under))
    return (-b + root) / a, (-b - root) / a, gap


def at_distance(
    screw: Screw, point: Array, centre: Array, length: float
) -> tuple[float, float, float] | None:
    """Return both coordinates at which a point (3,) moved by the screw is at a distance from a centre (3,), m."""
    if not screw.turns:
        arm = point - centre
        size = max(length, float(np.linalg.norm(arm)))
        return travels(1.0, float(arm @ screw.e), float(arm @ arm) - length**2, size)
    u, v = screw.across(point), screw.across(centre)
    along = float(screw.e @ (point - centre))
    size = float(max(u @ u, v @ v))
    C = (u @ u + v @ v + along**2 - length**2) / 2
    return angles(float(u @ v), float(screw.e @ cross(u, v)), float(C), size)


def off_line(slider: Screw, point: Array, line: Screw, length: float) -> tuple[float, float, float] | None:
    """Return both travels at which a point (3,) moved by a slider is at a distance from a line, m."""
    arm, e = line.across(point), slider.e - line.e * (line.e @ slider.e)
    size = max(length, float(np.linalg.norm(arm)))
    return travels(float(e @ e), float(e @ arm), float(arm @ arm) - length**2, size)


def at_height(
    hinge: Screw, direction: Array, start: Array, height: float
) -> tuple[float, float, float] | None:
    """Return both angles at which a vector ``start`` (3,), turned by a hinge, has a height along a direction (3,)."""
    along = hinge.e * (hinge.e @ start)
    u = start - along
    A, B = float(direction @ u), float(direction @ cross(hinge.e, start))
    return angles(A, B, height - float(direction @ along), float(np.linalg.norm(start)))


def meeting(screws: Sequence[Screw], size: float) -> Array | None:
    """Return the point (3,) in which all hinges of a loop of a size (m) meet but for rounding, None without one."""
    across = [np.eye(3) - np.outer(screw.e, screw.e) for screw in screws]
    total = np.sum(across, axis=0)
    if np.linalg.svd(total, compute_uv=False)[-1] < ROUNDING**2:
        return None
    origin = screws[0].p
    lines = [N @ (screw.p - origin) for N, screw in zip(across, screws, strict=True)]
    point = origin + np.linalg.solve(total, np.sum(lines, axis=0))
    off = max(float(np.linalg.norm(screw.across(point))) for screw in screws)
    return np.asarray(point) if off <= ROUNDING * size else None


def miss(first: Screw, second: Screw) -> float:
    """Return how far two lines pass each other, m; infinite for parallel ones."""
    across = cross(first.e, second.e)
    sine = float(np.linalg.norm(across))
    return abs(float(across @ (second.p - first.p))) / sine if sine > ROUNDING else inf
