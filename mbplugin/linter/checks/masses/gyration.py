"""Radii of gyration that no body of the robot can have."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from mbplugin.linter.checks.extent import Extents, extents
from mbplugin.linter.checks.masses.inertia import placeholder, possible, principal_moments
from mbplugin.linter.checks.masses.repeated_inertia import repeated_inertias
from mbplugin.linter.checks.per_scene import per_scene
from mbplugin.linter.checks.shapes.shape_inertia import solid_of
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene

_LARGE, _SMALL = 2.0, 0.02
#: The densest metals have 22 600 kg/m³; and the part of the ball's radius of gyration that is too small.
_DENSEST, _DENSE = 25_000.0, 1 / 3


@per_scene
def implausible_radii(scene: Scene) -> Mapping[str, str]:
    """Return the radii of links without a readable shape that contradict the robot, in words, in file order."""
    around, repeated = extents(scene), {body.name for body in repeated_inertias(scene)}
    found: dict[str, str] = {}
    for body in scene.mechanism.bodies:
        if around.whole == 0 or not possible(body) or placeholder(body) or body.name in repeated:
            continue
        # the smallest masses that numbers have would make the square of it infinite
        radius = float(np.sqrt(principal_moments(body)[-1]) / np.sqrt(body.mass))
        against = _contradiction(body, radius, around)
        if against and solid_of(scene.shapes.get(body.name, ()), scene.request) is None:
            found[body.name] = f"{radius:.3g} m, {against}"
    return MappingProxyType(found)


def _contradiction(body: Body, radius: float, around: Extents) -> str:
    """Return what a radius of gyration (m) does not fit, with its size; empty where it fits."""
    if radius > _LARGE * around.whole:
        return f"the mechanism {around.whole:.3g} m"
    if radius < _SMALL * around.of(body.name):
        return f"its joints {around.of(body.name):.3g} m apart"
    ball = float(np.sqrt(0.4) * np.cbrt(3 * body.mass / (4 * np.pi * _DENSEST)))
    return f"a metal ball of {body.mass:.3g} kg {ball:.3g} m" if radius < _DENSE * ball else ""
