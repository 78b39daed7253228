"""A shape has a size that is zero or negative.

What it does
------------
Lists boxes, spheres, cylinders and capsules with an edge, a radius or a length that is not above zero.

Why it matters
--------------
A shape without volume collides with nothing or makes the contact solver fail; MuJoCo, Drake and DART
do not load the file, and an inertia that is computed from the shape is zero.

Example
-------
``<box size="0.1 0 0.1"/>``.

Remedy
------
Write the size in metres, or remove the shape.

References
----------
URDF: ``<geometry>``; sizes are in metres.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.shape_places import written_solids
from mbplugin.linter.checks.urdf_elements import numbers, written_links
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.document import Node
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
_SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
}


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found = [
        Instance(link.name, solid.origin, f"{solid.tag} of {link.name!r} ({wrong})")
        for link in written_links(scene)
        for solid in written_solids(link)
        for wrong in _wrongs(solid)
    ]
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "shapes whose size is zero or negative",
        help="write the size in metres, or remove the shape",
    )


def _wrongs(solid: Node) -> Iterator[str]:
    """Yield the sizes of a shape that are not above zero."""
    for name in _SIZES.get(solid.tag, ()):
        # a capsule without a tube is a ball
        least = 0.0 if (solid.tag, name) == ("capsule", "length") else None
        if any(value < 0 or (value == 0 and least is None) for value in numbers(solid, name)):
            yield f"{name} {solid.get(name)}"
