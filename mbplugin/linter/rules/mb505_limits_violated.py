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
from typing import Any

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import constraint_place, counted, listed
from mbplugin.linter.finding import ELEMENTS, Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.component import units_of
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding, with all joints."""
    if analysis is None or not analysis.assembly.beyond_limits:
        return
    names = list(analysis.assembly.beyond_limits)
    joints = {name: _position(scene, analysis, name) for name in names}
    shown = [f"{name} at {text}" for name, (text, _) in joints.items()]
    yield make_finding(
        __name__,
        SEVERITY,
        f"the loop closes only with {counted(len(names), 'joint')} outside "
        f"{'its' if len(names) == 1 else 'their'} limits: {listed(shown)}",
        element=names[0],
        origin=constraint_place(scene, names[0]),
        evidence={
            **joints[names[0]][1],
            ELEMENTS: names,
            "joints": {name: values for name, (_, values) in joints.items()},
        },
        help="give a starting pose on the branch that is meant, or correct limits and frames",
    )


def _position(scene: Scene, analysis: Analysis, name: str) -> tuple[str, dict[str, Any]]:
    """Return where a joint is and between which limits it should be, in words and as numbers."""
    mech = scene.mechanism
    pair = mech.pair_by_name[name]
    (freedom,) = pair.freedoms
    value = float(analysis.q[mech.tree.joint_of_pair[name].q][0])
    unit = units_of(pair.kind.free[0]).coordinate
    text = f"{value:.4g} {unit} (limits {freedom.lower:.4g} … {freedom.upper:.4g} {unit})"
    return text, {f"value_{unit}": value, f"limits_{unit}": [freedom.lower, freedom.upper]}
