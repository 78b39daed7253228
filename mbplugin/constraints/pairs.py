"""Rows of kinematic pairs (THEORY §2): one per constrained component, in predecessor axes."""

from __future__ import annotations

import numpy as np

from mbplugin.constraints.rows import (
    BodyMotion,
    Rows,
    body_motion,
    relative_bias,
    relative_entries,
    relative_twist,
)
from mbplugin.mechanism.joint import travel_per_radian
from mbplugin.mechanism.kinematics import BodyPoses
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.mechanism.pair import Pair
from mbplugin.spatial import Array, Pose, cross, vector_from_rotation


def pair_rows(mech: Mechanism, pair: Pair, poses: BodyPoses, twists: Array | None = None) -> Rows:
    """Return the rows of a pair at a pose (and twists (N, 6), for Γ)."""
    a = body_motion(mech.body_index[pair.body_a], poses, twists)
    b = body_motion(mech.body_index[pair.body_b], poses, twists)
    X_WP, X_WS = a.X_WL @ pair.X_AP, b.X_WL @ pair.X_BS
    components = pair.kind.constrained
    if pair.type == "distance":
        return _distance_rows(pair, a, b, X_WP.p, X_WS.p)
    L, L_dot = _directions(pair, a, b, X_WP.R, X_WS.R)
    Gamma = -(L @ relative_bias(a, b, X_WS.p) + L_dot @ relative_twist(a, b, X_WS.p))
    return Rows(
        pair.name,
        components,
        relative_entries(a, b, L, X_WS.p),
        np.zeros(len(components)),
        Gamma,
        pair_residual(pair, X_WP.inverse() @ X_WS),
        np.array([c[0] == "t" for c in components], dtype=bool),
        np.ones(len(components), dtype=bool),
    )


def _directions(pair: Pair, a: BodyMotion, b: BodyMotion, R_WP: Array, R_WS: Array) -> tuple[Array, Array]:
    """Return rows (k, 6) on the relative twist at S, and their time derivative."""
    components = pair.kind.constrained
    L, L_dot = np.zeros((len(components), 6)), np.zeros((len(components), 6))
    pitch = travel_per_radian(pair)
    for k, component in enumerate(components):
        e = R_WP[:, "xyz".index(component[1])]
        half = 0 if component[0] == "t" else 3
        if pair.type == "universal" and component == "rz":
            x, y = R_WP[:, 0], R_WS[:, 1]
            L[k, 3:] = cross(x, y)
            L_dot[k, 3:] = cross(cross(a.omega, x), y) + cross(x, cross(b.omega, y))
            continue
        L[k, half : half + 3] = e
        L_dot[k, half : half + 3] = cross(a.omega, e)
        if pitch and component == "tz":
            L[k, 3:], L_dot[k, 3:] = -pitch * e, -pitch * cross(a.omega, e)
    return L, L_dot


def pair_residual(pair: Pair, X_PS: Pose) -> Array:
    """Return the position residual of each row, m and rad, zero where the pair is assembled.

    Its gradient on the assembled pose is the row itself.
    """
    d, R = X_PS.p, X_PS.R
    if pair.type == "distance":
        return np.array([float(np.sqrt(d @ d)) - pair.length])
    rotations = [c for c in pair.kind.constrained if c[0] == "r"]
    theta = np.zeros(3)
    if pair.type == "universal":
        theta[2] = -R[0, 1]
    elif len(rotations) == 3:
        theta = vector_from_rotation(R)
    elif rotations:
        theta = _tilt(R[:, 2])
    residual = [
        d["xyz".index(c[1])] if c[0] == "t" else theta["xyz".index(c[1])] for c in pair.kind.constrained
    ]
    if pitch := travel_per_radian(pair):
        angle = np.arctan2(R[1, 0], R[0, 0])
        turns = round((d[2] / pitch - angle) / (2 * np.pi))
        residual[2] = d[2] - pitch * (angle + 2 * np.pi * turns)
    return np.array(residual)


def _tilt(z_S: Array) -> Array:
    """Return the smallest rotation vector that takes z to the successor's z, in P."""
    sine = float(np.hypot(z_S[0], z_S[1]))
    angle = float(np.arctan2(sine, z_S[2]))
    if sine < 1e-12:
        # on the far side every axis across z is a shortest way
        return np.array([angle, 0.0, 0.0])
    return angle / sine * np.array([-z_S[1], z_S[0], 0.0])


def _distance_rows(pair: Pair, a: BodyMotion, b: BodyMotion, p_WP: Array, p_WS: Array) -> Rows:
    d = p_WS - p_WP
    length = float(np.sqrt(d @ d))
    # at zero distance any direction describes the coincidence of the two points equally badly
    e = d / length if length > 0 else np.array([0.0, 0.0, 1.0])
    w = b.point_velocity(p_WS) - a.point_velocity(p_WP)
    e_dot = (w - e * (e @ w)) / length if length > 0 else np.zeros(3)
    centripetal = cross(b.omega, cross(b.omega, p_WS - b.p_WC)) - cross(
        a.omega, cross(a.omega, p_WP - a.p_WC)
    )
    return Rows(
        pair.name,
        pair.kind.constrained,
        relative_entries(a, b, np.concatenate((e, np.zeros(3)))[None, :], p_WS),
        np.zeros(1),
        -np.array([e @ centripetal + e_dot @ w]),
        np.array([length - pair.length]),
        np.array([True]),
        np.array([True]),
    )
