"""A joint with friction has a reaction that is not unique.

What it does
------------
Lists the pairs with stated friction whose reaction the rigid model does not determine.

Why it matters
--------------
Friction in a real joint increases with its reaction, and with ``friction_coefficient`` that of the model does.
If the reaction is arbitrary, so are the friction and the *motion* that a simulator computes, not only the forces.

Example
-------
``<dynamics friction="0.5"/>`` in the hinges of a planar four-bar.

Remedy
------
Remove the redundancy, or make the bodies around these joints flexible.

References
----------
wojtyra2013, section 1: with Coulomb friction in joints the simulated motion might be non-unique.
pekal2024, section 1: friction that depends on load makes the motion non-unique.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import constraint_place, counted, listed
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding."""
    if analysis is None:
        return
    pairs = scene.mechanism.pair_by_name
    friction = {
        verdict.name: max(
            max(freedom.friction, freedom.load_friction) for freedom in pairs[verdict.name].freedoms
        )
        for verdict in analysis.constraints
        if not verdict.unique and verdict.name in pairs and pairs[verdict.name].freedoms
    }
    friction = {name: value for name, value in friction.items() if value > 0}
    if not friction:
        return
    names = list(friction)
    has = "has a reaction that is" if len(names) == 1 else "have reactions that are"
    yield make_finding(
        __name__,
        SEVERITY,
        f"{counted(len(names), 'joint')} with friction {has} not unique, so friction that grows with the "
        f"load makes the motion arbitrary: {listed(names)}",
        element=names[0],
        origin=constraint_place(scene, names[0]),
        evidence={"friction_N_m_or_N": friction},
        help="remove the redundancy, or make the bodies around these joints flexible",
    )
