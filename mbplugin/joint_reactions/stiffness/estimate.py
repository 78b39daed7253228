"""Beam sections estimated from a link's shapes: slices across the line between its joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import pi
from typing import Any

import numpy as np

from mbplugin.joint_reactions.stiffness.beams import Layout, Section, beam_axes
from mbplugin.model.scene import Request, Shape
from mbplugin.model.spatial import Array, Pose
from mbplugin.phrases import one_line_repr
from mbplugin.readers.meshes.checks import UnusableMesh
from mbplugin.readers.meshes.named import mesh_path, read_mesh

#: Young's modulus (Pa) and Poisson's ratio of the materials a link may be assumed to be made of.
MATERIALS = {"steel": (210e9, 0.30), "aluminium": (70e9, 0.33)}
#: Where a beam is sliced, as fractions of its length: a joint's housing at the end says little.
STATIONS = (0.1, 0.3, 0.5, 0.7, 0.9)
#: A cut smaller than this part of the bounding box only grazes the end of a shape.
_GRAZED = 1e-6
#: Shapes thinner across a beam than this part of the beam's length are surfaces, not solids.
_FLAT = 1e-6
#: Beyond this many times its length a beam is so wide that its stiffnesses have no common scale.
WIDEST = 1e4
#: A mesh larger than this is left out: reading it would cost more time than an estimate is worth.
_LARGEST_FILE = 20_000_000


@one_line_repr
@dataclass(frozen=True)
class Estimate:
    """A beam section that nobody stated, and what it was made of.

    Parameters
    ----------
    beam : int
        Which beam of the body's frame.
    section : Section
        Harmonic means over the slices; J is Saint-Venant's A⁴/(4π² I_p) of a solid section.
    shapes : tuple of str
        The shapes that were sliced, with their role.
    length : float
        Of the beam, m.
    stations : int
        How many slices met the shapes; 0 means the section is that of their bounding box.
    """

    body: str
    beam: int
    section: Section
    material: str
    shapes: tuple[str, ...]
    length: float
    stations: int


def estimated_sections(
    body: str, shapes: Sequence[Shape], request: Request | None, layout: Layout, X_WL: Pose, material: str
) -> tuple[Estimate, ...] | None:
    """Return an estimate for each beam of a body's frame; None where no solid shape can be read.

    Parameters
    ----------
    shapes : sequence of Shape
        Of the link; collision shapes are used where there are any, else visual ones.
    layout : Layout
        The body's frame in the world.
    X_WL : Pose
        The link frame.
    material : "steel" or "aluminium"
    """
    chosen = _chosen(shapes)
    meshes = [mesh for s in chosen if (mesh := _placed(s, request, X_WL)) is not None]
    if not meshes:
        return None
    E, nu = MATERIALS[material]
    names = tuple(f"{s.role} {s.mesh or s.kind}" for s in chosen)
    out = []
    for number, (i, j, _) in enumerate(layout.beams):
        start, along = layout.nodes[i], layout.nodes[j] - layout.nodes[i]
        axes = beam_axes(along, X_WL.R)
        length = float(np.linalg.norm(along))
        box = _box(meshes, axes, _FLAT * length)
        if box is None:
            return None
        cuts = [s for t in STATIONS if (s := _slice(meshes, start + t * along, axes)) is not None]
        slices = [s for s in cuts if s[0] > _GRAZED * box[0]]
        means = 1 / np.mean(1 / np.array(slices), axis=0) if slices else np.array(box)
        A, Iy, Iz = means.tolist()
        section = Section(E, A, Iy, Iz, A**4 / (4 * pi**2 * (Iy + Iz)), nu)
        out.append(Estimate(body, number, section, material, names, length, len(slices)))
    return tuple(out)


def left_out(body: str, shapes: Sequence[Shape], request: Request | None) -> str:
    """Return why shapes of a link enter no estimate, as a sentence; empty where all of them can be read."""
    named = {
        f"mesh {s.mesh!r} {why}"
        for s in _chosen(shapes)
        if s.kind == "mesh" and isinstance(why := _mesh_of(s, request), str)
    }
    return f"no beam section of {body!r} is estimated from: {'; '.join(sorted(named))}" if named else ""


def _chosen(shapes: Sequence[Shape]) -> list[Shape]:
    return [s for s in shapes if s.role == "collision"] or [s for s in shapes if s.role == "visual"]


def _placed(shape: Shape, request: Request | None, X_WL: Pose) -> tuple[Array, Array] | None:
    """Return vertices in the world and faces of a shape."""
    found = _mesh_of(shape, request)
    if found is None or isinstance(found, str):
        return None
    X = X_WL @ shape.X_LS
    return np.asarray(found[0] @ X.R.T + X.p), found[1]


def _mesh_of(shape: Shape, request: Request | None) -> tuple[Array, Array] | str | None:
    """Return vertices and faces in the axes of a shape; of a mesh that is not used, why."""
    if shape.kind == "mesh":
        path = mesh_path(shape, request)
        return "cannot be found" if path is None else _read(path, tuple(shape.size))
    import trimesh

    makers: dict[str, Any] = {
        "box": lambda: trimesh.creation.box(shape.size),
        # a radius of 1e-300 has no square
        "sphere": lambda: trimesh.creation.icosphere(3).apply_scale(shape.size[0]),
        "cylinder": lambda: trimesh.creation.cylinder(shape.size[0], shape.size[1], sections=64),
        "capsule": lambda: trimesh.creation.capsule(shape.size[1], shape.size[0]),
    }
    if shape.kind not in makers:
        return None
    # edges of 1e30 overflow in there, and then enclose nothing
    with np.errstate(all="ignore"):
        mesh = makers[shape.kind]()
    vertices = np.array(mesh.vertices, dtype=float)
    if shape.kind == "capsule":
        # whichever end trimesh starts from, ours is in the middle
        vertices[:, 2] -= 0.5 * (vertices[:, 2].max() + vertices[:, 2].min())
    return vertices, np.array(mesh.faces)


@lru_cache(maxsize=128)
def _read(path: str, scale: tuple[float, ...]) -> tuple[Array, Array] | str:
    try:
        mesh: Any = read_mesh(path, scale, _LARGEST_FILE)
    except UnusableMesh as error:
        return str(error)
    return np.array(mesh.vertices, dtype=float), np.array(mesh.faces)


def _slice(
    meshes: Sequence[tuple[Array, Array]], point: Array, axes: Array
) -> tuple[float, float, float] | None:
    """Return A, Iy, Iz of the cut across a beam at a point, about the cut's centroid.

    The ``point`` (3,) is in m, and x of ``axes`` (3, 3) is along the beam. The shapes' boundaries are taken
    as oriented: outward normals on the right of the outline.
    """
    total = np.zeros(6)
    for vertices, faces in meshes:
        outline = _outline((vertices - point) @ axes, faces)
        if outline is not None:
            total += _moments(outline)
    A, Sy, Sz, yy, zz, _ = total
    if A <= 0:
        return None
    # about the centroid: Iy = ∫ z², Iz = ∫ y²
    Iy, Iz = zz - Sz * Sz / A, yy - Sy * Sy / A
    return (float(A), float(Iy), float(Iz)) if Iy > 0 and Iz > 0 else None


def _outline(local: Array, faces: Array) -> Array | None:
    """Return the segments (k, 2, 2) in which the plane x = 0 cuts triangles, counter-clockwise.

    Their corners are ``local`` (n, 3), m, by ``faces`` (t, 3).
    """
    x = local[faces][:, :, 0]
    # a vertex in the plane counts as in front of it, so that no edge is met twice
    front = x >= 0
    cut = front.any(axis=1) & ~front.all(axis=1)
    if not cut.any():
        return None
    corners, front, x = local[faces[cut]], front[cut], x[cut]
    # the corner that is alone on its side comes first, in the order of the face
    alone = np.where(front.sum(axis=1) == 1, front.argmax(axis=1), (~front).argmax(axis=1))
    turn = (alone[:, None] + np.arange(3)) % 3
    P = np.take_along_axis(corners, turn[:, :, None], axis=1)
    X = np.take_along_axis(x, turn, axis=1)
    ends = []
    for other in (1, 2):
        t = (X[:, 0] / (X[:, 0] - X[:, other]))[:, None]
        ends.append((P[:, 0] + t * (P[:, other] - P[:, 0]))[:, 1:])
    segments = np.stack(ends, axis=1)
    lone_behind = X[:, 0] < 0
    segments[lone_behind] = segments[lone_behind][:, ::-1]
    return segments


def _moments(segments: Array) -> Array:
    """Return ∫ 1, y, z, y², z², yz (6,) over the area inside an outline of segments (k, 2, 2) (Green's theorem)."""
    (y0, z0), (y1, z1) = segments[:, 0].T, segments[:, 1].T
    c = y0 * z1 - y1 * z0
    return np.array(
        [
            c.sum() / 2,
            ((y0 + y1) * c).sum() / 6,
            ((z0 + z1) * c).sum() / 6,
            ((y0 * y0 + y0 * y1 + y1 * y1) * c).sum() / 12,
            ((z0 * z0 + z0 * z1 + z1 * z1) * c).sum() / 12,
            ((y0 * z1 + 2 * y0 * z0 + 2 * y1 * z1 + y1 * z0) * c).sum() / 24,
        ]
    )


def _box(
    meshes: Sequence[tuple[Array, Array]], axes: Array, thinnest: float
) -> tuple[float, float, float] | None:
    """Return A, Iy, Iz of the shapes' bounding box across a beam; None below a thickness (m).

    x of ``axes`` (3, 3) is along the beam.
    """
    local = np.vstack([vertices for vertices, _ in meshes]) @ axes
    y, z = np.ptp(local[:, 1:], axis=0)
    if min(y, z) <= thinnest:
        return None
    return float(y * z), float(y * z**3 / 12), float(z * y**3 / 12)
