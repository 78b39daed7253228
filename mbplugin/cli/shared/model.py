"""The model of a command: read from its FILE with the options of reading, and never overwritten by an output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.output import complain, refuse_overwriting
from mbplugin.files import remember_reads
from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.cli.shared.quantities import Quantities
    from mbplugin.model.scene import Scene


@dataclass(frozen=True)
class Reading:
    """The options of every command that reads one model; a field is an option.

    Parameters
    ----------
    base : "fixed" or "free", optional
    package_dir, xacro_arg : list of str, optional
    xacro_unsafe : bool
    units : str, optional
        Of angles and lengths that are written without one, and in the text that is printed.
    """

    base: opt.BaseOption = None
    package_dir: opt.PackageDirOption = None
    xacro_unsafe: opt.XacroUnsafeOption = False
    xacro_arg: opt.XacroArgOption = None
    units: opt.UnitsOption = None


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

    remember_reads()
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


def quantities_of(scene: Scene, file: str, reading: Reading) -> Quantities:
    """Return what reads the numbers of options; units are those of ``--units``, else of the configuration.

    Raises
    ------
    BadUsage
        Unknown units, or a configuration that cannot be read.
    """
    from mbplugin.cli.shared.quantities import Quantities
    from mbplugin.model.units import read_units

    if reading.units is not None:
        units = read_units(opt.split([reading.units]), "--units")
    else:
        from mbplugin.linter.config.find import settings_for

        settings = settings_for(Path() if file == opt.STDIN else Path(file))
        units = settings.units
        if not units.is_si:
            place = visible(settings.origins.get("units", settings.file))
            complain(f"mbplugin: numbers without a unit are in {units.angle} and {units.length} ({place}).")
    return Quantities(units, scene.mechanism)
