"""Tolerance bounds as text: shares as percent, values rounded up, and what is missing for a bound."""

from __future__ import annotations

from math import ceil, floor, isinf, log10

from mbplugin.phrases import counted
from mbplugin.stopping.order_statistics import ToleranceBound


def percent(share: float) -> str:
    """Return a share with all its nines, never rounded up: 99.9 %."""
    return f"{100 * share:.10g} %"


def lower_percent(share: float) -> str:
    """Return a computed share, rounded down to a tenth of a percent."""
    return f"{int(1000 * share + 1e-9) / 10:g} %"


def rounded_up(value: float) -> str:
    """Return a bound with four significant digits, none of them rounded down."""
    if value <= 0.0:
        return f"{value:.4g}"
    step = 10.0 ** (floor(log10(value)) - 3)
    return f"{ceil(value / step - 1e-9) * step:.4g}"


def bounded(bound: ToleranceBound, size: float, unit: str) -> str:
    """Return a bound of measured values as a clause, or of which share the largest one is a bound.

    Parameters
    ----------
    size : float
        Of the unit in which it is told.
    """
    assert bound.largest is not None
    share, value = percent(bound.share), bound.value
    if value is None:
        share, value = lower_percent(bound.share_of_largest), bound.largest
    sure = percent(bound.confidence)
    clause = (
        f"no more than {rounded_up(size * value)} {unit} in {share} of such stops, with {sure} confidence"
    )
    if bound.rank:
        return clause
    return f"{clause} ({percent(bound.share)} takes {bound.required} repeats, and there are {bound.count})"


def missing_sentence(bound: ToleranceBound, what: str = "stop") -> str:
    """Return why there is no finite bound, and what would give one; empty where there is one."""
    goal = f"a bound of {percent(bound.share)} with {percent(bound.confidence)} confidence"
    if not bound.rank:
        sentence = f"{goal} needs {counted(bound.required, what)}, and there are {bound.count}"
        if bound.count and not bound.infinite:
            share = lower_percent(bound.share_of_largest)
            sentence += f"; the largest of these is a bound of {share}"
        return sentence
    if bound.value is not None and isinf(bound.value):
        return f"{goal} does not exist: the bound is the value of rank {bound.rank}, which is infinite"
    return ""
