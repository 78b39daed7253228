"""The commands, and their help: grouped options, an example, commands by purpose; output formats."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from mbplugin.errors import BadUsage
from mbplugin.files import require_replaceable
from mbplugin.formats import ENDINGS
from mbplugin.rendering import BINARY, format_of, require_agreement
from mbplugin.report import require_package


class Entry(NamedTuple):
    """One command.

    Parameters
    ----------
    purpose : str
        Heading in the list of all commands.
    module : str
        Module in this folder; its function is named after the command, such as ``stop_table_command``.
    summary : str
        What the command does, for the list of all commands.
    example : str
        A command line of it, for its own help.
    """

    purpose: str
    module: str
    summary: str
    example: str


#: The commands in the order of use.
COMMANDS = {
    "lint": Entry(
        "Look for defects",
        "lint",
        "Find redundant constraints, non-unique reactions, model errors.",
        "mbplugin lint robot.urdf",
    ),
    "rule": Entry(
        "Look for defects",
        "lookup",
        "List all rules, search them by a word, or explain one.",
        "mbplugin rule MB201",
    ),
    "view": Entry(
        "Look for defects",
        "view",
        "Draw the robot, coloured by result, in a window or a file.",
        "mbplugin view robot.urdf --picture robot.png",
    ),
    "close": Entry(
        "Look for defects",
        "compare",
        "Write a model in another format, with its loops closed.",
        "mbplugin close robot.scene.toml --to mjcf --allow-loss all --write robot.xml",
    ),
    "reactions": Entry(
        "Compute forces and motions",
        "reactions",
        "Print the force in each joint, and whether it is unique.",
        "mbplugin reactions robot.urdf --load tool:0,0,-100",
    ),
    "simulate": Entry(
        "Compute forces and motions",
        "simulate",
        "Compute a motion: its range, energies, events, reactions.",
        "mbplugin simulate robot.urdf --duration 2 --save motion.npz",
    ),
    "modes": Entry(
        "Compute forces and motions",
        "simulate",
        "Find the pose of rest, and its natural frequencies.",
        "mbplugin modes robot.urdf --hold j1,j2",
    ),
    "matrix": Entry(
        "Compute forces and motions",
        "lookup",
        "Print the rows of the constraint matrix C v + b = 0.",
        "mbplugin matrix robot.urdf --save C.npz",
    ),
    "estop": Entry(
        "Compute stops",
        "stops",
        "Compute how a moving robot stops: times, distances, loads.",
        "mbplugin estop robot.urdf --qd j1=90deg/s --payload 5",
    ),
    "stop-table": Entry(
        "Compute stops",
        "stops",
        "Compute a table of stopping times and distances.",
        "mbplugin stop-table robot.urdf --payload 5 --output stops.html",
    ),
    "worst-stop": Entry(
        "Compute stops",
        "searches",
        "Search poses, payloads and brakes for the worst stops.",
        "mbplugin worst-stop robot.urdf --payload 5",
    ),
    "sweep": Entry(
        "Compute stops",
        "searches",
        "Compute many random stops: quantiles and worst cases.",
        "mbplugin sweep robot.urdf --out stops --number 99 --qd j1=1",
    ),
    "calibrate": Entry(
        "Compute stops",
        "figures",
        "Fit the brakes and ramps of a robot to measured stops.",
        "mbplugin calibrate robot.urdf measured.csv",
    ),
    "distance": Entry(
        "Compute stops",
        "figures",
        "Compute a separation distance from stops and other terms.",
        "mbplugin distance stop.json --term K=1.6,t1=0.1,D_DS=0.1,Z=0.1",
    ),
    "crosscheck": Entry(
        "Compare",
        "compare",
        "Compare motions with PyBullet and MuJoCo at smaller steps.",
        "mbplugin crosscheck robot.urdf",
    ),
    "engines": Entry(
        "Compare",
        "compare",
        "Compare joint forces with PyBullet, MuJoCo and Pinocchio.",
        "mbplugin engines robot.urdf --load tool:0,0,-100",
    ),
    "diff": Entry(
        "Compare",
        "compare",
        "Compare two models: list the differences and probable causes.",
        "mbplugin diff before.urdf after.urdf",
    ),
    "init": Entry(
        "Set up",
        "lookup",
        "Write configuration, baseline, hook and CI of a repository.",
        "mbplugin init --dry-run",
    ),
    "doctor": Entry(
        "Set up",
        "lookup",
        "Check what works here: extras, engines, caches, git, browser.",
        "mbplugin doctor",
    ),
    "config": Entry(
        "Set up",
        "lookup",
        "Print the settings that apply to a file, and where each comes from.",
        "mbplugin config robot.urdf",
    ),
    "schema": Entry(
        "Set up",
        "lookup",
        "Print the JSON schema of a command's output, or of scene files.",
        "mbplugin schema lint",
    ),
    "server": Entry(
        "Set up",
        "lookup",
        "Serve an editor: findings while a model is written, and fixes.",
        "mbplugin server",
    ),
    "warmup": Entry(
        "Set up",
        "lookup",
        "Compile everything in advance, for images and CI.",
        "mbplugin warmup",
    ),
}
#: Other names of commands, among them those of the Python functions, and that of other linters for a rule's text.
ALIASES = {
    "analyze": "lint",
    "explain": "rule",
    "rules": "rule",
    "show": "view",
    "stopping-table": "stop-table",
    "stop_table": "stop-table",
    "stopping_table": "stop-table",
    "worst_stop": "worst-stop",
    "constraint-matrix": "matrix",
    "constraint_matrix": "matrix",
}


#: Groups of options in the order of the help; options in no group are listed first, as ``Options``.
_OPTIONS = {
    "Model": (
        *("--base", "--package-dir", "--xacro-unsafe", "--xacro-arg", "--units", "--planar", "--tolerance"),
        "--massless",
        *("--snap-angles", "--config", "--no-mesh-cache", "--no-cache"),
    ),
    "State and motion": (
        *("--q", "--qd", "--qdd", "--duration", "--to", "--at", "--trajectory", "--profile", "--lock"),
        "--rest-speed",
        *("--hold", "--stance", "--limits", "--category", "--stop", "--speed", "--signal", "--motion"),
    ),
    "Loads, brakes and payload": (
        *("--load", "--torque", "--payload", "--payload-share", "--brake", "--require-brakes"),
        *("--deceleration", "--tool", "--damping", "--friction", "--torque-tolerance", "--delay-tolerance"),
        *("--payload-range", "--speed-range", "--failure"),
    ),
    "Rules": (
        *("--select", "--ignore", "--extend-select", "--target", "--collisions", "--fail-on", "--baseline"),
        *("--misfit-limit", "--rule-seconds", "--lint-seconds"),
    ),
    "Fixes": ("--fix", "--diff", "--unsafe-fixes", "--changes"),
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
        *("--verbose", "--watch", "--write-scene", "--write", "--commands", "--frames", "--reactions"),
        "--stops",
    ),
}
#: Longest argument with its choices, characters.
_LONGEST = 60
_GROUP = {option: group for group, options in _OPTIONS.items() for option in options}
#: Options for files that are no report, by their endings; the first one that a command has is proposed.
FILES = {
    **dict.fromkeys((".npz", ".npy", ".csv", ".mat", ".h5", ".hdf5", ".pkl"), ("save",)),
    **dict.fromkeys((".png", ".svg", ".jpg", ".jpeg"), ("plot", "picture", "zone")),
    **dict.fromkeys((".mp4", ".gif", ".webm"), ("film",)),
    **dict.fromkeys((".urdf", ".sdf", ".xml", ".usda", ".usd", ".toml"), ("write", "write_scene")),
}
#: Command parameters that name output files; those of ``report`` are FORMAT=FILE.
WRITTEN = (
    "output",
    "save",
    "plot",
    "picture",
    "film",
    "write",
    "write_scene",
    "zone",
    "save_envelope",
    "report",
)
#: Parameter of the output folder of a command, which checks the content of that folder itself.
_FOLDER = "out"
ForceOption = Annotated[
    bool, typer.Option("--force", help="Replace files that mbplugin did not write, or that were edited.")
]


class Command(TyperCommand):
    """A command whose help has grouped options and an example."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; their validators are made only for values that need one."""
        return list(map(_quickly_processed, super().get_params(ctx)))

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
                # choices too long for the name column are left to the help text
                groups["Arguments"].append((name if len(name) <= _LONGEST else name.partition(" ")[0], text))
            else:
                groups[_group_of(parameter.opts)].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the example of the command."""
        formatter.write(f"\nExample:\n  {COMMANDS[str(ctx.info_name)].example}\n")


def _quickly_processed(parameter: Any) -> Any:
    if not isinstance(parameter.process_value, partial):
        parameter.process_value = partial(_processed, parameter, parameter.process_value)
    return parameter


def _processed(parameter: Any, process: Callable[[Any, Any], Any], ctx: Any, value: Any) -> Any:
    """Return the value of a parameter; where the value is as it has to be, no validator is made.

    A validator is made of pydantic, whose import takes longer than the rest of a command line.
    """
    if parameter.callback:
        # such as --help, which is not given
        is_absent = value is None and getattr(parameter, "is_flag", False)
        return process(ctx, False if is_absent else value)
    several = parameter.multiple or parameter.nargs == -1
    if value is None and not parameter.required:
        return () if several else None
    if type(value) in (bool, int, float, str) and (
        value == parameter.default or getattr(parameter, "count", False)
    ):
        return value
    # typers before 0.20 convert without pydantic, and have no such description
    described = getattr(parameter, "type_descriptor", None)
    if described is not None and value and all(type(one) is str for one in (value if several else [value])):
        convert = _plain_conversion(described, several)
        if convert is not None and (found := convert(value)) is not None:
            return found
    return process(ctx, value)


def _plain_conversion(described: Any, several: bool) -> Callable[[Any], Any] | None:
    """Return the conversion of the texts of an option where it needs no validator, else None."""
    kind, info = described.annotation, described.parameter_info
    conditions = (info.parser, info.path_type, info.exists, info.resolve_path, info.allow_dash)
    if any(conditions):
        return None
    if several:
        return list if kind == list[str] else None
    if get_origin(kind) is Literal:
        # another text may be one in capitals, or wrong
        return lambda value: value if value in get_args(kind) else None
    return {str: str, Path: Path}.get(kind)


def _group_of(names: list[str]) -> str:
    return next((_GROUP[name] for name in names if name in _GROUP), "Options")


class Commands(TyperGroup):
    """The group of all commands; a FILE in place of a command is linted."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters of all commands, processed as those of a command."""
        return list(map(_quickly_processed, super().get_params(ctx)))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands grouped by purpose, then the common options."""
        for purpose in dict.fromkeys(entry.purpose for entry in COMMANDS.values()):
            with formatter.section(purpose):
                formatter.write_dl(
                    [(name, entry.summary) for name, entry in COMMANDS.items() if entry.purpose == purpose]
                )
        records = [r for p in self.get_params(ctx) if (r := p.get_help_record(ctx)) is not None]
        with formatter.section("Options"):
            formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the first steps."""
        formatter.write("\nmbplugin robot.urdf lints; mbplugin COMMAND --help explains a command.\n")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name, or by the name of its function in Python."""
        return super().get_command(ctx, ALIASES.get(cmd_name, cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command and its arguments; that of a model's file is lint."""
        first = args[0]
        if self.get_command(ctx, first) is None and is_model(first):
            args = ["lint", *args]
        name, command, rest = super().resolve_command(ctx, args)
        return ALIASES.get(name or "", name), command, rest


def named_command(arguments: Sequence[str]) -> str:
    """Return the command that a command line begins with, or what stands there instead."""
    first = arguments[0] if arguments else ""
    return "lint" if is_model(first) else ALIASES.get(first, first)


def is_model(text: str) -> bool:
    """Return True if a word in place of a command is a model file: it exists, or has the ending of a model."""
    if text == "-" or text.lower().endswith(ENDINGS):
        return True
    try:
        return ("/" in text or "." in text) and Path(text).exists()
    except (OSError, ValueError):
        return False


def make_app(help_text: str | None) -> typer.Typer:
    """Return the application without commands."""
    return typer.Typer(
        name="mbplugin",
        cls=Commands,
        help=help_text,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


# Options of every command with output: ``--output-format``, derived from the ending of ``--output``, and ``--force``.


def with_format(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command so that its output format follows from the ending of ``--output``; refuse other endings.

    The formats are those in the annotation of its parameter ``output_format``, whose default applies to output
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
        output = given.get("output")
        others = FILES.get("" if output is None else output.suffix.lower(), ())
        other = next((name for name in others if name in own.parameters), "")
        remedy = f"write --{other.replace('_', '-')} {output}" if other else ""
        chosen = chosen_format(given.get("output_format"), output, offered, default, remedy)
        require_package(chosen)
        if parameter is not None:
            given["output_format"] = chosen
        return command(**given)

    parameters = [_open(one, default) if one is parameter else one for one in own.parameters.values()]
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def with_force(command: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command so that it refuses, before it starts, to replace files that mbplugin did not write.

    The option ``--force`` permits it; a command with its own parameter ``force`` also gets its value.
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
    """Yield the output files named by the options of a command."""
    for name in WRITTEN:
        value = given.get(name)
        if name == "report":
            yield from (Path(text.partition("=")[2]) for text in value or () if text.partition("=")[2])
        elif isinstance(value, list | tuple):
            yield from value
        else:
            yield value


#: Endings of the formats whose names are none.
_ENDING_OF = {"text": "txt", "github": "txt", "sarif": "sarif.json", "junit": "xml", "markdown": "md"}


def chosen_format(
    stated: str | None, output: Path | None, offered: list[str], default: str, remedy: str = ""
) -> str:
    """Return the format of an output: the stated one, or that of its ending, or the default.

    ``remedy`` is the answer to an ending that none of the formats has; by default one of them is proposed.

    Raises
    ------
    BadUsage
        The ending contradicts the stated format; or, without one, means none of the offered formats; or a binary
        format is stated without a file; or the file has the name of a format.
    """
    if output is None and stated in BINARY:
        raise BadUsage(
            f"--output-format {stated} is binary and cannot be printed",
            remedy=f"add --output report.{stated}",
        )
    if output is not None and stated is None and str(output).lower() in offered:
        name = str(output).lower()
        raise BadUsage(
            f"--output {output} names a format",
            expected="a file",
            remedy=f"write --output-format {name}, or --output report.{_ENDING_OF.get(name, name)}",
        )
    if output is None or not output.suffix:
        return stated or default
    if stated is None:
        return format_of(output, offered, "--output", remedy=remedy or _other_ending(output, offered))
    require_agreement(output, stated)
    return stated


def _other_ending(output: Path, offered: Sequence[str]) -> str:
    """Return a remedy with the name of a file whose format is offered, if its ending is of none."""
    best = next((name for name in ("json", "xlsx", "html") if name in offered), "")
    return f"write --output {output.with_suffix(f'.{best}')}" if best else ""


def _names(annotation: Any) -> list[str]:
    """Return the names in the annotation of an option."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [name for part in get_args(annotation) for name in _names(part)]


def _open(parameter: inspect.Parameter, default: str) -> inspect.Parameter:
    """Return the parameter of an option without a default, which the help text states instead."""
    kind, option = get_args(parameter.annotation)
    option = copy(option)
    option.show_default = f"by the ending of --output, else {default}"
    return parameter.replace(annotation=Annotated[kind | None, option], default=None)
