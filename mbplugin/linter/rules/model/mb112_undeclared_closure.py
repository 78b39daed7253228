"""A file marks the place of a closure but not its type.

What it does
------------
Reports pairs of links ``closing_NAME_1`` and ``closing_NAME_2``, as onshape-to-robot writes them, that
no joint connects.

Why it matters
--------------
Without the closure the mechanism has too many degrees of freedom; its type decides the redundancy.

Example
-------
``closing_knee_1`` on the shin and ``closing_knee_2`` on the rod.

Remedy
------
Declare the closure in a scene file; the finding contains the lines to paste.

References
----------
onshape-to-robot: kinematic loops.
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
        __name__, SEVERITY, scene, "declare it in a scene file with the type it has in reality"
    )
