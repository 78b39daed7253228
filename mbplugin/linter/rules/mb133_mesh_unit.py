"""A mesh has another unit than the robot.

What it does
------------
Compares the size of each STL and OBJ mesh with the distances of the joints, the primitive shapes and the
other meshes. Lists meshes that are more than 30 times larger than all of that, and those smaller than
half a millimetre in a robot whose other meshes, or which itself if it has no other, are a hundred times larger.

Why it matters
--------------
STL and OBJ state no unit. A mesh in millimetres without ``scale`` is 1000 times too large: the robot
starts inside it, and the contact forces throw it away.

Example
-------
``<mesh filename="arm_in_mm.stl"/>`` without ``scale="0.001 0.001 0.001"``.

Remedy
------
Write the scale that converts the unit of the mesh to metres, and remove one that is there twice.

References
----------
URDF: lengths are in metres.
"""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.mesh_units import meshes_in_another_unit
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    found = [
        Instance(
            odd.mesh.link,
            odd.mesh.origin,
            f"{odd.mesh.shape.mesh!r} of {odd.mesh.link!r} is {odd.size:.3g} m, "
            f"the robot around it {odd.around:.3g} m",
        )
        for odd in meshes_in_another_unit(scene)
    ]
    yield from joined_finding(
        __name__,
        SEVERITY,
        found,
        "meshes in another unit",
        help='write the scale that gives metres: scale="0.001 0.001 0.001" for millimetres',
    )
