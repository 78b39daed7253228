"""A closure has a more restrictive type than its loop needs.

What it does
------------
Reports every redundant block whose first verified remedy is another type of one stated closure: this change
alone removes the redundancy of the block and keeps the mobility. The finding contains the type and the lines to
paste. It is a note, because the redundancy itself is the warning MB201.

Why it matters
--------------
The type of a closure is often a guess, because few formats can state it, and the result depends on it: the
degree of redundancy of one planar robot is 0, 1 or 3 if its closure is a point on a line, a ball joint or a
hinge. A less restrictive closure does not change the tree of the robot.

Example
-------
The fourth hinge of a planar four-bar, closed as ``revolute`` (p = 3) instead of ``point-on-line``
(p = 0).

Remedy
------
Give the closure the less restrictive type, if the real joint has these freedoms; or keep it and declare the
redundancy.

References
----------
wojtyra2013 (21) to (27): rows of the left null space that form a regular block can be released.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.blocks import closures_of, proposed_changes, undeclared_blocks
from mbplugin.linter.checks.formats import format_of
from mbplugin.linter.checks.redundancy_words import remedy_sentence
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per block whose remedy is one closure."""
    if analysis is None or analysis.singular_pose:
        # what is too strong at a singular pose is just right beside it
        return
    for ranked in undeclared_blocks(scene, analysis):
        changes = proposed_changes(analysis, ranked)
        if len(changes) != 1 or not analysis.mechanism.pair_by_name[changes[0].constraint].closure:
            continue
        (change,) = changes
        restored = analysis.remedies[0].restores
        gain = f"lets {' and '.join(restored)} move" if restored else "leaves the mobility"
        yield make_finding(
            __name__,
            SEVERITY,
            f"closure {change.constraint!r} is {change.old} where {change.new} would do: that takes the "
            f"degree of redundancy of its loop from {ranked.redundancy} to 0 and {gain}",
            element=change.constraint,
            origin=constraint_place(scene, change.constraint),
            evidence={
                "type": change.old,
                "weaker_type": change.new,
                "degree_of_redundancy": ranked.redundancy,
                "toml": change.toml(),
            },
            help=remedy_sentence([change], (), closures_of(scene), mjcf=True)
            if format_of(scene) == "mjcf"
            else f"add to the scene:\n{change.toml()}",
        )
