"""Hermite polynomials of a step: cubic ones for methods without a dense output of their own, quintic ones for stops."""

from __future__ import annotations

from mbplugin.dynamics.compiler.jit import kernel
from mbplugin.model.spatial import Array

#: Degree of the cubics, and of the quintics.
DEGREE, QUINTIC = 3, 5


@kernel
def cubic(
    h: float,
    x: Array,
    xd0: Array,
    xd1: Array,
    qd0: Array,
    qd1: Array,
    qdd0: Array,
    qdd1: Array,
    out: Array,
) -> None:
    """Fill the cubics (4, 2, nv), lowest power first, through increment and rates at both ends.

    Parameters
    ----------
    h : float
        Length of the step, s.
    x, xd0, xd1 : (nv,) array
        Increment, and its rates at start and end, per second.
    qd0, qd1, qdd0, qdd1 : (nv,) array
        Rates and accelerations at start and end.

    out : (4, 2, nv) array
        The cubics.
    """
    for j in range(len(x)):
        for part in range(2):
            y0, y1 = (0.0, x[j]) if part == 0 else (qd0[j], qd1[j])
            s0, s1 = (h * xd0[j], h * xd1[j]) if part == 0 else (h * qdd0[j], h * qdd1[j])
            out[0, part, j] = y0
            out[1, part, j] = s0
            out[2, part, j] = 3.0 * (y1 - y0) - 2.0 * s0 - s1
            out[3, part, j] = 2.0 * (y0 - y1) + s0 + s1


@kernel
def quintic(
    h: float, q0: Array, q1: Array, qd0: Array, qd1: Array, qdd0: Array, qdd1: Array, out: Array
) -> None:
    """Fill the quintics (6, 2, nv), lowest power first, of increment and rates of a step whose coordinates add up.

    The rates are the derivative of the increment: with both accelerations their error is that of a method of order 5,
    and smaller than that of the step.

    Parameters
    ----------
    h : float
        Length of the step, s.
    q0, q1, qd0, qd1, qdd0, qdd1 : (nv,) array
        Coordinates, rates and accelerations at start and end.
    out : (6, 2, nv) array
        The quintics.
    """
    for j in range(len(q0)):
        c1, c2 = h * qd0[j], 0.5 * h * h * qdd0[j]
        D = q1[j] - q0[j] - (c1 + c2)
        E = h * qd1[j] - (c1 + 2.0 * c2)
        F = h * h * qdd1[j] - 2.0 * c2
        c = (0.0, c1, c2, 10.0 * D - 4.0 * E + 0.5 * F, -15.0 * D + 7.0 * E - F, 6.0 * D - 3.0 * E + 0.5 * F)
        for n in range(6):
            out[n, 0, j] = c[n]
            out[n, 1, j] = (n + 1) * c[n + 1] / h if n < 5 else 0.0


@kernel
def quintic_at(
    h: float, fraction: float, q0: Array, polynomial: Array, q: Array, qd: Array, qdd: Array
) -> None:
    """Fill coordinates, rates and accelerations at a fraction of a step.

    Parameters
    ----------
    h, fraction : float
        Length of the step, s, and where in it.
    q0 : (nv,) array
        Coordinates at the start.
    polynomial : (6, 2, nv) array
        As of :func:`quintic`.
    q, qd, qdd : (nv,) array
        To be filled.
    """
    for j in range(len(q0)):
        x, v, a = 0.0, 0.0, 0.0
        for n in range(QUINTIC, -1, -1):
            a = a * fraction + v
            v = v * fraction + polynomial[n, 1, j]
            x = x * fraction + polynomial[n, 0, j]
        q[j], qd[j], qdd[j] = q0[j] + x, v, a / h
