"""What the pieces of a body sweep in the spans of its motion, as convex hulls: flat on the floor, and solid."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import ConvexHull

from mbplugin.model.spatial import Array
from mbplugin.stopping.zones.chords import Span
from mbplugin.stopping.zones.libraries import shapely
from mbplugin.stopping.zones.pieces import ConvexPiece, hull_vertices

#: Segments of a quarter of a circle. The polygon is drawn around the circle, not into it.
_QUARTER = 8
_AROUND = 1.0 / np.cos(np.pi / (4 * _QUARTER))
#: Directions in which the corners of a simplified piece are the farthest.
_DIRECTIONS = 48
#: Weight of the sum of the shares beside the place, in the search for the nearest point of a hull.
_SUM = 1e3


def grown(polygons: Any, distances: Any) -> Any:
    """Return polygons with all points around them up to some distances, m."""
    return shapely().buffer(polygons, _AROUND * distances, quad_segs=_QUARTER)


def floor_hulls(
    piece: ConvexPiece, spans: Sequence[Span], R_WL: Array, p_WL: Array
) -> tuple[Any, Array, Array]:
    """Return the polygons (k,) that contain what a piece sweeps in each span, seen from above, and its box.

    Parameters
    ----------
    R_WL, p_WL : (T, 3, 3), (T, 3) array
        Link frames of the body along the motion, m.

    Returns
    -------
    polygons : (k,) array of shapely.Polygon
    lower, upper : (3,) array
        World, m.
    """
    ends = np.array([(span.first, span.last) for span in spans])
    reach = np.array([span.sagitta for span in spans]) + piece.radius
    x_W = np.einsum("ktij,nj->ktni", R_WL[ends], piece.points) + p_WL[ends][:, :, None]
    lower = (x_W.min(axis=(1, 2)) - reach[:, None]).min(axis=0)
    upper = (x_W.max(axis=(1, 2)) + reach[:, None]).max(axis=0)
    flat = np.ascontiguousarray(x_W[..., :2]).reshape(len(spans), -1, 2)
    hulls = shapely().convex_hull(shapely().linestrings(flat))
    return grown(hulls, reach), lower, upper


def solid_hulls(piece: ConvexPiece, spans: Sequence[Span], R_WL: Array, p_WL: Array, growth: float) -> Array:
    """Return the triangles (m, 3, 3) of closed hulls, m, each containing what a piece sweeps in one span.

    Parameters
    ----------
    R_WL, p_WL : (T, 3, 3), (T, 3) array
        Link frames of the body along the motion, m.
    growth : float
        By which a hull is larger than it has to be, so that a flat piece has a volume too, m.
    """
    found = []
    for span in spans:
        ends = [piece.points @ R_WL[k].T + p_WL[k] for k in (span.first, span.last)]
        corners = hull_vertices(np.concatenate(ends))
        reach = piece.radius + span.sagitta + growth
        # a cube contains the ball of a sagitta; what is round has more corners
        around = reach * (_CUBE if piece.radius < 10 * growth else _ball())
        points = (corners[:, None] + around).reshape(-1, 3)
        hull = ConvexHull(points)
        triangles = points[hull.simplices]
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        inward = (normals * hull.equations[:, :3]).sum(axis=1) < 0
        triangles[inward] = triangles[inward, ::-1]
        found.append(triangles)
    return np.concatenate(found)


_CUBE = np.array(list(product((-1.0, 1.0), repeat=3)))


@lru_cache(maxsize=1)
def _directions() -> Array:
    """Return unit vectors (n, 3), evenly spread: a spiral of equal areas."""
    k = np.arange(_DIRECTIONS) + 0.5
    z, angle = 1 - 2 * k / _DIRECTIONS, np.pi * (1 + np.sqrt(5)) * k
    ring = np.sqrt(1 - z * z)
    return np.column_stack((ring * np.cos(angle), ring * np.sin(angle), z))


@lru_cache(maxsize=1)
def _ball() -> Array:
    """Return the corners (n, 3) of a polyhedron that contains the unit ball."""
    directions = _directions()
    return directions / -float(ConvexHull(directions).equations[:, 3].max())


def simplified(piece: ConvexPiece) -> ConvexPiece:
    """Return a piece that contains another and has few corners; its radius is that much larger."""
    points = piece.points
    if len(points) <= _DIRECTIONS:
        return piece
    kept = np.unique((points @ _directions().T).argmax(axis=0))
    rest = np.delete(points, kept, axis=0)
    return ConvexPiece(points[kept], piece.radius + max(_distance(points[kept], x) for x in rest))


def _distance(corners: Array, x: Array) -> float:
    """Return an upper bound of the distance of x (3,) from the hull of corners (n, 3), m: that of some point of it."""
    scale = float(np.ptp(corners, axis=0).max())
    A = np.vstack(((corners - x).T / scale, np.full(len(corners), _SUM)))
    shares, _ = nnls(A, np.array([0.0, 0.0, 0.0, _SUM]))
    return float(np.linalg.norm((shares / shares.sum()) @ corners - x))
