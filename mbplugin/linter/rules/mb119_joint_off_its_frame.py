"""The two frames of a joint do not meet at the given pose.

What it does
------------
Compares the position of each joint in SDF with that of the ``<frame>`` in its ``<parent>``, and the two local frames of
each joint in USD, at the file's pose, and those of an equality of MJCF or a constraint of a live client that alone
carries a body; these two have 1e-3 m and rad for rounding and for PyBullet's drift. In a scene it compares the pose of
each body with the two joint frames of the pair that carries it: what the pair's own coordinates do not reach is an
error, beyond the rounding of angles, 1e-3 rad.

Why it matters
--------------
SDF places a joint in its child and takes only the body of the parent; in USD simulators move the bodies of the
joint's tree together. PyBullet pulls the frames of ``createConstraint`` together in its next steps, a fifth of the gap
in each, and here the body is moved at once. Another mechanism than the one that was meant is analyzed and simulated.

Example
-------
``<parent>Wd</parent>`` with a frame 2 m away from the joint,
or ``physics:localPos1`` in metres in a stage of centimetres; a ``[[body]]`` with ``xyz = [0.2, 0, 0]`` whose hinge has
``xyz_a = xyz_b = [0, 0, 0]``; ``createConstraint`` with a child pivot 0.1 m away from that of the parent.

Remedy
------
Place the child link so that the frames meet, or name the link in ``<parent>``. In a scene correct the pose or the
frames, or leave one of them out. In PyBullet correct the pivots and frames, or place the body where they meet.

References
----------
SDF: pose frame semantics; Drake's ``four_bar_loop.sdf``. UsdPhysics: local frames of a joint.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.formats import format_of
from mbplugin.linter.defects import reported_defects
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
_HELP = {
    "": "correct the pivots and frames of createConstraint, or place the body where they meet",
    "mjcf": "correct the pose of the body, or the frames of the equality",
    "scene": "correct the pose or the joint frames; or leave out the pose, or the joint frame of one side",
}


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield what the reader noted."""
    other = "place the child link so that the joint is at the frame, or name the link in <parent>"
    help = _HELP.get(format_of(scene), other)
    return reported_defects(__name__, SEVERITY, scene, help)
