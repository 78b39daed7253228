"""The two frames of a joint do not meet at the pose of the file.

What it does
------------
Compares the position of each joint in SDF with that of the ``<frame>`` in its ``<parent>``, and the two local frames of
each joint in USD, at the file's pose.

Why it matters
--------------
SDF places a joint in its child and takes only the body of the parent; in USD simulators move the bodies of the
joint's tree together. Another mechanism than the one that was meant is analyzed and simulated.

Example
-------
``<parent>Wd</parent>`` with a frame 2 m away from the joint,
or ``physics:localPos1`` in metres in a stage of centimetres.

Remedy
------
Place the child link so that the frames meet, or name the link in ``<parent>``.

References
----------
SDF: pose frame semantics; Drake's ``four_bar_loop.sdf``. UsdPhysics: local frames of a joint.
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
