"""Options of every command that writes: ``--output-format``, by the ending of ``--output``, and ``--force``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from mbplugin.errors import BadUsage
from mbplugin.output_formats import BINARY, format_of, require_agreement
from mbplugin.report.formats import require_package
from mbplugin.stamps import require_replaceable

#: The parameters of commands that name files to write; those of ``report`` are FORMAT=FILE.
WRITTEN = ("output", "save", "plot", "picture", "film", "write", "write_scene", "zone", "report")
#: Of the command whose folder is judged by what it holds.
_FOLDER = "out"
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace files that mbplugin did not write, or that were edited.")
]


def with_format(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command have its format from the ending of ``--output``, and refuse an ending that it does not offer.

    The formats are those of the annotation of its parameter ``output_format``, whose default is for outputs
    without a file or without an ending; a command without that parameter writes text.
    """
    own = inspect.signature(command, eval_str=True)
    if "output" not in own.parameters:
        return command
    parameter = own.parameters.get("output_format")
    offered = ["text"] if parameter is None else _names(parameter.annotation)
    default = "text" if parameter is None or parameter.default is None else parameter.default

    @wraps(command)
    def run(**given: Any) -> Any:
        chosen = chosen_format(given.get("output_format"), given.get("output"), offered, default)
        require_package(chosen)
        if parameter is not None:
            given["output_format"] = chosen
        return command(**given)

    parameters = [_open(one, default) if one is parameter else one for one in own.parameters.values()]
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def with_force(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command that writes refuse, before it does anything, to replace a file of somebody else.

    The command has ``--force``, which lets it; one with a folder of its own is told.
    """
    own = inspect.signature(command, eval_str=True)
    if not {*WRITTEN, _FOLDER} & {*own.parameters}:
        return command

    @wraps(command)
    def run(**given: Any) -> Any:
        force = given["force"] if "force" in own.parameters else given.pop("force")
        require_replaceable(_files_of(given), force)
        return command(**given)

    if "force" in own.parameters:
        return run
    more = inspect.Parameter("force", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=ForceOption)
    parameters = [
        *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own.parameters.values()),
        more,
    ]
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _files_of(given: Mapping[str, Any]) -> Iterator[Path | None]:
    """Yield the files that the options of a command name to be written."""
    for name in WRITTEN:
        value = given.get(name)
        if name == "report":
            yield from (Path(text.partition("=")[2]) for text in value or () if text.partition("=")[2])
        elif isinstance(value, list | tuple):
            yield from value
        else:
            yield value


def chosen_format(stated: str | None, output: Path | None, offered: list[str], default: str) -> str:
    """Return the format of an output: the stated one, or what its ending means, or the default.

    Raises
    ------
    BadUsage
        The ending means another format than the stated one; without one, it means none that is offered. Or a
        format that is no text, without a file.
    """
    if output is None and stated in BINARY:
        raise BadUsage(
            f"--output-format is {stated}, which is no text for stdout",
            remedy=f"add --output report.{stated}",
        )
    if output is None or not output.suffix:
        return stated or default
    if stated is None:
        return format_of(output, offered, "--output")
    require_agreement(output, stated)
    return stated


def _names(annotation: Any) -> list[str]:
    """Return the names in an annotation of an option."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [name for part in get_args(annotation) for name in _names(part)]


def _open(parameter: inspect.Parameter, default: str) -> inspect.Parameter:
    """Return the parameter of an option without its default, which its help states."""
    kind, option = get_args(parameter.annotation)
    option = copy(option)
    option.show_default = f"by the ending of --output, else {default}"
    return parameter.replace(annotation=Annotated[kind | None, option], default=None)
