"""Turns between two orientations as rotation vectors, many at a time: θ with R₁ = exp(θ) R₀.

Quaternions are (n, 4) xyzw; rates ω are those of the orientation, in the axes in which θ is.
"""

from __future__ import annotations

import numpy as np

from mbplugin.model.spatial import Array, cross

#: Below this angle (rad) series are more exact than closed forms.
_SMALL = 1e-2


def between(start: Array, end: Array) -> Array:
    """Return the rotation vectors (n, 3), shorter than π, from orientations start (n, 4) to end (n, 4)."""
    turn = _product(end, start * [-1.0, -1.0, -1.0, 1.0])
    turn = np.where(turn[:, 3:] < 0, -turn, turn)
    sine = np.linalg.norm(turn[:, :3], axis=1, keepdims=True)
    half = np.arctan2(sine, turn[:, 3:])
    return np.asarray(turn[:, :3] * np.where(sine > 1e-12, 2 * half / np.where(sine > 0, sine, 1.0), 2.0))


def turned(start: Array, angle: Array) -> Array:
    """Return the quaternions (n, 4) of exp(θ) R₀, on the side of start (n, 4); angle (n, 3) is θ."""
    half = 0.5 * np.linalg.norm(angle, axis=1, keepdims=True)
    vector = 0.5 * angle * np.sinc(half / np.pi)
    out = _product(np.concatenate((vector, np.cos(half)), axis=1), start)
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True))


def angle_rate(angle: Array, omega: Array) -> Array:
    """Return θ̇ (n, 3) = ω − ½ θ × ω + c θ × (θ × ω) at angle (n, 3) and omega (n, 3), rad/s."""
    across = cross(angle, omega)
    return np.asarray(omega - 0.5 * across + _factor(angle)[0] * cross(angle, across))


def angle_acceleration(angle: Array, rate: Array, omega: Array, alpha: Array) -> Array:
    """Return θ̈ (n, 3), the derivative of :func:`angle_rate`, rad/s².

    Of angle (n, 3), its rate (n, 3), omega (n, 3) and the angular acceleration alpha (n, 3).
    """
    c, slope = _factor(angle)
    c_dot = slope * (angle * rate).sum(axis=1, keepdims=True)
    across, across_dot = cross(angle, omega), cross(rate, omega) + cross(angle, alpha)
    return np.asarray(
        alpha
        - 0.5 * across_dot
        + c_dot * cross(angle, across)
        + c * (cross(rate, across) + cross(angle, across_dot))
    )


def _factor(angle: Array) -> tuple[Array, Array]:
    """Return c(φ) = 1/φ² − cot(φ/2)/(2φ), and c′(φ)/φ, of rotation vectors ``angle`` (n, 3)."""
    phi = np.linalg.norm(angle, axis=1, keepdims=True)
    u = phi**2
    large = np.where(phi > _SMALL, phi, 1.0)
    cot = 1.0 / np.tan(0.5 * large)
    c = 1 / large**2 - cot / (2 * large)
    slope = (-2 / large**3 + cot / (2 * large**2) + 0.25 * (1 + cot**2) / large) / large
    series = 1 / 12 + u / 720 + u**2 / 30240
    return np.where(phi > _SMALL, c, series), np.where(phi > _SMALL, slope, 1 / 360 + u / 7560)


def _product(a: Array, b: Array) -> Array:
    """Return the quaternion products of a and b (n, 4), (n, 4)."""
    va, wa, vb, wb = a[:, :3], a[:, 3:], b[:, :3], b[:, 3:]
    vector = wa * vb + wb * va + cross(va, vb)
    scalar = wa * wb - (va * vb).sum(axis=1, keepdims=True)
    return np.concatenate((vector, scalar), axis=1)
