"""Joint reactions are not determined by the rigid model.

What it does
------------
Lists, for every redundant block, the constraints whose reaction can change without a change of the
motion. It is a note, because the redundancy that causes it is the warning MB201.

Why it matters
--------------
A simulator still prints numbers for them: four engines give four answers for one four-bar, without a
warning. They are no basis for the dimensions of a bearing, brake or bolt. In MuJoCo the softness of its
constraints (``solref``, ``solimp``) determines them, not the stiffness of the real parts.

Example
-------
In a planar four-bar of four hinges ``tz``, ``rx`` and ``ry`` are undetermined in every hinge, ``tx`` and
``ty`` are determined.

Remedy
------
Remove the redundancy, or make the bodies between these constraints flexible and use the components
that are determined.

References
----------
wojtyra2013 (21) to (27); pekal2024 (54).
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.blocks import block_place, non_unique, redundant_blocks
from mbplugin.linter.checks.formats import format_of
from mbplugin.linter.files.places import counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per redundant block."""
    if analysis is None:
        return
    for ranked in redundant_blocks(analysis):
        verdicts = non_unique(analysis, ranked)
        if not verdicts:
            continue
        components = {v.name: [c.name for c in v.components if not c.unique] for v in verdicts}
        element, origin = block_place(scene, list(components))
        one = len(verdicts) == 1
        what = f"{len(verdicts)} {'reaction is' if one else 'reactions are'} not unique in a rigid model"
        if format_of(scene) == "mjcf":
            why = f"MuJoCo's solref and solimp determine {'it' if one else 'them'}, not the real parts"
        else:
            why = f"a simulator's numbers for {'it' if one else 'them'} are arbitrary"
        yield make_finding(
            __name__,
            SEVERITY,
            f"{what}, {why}: {listed(list(components), 12, 120)}",
            element=element,
            origin=origin,
            evidence={
                "components": components,
                "indeterminate_dim": {v.name: v.indeterminate_dim for v in verdicts},
            },
            help=f"remove {counted(ranked.redundancy, 'redundant constraint')}, or state compliances",
        )
