"""What probably happened: the mistakes of converters that numbers show."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from math import degrees, isclose, isfinite

import numpy as np

from mbplugin.comparison.models.merging import about
from mbplugin.model.mechanism import Body
from mbplugin.model.spatial import Array

#: Factors between two values, and what they stand for.
_FACTORS = (
    (2.0, "doubled"),
    (0.5, "halved"),
    (10.0, "10x"),
    (0.1, "0.1x"),
    (1000.0, "units: 1000x"),
    (0.001, "units: 0.001x"),
    (100.0, "units: 100x (centimetres)"),
    (0.01, "units: 0.01x (centimetres)"),
    (0.0254, "units: inches"),
    (1 / 0.0254, "units: inches"),
    (1e6, "units: millimetres squared (1e6x)"),
    (1e-6, "units: millimetres squared (1e-6x)"),
    (1e4, "units: centimetres squared (1e4x)"),
    (1e-4, "units: centimetres squared (1e-4x)"),
    (1e9, "units: grams and millimetres (1e9x)"),
    (1e-9, "units: grams and millimetres (1e-9x)"),
    (0.45359237, "units: pounds"),
    (1 / 0.45359237, "units: pounds"),
)
_CLOSE = 2e-3


def factor_cause(a: float, b: float) -> str:
    """Return what a factor between two values stands for; empty where it is none of the usual ones."""
    if a == 0.0 or b == 0.0 or not (isfinite(a) and isfinite(b)):
        return ""
    ratio = b / a
    for factor, said in _FACTORS:
        if isclose(abs(ratio), factor, rel_tol=_CLOSE):
            return said + (", sign changed" if ratio < 0 else "")
    return "sign changed" if isclose(ratio, -1.0, rel_tol=_CLOSE) else ""


def mass_cause(a: float, b: float) -> str:
    """Return the probable cause of two masses, kg."""
    if b == 0.0 or a == 0.0:
        return "mass lost" if b == 0.0 else "mass only in the second"
    said = factor_cause(a, b)
    return f"mass {said}" if said in ("doubled", "halved") else said


def limit_cause(a: float, b: float) -> str:
    """Return the probable cause of two limits, rad or m."""
    if isfinite(a) and not isfinite(b):
        return "limit lost"
    if isfinite(b) and not isfinite(a):
        return "limit only in the second"
    if isclose(b, degrees(a), rel_tol=_CLOSE) or isclose(a, degrees(b), rel_tol=_CLOSE):
        return "limit in degrees"
    said = factor_cause(a, b)
    return said if said != "sign changed" else "limit with the opposite sign"


def center_cause(a: Array, b: Array) -> str:
    """Return the probable cause of two centres of mass, a (3,) and b (3,) in one frame, m."""
    size_a, size_b = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if size_b < 1e-9 * max(size_a, 1e-9) or size_b == 0.0:
        return "centre of mass lost: it is at the link frame"
    if size_a > 0 and np.allclose(a / size_a, b / size_b, atol=_CLOSE):
        return factor_cause(size_a, size_b)
    if np.allclose(np.abs(a), np.abs(b), atol=_CLOSE * size_a):
        return "centre of mass mirrored"
    if isclose(size_a, size_b, rel_tol=_CLOSE):
        return "centre of mass in another frame"
    return ""


def inertia_cause(a: Body, b: Body) -> str:
    """Return the probable cause of two inertias about the centres of mass, in one frame."""
    return next(_inertia_causes(a, b), "")


def _inertia_causes(a: Body, b: Body) -> Iterator[str]:
    ours, theirs = a.I_C, b.I_C
    size = max(float(np.abs(ours).max()), 1e-30)
    if not theirs.any():
        yield "inertia lost"
    if np.allclose(theirs, np.eye(3) * theirs[0, 0], rtol=_CLOSE) and theirs[0, 0] in (1.0, 0.001, 0.01, 0.1):
        yield f"placeholder inertia of {theirs[0, 0]:g}"
    ratios = theirs[np.abs(ours) > _CLOSE * size] / ours[np.abs(ours) > _CLOSE * size]
    if (
        len(ratios)
        and np.allclose(ratios, ratios[0], rtol=_CLOSE)
        and (said := factor_cause(1.0, float(ratios[0])))
    ):
        yield f"inertia {said}" if said in ("doubled", "halved") else said
    if np.allclose(np.diag(ours), np.diag(theirs), atol=_CLOSE * size):
        if np.allclose(theirs, np.diag(np.diag(theirs)), atol=_CLOSE * size):
            yield "products of inertia lost"
        if np.allclose(np.abs(ours), np.abs(theirs), atol=_CLOSE * size):
            yield "products of inertia with the opposite sign"
    shift = about(a.mass, a.p_LC)
    if a.p_LC.any() and np.allclose(theirs, ours + shift, atol=_CLOSE * size):
        yield "inertia about the link frame in place of the centre of mass"
    if a.p_LC.any() and np.allclose(theirs + shift, ours, atol=_CLOSE * size):
        yield "inertia about the centre of mass in place of the link frame"
    moments = np.linalg.eigvalsh(ours), np.linalg.eigvalsh(theirs)
    if np.allclose(*moments, atol=_CLOSE * size):
        for order in permutations(range(3)):
            if np.allclose(ours[np.ix_(order, order)], theirs, atol=_CLOSE * size):
                yield "inertia in another frame: axes exchanged"
        yield "inertia in another frame"


def axis_cause(z: Array, w: Array) -> str:
    """Return the probable cause of two unit axes z (3,) and w (3,) in one frame that are not parallel."""
    for order in permutations(range(3)):
        if order != (0, 1, 2) and np.allclose(np.abs(z[list(order)]), np.abs(w), atol=_CLOSE):
            return "axis in another frame: components exchanged"
    if np.allclose(w, [0, 0, 1], atol=_CLOSE) or np.allclose(w, [1, 0, 0], atol=_CLOSE):
        return "axis left at a default"
    return "axis in another frame"


def place_cause(a: Array, b: Array) -> str:
    """Return the probable cause of two positions a (3,) and b (3,) in one frame, m."""
    size_a, size_b = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if size_a and size_b < 1e-9 * size_a:
        return "position lost"
    if size_a and size_b and np.allclose(a / size_a, b / size_b, atol=_CLOSE):
        return factor_cause(size_a, size_b)
    if np.allclose(np.abs(a), np.abs(b), atol=_CLOSE * max(size_a, 1e-9)):
        return "position mirrored"
    return "position in another frame" if isclose(size_a, size_b, rel_tol=_CLOSE) else ""
