"""The model falls apart into several trees.

What it does
------------
Reports links besides the first root that are nobody's child.

Why it matters
--------------
PyBullet ends the process on such a file, and what was meant to hang together does not.

Example
-------
A gripper whose ``<joint>`` to the arm is missing.

Remedy
------
Join the other root to the rest, or put the parts into models of their own in a scene.

References
----------
URDF: the links of a robot form one tree.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.defects import reported_defects
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield what the reader noted."""
    return reported_defects(
        __name__, SEVERITY, scene, "join the roots, or make models of their own in a scene file"
    )
