"""Beam frames of flexible bodies, and beam sections estimated from slices of a link's shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model import Request, Shape
from mbplugin.model.spatial import AnyArray, Array, Pose, cross, make_read_only, shift_rows, shift_twists
from mbplugin.phrases import one_line_repr
from mbplugin.readers.meshes import UnusableMesh, mesh_path, read_mesh

if TYPE_CHECKING:
    from mbplugin.model.solids import Triangles

#: Points closer than this fraction of the frame's size, or of their coordinates, are one node.
_SAME, _ROUNDING = 1e-6, 1e-12
_POISSON = 0.3
#: Young's modulus (Pa) and Poisson's ratio of the materials a link may be assumed to be made of.
MATERIALS = {"steel": (210e9, 0.30), "aluminium": (70e9, 0.33)}
#: Stations at which a beam is sliced, as fractions of its length; ends are avoided as joint housings mislead.
STATIONS = (0.1, 0.3, 0.5, 0.7, 0.9)
#: A cut smaller than this fraction of the bounding box only grazes the end of a shape.
_GRAZED = 1e-6
#: Shapes thinner across a beam than this fraction of its length are surfaces, not solids.
_FLAT = 1e-6
#: Largest ratio of width to length of a beam; beyond it, its stiffnesses differ too much in magnitude.
WIDEST = 1e4
#: Sides of round shapes, and rings of each half ball of a capsule.
_SIDES, _RINGS = 64, 16
#: A mesh file larger than this (bytes) is left out: reading it takes too long for an estimate.
_LARGEST_FILE = 20_000_000


# A flexible body as a frame of straight Euler–Bernoulli beams, condensed to its attachments.
#
# Attachments on a line form one chain of beams; others are connected by one beam each to a hub at the
# body's centre of mass. Axes of a beam: x along the beam, z the link's z made perpendicular to x (the
# link's y for a beam along z), y = z × x; Iy is the second moment about y.


@dataclass(frozen=True)
class Section:
    """A beam section: E (Pa), A (m²), second moments Iy, Iz about the beam's y and z, J (m⁴), nu."""

    E: float
    A: float
    Iy: float
    Iz: float
    J: float
    nu: float = _POISSON

    @classmethod
    def checked(cls, body: str, values: Mapping[str, Any]) -> Section:
        """Return a stated section.

        Raises
        ------
        BadUsage
            A key is missing or unknown, or a number is not positive.
        """
        needed = ("E", "A", "Iy", "Iz", "J")
        wrong = [k for k in values if k not in (*needed, "nu")] + [k for k in needed if k not in values]
        wrong += [k for k in needed if k in values and not 0 < float(values[k]) < np.inf]
        nu = _POISSON if values.get("nu") is None else float(values["nu"])
        if wrong or not -1 < nu <= 0.5:
            raise BadUsage(
                f"the section of body {body!r} is wrong in {' '.join(wrong) or 'nu'}",
                expected="positive E (Pa), A (m²), Iy, Iz, J (m⁴) and optionally nu",
            )
        E, A, Iy, Iz, J = (float(values[k]) for k in needed)
        return cls(E, A, Iy, Iz, J, nu)

    def stiffness(self, L: float) -> Array:
        """Return the stiffness (12, 12) of a beam in its own axes, [u; θ] of either end."""
        K = np.zeros((12, 12))

        def pair(i: int, j: int, k: float) -> None:
            K[np.ix_((i, j), (i, j))] += k * np.array([[1, -1], [-1, 1]])

        pair(0, 6, self.E * self.A / L)
        pair(3, 9, self.E / (2 * (1 + self.nu)) * self.J / L)
        for v, r, EI, sign in ((1, 5, self.E * self.Iz, 1.0), (2, 4, self.E * self.Iy, -1.0)):
            s = sign * L
            K[np.ix_((v, r, v + 6, r + 6), (v, r, v + 6, r + 6))] += (EI / L**3) * np.array(
                [
                    [12, 6 * s, -12, 6 * s],
                    [6 * s, 4 * L * L, -6 * s, 2 * L * L],
                    [-12, -6 * s, 12, -6 * s],
                    [6 * s, 2 * L * L, -6 * s, 4 * L * L],
                ]
            )
        return K


@dataclass(frozen=True, eq=False)
class Layout:
    """Nodes and beams of a frame in the world.

    Parameters
    ----------
    nodes : (k, 3) array, m
    beams : tuple of (int, int, int)
        First node, second node, and index of the section.
    """

    nodes: Array
    beams: tuple[tuple[int, int, int], ...]

    def nearest(self, point: Array) -> tuple[Layout, int]:
        """Return the layout with a node at the point of the frame nearest to ``point`` (3,), m, and that node."""
        best, where, split = np.inf, 0, (0, 0.0)
        for number, (i, j, _) in enumerate(self.beams):
            along = self.nodes[j] - self.nodes[i]
            t = float(np.clip((point - self.nodes[i]) @ along / (along @ along), 0.0, 1.0))
            gap = float(np.linalg.norm(self.nodes[i] + t * along - point))
            if gap < best - _SAME * float(np.linalg.norm(along)):
                best, where, split = gap, number, (number, t)
        i, j, section = self.beams[where]
        t = split[1]
        if t <= _SAME or t >= 1 - _SAME:
            return self, i if t <= _SAME else j
        new = len(self.nodes)
        nodes = np.vstack((self.nodes, self.nodes[i] + t * (self.nodes[j] - self.nodes[i])))
        halves = ((i, new, section), (new, j, section))
        return Layout(nodes, (*self.beams[:where], *halves, *self.beams[where + 1 :])), new

    def lengths(self) -> Array:
        """Return the lengths (b,) of the b beams, m."""
        return np.array([np.linalg.norm(self.nodes[j] - self.nodes[i]) for i, j, _ in self.beams])


def lay_out(points: Array, center: Array) -> tuple[Layout, list[int]] | None:
    """Return the frame of a body with attachments at ``points`` (n, 3), and the node of each.

    Beams to points that are not on one line meet at ``center`` (3,); m, world axes. None if all attachments are
    at one point: no self-stress can bend such a body.
    """
    size, near_to = _size_and_nearness(points)
    nodes: list[Array] = []
    at = []
    for p in points:
        near = [k for k, n in enumerate(nodes) if np.linalg.norm(n - p) <= near_to]
        at.append(near[0] if near else len(nodes))
        if not near:
            nodes.append(p)
    if len(nodes) < 2:
        return None
    X = np.array(nodes)
    _, sigma, Vt = np.linalg.svd(X - X.mean(axis=0))
    if len(sigma) < 2 or sigma[1] <= _SAME * sigma[0]:
        order = np.argsort((X - X.mean(axis=0)) @ Vt[0])
        chain = list(zip(order[:-1].tolist(), order[1:].tolist(), strict=True))
        return Layout(X, tuple((i, j, k) for k, (i, j) in enumerate(chain))), at
    at_hub = [k for k in range(len(X)) if np.linalg.norm(X[k] - center) <= _SAME * size]
    hub = at_hub[0] if at_hub else len(X)
    X = X if at_hub else np.vstack((X, center))
    spokes = [k for k in range(len(nodes)) if k != hub]
    return Layout(X, tuple((hub, k, number) for number, k in enumerate(spokes))), at


def in_one_place(points: Array) -> bool:
    """Return True if attachments at ``points`` (n, 3), m, are at one place, so that :func:`lay_out` has no frame."""
    _, near_to = _size_and_nearness(points)
    return not len(points) or bool((np.linalg.norm(points - points[0], axis=1) <= near_to).all())


def _size_and_nearness(points: Array) -> tuple[float, float]:
    """Return the extent of points (n, 3), and the distance up to which two of them are one, m."""
    size = float(np.ptp(points, axis=0).max(initial=0.0)) if len(points) else 0.0
    return size, max(_SAME * size, _ROUNDING * float(np.abs(points).max(initial=0.0)))


def beam_axes(along: Array, R_WL: Array) -> Array:
    """Return the axes (3, 3) of a beam, columns x y z in the world; along (3,), any length, and R_WL (3, 3)."""
    x = along / np.linalg.norm(along)
    z = R_WL[:, 2] - (R_WL[:, 2] @ x) * x
    if np.linalg.norm(z) < 0.1:
        z = R_WL[:, 1] - (R_WL[:, 1] @ x) * x
    z = z / np.linalg.norm(z)
    return np.column_stack((x, cross(z, x), z))


def deflections(
    layout: Layout,
    sections: Sequence[Section],
    R_WL: Array,
    line_load: Array,
    wrenches: Sequence[tuple[int, Array]],
) -> tuple[Array, Array]:
    """Return the flexibility of all nodes (6k, 6k) and their displacement under load (6k,).

    The first node is clamped: forces on a free body are in equilibrium, so the clamp carries no load, and
    rigid-body motion opens no gap.

    Parameters
    ----------
    R_WL : (3, 3) array
        Orientation of the body.
    line_load : (3,) array
        Uniform load along all beams, N/m, world axes.
    wrenches : sequence of (node, (6,) array)
        Wrenches at the nodes, world axes.
    """
    size = 6 * len(layout.nodes)
    K, f = np.zeros((size, size)), np.zeros(size)
    for i, j, section in layout.beams:
        along = layout.nodes[j] - layout.nodes[i]
        L = float(np.linalg.norm(along))
        R = np.kron(np.eye(4), beam_axes(along, R_WL))
        dofs = np.r_[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
        K[np.ix_(dofs, dofs)] += R @ sections[section].stiffness(L) @ R.T
        # equivalent nodal forces of the uniform load
        end = L / 12 * cross(along, line_load)
        f[dofs] += np.concatenate((0.5 * L * line_load, end, 0.5 * L * line_load, -end))
    for node, wrench in wrenches:
        f[6 * node : 6 * node + 6] += wrench
    # scaled to a unit diagonal, so that metres and radians are inverted together
    unit = 1 / np.sqrt(np.diag(K)[6:])
    flexibility: Array = np.zeros((size, size))
    flexibility[6:, 6:] = np.linalg.inv(unit[:, None] * K[6:, 6:] * unit) * np.outer(unit, unit)
    flexibility = 0.5 * (flexibility + flexibility.T)
    return flexibility, flexibility @ f


def move_wrench(wrench: Array, from_point: Array, to_point: Array) -> Array:
    """Return a wrench (6,) at from_point (3,) about to_point (3,), m."""
    return shift_rows(wrench, from_point - to_point)


def carry_twist(from_point: Array, to_point: Array) -> Array:
    """Return the matrix (6, 6) that maps a displacement [u; θ] at from_point (3,) to one at to_point (3,), m."""
    return shift_twists(np.eye(6), to_point - from_point)


@one_line_repr
@dataclass(frozen=True)
class Estimate:
    """An estimated beam section, and the shapes it was estimated from.

    Parameters
    ----------
    beam : int
        Index of the beam in the body's frame.
    section : Section
        Harmonic means over the slices; J is Saint-Venant's A⁴/(4π² I_p) of a solid section.
    shapes : tuple of str
        The shapes that were sliced, with their role.
    length : float
        Length of the beam, m.
    stations : int
        Number of slices that cut the shapes; 0 means the section is that of their bounding box.
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
    """Return an estimate for each beam of a body's frame; None if no solid shape can be read.

    Parameters
    ----------
    shapes : sequence of Shape
        Shapes of the link; collision shapes are used if there are any, else visual ones.
    layout : Layout
        The body's frame in the world.
    X_WL : Pose
        The link frame.
    material : "steel" or "aluminium"
    """
    chosen = _chosen(shapes)
    meshes = [mesh for s in chosen if (mesh := _mesh_in_world(s, request, X_WL)) is not None]
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
        cuts = _slices(meshes, start, length * np.array(STATIONS), axes)
        slices = [s for s in cuts if s[0] > _GRAZED * box[0]]
        means = 1 / np.mean(1 / np.array(slices), axis=0) if slices else np.array(box)
        A, Iy, Iz = means.tolist()
        section = Section(E, A, Iy, Iz, A**4 / (4 * pi**2 * (Iy + Iz)), nu)
        out.append(Estimate(body, number, section, material, names, length, len(slices)))
    return tuple(out)


def left_out(body: str, shapes: Sequence[Shape], request: Request | None) -> str:
    """Return a sentence on meshes of a link that cannot be used for an estimate; empty if all can be read."""
    named = {
        f"mesh {s.mesh!r} {why}"
        for s in _chosen(shapes)
        if s.kind == "mesh" and isinstance(why := _mesh_of(s, request), str)
    }
    return f"no beam section of {body!r} is estimated from: {'; '.join(sorted(named))}" if named else ""


def _chosen(shapes: Sequence[Shape]) -> list[Shape]:
    return [s for s in shapes if s.role == "collision"] or [s for s in shapes if s.role == "visual"]


def _mesh_in_world(shape: Shape, request: Request | None, X_WL: Pose) -> Triangles | None:
    """Return the vertices in the world and the faces of a shape; None if it cannot be used."""
    found = _mesh_of(shape, request)
    if found is None or isinstance(found, str):
        return None
    X = X_WL @ shape.X_LS
    return np.asarray(found[0] @ X.R.T + X.p), found[1]


def _mesh_of(shape: Shape, request: Request | None) -> Triangles | str | None:
    """Return the vertices and faces in the axes of a shape; for an unusable mesh the reason, for other kinds None."""
    if shape.triangles is not None:
        return shape.triangles[0] * shape.size, np.array(shape.triangles[1])
    if shape.kind == "mesh":
        path = mesh_path(shape, request)
        return "cannot be found" if path is None else _read(path, tuple(shape.size))
    return _primitive(shape.kind, tuple(shape.size))


@lru_cache(maxsize=128)
def _primitive(kind: str, size: tuple[float, ...]) -> Triangles | None:
    """Return the vertices and faces of a box, sphere, cylinder or capsule; None for other kinds."""
    from mbplugin.model.solids import box_triangles, capsule_triangles, cylinder_triangles, unit_ball

    # edges of 1e30 overflow, and such a shape encloses nothing
    with np.errstate(all="ignore"):
        match kind, size:
            case "box", (x, y, z):
                found = box_triangles(x, y, z)
            case "sphere", (radius,):
                unit = unit_ball(3)
                found = unit[0] * radius, unit[1]
            case "cylinder", (radius, length):
                found = cylinder_triangles(radius, length, _SIDES)
            case "capsule", (radius, length):
                found = capsule_triangles(radius, length, _SIDES, _RINGS)
            case _:
                return None
    make_read_only(*found)
    return found


@lru_cache(maxsize=128)
def _read(path: str, scale: tuple[float, ...]) -> Triangles | str:
    try:
        return read_mesh(path, scale, _LARGEST_FILE)
    except UnusableMesh as error:
        return str(error)


def _slices(
    meshes: Sequence[Triangles], start: Array, stations: Array, axes: Array
) -> list[tuple[float, float, float]]:
    """Return A, Iy, Iz of the cuts across a beam at stations (s,), m, about each cut's centroid; those with an area.

    ``start`` (3,) is in m, and x of ``axes`` (3, 3) is along the beam. The shapes' boundaries are assumed to be
    oriented, with outward normals on the right of the outline.
    """
    total = np.zeros((6, len(stations)))
    for vertices, faces in meshes:
        segments, of = _outlines(((vertices - start) @ axes)[faces], stations)
        for k, moment in enumerate(_moments(segments)):
            total[k] += np.bincount(of, moment, len(stations))
    found = []
    for A, Sy, Sz, yy, zz, _ in total.T.tolist():
        if A > 0:
            # about the centroid: Iy = ∫ z², Iz = ∫ y²
            Iy, Iz = zz - Sz * Sz / A, yy - Sy * Sy / A
            if Iy > 0 and Iz > 0:
                found.append((A, Iy, Iz))
    return found


def _outlines(corners: Array, stations: Array) -> tuple[Array, AnyArray]:
    """Return the segments (k, 2, 2) in which planes of constant x cut triangles, and the plane (k,) of each.

    Corners are ``corners`` (t, 3, 3), m, and x of the planes is ``stations`` (s,). Segments are counter-clockwise.
    """
    x = corners[:, :, 0] - stations[:, None, None]
    # a vertex in the plane counts as in front of it, so that no edge is met twice
    front = x >= 0
    station, face = np.nonzero(front.any(axis=2) & ~front.all(axis=2))
    here, front, x = corners[face], front[station, face], x[station, face]
    # rotate each face so that the corner alone on its side comes first
    alone = np.where(front.sum(axis=1) == 1, front.argmax(axis=1), (~front).argmax(axis=1))
    turn = (alone[:, None] + np.arange(3)) % 3
    P = np.take_along_axis(here, turn[:, :, None], axis=1)
    X = np.take_along_axis(x, turn, axis=1)
    ends = []
    for other in (1, 2):
        t = (X[:, 0] / (X[:, 0] - X[:, other]))[:, None]
        ends.append((P[:, 0] + t * (P[:, other] - P[:, 0]))[:, 1:])
    segments = np.stack(ends, axis=1)
    lone_behind = X[:, 0] < 0
    segments[lone_behind] = segments[lone_behind][:, ::-1]
    return segments, station


def _moments(segments: Array) -> Array:
    """Return each segment's share (6, k) of ∫ 1, y, z, y², z², yz over the area inside segments (k, 2, 2) (Green)."""
    (y0, z0), (y1, z1) = segments[:, 0].T, segments[:, 1].T
    c = y0 * z1 - y1 * z0
    return np.array(
        [
            c / 2,
            (y0 + y1) * c / 6,
            (z0 + z1) * c / 6,
            (y0 * y0 + y0 * y1 + y1 * y1) * c / 12,
            (z0 * z0 + z0 * z1 + z1 * z1) * c / 12,
            (y0 * z1 + 2 * y0 * z0 + 2 * y1 * z1 + y1 * z0) * c / 24,
        ]
    )


def _box(meshes: Sequence[Triangles], axes: Array, thinnest: float) -> tuple[float, float, float] | None:
    """Return A, Iy, Iz of the shapes' bounding box across a beam; None if it is no thicker than ``thinnest``, m.

    x of ``axes`` (3, 3) is along the beam.
    """
    local = np.vstack([vertices for vertices, _ in meshes]) @ axes
    y, z = np.ptp(local[:, 1:], axis=0)
    if min(y, z) <= thinnest:
        return None
    return float(y * z), float(y * z**3 / 12), float(z * y**3 / 12)
