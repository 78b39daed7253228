"""How well data determine parameters: intervals from the Jacobian, and combinations that stay undetermined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.stats import t as student

from mbplugin.model.spatial import Array
from mbplugin.stopping.calibration.fit import ZERO, Fit, scatter_of
from mbplugin.stopping.calibration.profile import narrow

#: The intervals of all parameters of a joint hold together with this probability.
CONFIDENCE = 0.95
#: Degrees of freedom of what is stated.
_MANY = 1e6
#: A combination is not determined where its interval is wider than this share of a whole stop on either side.
_WIDE = 0.5
#: Parameters with less than this part of an undetermined direction do not belong to it.
_PART = 0.1


@dataclass(frozen=True)
class Parameter:
    """A fitted number.

    Parameters
    ----------
    name, unit : str
    value : float
    low, high : float or None
        Interval that holds with :data:`CONFIDENCE` for all parameters of the joint together; None where the
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
    """Which parameters data determine.

    Parameters
    ----------
    half_widths : (p,) array or None
        Of the intervals; None where the data leave no scatter to judge by.
    undetermined : tuple of tuple of str
        Each of parameters of which only a combination is determined, the largest part first.
    freedom : int
        Numbers beyond those that determine the parameters.
    scatter : (2,) array or None
        Of times and distances, over their weights.
    """

    half_widths: Array | None
    undetermined: tuple[tuple[str, ...], ...]
    freedom: int
    scatter: Array | None


def determination(found: Fit) -> Determination:
    """Return what a fit determines.

    The covariance is that of a fit with fixed weights, whose errors have the scatter of times and of
    distances. Each scatter comes from few residuals: the quantile is Student's, with the degrees of freedom
    of the one that is known less well, and Bonferroni's for all parameters together.
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
    # what the Jacobian calls determined, the fit itself must confirm: valleys of the sum of squares are curved
    if curved := narrow(found, half):
        groups = (tuple(dict.fromkeys((*(name for group in groups for name in group), *curved))),)
    return Determination(half * found.sizes, groups, freedom, scatter)


def _scatter(found: Fit, freedom: int) -> tuple[Array, Array]:
    """Return the scatter (2,) of times and distances over their weights, and its degrees of freedom (2,).

    A stated scatter is not made smaller by residuals that are small by chance.
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
        What the errors of the residuals contribute to each.
    scatter, degrees : (2,) array
        Of times and distances, over their weights.
    tail : float
        Probability of both tails.
    """
    parts = np.array([(inverse[:, found.channel == c] ** 2).sum(axis=1) * scatter[c] ** 2 for c in (0, 1)])
    total = parts.sum(axis=0)
    present = [c for c in (0, 1) if (found.channel == c).any()]
    # the weights, too, come from the residuals: the smaller number keeps the intervals wide enough
    freedom = max(float(degrees[present].min()), 1.0)
    return np.asarray(student.isf(tail / 2, freedom) * np.sqrt(total))


def parameters_of(found: Fit, known: Determination, units: Sequence[str]) -> tuple[Parameter, ...]:
    """Return the fitted numbers with their intervals."""
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
    """Return the parameters of directions (p,) that the data do not determine, the largest part first."""
    out = []
    for direction in directions:
        size = np.abs(direction) / np.abs(direction).max()
        order = [int(k) for k in np.argsort(-size) if size[k] > _PART]
        out.append(tuple(names[k] for k in order))
    return tuple(out)
