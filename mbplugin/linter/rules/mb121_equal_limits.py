"""A joint that moves has equal limits.

What it does
------------
Lists the revolute and prismatic joints of a URDF with ``lower`` equal to ``upper``, and those whose
``<limit>`` states neither: the specification reads that as 0 and 0.

Why it matters
--------------
Planners, controllers and engines that enforce limits hold the joint; others let it move freely. The
mobility of the model depends on the program.

Example
-------
``<limit lower="0" upper="0" effort="10" velocity="1"/>`` of a revolute joint.

Remedy
------
Write the limits. A joint that does not move is ``type="fixed"``, one without limits
``type="continuous"``.

References
----------
URDF: ``lower`` and ``upper`` are 0 by default.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import BOUNDED, number, written_joints
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.document import Node
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found = [
        Instance(joint.name, limit.origin, f"{joint.name!r} ({stated})")
        for joint in written_joints(scene, *BOUNDED)
        if (limit := joint.child("limit")) and (stated := _equal(limit))
    ]
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "joints that move have equal limits",
        so="programs that enforce limits hold them",
        help='write the limits, or make the joint "fixed" or "continuous"',
    )


def _equal(limit: Node) -> str:
    """Return the limits where they are equal, else nothing."""
    if not limit.has("lower") and not limit.has("upper"):
        return "0 and 0 by default"
    lower, upper = number(limit, "lower"), number(limit, "upper")
    both = [0.0 if not limit.has(side) else value for side, value in (("lower", lower), ("upper", upper))]
    return f"both {both[0]:g}" if both[0] is not None and both[0] == both[1] else ""
