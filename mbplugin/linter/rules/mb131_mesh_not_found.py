"""A mesh file is missing or cannot be read.

What it does
------------
Lists the meshes that are in no folder where they are looked up, are empty, are cut short, or are Git LFS
pointers. It is a note if the package that a ``package://`` name refers to is not on this machine.

Why it matters
--------------
PyBullet does not load a file with one missing mesh. Others leave the shape out without a message:
nothing collides with the link, and inertias computed from shapes are wrong.

Example
-------
``<mesh filename="package://my_robot/meshes/arm.stl"/>`` where the file is ``meshes/Arm.STL``.

Remedy
------
Correct the name (case matters on Linux), run ``git lfs pull``, or state the folder with
``--package-dir``.

References
----------
PyBullet does not load a file of which a mesh is missing; the README describes the folders that are
searched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.shapes.shape_places import ShownMesh, shown_meshes
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Request, Scene
from mbplugin.readers.common.lookups import looked_up
from mbplugin.readers.common.paths import package_is_known
from mbplugin.readers.meshes.extent import mesh_problem

SEVERITY: Severity = "warning"
_ELSEWHERE = "is in a package that is not on this machine"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    if scene.request is None:
        return
    wrong: dict[str, tuple[ShownMesh, str]] = {}
    for mesh in shown_meshes(scene):
        if mesh.shape.mesh not in wrong and (why := _problem(mesh, scene.request)):
            wrong[mesh.shape.mesh] = (mesh, why)
    # what is certainly wrong comes first
    found = sorted(wrong.values(), key=lambda item: item[1] == _ELSEWHERE)
    certain = any(why != _ELSEWHERE for _, why in found)
    yield from joined_finding(
        __name__,
        SEVERITY if certain else "note",
        [Instance(m.link, m.origin, f"{m.shape.mesh!r} of {m.link!r} {why}") for m, why in found],
        "meshes that cannot be read",
        help="correct the name, run git lfs pull, or state the folder with --package-dir",
    )


def _problem(mesh: ShownMesh, request: Request) -> str:
    """Return what is wrong with the file of a mesh, or nothing."""
    if mesh.path is not None:
        path = mesh.path
        return looked_up(("problem", path), lambda: mesh_problem(path))
    beside = replace(request, path=mesh.shape.beside, text=None) if mesh.shape.beside else request
    if "://" in mesh.shape.mesh and not mesh.shape.mesh.startswith("file:"):
        return "is missing" if package_is_known(mesh.shape.mesh, beside) else _ELSEWHERE
    return "is missing"
