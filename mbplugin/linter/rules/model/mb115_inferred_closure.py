"""A joint closes a loop in a format without loops; its second frame is computed at the zero pose.

What it does
------------
Reports joints of a URDF that give a link a second parent, and rings of links without a root: they are
read as closures, with the frame on the second parent computed with all other joints at zero.

Why it matters
--------------
The format defines a tree, so the file does not say where the loop is closed. PyBullet ends the process
on such a file, other readers ignore the joint.

Example
-------
Two ``<joint>`` elements with one ``<child>``.

Remedy
------
Declare the loop in a scene file (``[[closure]]`` with both joint frames) and remove the joint from the
URDF.

References
----------
The URDF specification: every link but the root has exactly one parent joint.
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
    return reported_defects(__name__, SEVERITY, scene, "declare the loop as a [[closure]] in a scene file")
