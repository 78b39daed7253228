"""Rows of kinematic pairs: one per constrained component, in predecessor axes.

Pairs of one type are computed together, so every array has a leading axis over pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.constraints.rows.joint_frames import JointFrames, joint_frames
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.joint import travel_per_radian
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair
from mbplugin.model.spatial import Array, cross, vector_from_rotation


def pair_rows(
    mech: Mechanism, pairs: Sequence[Pair], poses: BodyPoses, twists: Array | None = None
) -> dict[str, Rows]:
    """Return the rows of pairs by name, at a pose (and twists (N, 6), for Γ)."""
    rows: dict[str, Rows] = {}
    for pair_type in dict.fromkeys(pair.type for pair in pairs):
        alike = [pair for pair in pairs if pair.type == pair_type]
        rows.update(_rows_of_type(pair_type, alike, joint_frames(mech, alike, poses, twists)))
    return rows


def _rows_of_type(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> dict[str, Rows]:
    components = PAIR_TYPES[pair_type].constrained
    if pair_type == "distance":
        L, Gamma = _distance_directions(frames)
    else:
        L, L_dot = _directions(pair_type, pairs, frames)
        Gamma = frames.gamma(L, L_dot)
    on_a, on_b = frames.entries(L)
    Phi = _residuals(pair_type, pairs, frames)
    zero = np.zeros(len(components))
    translation = np.array([c[0] in "td" for c in components], dtype=bool)
    holonomic = np.ones(len(components), dtype=bool)
    return {
        pair.name: Rows(
            pair.name,
            components,
            tuple((i, e) for i, e in ((frames.a[k], on_a[k]), (frames.b[k], on_b[k])) if i >= 0),
            zero,
            Gamma[k],
            Phi[k],
            translation,
            holonomic,
        )
        for k, pair in enumerate(pairs)
    }


def _directions(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> tuple[Array, Array]:
    """Return rows (n, k, 6) on the relative twists at S, and their time derivatives."""
    components = PAIR_TYPES[pair_type].constrained
    L = np.zeros((len(pairs), len(components), 6))
    L_dot = np.zeros_like(L)
    for k, component in enumerate(components):
        if pair_type == "universal" and component == "rz":
            x, y = frames.R_WP[:, :, 0], frames.R_WS[:, :, 1]
            L[:, k, 3:] = cross(x, y)
            L_dot[:, k, 3:] = cross(cross(frames.omega_a, x), y) + cross(x, cross(frames.omega_b, y))
            continue
        e = frames.R_WP[:, :, "xyz".index(component[1])]
        half = slice(0, 3) if component[0] == "t" else slice(3, 6)
        L[:, k, half], L_dot[:, k, half] = e, cross(frames.omega_a, e)
        if pair_type == "screw" and component == "tz":
            pitch = np.array([[travel_per_radian(pair)] for pair in pairs])
            L[:, k, 3:], L_dot[:, k, 3:] = -pitch * e, -pitch * cross(frames.omega_a, e)
    return L, L_dot


def _distance_directions(frames: JointFrames) -> tuple[Array, Array]:
    """Return rows (n, 1, 6) along the lines from P to S, and Γ (n, 1)."""
    d = frames.p_WS - frames.p_WP
    length = np.linalg.norm(d, axis=1, keepdims=True)
    # at zero distance any direction describes the coincidence of the two points equally badly
    e = np.where(length > 0, d / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])
    w = frames.velocity_b(frames.p_WS) - frames.velocity_a(frames.p_WP)
    along = (e * w).sum(axis=1, keepdims=True)
    e_dot = np.where(length > 0, (w - e * along) / np.where(length > 0, length, 1.0), 0.0)
    centripetal = cross(frames.omega_b, cross(frames.omega_b, frames.p_WS - frames.p_WCb)) - cross(
        frames.omega_a, cross(frames.omega_a, frames.p_WP - frames.p_WCa)
    )
    L = np.concatenate((e, np.zeros_like(e)), axis=1)[:, None, :]
    return L, -(e * centripetal + e_dot * w).sum(axis=1, keepdims=True)


def _residuals(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> Array:
    """Return the position residual of each row, m and rad, zero where a pair is assembled.

    Its gradient on the assembled pose is the row itself.
    """
    d = np.einsum("nji,nj->ni", frames.R_WP, frames.p_WS - frames.p_WP)
    if pair_type == "distance":
        lengths = np.array([pair.length for pair in pairs])
        return np.asarray((np.linalg.norm(d, axis=1) - lengths)[:, None])
    components = PAIR_TYPES[pair_type].constrained
    rotations = [c for c in components if c[0] == "r"]
    theta = np.zeros_like(d)
    if rotations:
        R_PS = np.swapaxes(frames.R_WP, 1, 2) @ frames.R_WS
        if pair_type == "universal":
            theta[:, 2] = -R_PS[:, 0, 1]
        elif len(rotations) == 3:
            theta = np.array([vector_from_rotation(R) for R in R_PS])
        else:
            theta = _tilts(R_PS[:, :, 2])
        if pair_type == "screw":
            d[:, 2] -= _screw_travel(pairs, d[:, 2], R_PS)
    both = np.concatenate((d, theta), axis=1)
    return np.asarray(both[:, [("tx", "ty", "tz", "rx", "ry", "rz").index(c) for c in components]])


def _tilts(z_S: Array) -> Array:
    """Return the smallest rotation vectors (n, 3) that take z to the successors' z, in P."""
    sine = np.hypot(z_S[:, 0], z_S[:, 1])
    angle = np.arctan2(sine, z_S[:, 2])
    per_sine = angle / np.where(sine > 1e-12, sine, 1.0)
    tilt = np.column_stack((-per_sine * z_S[:, 1], per_sine * z_S[:, 0], np.zeros(len(z_S))))
    # on the far side every axis across z is a shortest way
    tilt[(sine <= 1e-12) & (z_S[:, 2] < 0), 0] = np.pi
    return tilt


def _screw_travel(pairs: Sequence[Pair], travel: Array, R_PS: Array) -> Array:
    """Return the travels that belong to the screws' angles, in the turn nearest to where they are."""
    pitch = np.array([travel_per_radian(pair) for pair in pairs])
    angle = np.arctan2(R_PS[:, 1, 0], R_PS[:, 0, 0])
    moving = pitch != 0
    turns = np.zeros_like(angle)
    turns[moving] = np.round((travel[moving] / pitch[moving] - angle[moving]) / (2 * np.pi))
    return np.asarray(pitch * (angle + 2 * np.pi * turns))
