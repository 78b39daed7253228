"""The lower limit of a joint is above its upper limit.

What it does
------------
Lists the revolute and prismatic joints of a URDF whose ``lower`` exceeds ``upper``.

Why it matters
--------------
PyBullet reads such limits as no limits, MuJoCo does not compile the model, and planners find no state of
the joint that is valid. Often a sign is missing.

Example
-------
``<limit lower="1.2" upper="-0.8" effort="10" velocity="1"/>``.

Remedy
------
Exchange the values, or correct the sign. Write ``type="continuous"`` where no limits are intended.

References
----------
URDF: ``<limit>``, ``lower`` and ``upper``; PyBullet quickstart guide: a lower limit above the upper one
means no limits.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import BOUNDED, number, written_joints
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found = []
    for joint in written_joints(scene, *BOUNDED):
        limit = joint.child("limit")
        lower, upper = number(limit, "lower"), number(limit, "upper")
        if limit and lower is not None and upper is not None and lower > upper:
            found.append(Instance(joint.name, limit.origin, f"{joint.name!r} ({lower:g} > {upper:g})"))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "lower limits above the upper ones",
        so="PyBullet then moves the joint without limits",
        help="exchange lower and upper, or correct the sign",
    )
