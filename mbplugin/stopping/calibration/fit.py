"""The least-squares fit of a law to measured times and distances, and how large their scatter is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from mbplugin.model.spatial import AnyArray, Array
from mbplugin.stopping.calibration.laws import RowModel
from mbplugin.stopping.calibration.measured.measurement import Measurement

#: Of the size of a parameter: a step of the difference quotient, and the smallest positive value.
_STEP, _SMALLEST = 1e-4, 1e-3
#: Of the size of a parameter: below it a value is its bound, 0.
_AT_BOUND = 1e-7
#: Weights of times and distances differ by powers of this factor, found in so many rounds.
_FACTOR, _ROUNDS = 4.0, 6
#: The scatter of exact data, as a share of their size; that of the simulator is smaller.
_EXACT = 1e-6
#: Singular values of the scaled Jacobian below this share of the largest are zero: a difference quotient has
#: no more digits.
ZERO = 2e-4
#: Parameters that a law divides by.
_POSITIVE = ("time", "deceleration", "short_circuit_rate")


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted values of parameters.

    Parameters
    ----------
    problem : Problem
    values : mapping of str to float
        Fixed ones too.
    x : (p,) array
        Fitted values over their sizes.
    weights : (n, 2) array
        By which residuals are divided: the stated standard deviations, or a multiple of them, s; rad or m.
    stated : bool
        Whether the file states the scatter.
    residuals : (m,) array
        Computed minus measured over the weights, of what was fitted.
    jacobian : (m, p) array
        Of the residuals by the scaled parameters.
    """

    problem: Problem
    values: Mapping[str, float]
    x: Array
    weights: Array
    stated: bool
    residuals: Array
    jacobian: Array

    @property
    def names(self) -> tuple[str, ...]:
        """What was fitted."""
        return self.problem.names

    @property
    def used(self) -> AnyArray:
        """Which times and distances (n, 2) were fitted."""
        return self.problem.used

    @property
    def channel(self) -> AnyArray:
        """Of each residual (m,): 0 for a time, 1 for a distance."""
        return self.problem.channel

    @property
    def sizes(self) -> Array:
        """Values (p,) that would explain a whole stop, to which the Jacobian is scaled."""
        return np.array([self.problem.model.sizes[name] for name in self.names])

    @property
    def squares(self) -> float:
        """Sum of squared residuals."""
        return float(self.residuals @ self.residuals)


def measured(rows: Sequence[Measurement]) -> Array:
    """Return times and distances (n, 2) of rows, NaN where there are none, s; rad or m."""
    return np.array([(row.time, row.distance) for row in rows])


def fit(
    model: RowModel, names: Sequence[str], fixed: Mapping[str, float] | None = None, times: bool = True
) -> Fit:
    """Return the values with which the computed stops are nearest to the measured ones.

    Times and distances are weighted by their stated scatter; else relative to their size, and where residuals show that
    one scatters four times as much as the other, by a power of four: weights that follow chance would make the
    intervals too narrow.

    Parameters
    ----------
    names : sequence of str
        Parameters that are fitted.
    fixed : mapping, optional
        Values of others.
    times : bool
        Whether times are fitted; if not, distances only.
    """
    data = measured(model.rows)
    used = np.isfinite(data)
    used[:, 0] &= times
    problem = Problem(model, tuple(names), dict(fixed or {}), data, used)
    weights, stated = _stated(model.rows, used)
    if weights is None:
        weights = _relative(data, used, model.rows)
    starts = sorted({tuple(problem.vector(start)) for start in model.starts})
    best = min((problem.solve(np.array(x), weights) for x in starts), key=lambda found: float(found.cost))
    for _ in range(0 if stated or not used.any(axis=0).all() else _ROUNDS):
        found = scatter_of(best.fun, best.jac, problem.channel)
        if found is None:
            break
        of_time, of_distance = np.maximum(found[0], _EXACT)
        step = round(float(np.log(of_time / of_distance)) / np.log(_FACTOR))
        if not step:
            break
        weights = weights * [_FACTOR**step, 1.0]
        best = problem.solve(best.x, weights)
    x = np.where((best.x < _AT_BOUND) & (problem.lower == 0.0), 0.0, best.x)
    values = {**problem.fixed, **problem.values(x)}
    return Fit(problem, values, x, weights, stated, best.fun, best.jac)


def _relative(data: Array, used: AnyArray, rows: Sequence[Measurement]) -> Array:
    """Return weights (n, 2): the size of times and of distances, over the root of the repeats.

    Parameters
    ----------
    data, used : (n, 2) array
        Measured values, and whether they are fitted.
    """
    sizes = [
        float(np.sqrt(np.mean(c[u] ** 2))) if u.any() else 1.0 for c, u in zip(data.T, used.T, strict=True)
    ]
    counts = np.array([row.repeats for row in rows])
    return np.asarray(np.array([size or 1.0 for size in sizes]) / np.sqrt(counts)[:, None])


class Problem:
    """Residuals of scaled parameters, each a multiple of its size.

    Parameters
    ----------
    model : RowModel
    names : tuple of str
    fixed : dict of str to float
        Values of what is not fitted.
    data, used : (n, 2) array
        Measured times and distances, s, rad or m, and which of them are fitted.
    """

    def __init__(
        self, model: RowModel, names: tuple[str, ...], fixed: dict[str, float], data: Array, used: AnyArray
    ) -> None:
        self.model, self.names, self.fixed, self.data, self.used = model, names, fixed, data, used
        self.channel = np.nonzero(used)[1]
        self.lower = np.array([_SMALLEST if name in _POSITIVE else 0.0 for name in names])
        sizes = [model.sizes[name] for name in names]
        highest = [model.highest.get(name, np.inf) / size for name, size in zip(names, sizes, strict=True)]
        self.upper = np.array(highest)

    def values(self, x: Array) -> dict[str, float]:
        """Return the values of scaled parameters x (p,) by name."""
        return {name: float(v) * self.model.sizes[name] for name, v in zip(self.names, x, strict=True)}

    def vector(self, values: Mapping[str, float]) -> Array:
        """Return scaled parameters (p,) within their bounds."""
        x = np.array([values[name] / self.model.sizes[name] for name in self.names])
        return np.asarray(np.clip(x, self.lower + 1e-6, self.upper))

    def residuals(self, x: Array, weights: Array) -> Array:
        """Return computed minus measured values (m,) at x (p,), over the weights (n, 2)."""
        difference = self.model.predict({**self.fixed, **self.values(x)}) - self.data
        return np.asarray((difference / weights)[self.used])

    def jacobian(self, x: Array, weights: Array) -> Array:
        """Return the derivatives (m, p) of the residuals at x (p,) with weights (n, 2): difference quotients."""
        columns = []
        for k in range(len(x)):
            ahead, behind = x.copy(), x.copy()
            ahead[k] = min(x[k] + _STEP, self.upper[k])
            behind[k] = max(x[k] - _STEP, self.lower[k])
            change = self.residuals(ahead, weights) - self.residuals(behind, weights)
            columns.append(change / (ahead[k] - behind[k]))
        return np.column_stack(columns)

    def solve(self, x: Array, weights: Array) -> Any:
        """Return the result of SciPy's least squares from x (p,), with weights (n, 2)."""
        # SciPy's trust region divides by damping that may be tiny; it recovers, and the user can do nothing
        with np.errstate(over="ignore"):
            return least_squares(
                lambda y: self.residuals(y, weights),
                np.clip(x, self.lower + 1e-9, self.upper),
                lambda y: self.jacobian(y, weights),
                bounds=(self.lower, self.upper),
                xtol=1e-10,
                ftol=1e-10,
                gtol=1e-12,
                max_nfev=100,
            )


def _stated(rows: Sequence[Measurement], used: AnyArray) -> tuple[Array | None, bool]:
    """Return the stated scatter (n, 2) of the means of rows, where every used (n, 2) value has one."""
    spreads = np.array([(row.time_spread or np.nan, row.distance_spread or np.nan) for row in rows])
    if not (np.isfinite(spreads) | ~used).all():
        return None, False
    scatter = np.where(used, spreads, 1.0) / np.sqrt([[row.repeats] for row in rows])
    return np.asarray(scatter), True


def scatter_of(residuals: Array, jacobian: Array, channel: AnyArray) -> tuple[Array, Array] | None:
    """Return the scatter (2,) of times and of distances, and their degrees of freedom (2,).

    The expected squares of the residuals of each are a sum of both variances, as the fitted parameters spread
    errors (MINQUE of order 0). None where the numbers are too few for two scatters.

    Parameters
    ----------
    residuals, channel : (m,) array
        0 stands for a time, 1 for a distance.
    jacobian : (m, p) array
    """
    projector = np.eye(len(residuals)) - _hat(jacobian)
    own = [channel == c for c in (0, 1)]
    parts = np.array([[float((projector[np.ix_(i, j)] ** 2).sum()) for j in own] for i in own])
    squares = np.array([float((residuals[i] ** 2).sum()) for i in own])
    present = [c for c in (0, 1) if own[c].any()]
    if any(parts[c, c] < 1.0 for c in present):
        return None
    variances = np.zeros(2)
    variances[present] = np.linalg.solve(parts[np.ix_(present, present)], squares[present])
    if (variances[present] <= 0.0).any():
        return None
    return np.sqrt(variances), np.diag(parts)


def _hat(jacobian: Array) -> Array:
    """Return the projector (m, m) on the columns of a jacobian (m, p)."""
    U, s, _ = np.linalg.svd(jacobian, full_matrices=False)
    kept = U[:, s > ZERO * s[0]] if len(s) and s[0] > 0.0 else U[:, :0]
    return np.asarray(kept @ kept.T)
