"""Options shared by several commands, and the parsers of their values."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, TextIO, get_args

import typer

from mbplugin.choices import LARGEST, Base, Massless, Plane, decimal
from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import read_stdin
from mbplugin.report import OutputFormat, PageFormat

STDIN = "-"


FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="A model or scene file; - reads stdin.")]
QOption = Annotated[
    list[str] | None,
    typer.Option(
        "--q",
        metavar="NAME=VALUE,…",
        help="Joint coordinates, such as 90deg or 35mm; the others follow from loops or keep the file's values.",
    ),
]
QdOption = Annotated[
    list[str] | None,
    typer.Option(
        "--qd",
        metavar="NAME=VALUE,…",
        help="Joint rates, such as 200deg/s; the others follow from loops or keep the file's values.",
    ),
]
BaseOption = Annotated[
    Base | None, typer.Option("--base", help="Fix or free the root links, whatever the file states.")
]
MasslessOption = Annotated[
    Massless,
    typer.Option(
        "--massless",
        help="Mass of URDF links without <inertial>: zero, or 1 kg with 1 kg·m² as in PyBullet.",
    ),
]
PlanarOption = Annotated[Plane | None, typer.Option("--planar", help="Restrict the mechanism to this plane.")]
ToleranceOption = Annotated[
    float | None,
    typer.Option("--tolerance", help=f"Relative rank tolerance; default {DEFAULT_TOLERANCE:g}."),
]
SnapAnglesOption = Annotated[
    bool, typer.Option("--snap-angles", help="Read rounded angles such as 1.57075 as fractions of π.")
]
PackageDirOption = Annotated[
    list[str] | None,
    typer.Option("--package-dir", metavar="DIR", help="Folder to search for package:// paths; repeatable."),
]
XacroUnsafeOption = Annotated[
    bool,
    typer.Option("--xacro-unsafe", help="Allow xacro to run programs and read any file; see MB914."),
]
XacroArgOption = Annotated[
    list[str] | None,
    typer.Option("--xacro-arg", metavar="NAME:=VALUE", help="Value of a xacro argument; repeatable."),
]
StanceOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LINK,…",
        help="Links whose lowest points touch the ground; default: for a robot on legs or wheels, its lowest"
        " links.",
    ),
]
GroundFrictionOption = Annotated[
    float | None, typer.Option(metavar="MU", help="Coefficient of friction on the ground; default: 0.8.")
]
FormatOption = Annotated[OutputFormat, typer.Option("--output-format", help="Output format.")]
PageFormatOption = Annotated[
    PageFormat,
    typer.Option("--output-format", help="Output format; html is a single-file report."),
]
UnitsOption = Annotated[
    str | None,
    typer.Option(
        "--units",
        metavar="UNIT,…",
        help="Units of angles and lengths in options and text, such as deg,mm; default rad,m. JSON is in SI.",
    ),
]
AgainstOption = Annotated[
    Path | None,
    typer.Option("--against", metavar="OLD.json", help="Also list the changes since this earlier report."),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")
]


def seconds(option: str) -> Callable[[str | float], float]:
    """Return the parser of a time option: a number of seconds, or a text such as ``500ms``."""
    return _parser(option, "time")


def kilograms(option: str) -> Callable[[str | float], float]:
    """Return the parser of a mass option: a number of kilograms, or a text such as ``500g``."""
    return _parser(option, "mass")


def _parser(option: str, dimension: str) -> Callable[[str | float], float]:
    def parsed(text: str | float) -> float:
        from mbplugin.model import SI, decimal

        try:
            # its range is checked where it is used
            return decimal(text) if isinstance(text, str) else text
        except ValueError:
            return SI.value(str(text), dimension, f"{option} is")

    # typer shows this name in messages
    parsed.__name__ = dimension
    return parsed


def time_limit(help: str) -> Any:
    """Return the option ``--max-seconds`` of a command; ``help`` says what happens when it is exceeded."""
    return typer.Option("--max-seconds", metavar="S", parser=seconds("--max-seconds"), help=help)


MaxSecondsOption = Annotated[
    float,
    time_limit("Time limit, s; when it ends, the outcome is budget_spent."),
]


def number(text: str, what: str, expected: str = "a finite number", shown: str = "") -> float:
    """Return a finite number of plausible magnitude, as in a scene.

    Raises
    ------
    BadUsage
        The text is not such a number; the message begins with ``what`` and quotes ``shown`` or else the text.
    """

    try:
        value = decimal(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise BadUsage(f"{what} {shown or text!r}", expected=expected)
    if abs(value) > LARGEST:
        raise BadUsage(f"{what} {shown or text!r}", expected=f"magnitudes up to {LARGEST:g}")
    return value


def choices(names: Any) -> str:
    """Return the names of an enumeration as a phrase, such as ``"a, b or c"``."""
    *others, last = get_args(names)
    return f"{', '.join(others)} or {last}"


def parse_xacro_args(texts: Sequence[str] | None) -> dict[str, str]:
    """Return the values of Xacro arguments by name, from ``NAME:=VALUE``.

    Raises
    ------
    BadUsage
        A name or ``:=`` is missing, or a name is given twice.
    """
    values: dict[str, str] = {}
    for text in texts or ():
        name, assigned, value = text.partition(":=")
        if not assigned or not name.strip():
            raise BadUsage(f"--xacro-arg is {text!r}", expected="NAME:=VALUE")
        put_once(values, name.strip(), value, "--xacro-arg")
    return values


def parse_names(texts: Sequence[str] | None) -> dict[str, str]:
    """Return the name mapping of ``--map`` from the first model to the second.

    Raises
    ------
    BadUsage
        A name is missing, or one of the first model is given twice.
    """
    names: dict[str, str] = {}
    for text in split(texts):
        first, _, second = (part.strip() for part in text.partition("="))
        if not first or not second:
            raise BadUsage(f"--map is {text!r}", expected="A=B with a name of each model")
        put_once(names, first, second, "--map")
    return names


def put_once(values: dict[str, Any], name: str, value: Any, option: str) -> None:
    """Store a value of a repeatable option under its name; a second value is refused, since either could be meant.

    Raises
    ------
    BadUsage
        The name already has a value, even if it is the same.
    """
    if name in values:
        raise BadUsage(f"{option} states {name!r} twice", expected=f"one value of {name!r}")
    values[name] = value


def split(texts: Sequence[str] | None) -> tuple[str, ...]:
    """Return the parts of comma-separated texts."""
    parts = (part.strip() for text in texts or () for part in text.split(","))
    return tuple(part for part in parts if part)


def completed_codes(incomplete: str) -> list[tuple[str, str]]:
    """Return the completions for the last of comma-separated rules: codes, and names once a text is begun."""
    from mbplugin.linter.rule import built_in_rules

    before, comma, last = incomplete.rpartition(",")
    known = [(rule.code, rule.name) for rule in built_in_rules()]
    named = [(name, code) for code, name in known if last]
    return [(before + comma + word, other) for word, other in known + named if word.startswith(last)]


def read_source(file: str) -> tuple[str, str | None]:
    """Return the name and content of a FILE argument; the content is None if it is to be read from a file.

    Raises
    ------
    UnreadableFile
        Stdin is closed, too long, or not text.
    """
    if file != STDIN:
        return file, None
    data = read_stdin("a model")
    if b"\0" in data:
        raise UnreadableFile("stdin is binary", where="<stdin>", expected="a model as text")
    try:
        return "<stdin>", data.decode("utf-8")
    except UnicodeDecodeError:
        return "<stdin>", data.decode("latin-1")


def colour_is_forced() -> bool:
    """Return True if FORCE_COLOR requests colour without a terminal and NO_COLOR does not forbid it."""
    return bool(os.environ.get("FORCE_COLOR")) and not os.environ.get("NO_COLOR")


def on_terminal(stream: TextIO | None) -> bool:
    """Return True if a stream is a terminal."""
    return stream is not None and stream.isatty()
