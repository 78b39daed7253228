"""The radius of gyration of a link does not fit the size of the robot.

What it does
------------
Computes the radius of gyration √(I/m) from the mass and the largest principal moment of links without a
readable shape. Lists those above twice the size of the mechanism, those below 1/50 of the distance between
the joints of the link, and those below a third of that of a ball of the same mass with 25 000 kg/m³, more
than any metal has. MB105 compares links that have a shape with it.

Why it matters
--------------
Frequent causes are an inertia in kg·mm², g·mm² or t·m², or a mass in grams. One such link dominates the mass
matrix, or makes it singular.

Example
-------
``<inertia ixx="2300" …/>`` for 0.0023 kg·m².

Remedy
------
Convert the inertia to kg·m²: 1 kg·mm² is 1e-6 kg·m².

References
----------
A uniform rod has a radius of gyration of 0.29 of its length, a uniform ball one of √0.4 of its radius; of all
bodies with a mass and a largest density, the ball has the smallest moments.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.extent import Extents, extents
from mbplugin.linter.checks.inertia import placeholder, possible, principal_moments
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.shape_inertia import solid_of
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.mechanism import Body
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
_LARGE, _SMALL = 2.0, 0.02
#: The densest metals have 22 600 kg/m³; and the part of the ball's radius of gyration that is too small.
_DENSEST, _DENSE = 25_000.0, 1 / 3


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    around = extents(scene)
    found = []
    for body in scene.mechanism.bodies:
        if around.whole == 0 or not possible(body) or placeholder(body):
            continue
        radius = float(np.sqrt(principal_moments(body)[-1] / body.mass))
        against = _contradiction(body, radius, around)
        if not against or solid_of(scene.shapes.get(body.name, ()), scene.request) is not None:
            continue
        place = body_place(scene, body.name, "inertia", "inertial")
        found.append(Instance(body.name, place, f"{body.name!r} {radius:.3g} m, {against}"))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "radii of gyration that do not fit the robot",
        help="check the units of inertia (kg·m²) and mass (kg)",
    )


def _contradiction(body: Body, radius: float, around: Extents) -> str:
    """Return what a radius of gyration (m) does not fit, with its size; empty where it fits."""
    if radius > _LARGE * around.whole:
        return f"the mechanism {around.whole:.3g} m"
    if radius < _SMALL * around.of(body.name):
        return f"its joints {around.of(body.name):.3g} m apart"
    ball = float(np.sqrt(0.4) * np.cbrt(3 * body.mass / (4 * np.pi * _DENSEST)))
    return f"a metal ball of {body.mass:.3g} kg {ball:.3g} m" if radius < _DENSE * ball else ""
