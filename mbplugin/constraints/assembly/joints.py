"""Many joints of one type at many poses at once: X_PS, motion subspaces, steps.

The same as ``model.mechanism.joint`` computes for one joint at one pose, over leading axes.
"""

from __future__ import annotations

import numpy as np

from mbplugin.model.component import axis_of, is_turn
from mbplugin.model.mechanism.joint import has_quaternion
from mbplugin.model.mechanism.pair import PAIR_TYPES, RowKind
from mbplugin.model.spatial import AnyArray, Array, cross, skew


def transforms(kind: str, free: tuple[str, ...], pitch: Array, q: Array) -> tuple[Array, Array]:
    """Return X_PS of joints of one type.

    Parameters
    ----------
    kind : str
        A key of ``PAIR_TYPES``.
    free : tuple of str
        Its freedoms.
    pitch : (n,) array
        Travel per turn of each joint, m/rad.
    q : (K, n, nq) array
        Coordinates, rad and m.

    Returns
    -------
    R : (K, n, 3, 3) array
    p : (K, n, 3) array, m
    """
    p = np.zeros((*q.shape[:2], 3))
    travels = free[: q.shape[2] - 4] if has_quaternion(kind) else free
    R = rotations(q[..., -4:]) if has_quaternion(kind) else None
    for k, component in enumerate(travels):
        axis = axis_of(component)
        if is_turn(component):
            turn = _turns(axis, q[..., k])
            R = turn if R is None else R @ turn
        else:
            p[..., axis] = q[..., k]
    if pitch.any():
        p[..., 2] += pitch * q[..., 0]
    return np.broadcast_to(np.eye(3), (*q.shape[:2], 3, 3)) if R is None else R, p


def axes(kind: str, free: tuple[str, ...], pitch: Array, R_WP: Array, R_WS: Array) -> tuple[Array, Array]:
    """Return velocity of the origin of S and angular velocity per unit rate, (K, n, f, 3), world axes.

    Parameters
    ----------
    pitch : (n,) array
        m/rad.
    R_WP, R_WS : (K, n, 3, 3) array
    """
    v = np.zeros((*R_WP.shape[:2], len(free), 3))
    omega = np.zeros_like(v)
    for k, component in enumerate(free):
        axis = axis_of(component)
        e = (R_WS if PAIR_TYPES[kind].row_kind(component) is RowKind.CARRIED else R_WP)[..., axis]
        (omega if is_turn(component) else v)[:, :, k] = e
    if pitch.any():
        v[:, :, 0] += pitch[:, None] * R_WP[..., 2]
    return v, omega


def advanced(kind: str, q: Array, step: Array) -> Array:
    """Return coordinates q (K, n, nq) of joints of one type after a step (K, n, f) in their rates."""
    if not has_quaternion(kind):
        return np.asarray(q + step)
    half = 0.5 * np.linalg.norm(step[..., -3:], axis=-1, keepdims=True)
    # sin(h)/h, exact at zero as well
    turn = np.concatenate((0.5 * np.sinc(half / np.pi) * step[..., -3:], np.cos(half)), axis=-1)
    turned = _product(turn, q[..., -4:])
    turned /= np.linalg.norm(turned, axis=-1, keepdims=True)
    turned *= np.where(turned[..., -1:] < 0, -1.0, 1.0)
    return np.concatenate((q[..., :-4] + step[..., :-3], turned), axis=-1)


def rotations(xyzw: Array) -> Array:
    """Return the rotations (..., 3, 3) of quaternions xyzw (..., 4), normalised first."""
    xyzw = xyzw / np.linalg.norm(xyzw, axis=-1, keepdims=True)
    K = skew(xyzw[..., :3])
    return np.asarray(np.eye(3) + 2.0 * xyzw[..., 3, None, None] * K + 2.0 * K @ K)


def _turns(axis: int, angle: Array) -> Array:
    """Return rotations (..., 3, 3) about an axis, 0 to 2, by angle (...,), rad."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.zeros((*angle.shape, 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[..., axis, axis] = 1.0
    R[..., i, i] = R[..., j, j] = c
    R[..., i, j], R[..., j, i] = -s, s
    return R


def _product(a: AnyArray, b: AnyArray) -> Array:
    """Return a ∘ b of quaternions a (..., 4) and b (..., 4): first b's turn, then a's."""
    va, wa, vb, wb = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    vector = wa * vb + wb * va + cross(va, vb)
    return np.concatenate((vector, wa * wb - (va * vb).sum(axis=-1, keepdims=True)), axis=-1)
