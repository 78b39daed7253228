"""The model of a command: read from its FILE with the options of reading, and never overwritten by an output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.output import refuse_overwriting

if TYPE_CHECKING:
    from mbplugin.model.scene import Scene


@dataclass(frozen=True)
class Reading:
    """The options of every command that reads one model; a field is an option.

    Parameters
    ----------
    base : "fixed" or "free", optional
    package_dir, xacro_arg : list of str, optional
    xacro_unsafe : bool
    """

    base: opt.BaseOption = None
    package_dir: opt.PackageDirOption = None
    xacro_unsafe: opt.XacroUnsafeOption = False
    xacro_arg: opt.XacroArgOption = None


#: No option is given.
AS_WRITTEN = Reading()


def reads_model(command: Callable[..., Any]) -> Callable[..., Any]:
    """Put the options of reading in the place of a command's parameter ``reading``, for the command line."""
    own = inspect.signature(command, eval_str=True)
    of_reading = inspect.signature(Reading, eval_str=True).parameters
    parameters: list[inspect.Parameter] = []
    for name, parameter in own.parameters.items():
        parameters += of_reading.values() if name == "reading" else [parameter]

    @wraps(command)
    def run(**given: Any) -> Any:
        reading = Reading(**{name: given.pop(name) for name in of_reading})
        return command(**given, reading=reading)

    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def read_scene(
    file: str,
    outputs: Iterable[Path | None],
    reading: Reading,
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
    reading : Reading
    snap_angles : bool
        Value of the option of this name.

    Raises
    ------
    MbPluginError
        The model is not usable.
    BadUsage
        An output is one of the files that are read.
    """
    from mbplugin import readers

    name, text = opt.read_source(file)
    scene = readers.load(
        name,
        text=text,
        package_dirs=tuple(reading.package_dir or ()),
        base=reading.base,
        snap_angles=snap_angles,
        xacro_unsafe=reading.xacro_unsafe,
        xacro_args=opt.parse_xacro_args(reading.xacro_arg),
    )
    refuse_overwriting(outputs, file, scene, also)
    return scene
