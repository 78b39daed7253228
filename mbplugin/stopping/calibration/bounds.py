"""How far a computed stop may be off: upper bounds of stops whose brake or ramp comes from measured ones.

The bound of a stop is a one-sided tolerance bound: with the stated confidence at least the stated share of such
stops takes no longer and goes no farther. It contains both what the rows leave open in the fitted numbers and the
scatter of one stop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import nctdtrit, ndtri, stdtrit

from mbplugin.model.brake_law import Brake, FitUncertainty, Ramp
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.stopping.calibration.fit import ZERO, Fit, Problem
from mbplugin.stopping.calibration.intervals import Determination
from mbplugin.stopping.calibration.measurement import Measurement

#: Where the logarithms of the likelihoods of two kinds of scatter differ by more, the rows tell which it is.
_CLEARLY = 3.0
#: A step of difference quotients, over the sizes of the parameters.
_STEP = 1e-3
#: A value depends on an unseen direction where a whole stop along it changes the value by this share.
_DEPENDS = 1e-2
#: The least variance of a computed value over that of one stop: below it the noncentral t has too few digits,
#: and a larger variance gives a larger bound.
_LEAST_LEVERAGE = 3e-3
#: By this share a stop may be slower or faster than all measured ones.
_BEYOND = 0.05
#: Returns the time (s) and the distance (rad, m) of a stop (2,) whose brake or ramp has other numbers, by name.
Prediction = Callable[[Mapping[str, float]], Array]


class StopBounds(NamedTuple):
    """How far the time and the distance of a computed stop may be off.

    Parameters
    ----------
    time_interval, distance_interval : float or None
        Half the 95 % interval of the computed value, s; rad or m.
    time, distance : float or None
        Upper bounds of measured stops.
    missing : str
        Why some of them are None, a clause; empty where none is.
    """

    time_interval: float | None
    time: float | None
    distance_interval: float | None
    distance: float | None
    missing: str


def bounds_of(
    stated: Brake | Ramp, speed: float, predict: Prediction, share: float, confidence: float
) -> StopBounds | None:
    """Return the bounds of a stop with a brake or a ramp; None where it does not come from a calibration.

    Parameters
    ----------
    stated : Brake or Ramp
        Of the joint that stops.
    speed : float
        Of the joint at the signal, rad/s or m/s.
    predict : callable
        Gets the numbers that are to be replaced.
    share, confidence : float
        Between 0 and 1.
    """
    fitted = stated.uncertainty
    if fitted is None:
        return None
    if not fitted.freedom:
        return no_bounds("an exact fit shows no scatter: measure more stops than it has parameters")
    low, high = fitted.speeds
    if not low * (1.0 - _BEYOND) <= speed <= high * (1.0 + _BEYOND):
        slow = speed < low
        return no_bounds(f"the stop is {'slower' if slow else 'faster'} than all measured ones")
    values = {name: float(getattr(stated, name) or 0.0) for name in fitted.parameters}
    late = "reaction" if isinstance(stated, Ramp) else "delay"
    computed = predict({})
    fit = values | {late: float(getattr(stated, late) or 0.0) - fitted.margin} if fitted.margin else values
    middle = predict(fit) if fitted.margin else computed
    slopes = _slopes(predict, fit, fitted)
    if any((np.abs(slopes @ np.array(one)) > _DEPENDS * middle).any() for one in fitted.unseen):
        names = ", ".join(fitted.not_determined)
        return no_bounds(f"the measured stops do not determine {names}, and this stop depends on it")
    covariance = np.array(fitted.covariance)
    scatter = ((fitted.time, fitted.time_share), (fitted.distance, fitted.distance_share))
    missing = ""
    found: list[tuple[float | None, float | None]] = []
    for c, name in enumerate(("time", "distance")):
        one = _scatter_of(scatter[c], float(middle[c]))
        if one is None:
            missing = f"its {name}s were not fitted"
            found.append((None, None))
            continue
        variance = max(float(slopes[c] @ covariance @ slopes[c]), 0.0)
        if fitted.curved and variance > one**2:
            missing = "the stop is too far from the measured ones"
            found.append((None, None))
            continue
        half = float(stdtrit(fitted.freedom, 0.975)) * sqrt(variance)
        bound = (
            float(middle[c]) + tolerance_factor(variance / one**2, fitted.freedom, share, confidence) * one
        )
        found.append((half, max(bound, float(computed[c]))))
    return StopBounds(*found[0], *found[1], missing)


def no_bounds(why: str) -> StopBounds:
    """Return that a stop has no bounds, and why, a clause."""
    return StopBounds(None, None, None, None, why)


def _slopes(predict: Prediction, values: Mapping[str, float], fitted: FitUncertainty) -> Array:
    """Return the derivatives (2, p) of time and distance by the fitted numbers over their sizes."""
    columns = []
    for name, size in zip(fitted.parameters, fitted.sizes, strict=True):
        ahead = values[name] + _STEP * size
        behind = max(values[name] - _STEP * size, 0.0)
        change = predict({**values, name: ahead}) - predict({**values, name: behind})
        columns.append(change / (ahead - behind) * size)
    return np.column_stack(columns)


def _scatter_of(kinds: tuple[float | None, float | None], computed: float) -> float | None:
    """Return the standard deviation of one stop: the larger one where the rows do not tell which kind it is."""
    absolute, relative = kinds
    known = [value for value in (absolute, None if relative is None else relative * computed) if value]
    return max(known, default=None)


def tolerance_factor(leverage: float, freedom: float, share: float, confidence: float) -> float:
    """Return by how many standard deviations of one stop the bound is above the computed value.

    With a value of variance h σ² and a scatter σ of ν degrees of freedom, k = √h t(confidence; ν, z(share)/√h),
    where t is the quantile of the noncentral Student distribution.

    Parameters
    ----------
    leverage : float
        h, the variance of the computed value over that of one stop.
    freedom : float
        ν.
    share, confidence : float
        Between 0 and 1.
    """
    h = max(leverage, _LEAST_LEVERAGE)
    return sqrt(h) * float(nctdtrit(freedom, ndtri(share) / sqrt(h), confidence))


# What a fit says of its uncertainty, as a scene states it.


def uncertainty_of(
    found: Fit, known: Determination, rows: Sequence[Measurement], law: Sequence[str] = ()
) -> FitUncertainty:
    """Return how well the rows determine the numbers of a fit, and how one stop scatters about the computed one.

    Parameters
    ----------
    found : Fit
    known : Determination
        Of the same fit.
    rows : sequence of Measurement
        The fitted ones.
    law : sequence of str, optional
        All parameters of the law, where the rows were too few to fit some: those stay open.
    """
    whole = _of_whole_law(found, law)
    names, J = whole.names, found.jacobian
    x = np.array([found.values.get(name, 0.0) / whole.model.sizes[name] for name in names])
    if whole is not found.problem:
        J = whole.jacobian(x, found.weights)
    U, s, Vt = np.linalg.svd(J, full_matrices=True)
    rank = int((s > ZERO * s[0]).sum()) if len(s) and s[0] > 0.0 else 0
    unseen = tuple(tuple(float(v) for v in direction) for direction in Vt[rank:])
    sizes = tuple(float(whole.model.sizes[name]) for name in names)
    speeds = (min(row.speed for row in rows), max(row.speed for row in rows))
    if known.scatter is None or known.degrees is None or not rank:
        return FitUncertainty(names, sizes, speeds, unseen=unseen)
    counts = np.broadcast_to(np.sqrt([[row.repeats] for row in rows]), found.used.shape)[found.used]
    weights, computed = found.weights[found.used], _computed(found)
    scatter = [_kinds(found, known, c, counts, weights, computed) for c in (0, 1)]
    of_means = np.array(
        [
            (_scatter_of(scatter[c], value) or 0.0) / count
            for c, value, count in zip(found.channel, computed, counts, strict=True)
        ]
    )
    inverse = Vt[:rank].T / s[:rank] @ U[:, :rank].T
    covariance = (inverse * (of_means / weights) ** 2) @ inverse.T
    present = [c for c in (0, 1) if (found.channel == c).any()]
    return FitUncertainty(
        names,
        sizes,
        speeds,
        max(float(known.degrees[present].min()), 1.0),
        tuple(tuple(float(v) for v in row) for row in covariance),
        unseen,
        (),
        known.curved,
        *scatter[0],
        *scatter[1],
    )


def _of_whole_law(found: Fit, law: Sequence[str]) -> Problem:
    """Return the problem with all parameters of a law, of which some were not fitted."""
    own = found.problem
    if set(law) <= set(own.names):
        return own
    return Problem(own.model, tuple(law), {}, own.data, own.used)


def _computed(found: Fit) -> Array:
    """Return the computed values (m,) of what was fitted."""
    measured = found.problem.data[found.used]
    return np.asarray(measured + found.residuals * found.weights[found.used])


def _kinds(
    found: Fit, known: Determination, c: int, counts: Array, weights: Array, computed: Array
) -> tuple[float | None, float | None]:
    """Return the scatter of one stop, and that over the computed value, of times (c = 0) or distances (c = 1).

    Stated spreads are absolute, the largest of them counts. Else both kinds are compared by their likelihood; one
    that is clearly less likely is None.

    Parameters
    ----------
    counts, weights, computed : (m,) array
        Roots of the repeats of rows, weights and computed values of what was fitted.
    """
    assert known.scatter is not None
    assert known.degrees is not None
    own: AnyArray = found.channel == c
    if not own.any():
        return None, None
    if found.stated:
        return float((weights * counts)[own].max() * known.scatter[c]), None
    absolute = float(np.median((weights * counts)[own]) * known.scatter[c])
    gaps = (found.residuals * weights * counts)[own]
    shares = gaps / np.maximum(computed[own], 1e-300)
    n = len(gaps)
    freedom = min(max(float(known.degrees[c]), 1.0), float(n))
    relative = float(np.sqrt((shares**2).sum() / freedom))
    least = 1e-300
    of_absolute = -n * np.log(max(float(np.sqrt((gaps**2).mean())), least))
    of_relative = -n * np.log(max(float(np.sqrt((shares**2).mean())), least)) - float(
        np.log(np.maximum(computed[own], least)).sum()
    )
    gain = of_absolute - of_relative
    return None if gain < -_CLEARLY else absolute, None if gain > _CLEARLY else relative
