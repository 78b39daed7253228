"""The model consists of several trees.

What it does
------------
Reports links other than the first root that are the child of no joint.

Why it matters
--------------
PyBullet ends the process on such a file, and parts that should be connected are not.

Example
-------
A gripper whose ``<joint>`` to the arm is missing.

Remedy
------
Connect the other root with a joint, or put the parts into separate models of a scene.

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
