"""Xacro: checked, then expanded in a process of its own, with the arguments of the caller."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from mbplugin.errors import MbPluginError, UnreadableFile
from mbplugin.model.scene import Request, Scene
from mbplugin.processes.foreign import Limits, in_own_child
from mbplugin.processes.walls import Walls
from mbplugin.readers.common.environment import is_ros_variable
from mbplugin.readers.common.xml import refuse_entities, root_name
from mbplugin.readers.sdf.reader import read_sdf
from mbplugin.readers.urdf.reader import read_urdf
from mbplugin.readers.xacro.expand import expand
from mbplugin.readers.xacro.packages import Files
from mbplugin.readers.xacro.places import Expansion, Written

#: What the expansion of one file may take.
LIMITS = Limits(seconds=60.0, cpu=10, memory=1 << 30)
#: It computes, and asks for what it needs of files.
_WALLS = Walls(reads=False)


def read_xacro(text: str, request: Request) -> Scene:
    """Return the scene of a xacro file.

    Origins name the xacro file and line in which an element was written, be it an included one.

    Raises
    ------
    MissingDependency
        ``xacro`` is not installed.
    RefusedXacro
        The file has expressions that are not evaluated unless they are allowed.
    BrokenModel
        The expansion failed or passed a limit, or what came out is no URDF.
    UnresolvedPath
        A package is found nowhere.
    UnreadableFile
        It is a text without a file, which could not name others.
    """
    if request.text is not None:
        raise UnreadableFile(
            "xacro cannot be read from a text, because it names other files",
            where=request.path,
            expected="a file",
            remedy="pass the path of the .xacro file",
        )
    refuse_entities(text, request.path)
    expansion = _expanded(request)
    name = f"{request.path} (expanded)"
    written = Written(expansion, name, request.path)
    try:
        read = read_sdf if root_name(expansion.text) == "sdf" else read_urdf
        scene = read(expansion.text, replace(request, path=name))
    except MbPluginError as error:
        raise written.error(error) from None
    files = (request.path, *expansion.files, *scene.files[1:])
    return replace(written.scene(scene), request=request, files=tuple(dict.fromkeys(files)))


def _expanded(request: Request) -> Expansion:
    environment = {
        name: value for name, value in os.environ.items() if request.xacro_unsafe or is_ros_variable(name)
    }
    variables = frozenset(os.environ)
    if request.xacro_unsafe:
        # the user trusts it like a program, and may want it to start programs
        return in_own_child(
            "xacro", LIMITS, request.path, environment, expand, request, variables, walls=None
        )
    arguments, files = (request, variables, str(Path.cwd())), Files(request)
    return in_own_child(
        "xacro", LIMITS, request.path, environment, expand, *arguments, walls=_WALLS, served=files
    )
