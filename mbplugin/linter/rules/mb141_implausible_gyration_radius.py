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

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.masses.gyration import implausible_radii
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    yield from joined_finding(
        __name__,
        SEVERITY,
        [
            Instance(name, body_place(scene, name, "inertia", "inertial"), f"{name!r} {radius}")
            for name, radius in implausible_radii(scene).items()
        ],
        "radii of gyration that do not fit the robot",
        help="check the units of inertia (kg·m²) and mass (kg)",
    )
