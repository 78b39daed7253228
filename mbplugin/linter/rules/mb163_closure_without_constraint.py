"""A simulator has no constraint for a closure of the model.

What it does
------------
For each simulator that is named with ``--target``, lists the closures of a type for which it has no constraint.
Without ``--target`` it reports nothing.

Why it matters
--------------
However the closure is written, nothing closes the loop there, or a constraint does that restrains other motions: the
mobility and the forces are those of another mechanism.

Example
-------
A universal joint that closes a loop: MuJoCo has ``connect`` (3 rows) and ``weld`` (6 rows) only.

Remedy
------
``mbplugin close FILE --to FORMAT`` cuts the loop elsewhere, or holds the closure by a part of a body.

References
----------
MuJoCo: equality constraints; Newton: SolverMuJoCo, loop joints; Drake: MultibodyPlant, ``AddBallConstraint``,
``AddWeldConstraint``, ``AddDistanceConstraint``; SDFormat: ``<joint>``; PyBullet: createConstraint.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.simulators import CLOSURES, LABELS
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per simulator."""
    for simulator in scene.options.targets:
        known = CLOSURES[simulator]
        yield from joined_finding(
            __name__,
            SEVERITY,
            [
                Instance(pair.name, constraint_place(scene, pair.name), f"{pair.name!r} ({pair.type})")
                for pair in scene.mechanism.tree.cut
                if pair.type not in known
            ],
            f"{LABELS[simulator]} has no constraint for the closure",
            help=f"cut the loop at a joint of another type ({', '.join(sorted(known))}), or run mbplugin close",
            evidence={"target": simulator},
        )
