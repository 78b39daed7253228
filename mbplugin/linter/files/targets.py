"""The files to lint: files, folders and patterns, each file with its settings."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mbplugin.linter.config.find import named_settings, settings_finder
from mbplugin.linter.config.settings import Settings
from mbplugin.linter.files.candidates import OUTSIDE, is_candidate, why_skipped
from mbplugin.readers.common.paths import package_of, real_path


@dataclass(frozen=True)
class Target:
    """One run: a file, its content where it does not come from the file, and what is in force for it.

    ``searched`` says that nobody named the file: it was found in a folder or by a pattern.
    """

    file: str
    settings: Settings
    text: str | None = None
    searched: bool = False


def targets(
    files: Iterable[str],
    requested: Mapping[str, Any] | None = None,
    config: Path | None = None,
    skipped: list[tuple[str, str]] | None = None,
) -> list[Target]:
    """Return the runs of FILE arguments, in their order; what is found in folders, once.

    Parameters
    ----------
    files : iterable of str
        Files, folders (searched for models, hidden ones passed over) and patterns. What stands for
        nothing stays as it is, so that its run says so.
    requested : mapping, optional
        Settings that go before those of the configuration, as in ``Settings.overridden``.
    config : Path, optional
        The configuration of all files, instead of the one that is nearest to each.
    skipped : list of (str, str), optional
        Takes the files of folders that are not linted, and why.

    Raises
    ------
    BadUsage
        A configuration that does not follow the schema.
    """
    settings_for = settings_finder() if config is None else _always(named_settings(config))
    found: list[Target] = []
    seen: set[str] = set()
    mapped: set[str] = set()
    for name in files:
        for file in _expanded(name, settings_for, skipped if skipped is not None else []):
            target = target_of(file, settings_for(Path(file)).overridden(requested or {}))
            target = replace(target, searched=file != name)
            place = os.path.abspath(target.file)  # noqa: PTH100
            # a scene that stands for a robot is linted once, also where both are named
            if place not in seen or (target.file == name and place not in mapped):
                found.append(target)
            seen.add(place)
            if target.file != file:
                mapped.add(place)
    return found


def _always(settings: Settings) -> Callable[[Path], Settings]:
    return lambda path: settings


def target_of(file: str, settings: Settings) -> Target:
    """Return the run of one file, or of the scene that the settings name for it."""
    scene = settings.scenes.get(real_path(file).as_posix())
    return Target(_seen_from_here(scene) if scene else file, settings)


def is_model(path: str) -> bool:
    """Return whether a file is one that folders are searched for."""
    return is_candidate(path) and why_skipped(path) is None


def excluded(path: Path, settings: Settings) -> bool:
    """Return whether the configuration passes over a file that nobody named."""
    text = real_path(path).as_posix()
    return any(fnmatchcase(text, pattern) for pattern in settings.exclude)


def _expanded(
    name: str, settings_for: Callable[[Path], Settings], skipped: list[tuple[str, str]]
) -> list[str]:
    # pathlib raises for names that are too long, and its glob takes no absolute patterns
    searched = name
    if os.path.isdir(name):  # noqa: PTH112
        found = list(_below(name))
    elif not os.path.exists(name) and glob.has_magic(name):  # noqa: PTH110
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207
        folders = [match for match in matches if Path(match).is_dir()]
        found = [match for match in matches if match not in folders]
        found += [file for folder in folders for file in _below(folder)]
        searched = str(Path(re.split(r"[*?[]", name, maxsplit=1)[0] + "x").parent)
    else:
        return [name]
    # a name that no file can have has no repository either
    if not found:
        return [name]
    linted = []
    border = package_of(real_path(searched))
    for file in found:
        if not real_path(file).is_relative_to(border):
            skipped.append((file, OUTSIDE))
            continue
        if excluded(Path(file), settings_for(Path(file))):
            continue
        reason = why_skipped(file) if is_candidate(file) else None
        if reason is None:
            linted.append(file)
        else:
            skipped.append((file, reason))
    return linted or [name]


def _below(folder: str) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found = (os.path.normpath(Path(path) / name) for name in sorted(names) if is_candidate(name))
        # a pipe waits for its writer, and a link in a circle leads nowhere
        yield from (file for file in found if os.path.isfile(file))  # noqa: PTH113


def _seen_from_here(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
