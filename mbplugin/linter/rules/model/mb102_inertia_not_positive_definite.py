"""The inertia of a link is not positive definite.

What it does
------------
Reports links with mass whose inertia has a negative or a zero principal moment. A zero moment is only
a note if a fixed joint connects the link to another mass or to the ground.

Why it matters
--------------
The kinetic energy of a real body is positive in every motion. With a negative moment the mass matrix
is indefinite and a simulation diverges; Bullet sets the whole inertia to zero instead.

Example
-------
``<inertia ixx="0.1" ixy="0.5" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>``: the principal moments are
−0.4, 0.1 and 0.6 kg·m².

Remedy
------
Take the inertia from the CAD system about the centre of mass, and check the sign convention of its
products of inertia.

References
----------
URDF: ``<inertia>`` is about the centre of mass, in axes of ``<inertial><origin>``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.inertia import negative, principal_moments, vanishing
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism.rigid import borne_bodies
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per link."""
    mech = scene.mechanism
    suspects = [body for body in mech.bodies if negative(body) or (body.mass > 0 and vanishing(body))]
    borne = borne_bodies(mech) if suspects else frozenset()
    for body in suspects:
        moments = [float(moment) for moment in principal_moments(body)]
        harmless = not negative(body) and body.name in borne
        shown = ", ".join(f"{moment:.4g}" for moment in moments)
        yield make_finding(
            __name__,
            "note" if harmless else SEVERITY,
            f"the inertia of link {body.name!r} is not positive definite: its principal moments are {shown}"
            " kg·m²" + (", which is harmless as long as it stays fixed to its neighbour" if harmless else ""),
            element=body.name,
            origin=body_place(scene, body.name, "inertia", "inertial"),
            evidence={"principal_moments_kg_m2": moments, "mass_kg": body.mass},
            help="export the inertia about the centre of mass anew, and check the signs of its products",
        )
