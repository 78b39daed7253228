"""Geoms of a compiled MuJoCo model as shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbplugin.model.scene import Shape
from mbplugin.readers.mjcf.files import ModelFiles
from mbplugin.readers.mjcf.names import Names
from mbplugin.readers.mjcf.tree import pose_wxyz


def read_shapes(mujoco: Any, model: Any, names: Names, files: ModelFiles) -> dict[str, tuple[Shape, ...]]:
    """Return the shapes of every body; ellipsoids, height fields and signed distances have none."""
    found: dict[str, list[Shape]] = {}
    for g in range(model.ngeom):
        body = int(model.geom_bodyid[g])
        shape = _shape(mujoco, model, g, files)
        if body and shape is not None:
            found.setdefault(names.body(body), []).append(shape)
    return {name: tuple(shapes) for name, shapes in found.items()}


def _shape(mujoco: Any, model: Any, g: int, files: ModelFiles) -> Shape | None:
    kinds = mujoco.mjtGeom
    kind = kinds(int(model.geom_type[g]))
    collides = bool(model.geom_contype[g] or model.geom_conaffinity[g])
    role = "collision" if collides else "visual"
    X_LS = pose_wxyz(model.geom_pos[g], model.geom_quat[g])
    a, b, c = (float(x) for x in model.geom_size[g])
    if kind == kinds.mjGEOM_BOX:
        return Shape(role, "box", (2 * a, 2 * b, 2 * c), X_LS)
    if kind == kinds.mjGEOM_SPHERE:
        return Shape(role, "sphere", (a,), X_LS)
    if kind in (kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER):
        return Shape(role, "capsule" if kind == kinds.mjGEOM_CAPSULE else "cylinder", (a, 2 * b), X_LS)
    if kind == kinds.mjGEOM_PLANE:
        return Shape(role, "plane", (2 * a, 2 * b), X_LS)
    if kind == kinds.mjGEOM_MESH:
        mesh = int(model.geom_dataid[g])
        # the compiler moves a mesh to its own principal frame
        X_MF = pose_wxyz(model.mesh_pos[mesh], model.mesh_quat[mesh])
        scale = tuple(float(s) for s in np.asarray(model.mesh_scale[mesh]))
        return Shape(role, "mesh", scale, X_LS @ X_MF.inverse(), files.path_of(_mesh_file(model, mesh)))
    return None


def _mesh_file(model: Any, mesh: int) -> str:
    start = int(model.mesh_pathadr[mesh])
    if start < 0:
        return ""
    paths = bytes(model.paths)
    return paths[start : paths.index(b"\0", start)].decode()
