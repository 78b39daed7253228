"""A revolute or prismatic joint has no limits.

What it does
------------
Reports such joints without ``<limit>``; they are read as unlimited.

Why it matters
--------------
The specification requires limits there, and readers that follow it report an error: urdfdom (ROS) and PyBullet.

Example
-------
``<joint type="revolute">`` without ``<limit>``.

Remedy
------
Add ``<limit>``, or write ``type="continuous"``.

References
----------
URDF: ``<limit>`` is required for revolute and prismatic joints.
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
        __name__, SEVERITY, scene, 'add <limit lower upper effort velocity>, or write type="continuous"'
    )
