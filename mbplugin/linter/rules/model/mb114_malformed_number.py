"""A number is malformed, and read as PyBullet reads it.

What it does
------------
Reports literals with a full stop or a letter after the number, and vectors with too many numbers.

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
