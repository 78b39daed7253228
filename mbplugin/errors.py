"""Errors that a user can cause, one sentence each: what, where, expected, remedy; and how extras are installed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mbplugin.phrases import ended, listed, visible

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

    def sentence(self) -> str:
        """Return the whole message as one sentence."""
        text = f"{_line(self.where)}: {_line(self.what)}" if self.where else _line(self.what)
        if self.expected:
            text += f"; expected {_line(self.expected)}"
        if self.remedy:
            text += f"; {_line(self.remedy)}"
        return ended(text)


def _line(text: str) -> str:
    """Return a text on one line, shortened to a readable length; it may contain any names from a file."""
    text = visible(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 60]} … {text[-57:]}"


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


def suggestion(name: object, known: list[str] | tuple[str, ...]) -> str:
    """Return a "did you mean" remedy for a misspelt name, else a list of the known names."""
    import difflib

    close = difflib.get_close_matches(name, known, n=1) if isinstance(name, str) else []
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
