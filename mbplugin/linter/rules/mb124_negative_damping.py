"""The damping or friction of a joint is negative.

What it does
------------
Lists the joints with a negative ``damping`` or ``friction``.

Why it matters
--------------
A negative damping drives the joint: every simulation gains energy and diverges. A negative friction has
no meaning.

Example
-------
``<dynamics damping="-0.5"/>``.

Remedy
------
Remove the sign.

References
----------
URDF: ``<dynamics>``, damping in N·m·s/rad, friction in N·m.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import written_joints
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.mechanism import Pair
from mbplugin.model.scene import Origin, Scene

SEVERITY: Severity = "error"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    written = _places(scene)
    found = [
        Instance(pair.name, written.get(pair.name) or constraint_place(scene, pair.name), shown)
        for pair in scene.mechanism.pairs
        if (shown := ", ".join(_negative(pair)))
    ]
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "negative damping or friction of joints",
        so="a simulation gains energy from it",
        help="write a value that is not negative",
    )


def _negative(pair: Pair) -> Iterator[str]:
    if any(freedom.damping < 0 for freedom in pair.freedoms):
        yield f"{pair.name!r} damping {min(freedom.damping for freedom in pair.freedoms):g}"
    if any(freedom.friction < 0 for freedom in pair.freedoms):
        yield f"{pair.name!r} friction {min(freedom.friction for freedom in pair.freedoms):g}"


def _places(scene: Scene) -> dict[str, Origin]:
    """Return where the dynamics of joints are written in URDFs."""
    elements = ((joint.name, joint.child("dynamics")) for joint in written_joints(scene))
    return {name: element.origin for name, element in elements if element}
