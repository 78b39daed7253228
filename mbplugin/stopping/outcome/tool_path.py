"""The length of the path of a point of the tool, from the pieces of a motion."""

from __future__ import annotations

from math import sqrt

import numpy as np

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.motion import move
from mbplugin.model.spatial import Array


def _gauss_legendre(n: int) -> tuple[Array, Array]:
    """Return n nodes on 0 … 1, and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return 0.5 * (nodes + 1.0), 0.5 * weights


#: A step is smooth, and so is the speed of the tool on it; steps shorter than ``_SHORT`` (s) need fewer nodes.
_NODES, _WEIGHTS = _gauss_legendre(8)
_FEW_NODES, _FEW_WEIGHTS = _gauss_legendre(4)
_SHORT = 0.01


@kernel
def path_length(composites: Records, rates: Records, carrier: int, point: Array, pieces: Array) -> float:
    """Return the length of the path of a point, m: ∫ |v| dt over all pieces.

    Parameters
    ----------
    composites, rates : record arrays
        Of a tree of single freedoms; they are left at some pose of the motion.
    carrier : int
        The solid that carries the point.
    point : (3,) array
        In that solid's frame, m.
    pieces : (n, 7, nv) array
        Length (s) in [k, 0, 0], then q, q̇, q̈ at the start and at the end of piece k, between which the
        coordinates are quintic; a piece of length 0 ends them.
    """
    nv = pieces.shape[2]
    q, qd = np.empty(nv), np.empty(nv)
    total = 0.0
    for k in range(len(pieces)):
        h = pieces[k, 0, 0]
        if h <= 0.0:
            break
        few = h < _SHORT
        for node in range(len(_FEW_NODES) if few else len(_NODES)):
            at, weight = (_FEW_NODES[node], _FEW_WEIGHTS[node]) if few else (_NODES[node], _WEIGHTS[node])
            for j in range(nv):
                q[j], qd[j] = _quintic(pieces[k, 1:, j], h, at)
            move(composites, rates, q, qd)
            total += h * weight * _speed(composites, carrier, point)
    return total


def turning_points(pieces: Array) -> Array:
    """Return coordinates (2 k, nv) among which are the extremes of a motion: ends of pieces, and where rates vanish.

    Parameters
    ----------
    pieces : (n, 7, nv) array
        As for :func:`path_length`. Where a rate changes its sign inside a piece, the acceleration is taken as constant.
    """
    ended = np.flatnonzero(pieces[:, 0, 0] <= 0.0)
    used = pieces[: ended[0]] if len(ended) else pieces
    h, q, v, last = used[:, 0, :1], used[:, 1], used[:, 2], used[:, 5]
    turns = v * last < 0.0
    share = np.divide(v, v - last, out=np.zeros_like(v), where=turns)
    return np.concatenate((used[:, 4], q + 0.5 * h * v * share))


@kernel
def _quintic(ends: Array, h: float, x: float) -> tuple[float, float]:
    """Return value and rate at fraction x of a piece from q, q̇, q̈ at both ends (6,)."""
    c0, c1, c2 = ends[0], h * ends[1], 0.5 * h * h * ends[2]
    D = ends[3] - (c0 + c1 + c2)
    E = h * ends[4] - (c1 + 2.0 * c2)
    F = h * h * ends[5] - 2.0 * c2
    c3 = 10.0 * D - 4.0 * E + 0.5 * F
    c4 = -15.0 * D + 7.0 * E - F
    c5 = 6.0 * D - 3.0 * E + 0.5 * F
    value = c0 + x * (c1 + x * (c2 + x * (c3 + x * (c4 + x * c5))))
    slope = c1 + x * (2.0 * c2 + x * (3.0 * c3 + x * (4.0 * c4 + x * 5.0 * c5)))
    return value, slope / h


@kernel
def _speed(composites: Records, carrier: int, point: Array) -> float:
    """Return the speed of a point (3,) of a solid (in its frame, m), m/s."""
    composite = composites[carrier]
    r0, r1, r2 = (
        composite.p[0] - composite.c[0],
        composite.p[1] - composite.c[1],
        composite.p[2] - composite.c[2],
    )
    for i in range(3):
        r0 += composite.R[0, i] * point[i]
        r1 += composite.R[1, i] * point[i]
        r2 += composite.R[2, i] * point[i]
    w0, w1, w2 = composite.v[3], composite.v[4], composite.v[5]
    v0 = composite.v[0] + w1 * r2 - w2 * r1
    v1 = composite.v[1] + w2 * r0 - w0 * r2
    v2 = composite.v[2] + w0 * r1 - w1 * r0
    return sqrt(v0 * v0 + v1 * v1 + v2 * v2)
