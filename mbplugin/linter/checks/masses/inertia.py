"""Principal moments of inertia, and what is impossible about them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mbplugin.model.mechanism import Body
from mbplugin.model.spatial import Array

#: Below this fraction of the largest moment a difference is rounding of our own rotations.
_ROUNDING = 1e-12
#: Below this fraction of the largest moment it is rounding of the file: a lamina written with six digits.
_LAMINA = 1e-6
#: Radius of gyration of a point mass, m: exporters leave 1e-20 kg·m² where they mean none.
_POINT = 1e-6


@lru_cache(maxsize=4096)
def principal_moments(body: Body) -> Array:
    """Return the principal moments about the centre of mass, increasing, (3,), kg·m²; many rules ask for them."""
    if is_diagonal(body):
        # as written: the triangle inequality of a thin plate hangs on the last bit
        moments = np.sort(np.diag(body.I_C))
    else:
        moments = np.linalg.eigvalsh(0.5 * (body.I_C + body.I_C.T))
        moments = np.where(np.abs(moments) > _ROUNDING * np.abs(moments).max(), moments, 0.0)
    moments.setflags(write=False)
    return moments


def is_diagonal(body: Body) -> bool:
    """Return whether the inertia is written, or happens to lie, along the link's axes."""
    return not (body.I_C - np.diag(np.diag(body.I_C))).any()


def negative(body: Body) -> bool:
    """Return whether a principal moment is negative."""
    return bool(principal_moments(body)[0] < -_nothing(body))


def vanishing(body: Body) -> bool:
    """Return whether a principal moment is zero, and none negative."""
    return bool(abs(principal_moments(body)[0]) <= _nothing(body))


def _nothing(body: Body) -> float:
    """Return the moment that is that of a point mass, kg·m²."""
    return max(body.mass, 0.0) * _POINT**2


def triangle_excess(body: Body) -> float:
    """Return by how much the largest moment exceeds the sum of the others, kg·m²; zero where it is rounding.

    For a lamina the moments are equal to the last digit that is written.
    """
    smallest, middle, largest = (float(moment) for moment in principal_moments(body))
    excess = largest - smallest - middle
    rounding = max(_LAMINA * largest, _nothing(body))
    return excess if not negative(body) and excess > rounding else 0.0


def placeholder(body: Body) -> bool:
    """Return whether the inertia is all ones: the identity, also turned, or ones in every entry."""
    deviations = (np.abs(body.I_C - ones).max() for ones in (np.eye(3), np.ones((3, 3))))
    return bool(min(deviations) <= _ROUNDING)


def possible(body: Body) -> bool:
    """Return whether mass and inertia are those of some real body."""
    return body.mass > 0 and not (negative(body) or vanishing(body) or triangle_excess(body))
