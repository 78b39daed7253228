"""Rows of kinematic pairs: one per constrained component, in predecessor axes.

Pairs of one type are computed together, so every array has a leading axis over pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.constraints.rows.joint_frames import JointFrames, joint_frames
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.component import axis_of, half_of, is_turn
from mbplugin.model.mechanism.joint import travel_per_radian
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair, RowKind
from mbplugin.model.spatial import Array, cross, skew, vector_from_rotation


def pair_rows(
    mech: Mechanism, pairs: Sequence[Pair], poses: BodyPoses, twists: Array | None = None
) -> dict[str, Rows]:
    """Return the rows of pairs by name, at a pose (and twists (N, 6), for Γ)."""
    rows: dict[str, Rows] = {}
    for pair_type in dict.fromkeys(pair.type for pair in pairs):
        alike = [pair for pair in pairs if pair.type == pair_type]
        rows.update(_rows_of_type(pair_type, alike, joint_frames(mech, alike, poses, twists)))
    return rows


def position_rows(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> tuple[Array, Array]:
    """Return the position residuals of pairs of one type, and their derivatives.

    The derivatives are exact at open poses too, where the rows of :func:`pair_rows` are so only for
    distances and travels (a screw's travel aside, which is exact where its axes agree).

    Returns
    -------
    L : (n, k, 6) array
        On the relative twists [v; ω] of S, world axes, at S.
    Phi : (n, k) array
        m and rad.
    """
    if PAIR_TYPES[pair_type].row_kind("d") is RowKind.DISTANCE:
        return _distance_directions(frames)[0], _residuals(pair_type, pairs, frames)[0]
    L = _directions(pair_type, pairs, frames)[0]
    Phi, per_turn = _residuals(pair_type, pairs, frames)
    if per_turn is not None:
        components = PAIR_TYPES[pair_type].constrained
        turns = [k for k, component in enumerate(components) if is_turn(component)]
        axes = [axis_of(components[k]) for k in turns]
        L[:, turns, 3:] = per_turn[:, axes] @ np.swapaxes(frames.R_WP, 1, 2)
    return L, Phi


def _rows_of_type(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> dict[str, Rows]:
    components = PAIR_TYPES[pair_type].constrained
    if PAIR_TYPES[pair_type].row_kind("d") is RowKind.DISTANCE:
        L, Gamma = _distance_directions(frames)
    else:
        L, L_dot = _directions(pair_type, pairs, frames)
        Gamma = frames.gamma(L, L_dot)
    on_a, on_b = frames.entries(L)
    Phi = _residuals(pair_type, pairs, frames)[0]
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
    kind = PAIR_TYPES[pair_type]
    L = np.zeros((len(pairs), len(kind.constrained), 6))
    L_dot = np.zeros_like(L)
    for k, component in enumerate(kind.constrained):
        if kind.row_kind(component) is RowKind.CROSSED:
            x, y = frames.R_WP[:, :, 0], frames.R_WS[:, :, 1]
            L[:, k, 3:] = cross(x, y)
            if frames.moving:
                L_dot[:, k, 3:] = cross(cross(frames.omega_a, x), y) + cross(x, cross(frames.omega_b, y))
            continue
        e = frames.R_WP[:, :, axis_of(component)]
        half = half_of(component)
        L[:, k, half] = e
        e_dot = cross(frames.omega_a, e) if frames.moving else 0.0
        L_dot[:, k, half] = e_dot
        if kind.row_kind(component) is RowKind.SCREW:
            pitch = np.array([[travel_per_radian(pair)] for pair in pairs])
            L[:, k, 3:], L_dot[:, k, 3:] = -pitch * e, -pitch * e_dot
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


def _residuals(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> tuple[Array, Array | None]:
    """Return the position residual of each row, (n, k), m and rad, zero where a pair is assembled.

    Its gradient on the assembled pose is the row itself. Where it is a rotation vector, the second value
    is the derivative of that by ω_PS in P, (n, 3, 3).
    """
    d = np.einsum("nji,nj->ni", frames.R_WP, frames.p_WS - frames.p_WP)
    kind = PAIR_TYPES[pair_type]
    if kind.row_kind("d") is RowKind.DISTANCE:
        lengths = np.array([pair.length for pair in pairs])
        return np.asarray((np.linalg.norm(d, axis=1) - lengths)[:, None]), None
    rotations = [c for c in kind.constrained if is_turn(c)]
    theta = np.zeros_like(d)
    per_turn = None
    if rotations:
        R_PS = np.swapaxes(frames.R_WP, 1, 2) @ frames.R_WS
        if kind.row_kind("rz") is RowKind.CROSSED:
            theta[:, 2] = -R_PS[:, 0, 1]
        elif len(rotations) == 3:
            theta = np.array([vector_from_rotation(R) for R in R_PS])
            per_turn = _per_turn(theta)
        else:
            theta, per_turn = _tilts(R_PS[:, :, 2])
        if kind.row_kind("tz") is RowKind.SCREW:
            d[:, 2] -= _screw_travel(pairs, d[:, 2], R_PS)
    both = np.concatenate((d, theta), axis=1)
    return both[:, [("tx", "ty", "tz", "rx", "ry", "rz").index(c) for c in kind.constrained]], per_turn


def _per_turn(theta: Array) -> Array:
    """Return the derivatives (n, 3, 3) of rotation vectors theta (n, 3) by the angular velocity, axes of P."""
    angle = np.linalg.norm(theta, axis=1)[:, None, None]
    K = skew(theta)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    # 1/θ² − cot(θ/2)/(2θ), which is 1/12 at zero
    factor = np.where(small, 1 / 12, 1 / safe**2 - 1 / (2 * safe * np.tan(0.5 * safe)))
    return np.asarray(np.eye(3) - 0.5 * K + factor * (K @ K))


def _tilts(z_S: Array) -> tuple[Array, Array]:
    """Return the smallest rotation vectors (n, 3) that take z to ``z_S`` (n, 3), and derivatives, in P."""
    x, y, z = z_S.T
    sine = np.hypot(x, y)
    angle = np.arctan2(sine, z)
    level = sine <= 1e-12
    per_sine = angle / np.where(level, 1.0, sine)
    per_sine[level & (z > 0)] = 1.0
    tilt = np.column_stack((-per_sine * y, per_sine * x, np.zeros(len(z_S))))
    # on the far side every axis across z is a shortest way
    tilt[level & (z < 0), 0] = np.pi
    zero = np.zeros_like(x)
    dx, dy, dz = (np.column_stack(c) for c in ((zero, z, -y), (-z, zero, x), (y, -x, zero)))
    # d(angle/sine)/dz, which is −1/3 where the axes agree
    near = sine < 1e-4
    slope = np.where(near, -1 / 3, (z * per_sine - 1) / np.where(near, 1.0, sine) ** 2)
    rx = -per_sine[:, None] * dy - (slope * y)[:, None] * dz
    ry = per_sine[:, None] * dx + (slope * x)[:, None] * dz
    return tilt, np.stack((rx, ry, np.zeros_like(rx)), axis=1)


def _screw_travel(pairs: Sequence[Pair], travel: Array, R_PS: Array) -> Array:
    """Return the travels (n,) that belong to the screws' angles, in the turn nearest to ``travel`` (n,), m.

    The angles are those of ``R_PS`` (n, 3, 3).
    """
    pitch = np.array([travel_per_radian(pair) for pair in pairs])
    angle = np.arctan2(R_PS[:, 1, 0], R_PS[:, 0, 0])
    moving = pitch != 0
    turns = np.zeros_like(angle)
    turns[moving] = np.round((travel[moving] / pitch[moving] - angle[moving]) / (2 * np.pi))
    return np.asarray(pitch * (angle + 2 * np.pi * turns))
