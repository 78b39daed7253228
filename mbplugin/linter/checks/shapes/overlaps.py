"""Links whose collision shapes lie in each other, as engines with convex collision shapes see them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from mbplugin.linter.checks.srdf import srdf_beside
from mbplugin.linter.checks.urdf_elements import urdf_documents
from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.scene import Scene, Shape
from mbplugin.model.spatial import Array, Pose, quaternion_from_rotation
from mbplugin.readers.meshes.checks import UnusableMesh
from mbplugin.readers.meshes.named import mesh_file, read_mesh

_PRIMITIVES = ("box", "sphere", "cylinder", "capsule")


@dataclass(frozen=True)
class Overlap:
    """Two links, and how deep one lies in the other, m."""

    link_a: str
    link_b: str
    depth: float


def overlaps(scene: Scene, q: Array) -> Iterator[Overlap]:
    """Yield the pairs of links that overlap at coordinates q (nq,).

    Links that a joint joins, rigidly joined links and pairs that an SRDF disables are passed over.
    """
    from mbplugin.bullet.overlap import Solid, overlap_depths

    poses, index = forward(scene.mechanism, q), scene.mechanism.body_index
    owners: list[str] = []
    solids: list[Solid] = []
    boxes: list[Array] = []
    for link, shapes in scene.shapes.items():
        for shape in shapes if link in index else ():
            points = _points(shape, scene) if shape.role == "collision" else None
            if points is None:
                continue
            X_WS = poses.of(index[link]) @ shape.X_LS
            kind = shape.kind if shape.kind in _PRIMITIVES else "hull"
            vertices = tuple(map(tuple, points.tolist())) if kind == "hull" else ()
            turn = tuple(quaternion_from_rotation(X_WS.R).tolist())
            solids.append(Solid(kind, shape.size, vertices, tuple(X_WS.p.tolist()), turn))
            owners.append(link)
            boxes.append(_box(points, X_WS))
    passed = _passed_over(scene)
    pairs = [
        (i, j)
        for i, j in combinations(range(len(solids)), 2)
        if frozenset((owners[i], owners[j])) not in passed and owners[i] != owners[j]
        if np.all(boxes[i][0] <= boxes[j][1]) and np.all(boxes[j][0] <= boxes[i][1])
    ]
    deepest: dict[tuple[str, str], float] = {}
    for (i, j), depth in zip(pairs, overlap_depths(solids, pairs) if pairs else (), strict=True):
        key = (owners[i], owners[j])
        deepest[key] = max(depth, deepest.get(key, 0.0))
    yield from (Overlap(a, b, depth) for (a, b), depth in deepest.items())


def _points(shape: Shape, scene: Scene) -> Array | None:
    """Return points (n, 3) of a shape in its own axes whose hull holds it; None where it is unknown."""
    if shape.kind in _PRIMITIVES:
        if not all(0 < length < np.inf for length in shape.size):
            return None
        if shape.kind == "box":
            half = np.array(shape.size) / 2
        else:
            radius, length = shape.size[0], shape.size[1] if len(shape.size) > 1 else 0.0
            reach = length / 2 if shape.kind == "cylinder" else radius + length / 2
            half = np.array([radius, radius, reach])
        corners = np.array(list(product((-1.0, 1.0), repeat=3)))
        return np.asarray(half * corners)
    path = mesh_file(shape, scene.request) if shape.kind == "mesh" else None
    try:
        return None if path is None else _hull(np.array(read_mesh(path, shape.size).vertices, dtype=float))
    except UnusableMesh:
        return None


def _hull(points: Array) -> Array | None:
    """Return the corners (k, 3) of the convex hull of points (n, 3); None where they span no volume."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(points[ConvexHull(points).vertices], dtype=float)
    except (QhullError, ValueError):
        return None


def _box(points: Array, X_WS: Pose) -> Array:
    """Return lowest and highest corner (2, 3) of points (n, 3), m, world axes."""
    placed = points @ X_WS.R.T + X_WS.p
    return np.array([placed.min(axis=0), placed.max(axis=0)])


def _passed_over(scene: Scene) -> set[frozenset[str]]:
    group = rigid_groups(scene.mechanism)
    joined = {
        frozenset((a, b))
        for pair in scene.mechanism.pairs
        for a in group[pair.body_a]
        for b in group[pair.body_b]
    }
    rigid = {frozenset((a, b)) for members in set(group.values()) for a, b in combinations(members, 2)}
    return {pair for pair in joined | rigid if WORLD not in pair} | set(_disabled(scene))


def _disabled(scene: Scene) -> Iterator[frozenset[str]]:
    for document in urdf_documents(scene):
        srdf = srdf_beside(document, scene)
        for element in srdf.root.children("disable_collisions") if srdf is not None else ():
            yield frozenset(document.prefix + element.get(end) for end in ("link1", "link2"))
