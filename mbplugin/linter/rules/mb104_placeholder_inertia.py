"""The inertia of a link is a placeholder: all moments are 1 kg·m².

What it does
------------
Reports links whose moments of inertia are 1, 1, 1 kg·m², with products that are all zero or all one;
one finding lists them all. Links that are fixed to the ground, such as those of a ``<static>`` model, do not count.

Why it matters
--------------
A unit inertia belongs to a body of some tens of kilograms and a metre in size. On a small link it
dominates the mass matrix, and every acceleration and reaction is wrong; PyBullet's default hides the error,
because it computes inertias from the collision shapes.

Example
-------
``<inertia ixx="1.0" ixy="0" ixz="0" iyy="1.0" iyz="0" izz="1.0"/>`` in PyBullet's minitaur.urdf.

Remedy
------
Write the inertia that follows from the mass and the shape.

References
----------
PyBullet gives the same 1, 1, 1 kg·m² to links without ``<inertial>``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.carried import Carriages
from mbplugin.linter.checks.listing import links_finding
from mbplugin.linter.checks.masses.inertia import placeholder
from mbplugin.linter.files.places import counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    held = Carriages(scene)
    links = [
        body.name for body in scene.mechanism.bodies if placeholder(body) and held.of(body.name) != "grounded"
    ]
    if not links:
        return
    has = "has" if len(links) == 1 else "have"
    yield links_finding(
        __name__,
        SEVERITY,
        scene,
        links,
        f"{counted(len(links), 'link')} {has} the placeholder inertia 1, 1, 1 kg·m²: {listed(links)}",
        "inertia",
        "inertial",
        help="write the inertia that follows from mass and shape",
        evidence={"links": links},
    )
