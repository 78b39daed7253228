"""A joint names the link ``world``, and no link is called so.

What it does
------------
Reports the first joint with the parent ``world`` in a URDF without such a link. The mechanism is tied to the
ground there.

Why it matters
--------------
Drake and Isaac read the file in this way; other readers of URDF do not accept a name that no link declares.

Example
-------
``<parent link="world"/>`` without ``<link name="world"/>``.

Remedy
------
Add ``<link name="world"/>``.

References
----------
Drake: parsing of URDF, the link ``world``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.defects import reported_defects
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield what the reader noted."""
    return reported_defects(__name__, SEVERITY, scene, 'add <link name="world"/>')
