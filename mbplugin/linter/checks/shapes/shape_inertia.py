"""Mass properties of the shapes of a link at uniform density: closed forms, and meshes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import pi

import numpy as np

from mbplugin.linter.checks.shapes.mesh_cache import solid_of_file
from mbplugin.model.bounds import LARGEST
from mbplugin.model.scene import Request, Shape
from mbplugin.model.spatial import Array
from mbplugin.readers.meshes.named import mesh_file


@dataclass(frozen=True, eq=False)
class Solid:
    """A body of density one.

    Parameters
    ----------
    volume : float
        m³.
    center : (3,) array
        Centroid, m.
    inertia : (3, 3) array
        About the centroid, m⁵.
    lower, upper : (3,) array
        Bounding box, m.
    """

    volume: float
    center: Array
    inertia: Array
    lower: Array
    upper: Array


def solid_of(shapes: Iterable[Shape], request: Request | None) -> Solid | None:
    """Return the union of a link's collision shapes, else of its visual ones, in link axes.

    Overlaps count twice. None where there is no shape, or one that is flat, endless or unreadable.
    """
    known = tuple(shapes)
    chosen = [s for s in known if s.role == "collision"] or [s for s in known if s.role == "visual"]
    parts = [part for shape in chosen if (part := _placed(shape, request)) is not None]
    if not parts or len(parts) < len(chosen):
        return None
    volume = sum(part.volume for part in parts)
    center = np.asarray(sum(part.volume * part.center for part in parts) / volume)
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.center - center
        inertia += part.inertia + part.volume * (d @ d * np.eye(3) - np.outer(d, d))
    return Solid(
        float(volume),
        center,
        inertia,
        np.min([part.lower for part in parts], axis=0),
        np.max([part.upper for part in parts], axis=0),
    )


def _placed(shape: Shape, request: Request | None) -> Solid | None:
    own = _mesh(shape, request) if shape.kind == "mesh" else _primitive(shape)
    if own is None or own.volume <= 0 or not np.isfinite(own.inertia).all():
        return None
    R, p = shape.X_LS.R, shape.X_LS.p
    middle, half = 0.5 * (own.lower + own.upper), 0.5 * (own.upper - own.lower)
    box_center, box_half = R @ middle + p, np.abs(R) @ half
    return Solid(
        own.volume,
        np.asarray(R @ own.center + p),
        np.asarray(R @ own.inertia @ R.T),
        np.asarray(box_center - box_half),
        np.asarray(box_center + box_half),
    )


def _primitive(shape: Shape) -> Solid | None:
    if shape.kind == "box":
        x, y, z = shape.size
        volume = x * y * z
        moments = volume / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
        half = np.array([x, y, z]) / 2
    elif shape.kind == "sphere":
        (r,) = shape.size
        volume = 4 / 3 * pi * r**3
        moments, half = np.full(3, 0.4 * volume * r * r), np.full(3, r)
    elif shape.kind == "cylinder":
        r, h = shape.size
        volume = pi * r * r * h
        across = volume * (3 * r * r + h * h) / 12
        moments, half = np.array([across, across, volume * r * r / 2]), np.array([r, r, h / 2])
    elif shape.kind == "capsule":
        r, h = shape.size
        tube, ball = pi * r * r * h, 4 / 3 * pi * r**3
        # each half ball has its centroid 3/8 r outside the tube's end
        across = tube * (3 * r * r + h * h) / 12 + ball * (0.4 * r * r + h * h / 4 + 3 / 8 * r * h)
        volume = tube + ball
        along = tube * r * r / 2 + 0.4 * ball * r * r
        moments, half = np.array([across, across, along]), np.array([r, r, h / 2 + r])
    else:
        return None
    return Solid(volume, np.zeros(3), np.diag(moments), -half, half)


def _mesh(shape: Shape, request: Request | None) -> Solid | None:
    path = mesh_file(shape, request)
    solid = None if path is None else solid_of_file(path)
    if solid is None or not all(0 < abs(s) <= LARGEST for s in shape.size):
        return None
    own = solid.scaled(tuple(shape.size))
    return Solid(own.volume, own.center, own.inertia, own.lower, own.upper)
