"""A joint has an effort limit of 0 and no brake: stops are computed without a brake on it.

What it does
------------
In a robot whose other joints have brakes or effort limits, lists the joints that can move, have an effort
limit of 0 and no ``[[brake]]``. Joints that are locked, or moved by a mimic or gear, are omitted.

Why it matters
--------------
Without a stated brake, a stop assumes one that slides with the effort limit. With 0 there is none: the
joint continues to swing after the stop. Many files state 0 only because the format requires a number.

Example
-------
``<limit lower="-2" upper="2" effort="0" velocity="1"/>`` on the elbow of an arm.

Remedy
------
State the effort limit, or a ``[[brake]]`` with its torque in a scene; if the joint is passive, ignore
this rule.

References
----------
IEC 60204-1: stop categories; URDF specification: ``effort`` is required in ``<limit>``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import constraint_place, counted, listed
from mbplugin.linter.finding import ELEMENTS, Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.undriven import unbraked_joints
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding, with all joints."""
    mech = scene.mechanism
    if not scene.brakes and not _has_drives(mech):
        return
    joints = list(unbraked_joints(mech, {brake.joint for brake in scene.brakes})[0])
    if not joints:
        return
    one = len(joints) == 1
    yield make_finding(
        __name__,
        SEVERITY,
        f"{counted(len(joints), 'joint')} {'has' if one else 'have'} no brake in a stop, because "
        f"{'its' if one else 'their'} effort limit is 0 and no [[brake]] is stated: {listed(joints)}",
        element=joints[0],
        origin=constraint_place(scene, joints[0]),
        evidence={"effort": 0.0, ELEMENTS: joints},
        help="state its effort limit or a [[brake]]; ignore this where the joint is passive",
    )


def _has_drives(mech: Mechanism) -> bool:
    """Whether any joint has a finite effort limit above 0."""
    efforts = (freedom.effort for pair in mech.pairs for freedom in pair.freedoms)
    return any(0.0 < effort < float("inf") for effort in efforts)
