"""The model of a command: read from its FILE, and never overwritten by an output."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mbplugin.cli.shared.options import parse_xacro_args, read_source
from mbplugin.cli.shared.output import refuse_overwriting

if TYPE_CHECKING:
    from mbplugin.model.enumerations import Base
    from mbplugin.model.scene import Scene


def read_scene(
    file: str,
    outputs: Iterable[Path | None],
    base: Base | None,
    package_dir: list[str] | None,
    xacro_unsafe: bool,
    xacro_arg: list[str] | None,
    *,
    also: Iterable[Path | None] = (),
    snap_angles: bool = False,
) -> Scene:
    """Return the scene of a FILE argument.

    Parameters
    ----------
    file : str
        A path, or ``-`` for stdin.
    outputs, also : iterable of path
        What the command writes, and what else it reads; None where an option is absent.
    base, package_dir, xacro_unsafe, xacro_arg, snap_angles
        Values of the options of these names.

    Raises
    ------
    MbPluginError
        The model is not usable.
    BadUsage
        An output is one of the files that are read.
    """
    from mbplugin import readers

    name, text = read_source(file)
    scene = readers.load(
        name,
        text=text,
        package_dirs=tuple(package_dir or ()),
        base=base,
        snap_angles=snap_angles,
        xacro_unsafe=xacro_unsafe,
        xacro_args=parse_xacro_args(xacro_arg),
    )
    refuse_overwriting(outputs, file, scene, also)
    return scene
