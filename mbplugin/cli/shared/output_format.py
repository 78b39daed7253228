"""``--output-format`` of every command: what is stated, else what the ending of ``--output`` means."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from mbplugin.errors import BadUsage
from mbplugin.output_formats import BINARY, format_of, require_agreement
from mbplugin.report.formats import require_package


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
