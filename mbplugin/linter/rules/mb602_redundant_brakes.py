"""The brakes of a scene are redundant constraints: their impulses and holding torques are non-unique.

What it does
------------
Locks all braked joints at once and compares the degree of redundancy with that of the mechanism with released brakes.

Why it matters
--------------
With all brakes engaged, the remaining motion is unique, but the impulses and holding torques are not:
the shares of the brakes depend on stiffness and on the order in which they engage. A rigid model is then
no basis for the dimensions of a single brake.

Example
-------
Brakes on both cranks of a four-bar; two arms that hold one part, with brakes on all their joints.

Remedy
------
Brake as many joints as the mechanism has degrees of freedom, or state the stiffness of its parts.

References
----------
mueller2026, sections 3 and 8: redundant activation is not treated there; wojtyra2013, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mbplugin.analysis import Analysis
from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.linter.files.places import constraint_place, counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding."""
    mech = scene.mechanism
    locked = {lock.joint for lock in mech.locks}
    pairs = mech.pair_by_name
    braked = [b.joint for b in scene.brakes if len(pairs[b.joint].kind.free) == 1]
    # several brakes may act on one joint
    joints = [joint for joint in dict.fromkeys(braked) if joint not in locked]
    if analysis is None or not joints or not mech.tree.cut:
        return
    closed = replace(mech, locks=(*mech.locks, *(Lock(joint) for joint in joints)))
    more = _redundancy(closed, analysis) - _redundancy(mech, analysis)
    if more <= 0:
        return
    yield make_finding(
        __name__,
        SEVERITY,
        f"with all brakes closed {counted(more, 'constraint')} too many hold, so the shares of the brakes"
        f" are not determined: {listed(joints)}",
        element=joints[0],
        origin=constraint_place(scene, joints[0]),
        evidence={"redundant": more, "brakes": joints},
        help="brake as many joints as there are degrees of freedom, or state the stiffness of the parts",
    )


def _redundancy(mech: Mechanism, analysis: Analysis) -> int:
    blocks = rank_blocks(mech, forward(mech, analysis.q), plane_columns(None), analysis.tolerance, analysis.q)
    return sum(block.redundancy for block in blocks)
