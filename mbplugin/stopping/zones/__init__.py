"""The zone of stops: polygons on the floor, a box, and solids; its files and its convex pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from mbplugin.csv_tables import write_csv
from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.model import Array, Mechanism, Payload, Request, Shape
from mbplugin.phrases import counted, number, one_line, one_line_repr, visible
from mbplugin.readers.meshes import UnusableMesh, mesh_path, read_triangles
from mbplugin.rendering import Result
from mbplugin.simulation.trajectory.trajectory import Trajectory

_LAYER = "STOP_ZONE"
#: Code for metres in the header of a DXF.
_METRES = 6
#: Number of sides of the prism around a cylinder.
_SIDES = 24
#: Between two samples the joints together move less than this, rad or m: the path of a point at 1 m then
#: differs from its cubic by 0.05⁴/384 = 0.02 µm.
_TURN = 0.05
#: Most samples of one stop.
_MOST = 20_000


@dataclass(frozen=True, eq=False)
class StopZone(Result):
    """The volume that a robot, its tool and its payload sweep during stops: computed, not measured.

    Parameters
    ----------
    model : str
    stops : int
        Number of stops in it.
    polygons : tuple of (n, 2) array
        The zone on the floor, world x and y, m: counter-clockwise, without holes, the first corner not
        repeated.
    lower, upper : (3,) array
        Lowest and highest corner of the box around the zone, m.
    sagitta : float
        Largest distance of a path from its chord by which a part of the zone was grown, m.
    resolution : float
        Distance by which the outline was grown before it was simplified, m.
    without_shape : tuple of str
        Bodies whose shapes are not stated or cannot be read; joints and centre of mass replace them.
    assumptions : tuple of str
        One sentence each.
    triangles : (m, 3, 3) array or None
        Triangles of closed convex solids that overlap, world, m; None if not requested.
    """

    model: str
    stops: int
    polygons: tuple[Array, ...]
    lower: Array
    upper: Array
    sagitta: float
    resolution: float
    without_shape: tuple[str, ...]
    assumptions: tuple[str, ...]
    triangles: Array | None = None

    def __repr__(self) -> str:
        return one_line(self, self.model, (counted(self.stops, "stop"), f"{self.area:.4g} m² on the floor"))

    @property
    def area(self) -> float:
        """Area on the floor, m²."""
        return sum(
            0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
            for x, y in (p.T for p in self.polygons)
        )

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writers of the floor as DXF, SVG and CSV, and of the solids as STL."""

        return {ending: partial(write, self) for ending, write in WRITERS.items()}


# Zones as files, by extension: DXF, SVG and CSV of the floor, STL of the solids.


def require_writable(paths: Iterable[Path]) -> None:
    """Require that a zone can be written to the given files, before anything is computed.

    Raises
    ------
    BadUsage
        The file extension is unknown.
    MissingDependency
    """
    for path in paths:
        if path.suffix.lower() not in WRITERS:
            raise BadUsage(
                f"a zone cannot be written as {path.suffix or 'a file without ending'}",
                where=str(path),
                expected=" or ".join(WRITERS),
            )
        shapely()
        if path.suffix.lower() == ".dxf":
            ezdxf()


def zone_sentences(zone: StopZone) -> tuple[str, ...]:
    """Return a summary of the zone and its assumptions, one sentence each."""
    size = " × ".join(f"{d:.3f}" for d in zone.upper - zone.lower)
    stops = "1 stop" if zone.stops == 1 else f"{zone.stops} stops"
    return (
        f"zone of {stops} of {zone.model}: {zone.area:.4g} m² on the floor, a box of {size} m",
        *zone.assumptions,
    )


def _dxf(zone: StopZone, path: Path) -> None:
    document = ezdxf().new("R2010", setup=False)
    document.units = _METRES
    document.layers.add(_LAYER, color=1)
    for k, sentence in enumerate(zone_sentences(zone)):
        document.header.custom_vars.append(f"mbplugin {k + 1}", visible(sentence))
    space = document.modelspace()
    for polygon in zone.polygons:
        space.add_lwpolyline(polygon.tolist(), close=True, dxfattribs={"layer": _LAYER})
    document.saveas(path)


def _csv(zone: StopZone, path: Path) -> None:
    corners = [(k, x, y) for k, polygon in enumerate(zone.polygons, start=1) for x, y in polygon]
    write_csv(
        path,
        ("polygon", "x [m]", "y [m]"),
        ((k, number(x, ".6f"), number(y, ".6f")) for k, x, y in corners),
        map(visible, zone_sentences(zone)),
    )


def _svg(zone: StopZone, path: Path) -> None:
    """Write a drawing in mm, with x to the right and y up."""
    low, high = 1e3 * zone.lower[:2], 1e3 * zone.upper[:2]
    wide, tall = high - low
    outlines = " ".join(
        "M " + " L ".join(f"{number(1e3 * x, '.3f')} {number(-1e3 * y, '.3f')}" for x, y in polygon) + " Z"
        for polygon in zone.polygons
    )
    sentences = escape(visible(" ".join(f"{sentence}." for sentence in zone_sentences(zone))))
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.3f}mm" height="{tall:.3f}mm"'
        f' viewBox="{low[0]:.3f} {-high[1]:.3f} {wide:.3f} {tall:.3f}">\n'
        f"<title>{escape(visible(f'Stop zone of {zone.model}'))}</title>\n<desc>{sentences}</desc>\n"
        f'<path d="{outlines}" fill="#d62728" fill-opacity="0.25" stroke="#d62728" stroke-width="1"/>\n</svg>\n',
        encoding="utf-8",
        newline="\n",
    )


def _stl(zone: StopZone, path: Path) -> None:
    """Write the solids as binary STL with trimesh.

    Raises
    ------
    BadUsage
        The zone has no solids.
    """
    if zone.triangles is None:
        raise BadUsage("the zone has no solids", where=str(path), remedy="compute it with solid=True")
    import trimesh

    corners = np.asarray(zone.triangles).reshape(-1, 3)
    mesh = trimesh.Trimesh(corners, np.arange(len(corners)).reshape(-1, 3), process=False)
    mesh.export(path, file_type="stl")


#: Writers of a zone by file extension.
WRITERS: dict[str, Callable[[StopZone, Path], None]] = {
    ".dxf": _dxf,
    ".svg": _svg,
    ".csv": _csv,
    ".stl": _stl,
}


# The bodies of a robot as convex pieces: hulls of their shapes and meshes, and balls for payloads.


@dataclass(frozen=True, eq=False)
class ConvexPiece:
    """A convex part of a body: all points within a radius of the convex hull of points.

    Parameters
    ----------
    points : (n, 3) array
        Link frame, m.
    radius : float
        Radius, m; 0 for polyhedra.
    """

    points: Array
    radius: float = 0.0


@dataclass(frozen=True, eq=False)
class BodyPieces:
    """The pieces of all bodies, and the bodies whose pieces are incomplete.

    Parameters
    ----------
    pieces : tuple of tuple of ConvexPiece
        In the order of the bodies.
    without_shape : tuple of str
        Bodies without a stated shape or with an unreadable one; joints, centre of mass and readable shapes replace it.
    unread : mapping of str to tuple of str
        Those of them whose shapes cannot be read, with the mesh files as named in the model.
    """

    pieces: tuple[tuple[ConvexPiece, ...], ...]
    without_shape: tuple[str, ...]
    unread: Mapping[str, tuple[str, ...]]


def body_pieces(
    mech: Mechanism,
    shapes: Mapping[str, tuple[Shape, ...]],
    payloads: Sequence[Payload],
    payload_radius: float,
    request: Request | None,
) -> BodyPieces:
    """Return the convex pieces of all bodies, from collision shapes, else from visual ones.

    A mesh counts as its convex hull, a cylinder as a prism around it.

    Parameters
    ----------
    payload_radius : float
        Radius of the ball around the centre of mass of a payload, m.
    request : Request, optional
        Locates the mesh files.
    """
    found, without, unread = [], [], {}
    for body in mech.bodies:
        pieces, whole = _of_shapes(shapes.get(body.name, ()), request)
        if not whole:
            without.append(body.name)
            if stated := shapes.get(body.name):
                unread[body.name] = tuple(_unread_files(stated, request))
            pieces = (*pieces, ConvexPiece(_skeleton(mech, body.name)))
        carried = (payload for payload in payloads if payload.body == body.name)
        balls = (ConvexPiece(np.array(payload.com, dtype=float)[None], payload_radius) for payload in carried)
        found.append((*pieces, *balls))
    return BodyPieces(tuple(found), tuple(without), unread)


def _unread_files(shapes: Sequence[Shape], request: Request | None) -> Iterator[str]:
    """Yield the unreadable mesh files of shapes, as named in the model."""
    for shape in shapes:
        if shape.kind == "mesh" and shape_piece(shape, request) is None:
            yield shape.mesh


def _of_shapes(shapes: Sequence[Shape], request: Request | None) -> tuple[tuple[ConvexPiece, ...], bool]:
    """Return the pieces of the collision shapes, else of the visual ones, and whether all were readable."""
    readable: tuple[ConvexPiece, ...] = ()
    for role in ("collision", "visual"):
        own = [shape for shape in shapes if shape.role == role]
        pieces = [shape_piece(shape, request) for shape in own]
        known = tuple(piece for piece in pieces if piece is not None)
        if own and len(known) == len(own):
            return known, True
        readable += known
    return readable, False


def _skeleton(mech: Mechanism, name: str) -> Array:
    """Return the centre of mass and the joint origins (n, 3) of a body in its link frame, m."""
    points = [mech.bodies[mech.body_index[name]].p_LC]
    points += [pair.X_AP.p for pair in mech.pairs if pair.body_a == name]
    points += [pair.X_BS.p for pair in mech.pairs if pair.body_b == name]
    return np.array(points)


def shape_piece(shape: Shape, request: Request | None) -> ConvexPiece | None:
    """Return the convex piece of a shape in the link frame; None for planes and unreadable meshes."""
    size = np.abs(shape.size)
    radius = 0.0
    match shape.kind:
        case "box":
            points = _corners(-0.5 * size, 0.5 * size)
        case "sphere":
            points, radius = np.zeros((1, 3)), float(size[0])
        case "capsule":
            points, radius = np.array([[0, 0, -0.5 * size[1]], [0, 0, 0.5 * size[1]]]), float(size[0])
        case "cylinder":
            points = _prism(float(size[0]), float(size[1]))
        case "hull":
            points = np.array(shape.points)
        case "mesh":
            hull = _hull_of(shape, request)
            if hull is None:
                return None
            points = hull
        case _:
            return None
    if not np.isfinite(points).all():
        return None
    return ConvexPiece(points @ shape.X_LS.R.T + shape.X_LS.p, radius)


def _corners(low: Array, high: Array) -> Array:
    """Return the corners (8, 3) of the box from ``low`` (3,) to ``high`` (3,), m."""
    return np.array(list(product(*np.stack((low, high)).T)))


def box_corners(pieces: Sequence[ConvexPiece]) -> Array:
    """Return the corners (8, 3) of the box around the points of pieces, link frame, m."""
    points = np.concatenate([piece.points for piece in pieces])
    return _corners(points.min(axis=0), points.max(axis=0))


def _prism(radius: float, length: float) -> Array:
    """Return the corners (2 n, 3) of a prism around a cylinder along z, m."""
    angles = 2 * np.pi * np.arange(_SIDES) / _SIDES
    around = radius / np.cos(np.pi / _SIDES) * np.column_stack((np.cos(angles), np.sin(angles)))
    ends = [np.column_stack((around, np.full(_SIDES, z))) for z in (-0.5 * length, 0.5 * length)]
    return np.concatenate(ends)


def _hull_of(shape: Shape, request: Request | None) -> Array | None:
    """Return the vertices (n, 3) of the convex hull of a mesh, m; None if it cannot be read."""
    if shape.triangles is not None:
        return _scaled_hull(*shape.triangles, tuple(shape.size))
    path = mesh_path(shape, request)
    return None if path is None else _mesh_hull(path, tuple(shape.size))


@lru_cache(maxsize=256)
def _mesh_hull(path: str, scale: tuple[float, ...]) -> Array | None:
    """Return the vertices (n, 3) of the convex hull of a mesh file, m; None if it cannot be read."""
    try:
        return _scaled_hull(*read_triangles(path), scale)
    except UnusableMesh:
        return None


def _scaled_hull(vertices: Array, faces: NDArray[np.int64], scale: tuple[float, ...]) -> Array | None:
    """Return the corners (k, 3) of the hull of the ``vertices`` (n, 3) used by triangles ``faces`` (m, 3), m."""
    points = np.unique(vertices[np.unique(faces)] * np.array(scale), axis=0)
    return hull_vertices(points) if np.isfinite(points).all() else None


def hull_vertices(points: Array) -> Array:
    """Return the points among ``points`` (n, 3), m, that are corners of their hull; all if they are coplanar."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points


# The motion of a stop, sampled so densely that every point can be followed between the samples.


@one_line_repr
@dataclass(frozen=True, eq=False)
class StopMotion:
    """Samples of a stop; at an event there may be two at the same time.

    Parameters
    ----------
    time : (T,) array
        s.
    q, qd : (T, nq), (T, nv) array
        Coordinates and rates, rad and m, rad/s and m/s.
    """

    time: Array
    q: Array
    qd: Array


def motion_of_trajectory(motion: Trajectory) -> StopMotion:
    """Return dense samples of a trajectory, which is resampled between its steps."""
    counts = _counts(np.diff(motion.time), motion.qd)
    spans = zip(motion.time, np.diff(motion.time), counts, strict=False)
    inner = [start + h * np.arange(1, n) / n for start, h, n in spans]
    dense = motion.resample(np.sort(np.concatenate((motion.time, *inner))))
    return StopMotion(dense.time, dense.q, dense.qd)


def motion_of_pieces(q: Array, pieces: Array) -> StopMotion:
    """Return dense samples of a stop computed by the compiled loop.

    Parameters
    ----------
    q : (nv,) array
        Coordinates at the signal, rad and m.
    pieces : (n, 7, nv) array
        Duration (s) in [k, 0, 0], then q, q̇, q̈ at the start and at the end of piece k; a piece of duration 0
        marks the end.
    """
    # imported here: it takes as long as a thousand stops, and few sweeps have zones
    from scipy.interpolate import BPoly

    ended = np.flatnonzero(pieces[:, 0, 0] <= 0.0)
    used = pieces[: ended[0]] if len(ended) else pieces
    time, qs, qds, now = [0.0], [q], [np.zeros(len(q)) if len(used) == 0 else used[0, 2]], 0.0
    for piece in used:
        h = float(piece[0, 0])
        n = int(_counts(np.array([h]), piece[[2, 5]])[0])
        curve = BPoly.from_derivatives([0.0, h], [piece[1:4], piece[4:7]])
        at = h * np.arange(n + 1) / n
        time += (now + at).tolist()
        qs += list(curve(at))
        qds += list(curve(at, 1))
        now += h
    return StopMotion(np.array(time), np.array(qs), np.array(qds))


def _counts(h: Array, qd: Array) -> NDArray[np.int64]:
    """Return the numbers (T − 1,) of parts into which to cut intervals ``h`` (T − 1,), s, for rates ``qd`` (T, nv)."""
    speeds = np.abs(qd).sum(axis=1)
    turns = h * np.maximum(speeds[1:], speeds[:-1])
    # eight times the deviation from a motion at constant rates, if rates change
    changes = h * np.abs(np.diff(qd, axis=0)).sum(axis=1)
    counts = np.ceil(np.maximum(turns / _TURN, np.sqrt(changes) / _TURN)).clip(np.where(turns > 1e-9, 2, 1))
    most = max(1, _MOST // max(1, len(h)))
    return np.asarray(np.minimum(counts, most), dtype=np.int64)


# The optional packages for zones, imported when a zone is computed.


def shapely() -> Any:
    """Return shapely, which unites polygons.

    Raises
    ------
    MissingDependency
    """
    return _imported("shapely", "a zone")


def ezdxf() -> Any:
    """Return ezdxf, which writes drawings.

    Raises
    ------
    MissingDependency
    """
    return _imported("ezdxf", "a zone as .dxf")


def _imported(name: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependency.of(what, name, "zones") from None
