"""A joint of an SDF file is not where the frame is that its parent names.

What it does
------------
Compares the position of each joint with that of the ``<frame>`` in its ``<parent>``, at the file's pose.

Why it matters
--------------
SDF places a joint in its child and takes only the body of the parent. Another mechanism than the one that was meant is
analyzed and simulated.

Example
-------
``<parent>Wd</parent>`` with a frame 2 m away from the joint, in a model that is not assembled.

Remedy
------
Place the child link so that the joint is at the frame, or name the link in ``<parent>``.

References
----------
SDF: pose frame semantics; Drake's ``four_bar_loop.sdf``.
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
    help = "place the child link so that the joint is at the frame, or name the link in <parent>"
    return reported_defects(__name__, SEVERITY, scene, help)
