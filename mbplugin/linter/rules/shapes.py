"""Rules about visual and collision shapes and their meshes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from mbplugin.analysis import Analysis
from mbplugin.linter.checks import Instance, joined_finding
from mbplugin.linter.checks.shapes import (
    ShownMesh,
    meshes_in_another_unit,
    overlaps,
    shown_meshes,
    written_solids,
)
from mbplugin.linter.checks.snapping import numbers, written_links
from mbplugin.linter.rule import Finding, Rule, Severity, body_place
from mbplugin.model import WORLD, Node, Request, Scene, rigid_groups
from mbplugin.readers.meshes import mesh_problem
from mbplugin.readers.paths import looked_up, package_is_known

_SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
}


class ImpossibleSize(Rule):
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

    code, name = "MB130", "impossible-size"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        found = [
            Instance(link.name, solid.origin, f"{solid.tag} of {link.name!r} ({wrong})")
            for link in written_links(scene)
            for solid in written_solids(link)
            for wrong in _wrongs(solid)
        ]
        yield from joined_finding(
            self,
            self.severity,
            found,
            "shapes whose size is zero or negative",
            help="write the size in metres, or remove the shape",
        )


def _wrongs(solid: Node) -> Iterator[str]:
    """Yield the sizes of a shape that are not positive, in words."""
    for name in _SIZES.get(solid.tag, ()):
        # a capsule of length zero is a valid sphere
        least = 0.0 if (solid.tag, name) == ("capsule", "length") else None
        if any(value < 0 or (value == 0 and least is None) for value in numbers(solid, name)):
            yield f"{name} {solid.get(name)}"


_ELSEWHERE = "is in a package that is not on this machine"


class MeshNotFound(Rule):
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

    code, name = "MB131", "mesh-not-found"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        if scene.request is None:
            return
        wrong: dict[str, tuple[ShownMesh, str]] = {}
        for mesh in shown_meshes(scene):
            if mesh.shape.mesh not in wrong and (why := _problem(mesh, scene.request)):
                wrong[mesh.shape.mesh] = (mesh, why)
        # certain errors come first
        found = sorted(wrong.values(), key=lambda item: item[1] == _ELSEWHERE)
        certain = any(why != _ELSEWHERE for _, why in found)
        yield from joined_finding(
            self,
            self.severity if certain else "note",
            [Instance(m.link, m.origin, f"{m.shape.mesh!r} of {m.link!r} {why}") for m, why in found],
            "meshes that cannot be read",
            help="correct the name, run git lfs pull, or state the folder with --package-dir",
        )


def _problem(mesh: ShownMesh, request: Request) -> str:
    """Return the problem with a mesh file; empty for none."""
    if mesh.path is not None:
        path = mesh.path
        return looked_up(("problem", path), lambda: mesh_problem(path))
    beside = replace(request, path=mesh.shape.beside, text=None) if mesh.shape.beside else request
    if "://" in mesh.shape.mesh and not mesh.shape.mesh.startswith("file:"):
        return "is missing" if package_is_known(mesh.shape.mesh, beside) else _ELSEWHERE
    return "is missing"


class MeshScale(Rule):
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

    code, name = "MB132", "mesh-scale"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        scaled = [
            (min(factors, key=abs), link, solid)
            for link in written_links(scene)
            for solid in written_solids(link)
            if solid.tag == "mesh"
            and (factors := numbers(solid, "scale"))
            and any(factor <= 0 for factor in factors)
        ]
        # meshes scaled by zero come first
        scaled.sort(key=lambda item: item[0] != 0)
        flat = any(smallest == 0 for smallest, _, _ in scaled)
        yield from joined_finding(
            self,
            self.severity if flat else "note",
            [
                Instance(link.name, solid.origin, f"{link.name!r} (scale {solid.get('scale')})")
                for _, link, solid in scaled
            ],
            "meshes scaled by zero or a negative factor",
            so="" if flat else "mirroring turns the surface inside out",
            help="write factors above zero, and export a mirrored mesh where one is meant",
        )


class MeshUnit(Rule):
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

    code, name = "MB133", "mesh-unit"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
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
            self,
            self.severity,
            found,
            "meshes in another unit",
            help='write the scale that gives metres: scale="0.001 0.001 0.001" for millimetres',
        )


class VisualWithoutCollision(Rule):
    """A moving link is visible and collides with nothing.

    What it does
    ------------
    In a model in which other links have collision shapes, lists the moving links with a visual shape and
    without a collision shape, unless a link fixed to them has one.

    Why it matters
    --------------
    The link passes through the ground, through objects and through the robot, without a message.

    Example
    -------
    A ``<link>`` with ``<visual>`` and no ``<collision>`` behind a revolute joint.

    Remedy
    ------
    Add a ``<collision>``, for example with the same geometry or with a box around it; ignore this where
    contact is not intended.

    References
    ----------
    URDF: ``<collision>`` is independent of ``<visual>``.
    """

    code, name = "MB134", "visual-without-collision"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        roles = {link: {shape.role for shape in shapes} for link, shapes in scene.shapes.items()}
        touching = {link for link, own in roles.items() if "collision" in own}
        if not touching:
            return
        groups = rigid_groups(scene.mechanism)
        # the first link carries the robot and often stands on something
        bodies = scene.mechanism.bodies
        root = groups[bodies[0].name if bodies else WORLD]
        found = [
            Instance(link, body_place(scene, link), repr(link))
            for link, own in roles.items()
            if link in groups and not groups[link] & (touching | {WORLD} | root) and "visual" in own
        ]
        yield from joined_finding(
            self,
            self.severity,
            found,
            "moving links with a visual and no collision shape",
            help="add a <collision> to each, or ignore this where contact is not intended",
        )


#: Overlaps up to this depth may come from rounded lengths and collision margins of engines, m.
_DEPTH = 2e-3


class OverlappingLinks(Rule):
    """Links overlap at the pose of the file.

    What it does
    ------------
    Lists pairs of links whose collision shapes lie in each other by more than 2 mm at the pose of the file, with
    its loops closed. Meshes count as their convex hulls. Passes over links that a joint or fixed joints join, and
    pairs that the SRDF beside the file disables. Off by default, because it starts PyBullet: ``--collisions``.

    Why it matters
    --------------
    An engine with self-collision pushes the links apart in the first step, so that the robot jumps; a planner
    reports a start state in collision.

    Example
    -------
    A gripper whose fingers have boxes that meet at the zero pose.

    Remedy
    ------
    Correct the shapes or their origins, start from another pose, or disable the pair in the SRDF.

    References
    ----------
    PyBullet: getClosestPoints; PyBullet and MuJoCo take the convex hull of a mesh. SRDF: disable_collisions.
    """

    code, name = "MB135", "overlapping-links"
    severity: Severity = "warning"
    opt_in = True

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        q = scene.state.q if analysis is None else analysis.q
        yield from joined_finding(
            self,
            self.severity,
            [
                Instance(
                    overlap.link_b,
                    body_place(scene, overlap.link_b),
                    f"{overlap.link_a!r} and {overlap.link_b!r} ({1e3 * overlap.depth:.3g} mm)",
                )
                for overlap in overlaps(scene, q)
                if overlap.depth > _DEPTH
            ],
            "links overlap at the pose of the file",
            help="correct the shapes or their origins, or disable the pair in the SRDF",
        )
