"""Joint coordinates of a pair: X_PS(q), its motion subspace, and q from a relative pose.

A single freedom is an angle (rad) or a travel (m) along z. Spherical motions carry a quaternion
(xyzw) of R_PS, and their rates are ω_PS in axes of P.
"""

from __future__ import annotations

from math import cos, pi, sin

import numpy as np

from mbplugin.model.component import axis_of, half_of, is_turn
from mbplugin.model.mechanism.pair import Pair, RowKind
from mbplugin.model.spatial import (
    Array,
    Pose,
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_vector,
)

#: Components that are read off one after the other, the rest is a quaternion.
_TRAVELS = {
    "floating": ("tx", "ty", "tz"),
    "point-on-line": ("tz",),
    "point-on-plane": ("tx", "ty"),
    "spherical": (),
}


def _turn(axis: int, angle: float) -> Array:
    """Return the rotation (3, 3) about an axis, 0 to 2, by an angle, rad."""
    c, s = cos(angle), sin(angle)
    if axis == 2:
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    if axis == 1:
        return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def has_quaternion(pair_type: str) -> bool:
    """Return whether the rotations of a pair are one quaternion, not angles."""
    return pair_type in _TRAVELS


def zero_coordinates(pair_type: str, free: tuple[str, ...]) -> Array:
    """Return the coordinates (c,) at which the joint frames coincide."""
    if pair_type in _TRAVELS:
        return np.array([0.0] * len(_TRAVELS[pair_type]) + [0.0, 0.0, 0.0, 1.0])
    return np.zeros(len(free))


def travel_per_radian(pair: Pair) -> float:
    """Return the pitch of a screw in m/rad, zero for every other pair."""
    return pair.lead / (2 * pi) if pair.type == "screw" else 0.0


def transform(pair_type: str, free: tuple[str, ...], pitch: float, q: Array) -> Pose:
    """Return X_PS at joint coordinates q (c,)."""
    p = np.zeros(3)
    if pair_type in _TRAVELS:
        travels = _TRAVELS[pair_type]
        for component, value in zip(travels, q[:-4], strict=True):
            p[axis_of(component)] = value
        return Pose(rotation_from_quaternion(q[-4:]), p)
    R = None
    for component, value in zip(free, q.tolist(), strict=True):
        axis = axis_of(component)
        if is_turn(component):
            turn = _turn(axis, value)
            R = turn if R is None else R @ turn
        else:
            p[axis] += value
    if pitch:
        p[2] += pitch * q[0]
    return Pose(np.eye(3) if R is None else R, p)


def pair_transform(pair: Pair, q: Array) -> Pose:
    """Return X_PS of a pair at its coordinates q (c,)."""
    return transform(pair.type, pair.kind.free, travel_per_radian(pair), q)


def motion_subspace(pair: Pair, R_WP: Array, R_WS: Array) -> Array:
    """Return the twists of S relative to P per unit rate, world axes at the origin of S, (6, f).

    ``R_WP`` (3, 3) and ``R_WS`` (3, 3) are the orientations of its joint frames.
    """
    free = pair.kind.free
    S = np.zeros((6, len(free)))
    for column, component in enumerate(free):
        axis = axis_of(component)
        e = (R_WS if pair.kind.row_kind(component) is RowKind.CARRIED else R_WP)[:, axis]
        S[half_of(component), column] = e
    if pitch := travel_per_radian(pair):
        S[:3, 0] = pitch * R_WP[:, 2]
    return S


def measure(pair: Pair, X_PS: Pose) -> Array:
    """Return the joint coordinates (c,) that best describe a relative pose (exact where it is allowed)."""
    R, p, kind = X_PS.R, X_PS.p, pair.type
    if kind in _TRAVELS:
        travels = [p[axis_of(c)] for c in _TRAVELS[kind]]
        return np.array([*travels, *quaternion_from_rotation(R)])
    values = []
    for component in pair.kind.free:
        axis = axis_of(component)
        if not is_turn(component):
            values.append(p[axis])
        elif kind == "universal":
            values.append(np.arctan2(R[2, 1], R[1, 1]) if component == "rx" else np.arctan2(R[0, 2], R[0, 0]))
        else:
            j, k = (axis + 1) % 3, (axis + 2) % 3
            values.append(np.arctan2(R[k, j], R[j, j]))
    if pitch := travel_per_radian(pair):
        # the travel tells which turn the screw is in
        values[0] += 2 * pi * round((p[2] / pitch - values[0]) / (2 * pi))
    return np.array(values)


def advance(pair_type: str, q: Array, step: Array) -> Array:
    """Return the coordinates q (c,) after a rate step (f,) of unit time (rotations by the exponential map)."""
    if pair_type not in _TRAVELS:
        return np.asarray(q + step)
    R = rotation_from_vector(step[-3:]) @ rotation_from_quaternion(q[-4:])
    return np.concatenate((q[:-4] + step[:-3], quaternion_from_rotation(R)))
