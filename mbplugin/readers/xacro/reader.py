"""Xacro: checked, then expanded in a process of its own, with all arguments at their defaults."""

from __future__ import annotations

import os
from dataclasses import replace

from mbplugin.errors import UnreadableFile
from mbplugin.model.scene import Origin, Request, Scene
from mbplugin.processes.foreign import Limits, in_own_child
from mbplugin.readers.common.environment import is_ros_variable
from mbplugin.readers.common.xml import refuse_entities
from mbplugin.readers.urdf.reader import read_urdf
from mbplugin.readers.xacro.expand import expand

#: What the expansion of one file may take.
LIMITS = Limits(seconds=60.0, cpu=10, memory=1 << 30)


def read_xacro(text: str, request: Request) -> Scene:
    """Return the scene of a xacro file.

    Origins name the file without a line: lines of the expanded text stand nowhere in it.

    Raises
    ------
    MissingDependency
        ``xacro`` is not installed.
    RefusedXacro
        The file has expressions that are not evaluated unless they are allowed.
    BrokenModel
        The expansion failed or passed a limit, or what came out is no URDF.
    """
    if request.text is not None:
        raise UnreadableFile(
            "xacro cannot be read from a text, because it names other files",
            where=request.path,
            expected="a file",
            remedy="pass the path of the .xacro file",
        )
    refuse_entities(text, request.path)
    expanded = replace(request, path=f"{request.path} (expanded)")
    scene = read_urdf(_expanded(request), expanded)

    def in_file(origin: Origin) -> Origin:
        return Origin(request.path, 0, origin.text) if origin.file == expanded.path else origin

    return replace(
        scene,
        request=request,
        files=(request.path, *scene.files[1:]),
        origin={key: in_file(origin) for key, origin in scene.origin.items()},
        defects=tuple(replace(d, origin=in_file(d.origin) if d.origin else None) for d in scene.defects),
    )


def _expanded(request: Request) -> str:
    environment = {
        name: value for name, value in os.environ.items() if request.xacro_unsafe or is_ros_variable(name)
    }
    return in_own_child("xacro", LIMITS, request.path, environment, expand, request, frozenset(os.environ))
