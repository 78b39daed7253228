"""The bodies of a robot as convex pieces: the hulls of their shapes and meshes, and of what they carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Payload, Request, Shape
from mbplugin.model.spatial import Array
from mbplugin.readers.meshes.checks import UnusableMesh
from mbplugin.readers.meshes.named import mesh_path
from mbplugin.readers.meshes.triangles import read_triangles

#: Sides of the prism around a cylinder.
_SIDES = 24


@dataclass(frozen=True, eq=False)
class ConvexPiece:
    """A convex part of a body: all points within a radius of the hull of some points.

    Parameters
    ----------
    points : (n, 3) array
        Link frame, m.
    radius : float
        m; 0 for polyhedra.
    """

    points: Array
    radius: float = 0.0


@dataclass(frozen=True, eq=False)
class BodyPieces:
    """The pieces of all bodies, and of which bodies they are not the whole shape.

    Parameters
    ----------
    pieces : tuple of tuple of ConvexPiece
        In the order of the bodies.
    without_shape : tuple of str
        Bodies of which no shape is stated, or one cannot be read: their joints and what is readable stand for them.
    unread : mapping of str to tuple of str
        Of these the bodies whose shapes cannot be read, with the files as the model names them.
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
    """Return the convex pieces of all bodies: of collision shapes, else of visual ones.

    A mesh counts as its convex hull, a cylinder as a prism around it.

    Parameters
    ----------
    payload_radius : float
        Radius of the ball around the centre of mass of a payload, m.
    request : Request, optional
        By which mesh files are found.
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
    """Yield the mesh files, as the model names them, of shapes that cannot be read."""
    for shape in shapes:
        if shape.kind == "mesh" and shape_piece(shape, request) is None:
            yield shape.mesh


def _of_shapes(shapes: Sequence[Shape], request: Request | None) -> tuple[tuple[ConvexPiece, ...], bool]:
    """Return the pieces of the collision shapes, else of the visual ones, and whether all could be read."""
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
    """Return centre of mass and joints (n, 3) of a body in its link frame, m."""
    points = [mech.bodies[mech.body_index[name]].p_LC]
    points += [pair.X_AP.p for pair in mech.pairs if pair.body_a == name]
    points += [pair.X_BS.p for pair in mech.pairs if pair.body_b == name]
    return np.array(points)


def shape_piece(shape: Shape, request: Request | None) -> ConvexPiece | None:
    """Return the convex piece of a shape in the link frame; None for planes and meshes that are not read."""
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
            path = mesh_path(shape, request)
            hull = None if path is None else _mesh_hull(path, tuple(shape.size))
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


@lru_cache(maxsize=256)
def _mesh_hull(path: str, scale: tuple[float, ...]) -> Array | None:
    """Return the vertices (n, 3) of the convex hull of a mesh file, m; None where it cannot be read."""
    try:
        vertices, faces = read_triangles(path)
    except UnusableMesh:
        return None
    points = np.unique(vertices[np.unique(faces)] * np.array(scale), axis=0)
    return hull_vertices(points) if np.isfinite(points).all() else None


def hull_vertices(points: Array) -> Array:
    """Return those of some points (n, 3), m, that are corners of their hull; all where they are flat."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points
