"""The state of a motion between its samples, by Hermite polynomials through up to four of them.

The product's own interpolation is not used for rates: what is checked must not check itself.
"""

from __future__ import annotations

import numpy as np

from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Nodes of a Gauss rule in an interval.
GAUSS, WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(6))
GAUSS = GAUSS + 0.5
#: A neighbouring interval this much longer, or this much shorter, is not used.
_LONGER, _SHORTER = 5.0, 12.0


def rates_between(motion: Trajectory, intervals: AnyArray) -> Array:
    """Rates (k, g, nv) at the nodes of some intervals (k,), each given by its first sample."""
    time, qd, qdd = motion.time, motion.qd, motion.qdd
    h = np.diff(time)
    out = np.empty((len(intervals), len(GAUSS), qd.shape[1]))
    left, right = (_smooth(motion, h, intervals, side) for side in (-1, 1))
    for before in (False, True):
        for after in (False, True):
            mine = np.flatnonzero((left == before) & (right == after))
            if mine.size:
                k = intervals[mine]
                points = [k + n for n in (-1, 0, 1, 2) if (n >= 0 or before) and (n < 2 or after)]
                out[mine] = _hermite(time, qd, qdd, k, points, h[k], GAUSS)
    _let_coordinates_agree(motion, out, intervals, h[intervals])
    return out


def _let_coordinates_agree(motion: Trajectory, out: Array, k: AnyArray, h: Array) -> None:
    """Add x² (1 − x)² to rates so that over each interval they add up to what their coordinate changes.

    Where an interval stands alone this is the derivative of the quintic of the coordinate.
    """
    mech = motion.mechanism
    bump = 30.0 * GAUSS**2 * (1.0 - GAUSS) ** 2
    for n, name in enumerate(mech.qd_names):
        if name in mech.q_names:
            q = motion.q[:, mech.q_names.index(name)]
            missing = (q[k + 1] - q[k]) / h - out[:, :, n] @ WEIGHTS
            out[:, :, n] += missing[:, None] * bump


def _smooth(motion: Trajectory, h: Array, k: AnyArray, side: int) -> AnyArray:
    """Whether the neighbour of an interval continues it smoothly, and is of like length."""
    n = k + side
    inside = (n >= 0) & (n < len(h))
    n = np.clip(n, 0, len(h) - 1)
    same = motion.segment[n] == motion.segment[k + 1]
    like = (h[n] > h[k] / _SHORTER) & (h[n] < h[k] * _LONGER)
    return np.asarray(inside & same & like)


def _hermite(
    time: Array, v: Array, a: Array, k: AnyArray, points: list[AnyArray], h: Array, s: Array
) -> Array:
    """The polynomial through rates v and accelerations a at some samples, in units of the interval."""
    degree = 2 * len(points)
    powers = np.arange(degree)
    matrix, values = [], []
    for at in points:
        x = ((time[at] - time[k]) / h)[:, None]
        matrix += [x**powers, powers * x ** np.maximum(powers - 1, 0)]
        values += [v[at], h[:, None] * a[at]]
    coefficients = np.linalg.solve(np.stack(matrix, axis=1), np.stack(values, axis=1))
    return np.einsum("gp,kpv->kgv", s[:, None] ** powers, coefficients)
