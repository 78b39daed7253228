"""Where in a step something passes zero: on the dense output, all of them, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from mbplugin.model.spatial import Array

#: Zeros closer to the start of a step than this fraction belong to the step before.
START = 1e-9
#: Where a quantity is no polynomial, it is looked at in these fractions of a step.
LOOKS = tuple(np.linspace(0.0, 1.0, 13).tolist())


def polynomial_zeros(coefficients: Array) -> list[float]:
    """Return the fractions in (0, 1] at which a polynomial with coefficients (d + 1,), lowest power first, is zero."""
    scale = float(np.abs(coefficients).max(initial=0.0))
    if scale == 0.0 or not _may_vanish(coefficients):
        return []
    trimmed = np.trim_zeros(np.where(np.abs(coefficients) > 1e-15 * scale, coefficients, 0.0), "b")
    roots = np.polynomial.polynomial.polyroots(trimmed) if len(trimmed) > 1 else np.zeros(0)
    real = roots[np.abs(roots.imag) < 1e-9].real
    return sorted(float(r) for r in real if START < r <= 1.0 + 1e-12)


def _may_vanish(coefficients: Array) -> bool:
    """Whether the constant term of coefficients (d + 1,) is within reach of the others (|θ| ≤ 1)."""
    return bool(abs(coefficients[0]) <= np.abs(coefficients[1:]).sum())


def function_zeros(g: Callable[[float], float]) -> list[float]:
    """Return the fractions in (``START``, 1] between which g changes sign, refined by bisection."""
    return list(_zeros(g, START))


def first_zero(g: Callable[[float], float], start: float = START) -> float | None:
    """Return the first of the fractions in (``start``, 1] at which g changes sign; None where none."""
    return next(_zeros(g, start), None)


def _zeros(g: Callable[[float], float], start: float) -> Iterator[float]:
    values = [g(f) for f in LOOKS]
    for (low, a), (high, b) in pairwise(zip(LOOKS, values, strict=True)):
        if b == 0.0:
            zero = high
        elif a * b < 0:
            zero = float(bracketed_zero(g, low, high))
        else:
            continue
        if zero > start:
            yield zero


def bracketed_zero(g: Callable[[float], float], low: float, high: float, near: float = 1e-14) -> float:
    """Return where g is zero between two arguments with values of unlike sign, to within ``near``.

    By the method of Chandrupatla (1997), as the compiled search in ``locate.py``; to import scipy's takes longer than
    a short motion.
    """
    b, a, part = low, high, 0.5
    fb, fa = g(b), g(a)
    c, fc = b, fb
    for _ in range(200):
        least = near / abs(b - a)
        if least > 0.5 or fa == 0.0 or fb == 0.0:
            break
        x = a + min(max(part, least), 1.0 - least) * (b - a)
        fx = g(x)
        c, fc, b, fb = (a, fa, b, fb) if (fx > 0.0) == (fa > 0.0) else (b, fb, a, fa)
        a, fa = x, fx
        if fa == 0.0 or x == b:
            break
        xi, phi, part = (a - b) / (c - b), (fa - fb) / (fc - fb), 0.5
        if phi * phi < xi and (1.0 - phi) ** 2 < 1.0 - xi:
            part = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
    return a if abs(fa) < abs(fb) else b


def early_zero(g: Callable[[float], float], sense: float) -> float:
    """Return the fraction at which g, zero at first, turns from its sense to the other, before all looks."""
    high: float = LOOKS[1]
    while high > START:
        low = 0.25 * high
        if g(low) * sense > 0.0:
            return float(bracketed_zero(g, low, high))
        high = low
    return high
