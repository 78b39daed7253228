"""The mass of a link and the volume of its shape give an impossible density.

What it does
------------
Divides the mass of a link by the volume of its collision shape, else of its visual one, and lists links
below 5 or above 25 000 kg/m³. Where a link has both kinds of shapes, both must say so. Shapes below 2
cm³, which mark a place, and links with less than 1 % of the mass that they are fixed to are omitted.
Meshes that are not closed count as their convex hull.

Why it matters
--------------
Expanded polystyrene has 15 kg/m³ and platinum 21 450 kg/m³. Frequent causes are grams written as
kilograms, a default mass of 1 kg, and a mesh in another unit. All forces and stopping distances scale
with the mass.

Example
-------
``<mass value="350"/>`` for a finger of 0.35 kg.

Remedy
------
Correct the mass, in kg, or the size of the shape, in metres.

References
----------
Densities: platinum 21 450 kg/m³, expanded polystyrene 15 kg/m³.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.density import impossible_densities
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    densities, bodies = impossible_densities(scene), scene.mechanism.body_index
    yield from joined_finding(
        __name__,
        SEVERITY,
        [
            Instance(
                name,
                body_place(scene, name, "mass", "inertial"),
                f"{name!r} {scene.mechanism.bodies[bodies[name]].mass:.4g} kg, {density:.3g} kg/m³",
            )
            for name, density in densities.items()
        ],
        "mass and volume of links do not fit together",
        help="correct the mass, in kg, or the size of the shape, in metres",
        evidence={"densities_kg_m3": dict(densities)},
    )
