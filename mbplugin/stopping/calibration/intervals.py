"""Accuracy of fitted parameters, and upper bounds of stops whose brake or ramp was fitted to measured ones.

Intervals follow from the Jacobian, with the combinations that stay undetermined. The bound of a stop is a one-sided
tolerance bound: with the stated confidence, at least the stated share of such stops takes no longer and goes no
farther. It includes both the uncertainty of the fitted numbers and the scatter of one stop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10, sqrt
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import nctdtrit, ndtri, stdtrit
from scipy.stats import t as student

from mbplugin.errors import BadUsage
from mbplugin.model import AnyArray, Array, Brake, CoordinateUnit, FitUncertainty, Ramp
from mbplugin.stopping.calibration.fit import ZERO, Fit, Problem, RowModel, scatter_of
from mbplugin.stopping.calibration.measured import Measurement

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
#: Joint confidence of the intervals of all parameters of a joint.
CONFIDENCE = 0.95
#: Degrees of freedom of a stated scatter.
_MANY = 1e6
#: A combination is not determined if half its interval is wider than this share of a whole stop.
_WIDE = 0.5
#: A parameter belongs to an undetermined direction if its relative component is larger than this.
_PART = 0.1
#: Least actual rise of the sum of squares at the end of an interval, relative to the rise the Jacobian predicts.
_LEAST = 0.5
#: Most that another parameter may move meanwhile, relative to its interval; 1 if the Jacobian is constant.
_MOST = 1.5
#: Longest step relative to the size of a parameter: a whole stop.
_LONGEST = 1.0
#: A computed stop covers a measured one if it is shorter by at most this share, which is rounding.
ROUNDING = 1e-6
#: A margin may miss a row by half of that: computing the stop again from the written scene adds rounding.
_AIMED = 0.5 * ROUNDING
#: Significant digits of numbers in the tables of a scene.
_DIGITS = 6
#: How often a margin is doubled, and its interval then halved, which leaves about a ten-thousandth of the interval.
_DOUBLINGS, _HALVINGS = 40, 14


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


@dataclass(frozen=True)
class Parameter:
    """A fitted parameter.

    Parameters
    ----------
    name, unit : str
    value : float
    low, high : float or None
        Interval that holds with :data:`CONFIDENCE` for all parameters of the joint together; None if the
        data give none.
    identifiable : bool
        Whether the data determine it.
    """

    name: str
    unit: str
    value: float
    low: float | None
    high: float | None
    identifiable: bool


@dataclass(frozen=True)
class Determination:
    """The accuracy with which data determine parameters.

    Parameters
    ----------
    half_widths : (p,) array or None
        Half the intervals; None if the data leave no scatter from which to estimate them.
    undetermined : tuple of tuple of str
        Groups of parameters of which only a combination is determined, the largest component first.
    freedom : int
        Degrees of freedom: numbers in excess of those that determine the parameters.
    scatter, degrees : (2,) array or None
        Scatter of times and distances relative to their weights, and its degrees of freedom.
    curved : bool
        Whether intervals from the Jacobian are too narrow for some parameters.
    """

    half_widths: Array | None
    undetermined: tuple[tuple[str, ...], ...]
    freedom: int
    scatter: Array | None
    degrees: Array | None = None
    curved: bool = False


def determination(found: Fit) -> Determination:
    """Return the accuracy with which a fit determines its parameters.

    The covariance is that of a fit with fixed weights, whose errors have the scatter of times and of
    distances. Each scatter comes from few residuals, so the quantile is Student's with the degrees of freedom
    of the less certain one, with Bonferroni's correction for all parameters together.
    """
    J, names = found.jacobian, found.names
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    rank = int((s > ZERO * s[0]).sum()) if len(s) and s[0] > 0.0 else 0
    freedom = len(found.residuals) - rank
    missing = scipy.linalg.null_space(Vt[:rank]).T if rank else np.eye(len(names))
    directions = list(missing)
    if freedom <= 0 and not found.stated:
        return Determination(None, _named(directions, names), freedom, None)
    scatter, degrees = _scatter(found, freedom)
    U, s, Vt = U[:, :rank], s[:rank], Vt[:rank]
    half = _half_widths(found, Vt.T / s @ U.T, scatter, degrees, (1 - CONFIDENCE) / len(names))
    wide = _half_widths(found, U.T / s[:, None], scatter, degrees, 1 - CONFIDENCE)
    directions += [direction for direction, width in zip(Vt, wide, strict=True) if width > _WIDE]
    groups = _named(directions, names)
    # refits must confirm the intervals of the Jacobian, because valleys of the sum of squares are curved
    if curved := narrow(found, half):
        groups = (tuple(dict.fromkeys((*(name for group in groups for name in group), *curved))),)
    return Determination(half * found.sizes, groups, freedom, scatter, degrees, bool(curved))


def _scatter(found: Fit, freedom: int) -> tuple[Array, Array]:
    """Return the scatter (2,) of times and distances relative to their weights, and its degrees of freedom (2,).

    Residuals that are small by chance do not reduce a stated scatter.
    """
    pooled = np.sqrt(found.squares / freedom) if freedom > 0 else 1.0
    if found.stated:
        return np.full(2, max(float(pooled), 1.0)), np.full(2, _MANY)
    two = scatter_of(found.residuals, found.jacobian, found.channel)
    return two if two is not None else (np.full(2, pooled), np.full(2, float(freedom)))


def _half_widths(found: Fit, inverse: Array, scatter: Array, degrees: Array, tail: float) -> Array:
    """Return half the intervals (k,) of linear functions of the errors.

    Parameters
    ----------
    inverse : (k, m) array
        Coefficients of the errors of the residuals.
    scatter, degrees : (2,) array
        Scatter of times and distances relative to their weights, and its degrees of freedom.
    tail : float
        Probability of both tails.
    """
    parts = np.array([(inverse[:, found.channel == c] ** 2).sum(axis=1) * scatter[c] ** 2 for c in (0, 1)])
    total = parts.sum(axis=0)
    present = [c for c in (0, 1) if (found.channel == c).any()]
    # the weights come from the residuals as well: the smaller number keeps the intervals wide enough
    freedom = max(float(degrees[present].min()), 1.0)
    return np.asarray(student.isf(tail / 2, freedom) * np.sqrt(total))


def parameters_of(found: Fit, known: Determination, units: Sequence[str]) -> tuple[Parameter, ...]:
    """Return the fitted parameters with their intervals."""
    open_names = {name for group in known.undetermined for name in group}
    structural = known.half_widths is not None
    out = []
    for k, (name, unit) in enumerate(zip(found.names, units, strict=True)):
        value, determined = found.values[name], name not in open_names
        low = high = None
        if structural and determined:
            assert known.half_widths is not None
            half = float(known.half_widths[k])
            low, high = max(value - half, 0.0), value + half
        out.append(Parameter(name, unit, value, low, high, determined))
    return tuple(out)


def _named(directions: Sequence[Array], names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return the names of the parameters in undetermined directions (p,), the largest component first."""
    out = []
    for direction in directions:
        size = np.abs(direction) / np.abs(direction).max()
        order = [int(k) for k in np.argsort(-size) if size[k] > _PART]
        out.append(tuple(names[k] for k in order))
    return tuple(out)


# A measured stop compared with the computed one.


@dataclass(frozen=True)
class ComparedRow:
    """A measured stop compared with the computed one.

    Parameters
    ----------
    line : int
        Line in the file of measured stops.
    joint : str
    category : 0 or 1
    unit : "rad" or "m"
    speed : float
        rad/s or m/s.
    repeats : int
    shape_index : float or None
        2 d/(v T) of the measured values.
    time_measured, distance_measured : float or None
        s; rad or m.
    time_computed, distance_computed : float
    """

    line: int
    joint: str
    category: int
    unit: CoordinateUnit
    speed: float
    repeats: int
    shape_index: float | None
    time_measured: float | None
    time_computed: float
    distance_measured: float | None
    distance_computed: float

    @property
    def time_deviation(self) -> float | None:
        """Relative deviation of the computed from the measured time."""
        return _deviation(self.time_computed, self.time_measured)

    @property
    def distance_deviation(self) -> float | None:
        """Relative deviation of the computed from the measured distance."""
        return _deviation(self.distance_computed, self.distance_measured)

    @property
    def covered(self) -> bool:
        """Whether the measured stop took no longer and went no farther than computed."""
        return all(gap is None or gap >= -ROUNDING for gap in (self.time_deviation, self.distance_deviation))


def known(value: float) -> float | None:
    """Return a finite number, else None."""
    return value if isfinite(value) else None


def _deviation(computed: float, measured: float | None) -> float | None:
    return computed / measured - 1.0 if measured else None


# Validity of the intervals from the Jacobian: at the ends of each, all other parameters are fitted again.


def narrow(found: Fit, half_widths: Array) -> tuple[str, ...]:
    """Return the parameters whose intervals are too narrow, because valleys of the sum of squares are curved.

    At both ends of every interval the other parameters are fitted again. An interval is too narrow if the sum of
    squares hardly rises towards its end, or if its parameter leaves it at the end of another interval without a
    large rise of the sum of squares.

    Parameters
    ----------
    half_widths : (p,) array
        Half the intervals, relative to the sizes of the parameters.
    """
    _, s, Vt = np.linalg.svd(found.jacobian, full_matrices=False)
    if not s[0] > 0.0:
        # no parameter has an effect, so there are no intervals
        return ()
    known = s > ZERO * s[0]
    determined = ((Vt[known] / s[known, None]) ** 2).sum(axis=0)
    # bounded, so that steps along flat directions are long but finite
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
    """Return the parameters whose intervals prove too narrow at one end of the interval of parameter k.

    Parameters
    ----------
    quantile : float
        Half an interval divided by its standard deviation, for weighted residuals.
    half_widths : (p,) array
    covariance : (p, p) array
        For weighted residuals.
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
    """Return parameters (p,) with parameter k moved and the others fitted again, and the sum of squares.

    The fit starts from the values that the covariance (p, p) predicts.
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


# A longer delay, so that no computed stop is shorter in time or distance than the measured one.


class Margin(NamedTuple):
    """An addition to a delay or a reaction.

    Parameters
    ----------
    time : float
        s; 0 if the fit is on the safe side already.
    line : int or None
        Line of the row that determines it.
    """

    time: float
    line: int | None


def as_written(value: float) -> float:
    """Return a number rounded to the digits in the tables of a scene."""
    return float(f"{value:.{_DIGITS}g}")


def written_up(value: float) -> float:
    """Return the smallest number with these digits that is not below a value."""
    nearest = as_written(value)
    if nearest >= value:
        return nearest
    return as_written(nearest + 10.0 ** (floor(log10(value)) + 1 - _DIGITS))


def covering_margin(model: RowModel, values: Mapping[str, float], late: str, fixed: float) -> Margin:
    """Return the time by which a delay has to grow to cover all rows of a model.

    Parameters
    ----------
    values : mapping of str to float
        The fitted parameters, rounded as written.
    late : str
        The parameter that grows, ``delay`` or ``reaction``.
    fixed : float
        Its value if it was not fitted, s.

    Raises
    ------
    BadUsage
        No delay covers a row: gravity stops it before the brake engages.
    """
    measured = np.array([(row.time, row.distance) for row in model.rows])
    base = values.get(late, fixed)

    def missing(extra: float) -> Array:
        """Return the amount by which computed rows (n,) are too short, relative to measured ones."""
        computed = model.predict({**values, late: base + extra})
        return np.asarray(np.nanmax((measured - computed) / measured, axis=1))

    worst = missing(0.0)
    if not (worst > _AIMED).any():
        return Margin(0.0, None)
    line = model.rows[int(worst.argmax())].line
    high = 1e-3 * float(np.nanmax(measured[:, 0], initial=1e-3))
    for _ in range(_DOUBLINGS):
        if not (missing(high) > _AIMED).any():
            return Margin(_least(lambda extra: not (missing(extra) > _AIMED).any(), high), line)
        high *= 2.0
    raise BadUsage(
        f"no {late} makes the computed stop of line {line} as long as the measured one",
        remedy="check the payload, the pose and the sense of this row",
    )


def _least(covers: Callable[[float], bool], high: float) -> float:
    """Return by bisection about the smallest number up to ``high`` that covers; the result covers."""
    low = 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high
