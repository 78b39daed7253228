"""The room that a stop sweeps: boxes around what every body passes, in world axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from mbplugin.estop.values import Corridor
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.sources.scene import Payload, Shape
from mbplugin.spatial import Array


def swept(
    mech: Mechanism,
    R: Array,
    p: Array,
    shapes: Mapping[str, tuple[Shape, ...]],
    payloads: Sequence[Payload],
) -> Corridor:
    """Return the boxes that the bodies sweep.

    Parameters
    ----------
    R, p : (T, N, 3, 3), (T, N, 3) array
        Link frames of all bodies along the motion.
    """
    boxes, left_out = {}, []
    for i, body in enumerate(mech.bodies):
        points, whole = _points(mech, body.name, shapes.get(body.name, ()), payloads)
        if not whole:
            left_out.append(body.name)
        along = np.einsum("tij,nj->tni", R[:, i], points) + p[:, None, i]
        boxes[body.name] = np.array([along.min(axis=(0, 1)), along.max(axis=(0, 1))])
    corners = np.array(list(boxes.values()))
    return Corridor(boxes, corners[:, 0].min(axis=0), corners[:, 1].max(axis=0), tuple(left_out))


def _points(
    mech: Mechanism, name: str, shapes: tuple[Shape, ...], payloads: Sequence[Payload]
) -> tuple[Array, bool]:
    """Return points (n, 3) of a body in its link frame, and whether they span all its shapes."""
    body = mech.bodies[mech.body_index[name]]
    points = [body.p_LC]
    points += [pair.X_AP.p for pair in mech.pairs if pair.body_a == name]
    points += [pair.X_BS.p for pair in mech.pairs if pair.body_b == name]
    points += [np.asarray(payload.com) for payload in payloads if payload.body == name]
    whole = bool(shapes)
    for shape in shapes:
        half = _half(shape)
        if half is None:
            whole = False
            continue
        points += [shape.X_LS.apply(half * signs) for signs in product((-1.0, 1.0), repeat=3)]
    return np.array(points), whole


def _half(shape: Shape) -> Array | None:
    """Return half the edges of a shape's box in its own axes, m; None for meshes and planes."""
    size = shape.size
    if shape.kind == "box":
        return 0.5 * np.array(size)
    if shape.kind == "sphere":
        return np.full(3, size[0])
    if shape.kind in ("cylinder", "capsule"):
        end = size[0] if shape.kind == "capsule" else 0.0
        return np.array([size[0], size[0], 0.5 * size[1] + end])
    return None
