"""Whether intervals from the Jacobian hold: all other parameters are fitted anew at the ends of each."""

from __future__ import annotations

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.stopping.calibration.fit import ZERO, Fit, Problem

#: Of the rise of the sum of squares that the Jacobian predicts at the end of an interval, the least that there is.
_LEAST = 0.5
#: Of its interval, the most that another parameter moves meanwhile; it is 1 where the Jacobian is constant.
_MOST = 1.5
#: The longest step, over the size of a parameter: a whole stop.
_LONGEST = 1.0


def narrow(found: Fit, half_widths: Array) -> tuple[str, ...]:
    """Return the parameters whose intervals are too narrow, as valleys of the sum of squares are curved.

    At both ends of every interval the other parameters are fitted anew. An interval is too narrow where the
    sum of squares hardly rises towards its end, or where its parameter leaves it while the sum of squares rises
    no more than at the end of another one.

    Parameters
    ----------
    half_widths : (p,) array
        Of the intervals, over the sizes of the parameters.
    """
    _, s, Vt = np.linalg.svd(found.jacobian, full_matrices=False)
    if not s[0] > 0.0:
        # no parameter has any effect: there are no intervals
        return ()
    known = s > ZERO * s[0]
    determined = ((Vt[known] / s[known, None]) ** 2).sum(axis=0)
    # along a direction without any slope the step is long
    covariance = (Vt.T / np.maximum(s, ZERO * s[0]) ** 2) @ Vt
    quantile = float(np.median(half_widths / np.sqrt(np.maximum(determined, 1e-300))))
    names: set[str] = set()
    for k in range(len(found.x)):
        for sign in (-1.0, 1.0):
            names.update(_narrow_at(found, k, sign, quantile, half_widths, covariance))
    return tuple(name for name in found.names if name in names)


def _narrow_at(
    found: Fit, k: int, sign: float, quantile: float, half_widths: Array, covariance: Array
) -> tuple[str, ...]:
    """Return the parameters whose intervals are too narrow, seen from one end of that of parameter k.

    Parameters
    ----------
    quantile : float
        Half an interval over its standard deviation, for residuals over their weights.
    half_widths : (p,) array
    covariance : (p, p) array
        Over the squared weights.
    """
    lower, upper = found.problem.lower[k], found.problem.upper[k]
    step = sign * min(quantile * float(np.sqrt(covariance[k, k])), _LONGEST)
    moved = float(np.clip(found.x[k] + step, lower, upper)) - found.x[k]
    predicted = moved**2 / covariance[k, k]
    if abs(moved) < 1e-9 or predicted <= 1e-9 * found.squares:
        return ()
    x, squares = _fitted_at(found, k, moved, covariance)
    rise = squares - found.squares
    if rise > quantile**2:
        return ()
    names = found.names
    away = [names[i] for i in range(len(x)) if abs(x[i] - found.x[i]) > _MOST * half_widths[i]]
    return (*away, names[k]) if rise < _LEAST * predicted else tuple(away)


def _fitted_at(found: Fit, k: int, moved: float, covariance: Array) -> tuple[Array, float]:
    """Return parameters (p,) with parameter k moved and the others fitted anew, and the sum of squares.

    The fit begins where the covariance (p, p) predicts them.
    """
    whole, x = found.problem, found.x + covariance[:, k] / covariance[k, k] * moved
    x[k] = found.x[k] + moved
    fixed = {**whole.fixed, whole.names[k]: x[k] * whole.model.sizes[whole.names[k]]}
    others = [i for i in range(len(x)) if i != k]
    rest = Problem(whole.model, tuple(whole.names[i] for i in others), fixed, whole.data, whole.used)
    if not others:
        residuals = rest.residuals(x[others], found.weights)
        return x, float(residuals @ residuals)
    best = rest.solve(x[others], found.weights)
    x[others] = best.x
    return x, 2.0 * float(best.cost)
