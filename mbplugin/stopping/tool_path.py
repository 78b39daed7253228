"""Length of the path of a tool during a stop: all nodes of a step at once, in the lanes of vectors."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import types

from mbplugin.dynamics.compiler import Records, kernel, named_tuple, struct_loader
from mbplugin.dynamics.compiler.lanes import LANES, VECTOR_OF_LANES, aligned, as_lanes
from mbplugin.dynamics.kernels import move_single
from mbplugin.dynamics.tree_calls import LANED_COMPOSITE, LANED_RATE, in_lanes
from mbplugin.model.spatial import AnyArray, Array

#: Number of nodes in a step: the speed of the tool is smooth there, so one in each of eight lanes suffices.
NODES = 8


class PathWorkspace(NamedTuple):
    """Records and states of a tree of one-freedom joints at the nodes of a step, one in each lane.

    Parameters
    ----------
    composites, rates : record arrays
    q, qd : (nv,) array
        Numbers of each lane; rad and m, rad/s and m/s.
    node, speed : (NODES / LANES,), (1,) array
        Fraction of the step at each node, and speed of the tool there, m/s; numbers of each lane.
    speeds : (1, LANES) array
        The memory of ``speed`` as single numbers.
    weights : (NODES,) array
        Weights of the nodes in the integral over the step; their sum is 1.
    """

    composites: Records
    rates: Records
    q: AnyArray
    qd: AnyArray
    node: AnyArray
    speed: AnyArray
    speeds: Array
    weights: Array


_load: Any = struct_loader(
    named_tuple(
        [types.Array(kind, 1, "C") for kind in (LANED_COMPOSITE, LANED_RATE)]
        + [VECTOR_OF_LANES] * 4
        + [types.float64[:, ::1], types.float64[::1]],
        PathWorkspace,
    )
)


def path_workspace(composites: AnyArray, rates: AnyArray) -> PathWorkspace:
    """Allocate the workspace of a tree of one-freedom joints.

    Parameters
    ----------
    composites, rates : (b,), (nv,) record array
        Of the tree; masses may change later, since poses and speeds do not depend on them.
    """
    nv = len(rates)
    q, qd, node, speed = (aligned((n, LANES), float) for n in (nv, nv, NODES // LANES, 1))
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    node[:] = 0.5 * (nodes + 1.0).reshape(node.shape)
    laned = in_lanes(composites, LANED_COMPOSITE), in_lanes(rates, LANED_RATE)
    numbers = as_lanes(q), as_lanes(qd), as_lanes(node), as_lanes(speed)
    return PathWorkspace(*laned, *numbers, speed, 0.5 * weights)


@kernel
def path_length(place: int, carrier: int, point: Array, pieces: Array) -> float:
    """Return the length of the path of a point, m: ∫ |v| dt over all pieces.

    Parameters
    ----------
    place : int
        Address of a :class:`PathWorkspace`; it is left at some poses of the motion.
    carrier : int
        Index of the composite body that carries the point.
    point : (3,) array
        In the frame of that composite body, m.
    pieces : (n, 7, nv) array
        Duration (s) in [k, 0, 0], then q, q̇, q̈ at the start and at the end of piece k; the coordinates are quintic
        in between. A piece of duration 0 marks the end.
    """
    m, total = _load(place), 0.0
    for k in range(len(pieces)):
        h = pieces[k, 0, 0]
        if h <= 0.0:
            break
        for first in range(0, NODES, LANES):
            for j in range(pieces.shape[2]):
                m.q[j], m.qd[j] = _quintic(pieces[k, 1:, j], h, m.node[first // LANES])
            move_single(m.composites, m.rates, m.q, m.qd)
            m.speed[0] = _speed(m.composites[carrier], point)
            for lane in range(LANES):
                total += h * m.weights[first + lane] * m.speeds[0, lane]
    return total


@kernel
def _quintic(ends: Array, h: float, x: Any) -> tuple[Any, Any]:
    """Return value and rate of a quintic at fraction x of a piece, from q, q̇, q̈ at both ends (6,)."""
    c0, c1, c2 = ends[0], h * ends[1], 0.5 * h * h * ends[2]
    D = ends[3] - (c0 + c1 + c2)
    E = h * ends[4] - (c1 + 2.0 * c2)
    F = h * h * ends[5] - 2.0 * c2
    c3 = 10.0 * D - 4.0 * E + 0.5 * F
    c4 = -15.0 * D + 7.0 * E - F
    c5 = 6.0 * D - 3.0 * E + 0.5 * F
    value = c0 + x * (c1 + x * (c2 + x * (c3 + x * (c4 + x * c5))))
    slope = c1 + x * (2.0 * c2 + x * (3.0 * c3 + x * (4.0 * c4 + x * (5.0 * c5))))
    return value, slope * (1.0 / h)


@kernel
def _speed(body: Records, point: Array) -> Any:
    """Return the speed of a point (3,) of a composite body (in its frame, m), m/s."""
    r0, r1, r2 = body.p[0] - body.c[0], body.p[1] - body.c[1], body.p[2] - body.c[2]
    for i in range(3):
        r0 += body.R[0, i] * point[i]
        r1 += body.R[1, i] * point[i]
        r2 += body.R[2, i] * point[i]
    w0, w1, w2 = body.v[3], body.v[4], body.v[5]
    v0 = body.v[0] + w1 * r2 - w2 * r1
    v1 = body.v[1] + w2 * r0 - w0 * r2
    v2 = body.v[2] + w0 * r1 - w1 * r0
    return sqrt(v0 * v0 + v1 * v1 + v2 * v2)
