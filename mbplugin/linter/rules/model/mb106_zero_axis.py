"""A joint axis is zero.

What it does
------------
Reports ``<axis>`` elements of length zero; the default axis of the format is used instead.

Why it matters
--------------
The direction of motion is unknown: Bullet normalises the axis to NaN or uses another one.

Example
-------
``<axis xyz="0 0 0"/>`` of a revolute joint.

Remedy
------
Write the direction, or make the joint fixed.

References
----------
URDF: the axis of a joint should be normalised; SDF: ``<axis><xyz>``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.defects import reported_defects
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield what the reader noted."""
    return reported_defects(
        __name__, SEVERITY, scene, "write the direction the joint moves in, or make it fixed"
    )
