"""The degree of redundancy is not the one that the scene declares.

What it does
------------
Compares ``[lint] degree_of_redundancy`` with the value found at the pose.

Why it matters
--------------
The declaration states the intended redundancy. Another value means that a joint, a closure or a dimension
was changed, and reactions that were determined before are not any more, or a freedom is lost.

Example
-------
``[lint] degree_of_redundancy = 3`` for a planar four-bar with one spherical joint (p = 1).

Remedy
------
Find the change, or correct the declaration.

References
----------
wojtyra2013 (6): p = rows − rank.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import model_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding."""
    declared = scene.options.degree_of_redundancy
    if analysis is None or declared is None or declared == analysis.degree_of_redundancy:
        return
    found = analysis.degree_of_redundancy
    yield make_finding(
        __name__,
        SEVERITY,
        f"the scene declares a degree of redundancy of {declared}, but it is {found} "
        f"(rank {analysis.rank} of {analysis.rows} rows at a tolerance of {analysis.tolerance:g})",
        element=scene.mechanism.name,
        origin=model_place(scene, "degree_of_redundancy"),
        evidence={"declared": declared, "degree_of_redundancy": found, "rows": analysis.rows},
        help=f"find what changed, or declare degree_of_redundancy = {found}",
    )
