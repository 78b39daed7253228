"""A brake states no torque: stops are computed with the effort limit instead.

What it does
------------
Lists the brakes of a scene without ``torque``.

Why it matters
--------------
The effort limit belongs to the drive, not to its brake; the two may differ by a factor of two, and so do the
stopping times.

Example
-------
``[[brake]]`` with ``joint`` and ``delay`` only.

Remedy
------
State ``torque`` from the data sheet, and ``static_torque`` if it is different.

References
----------
IEC 60204-1: stop categories; the brake data come from the manufacturer.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per brake."""
    for brake in scene.brakes:
        if brake.torque is not None:
            continue
        effort = scene.mechanism.pair_by_name[brake.joint].freedoms[0].effort
        yield make_finding(
            __name__,
            SEVERITY,
            f"the brake of {brake.joint!r} states no torque; its stops are computed with the effort limit,"
            f" {effort:g}",
            element=brake.joint,
            origin=constraint_place(scene, brake.joint),
            evidence={"effort": effort},
            help="state torque, from the data sheet of the brake",
        )
