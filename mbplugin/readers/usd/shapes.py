"""Gprims of a stage as shapes of links; meshes are in the stage and have no file of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbplugin.model.mechanism import WORLD
from mbplugin.model.scene import Shape
from mbplugin.model.spatial import Array, Pose, align_z
from mbplugin.readers.usd.bodies import Bodies
from mbplugin.readers.usd.stage import Stage

_KINDS = {"Cube": "box", "Sphere": "sphere", "Cylinder": "cylinder", "Capsule": "capsule"}
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def read_shapes(stage: Stage, bodies: Bodies) -> dict[str, tuple[Shape, ...]]:
    """Return the boxes, spheres, cylinders and capsules of every body; ellipsoids and sheared ones have none."""
    found: dict[str, list[Shape]] = {}
    for prim in stage.prims:
        kind = _KINDS.get(str(prim.GetTypeName()))
        if kind is None or (owner := bodies.owner(prim)) == WORLD:
            continue
        shape = _shape(stage, prim, kind, bodies.pose(owner))
        if shape is not None:
            found.setdefault(owner, []).append(shape)
    return {name: tuple(shapes) for name, shapes in found.items()}


def _shape(stage: Stage, prim: Any, kind: str, X_WL: Pose) -> Shape | None:
    A, p = stage.matrix(prim)
    role = "collision" if prim.HasAPI(stage.pxr.UsdPhysics.CollisionAPI) else "visual"
    scale = stage.metre * np.linalg.norm(A, axis=0)
    if not (scale > 0).all():
        return None
    X_WS = Pose(stage.rotation(prim, A), stage.metre * p)
    X_LS = X_WL.inverse() @ X_WS
    if kind == "box":
        return Shape(role, kind, tuple(float(s) for s in scale * abs(stage.number(prim, "size", 2.0))), X_LS)
    if kind == "sphere":
        radius = abs(stage.number(prim, "radius", 1.0))
        return Shape(role, kind, (float(scale[0] * radius),), X_LS) if _even(scale) else None
    axis = np.array(_AXES.get(str(stage.value(prim, "axis")), _AXES["Z"]))
    across = scale[axis == 0]
    if not _even(across) or (kind == "capsule" and not _even(scale)):
        return None
    default = (1.0, 2.0) if kind == "cylinder" else (0.5, 1.0)
    radius = float(across[0]) * abs(stage.number(prim, "radius", default[0]))
    height = float(scale @ axis) * abs(stage.number(prim, "height", default[1]))
    return Shape(role, kind, (radius, height), X_LS @ Pose(align_z(axis), np.zeros(3)))


def _even(scale: Array) -> bool:
    """Return whether all factors of ``scale`` (k,) are the same."""
    return bool(np.ptp(scale) <= 1e-6 * scale.max())
