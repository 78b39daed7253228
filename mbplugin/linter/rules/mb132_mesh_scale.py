"""A mesh is scaled by zero or by a negative factor.

What it does
------------
Lists meshes with a ``scale`` of zero, and, as a note, those with a negative one.

Why it matters
--------------
A factor of zero makes the mesh flat. A negative one mirrors it and turns its surface inside out:
volumes, and inertias computed from them, become negative, and some engines see no contact.

Example
-------
``<mesh filename="arm.stl" scale="1 1 0"/>``.

Remedy
------
Write factors above zero; export a mirrored mesh for the other side.

References
----------
URDF: ``<mesh scale>``.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.shape_places import written_solids
from mbplugin.linter.checks.urdf_elements import numbers, written_links
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    scaled = [
        (min(factors, key=abs), link, solid)
        for link in written_links(scene)
        for solid in written_solids(link)
        if solid.tag == "mesh"
        and (factors := numbers(solid, "scale"))
        and any(factor <= 0 for factor in factors)
    ]
    # what is flat comes first
    scaled.sort(key=lambda item: item[0] != 0)
    flat = any(smallest == 0 for smallest, _, _ in scaled)
    yield from joined_finding(
        __name__,
        SEVERITY if flat else "note",
        [
            Instance(link.name, solid.origin, f"{link.name!r} (scale {solid.get('scale')})")
            for _, link, solid in scaled
        ],
        "meshes scaled by zero or a negative factor",
        so="" if flat else "mirroring turns the surface inside out",
        help="write factors above zero, and export a mirrored mesh where one is meant",
    )
