"""The zero pose is outside the limits of a joint.

What it does
------------
Lists the revolute and prismatic joints whose limits do not contain zero.

Why it matters
--------------
Most programs start with all joints at zero. Planners report an invalid start state, and engines push the joint
back to its limit with a large force in the first step.

Example
-------
``<limit lower="-3.07" upper="-0.07" …/>`` of the fourth joint of a Franka arm.

Remedy
------
None, if every program that uses the file sets an initial pose; otherwise move the origin of the joint.

References
----------
URDF: the zero position is where the joint frames coincide.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import written_joints
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Origin, Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    written = _places(scene)
    found = []
    for pair in scene.mechanism.pairs:
        if pair.closure or len(pair.freedoms) != 1:
            continue
        (freedom,) = pair.freedoms
        # equal limits are MB121
        if (freedom.lower > 0 or freedom.upper < 0) and freedom.lower < freedom.upper:
            place = written.get(pair.name) or constraint_place(scene, pair.name)
            shown = f"{pair.name!r} ({freedom.lower:g} … {freedom.upper:g})"
            found.append(Instance(pair.name, place, shown))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "zero is outside the limits of joints",
        help="set an initial pose in every program that uses the file, or move the joint's origin",
    )


def _places(scene: Scene) -> dict[str, Origin]:
    """Return where the limits of joints are written in URDFs."""
    elements = ((joint.name, joint.child("limit")) for joint in written_joints(scene))
    return {name: element.origin for name, element in elements if element}
