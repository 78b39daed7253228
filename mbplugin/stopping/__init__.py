"""Stops of a moving robot.

Here are bounds that many random stops support: order statistics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, log, log1p

import numpy as np

from mbplugin.arguments import checked
from mbplugin.errors import BadNumber, BadUsage

#: Default confidence of a bound.
CONFIDENCE = 0.95
#: Default share of stops below a bound.
SHARE = 0.95


@dataclass(frozen=True)
class ToleranceBound:
    """An upper tolerance bound from order statistics.

    Parameters
    ----------
    share, confidence : float
        With this confidence, at least this share of all stops does not exceed ``value``.
    value : float or None
        The bound, in the unit of the values; infinite if the value of that rank is. None if there are too few values.
    rank : int
        Rank of the bound among the values, 1 for the largest; 0 if there are too few.
    count, infinite : int
        Number of values, and of infinite ones.
    required : int
        Smallest number of values of which the largest is such a bound.
    largest : float or None
        The largest value, in their unit; None if there are no values.
    share_of_largest : float
        The share that the largest value bounds with this confidence.
    """

    share: float
    confidence: float
    value: float | None
    rank: int
    count: int
    infinite: int
    required: int
    largest: float | None
    share_of_largest: float


@checked
def tolerance_bound(
    values: Iterable[float], *, share: float = SHARE, confidence: float = CONFIDENCE
) -> ToleranceBound:
    """Return an upper bound of a share of all stops from a sample of their values, for any distribution.

    The k-th largest of n independent values is such a bound if P(B ≤ n − k) ≥ confidence, where B has the
    binomial distribution of n trials with the probability ``share`` (S. S. Wilks, Determination of sample sizes
    for setting tolerance limits, Annals of Mathematical Statistics 12, 1941, 91–96). The largest such k is taken.

    Parameters
    ----------
    values : (n,) iterable of float
        Of stops that are independent and identically distributed, such as times in s, travels in rad or m;
        infinite for a stop that did not end at rest.
    share, confidence : float
        Between 0 and 1, both excluded.

    Raises
    ------
    BadNumber
        The share or the confidence is not between 0 and 1.
    BadUsage
        A value is not a number.
    """
    require_bound(share, confidence)
    ordered = np.sort(np.array(list(values), dtype=float))
    if np.isnan(ordered).any():
        raise BadUsage("a value is not a number", expected="numbers, or inf for a stop that did not end")
    n = len(ordered)
    rank = rank_of(n, share, confidence)
    return ToleranceBound(
        share,
        confidence,
        float(ordered[n - rank]) if rank else None,
        rank,
        n,
        int(np.isposinf(ordered).sum()),
        required_number(share, confidence),
        float(ordered[-1]) if n else None,
        float((1.0 - confidence) ** (1.0 / n)) if n else 0.0,
    )


def require_bound(share: float, confidence: float) -> None:
    """Require a valid share and confidence of a bound.

    Raises
    ------
    BadNumber
        One of them is not between 0 and 1.
    """
    for name, number in (("share", share), ("confidence", confidence)):
        if not 0 < number < 1:
            raise BadNumber(f"the {name} of a bound is {number:g}", expected="between 0 and 1")


def rank_of(count: int, share: float, confidence: float) -> int:
    """Return the rank, from the largest, of the smallest of ``count`` values that is a bound; 0 if none is."""
    if not count:
        return 0
    # scipy.special is imported only where a bound is computed
    from scipy.special import bdtr, bdtrik

    below: int = ceil(bdtrik(confidence, count, share))
    # rounding may have raised an integer slightly, so that it was rounded up
    return count - below + int(below > 0 and bdtr(below - 1, count, share) >= confidence * (1.0 - 1e-12))


def required_number(share: float, confidence: float) -> int:
    """Return the smallest number of values of which the largest is a bound: 1 − shareⁿ ≥ confidence."""
    number = max(ceil(log1p(-confidence) / log(share)) - 1, 1)
    while not rank_of(number, share, confidence):
        number += 1
    return number
