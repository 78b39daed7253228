"""A mimic refers to a joint that it cannot follow.

What it does
------------
Reports ``<mimic>`` elements whose leader does not exist, is the joint itself, or does not have exactly one
freedom; the mimic is omitted.

Why it matters
--------------
The mechanism has one coupling less and one degree of freedom more than intended.

Example
-------
``<mimic joint="finger_lft"/>`` where the joint is called ``finger_left``.

Remedy
------
Correct the name, or remove the mimic.

References
----------
URDF: ``<mimic joint multiplier offset>``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.defects import reported_defects
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield what the reader noted."""
    return reported_defects(
        __name__, SEVERITY, scene, "correct the name of the joint to follow, or remove the mimic"
    )
