"""A loop closes only with a joint beyond its limits.

What it does
------------
Lists the joints that lie outside their limits at the closed pose although they were inside before.

Why it matters
--------------
The limits or the dimensions are wrong, or the loop was closed on the other branch. An engine that
enforces the limits cannot close the loop.

Example
-------
A knee limited to 0 … 1.5 rad whose loop closes at −0.4 rad.

Remedy
------
Give an initial pose on the intended branch, or correct limits and frames.

References
----------
blajer1993 (5) to (7): closing conditions have branches.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per joint."""
    if analysis is None:
        return
    mech = scene.mechanism
    for name in analysis.assembly.beyond_limits:
        joint, (freedom,) = mech.tree.joint_of_pair[name], mech.pair_by_name[name].freedoms
        value = float(analysis.q[joint.q][0])
        unit = "rad" if mech.pair_by_name[name].kind.free[0][0] == "r" else "m"
        yield make_finding(
            __name__,
            SEVERITY,
            f"the loop closes only with joint {name!r} at {value:.4g} {unit}, outside its limits "
            f"{freedom.lower:.4g} … {freedom.upper:.4g} {unit}",
            element=name,
            origin=constraint_place(scene, name),
            evidence={f"value_{unit}": value, f"limits_{unit}": [freedom.lower, freedom.upper]},
            help="give a starting pose on the branch that is meant, or correct limits and frames",
        )
