"""The ``[[model]]`` tables of a scene: each file read, placed, and joined with the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from mbplugin.errors import BadScene
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.scene import Request, Scene, State
from mbplugin.readers.common.merge import joined, placed
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.mechanism import ModelTable


def read_models(source: SceneSource, tables: SceneFile, request: Request) -> Scene:
    """Return all models of a scene as one; names are ``model/name`` where there are several.

    Raises
    ------
    BadScene
        Two models have one name.
    """
    name = scene_name(request)
    if not tables.model:
        return Scene(Mechanism(name, ()), State(np.zeros(0), np.zeros(0)))
    parts = [_read_model(source, i, table, request) for i, table in enumerate(tables.model)]
    if len(parts) == 1:
        model, scene = parts[0]
        return _with_origin(replace(scene, mechanism=replace(scene.mechanism, name=name)), source, 0, model)
    names = [model for model, _ in parts]
    for i, model in enumerate(names):
        if model in names[:i]:
            raise BadScene(
                f"two models are called {model!r}",
                where=source.where("model", i),
                remedy="give each [[model]] its own name",
            )
    scene = joined(parts, name)
    for i, model in enumerate(names):
        scene = _with_origin(scene, source, i, model)
    return scene


def scene_name(request: Request) -> str:
    """Return what the scene is called: its file without the ending."""
    name = Path(request.path).name
    return name.removesuffix(".toml").removesuffix(".scene") or name


def _read_model(source: SceneSource, index: int, table: ModelTable, request: Request) -> tuple[str, Scene]:
    from mbplugin.readers import load

    where = source.where("model", index, "file")
    if table.file.written.lower().endswith(".toml"):
        raise BadScene(
            f"model {table.file.written!r} is a scene",
            where=where,
            expected="a model file",
            remedy="name its models",
        )
    file = str(table.file.path(request, where))
    scene: Scene = load(
        file,
        package_dirs=request.package_dirs,
        base=request.base or table.base,
        snap_angles=request.snap_angles,
        xacro_unsafe=request.xacro_unsafe,
        xacro_args=dict(request.xacro_args),
    )
    X_WM = source.pose("model", index, table.xyz, table.rpy, "rpy")
    return table.name or scene.mechanism.name, placed(_with_meshes_beside(scene, file), X_WM)


def _with_meshes_beside(scene: Scene, file: str) -> Scene:
    """Note next to which file the meshes of a model are looked up."""
    shapes = {
        body: tuple(replace(shape, beside=file) if shape.mesh else shape for shape in own)
        for body, own in scene.shapes.items()
    }
    return replace(scene, shapes=shapes)


def _with_origin(scene: Scene, source: SceneSource, index: int, model: str) -> Scene:
    """Note where the model's pose was written."""
    origin = dict(scene.origin)
    if source.origin("model", index, "rpy").text:
        origin["model", model, "rpy"] = source.origin("model", index, "rpy")
    return replace(scene, origin=origin)
