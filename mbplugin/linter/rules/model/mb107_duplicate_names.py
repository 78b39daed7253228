"""Two elements have the same name.

What it does
------------
Reports joints and constraints to which the file gives a name that is already in use; the later one gets a
number after its name. Two models of one name in an SDF world are a warning: nothing in one can refer to the
other.

Why it matters
--------------
A reference by name finds only one of them: motors, mimics, results. Other readers report an error, or keep
only one of the two.

Example
-------
Two ``<joint name="hinge">`` in one file.

Remedy
------
Rename one of them.

References
----------
URDF: names of links and of joints are unique.
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
    return reported_defects(__name__, SEVERITY, scene, "rename one of them")
