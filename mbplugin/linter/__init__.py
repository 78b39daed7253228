"""Rules, findings and the lint run; here the settings of a lint and its waivers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from fnmatch import fnmatchcase
from typing import Any

from mbplugin.linter.rule import Finding, Selection, Severity
from mbplugin.model import SI, Simulator, Units
from mbplugin.phrases import dataclass
from mbplugin.readers.paths import real_path

DEFAULT = "default"


@dataclass(frozen=True)
class Ignore:
    """A ``[[waive]]`` of a configuration.

    Parameters
    ----------
    rule : str
        Code of the rule.
    element : str
        The body, pair or model, or a pattern (``*_wheel_joint``).
    reason : str
    files : str
        Absolute pattern of the files it applies to; ``*`` also matches slashes.
    config, line : str, int
        Location of the waiver.
    """

    rule: str
    element: str
    reason: str
    files: str
    config: str = ""
    line: int = 0

    def is_for(self, files: Iterable[str]) -> bool:
        """Return True if the waiver applies to one of the files of a report."""
        return any(fnmatchcase(real_path(file).as_posix(), self.files) for file in files)

    def matches(self, finding: Finding, element: str) -> bool:
        """Return True if the waiver applies to a finding about ``element``."""
        # compare names first, since a name may contain brackets, which are special in patterns
        named = element == self.element or fnmatchcase(element, self.element)
        return named and finding.code == self.rule


@dataclass(frozen=True)
class Settings:
    """Settings of a lint.

    Parameters
    ----------
    select, ignore, extend_select : tuple of str
        Codes or prefixes of codes, as in :class:`Selection`.
    targets : tuple of str
        Simulators that must be able to load the models.
    fail_on : "error", "warning" or "note"
        Lowest severity for which the exit code is 1.
    tolerance : float or None
        Relative rank tolerance for scenes that state none; None is ``DEFAULT_TOLERANCE``.
    misfit_limit : float or None
        Largest joint force due to a misfit of 0.1 mm, N, for scenes that state none; None means no limit.
    package_dirs : tuple of str
        Folders in which ``package://`` and relative names are looked up, absolute.
    exclude : tuple of str
        Patterns of absolute paths that are skipped when a folder is searched.
    baseline : str
        The JSON report of an earlier lint, absolute, whose findings are not reported; empty if there is none.
    scenes : mapping of str to str
        Maps a robot file to the scene that is linted in its place, both absolute.
    ignores : tuple of Ignore
    xacro_unsafe : bool
        Expand xacro as the program does; only a configuration named by the caller can enable it.
    xacro_arguments : mapping of str to mapping
        Maps a pattern of absolute paths to the names and values of xacro's arguments in those files.
    xacro_args : mapping of str to str
        Names and values of xacro's arguments in every file.
    units : Units
        Units of numbers in options without units, and of texts; not used by a lint.
    file : str
        The configuration; empty if there is none.
    origins : mapping of str to str
        Origin of each setting, ``file:line``; settings not listed are defaults.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    targets: tuple[Simulator, ...] = ()
    fail_on: Severity = "error"
    tolerance: float | None = None
    misfit_limit: float | None = None
    package_dirs: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    baseline: str = ""
    scenes: Mapping[str, str] = field(default_factory=dict)
    ignores: tuple[Ignore, ...] = ()
    xacro_unsafe: bool = False
    xacro_arguments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    xacro_args: Mapping[str, str] = field(default_factory=dict)
    units: Units = SI
    file: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def selection(self) -> Selection:
        """The selected rules."""
        return Selection(self.select, self.ignore, self.extend_select)

    @property
    def values(self) -> dict[str, tuple[Any, str]]:
        """Value and origin of each setting, by its name in a configuration."""
        apart = ("file", "origins", "ignores", "units", "xacro_unsafe", "xacro_arguments", "xacro_args")
        names = [f.name for f in fields(self) if f.name not in apart]
        found: dict[str, tuple[Any, str]] = {
            name.replace("_", "-"): (getattr(self, name), self.origins.get(name, DEFAULT)) for name in names
        }
        xacro = {"unsafe": self.xacro_unsafe, "arguments": self.xacro_arguments}
        waivers = tuple(f"{waiver.rule} for {waiver.element}: {waiver.reason}" for waiver in self.ignores)
        found["waive"] = (waivers, self.origins.get("waive", DEFAULT))
        units = {"angle": self.units.angle, "length": self.units.length}
        found["units"] = (units, self.origins.get("units", DEFAULT))
        return {**found, "xacro": (xacro, self.origins.get("xacro_unsafe", DEFAULT))}

    def xacro_args_of(self, file: str) -> dict[str, str]:
        """Return the arguments of a xacro file; later patterns and the command line take precedence."""
        path, stated = real_path(file).as_posix(), dict[str, str]()
        for pattern, values in self.xacro_arguments.items():
            stated |= values if fnmatchcase(path, pattern) else {}
        return {**stated, **self.xacro_args}

    def overridden(self, requested: Mapping[str, Any]) -> Settings:
        """Return the settings overridden by those stated on a command line.

        Values of ``ignore``, ``extend_select`` and ``package_dirs`` are added, the others replace.
        """
        stated = {name: value for name, value in requested.items() if value not in (None, (), {})}
        for name in ("ignore", "extend_select", "package_dirs"):
            if name in stated:
                stated[name] = (*stated[name], *getattr(self, name))
        origins = {name: f"--{name.replace('_', '-')}" for name in stated}
        return replace(self, **stated, origins={**self.origins, **origins})
