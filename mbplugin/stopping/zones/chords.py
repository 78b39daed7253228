"""Spans of a motion in which every point of a body stays near its chord, with a bound of the distance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mbplugin.model.spatial import Array

#: The cubic through two samples of an arc of up to 0.05 rad is this much closer to the chord, at most.
_REMAINDER = 1.001
#: A body whose corners move less than this stands still, m.
_STILL = 1e-9


class Span(NamedTuple):
    """From one sample of a body to another, and how far its points are from their chords at most, m."""

    first: int
    last: int
    sagitta: float


def chord_spans(time: Array, corners_W: Array, velocities_W: Array, tolerance: float) -> list[Span]:
    """Cut the motion of a body into spans whose sagitta is within a tolerance, where the samples allow it.

    Within a span a point of the body is, at one instant, at most the sagitta away from a point of its
    chord, and the same share s of the chord serves all points of the body. The distance from x(t) to
    (1 − s) x_a + s x_b is a convex function of the place in the body, so it is largest at a corner of a
    box around the body. At the samples it is measured; between two neighbouring samples x(t) is the cubic
    through places and velocities, which differs from the straight line by
    h σ (1 − σ) |(1 − σ)(v₀ − m) − σ (v₁ − m)| ≤ h/4 max(|v₀ − m|, |v₁ − m|), m = Δx/h. For a point that
    turns by Δθ on a radius r this is the sagitta r Δθ²/8. What the cubic leaves out of it is added.

    Parameters
    ----------
    time : (T,) array
        s.
    corners_W, velocities_W : (T, 8, 3) array
        Corners of a box around the body along the motion, m and m/s.
    tolerance : float
        m.
    """
    if float(np.abs(corners_W - corners_W[0]).max()) < _STILL:
        return [Span(0, 0, _STILL)]
    between = _between_samples(time, corners_W, velocities_W)
    return list(_cut(corners_W, between, tolerance, 0, len(time) - 1))


def _between_samples(time: Array, x: Array, v: Array) -> Array:
    """Return the bounds (T − 1,), m, of the distance from the line between neighbouring samples.

    ``time`` (T,), s; places ``x`` (T, 8, 3), m; velocities ``v`` (T, 8, 3), m/s.
    """
    h = np.diff(time)
    steps = np.diff(x, axis=0)
    with np.errstate(all="ignore"):
        m = np.where((h > 0)[:, None, None], steps / h[:, None, None], 0.0)
    off = [np.linalg.norm(end - m, axis=2).max(axis=1) for end in (v[:-1], v[1:])]
    # two samples of one instant are the same pose: an event changes rates only
    return np.where(h > 0, 0.25 * _REMAINDER * h * np.maximum(*off), 0.0)


def _cut(x: Array, between: Array, tolerance: float, first: int, last: int) -> Iterator[Span]:
    """Yield the spans from one sample of ``x`` (T, 8, 3) to another, halved until they are within the tolerance.

    ``between`` (T − 1,) bounds what happens between samples, m.
    """
    sagitta = float(between[first:last].max()) + _off_chord(x[first : last + 1])
    if sagitta <= tolerance or last - first <= 1:
        yield Span(first, last, sagitta)
        return
    middle = (first + last) // 2
    yield from _cut(x, between, tolerance, first, middle)
    yield from _cut(x, between, tolerance, middle, last)


def _off_chord(x: Array) -> float:
    """Return the largest distance of samples x (T, 8, 3) from the chords between the first and the last one, m."""
    if len(x) <= 2:
        return 0.0
    chord, inner = x[-1] - x[0], x[1:-1] - x[0]
    length = float((chord**2).sum())
    share = (
        np.clip((inner * chord).sum(axis=(1, 2)) / length, 0.0, 1.0) if length > 0 else np.zeros(len(inner))
    )
    return float(np.linalg.norm(inner - share[:, None, None] * chord, axis=2).max())
