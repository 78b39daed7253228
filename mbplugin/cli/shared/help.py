"""Help of commands: options in groups, an example below, commands by what they are for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

#: Groups of options, in the order of the help; what no group names is ``Options``, which comes first.
_OPTIONS = {
    "Model": (
        *("--base", "--package-dir", "--xacro-unsafe", "--xacro-arg", "--units", "--planar", "--tolerance"),
        *("--snap-angles", "--config", "--no-mesh-cache"),
    ),
    "State and motion": (
        *("--q", "--qd", "--qdd", "--duration", "--to", "--at", "--trajectory", "--profile", "--lock"),
        *("--hold", "--limits", "--category", "--stop", "--speed", "--signal", "--motion"),
    ),
    "Loads, brakes and payload": (
        *("--load", "--torque", "--payload", "--payload-share", "--brake", "--require-brakes"),
        *("--deceleration", "--tool", "--damping", "--friction", "--torque-tolerance", "--delay-tolerance"),
        *("--payload-range", "--speed-range", "--failure"),
    ),
    "Rules": (
        *("--select", "--ignore", "--extend-select", "--target", "--collisions", "--fail-on", "--baseline"),
        *("--misfit-limit", "--rule-seconds"),
    ),
    "Computation": (
        *("--integrator", "--step", "--rtol", "--atol", "--formulation", "--redundancy", "--coordinates"),
        *("--drift", "--transition", "--max-seconds", "--samples", "--seed", "--jobs", "--backend"),
        *("--address", "--iterations", "--method", "--grid"),
    ),
    "Output": (
        *(
            "--output-format",
            "--output",
            "--force",
            "--against",
            "--report",
            "--save",
            "--plot",
            "--picture",
            "--film",
        ),
        *("--size", "--camera", "--labels", "--zone", "--zone-resolution", "--payload-radius", "--quiet"),
        *("--verbose", "--write-scene", "--write", "--commands", "--frames", "--reactions"),
    ),
}
#: Characters of an argument with its choices.
_LONGEST = 60
_GROUP = {option: group for group, options in _OPTIONS.items() for option in options}
#: What commands are for, in the order of their use, and an example of each.
COMMANDS = {
    "Look for defects": {
        "lint": "mbplugin lint robot.urdf",
        "rule": "mbplugin rule MB201",
        "view": "mbplugin view robot.urdf --picture robot.png",
        "close": "mbplugin close robot.scene.toml --to mjcf --write robot.xml",
    },
    "Compute forces and motions": {
        "reactions": "mbplugin reactions robot.urdf --load tool:0,0,-100",
        "simulate": "mbplugin simulate robot.urdf --duration 2 --save motion.npz",
        "matrix": "mbplugin matrix robot.urdf --save C.npz",
    },
    "Compute stops": {
        "estop": "mbplugin estop robot.urdf --base fixed --qd j1=90deg/s --payload 5",
        "stop-table": "mbplugin stop-table robot.urdf --base fixed --payload 5 --output stops.html",
        "worst-stop": "mbplugin worst-stop robot.urdf --base fixed --payload 5",
        "sweep": "mbplugin sweep robot.urdf --base fixed --out stops --number 99 --qd j1=1",
        "calibrate": "mbplugin calibrate robot.urdf measured.csv --base fixed",
        "distance": "mbplugin distance stop.json --term K=1.6,t1=0.1,D_DS=0.1,Z=0.1",
    },
    "Compare": {
        "crosscheck": "mbplugin crosscheck robot.urdf",
        "engines": "mbplugin engines robot.urdf --load tool:0,0,-100",
        "diff": "mbplugin diff before.urdf after.urdf",
    },
    "Set up": {
        "config": "mbplugin config robot.urdf",
        "schema": "mbplugin schema lint",
        "warmup": "mbplugin warmup",
    },
}
EXAMPLES = {name: example for group in COMMANDS.values() for name, example in group.items()}
#: Other names of commands: those of the functions in Python.
ALIASES = {
    "analyze": "lint",
    "show": "view",
    "stopping-table": "stop-table",
    "stop_table": "stop-table",
    "stopping_table": "stop-table",
    "worst_stop": "worst-stop",
    "constraint-matrix": "matrix",
    "constraint_matrix": "matrix",
}
#: Endings of what is linted where no command is named.
_MODELS = (".urdf", ".xacro", ".sdf", ".world", ".xml", ".mjcf", ".toml", ".usd", ".usda", ".usdc", ".eurdf")


class Command(TyperCommand):
    """A command whose options stand in groups, with an example below."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        parameter: Any
        for parameter in self.params:
            parameter.process_value = partial(_processed, parameter, parameter.process_value)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options group by group."""
        groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        groups |= {group: [] for group in _OPTIONS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                name, text = record
                # choices that fit no line stand in the text
                groups["Arguments"].append((name if len(name) <= _LONGEST else name.partition(" ")[0], text))
            else:
                groups[_group_of(parameter.opts)].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example as it is typed."""
        example = EXAMPLES.get(str(ctx.info_name))
        if example:
            formatter.write(f"\nExample:\n  {example}\n")


def _processed(parameter: Any, process: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    """Return the value of a parameter; one that is not given needs no validator, and to build it takes long."""
    if value is not None or parameter.required or parameter.callback:
        return process(ctx, value)
    return () if parameter.multiple or parameter.nargs == -1 else None


def _group_of(names: list[str]) -> str:
    return next((_GROUP[name] for name in names if name in _GROUP), "Options")


class Commands(TyperGroup):
    """The commands in groups; a FILE in the place of a command is linted."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by what they are for, then the options of all."""
        others = [name for name in self.commands if name not in EXAMPLES]
        for title, commands in {**COMMANDS, **({"Others": others} if others else {})}.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(90)) for name in commands])
        records = [r for p in self.get_params(ctx) if (r := p.get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write what one types first."""
        formatter.write("\nmbplugin robot.urdf lints; mbplugin COMMAND --help explains a command.\n")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name, or by the name of its function in Python."""
        return super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command and its arguments; that of a model's file is lint."""
        first = args[0]
        if self.get_command(ctx, first) is None and _is_model(first):
            args = ["lint", *args]
        name, command, rest = super().resolve_command(ctx, args)
        return ALIASES.get(name or "", name), command, rest


def named_command(arguments: Sequence[str]) -> str:
    """Return the command that a command line begins with, or what stands there instead."""
    first = arguments[0] if arguments else ""
    return "lint" if _is_model(first) else ALIASES.get(first, first)


def _is_model(text: str) -> bool:
    """Return whether a word in the place of a command is a file: it exists, or its ending is that of a model."""
    if text == "-" or text.lower().endswith(_MODELS):
        return True
    try:
        return ("/" in text or "." in text) and Path(text).exists()
    except (OSError, ValueError):
        return False


def make_app(help_text: str | None) -> typer.Typer:
    """Return the application, without commands."""
    return typer.Typer(
        name="mbplugin",
        cls=Commands,
        help=help_text,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
