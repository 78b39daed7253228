"""A joint axis does not have length 1.

What it does
------------
Lists the joints of a URDF whose axis has a length that differs from 1 by more than 0.1 %. Axes of length
zero are MB106.

Why it matters
--------------
Most programs normalise the axis. Those that do not, multiply the motion of the joint by the length: a
prismatic joint with the axis 0 0 2 moves twice as far.

Example
-------
``<axis xyz="0 1 1"/>``, whose length is 1.414.

Remedy
------
Divide the axis by its length.

References
----------
URDF: the axis should be normalised.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import SINGLE, numbers, written_joints
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"
_TOLERANCE = 1e-3


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found = []
    for joint in written_joints(scene, *SINGLE, "planar"):
        axis = joint.child("axis")
        length = hypot(*numbers(axis, "xyz"))
        if axis and length > 1e-12 and abs(length - 1) > _TOLERANCE:
            found.append(Instance(joint.name, axis.origin, f"{joint.name!r} ({length:.4g})"))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "joint axes whose length is not 1",
        help="divide the axis by its length",
    )
