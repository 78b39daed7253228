"""The values of a configuration: validated, with absolute paths and the line of each value."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from mbplugin.errors import BadUsage, suggestion
from mbplugin.linter import Ignore, Settings
from mbplugin.linter.run import known_codes, rule_code
from mbplugin.model import Simulator, Units
from mbplugin.readers.paths import real_path
from mbplugin.readers.scene_file import TOML_HEADER

#: Text that is not blank, and without null characters, which file names cannot contain.
Text = Annotated[str, Field(pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
_KEY = re.compile(r"^\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[.=]")


def settings_of(path: Path, data: Mapping[str, Any], lines: ConfigLines, *, named: bool = False) -> Settings:
    """Return the settings stated in the tables of a configuration.

    Parameters
    ----------
    path : Path
    data : mapping
    lines : ConfigLines
    named : bool
        True if the caller named the file. A configuration found beside a model has the same origin as the model,
        so it cannot grant permissions.

    Raises
    ------
    BadUsage
        The configuration does not follow the schema; the message names the first violation with its line.
    """
    config = _validated(path, data, lines)
    folder = real_path(path).parent

    def where(*place: int | str) -> str:
        return _where(path, lines, place)

    def absolute(name: str) -> str:
        return (folder / name).as_posix()

    def pattern(text: str) -> str:
        # the folder name may contain brackets, which are special characters in patterns
        return f"{glob.escape(folder.as_posix())}/{text}"

    if not named:
        _require_own("package-dirs", folder, config.package_dirs, where("package-dirs"))
        _require_own("baseline", folder, [config.baseline] if config.baseline else [], where("baseline"))
    codes = [entry for entry in config.ignore if isinstance(entry, str)]
    return Settings(
        select=known_codes(config.select, "select", where("select")),
        ignore=known_codes(codes, "ignore", where("ignore")),
        extend_select=known_codes(config.extend_select, "extend-select", where("extend-select")),
        targets=tuple(config.targets),
        fail_on=config.fail_on,
        tolerance=config.tolerance,
        misfit_limit=config.misfit_limit,
        package_dirs=tuple(absolute(name) for name in config.package_dirs),
        exclude=tuple(pattern(text) for text in config.exclude),
        baseline=absolute(config.baseline) if config.baseline else "",
        scenes={
            real_path(folder / robot).as_posix(): absolute(scene) for robot, scene in config.scenes.items()
        },
        ignores=tuple(
            Ignore(
                rule_code(entry.rule, where(key, k)),
                entry.element,
                entry.reason.strip(),
                pattern(entry.file) if entry.file else "*",
                str(path),
                lines.of_table(key, k),
            )
            for key, entries in (("ignore", config.ignore), ("waive", config.waive))
            for k, entry in enumerate(entries)
            if isinstance(entry, WaiveTable)
        ),
        xacro_unsafe=named and config.xacro.unsafe,
        xacro_arguments={
            pattern(file): {name: _argument(value) for name, value in values.items()}
            for file, values in config.xacro.arguments.items()
        },
        units=Units(config.units.angle, config.units.length),
        file=str(path),
        origins=_origins(data, where, named),
    )


def _argument(value: str | bool | int | float) -> str:
    """Return a value in the syntax of xacro's command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


#: For each key that names places which are read: what they must be, and the option that may name others.
_OWN = {
    "package-dirs": ("folders", "the folder with --package-dir"),
    "baseline": ("a file", "it with --baseline"),
}


def _require_own(key: str, folder: Path, names: Sequence[str], where: str) -> None:
    """Reject places outside the repository, because files are read from them.

    Raises
    ------
    BadUsage
        A place is outside; the message names the first one.
    """
    around = (folder, *folder.parents)
    root = next((candidate for candidate in around if (candidate / ".git").exists()), folder)
    for name in names:
        if not real_path(folder / name).is_relative_to(real_path(root)):
            raise BadUsage(
                f"{key} names {name!r}, which lies outside {root}",
                where=where,
                expected=f"{_OWN[key][0]} of the repository, in a configuration that is found beside a model",
                remedy=f"name the configuration with --config, or {_OWN[key][1]}",
            )


def _origins(data: Mapping[str, Any], where: Callable[..., str], named: bool) -> dict[str, str]:
    """Return the location of each setting in the file, by the name of its field."""
    found = {name: where(key) for key, name in _keys().items() if key in data and key != "xacro"}
    if "xacro" in data:
        ignored = "unsafe" in data["xacro"] and not named
        found["xacro_unsafe"] = where("xacro") + ", unsafe in force only with --config" * ignored
    return found


def _keys() -> dict[str, str]:
    """Return the fields of the settings by their keys in the file."""
    return {field.alias or name: name for name, field in ConfigFile.model_fields.items()}


def _where(path: Path, lines: ConfigLines, place: tuple[int | str, ...]) -> str:
    line = lines.of_place(place)
    return f"{path}:{line}" if line else str(path)


def _validated(path: Path, data: Mapping[str, Any], lines: ConfigLines) -> ConfigFile:
    try:
        return ConfigFile.model_validate(data)
    except ValidationError as error:
        failure = error.errors(include_url=False)[0]
        # the tags of the union are not part of the file
        place = tuple(part for part in failure["loc"] if part not in ("code", "table"))
        raise _sentence(_where(path, lines, place), place, failure) from None


def _sentence(where: str, place: tuple[int | str, ...], failure: Mapping[str, Any]) -> BadUsage:
    *owners, key = (str(part + 1) if isinstance(part, int) else part for part in place)
    inside = (
        f" in [[{owners[0]}]] {owners[1]}" if len(owners) == 2 else f" in {'.'.join(owners)}" * bool(owners)
    )
    if failure["type"] == "extra_forbidden":
        tables: dict[str, type[Table]] = {"xacro": XacroTable, "units": UnitsTable}
        table = tables.get(owners[0] if owners else "", WaiveTable)
        from mbplugin.vocabulary import remedy_for_key

        names = {name: name for name in table.model_fields} if owners else _keys()
        fields = table.model_fields if owners else ConfigFile.model_fields
        texts = {known: fields[name].description or "" for known, name in names.items()}
        remedy = remedy_for_key(key, texts, suggestion(key, list(texts)))
        return BadUsage(f"unknown key {key!r}{inside}", where=where, remedy=remedy)
    if failure["type"] == "missing":
        return BadUsage(f"there is no {key}{inside}", where=where, remedy=f'add {key} = "…"')
    expected = (
        "a text that is not empty, without nulls"
        if failure["type"] == "string_pattern_mismatch"
        else failure["msg"]
    )
    what = f"{key}{inside} is {failure['input']!r}"
    return BadUsage(what, where=where, expected=f"{expected[:1].lower()}{expected[1:]}")


# The tables of ``mbplugin.toml`` as pydantic models; unknown keys are errors.


class Table(BaseModel):
    """A table: strict types, keys in kebab-case, no further keys."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        alias_generator=lambda name: name.replace("_", "-"),
    )


class WaiveTable(Table):
    """``[[waive]]``: a rule is silent about an element, for a reason."""

    rule: Annotated[Text, Field(description="code or name of a rule")]
    element: Annotated[Text, Field(description="a body, pair or model; * stands for anything")]
    reason: Annotated[Text, Field(description="why this may stay")]
    file: Annotated[Text, Field(description="only in these files, relative to the configuration")] | None = (
        None
    )


class XacroTable(Table):
    """``[xacro]``: how xacro files are expanded."""

    unsafe: Annotated[
        bool,
        Field(
            description="expand xacro that may run programs and read any file; read only where the "
            "configuration is named with --config"
        ),
    ] = False
    arguments: Annotated[
        dict[Text, dict[Text, str | bool | int | float]],
        Field(description="values of xacro's arguments, by file or pattern, relative to the configuration"),
    ] = {}


class UnitsTable(Table):
    """``[units]``: of numbers in options that state none, and of texts."""

    angle: Annotated[Literal["rad", "mrad", "deg", "rev"], Field(description="of angles; rates follow")] = (
        "rad"
    )
    length: Annotated[Literal["m", "cm", "mm", "um"], Field(description="of lengths; speeds follow")] = "m"


def _kind(value: Any) -> str:
    return "table" if isinstance(value, dict | WaiveTable) else "code"


class ConfigFile(Table):
    """A whole ``mbplugin.toml``, or the table ``[tool.mbplugin]`` of a ``pyproject.toml``."""

    select: Annotated[list[Text], Field(description="only these codes, or beginnings of codes")] = []
    extend_select: Annotated[
        list[Text],
        Field(description="these codes, or beginnings of codes, too: rules that are off by default"),
    ] = []
    targets: Annotated[list[Simulator], Field(description="simulators that shall load the models")] = []
    ignore: Annotated[
        list[
            Annotated[
                Annotated[Text, Tag("code")] | Annotated[WaiveTable, Tag("table")], Discriminator(_kind)
            ]
        ],
        Field(description="codes that are not reported; [[ignore]] tables are read as [[waive]]"),
    ] = []
    waive: Annotated[
        list[WaiveTable], Field(description="findings about one element that are not reported")
    ] = []
    fail_on: Annotated[
        Literal["error", "warning", "note"], Field(description="from which severity on the exit code is 1")
    ] = "error"
    tolerance: (
        Annotated[float, Field(gt=0, lt=1, description="relative rank tolerance of scenes that state none")]
        | None
    ) = None
    misfit_limit: (
        Annotated[
            float,
            Field(
                gt=0, description="largest joint force by a misfit of 0.1 mm, N, of scenes that state none"
            ),
        ]
        | None
    ) = None
    package_dirs: Annotated[list[Text], Field(description="where package:// is looked up")] = []
    exclude: Annotated[list[Text], Field(description="patterns passed over in folders")] = []
    baseline: (
        Annotated[Text, Field(description="JSON of an earlier lint, whose findings are not reported")] | None
    ) = None
    xacro: Annotated[XacroTable, Field(description="how xacro files are expanded")] = XacroTable()
    units: Annotated[UnitsTable, Field(description="units of options and texts")] = UnitsTable()
    scenes: Annotated[dict[str, Text], Field(description="robot = scene that is linted in its place")] = {}


# The lines of the settings in a configuration.


@dataclass(frozen=True)
class ConfigLines:
    """Line numbers of settings, from 1; 0 if unknown.

    Parameters
    ----------
    keys : mapping of str to int
        Lines of the top-level keys of the configuration.
    tables : mapping of str to list of int
        Lines of the headers ``[[waive]]`` and ``[[ignore]]``, by key.
    """

    keys: Mapping[str, int]
    tables: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, text: str, table: Sequence[str] = ()) -> ConfigLines:
        """Return the lines of the settings in a text; ``table`` is the table that contains the configuration."""
        keys: dict[str, int] = {}
        tables: dict[str, list[int]] = {}
        inside: tuple[str, ...] = ()
        top = tuple(table)
        for number, line in enumerate(text.splitlines(), start=1):
            if header := TOML_HEADER.match(line):
                inside = tuple(part.strip(" \"'") for part in header.group(2).split("."))
                if len(inside) == len(top) + 1 and inside[:-1] == top and header.group(1) == "[[":
                    tables.setdefault(inside[-1], []).append(number)
                if len(inside) > len(top) and inside[: len(top)] == top:
                    keys.setdefault(inside[len(top)], number)
            elif inside == top and (key := _KEY.match(line)):
                keys.setdefault(key.group(1), number)
        return cls(keys, tables)

    def of_table(self, key: str, index: int) -> int:
        """Return the line of a waiver; if the waivers are written as a list, the line of the list."""
        lines = self.tables.get(key, ())
        return lines[index] if index < len(lines) else self.keys.get(key, 0)

    def of_place(self, place: Sequence[int | str]) -> int:
        """Return the line of a key, or of a waiver."""
        key, *rest = place
        if key in ("waive", "ignore") and rest and isinstance(rest[0], int):
            return self.of_table(str(key), rest[0])
        return self.keys.get(str(key), 0)
