"""The centre of mass of a link is far from the robot.

What it does
------------
For links without a readable shape, lists those whose centre of mass is farther from all joints of the
link than three times the size of the mechanism. MB105 compares links that have a shape with it.

Why it matters
--------------
Frequent causes are millimetres, and a centre of mass in the axes of the assembly instead of the link.
Gravity then acts on a lever that the robot does not have.

Example
-------
``<inertial><origin xyz="0 0 153.2"/>…``.

Remedy
------
Write the centre of mass in metres in the link frame.

References
----------
URDF: ``<inertial><origin>`` is the centre of mass in the link frame, in metres.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.extent import extents
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.shape_inertia import solid_of
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
_FAR = 3.0


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    around = extents(scene)
    found = []
    for body in scene.mechanism.bodies:
        if around.whole == 0 or body.mass <= 0 or body.name not in around.joints:
            continue
        distance = float(np.linalg.norm(around.joints[body.name] - body.p_LC, axis=1).min())
        if distance <= _FAR * around.whole:
            continue
        if solid_of(scene.shapes.get(body.name, ()), scene.request) is None:
            place = body_place(scene, body.name, "inertial")
            found.append(Instance(body.name, place, f"{body.name!r} ({distance:.3g} m from its joints)"))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        f"centres of mass far from the robot, which is {around.whole:.3g} m in size",
        help="write the centre of mass in metres in the link frame",
    )
