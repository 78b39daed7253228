"""Mimic joints imitate a loop that the model does not have.

What it does
------------
Moves each linkage that is coupled by ``<mimic>`` and looks for two links of different branches that turn
against each other about a point fixed in both, where no joint is. One finding lists them,
with the joint that is missing in the frames of both links.

Why it matters
--------------
The motion is that of a loop, the forces are not: the load of one branch does not reach the other, the
reactions of the missing joint are not computed, and PyBullet, which does not read ``<mimic>``, lets the
branches come apart. The degree of redundancy of the real mechanism is not analyzed.

Example
-------
A parallelogram gripper whose second crank and whose finger mimic the first crank with 1 and −1.

Remedy
------
Paste the ``[[closure]]`` of the finding into a scene file, one per loop, and remove the mimics that it replaces. In a
planar loop its type is ``point-on-line``, with the line along the axis, which adds no redundant constraint.

References
----------
URDF has no loops: authors replace them by ``<mimic>``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.imitated_loops import imitated_loops
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    loops, found = list(imitated_loops(scene)), []
    for loop in loops:
        # without the rounding of our own rotations
        shown = ", ".join(f"{round(value, 9) + 0.0:.6g}" for value in loop.point)
        text = f"{loop.body_a!r} and {loop.body_b!r} stay together at ({shown}) m, led by {loop.leader!r}"
        found.append(Instance(loop.leader, constraint_place(scene, loop.leader), text))
    toml = "\n\n".join(loop.toml for loop in loops)
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "mimic joints imitate a loop",
        help="state the missing joints in a scene file and remove the mimics that they replace:\n" + toml,
        evidence={"toml": toml, "mimics": [list(loop.mimics) for loop in loops]},
    )
