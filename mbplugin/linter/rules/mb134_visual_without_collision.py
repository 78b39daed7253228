"""A moving link is visible and collides with nothing.

What it does
------------
In a model in which other links have collision shapes, lists the moving links with a visual shape and
without a collision shape, unless a link fixed to them has one.

Why it matters
--------------
The link passes through the ground, through objects and through the robot, without a message.

Example
-------
A ``<link>`` with ``<visual>`` and no ``<collision>`` behind a revolute joint.

Remedy
------
Add a ``<collision>``, for example with the same geometry or with a box around it; ignore this where
contact is not intended.

References
----------
URDF: ``<collision>`` is independent of ``<visual>``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    roles = {link: {shape.role for shape in shapes} for link, shapes in scene.shapes.items()}
    touching = {link for link, own in roles.items() if "collision" in own}
    if not touching:
        return
    groups = rigid_groups(scene.mechanism)
    root = groups[_root(scene)]
    found = [
        Instance(link, body_place(scene, link), repr(link))
        for link, own in roles.items()
        if link in groups and not groups[link] & (touching | {WORLD} | root) and "visual" in own
    ]
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "moving links with a visual and no collision shape",
        help="add a <collision> to each, or ignore this where contact is not intended",
    )


def _root(scene: Scene) -> str:
    """Return the first link: it carries the robot, and often stands on something."""
    return scene.mechanism.bodies[0].name if scene.mechanism.bodies else WORLD
