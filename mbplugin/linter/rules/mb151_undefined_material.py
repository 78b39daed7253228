"""A material is used and defined nowhere.

What it does
------------
Lists the names of ``<material>`` elements without colour and texture that no other element of the URDF
defines.

Why it matters
--------------
RViz shows such a link in its default colour, and urdfdom reports an error for the whole file.

Example
-------
``<material name="orange"/>`` without ``<material name="orange"><color …/></material>``.

Remedy
------
Define the material once below ``<robot>``, or correct the name.

References
----------
URDF: ``<material>`` of a visual may refer to one of the robot by name.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.urdf_elements import urdf_documents
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.document import Node
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found: dict[str, Instance] = {}
    for document in urdf_documents(scene):
        links = document.root.children("link")
        used = [
            m for link in links for visual in link.children("visual") for m in visual.children("material")
        ]
        defined = {m.get("name") for m in (*used, *document.root.children("material")) if _defines(m)}
        for material in used:
            name = material.get("name")
            if name and name not in defined:
                found.setdefault(name, Instance(document.prefix + name, material.origin, repr(name)))
    yield from joined_finding(
        __name__,
        SEVERITY,
        list(found.values()),
        "materials that are defined nowhere",
        help="define each material once below <robot>, or correct the name",
    )


def _defines(material: Node) -> bool:
    return any(material.children("color", "texture"))
