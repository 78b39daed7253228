"""An angle of a frame is beyond a full turn, so it is probably in degrees.

What it does
------------
Lists the ``rpy`` of a URDF with an angle beyond 2π rad.

Why it matters
--------------
Angles in URDF are in radians. 90 rad are 14 turns and 116.6°: the frame points in another direction, and
no message says so.

Example
-------
``<origin xyz="0 0 0.3" rpy="0 0 90"/>``.

Remedy
------
Write the angle in radians: 90° are 1.5707963267948966.

References
----------
URDF: ``<origin rpy>`` is in radians.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import pi

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import numbers, urdf_documents
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.document import Document, Node
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"
#: A turn, with room for its rounding.
_TURN = 2 * pi + 0.01


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found = []
    for document in urdf_documents(scene):
        for element in document.root.descendants("origin", "link1", "link2"):
            if any(abs(angle) > _TURN for angle in numbers(element, "rpy")):
                owner = _owner(element, document)
                shown = f"{owner!r} (rpy {element.get('rpy')!r})"
                found.append(Instance(owner, element.origin, shown))
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "angles beyond a full turn, probably in degrees",
        help="write the angles in radians",
    )


def _owner(element: Node, document: Document) -> str:
    """Return the name of the link or joint around an element."""
    node = element
    while node.position > 0:
        node = Node(document, node.written.parent)
        if node.tag in ("link", "joint", "drake:joint", "loop_joint"):
            return node.name
    return ""
