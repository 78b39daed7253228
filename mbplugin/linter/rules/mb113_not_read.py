"""Something in the file is not read as written.

What it does
------------
Reports elements and attributes that cannot be part of the mechanism, and names that the format does not
define. All of one kind give one finding; it is a note for settings of a simulator's solver or controller.

Why it matters
--------------
The analyzed model differs from the file.

Example
-------
An inactive ``<equality>``, a tendon or a position actuator in MJCF, an SDF ``<state>``, ``<dynamic>`` for
``<dynamics>`` in a URDF.

Remedy
------
Remove the element, or state it in a scene file.

References
----------
The formats' specifications.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mbplugin.analysis import Analysis
from mbplugin.linter.defects import reported_defects
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
_OF_NOTES = "leave it; only if the mechanism depends on it, state it in a scene file"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield what the reader noted."""
    for finding in reported_defects(__name__, SEVERITY, scene, "state it in a scene file, or remove it"):
        yield replace(finding, help=_OF_NOTES) if finding.severity == "note" else finding
