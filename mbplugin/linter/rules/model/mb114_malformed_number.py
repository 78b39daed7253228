"""A number is malformed; it is read as PyBullet reads it, or left out where the mechanics do without it.

What it does
------------
Reports literals with a full stop or a letter after the number, vectors with too many numbers, and visual
and collision geometry, effort and velocity limits that are no numbers.

Why it matters
--------------
Other readers reject the file, or read another value.

Example
-------
``rpy="0 0 -1.57."``.

Remedy
------
Correct the literal.

References
----------
Such literals are in models that come with PyBullet.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.defects import reported_defects
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield what the reader noted."""
    return reported_defects(__name__, SEVERITY, scene, "correct the literal")
