"""Upper bounds of computed stops whose brake or ramp was fitted to measured ones.

The bound of a stop is a one-sided tolerance bound: with the stated confidence, at least the stated share of such
stops takes no longer and goes no farther. It includes both the uncertainty of the fitted numbers and the scatter of
one stop.
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

#: The rows distinguish two kinds of scatter if their log-likelihoods differ by more than this.
_CLEARLY = 3.0
#: Step of difference quotients, relative to the sizes of the parameters.
_STEP = 1e-3
#: A value depends on an unseen direction if a whole stop along it changes the value by more than this share.
_DEPENDS = 1e-2
#: Smallest ratio used for the variance of a computed value to that of one stop: below it the noncentral t is too
#: inaccurate, and a larger variance gives a larger bound, which is safe.
_LEAST_LEVERAGE = 3e-3
#: Share by which a stop may be slower or faster than all measured ones.
_BEYOND = 0.05
#: Returns time (s) and distance (rad, m) (2,) of a stop whose brake or ramp has the given numbers, by name.
Prediction = Callable[[Mapping[str, float]], Array]


class StopBounds(NamedTuple):
    """Intervals and upper bounds of the time and the distance of a computed stop.

    Parameters
    ----------
    time_interval, distance_interval : float or None
        Half the 95 % interval of the computed value, s; rad or m.
    time, distance : float or None
        Upper bounds for real stops, s; rad or m.
    missing : str
        Reason why some of them are None, as a clause; empty if none is.
    """

    time_interval: float | None
    time: float | None
    distance_interval: float | None
    distance: float | None
    missing: str


def bounds_of(
    stated: Brake | Ramp, speed: float, predict: Prediction, share: float, confidence: float
) -> StopBounds | None:
    """Return the bounds of a stop with a brake or a ramp; None if this was not calibrated.

    Parameters
    ----------
    stated : Brake or Ramp
        Brake or ramp of the joint that stops.
    speed : float
        Speed of the joint at the signal, rad/s or m/s.
    predict : callable
        Called with the numbers to replace.
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
    """Return missing bounds with the reason, a clause."""
    return StopBounds(None, None, None, None, why)


def _slopes(predict: Prediction, values: Mapping[str, float], fitted: FitUncertainty) -> Array:
    """Return the derivatives (2, p) of time and distance with respect to the scaled fitted numbers."""
    columns = []
    for name, size in zip(fitted.parameters, fitted.sizes, strict=True):
        ahead = values[name] + _STEP * size
        behind = max(values[name] - _STEP * size, 0.0)
        change = predict({**values, name: ahead}) - predict({**values, name: behind})
        columns.append(change / (ahead - behind) * size)
    return np.column_stack(columns)


def _scatter_of(kinds: tuple[float | None, float | None], computed: float) -> float | None:
    """Return the standard deviation of one stop: the larger one if the rows do not distinguish the kinds."""
    absolute, relative = kinds
    known = [value for value in (absolute, None if relative is None else relative * computed) if value]
    return max(known, default=None)


def tolerance_factor(leverage: float, freedom: float, share: float, confidence: float) -> float:
    """Return the number of standard deviations of one stop by which the bound exceeds the computed value.

    With a value of variance h σ² and a scatter σ of ν degrees of freedom, k = √h t(confidence; ν, z(share)/√h),
    where t is the quantile of the noncentral Student distribution.

    Parameters
    ----------
    leverage : float
        h, the ratio of the variance of the computed value to that of one stop.
    freedom : float
        ν.
    share, confidence : float
        Between 0 and 1.
    """
    h = max(leverage, _LEAST_LEVERAGE)
    return sqrt(h) * float(nctdtrit(freedom, ndtri(share) / sqrt(h), confidence))


# The uncertainty of a fit, in the form that a scene states.


def uncertainty_of(
    found: Fit, known: Determination, rows: Sequence[Measurement], law: Sequence[str] = ()
) -> FitUncertainty:
    """Return the uncertainty of the numbers of a fit, and the scatter of one stop about the computed one.

    Parameters
    ----------
    found : Fit
    known : Determination
        Of the same fit.
    rows : sequence of Measurement
        The fitted rows.
    law : sequence of str, optional
        All parameters of the law, if there were too few rows to fit some: these count as uncertain.
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
    """Return the fit's problem, extended to all parameters of a law if some were not fitted."""
    own = found.problem
    if set(law) <= set(own.names):
        return own
    return Problem(own.model, tuple(law), {}, own.data, own.used)


def _computed(found: Fit) -> Array:
    """Return the computed values (m,) for the fitted measurements."""
    measured = found.problem.data[found.used]
    return np.asarray(measured + found.residuals * found.weights[found.used])


def _kinds(
    found: Fit, known: Determination, c: int, counts: Array, weights: Array, computed: Array
) -> tuple[float | None, float | None]:
    """Return the absolute and the relative scatter of one stop, of times (c = 0) or distances (c = 1).

    Stated spreads are absolute, and the largest counts. Otherwise both kinds are compared by their likelihood; one
    that is clearly less likely is None.

    Parameters
    ----------
    counts, weights, computed : (m,) array
        Square roots of the repeats, weights and computed values of the fitted measurements.
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
