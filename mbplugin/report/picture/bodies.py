"""The drawing of each body (its shapes, or sticks between its joints and its centre of mass), and of each joint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mbplugin.model import LARGEST, BodyPoses, Pair, Request, Scene, Shape, rigid_groups, solids
from mbplugin.model.mechanism import WORLD, KnifeEdge, Mechanism, Pfaffian, Rolling
from mbplugin.model.spatial import AnyArray, Array, Pose, align_z, make_read_only
from mbplugin.readers.meshes import UnusableMesh, mesh_path, read_triangles

#: Maximum number of triangles of all mesh files of a picture together, shared equally.
FACES = 120_000
#: Edge length of the box that represents an infinite plane, m.
_PLANE = 10.0
#: Sides of round shapes.
_SOLIDS_SIDES = 20
#: Rings of each half ball of a capsule.
_RINGS = 6
#: Sides of the bars of a stick figure; fewer, as there may be thousands of bars.
_SIDES = 10
_ALONG_X = align_z(np.array([1.0, 0.0, 0.0]))
_ALONG_Y = align_z(np.array([0.0, 1.0, 0.0]))


# The shapes of a link as triangles; shapes that cannot be drawn are named.


class NotShown(Exception):
    """A shape cannot be drawn; the message says why."""


def chosen(shapes: Iterable[Shape]) -> tuple[tuple[Shape, ...], ...]:
    """Return the candidate sets of shapes to draw: the visual shapes, then the collision shapes as a fallback."""
    known = tuple(shapes)
    by_role = (tuple(s for s in known if s.role == role) for role in ("visual", "collision"))
    return tuple(filter(None, by_role))


def share_of_faces(shapes: Mapping[str, tuple[Shape, ...]]) -> int:
    """Return the maximum number of triangles of each mesh file."""
    files = {s.mesh for own in shapes.values() for some in chosen(own) for s in some if s.kind == "mesh"}
    return FACES // max(1, len(files))


def shape_mesh(shape: Shape, request: Request | None, most: int) -> tuple[Mesh, str]:
    """Return the mesh of a shape in its local axes, with at most ``most`` triangles, and a note if it was simplified.

    Raises
    ------
    NotShown
        The shape cannot be drawn.
    """
    size = shape.size
    if not np.isfinite(size).all() or (shape.kind != "plane" and not all(size)):
        raise NotShown(f"{shape.kind} of size {' '.join(f'{x:g}' for x in size)} has no surface")
    if shape.kind == "mesh":
        return _of_file(shape, request, most)
    if shape.kind == "hull":
        return _hull(shape.points), ""
    return _primitive(shape.kind, tuple(abs(x) for x in size)), ""


@lru_cache(maxsize=1024)
def _primitive(kind: str, size: tuple[float, ...]) -> Mesh:
    match kind, size:
        case "box", (x, y, z):
            return box(x, y, z)
        case "sphere", (radius,):
            return ball(radius)
        case "cylinder", (radius, length):
            return cylinder(radius, length)
        case "capsule", (radius, length):
            return capsule(radius, length)
        case "plane", _:
            x, y = ((*size, 0.0, 0.0))[:2]
            return box(x or _PLANE, y or _PLANE, 1e-3)
    raise NotShown(f"{kind} of {len(size)} sizes is unknown")


def _hull(points: tuple[tuple[float, float, float], ...]) -> Mesh:
    import trimesh
    from scipy.spatial import QhullError

    try:
        found = trimesh.convex.convex_hull(np.array(points))
    except (QhullError, ValueError):
        raise NotShown(f"{len(points)} points have no hull") from None
    return Mesh(np.array(found.vertices, dtype=float), np.array(found.faces, dtype=np.int64))


def _of_file(shape: Shape, request: Request | None, most: int) -> tuple[Mesh, str]:
    if shape.triangles is not None:
        return _scaled_mesh("a mesh of the stage", *shape.triangles, tuple(shape.size), most)
    if not shape.mesh:
        raise NotShown("triangles without a file, which a script has made or of which there are too many")
    path = mesh_path(shape, request)
    if path is None:
        raise NotShown(f"mesh {shape.mesh!r} cannot be found")
    return _read(path, shape.mesh, tuple(shape.size), most)


@lru_cache(maxsize=256)
def _read(path: str, name: str, scale: tuple[float, ...], most: int) -> tuple[Mesh, str]:
    try:
        vertices, faces = _merged(*read_triangles(path))
    except UnusableMesh as error:
        raise NotShown(f"mesh {name!r} {error}") from None
    return _scaled_mesh(f"mesh {name!r}", vertices, faces, scale, most)


def _merged(vertices: Array, faces: NDArray[np.int64]) -> solids.Triangles:
    """Return ``vertices`` (n, 3) with those at the same point as one, and the triangles ``faces`` (m, 3) of these.

    A file of single triangles, such as STL, has each vertex several times.
    """
    # with the two zeros as one, equal points are equal bytes
    points = np.ascontiguousarray(vertices + 0.0)
    as_bytes = points.view(np.dtype((np.void, points.itemsize * 3)))
    _, first, of = np.unique(as_bytes, return_index=True, return_inverse=True)
    return points[first], of.reshape(-1)[faces]


def _scaled_mesh(
    what: str, vertices: Array, faces: NDArray[np.int64], scale: tuple[float, ...], most: int
) -> tuple[Mesh, str]:
    """Return the scaled mesh of ``vertices`` (n, 3) and triangles ``faces`` (m, 3), and a note if it was simplified."""
    if not len(faces):
        raise NotShown(f"{what} has no triangle")
    vertices = vertices * scale
    if not (np.abs(vertices) <= LARGEST).all():
        raise NotShown(f"{what} is larger than {LARGEST:g} m")
    if np.prod(scale) < 0:
        faces = faces[:, ::-1].copy()
    simple = limited(Mesh(vertices, faces), most)
    if len(simple.faces) == len(faces):
        return simple, ""
    return simple, f"{what} is shown with {len(simple.faces)} of its {len(faces)} triangles"


# Simple surfaces: box, ball, cylinder, capsule, arrow.


def box(x: float, y: float, z: float) -> Mesh:
    """Return a box centred at the origin, edges in m."""
    return Mesh(*solids.box_triangles(x, y, z))


@lru_cache(maxsize=64)
def ball(radius: float) -> Mesh:
    """Return a ball centred at the origin, radius in m; equal balls are the same object."""
    vertices, faces = solids.unit_ball(2)
    return Mesh(vertices * radius, faces)


def cylinder(radius: float, length: float, sides: int = _SOLIDS_SIDES) -> Mesh:
    """Return a cylinder along z, centred at the origin, m."""
    unit = _unit_cylinder(sides)
    return Mesh(unit.vertices * (radius, radius, length), unit.faces)


@lru_cache(maxsize=8)
def _unit_cylinder(sides: int) -> Mesh:
    return Mesh(*solids.cylinder_triangles(1.0, 1.0, sides))


def capsule(radius: float, length: float) -> Mesh:
    """Return a capsule along z, centred at the origin: a cylinder of ``length`` with half balls at its ends, m."""
    unit = _unit_capsule()
    ends = 0.5 * np.sign(unit.vertices[:, 2:])
    # scale the half balls of the unit capsule, and stretch the cylinder between them
    z = radius * (unit.vertices[:, 2:] - ends) + length * ends
    return Mesh(np.hstack((radius * unit.vertices[:, :2], z)), unit.faces)


@lru_cache(maxsize=1)
def _unit_capsule() -> Mesh:
    return Mesh(*solids.capsule_triangles(1.0, 1.0, _SOLIDS_SIDES, _RINGS))


def bar(start: Array, end: Array, radius: float, sides: int = _SOLIDS_SIDES) -> Mesh:
    """Return a round bar between the points start and end (3,), m."""
    along = end - start
    X = Pose(align_z(along), 0.5 * (start + end))
    return moved(cylinder(radius, float(np.linalg.norm(along)), sides), X)


def arrow(vector: Array, radius: float, heads: int = 1) -> Mesh:
    """Return an arrow from the origin to ``vector`` (3,), m; moments are drawn with two heads."""
    length = float(np.linalg.norm(vector))
    head = min(5.0 * radius, 0.5 * length / heads)
    tips = [length - k * head for k in range(heads, 0, -1)]
    cone = Mesh(*solids.cone_triangles(0.5 * head, head, _SOLIDS_SIDES))
    parts = [moved(cone, Pose(np.eye(3), np.array([0.0, 0.0, tip]))) for tip in tips]
    parts.append(bar(np.zeros(3), np.array([0.0, 0.0, tips[0]]), radius))
    return moved(merged(parts), Pose(align_z(vector), np.zeros(3)))


# Meshes of triangles, and their simplification if they are too fine to draw.


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangulated surface.

    Parameters
    ----------
    vertices : (n, 3) array
        m, in the frame of its owner.
    faces : (k, 3) array of int
        Vertex indices, counter-clockwise as seen from outside.
    """

    vertices: Array
    faces: AnyArray

    def __post_init__(self) -> None:
        make_read_only(self.vertices, self.faces)


def moved(mesh: Mesh, X: Pose) -> Mesh:
    """Transform a mesh from frame B to frame A, X = X_AB."""
    return Mesh(mesh.vertices @ X.R.T + X.p, mesh.faces)


def merged(meshes: Iterable[Mesh]) -> Mesh:
    """Return several meshes as one."""
    parts = list(meshes)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    vertices = np.vstack([part.vertices for part in parts])
    faces = np.vstack([part.faces + start for part, start in zip(parts, starts, strict=False)])
    return Mesh(vertices, faces)


def limited(mesh: Mesh, most: int) -> Mesh:
    """Return a mesh of at most ``most`` faces, simplified by merging the vertices in each cell of a grid."""
    cells = sqrt(most)
    simple = mesh
    while len(simple.faces) > most:
        simple = _clustered(mesh, cells)
        cells *= 0.85
    return simple


def _clustered(mesh: Mesh, cells: float) -> Mesh:
    lower = mesh.vertices.min(axis=0)
    edge = max(float((mesh.vertices.max(axis=0) - lower).max()) / cells, 1e-12)
    place = np.floor((mesh.vertices - lower) / edge).astype(np.int64)
    _, cell = np.unique(place, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    count = np.bincount(cell)
    vertices = np.column_stack([np.bincount(cell, mesh.vertices[:, k]) / count for k in range(3)])
    faces = cell[mesh.faces]
    a, b, c = faces.T
    kept = faces[(a != b) & (b != c) & (c != a)]
    # thin walls collapse onto themselves: drop duplicate triangles
    _, first = np.unique(np.sort(kept, axis=1), axis=0, return_index=True)
    return Mesh(vertices, kept[np.sort(first)])


@dataclass(frozen=True, eq=False)
class Part:
    """A mesh and its pose in the link frame L; equal meshes are the same ``Mesh`` object."""

    mesh: Mesh
    X_LM: Pose


@dataclass(frozen=True, eq=False)
class BodyDrawing:
    """The drawing of one body.

    Parameters
    ----------
    name : str
        ``world`` is the ground.
    verdict : str
        ``rigid``, ``flexible``, ``ground`` or ``unjudged``: a key of the palette.
    parts : tuple of Part
        Empty for a ground without shapes and joints.
    stick : bool
        Whether the parts are a stick figure, because the body has no drawable shape.
    """

    name: str
    verdict: str
    parts: tuple[Part, ...]
    stick: bool

    @property
    def mesh(self) -> Mesh:
        """All parts as one mesh, in the link frame."""
        return merged(moved(part.mesh, part.X_LM) for part in self.parts)


def shown_parts(scene: Scene) -> tuple[dict[str, tuple[Part, ...]], tuple[str, ...]]:
    """Return the drawable shapes of each body that has any, and notes on missing or simplified shapes."""
    most = share_of_faces(scene.shapes)
    found: dict[str, tuple[Part, ...]] = {}
    notes: list[str] = []
    for name, shapes in scene.shapes.items():
        tried = []
        for role in chosen(shapes):
            parts, said = _parts(scene, name, role, most)
            notes += said
            tried.append(parts)
            if len(parts) == len(role):
                # this set is complete
                tried = [parts]
                break
        if any(tried):
            found[name] = next(filter(None, tried))
    return found, tuple(dict.fromkeys(notes))


def _parts(
    scene: Scene, name: str, shapes: tuple[Shape, ...], most: int
) -> tuple[tuple[Part, ...], list[str]]:
    """Return the drawable parts of some shapes of a body, and notes about them."""
    parts, said = [], []
    for shape in shapes:
        try:
            mesh, note = shape_mesh(shape, scene.request, most)
        except NotShown as reason:
            said.append(f"{name}: {reason}")
            continue
        parts.append(Part(mesh, shape.X_LS))
        said += [note] if note else []
    return tuple(parts), said


def joint_points(mech: Mechanism) -> dict[str, Array]:
    """Return the joint positions of each body in its link frame, (n, 3), m."""
    points: dict[str, list[Array]] = {name: [] for name in mech.body_index}
    for pair in mech.pairs:
        points[pair.body_a].append(pair.X_AP.p)
        points[pair.body_b].append(pair.X_BS.p)
    for pfaffian in mech.pfaffians:
        contact = pfaffian.center if isinstance(pfaffian, Rolling) else pfaffian.point
        points[pfaffian.body].append(contact)
    return {name: np.array(own, dtype=float).reshape(-1, 3) for name, own in points.items()}


def stick_figure(mech: Mechanism, name: str, points: Array, radius: float) -> tuple[Part, ...]:
    """Return bars from a body's centre of mass to its joints ``points`` (n, 3), m, and a ball at the centre.

    The ground has a block at each joint. A massless body has the mean of its joints as its centre.
    """
    if name == WORLD:
        block = box(4 * radius, 4 * radius, 4 * radius)
        return tuple(Part(block, Pose(np.eye(3), point)) for point in points)
    body = mech.bodies[mech.body_index[name]]
    middle = points.mean(axis=0) if body.massless and len(points) else body.p_LC
    far = [p for p in points if np.linalg.norm(p - middle) > 1e-3 * radius]
    knob = Part(ball(1.8 * radius), Pose(np.eye(3), middle))
    bars = [bar(middle, p, radius, _SIDES) for p in far]
    return (knob, Part(merged(bars), Pose.identity())) if bars else (knob,)


def drawings(
    mech: Mechanism,
    parts: Mapping[str, tuple[Part, ...]],
    may_stay_rigid: Mapping[str, bool],
    radius: float,
) -> Iterator[BodyDrawing]:
    """Yield the drawings of the ground, then of the bodies in the order of the mechanism."""
    still, points = rigid_groups(mech)[WORLD], joint_points(mech)
    for name in (WORLD, *(body.name for body in mech.bodies)):
        own = parts.get(name, ())
        if name == WORLD or (name in still and may_stay_rigid.get(name, True)):
            verdict = "ground"
        elif name in may_stay_rigid:
            verdict = "rigid" if may_stay_rigid[name] else "flexible"
        else:
            verdict = "unjudged"
        yield BodyDrawing(name, verdict, own or stick_figure(mech, name, points[name], radius), not own)


# Glyphs of joints: type, position, axes, and uniqueness of the reaction.


@dataclass(frozen=True, eq=False)
class JointGlyph:
    """The glyph of a pair, or of a wheel or knife edge on the ground.

    Parameters
    ----------
    name, kind, type : str
        As in the analysis: kind is ``pair``, ``closure`` or ``pfaffian``.
    verdict : str
        ``unique``, ``non-unique``, ``undecided`` or ``unjudged``: a key of the palette.
    body : str
        The body to which the glyph is attached: the predecessor of a pair, the wheel of a rolling condition.
    X_LJ : Pose
        Glyph frame J in the link frame of ``body``; z is the axis.
    X_WJ : Pose
        Glyph frame J in the world, at the pose of the picture.
    end_W : (3,) array or None
        The other end of a rod (type ``distance``), m.
    mesh : Mesh
        In the glyph frame J.
    """

    name: str
    kind: str
    type: str
    body_a: str
    body_b: str
    verdict: str
    body: str
    X_LJ: Pose
    X_WJ: Pose
    end_W: Array | None
    mesh: Mesh

    @property
    def axis_W(self) -> Array:
        """Unit vector (3,) of the joint axis, world axes."""
        return self.X_WJ.R[:, 2]


def glyphs(
    mech: Mechanism, poses: BodyPoses, reaction: Mapping[str, str], size: float
) -> Iterator[JointGlyph]:
    """Yield a glyph for each pair, wheel and knife edge; ``size`` is about half its height, m."""
    for pair in mech.pairs:
        yield _of_pair(mech, pair, poses, reaction.get(pair.name, "unjudged"), size)
    for pfaffian in mech.pfaffians:
        yield _of_pfaffian(mech, pfaffian, poses, reaction.get(pfaffian.name, "unjudged"), size)


def _of_pair(mech: Mechanism, pair: Pair, poses: BodyPoses, verdict: str, size: float) -> JointGlyph:
    X_WP = poses.of(mech.body_index[pair.body_a]) @ pair.X_AP
    p_WS_W = (poses.of(mech.body_index[pair.body_b]) @ pair.X_BS).p
    kind = "closure" if pair.closure else "pair"
    apart = pair.kind.size == "length"
    mesh = glyph_mesh(pair.type, size)
    p_PS_P = X_WP.inverse().apply(p_WS_W)
    # in an open loop, the two points may coincide
    if apart and p_PS_P.any():
        mesh = merged([mesh, bar(np.zeros(3), p_PS_P, 0.2 * size)])
    return JointGlyph(
        pair.name,
        kind,
        pair.type,
        pair.body_a,
        pair.body_b,
        verdict,
        pair.body_a,
        pair.X_AP,
        X_WP,
        p_WS_W if apart else None,
        mesh,
    )


def _of_pfaffian(mech: Mechanism, made: Pfaffian, poses: BodyPoses, verdict: str, size: float) -> JointGlyph:
    match made:
        case Rolling():
            X_LJ = Pose(align_z(made.axis), made.center)
            mesh = cylinder(made.radius, 0.15 * size)
        case KnifeEdge():
            X_LJ = Pose(align_z(made.direction), made.point)
            mesh = cylinder(size, 0.15 * size)
    X_WJ = poses.of(mech.body_index[made.body]) @ X_LJ
    return JointGlyph(
        made.name, "pfaffian", made.type, "world", made.body, verdict, made.body, X_LJ, X_WJ, None, mesh
    )


@lru_cache(maxsize=64)
def glyph_mesh(kind: str, size: float) -> Mesh:
    """Return the glyph of a pair type in its joint frame, with axis z; equal glyphs are the same object.

    Round bars stand for rotation axes, square bars for translation, balls for three rotations, plates for a plane.
    """
    thin, thick = 0.22 * size, 0.4 * size
    match kind:
        case "revolute" | "continuous":
            return merged([cylinder(thick, 1.1 * size), cylinder(thin, 2.2 * size)])
        case "prismatic":
            return merged([box(2 * thick, 2 * thick, 1.1 * size), box(thin, thin, 3 * size)])
        case "screw" | "cylindrical":
            return merged([cylinder(thick, 1.1 * size), box(thin, thin, 3 * size)])
        case "spherical":
            return ball(0.6 * size)
        case "universal":
            rod = cylinder(thin, 2.2 * size)
            return merged([moved(rod, Pose(R, np.zeros(3))) for R in (_ALONG_X, _ALONG_Y)])
        case "planar" | "point-on-plane":
            middle = ball(thick) if kind == "point-on-plane" else cylinder(thin, size)
            return merged([box(2 * size, 2 * size, 0.1 * size), middle])
        case "point-on-line":
            return merged([ball(thick), box(thin, thin, 3 * size)])
        case "fixed":
            return box(0.8 * size, 0.8 * size, 0.8 * size)
        case _:
            return ball(thick)
