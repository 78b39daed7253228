"""The radius of gyration of a link does not fit the size of the robot.

What it does
------------
Computes the radius of gyration √(I/m) from the mass and the largest principal moment of links without a
readable shape. Lists those above twice the size of the mechanism, and those below 1/50 of the distance
between the joints of the link. MB105 compares links that have a shape with it.

Why it matters
--------------
Frequent causes are an inertia in kg·mm² or g·mm², or a mass in grams. One such link dominates the mass
matrix, or makes it singular.

Example
-------
``<inertia ixx="2300" …/>`` for 0.0023 kg·m².

Remedy
------
Convert the inertia to kg·m²: 1 kg·mm² is 1e-6 kg·m².

References
----------
A uniform rod has a radius of gyration of 0.29 of its length.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.extent import extents
from mbplugin.linter.checks.inertia import placeholder, possible, principal_moments
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.shape_inertia import solid_of
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
_LARGE, _SMALL = 2.0, 0.02


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    around = extents(scene)
    found = []
    for body in scene.mechanism.bodies:
        if around.whole == 0 or not possible(body) or placeholder(body):
            continue
        radius = float(np.sqrt(principal_moments(body)[-1] / body.mass))
        own = around.of(body.name)
        large, small = radius > _LARGE * around.whole, radius < _SMALL * own
        if not (large or small) or solid_of(scene.shapes.get(body.name, ()), scene.request) is not None:
            continue
        against = f"the mechanism {around.whole:.3g} m" if large else f"its joints {own:.3g} m apart"
        place = body_place(scene, body.name, "inertia", "inertial")
        found.append(Instance(body.name, place, f"{body.name!r} {radius:.3g} m, {against}"))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "radii of gyration that do not fit the robot",
        help="check the units of inertia (kg·m²) and mass (kg)",
    )
