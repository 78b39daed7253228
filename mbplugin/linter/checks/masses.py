"""Principal moments of inertia, and checks for impossible inertias."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from mbplugin.linter.checks.loops import Extents, extents, per_scene
from mbplugin.linter.checks.meshes import solid_of
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array

_LARGE, _SMALL = 2.0, 0.02
#: Largest density, kg/m³ (the densest metals have 22 600 kg/m³); and the fraction of the radius of gyration of a ball
#: of this density below which a radius is too small.
_DENSEST, _DENSE = 25_000.0, 1 / 3
_LINKS, _FACTOR = 3, 1.5
#: Factors of inertias in kg·mm², g·mm², g·m² and t·m², and of one that was converted to kg·m² twice.
#: Of several that fit, the radius of gyration nearest to this share of the mechanism is taken.
_FACTORS_OF_UNITS, _USUAL = (1e-9, 1e-6, 1e-3, 1e3, 1e6), 0.25
#: A link with less than this fraction of the robot's mass only serves as a frame.
_NEGLIGIBLE = 1e-3
#: Below this fraction of the largest moment a difference is rounding from rotations computed here.
_ROUNDING = 1e-12
#: Below this fraction of the largest moment a difference is rounding in the file: a lamina written with six digits.
_LAMINA = 1e-6
#: Radius of gyration of a point mass, m: exporters write 1e-20 kg·m² for a zero inertia.
_POINT = 1e-6


# Radii of gyration that no body of the robot can have.


@per_scene
def implausible_radii(scene: Scene) -> Mapping[str, str]:
    """Return the implausible radii of gyration of links without a readable shape, in words, in file order."""
    around, repeated = extents(scene), {body.name for body in repeated_inertias(scene)}
    found: dict[str, str] = {}
    for body in scene.mechanism.bodies:
        if around.whole == 0 or not possible(body) or placeholder(body) or body.name in repeated:
            continue
        # take the roots first: with the smallest representable masses the quotient would overflow
        radius = float(np.sqrt(principal_moments(body)[-1]) / np.sqrt(body.mass))
        against = _contradiction(body, radius, around)
        if against and solid_of(scene.shapes.get(body.name, ()), scene.request) is None:
            found[body.name] = f"{radius:.3g} m, {against}"
    return MappingProxyType(found)


def fitting_factors(scene: Scene, names: Iterable[str]) -> Mapping[str, float]:
    """Return the factor by which the inertia of a link fits the robot, for links that a wrong unit would explain."""
    around, index = extents(scene), scene.mechanism.body_index
    found: dict[str, float] = {}
    for name in names:
        body = scene.mechanism.bodies[index[name]]
        radius = float(np.sqrt(principal_moments(body)[-1]) / np.sqrt(body.mass))
        fitting = {
            factor: abs(float(np.log(radius * factor**0.5 / (_USUAL * around.whole))))
            for factor in _FACTORS_OF_UNITS
            if not _contradiction(body, radius * factor**0.5, around)
        }
        if fitting:
            found[name] = min(fitting, key=lambda factor: fitting[factor])
    return MappingProxyType(found)


def _contradiction(body: Body, radius: float, around: Extents) -> str:
    """Return the size that a radius of gyration (m) contradicts, in words; empty if it is plausible."""
    if radius > _LARGE * around.whole:
        return f"the mechanism {around.whole:.3g} m"
    if radius < _SMALL * around.of(body.name):
        return f"its joints {around.of(body.name):.3g} m apart"
    ball = float(np.sqrt(0.4) * np.cbrt(3 * body.mass / (4 * np.pi * _DENSEST)))
    return f"a metal ball of {body.mass:.3g} kg {ball:.3g} m" if radius < _DENSE * ball else ""


# Inertias that were copied between links of different mass.


@per_scene
def repeated_inertias(scene: Scene) -> tuple[Body, ...]:
    """Return the bodies that share an inertia with bodies of another mass."""
    groups: dict[bytes, list[Body]] = {}
    least = _NEGLIGIBLE * sum(body.mass for body in scene.mechanism.bodies)
    for body in scene.mechanism.bodies:
        if body.mass > least and possible(body) and not placeholder(body):
            groups.setdefault(body.I_C.tobytes(), []).append(body)
    return tuple(body for group in groups.values() if _different(group) for body in group)


def _different(group: list[Body]) -> bool:
    masses = [body.mass for body in group]
    return len(group) >= _LINKS and max(masses) >= _FACTOR * min(masses)


@lru_cache(maxsize=4096)
def principal_moments(body: Body) -> Array:
    """Return the principal moments about the centre of mass, increasing, (3,), kg·m²; cached for many rules."""
    if is_diagonal(body):
        # keep the moments as written: the triangle inequality of a thin plate depends on the last bit
        moments = np.sort(np.diag(body.I_C))
    else:
        moments = np.linalg.eigvalsh(0.5 * (body.I_C + body.I_C.T))
        moments = np.where(np.abs(moments) > _ROUNDING * np.abs(moments).max(), moments, 0.0)
    moments.setflags(write=False)
    return moments


def is_diagonal(body: Body) -> bool:
    """Return True if the principal axes of the inertia are the link's axes."""
    return not (body.I_C - np.diag(np.diag(body.I_C))).any()


def negative(body: Body) -> bool:
    """Return True if a principal moment is negative."""
    return bool(principal_moments(body)[0] < -_nothing(body))


def vanishing(body: Body) -> bool:
    """Return True if the smallest principal moment is zero."""
    return bool(abs(principal_moments(body)[0]) <= _nothing(body))


def _nothing(body: Body) -> float:
    """Return the moment up to which a body is a point mass, kg·m²."""
    return max(body.mass, 0.0) * _POINT**2


def triangle_excess(body: Body) -> float:
    """Return the excess of the largest moment over the sum of the others, kg·m²; zero if it is rounding.

    For a lamina both are equal up to the last digit in the file.
    """
    smallest, middle, largest = (float(moment) for moment in principal_moments(body))
    excess = largest - smallest - middle
    rounding = max(_LAMINA * largest, _nothing(body))
    return excess if not negative(body) and excess > rounding else 0.0


def placeholder(body: Body) -> bool:
    """Return True if the inertia is a placeholder: the identity, or ones in every entry."""
    deviations = (np.abs(body.I_C - ones).max() for ones in (np.eye(3), np.ones((3, 3))))
    return bool(min(deviations) <= _ROUNDING)


def possible(body: Body) -> bool:
    """Return True if mass and inertia are physically possible."""
    return body.mass > 0 and not (negative(body) or vanishing(body) or triangle_excess(body))
