"""Links overlap at the pose of the file.

What it does
------------
Lists pairs of links whose collision shapes lie in each other by more than 2 mm at the pose of the file, with
its loops closed. Meshes count as their convex hulls. Passes over links that a joint or fixed joints join, and
pairs that the SRDF beside the file disables. Off by default, because it starts PyBullet: ``--collisions``.

Why it matters
--------------
An engine with self-collision pushes the links apart in the first step, so that the robot jumps; a planner
reports a start state in collision.

Example
-------
A gripper whose fingers have boxes that meet at the zero pose.

Remedy
------
Correct the shapes or their origins, start from another pose, or disable the pair in the SRDF.

References
----------
PyBullet: getClosestPoints; PyBullet and MuJoCo take the convex hull of a mesh. SRDF: disable_collisions.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.overlaps import overlaps
from mbplugin.linter.files.places import body_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
OPT_IN = True
#: What rounded lengths and margins of engines explain, m.
_DEPTH = 2e-3


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    q = scene.state.q if analysis is None else analysis.q
    yield from joined_finding(
        __name__,
        SEVERITY,
        [
            Instance(
                overlap.link_b,
                body_place(scene, overlap.link_b),
                f"{overlap.link_a!r} and {overlap.link_b!r} ({1e3 * overlap.depth:.3g} mm)",
            )
            for overlap in overlaps(scene, q)
            if overlap.depth > _DEPTH
        ],
        "links overlap at the pose of the file",
        help="correct the shapes or their origins, or disable the pair in the SRDF",
    )
