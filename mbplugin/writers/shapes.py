"""Shapes of bodies in the form of each format: the location of meshes, and shapes that the format cannot state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mbplugin.errors import MbPluginError
from mbplugin.files import read_bounded, seen_from
from mbplugin.model import WORLD, Array, Pose, Request, Scene, Shape
from mbplugin.phrases import counted, listed
from mbplugin.readers import format_name
from mbplugin.readers.meshes import LARGEST_FILE, UnusableMesh, mesh_path, read_triangles
from mbplugin.writers.written import Loss

#: Kinds of shapes by format. In a URDF a capsule is written as a cylinder and two balls, since ROS has no capsule.
_KINDS = {
    "scene": frozenset(("box", "sphere", "cylinder", "capsule", "plane", "mesh", "hull")),
    "mjcf": frozenset(("box", "sphere", "cylinder", "capsule", "plane", "mesh", "hull")),
    "sdf": frozenset(("box", "sphere", "cylinder", "capsule", "plane", "mesh")),
    "urdf": frozenset(("box", "sphere", "cylinder", "capsule", "mesh")),
    "usd": frozenset(("box", "sphere", "cylinder", "capsule", "mesh")),
}
#: Prefix of mesh names that are written unchanged, by format.
_KEPT = {"urdf": "package://", "sdf": "model://"}
#: Formats that can contain the triangles of a mesh whose file they cannot use.
_WITH_TRIANGLES = ("mjcf", "usd")
#: Formats in which a model has no shapes of the ground.
_WITHOUT_GROUND = ("sdf", "usd")
#: Maximum number of vertices of all meshes written into one file: some tens of megabytes.
_MOST_VERTICES = 400_000
#: MuJoCo's bound on the triangles of a mesh in an STL file.
_MOST_IN_STL = 200_000
#: Minimum number of vertices of a mesh in MuJoCo.
_LEAST_VERTICES = 4
#: A mesh flatter than this, relative to its size, has no hull.
_FLAT = 1e-6
Triangles = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape in the form in which it is written.

    Parameters
    ----------
    seen, touches : bool
        Roles of the shape: visual and collision.
    kind : str
        As in :class:`mbplugin.model.scene.Shape`; ``mesh`` with a file or with triangles.
    size : tuple of float
        Dimensions, m; scale factors for a mesh.
    X_LS : Pose
        Pose in the link frame.
    rgba : tuple of float
        Colour and opacity, 0 to 1; empty if none is stated.
    file : str
        File of a mesh, relative to the folder of the model; empty if the triangles are written.
    vertices : (n, 3) array, optional
        Vertices in the unit of the mesh, before scaling, if the mesh was read.
    faces : (m, 3) array of int, optional
        Vertex indices of the triangles; None for the hull of points.
    """

    seen: bool
    touches: bool
    kind: str
    size: tuple[float, ...]
    X_LS: Pose
    rgba: tuple[float, ...] = ()
    file: str = ""
    vertices: Array | None = None
    faces: Triangles | None = None


def in_roles(solids: Iterable[Solid]) -> Iterator[tuple[Literal["visual", "collision"], Solid]]:
    """Yield the visual shapes and then the collision shapes, for formats in which these are separate elements."""
    known = tuple(solids)
    yield from (("visual", solid) for solid in known if solid.seen)
    yield from (("collision", solid) for solid in known if solid.touches)


@dataclass(eq=False)
class Solids:
    """The shapes of a scene in the form of one format.

    Parameters
    ----------
    of_body : dict of body name to tuple of Solid
    losses : list of Loss
    held : list of str
        Shapes that are written in an equivalent form, one clause each.
    """

    of_body: dict[str, tuple[Solid, ...]] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    held: list[str] = field(default_factory=list)

    @property
    def touches(self) -> bool:
        """True if there is a collision shape."""
        return any(solid.touches for own in self.of_body.values() for solid in own)

    def names_from(self, scene: Scene) -> Request | None:
        """Return the request of the file to whose folder mesh names are relative; None if there are no names."""
        named = any(solid.file for own in self.of_body.values() for solid in own)
        return scene.request if named else None


def solids_of(scene: Scene, format: str, standing: Collection[str] | None = None) -> Solids:
    """Return the shapes of a scene in the form of a format.

    Parameters
    ----------
    scene : Scene
    format : "mjcf", "sdf", "urdf", "usd" or "scene"
    standing : collection of str, optional
        The bodies that may have planes; default: all.
    """
    found, reading = Solids(), _Reading(scene, format, standing)
    for name, shapes in scene.shapes.items():
        if name == WORLD and shapes and format in _WITHOUT_GROUND:
            reading.lost[f"the ground is not part of a model in {format.upper()}"] = [name]
            continue
        found.of_body[name] = tuple(solid for shape in shapes for solid in reading.solids(name, shape))
    found.losses += [
        Loss("shape", f"shapes of {listed(names)}: {why}") for why, names in reading.lost.items()
    ]
    if reading.written_out:
        meshes = counted(len(reading.written_out), "mesh", "meshes")
        found.held.append(f"{meshes} as triangles in the file: {listed(list(reading.written_out))}")
    if reading.not_found:
        found.held.append(f"names of meshes that are not found here: {listed(list(reading.not_found))}")
    if format == "urdf" and any(shape.kind == "capsule" for own in scene.shapes.values() for shape in own):
        found.held.append("capsules as cylinders between two balls")
    if any(solid.seen for own in found.of_body.values() for solid in own):
        found.held.append("shapes keep their colours, not their textures and other materials")
    return found


def is_mjcf(scene: Scene) -> bool:
    """Return True if a scene was read from an MJCF file; call it once, since it opens the file."""
    try:
        return scene.request is not None and format_name(scene.request) == "mjcf"
    except MbPluginError:
        # the file was deleted since
        return False


@dataclass(eq=False)
class _Reading:
    """Conversion of the shapes of a scene, with meshes cached so that each file is read once.

    Parameters
    ----------
    lost : dict of str to list of str
        Reasons why shapes are lost, with the bodies concerned.
    written_out : dict of str to None
        Names of meshes that are written as triangles.
    not_found : dict of str to None
        Names of meshes whose file is not found, which are written unchanged.
    """

    scene: Scene
    format: str
    standing: Collection[str] | None
    lost: dict[str, list[str]] = field(default_factory=dict)
    written_out: dict[str, None] = field(default_factory=dict)
    not_found: dict[str, None] = field(default_factory=dict)
    _triangles: dict[str, tuple[Array, Triangles] | str] = field(default_factory=dict)
    _count: int = 0

    def solids(self, body: str, shape: Shape) -> Iterator[Solid]:
        """Yield a shape in the form of the format: one solid, or several for a capsule in a URDF."""
        size, rgba, touches = shape.size, shape.rgba, shape.role == "collision"
        roles = (shape.seen or not touches, touches)
        problem = self._problem(body, shape)
        if problem:
            self._lose(body, problem)
        elif shape.kind == "mesh":
            yield from self._mesh(body, shape, roles)
        elif shape.kind == "hull":
            yield Solid(*roles, "mesh", (1.0, 1.0, 1.0), shape.X_LS, rgba, vertices=np.array(shape.points))
        elif shape.kind == "capsule" and self.format == "urdf":
            radius, length = size
            yield Solid(*roles, "cylinder", size, shape.X_LS, rgba)
            for z in (-length / 2, length / 2):
                X_LE = shape.X_LS @ Pose(np.eye(3), np.array([0.0, 0.0, z]))
                yield Solid(*roles, "sphere", (radius,), X_LE, rgba)
        else:
            yield Solid(*roles, shape.kind, size, shape.X_LS, rgba)

    def _lose(self, body: str, why: str) -> None:
        names = self.lost.setdefault(why, [])
        if body not in names:
            names.append(body)

    def _problem(self, body: str, shape: Shape) -> str:
        """Return the reason why the format cannot state a shape; empty if it can."""
        if shape.kind not in _KINDS[self.format]:
            return f"a {shape.kind}, which is not written as {self.format.upper()}"
        if shape.kind == "plane" and self.standing is not None and body not in self.standing:
            return f"{self.format.upper()} has planes only on bodies that stand still"
        if shape.kind == "hull" and self.format == "mjcf" and _is_flat(np.array(shape.points)):
            return "a flat hull, which MuJoCo does not have"
        if not np.isfinite(shape.size).all():
            return f"the size of a {shape.kind} is not a number"
        if shape.kind not in ("plane", "hull") and not all(
            x != 0 if shape.kind == "mesh" else x > 0 for x in shape.size
        ):
            return f"a {shape.kind} of size {' '.join(f'{x:g}' for x in shape.size)}"
        return ""

    def _mesh(self, body: str, shape: Shape, roles: tuple[bool, bool]) -> Iterator[Solid]:
        scale, request = shape.size or (1.0, 1.0, 1.0), self.scene.request
        path = mesh_path(shape, request)
        name = shape.mesh
        if path is not None and not name.startswith(_KEPT.get(self.format, "\0")):
            name = seen_from(request.folder, path) if request is not None else path
        if self.format not in _WITH_TRIANGLES:
            if not name:
                self._lose(
                    body,
                    f"a mesh without a file, and {self.format.upper()} holds names of files only",
                )
                return
            if path is None and self.format == "scene":
                self._lose(body, f"the mesh {name!r} is not found, without which no scene is read")
                return
            if path is None:
                self.not_found[name] = None
            yield Solid(*roles, "mesh", scale, shape.X_LS, shape.rgba, name)
            return
        found = self._triangles_of(shape, path)
        if isinstance(found, str):
            self._lose(body, found)
            return
        if self.format == "mjcf" and shape.role == "collision" and _is_flat(found[0]):
            self._lose(body, f"the mesh {shape.mesh!r} is flat, and MuJoCo has no contact of such a mesh")
            return
        if self.format == "mjcf" and path is not None and _is_for_mujoco(path):
            yield Solid(*roles, "mesh", scale, shape.X_LS, shape.rgba, name, *found)
            return
        self.written_out[shape.mesh or "those without a file"] = None
        yield Solid(*roles, "mesh", scale, shape.X_LS, shape.rgba, "", *found)

    def _triangles_of(self, shape: Shape, path: str | None) -> tuple[Array, Triangles] | str:
        """Return the vertices and triangles of a mesh, or the reason why it is not written."""
        if shape.triangles is not None:
            # the id of the array is a valid key, since the array exists as long as the scene
            key = str(id(shape.triangles[0]))
            if key not in self._triangles:
                self._triangles[key] = self._checked(*shape.triangles, counts=True)
            found = self._triangles[key]
            return f"a mesh that {found}" if isinstance(found, str) else found
        if path is None:
            return (
                f"the mesh {shape.mesh!r} is not found" if shape.mesh else "a mesh without a file of its own"
            )
        if path not in self._triangles:
            self._triangles[path] = self._read(path)
        found = self._triangles[path]
        return f"the mesh {shape.mesh!r} {found}" if isinstance(found, str) else found

    def _read(self, path: str) -> tuple[Array, Triangles] | str:
        """Return the vertices and triangles of a mesh file, or the reason why it cannot be written."""
        try:
            vertices, faces = read_triangles(path, LARGEST_FILE)
        except UnusableMesh as error:
            return str(error)
        return self._checked(vertices, faces, counts=not (self.format == "mjcf" and _is_for_mujoco(path)))

    def _checked(self, vertices: Array, faces: Triangles, *, counts: bool) -> tuple[Array, Triangles] | str:
        """Return ``vertices`` (n, 3) and triangles ``faces`` (m, 3), or the reason why they cannot be written."""
        if not len(faces):
            return "has no triangle"
        if self.format == "mjcf" and len(vertices) < _LEAST_VERTICES:
            return f"has {len(vertices)} vertices, and MuJoCo needs {_LEAST_VERTICES}"
        self._count += counts * len(vertices)
        if self._count > _MOST_VERTICES:
            return f"would make a file with more than {_MOST_VERTICES} vertices"
        return vertices, faces


def _is_for_mujoco(path: str) -> bool:
    """Return True if MuJoCo reads a mesh file: OBJ, or binary STL with a limited number of triangles."""
    kind = Path(path).suffix.lower()
    if kind == ".obj":
        return True
    if kind != ".stl":
        return False
    data = read_bounded(Path(path), LARGEST_FILE)
    count = int.from_bytes(data[80:84], "little")
    return len(data) == 84 + 50 * count and count <= _MOST_IN_STL


def _is_flat(vertices: Array) -> bool:
    """Return True if vertices (n, 3) are coplanar, collinear or coincident."""
    centred = vertices - vertices.mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False) if len(vertices) > 3 else np.zeros(3)
    return bool(spread[-1] <= _FLAT * spread[0])
