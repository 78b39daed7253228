"""Errors that a user can cause, one sentence each: what, where, expected, remedy; and how extras are installed.

Here is also how objects are checked when they are built.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import wraps
from inspect import getdoc
from types import MappingProxyType
from typing import Any, TypeVar

from mbplugin.formats import ENDINGS
from mbplugin.phrases import counted, ended, listed, shortened, visible

#: Longest part of a message, characters.
_LONGEST = 600
#: What ``pip`` installs for each extra; the versions are in pyproject.toml, which has the same names.
PACKAGES: dict[str, tuple[str, ...]] = {
    "bullet": ("pybullet",),
    "usd": ("usd-core",),
    "frames": ("pandas",),
    "mjcf": ("mujoco",),
    "yaml": ("PyYAML",),
    "xacro": ("xacro",),
    "plot": ("matplotlib",),
    "browser": ("playwright",),
    "server": ("pygls",),
    "xlsx": ("openpyxl",),
    "pinocchio": ("pin",),
    "view": ("Pillow", "imageio", "imageio-ffmpeg"),
    "sweep": ("joblib", "pyarrow"),
    "dask": ("joblib", "pyarrow", "dask[distributed]"),
    "ray": ("joblib", "pyarrow", "ray"),
    "zones": ("shapely", "ezdxf"),
    "validator": ("usd-validation-nvidia", "usd-core"),
}


class MbPluginError(Exception):
    """Base class of all errors that mbplugin raises for unusable input or requests.

    Parameters
    ----------
    what : str
        The problem, without a full stop.
    where : str, optional
        Location: file and line, or the element.
    expected : str, optional
        The expected value.
    remedy : str, optional
        The remedy for the user.
    code : str, optional
        The MB9xx code under which ``lint`` reports it.
    """

    code = "MB900"

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        expected: str = "",
        remedy: str = "",
        code: str | None = None,
    ) -> None:
        self.what, self.where, self.expected, self.remedy = what, where, expected, remedy
        if code is not None:
            self.code = code
        super().__init__(self.sentence())

    def sentence(self, *, remedy: bool = True) -> str:
        """Return the whole message as one sentence, with or without the remedy."""
        text = f"{_line(self.where)}: {_line(self.what)}" if self.where else _line(self.what)
        if self.expected:
            text += f"; expected {_line(self.expected)}"
        if self.remedy and remedy:
            text += f"; {_line(self.remedy)}"
        return ended(text)


def _line(text: str) -> str:
    """Return a text on one line, shortened to a readable length; it may contain any names from a file."""
    return shortened(visible(text), _LONGEST)


class UnreadableFile(MbPluginError):
    """A file that is missing, empty, a directory or not text."""

    code = "MB901"


class BrokenXml(MbPluginError):
    """Text that is not well-formed XML."""

    code = "MB902"


class UnknownFormat(MbPluginError):
    """A file in a format that no reader supports."""

    code = "MB903"


class BrokenModel(MbPluginError):
    """A model from which no mechanism can be built.

    ``correction`` has what mends a misspelt word of an MJCF file.
    """

    code = "MB904"
    correction: Mapping[str, Any] = MappingProxyType({})


class Fragment(BrokenModel):
    """A file that is not a complete model: other files include it, or supply its arguments.

    A run over a folder skips it.
    """


class Template(BrokenModel):
    """A file with the extension of a model, from which a program must first generate the model."""


class BadNumber(MbPluginError):
    """A value that is not a valid number, or the wrong count of numbers."""

    code = "MB905"


class UnresolvedPath(MbPluginError):
    """A file named by the model that cannot be found."""

    code = "MB906"


class NothingThere(UnresolvedPath, Fragment):
    """A file whose models are all in other files, none of which is on this machine."""


class UnknownName(MbPluginError):
    """An unknown name, such as of a body, a pair or a coordinate."""

    code = "MB907"


class BadScene(MbPluginError):
    """A scene file that does not follow the schema.

    ``meant`` lists the unknown keys that are near only one known key: the line, the key, and the known one.
    """

    code = "MB908"
    meant: tuple[tuple[int, str, str], ...] = ()


class MissingDependency(MbPluginError):
    """An optional package that is needed but not installed."""

    code = "MB909"

    @classmethod
    def of(cls, what: str, package: str, extra: str, *, otherwise: str = "") -> MissingDependency:
        """Return the error for a feature that needs a package, with the command that installs it and an alternative."""
        return cls(
            f"{what} needs {package}, which is not installed",
            remedy=f"{install_command(extra)}{otherwise}",
        )


class CannotClose(MbPluginError):
    """A loop for which no closed pose was found."""

    code = "MB910"


class BadUsage(MbPluginError):
    """A call or command line that is invalid or cannot be fulfilled."""

    code = "MB920"


class ContradictedState(BadUsage):
    """Stated coordinates or rates that are incompatible with each other."""

    #: Whether all contradictory values come from the file, none from the call.
    of_file = False


class ImplausibleValue(UserWarning):
    """A value that is used as given but is probably mistyped or in another unit."""


#: Similarity from which one name is proposed for another, for names of at least so many characters and shorter ones.
_LIKE, _ALIKE, _LONG = 0.6, 0.66, 6


def meant_by(name: str, words: Mapping[str, Any]) -> Any:
    """Return the entry of a mapping for a name as other libraries write it, or for a part of it; None without one.

    ``forwardKinematics`` is tried as ``forward_kinematics``, ``initial_velocity`` as ``velocity`` and ``initial``.
    """
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("-", "_")
    parts = snake.strip("_").split("_")
    shorter = ["_".join(some) for k in range(1, len(parts)) for some in (parts[k:], parts[:-k])]
    for form in (name, name.lower(), snake, *shorter):
        for written in (form, form.replace("_", "-")):
            if written in words:
                return words[written]
    return None


def suggestion(name: object, known: list[str] | tuple[str, ...]) -> str:
    """Return a "did you mean" remedy for a misspelt name, else a list of the known names."""
    import difflib

    # a short word has others like it by chance
    cutoff = _LIKE if isinstance(name, str) and len(name) >= _LONG else _ALIKE
    close = difflib.get_close_matches(name, known, n=1, cutoff=cutoff) if isinstance(name, str) else []
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known names are {listed(sorted(known), 12)}" if known else "there are none"


def install_command(extra: str, *, upgrade: bool = False) -> str:
    """Return the command that installs the packages of an extra, as one types it in a shell."""
    return command_for(PACKAGES[extra], upgrade=upgrade)


def command_for(packages: tuple[str, ...], *, upgrade: bool = False) -> str:
    """Return the command that installs packages."""
    words = [f"'{name}'" if "[" in name else name for name in packages]
    return " ".join(("python -m pip install", *(("--upgrade",) * upgrade), *words))


_Type = TypeVar("_Type", bound=type)
#: Annotations of fields that hold one number.
_NUMBERS = ("float", "float | None", "int", "int | None")
#: Words of the field and of other libraries for fields, whose spelling alone would suggest a wrong one or none.
_ELSEWHERE = {
    **dict.fromkeys(("speed", "velocity", "omega", "qd", "v", "w"), ("rate",)),
    **dict.fromkeys(("position", "pos", "angle", "q"), ("value", "at", "point", "p")),
    **dict.fromkeys(("time", "t", "start"), ("at",)),
    **dict.fromkeys(("link", "link_name", "frame_name"), ("body",)),
    **dict.fromkeys(("joint_name", "axis_name"), ("joint",)),
    **dict.fromkeys(("kg", "m", "weight"), ("mass",)),
    **dict.fromkeys(("k", "kp"), ("stiffness",)),
    **dict.fromkeys(("d", "c", "kd"), ("damping",)),
    **dict.fromkeys(("F", "f"), ("force",)),
    **dict.fromkeys(("tau", "M", "T", "moment"), ("torque",)),
    **dict.fromkeys(("friction", "friction_coefficient"), ("mu",)),
    **dict.fromkeys(("rest_length", "neutral", "springref"), ("rest", "length")),
    **dict.fromkeys(("rotation", "rot", "orientation", "rpy", "quaternion", "quat"), ("R",)),
    **dict.fromkeys(("translation", "xyz"), ("p", "point")),
    **dict.fromkeys(("I", "inertia_matrix"), ("inertia", "I_C")),
    **dict.fromkeys(("inertia",), ("I_C",)),
    **dict.fromkeys(("com", "center_of_mass", "centre_of_mass"), ("com", "p_LC")),
    **dict.fromkeys(("parent",), ("body_a",)),
    **dict.fromkeys(("child",), ("body_b",)),
    **dict.fromkeys(("kind", "joint_type"), ("type",)),
}


def takes_units(kind: _Type) -> _Type:
    """As :func:`answers_wrong_calls`, for a dataclass whose numbers may be texts with a unit, read where it is used."""
    return _answering(kind, with_units=True)


def answers_wrong_calls(kind: _Type) -> _Type:
    """Let a dataclass raise ``BadUsage`` where its constructor is called with a wrong, missing or superfluous field.

    It also refuses a text in a field that is a number only, which would fail far from the call.
    """
    return _answering(kind, with_units=False)


def _answering(kind: _Type, *, with_units: bool) -> _Type:
    build = kind.__init__  # type: ignore[misc]
    # fields that hold one number, and where each stands in the call
    places = [f for f in fields(kind) if f.init]
    numbers = {f.name: k for k, f in enumerate(places) if f.type in _NUMBERS and not with_units}

    @wraps(build)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            build(self, *args, **kwargs)
        except TypeError:
            _check(type(self), [f for f in fields(self) if f.init], args, kwargs)
            raise
        for name, place in numbers.items():
            value = args[place] if place < len(args) else kwargs.get(name)
            if isinstance(value, str):
                raise BadUsage(
                    f"{name} is {value!r}",
                    where=f"{type(self).__name__}()",
                    expected="a number in SI units",
                    remedy=_number_in(name, value),
                )

    kind.__init__ = init  # type: ignore[misc]
    return kind


def _number_in(name: str, text: str) -> str:
    """Return a remedy with the number at the start of a text, if its unit is one of SI; empty without a number."""
    found = re.match(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*(.*)", text)
    if not found:
        return ""
    known = found[2].strip() in ("", "kg", "m", "s", "N", "Nm", "rad", "rad/s", "m/s")
    return f"write {name}={found[1]}, converted to SI" if known else "convert it to rad, m, kg, s and N"


def _check(
    kind: type, known: Sequence[Field[Any]], args: Sequence[object], kwargs: Mapping[str, object]
) -> None:
    """Refuse a call that does not fit the fields of a dataclass.

    Raises
    ------
    BadUsage
        A field is unknown, given twice or missing, or there are too many.
    """
    name, names = kind.__name__, [field.name for field in known]
    where, call = f"{name}()", f"{name}({listed(names, 12)})"
    for word in kwargs:
        if word not in names:
            free = [other for other in names[len(args) :] if other not in kwargs]
            # another constructor may take it, such as from_xyz_rpy
            other = next((made for made in dir(kind) if word in made.split("_") and made[0] != "_"), "")
            remedy = f"write mb.{name}.{other}(…)" if other else _remedy(kind, word, names, free)
            raise BadUsage(f"there is no field {word!r}", where=where, remedy=remedy)
    if len(args) > len(names):
        given = counted(len(args), "value")
        raise BadUsage(f"{given} are given, of {counted(len(names), 'field')}", where=where, expected=call)
    if twice := [other for other in names[: len(args)] if other in kwargs]:
        raise BadUsage(f"{twice[0]!r} is given twice", where=where, expected="it once")
    needed = [f.name for f in known if f.default is MISSING and f.default_factory is MISSING]
    if missing := [other for other in needed if other not in names[: len(args)] and other not in kwargs]:
        verb = "is" if len(missing) == 1 else "are"
        what = f"{listed([repr(other) for other in missing], 12)} {verb} missing"
        if args and str(args[0]).lower().endswith(ENDINGS):
            raise BadUsage(what, where=where, expected=call, remedy=f"mb.load({str(args[0])!r}) reads a file")
        raise BadUsage(what, where=where, expected=call, remedy=f"write {missing[0]}=…")


def _remedy(kind: type, word: str, names: Collection[str], free: Collection[str]) -> str:
    """Return the field that is meant by a word, else the fields that there are."""
    from mbplugin.vocabulary import Described, described_entries, meant, proposal

    texts = described_entries(getdoc(kind) or "")
    elsewhere = next((name for name in _ELSEWHERE.get(word, ()) if name in free), "")
    known = [Described(name, texts.get(name, "")) for name in names]
    return proposal(meant(word, known, {word: elsewhere})) or f"known names are {listed(list(names), 16)}"
