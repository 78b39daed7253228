"""Mimic joints imitate a loop that the model does not have.

What it does
------------
Moves each linkage that is coupled by ``<mimic>`` and looks for two links of different branches that turn
against each other about a point fixed in both, where no joint is. One finding lists them.

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
State the joint as a ``[[closure]]`` in a scene file, at the point that the finding names, and remove the
mimics of that loop. In a planar loop ``type = "point-on-line"``, with the line along the axis, adds no redundant
constraint.

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
    found = []
    for loop in imitated_loops(scene):
        # without the rounding of our own rotations
        shown = ", ".join(f"{round(value, 9) + 0.0:.4g}" for value in loop.point)
        text = f"{loop.body_a!r} and {loop.body_b!r} stay together at ({shown}) m, led by {loop.leader!r}"
        found.append(Instance(loop.leader, constraint_place(scene, loop.leader), text))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "mimic joints imitate a loop",
        help='state the joint as a [[closure]] in a scene file, type = "point-on-line" along its axis if the loop '
        "is planar, and remove the mimics of the loop",
    )
