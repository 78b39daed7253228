"""Triangles of simple solids: box, ball, cylinder, capsule and cone, oriented outwards.

Pages, pictures and estimates of beam sections need only these few solids: writing them down takes less time than
importing a library of meshes.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import pi, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mbplugin.model.spatial import Array, make_read_only

#: Vertices (n, 3), and triangles (k, 3) of vertex indices, counter-clockwise as seen from outside.
Triangles: TypeAlias = tuple[Array, NDArray[np.int64]]


def box_triangles(x: float, y: float, z: float) -> Triangles:
    """Return the triangles of a box centred at the origin.

    Parameters
    ----------
    x, y, z : float
        Edges, m.

    Returns
    -------
    vertices : (8, 3) array
        m.
    faces : (12, 3) array of int
        Counter-clockwise as seen from outside.
    """
    corners = np.array(list(product((-0.5, 0.5), repeat=3)))
    faces = []
    for axis in range(3):
        # the corners of one side in the order of the next two axes, seen from the end of the axis
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (-0.5, 0.5):
            on = np.flatnonzero(corners[:, axis] == side)
            turn = np.arctan2(corners[on, v], corners[on, u])
            a, b, c, d = on[np.argsort(side * turn)]
            faces += [(a, b, c), (a, c, d)]
    return corners * (x, y, z), np.array(faces, dtype=np.int64)


@lru_cache(maxsize=4)
def unit_ball(subdivisions: int) -> Triangles:
    """Return the triangles of a ball of radius 1 m: an icosahedron whose triangles are divided by four repeatedly.

    Parameters
    ----------
    subdivisions : int
        Number of divisions; there are 20·4ⁿ triangles.

    Returns
    -------
    vertices : (10·4ⁿ + 2, 3) array
        m, on the sphere; read-only.
    faces : (20·4ⁿ, 3) array of int
        Counter-clockwise as seen from outside; read-only.
    """
    vertices, faces = _icosahedron()
    for _ in range(subdivisions):
        edges = np.sort(faces[:, [(0, 1), (1, 2), (2, 0)]], axis=2).reshape(-1, 2)
        unique, of = np.unique(edges, axis=0, return_inverse=True)
        middles = vertices[unique].mean(axis=1)
        a, b, c = faces.T
        ab, bc, ca = len(vertices) + of.reshape(-1, 3).T
        vertices = np.vstack((vertices, middles / np.linalg.norm(middles, axis=1, keepdims=True)))
        faces = np.vstack(
            [np.column_stack(part) for part in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        )
    make_read_only(vertices, faces)
    return vertices, faces


def cylinder_triangles(radius: float, length: float, sides: int) -> Triangles:
    """Return the triangles of a prism within a cylinder along z, centred at the origin.

    Parameters
    ----------
    radius, length : float
        m.
    sides : int
        Number of sides.

    Returns
    -------
    vertices : (n, 3) array
        m.
    faces : (k, 3) array of int
        Counter-clockwise as seen from outside.
    """
    half = 0.5 * length
    return revolved(np.array([(0.0, -half), (radius, -half), (radius, half), (0.0, half)]), sides)


def capsule_triangles(radius: float, length: float, sides: int, rings: int) -> Triangles:
    """Return the triangles of a capsule along z, centred at the origin: a cylinder with half balls at its ends.

    Parameters
    ----------
    radius, length : float
        Of the cylinder, m.
    sides : int
        Number of sides.
    rings : int
        Number of rings of each half ball.

    Returns
    -------
    vertices : (n, 3) array
        m.
    faces : (k, 3) array of int
        Counter-clockwise as seen from outside.
    """
    angle = np.linspace(0.0, 0.5 * pi, rings + 1)
    upper = np.column_stack((radius * np.cos(angle), 0.5 * length + radius * np.sin(angle)))
    # exactly on the axis, so that the pole is one vertex
    upper[-1, 0] = 0.0
    return revolved(np.vstack((upper[::-1] * (1.0, -1.0), upper)), sides)


def cone_triangles(radius: float, height: float, sides: int) -> Triangles:
    """Return the triangles of a pyramid within a cone along z, with its base in z = 0.

    Parameters
    ----------
    radius, height : float
        m.
    sides : int
        Number of sides.

    Returns
    -------
    vertices : (n, 3) array
        m.
    faces : (k, 3) array of int
        Counter-clockwise as seen from outside.
    """
    return revolved(np.array([(0.0, 0.0), (radius, 0.0), (0.0, height)]), sides)


def revolved(profile: Array, sides: int) -> Triangles:
    """Return the triangles of the solid of a profile that turns about z.

    Parameters
    ----------
    profile : (n, 2) array
        Distance from the axis and height of each point, m, from the lower end to the upper one; both ends, and no other
        points, are on the axis.
    sides : int
        Number of sides of the turn.

    Returns
    -------
    vertices : (2 + (n − 2)·sides, 3) array
        m; the two poles first.
    faces : (2·(n − 2)·sides, 3) array of int
        Counter-clockwise as seen from outside.
    """
    angle = np.linspace(0.0, 2.0 * pi, sides, endpoint=False)
    around = np.column_stack((np.cos(angle), np.sin(angle)))
    poles = np.zeros((2, 3))
    poles[:, 2] = profile[[0, -1], 1]
    rings = [np.column_stack((r * around, np.full(sides, z))) for r, z in profile[1:-1].tolist()]
    here = np.arange(sides)
    following = (here + 1) % sides
    first, last = 2, 2 + (len(rings) - 1) * sides
    faces = [np.column_stack((np.zeros(sides, dtype=np.int64), first + following, first + here))]
    for start in range(first, last, sides):
        low, low_next = start + here, start + following
        up, up_next = low + sides, low_next + sides
        faces += [np.column_stack((low, low_next, up_next)), np.column_stack((low, up_next, up))]
    faces.append(np.column_stack((np.ones(sides, dtype=np.int64), last + here, last + following)))
    return np.vstack((poles, *rings)), np.vstack(faces).astype(np.int64)


def _icosahedron() -> Triangles:
    """Return the triangles of an icosahedron whose vertices are 1 m from the origin."""
    long = 0.5 * (1.0 + sqrt(5.0))
    corners = [(0.0, s, t * long) for s, t in product((-1, 1), repeat=2)]
    vertices = np.array([np.roll(corner, turn) for turn in range(3) for corner in corners]) / sqrt(
        1 + long * long
    )
    # three vertices are a face if all are neighbours, which are nearest to each other
    gap = np.linalg.norm(vertices[:, None] - vertices, axis=2)
    near = np.abs(gap - gap[gap > 0].min()) < 1e-9
    faces = [
        (a, b, c)
        for a in range(12)
        for b in range(a + 1, 12)
        for c in range(b + 1, 12)
        if near[a, b] and near[b, c] and near[c, a]
    ]
    outwards = [np.linalg.det(vertices[list(face)]) > 0 for face in faces]
    oriented = [(a, b, c) if out else (a, c, b) for (a, b, c), out in zip(faces, outwards, strict=True)]
    return vertices, np.array(oriented, dtype=np.int64)
