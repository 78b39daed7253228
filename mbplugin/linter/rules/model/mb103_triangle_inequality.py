"""The principal moments of a link violate the triangle inequality.

What it does
------------
Reports links whose largest principal moment of inertia exceeds the sum of the other two, by Bullet's
own criterion, which has no tolerance.

Why it matters
--------------
No distribution of mass has such an inertia. Bullet sets the inertia of the link to zero ("Bad inertia
tensor properties"), and its mass matrix then has an error of several percent.

Example
-------
``<inertia ixx="0.01" iyy="0.01" izz="0.05" …/>``: 0.05 > 0.01 + 0.01.

Remedy
------
Take the inertia from the CAD system about the centre of mass; if only the last digit is wrong, write
more digits.

References
----------
Bullet, ``BulletURDFImporter::getMassAndInertia``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.inertia import principal_moments, triangle_excess
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per link."""
    for body in scene.mechanism.bodies:
        excess = triangle_excess(body)
        if not excess:
            continue
        a, b, c = (float(moment) for moment in principal_moments(body))
        yield make_finding(
            __name__,
            SEVERITY,
            f"no body has the inertia of link {body.name!r}: its principal moment {c:.4g} kg·m² exceeds the "
            f"sum of the others, {a:.4g} + {b:.4g}, by {excess:.2g} kg·m²",
            element=body.name,
            origin=body_place(scene, body.name, "inertia", "inertial"),
            evidence={"principal_moments_kg_m2": [a, b, c], "excess_kg_m2": excess},
            help="export the inertia about the centre of mass anew; Bullet sets this one to zero",
        )
