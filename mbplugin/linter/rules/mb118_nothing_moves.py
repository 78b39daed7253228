"""The model has no body that can move.

What it does
------------
Reports a model without bodies, or with all bodies fixed to the ground: a floor, a wall, a static scene.

Why it matters
--------------
There is no constraint to analyze. A robot whose links are missing here is in another file.

Example
-------
An MJCF file with a ground plane and lights only.

Remedy
------
None is needed for a static scene.

References
----------
The static models of the SDF specification, ``<static>``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Origin, Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding where no joint and no free body is left."""
    if scene.mechanism.qd_names:
        return
    count = len(scene.mechanism.bodies)
    what = "it has no body" if not count else f"all {count} bodies are fixed to the ground"
    if count == 1:
        what = "its only body is fixed to the ground"
    place = Origin(scene.files[0], 1) if scene.files else None
    message = f"nothing in the model can move: {what}"
    help = "nothing is needed for a static scene; else lint the file that has the links"
    yield make_finding(__name__, SEVERITY, message, origin=place, help=help)
