"""A link states a mass that is zero or negative.

What it does
------------
Reports negative masses, and zero masses of links that have an ``<inertial>``. A zero mass is only a
note if a fixed joint connects the link to a mass or to the ground and its inertia is zero as well. It is a
warning for a root link, which PyBullet then fixes to the ground.

Why it matters
--------------
A body without mass that can move has no equation of motion: the mass matrix is singular, and engines
replace the mass or return infinite accelerations. A body of negative mass gains energy.

Example
-------
``<inertial><mass value="0"/>…`` on a link behind a revolute joint.

Remedy
------
Write the mass in kg; leave ``<inertial>`` out of links that only carry a frame.

References
----------
URDF: ``<inertial>``; PyBullet reads a root link of zero mass as fixed to the ground.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism import Body
from mbplugin.model.mechanism.rigid import borne_bodies, grounded_bodies
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per link."""
    suspects = [body for body in scene.mechanism.bodies if _stated(scene, body) and body.mass <= 0]
    if not suspects:
        return
    borne, grounded = borne_bodies(scene.mechanism), grounded_bodies(scene.mechanism)
    roots = {joint.outer for joint in scene.mechanism.tree.joints if joint.pair is None}
    for body in suspects:
        severity, so = SEVERITY, ""
        if body.mass == 0 and body.name in roots:
            severity, so = "warning", "; PyBullet holds such a root fixed, here it is free unless the base is"
        elif body.mass == 0 and body.name in (grounded if body.I_C.any() else borne):
            severity, so = "note", ", which is harmless as long as it stays fixed to its neighbour"
        yield make_finding(
            __name__,
            severity,
            f"link {body.name!r} states a mass of {body.mass:g} kg{so}",
            element=body.name,
            origin=body_place(scene, body.name, "mass", "inertial"),
            evidence={"mass_kg": body.mass},
            help="write its mass in kg, or leave <inertial> out of a link that only carries a frame",
        )


def _stated(scene: Scene, body: Body) -> bool:
    written = any(("body", body.name, part) in scene.origin for part in ("inertial", "mass"))
    return written or body.mass != 0 or bool(body.I_C.any())
