"""Ideally rolling wheels restrain a vehicle more than once.

What it does
------------
Reports redundant blocks whose self-stress loads rolling wheels or knife edges, and the number of their rows
that depend on the others. It is a note, because the redundancy itself is the warning MB201.

Why it matters
--------------
Four wheels on rigid axles cannot all satisfy the no-slip condition: the side forces at the wheels are
arbitrary in a rigid model, and real tyres slip.

Example
-------
A vehicle on four fixed wheels: 12 rows of rank 9, so p = 3.

Remedy
------
Steer or castor a wheel, drop the side row of all but one wheel per axle, give the suspension a
freedom, or model the tyres as compliant.

References
----------
wojtyra2013 (30), section 4: the four-wheel robot.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.blocks import non_unique, undeclared_blocks
from mbplugin.linter.files.places import constraint_place, counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per redundant block with loaded wheels."""
    wheels = {pfaffian.name for pfaffian in scene.mechanism.pfaffians}
    if not wheels:
        return
    for ranked in undeclared_blocks(scene, analysis):
        assert analysis is not None
        loaded = [verdict.name for verdict in non_unique(analysis, ranked) if verdict.name in wheels]
        if not loaded:
            continue
        rows = sum(name in wheels for name, _ in ranked.reduced.labels)
        yield make_finding(
            __name__,
            SEVERITY,
            f"rolling over-constrains: {ranked.redundancy} of the constraints around the {rows} wheel rows "
            f"{'is' if ranked.redundancy == 1 else 'are'} redundant, and the forces at "
            f"{counted(len(loaded), 'wheel')} are arbitrary: {listed(loaded)}",
            element=loaded[0],
            origin=constraint_place(scene, loaded[0]),
            evidence={
                "degree_of_redundancy": ranked.redundancy,
                "wheel_rows": rows,
                "wheels": loaded,
            },
            help="steer or castor a wheel, release side slip on all but one wheel per axle, or model tyres",
        )
