"""A simulator ignores a mimic or a loop closure of the file.

What it does
------------
For each simulator that is named with ``--target``, lists the mimics and loop closures of the file that are
ignored or an error there. Without ``--target`` it reports nothing.

Why it matters
--------------
The simulated robot has freedoms that the real one does not have: the follower of a mimic swings freely, and
the links of a loop separate. Most simulators print no message.

Example
-------
``<mimic joint="finger_left"/>`` in a file that PyBullet shall load.

Remedy
------
State the constraint in a way that the simulator reads, or add it by its interface after loading.

References
----------
Drake: parsing of URDF, SDFormat and MJCF; Isaac Sim: URDF importer; MuJoCo: URDF extensions; SDFormat:
``<mimic>``; PyBullet: createConstraint; Newton: ``add_urdf`` and ``add_mjcf``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.simulators import LABELS, UNSUPPORTED, stated_constraints
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.enumerations import Simulator
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"
_REMEDIES: dict[Simulator, str] = {
    "mujoco": "convert the file to MJCF, and state them in <equality>: mbplugin close FILE --to mjcf",
    "newton": "convert the file to MJCF, and state them in <equality>: mbplugin close FILE --to mjcf",
    "isaac": "state loops as <loop_joint>",
    "gazebo": "state them in SDF",
    "drake": "state loops as <drake:ball_constraint>, mimics as <mimic> in URDF or <drake:mimic> in SDF",
    "pybullet": "call createConstraint after loading: JOINT_GEAR for a mimic, JOINT_POINT2POINT for a loop",
}


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per simulator."""
    stated = tuple(stated_constraints(scene)) if scene.options.targets else ()
    for simulator in scene.options.targets:
        treatments = [(UNSUPPORTED.get((kind, one.written), {}).get(simulator), one) for kind, one in stated]
        yield from joined_finding(
            __name__,
            SEVERITY,
            [
                Instance(one.element, one.origin, f"{one.written} {one.element!r} ({treatment})")
                for treatment, one in treatments
                if treatment is not None
            ],
            f"{LABELS[simulator]} does not apply what the file states",
            help=_REMEDIES[simulator],
            evidence={"target": simulator},
        )
