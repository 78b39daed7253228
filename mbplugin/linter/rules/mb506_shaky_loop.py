"""A loop has a freedom to first order only: it looks mobile and is rigid.

What it does
------------
Reports every loop with freedoms that are infinitesimal but no freedoms of motion: columns less rank counts them, but no
pose can be reached along them. Names the joints that cannot move.

Why it matters
--------------
Two links in one line between fixed pins have a mobility of 1 to first order and are a rigid strut. A program that
integrates velocities turns it into a mechanism whose loop opens, and a driven joint of such a loop cannot be driven.
At the stated dimensions such a loop is soft and ill-conditioned: with any other dimensions it is stiff, or it does
not assemble.

Example
-------
Three cranks on one coupler, one of them shorter than the others; an ankle whose rods end in hinges.

Remedy
------
If the loop is meant as a structure, model it as one body. If it is meant to move, correct the dimensions that have
to be equal, or use the weaker closures that the finding names where a joint with a drive, a brake or limits is locked.

References
----------
wojtyra2013 (6); docs/theory.md, mobility to first order and in fact.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.blocks import block_place
from mbplugin.linter.files.places import listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene
from mbplugin.phrases import counted

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per loop."""
    if analysis is None:
        return
    restored = {joint for remedy in analysis.remedies[:1] for joint in remedy.restores}
    for block in analysis.mobility.shaky:
        joints = block.shaky_joints(analysis.mechanism)
        element, origin = block_place(scene, block.constraints)
        who = f": {listed(block.shaky_rates, 6)} cannot move" if block.shaky_rates else ""
        yield make_finding(
            __name__,
            SEVERITY,
            f"{counted(block.infinitesimal, 'freedom')} of this loop to first order, {block.finite} in fact{who}",
            element=element,
            origin=origin,
            evidence={
                "constraints": list(block.constraints),
                "infinitesimal": block.infinitesimal,
                "finite": block.finite,
                "rates": list(block.shaky_rates),
            },
            help="use the weaker types of MB201, which let "
            f"{listed([j for j in joints if j in restored], 4)} move"
            if restored.intersection(joints)
            else "model it as one rigid body if it is a structure; else correct the dimensions that stop it",
        )
