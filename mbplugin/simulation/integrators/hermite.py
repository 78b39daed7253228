"""Dense output of methods that have none of their own: cubic Hermite polynomials."""

from __future__ import annotations

from mbplugin.dynamics.compiler.jit import kernel
from mbplugin.model.spatial import Array

#: Degree of the polynomials.
DEGREE = 3


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
