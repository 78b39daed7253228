"""Models of other libraries that are in memory: MuJoCo, Pinocchio, yourdfpy, urchin."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from mbplugin.model.enumerations import Base, library_model
from mbplugin.model.scene import Scene
from mbplugin.readers import load
from mbplugin.readers.common.paths import read_text


def read_library_model(source: Any, base: Base | None = None) -> Scene:
    """Return the scene of a model of another library.

    Parameters
    ----------
    source : MjModel, MjData, MjSpec, pinocchio.Model, yourdfpy.URDF or urchin.URDF
        A model of MuJoCo is taken at ``qpos0``, its data in their state; a copy of a description is compiled. Robots
        are read as their library writes them.
    base : "fixed" or "free", optional
        Overrides the base of the root links.

    Raises
    ------
    MbPluginError
        A model that is no mechanism.
    """
    kind = library_model(source)
    if kind == ("yourdfpy", "URDF"):
        text = source.write_xml_string()
        return _urdf(text.decode() if isinstance(text, bytes) else text, source.robot.name, base)
    if kind == ("urchin", "URDF"):
        with tempfile.TemporaryDirectory() as folder:
            # it writes its meshes beside the file
            file = Path(folder) / "robot.urdf"
            source.save(str(file))
            return _urdf(read_text(file), source.name, base)
    if kind == ("pinocchio", "Model"):
        from mbplugin.readers.pinocchio_model import scene_of_pinocchio

        return scene_of_pinocchio(source, base)
    from mbplugin.readers.mjcf.reader import scene_of_model

    if kind == ("mujoco", "MjData"):
        return scene_of_model(source.model, source, base)
    return scene_of_model(_compiled(source) if kind == ("mujoco", "MjSpec") else source, None, base)


def _compiled(spec: Any) -> Any:
    try:
        own = spec.copy()
    except TypeError:
        # MuJoCo 3.2 has no copies in Python; compiling leaves the description as it is
        own = spec
    return own.compile()


def _urdf(text: str, name: str, base: Base | None) -> Scene:
    scene = load(f"<{name or 'robot'}>", text=text, base=base)
    return replace(scene, files=())
