"""Models of other libraries in memory: MuJoCo, Pinocchio, yourdfpy, urchin."""

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
        An ``MjModel`` is read at ``qpos0``, an ``MjData`` in its state; an ``MjSpec`` is compiled from a copy.
        yourdfpy and urchin robots are read from the URDF that their library writes.
    base : "fixed" or "free", optional
        Overrides the base of the root links.

    Raises
    ------
    MbPluginError
        The model is not a mechanism.
    """
    kind = library_model(source)
    if kind == ("yourdfpy", "URDF"):
        text = source.write_xml_string()
        return _urdf(text.decode() if isinstance(text, bytes) else text, source.robot.name, base)
    if kind == ("urchin", "URDF"):
        with tempfile.TemporaryDirectory() as folder:
            # urchin writes the meshes beside the file
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
        # MuJoCo 3.2 cannot copy a spec in Python; compiling leaves it unchanged
        own = spec
    return own.compile()


def _urdf(text: str, name: str, base: Base | None) -> Scene:
    scene = load(f"<{name or 'robot'}>", text=text, base=base)
    return replace(scene, files=())
