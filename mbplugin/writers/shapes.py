"""Shapes of bodies as a format holds them: where the mesh of each is, and what has no place there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mbplugin.errors import MbPluginError
from mbplugin.files import read_bounded, seen_from
from mbplugin.model.mechanism import WORLD
from mbplugin.model.scene import Request, Scene, Shape
from mbplugin.model.spatial import Array, Pose
from mbplugin.phrases import counted, listed
from mbplugin.readers import format_name
from mbplugin.readers.meshes import LARGEST_FILE, UnusableMesh, mesh_path, read_triangles
from mbplugin.writers.written import Loss

#: The kinds of shapes of each format. A capsule of a URDF is a cylinder between two balls: ROS has no other.
_KINDS = {
    "scene": frozenset(("box", "sphere", "cylinder", "capsule", "plane", "mesh", "hull")),
    "mjcf": frozenset(("box", "sphere", "cylinder", "capsule", "plane", "mesh", "hull")),
    "sdf": frozenset(("box", "sphere", "cylinder", "capsule", "plane", "mesh")),
    "urdf": frozenset(("box", "sphere", "cylinder", "capsule", "mesh")),
    "usd": frozenset(("box", "sphere", "cylinder", "capsule", "mesh")),
}
#: The beginning of names of meshes that each format keeps as they are.
_KEPT = {"urdf": "package://", "sdf": "model://"}
#: Formats that hold the triangles of a mesh themselves, where its file is of no use to them.
_WITH_TRIANGLES = ("mjcf", "usd")
#: Formats whose models have no place for shapes of the ground.
_WITHOUT_GROUND = ("sdf", "usd")
#: Vertices of all meshes that are written into one file: some tens of megabytes.
_MOST_VERTICES = 400_000
#: MuJoCo's own bound on the triangles of a mesh in an STL file.
_MOST_IN_STL = 200_000
#: Of a mesh, in MuJoCo.
_LEAST_VERTICES = 4
#: A mesh that is flatter than this has no hull, relative to its size.
_FLAT = 1e-6
Triangles = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape as it is written.

    Parameters
    ----------
    seen, touches : bool
        What the shape is there for.
    kind : str
        As of :class:`mbplugin.model.scene.Shape`; ``mesh`` with a file or with triangles.
    size : tuple of float
        m; scale factors for a mesh.
    X_LS : Pose
        In the frame of the link.
    rgba : tuple of float
        Colour and opacity, 0 to 1; empty where none is stated.
    file : str
        Of a mesh, seen from the folder of the model; empty where it is written as triangles.
    vertices : (n, 3) array, optional
        In the unit of the mesh, before its scale, where it was read.
    faces : (m, 3) array of int, optional
        Corners of its triangles; the hull of points has none.
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
    """Yield what is seen and then what touches, for formats in which these are two elements."""
    known = tuple(solids)
    yield from (("visual", solid) for solid in known if solid.seen)
    yield from (("collision", solid) for solid in known if solid.touches)


@dataclass(eq=False)
class Solids:
    """The shapes of a scene as one format holds them.

    Parameters
    ----------
    of_body : dict of body name to tuple of Solid
    losses : list of Loss
    held : list of str
        What is written in another way, one clause each.
    """

    of_body: dict[str, tuple[Solid, ...]] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    held: list[str] = field(default_factory=list)

    @property
    def touches(self) -> bool:
        """Whether some shape is there for contact."""
        return any(solid.touches for own in self.of_body.values() for solid in own)

    def names_from(self, scene: Scene) -> Request | None:
        """Return for which file the names of meshes count from its folder; None where there are none."""
        named = any(solid.file for own in self.of_body.values() for solid in own)
        return scene.request if named else None


def solids_of(scene: Scene, format: str, standing: Collection[str] | None = None) -> Solids:
    """Return the shapes of a scene as a format holds them.

    Parameters
    ----------
    scene : Scene
    format : "mjcf", "sdf", "urdf" or "usd"
    standing : collection of str, optional
        The bodies that may have planes; default: all.
    """
    found, reading = Solids(), _Reading(scene, format, standing)
    for name, shapes in scene.shapes.items():
        if name == WORLD and shapes and format in _WITHOUT_GROUND:
            reading.lost[f"the ground is no part of a model in {format.upper()}"] = [name]
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
    """Return whether a scene was read from an MJCF file, which is looked into: ask once."""
    try:
        return scene.request is not None and format_name(scene.request) == "mjcf"
    except MbPluginError:
        # the file is gone since
        return False


@dataclass(eq=False)
class _Reading:
    """What was found of meshes so far: each file is read once.

    Parameters
    ----------
    lost : dict of str to list of str
        Why shapes are lost, and those of which bodies.
    written_out : dict of str to None
        Names of meshes that are written as triangles.
    not_found : dict of str to None
        Names of meshes without a file here, which are written as they are.
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
        """Yield a shape as the format has it: one solid, or several for a capsule of a URDF."""
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
        """Return why a shape has no place in the format; empty where it has one."""
        if shape.kind not in _KINDS[self.format]:
            return f"a {shape.kind}, which is not written as {self.format.upper()}"
        if shape.kind == "plane" and self.standing is not None and body not in self.standing:
            return f"{self.format.upper()} has planes only on bodies that stand still"
        if shape.kind == "hull" and self.format == "mjcf" and _is_flat(np.array(shape.points)):
            return "a flat hull, which MuJoCo does not have"
        if not np.isfinite(shape.size).all():
            return f"the size of a {shape.kind} is no number"
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
        """Return the vertices and triangles of a mesh, or why it is not written."""
        if shape.triangles is not None:
            # told apart by the array, which lives as long as the scene
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
        """Return the vertices and triangles of a mesh, or why it cannot be written."""
        try:
            vertices, faces = read_triangles(path, LARGEST_FILE)
        except UnusableMesh as error:
            return str(error)
        return self._checked(vertices, faces, counts=not (self.format == "mjcf" and _is_for_mujoco(path)))

    def _checked(self, vertices: Array, faces: Triangles, *, counts: bool) -> tuple[Array, Triangles] | str:
        """Return triangles, ``faces`` (m, 3), and their ``vertices`` (n, 3), or what is wrong with them."""
        if not len(faces):
            return "has no triangle"
        if self.format == "mjcf" and len(vertices) < _LEAST_VERTICES:
            return f"has {len(vertices)} vertices, and MuJoCo needs {_LEAST_VERTICES}"
        self._count += counts * len(vertices)
        if self._count > _MOST_VERTICES:
            return f"would make a file with more than {_MOST_VERTICES} vertices"
        return vertices, faces


def _is_for_mujoco(path: str) -> bool:
    """Return whether MuJoCo reads a mesh file: OBJ, and binary STL up to a number of triangles."""
    kind = Path(path).suffix.lower()
    if kind == ".obj":
        return True
    if kind != ".stl":
        return False
    data = read_bounded(Path(path), LARGEST_FILE)
    count = int.from_bytes(data[80:84], "little")
    return len(data) == 84 + 50 * count and count <= _MOST_IN_STL


def _is_flat(vertices: Array) -> bool:
    """Return whether vertices (n, 3) lie in a plane, on a line or in a point."""
    centred = vertices - vertices.mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False) if len(vertices) > 3 else np.zeros(3)
    return bool(spread[-1] <= _FLAT * spread[0])
