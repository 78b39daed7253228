"""Some bodies must be modelled as flexible to obtain correct reactions.

What it does
------------
Lists the bodies on which some reaction is not unique. All others may stay rigid in a hybrid model. It is a
note, because the redundancy that causes it is the warning MB201.

Why it matters
--------------
The compliance of these bodies determines how the load divides among redundant constraints; a
model with one of them rigid gives arbitrary reactions of that body.

Example
-------
In a spatial parallelogram with a fourth rod, the four rods and the platform, but not a load attached to it.

Remedy
------
Make them flexible, or remove the redundancy.

References
----------
pekal2024, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import body_place, counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding."""
    if analysis is None:
        return
    flexible = [body.name for body in analysis.bodies if not body.may_stay_rigid]
    if not flexible:
        return
    yield make_finding(
        __name__,
        SEVERITY,
        f"{counted(len(flexible), 'body').replace('bodys', 'bodies')} of {len(analysis.bodies)} must not be "
        f"rigid where reactions count: {listed(flexible, 12)}",
        element=flexible[0],
        origin=body_place(scene, flexible[0]),
        evidence={"bodies": flexible},
        help="model them as flexible, or remove the redundancy; the other bodies may stay rigid",
    )
