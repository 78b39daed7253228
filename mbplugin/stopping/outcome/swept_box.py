"""The volume that a stop sweeps: boxes around the motion of every body, in world axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Payload, Request, Shape
from mbplugin.model.spatial import Array
from mbplugin.readers.meshes.named import mesh_bounds
from mbplugin.simulation.trajectory.body_motions import BodyMotions
from mbplugin.stopping.outcome.values import SweptVolume


def swept_box(
    mech: Mechanism,
    bodies: BodyMotions,
    shapes: Mapping[str, tuple[Shape, ...]],
    payloads: Sequence[Payload],
    request: Request | None = None,
) -> SweptVolume:
    """Return the boxes that the bodies sweep.

    Parameters
    ----------
    request : Request, optional
        By which mesh files are found.
    bodies : BodyMotions
        Of all bodies along the motion.
    """
    boxes, left_out = {}, []
    for i, body in enumerate(mech.bodies):
        points, whole = _points(mech, body.name, shapes.get(body.name, ()), payloads, request)
        if not whole:
            left_out.append(body.name)
        along = np.einsum("tij,nj->tni", bodies.R_WL[:, i], points) + bodies.p_WL[:, None, i]
        boxes[body.name] = np.array([along.min(axis=(0, 1)), along.max(axis=(0, 1))])
    corners = np.array(list(boxes.values()))
    return SweptVolume(boxes, corners[:, 0].min(axis=0), corners[:, 1].max(axis=0), tuple(left_out))


def _points(
    mech: Mechanism,
    name: str,
    shapes: tuple[Shape, ...],
    payloads: Sequence[Payload],
    request: Request | None,
) -> tuple[Array, bool]:
    """Return points (n, 3) of a body in its link frame, and whether they span all its shapes."""
    body = mech.bodies[mech.body_index[name]]
    points = [body.p_LC]
    points += [pair.X_AP.p for pair in mech.pairs if pair.body_a == name]
    points += [pair.X_BS.p for pair in mech.pairs if pair.body_b == name]
    points += [np.asarray(payload.com) for payload in payloads if payload.body == name]
    whole = bool(shapes)
    for shape in shapes:
        box = mesh_bounds(shape, request) if shape.kind == "mesh" else _box(shape)
        if box is None:
            whole = False
            continue
        points += [shape.X_LS.apply(np.array(corner)) for corner in product(*box.T)]
    return np.array(points), whole


def _box(shape: Shape) -> Array | None:
    """Return lowest and highest corner of a shape (2, 3) in its own axes, m; None for planes."""
    size = shape.size
    if shape.kind == "box":
        half = 0.5 * np.array(size)
    elif shape.kind == "sphere":
        half = np.full(3, size[0])
    elif shape.kind in ("cylinder", "capsule"):
        end = size[0] if shape.kind == "capsule" else 0.0
        half = np.array([size[0], size[0], 0.5 * size[1] + end])
    else:
        return None
    return np.array([-half, half])
