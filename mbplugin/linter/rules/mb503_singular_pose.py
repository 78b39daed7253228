"""The pose is singular: constraints are dependent here that are independent nearby.

What it does
------------
Compares the rank at the pose with that at sampled poses around it.

Why it matters
--------------
At a singular pose the mechanism gains an instantaneous freedom and may change its branch, and forces are
unbounded near it. Results on redundancy and reactions are valid at this pose only.

Example
-------
A parallelogram four-bar folded flat; a car whose front wheels point straight ahead.

Remedy
------
Analyze at another pose with ``--q NAME=VALUE``, or keep the mechanism away from this one.

References
----------
mueller2026, definition 1; blajer1993, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import model_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding."""
    if analysis is None or not analysis.singular_pose:
        return
    here, generic = analysis.degree_of_redundancy, analysis.structural_redundancy
    yield make_finding(
        __name__,
        SEVERITY,
        f"the pose is singular: the degree of redundancy is {here} here and {generic} at poses around it, "
        f"so {here - generic} of the {analysis.dof} degrees of freedom "
        f"{'is' if here - generic == 1 else 'are'} instantaneous",
        element=scene.mechanism.name,
        origin=model_place(scene),
        evidence={
            "degree_of_redundancy": here,
            "structural_redundancy": generic,
            "dof": analysis.dof,
        },
        help="analyze at another pose with --q NAME=VALUE; verdicts on reactions hold at this pose only",
    )
