"""The configuration of a file: the nearest ``mbplugin.toml`` or ``[tool.mbplugin]`` upwards."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import read_bounded
from mbplugin.linter.config.settings import Settings
from mbplugin.readers.common.paths import package_of, real_path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAME, SHARED_NAME = "mbplugin.toml", "pyproject.toml"
#: Bytes of a configuration.
_LONGEST = 2_000_000
_TABLE = ("tool", "mbplugin")


def settings_for(path: Path) -> Settings:
    """Return what is in force for a file or folder, which need not exist.

    Raises
    ------
    BadUsage
        A configuration that cannot be read or does not follow the schema, with its line.
    """
    return settings_finder()(path)


def settings_finder() -> Callable[[Path], Settings]:
    """Return :func:`settings_for` for many files: it reads each configuration once."""

    @cache
    def of_folder(folder: Path) -> Settings:
        for name in (NAME, SHARED_NAME):
            # os.path, because pathlib raises for names that are too long
            found = os.path.isfile(folder / name)  # noqa: PTH113
            if found and not real_path(folder / name).is_relative_to(package_of(folder)):
                raise BadUsage(
                    "this link leads out of the repository",
                    where=str(folder / name),
                    expected="a configuration that lies in it",
                    remedy="name the configuration with --config",
                )
            if found and (settings := read_config(folder / name)) is not None:
                return settings
        return of_folder(folder.parent) if folder.parent != folder else Settings()

    def of_path(path: Path) -> Settings:
        absolute = real_path(path)
        return of_folder(absolute if os.path.isdir(absolute) else absolute.parent)  # noqa: PTH112

    return of_path


def named_settings(path: Path) -> Settings:
    """Return what the configuration that the caller names says.

    Raises
    ------
    BadUsage
        It cannot be read, holds no settings or does not follow the schema.
    """
    settings = read_config(path, named=True)
    if settings is None:
        raise BadUsage("the configuration holds no settings", where=str(path), expected="[tool.mbplugin]")
    return settings


def read_config(path: Path, *, named: bool = False) -> Settings | None:
    """Return the settings of a configuration; None where a ``pyproject.toml`` holds none.

    ``named`` says that the caller named it; a configuration that was found allows a model nothing.

    Raises
    ------
    BadUsage
        It cannot be read or does not follow the schema, with its line.
    """
    try:
        text = read_bounded(path, _LONGEST).decode("utf-8")
    except UnreadableFile as error:
        raise BadUsage(f"no configuration can be read: {error.what}", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise BadUsage(f"the configuration cannot be read ({error})", where=str(path)) from None
    shared = path.name == SHARED_NAME
    if shared and "mbplugin" not in text:  # other tools' business, and most often quite long
        return None
    data = _parsed(text, path)
    for key in _TABLE if shared else ():
        data = data.get(key, {}) if isinstance(data, dict) else {}
    if shared and not data:
        return None
    if not isinstance(data, dict):
        raise BadUsage(f"{'.'.join(_TABLE)} is {data!r}", where=str(path), expected="a table")
    from mbplugin.linter.config.lines import ConfigLines
    from mbplugin.linter.config.values import settings_of

    return settings_of(path, data, ConfigLines.of(text, _TABLE if shared else ()), named=named)


def _parsed(text: str, path: Path) -> Any:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # a list and tables of one name are one key for TOML
        both = "[[ignore]]" in text and re.search(r"^\s*ignore\s*=", text, re.MULTILINE)
        remedy = "rename the tables [[ignore]] to [[waive]]" if both else ""
        raise BadUsage(f"the configuration is no TOML: {error}", where=str(path), remedy=remedy) from None
