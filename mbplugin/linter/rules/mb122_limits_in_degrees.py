"""The limits of a revolute joint seem to be in degrees.

What it does
------------
Lists the revolute joints of a URDF with a limit that is a whole number beyond two turns (4π rad), at
most 720, while no limit is a fraction below that. Powers of ten such as 100 stand for "no limit" and are
omitted.

Why it matters
--------------
URDF limits are in radians: a joint with the limit 170 makes 27 turns. Plans wind up cables, and stops
are computed for travel that the joint does not have.

Example
-------
``<limit lower="-170" upper="170" effort="10" velocity="1"/>``.

Remedy
------
Convert the limits to radians: 170° are 2.967 rad.

References
----------
URDF: limits of revolute joints are in radians.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import radians

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.degrees import in_degrees
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import number, written_joints
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found = []
    for joint in written_joints(scene, "revolute"):
        limit = joint.child("limit")
        values = [value for side in ("lower", "upper") if (value := number(limit, side)) is not None]
        if limit and in_degrees(values):
            shown = " … ".join(f"{value:g} ({radians(value):.3g} rad)" for value in values)
            found.append(Instance(joint.name, limit.origin, f"{joint.name!r} {shown}"))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "limits that seem to be in degrees",
        help="write them in radians",
    )
