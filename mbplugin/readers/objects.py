"""Models of other libraries that are in memory: MuJoCo, yourdfpy, urchin."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mbplugin.model.enumerations import Base
from mbplugin.model.scene import Scene
from mbplugin.readers import load
from mbplugin.readers.common.paths import read_text


def mujoco_model(model: Any, base: Base | None = None) -> Scene:
    """Return the scene of an ``MjModel`` at ``qpos0``.

    Parameters
    ----------
    model : MjModel
    base : "fixed" or "free", optional
        Overrides the base of the root links.
    """
    from mbplugin.readers.mjcf.reader import scene_of_model

    return scene_of_model(model, None, base)


def mujoco_data(data: Any, base: Base | None = None) -> Scene:
    """Return the scene of an ``MjData``: its model, in its state.

    Parameters
    ----------
    data : MjData
    base : "fixed" or "free", optional
        Overrides the base of the root links.
    """
    from mbplugin.readers.mjcf.reader import scene_of_model

    return scene_of_model(data.model, data, base)


def mujoco_spec(spec: Any, base: Base | None = None) -> Scene:
    """Return the scene of an ``MjSpec``; a copy of it is compiled.

    Parameters
    ----------
    spec : MjSpec
    base : "fixed" or "free", optional
        Overrides the base of the root links.
    """
    try:
        own = spec.copy()
    except TypeError:
        # MuJoCo 3.2 has no copies in Python; compiling leaves the description as it is
        own = spec
    return mujoco_model(own.compile(), base)


def yourdfpy_robot(robot: Any, base: Base | None = None) -> Scene:
    """Return the scene of a robot of yourdfpy, as it would write it.

    Parameters
    ----------
    robot : yourdfpy.URDF
    base : "fixed" or "free", optional
        Overrides the base of the root links.
    """
    text = robot.write_xml_string()
    return _urdf(text.decode() if isinstance(text, bytes) else text, robot.robot.name, base)


def urchin_robot(robot: Any, base: Base | None = None) -> Scene:
    """Return the scene of a robot of urchin, as it would write it.

    Parameters
    ----------
    robot : urchin.URDF
    base : "fixed" or "free", optional
        Overrides the base of the root links.
    """
    with tempfile.TemporaryDirectory() as folder:
        # it writes its meshes beside the file
        file = Path(folder) / "robot.urdf"
        robot.save(str(file))
        return _urdf(read_text(file), robot.name, base)


def _urdf(text: str, name: str, base: Base | None) -> Scene:
    scene = load(f"<{name or 'robot'}>", text=text, base=base)
    return replace(scene, files=())


#: By package and class.
READERS: dict[tuple[str, str], Callable[[Any, Base | None], Scene]] = {
    ("mujoco", "MjModel"): mujoco_model,
    ("mujoco", "MjData"): mujoco_data,
    ("mujoco", "MjSpec"): mujoco_spec,
    ("yourdfpy", "URDF"): yourdfpy_robot,
    ("urchin", "URDF"): urchin_robot,
}
