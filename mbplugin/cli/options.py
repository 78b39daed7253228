"""Options shared by several commands, and the parsers of their values: numbers with units in their dimension."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_args

import numpy as np
import typer

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.errors import BadUsage, UnknownName, UnreadableFile, suggestion
from mbplugin.files import read_stdin
from mbplugin.model import Base, Massless, Plane
from mbplugin.model.brake_law import DIMENSION_OF, SI, UNITS, Units, dimension_of
from mbplugin.model.mechanism.kinematics import (
    accelerations_of,
    follows,
    forces_of,
    limits_of,
    misfit_dimension,
    rates_of,
)
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted
from mbplugin.report import OutputFormat, PageFormat

if TYPE_CHECKING:
    from mbplugin.model.mechanism import Lock, Mechanism, TimedConstraint


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
        from mbplugin.model.brake_law import SI, decimal

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
    from mbplugin.model.brake_law import LARGEST, decimal

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


_LOAD, _PAYLOAD = "BODY:FX,FY,FZ[,MX,MY,MZ][@X,Y,Z]", "BODY:MASS[@X,Y,Z]"


@dataclass(frozen=True, eq=False)
class Quantities:
    """Parser of the numbers of options.

    Parameters
    ----------
    units : Units
        Units of numbers without a unit.
    mech : Mechanism
        Determines which joints turn and which slide.
    """

    units: Units
    mech: Mechanism

    def coordinates(self, texts: Sequence[str] | None, option: str = "--q") -> dict[str, float]:
        """Return coordinates by name, rad and m."""
        dimension = self._coordinates
        return named(
            texts, option, lambda name: dimension.get(name, ""), self.units, self._leading(dimension)
        )

    def rates(self, texts: Sequence[str] | None, option: str = "--qd") -> dict[str, float]:
        """Return rates by name, rad/s and m/s."""
        return named(texts, option, self._rates, self.units, self._leading(self.mech.qd_names))

    def accelerations(self, texts: Sequence[str] | None, option: str) -> dict[str, float]:
        """Return accelerations by name, rad/s² and m/s²."""
        known = self._leading(self.mech.qd_names)
        return named(texts, option, accelerations_of(self.mech), self.units, known)

    def rest_speed(self, text: str | None) -> float:
        """Return the speed of ``--rest-speed``, rad/s, or m/s if it has a linear unit; 0 without the option.

        Raises
        ------
        BadUsage
            The text is not a speed, or has no unit although the default units are not SI.
        """
        if text is None:
            return 0.0
        if not self.units.is_si and text.strip()[-1:].isdigit():
            raise BadUsage(
                f"--rest-speed {text!r} has no unit, and is one number for joints that turn and that slide",
                expected="a speed with its unit, such as 0.1deg/s or 1mm/s",
            )
        sliding = text.replace(" ", "").endswith(tuple(UNITS["speed"]))
        return self.units.value(text, "speed" if sliding else "angular rate", "--rest-speed")

    def torques(self, texts: Sequence[str] | None, option: str = "--torque") -> dict[str, float]:
        """Return generalised forces by rate name, N·m and N."""
        return named(texts, option, forces_of(self.mech), self.units, self._leading(self.mech.qd_names))

    def misfits(self, texts: Sequence[str] | None, option: str = "--misfit") -> dict[str, float]:
        """Return misfits by ``NAME.COMPONENT``, rad and m."""
        return named(texts, option, misfit_dimension, self.units)

    def limits(self, texts: Sequence[str] | None) -> dict[str, float]:
        """Return load limits by ``JOINT`` or ``JOINT.COMPONENT``, N and N·m."""
        return named(texts, "--limit", limits_of(self.mech), self.units)

    def brakes(self, texts: Sequence[str] | None) -> list[dict[str, Any]]:
        """Return the brakes stated by ``--brake``."""
        return [brake for text in texts or () for brake in self._brakes(text)]

    def joints(self, texts: Sequence[str] | None, option: str) -> tuple[str, ...]:
        """Return the joints (or ``joint.freedom``) of comma-separated names and patterns."""
        return tuple(name for part in split(texts) for name in matching(part, self._joints, option))

    def locks(self, texts: Sequence[str] | None) -> list[Lock]:
        """Return the locks stated by ``--lock``."""
        return [lock for text in texts or () for lock in self._locks(text)]

    def holds(self, texts: Sequence[str] | None) -> list[TimedConstraint]:
        """Return the timed constraints stated by ``--hold``."""
        from mbplugin.model.mechanism import TimedConstraint

        found = []
        for text in texts or ():
            name, at, times = text.rpartition("@")
            parts = [self.units.value(t, "time", f"--hold {text!r} has") for t in times.split(":", 1) if at]
            found += [
                TimedConstraint(one, *parts) if at else TimedConstraint(one)
                for one in matching(name if at else text, self._joints, "--hold")
            ]
        return found

    def loads(self, texts: Sequence[str] | None) -> list[dict[str, Any]]:
        """Return the loads stated by ``--load``, N, N·m and m."""
        return [self._load(text) for text in texts or ()]

    def payloads(self, texts: Sequence[str] | None) -> list[dict[str, Any]] | None:
        """Return the payloads stated by ``--payload``, kg and m; None without the option."""
        return [self._payload(text) for text in texts] if texts else None

    def tool_payloads(self, texts: Sequence[str] | None) -> float | list[dict[str, Any]] | None:
        """Return the payloads of ``--payload``; a single mass (kg) is one at the tool; None without the option."""
        if not texts:
            return None
        if len(texts) == 1 and ":" not in texts[0]:
            return self.units.value(texts[0], "mass", "--payload has")
        return self.payloads(texts)

    def point(self, text: str | None, option: str) -> Array | None:
        """Return the point (3,), m, given as ``X,Y,Z``; None without the option."""
        return None if text is None else np.array(self._point(option, text, text))

    def _brakes(self, text: str) -> Iterator[dict[str, Any]]:
        joints, colon, values = text.rpartition(":")
        if not colon or not joints.strip():
            raise BadUsage(f"--brake has {text!r}", expected="JOINT:KEY=VALUE,…")
        for joint in matching(joints.strip(), self._joints, "--brake"):
            dimension = partial(dimension_of, slides=self._rates(joint) == "speed")
            yield {"joint": joint, **named([values], "--brake", dimension, self.units)}

    def _locks(self, text: str) -> Iterator[Lock]:
        from mbplugin.model.mechanism import Lock

        joints, at, times = text.rpartition("@")
        if not at:
            yield from (Lock(joint) for joint in matching(text, self._joints, "--lock"))
            return
        begin, *end = (self.units.value(t, "time", f"--lock {text!r} has") for t in times.split(":", 1))
        for joint in matching(joints, self._joints, "--lock"):
            yield Lock(joint, begin, until=end[0] if end else None)

    def _load(self, text: str) -> dict[str, Any]:
        body, values, point = self._parts("--load", text, _LOAD)
        if len(values) not in (3, 6):
            raise BadUsage(
                f"--load {text!r} has {counted(len(values), 'number')}", expected="three of a force, or six"
            )
        force = self._numbers("--load", text, values[:3], "force")
        torque = self._numbers("--load", text, values[3:], "torque")
        return {"body": body, "force": force, "torque": torque or [0.0] * 3, "point": point}

    def _payload(self, text: str) -> dict[str, Any]:
        body, values, point = self._parts("--payload", text, _PAYLOAD)
        if len(values) != 1:
            raise BadUsage(f"--payload {text!r} has {counted(len(values), 'number')}", expected="one mass")
        (mass,) = self._numbers("--payload", text, values, "mass")
        return {"body": body, "mass": mass, "com": point}

    def _parts(self, option: str, text: str, expected: str) -> tuple[str, list[str], list[float]]:
        """Return body, numbers and point of ``BODY:…[@…]``; the default point is the origin of the link."""
        body, colon, rest = text.rpartition(":")
        values, at, place = rest.partition("@")
        if not colon or not body.strip():
            raise BadUsage(f"{option} has {text!r}", expected=expected)
        point = self._point(option, text, place) if at else [0.0] * 3
        return body.strip(), values.split(","), point

    def _point(self, option: str, text: str, place: str) -> list[float]:
        point = self._numbers(option, text, place.split(","), "length")
        if len(point) != 3:
            raise BadUsage(f"{option} {text!r} has a point of {len(point)} numbers", expected="three")
        return point

    def _numbers(self, option: str, text: str, parts: list[str], dimension: str) -> list[float]:
        return [self.units.value(part, dimension, f"{option} {text!r} has") for part in parts]

    @cached_property
    def _coordinates(self) -> dict[str, str]:
        from mbplugin.model.mechanism.kinematics import coordinate_units

        units = (DIMENSION_OF[unit] for unit in coordinate_units(self.mech))
        return dict(zip(self.mech.q_names, units, strict=True))

    @cached_property
    def _joints(self) -> tuple[str, ...]:
        """The joints that a pattern can match: movable joints that do not follow a coupling."""
        pairs = (joint.pair for joint in self.mech.tree.joints)
        return tuple(p.name for p in pairs if p is not None and p.kind.free and not follows(self.mech, p))

    def _leading(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the coordinates or rates that a pattern can match: those of joints that do not follow a coupling."""
        own = set(self._joints)
        return tuple(name for name in names if name in own)

    @cached_property
    def _rates(self) -> Callable[[str], str]:
        return rates_of(self.mech)


def named(
    texts: Sequence[str] | None,
    option: str,
    dimension: Callable[[str], str],
    units: Units = SI,
    known: Sequence[str] = (),
) -> dict[str, float]:
    """Return values by name from ``NAME=VALUE,…``, in SI units.

    Parameters
    ----------
    dimension : callable
        Returns the dimension of a name; empty if any unit is accepted.
    known : sequence of str
        Names that a pattern with ``*`` or ``?`` can match.

    Raises
    ------
    BadUsage
        A name or value is missing, a value is not a finite number of the dimension, or a name is given twice.
    """
    values: dict[str, float] = {}
    for part in split(texts):
        name, equals, text = part.rpartition("=")
        name = name.strip()
        if not equals or not name:
            raise BadUsage(f"{option} has {part!r}", expected="NAME=VALUE,…")
        for one in matching(name, known, option):
            value = units.value(text, dimension(one), f"{option} gives {one!r} the value")
            put_once(values, one, value, option)
    return values


def matching(name: str, known: Sequence[str], option: str) -> tuple[str, ...]:
    """Return the known names that match a pattern with ``*`` or ``?``; any other name is returned as is.

    Raises
    ------
    UnknownName
        The pattern matches no name.
    """
    if not known or name in known or not set("*?") & set(name):
        return (name,)
    found = tuple(one for one in known if fnmatchcase(one, name))
    if not found:
        raise UnknownName(
            f"{option} names {name!r}, which no joint matches", remedy=suggestion(name, tuple(known))
        )
    return found
