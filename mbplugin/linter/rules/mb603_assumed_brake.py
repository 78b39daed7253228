"""A brake states no torque: stops are computed with the effort limit instead.

What it does
------------
Lists the brakes of a scene without ``torque``.

Why it matters
--------------
The effort limit belongs to the drive, not to its brake. The stops that the maker of two arms publishes take up
to seven times as long as stops with the effort limits of their URDF.

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
from mbplugin.linter.files.places import constraint_place, counted, listed
from mbplugin.linter.finding import ELEMENTS, Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding, with all brakes."""
    pairs = scene.mechanism.pair_by_name
    efforts = {b.joint: pairs[b.joint].freedoms[0].effort for b in scene.brakes if b.torque is None}
    if not efforts:
        return
    names, one = list(efforts), len(efforts) == 1
    shown = listed([f"{name} ({effort:g})" for name, effort in efforts.items()])
    yield make_finding(
        __name__,
        SEVERITY,
        f"{counted(len(names), 'brake')} {'states' if one else 'state'} no torque, and "
        f"{'its' if one else 'their'} stops are computed with the effort limit: {shown}",
        element=names[0],
        origin=constraint_place(scene, names[0]),
        evidence={"effort": efforts[names[0]], ELEMENTS: names, "efforts": efforts},
        help="state torque, from the data sheet of the brake",
    )
