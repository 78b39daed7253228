"""The values of a configuration: validated, made absolute, each with the line it comes from."""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mbplugin.errors import BadUsage, suggestion
from mbplugin.linter.config.codes import known_codes, rule_code
from mbplugin.linter.config.ignores import Ignore
from mbplugin.linter.config.lines import ConfigLines
from mbplugin.linter.config.schema import ConfigFile, Table, UnitsTable, WaiveTable, XacroTable
from mbplugin.linter.config.settings import Settings
from mbplugin.model.units import Units
from mbplugin.readers.common.paths import real_path


def settings_of(path: Path, data: Mapping[str, Any], lines: ConfigLines, *, named: bool = False) -> Settings:
    """Return the settings that the tables of a configuration state.

    Parameters
    ----------
    path : Path
    data : mapping
    lines : ConfigLines
    named : bool
        Whether the caller named the file. One that is found beside a model comes from where the model
        comes from, and allows it nothing.

    Raises
    ------
    BadUsage
        The first thing that does not follow the schema, with its line.
    """
    config = _validated(path, data, lines)
    folder = real_path(path).parent

    def where(*place: int | str) -> str:
        return _where(path, lines, place)

    def absolute(name: str) -> str:
        return (folder / name).as_posix()

    def pattern(text: str) -> str:
        # the folder may have a name with brackets, which mean something in a pattern
        return f"{glob.escape(folder.as_posix())}/{text}"

    if not named:
        _require_own_folders(folder, config.package_dirs, where("package-dirs"))
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
        scenes={
            real_path(folder / robot).as_posix(): absolute(scene) for robot, scene in config.scenes.items()
        },
        ignores=tuple(
            Ignore(
                rule_code(entry.rule, "the waiver", where(key, k)),
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
    """Return a value as xacro's command line takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _require_own_folders(folder: Path, names: Sequence[str], where: str) -> None:
    """Refuse folders outside of the repository: models read files from them.

    Raises
    ------
    BadUsage
        With the first one.
    """
    around = (folder, *folder.parents)
    root = next((candidate for candidate in around if (candidate / ".git").exists()), folder)
    for name in names:
        if not real_path(folder / name).is_relative_to(real_path(root)):
            raise BadUsage(
                f"package-dirs names {name!r}, which lies outside {root}",
                where=where,
                expected="folders of the repository, in a configuration that is found beside a model",
                remedy="name the configuration with --config, or the folder with --package-dir",
            )


def _origins(data: Mapping[str, Any], where: Callable[..., str], named: bool) -> dict[str, str]:
    """Return where each setting is written, by the name of its field."""
    found = {name: where(key) for key, name in _keys().items() if key in data and key != "xacro"}
    if "xacro" in data:
        ignored = "unsafe" in data["xacro"] and not named
        found["xacro_unsafe"] = where("xacro") + ", unsafe in force only with --config" * ignored
    return found


def _keys() -> dict[str, str]:
    """Return the fields of the settings by the keys that set them."""
    return {field.alias or name: name for name, field in ConfigFile.model_fields.items()}


def _where(path: Path, lines: ConfigLines, place: tuple[int | str, ...]) -> str:
    line = lines.of_place(place)
    return f"{path}:{line}" if line else str(path)


def _validated(path: Path, data: Mapping[str, Any], lines: ConfigLines) -> ConfigFile:
    try:
        return ConfigFile.model_validate(data)
    except ValidationError as error:
        failure = error.errors(include_url=False)[0]
        # the tags of the union are ours, not the file's
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
        known = table.model_fields if owners else _keys()
        return BadUsage(f"unknown key {key!r}{inside}", where=where, remedy=suggestion(key, list(known)))
    if failure["type"] == "missing":
        return BadUsage(f"there is no {key}{inside}", where=where, remedy=f'add {key} = "…"')
    expected = (
        "a text that is not empty, without nulls"
        if failure["type"] == "string_pattern_mismatch"
        else failure["msg"]
    )
    what = f"{key}{inside} is {failure['input']!r}"
    return BadUsage(what, where=where, expected=f"{expected[:1].lower()}{expected[1:]}")
