"""A simulator turns redundant closures into loads that depend on its iterations.

What it does
------------
For each simulator that is named with ``--target`` and that solves constraints row by row, lists the closures whose
reaction is not unique. Without ``--target`` it reports nothing.

Why it matters
--------------
The solver shares the loads of redundant rows by their order and its number of iterations, and a gap from rounded
numbers becomes a load: in the closures of PyBullet's own Minitaur 9 kN, where the weakest closures carry 0.25 N.

Example
-------
A leg whose two rods meet in a ball: the third row of the ball is redundant in a planar loop.

Remedy
------
``mbplugin close FILE --to FORMAT`` finds the weakest closures with the same mobility, and measures the noise.

References
----------
wojtyra2013 §2.3: redundant constraints; Bullet and PhysX: projected Gauss-Seidel and its variants.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.simulators import ITERATIVE, LABELS
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene
from mbplugin.phrases import counted

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per simulator."""
    if analysis is None or not analysis.structural_redundancy:
        return
    cut = {pair.name for pair in scene.mechanism.tree.cut}
    closures = [v.name for v in analysis.constraints if v.name in cut and v.reaction == "non-unique"]
    for simulator in scene.options.targets:
        if simulator not in ITERATIVE:
            continue
        yield from joined_finding(
            __name__,
            SEVERITY,
            [Instance(name, constraint_place(scene, name), repr(name)) for name in closures],
            f"{LABELS[simulator]} shares the loads of {counted(analysis.degree_of_redundancy, 'redundant row')}"
            " by its iterations, with closures",
            help="find the weakest closures with mbplugin close",
            evidence={"target": simulator, "degree_of_redundancy": analysis.degree_of_redundancy},
        )
