"""The files to lint, from files, folders and patterns, each with its settings."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import parse_json, read_bounded, read_instead, seen_from, toml_text
from mbplugin.formats import LINTED, SEARCHED
from mbplugin.linter import Settings
from mbplugin.linter.rule import ELEMENTS, Finding
from mbplugin.phrases import listed
from mbplugin.readers.paths import package_of, real_path
from mbplugin.readers.xml import root_name

if TYPE_CHECKING:
    from mbplugin.linter.run import Report

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: A USD layer without this schema contains no mechanism.
_RIGID = "PhysicsRigidBodyAPI"
#: Number of bytes of a file searched for its content.
_HEAD = 2_000_000
_MACRO = re.compile(r"<xacro:macro\b.*?</xacro:macro\s*>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
#: Elements that define a part of a robot, or call a macro that may.
_MAKES = re.compile(
    r"<(?:link|model|world|xacro:(?!include\b|property\b|arg\b|macro\b|if\b|unless\b|insert_block\b))"
)
_SEMANTICS = (".srdf.xacro", ".ros2_control.xacro", ".gazebo.xacro", ".transmission.xacro")
NAME, SHARED_NAME = "mbplugin.toml", "pyproject.toml"
#: Maximum size of a configuration, bytes.
_LONGEST = 2_000_000
_TABLE = ("tool", "mbplugin")
#: Reasons for skipping files of a folder.
MACROS = "xacro files that only define macros or properties"
OUTSIDE = "links that lead out of the repository"
DESCRIBED = "models of scenes that are linted"
#: Known findings by source, code and element: numbers and lines may change without making a finding new.
Known = Counter[tuple[str, str, str]]
#: Smaller changes of coordinates by assembling are rounding, rad or m.
_STILL = 1e-12


@dataclass(frozen=True)
class Target:
    """One run: a file, its content if not read from the file, and its settings.

    ``searched`` is True if the file was not named but found in a folder or by a pattern.
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
    """Return the runs for FILE arguments, in order; files found by searching appear once.

    Parameters
    ----------
    files : iterable of str
        Files, folders (searched for models, except hidden folders) and patterns. Arguments that match
        nothing are returned unchanged, so that their run reports it.
    requested : mapping, optional
        Settings that override those of the configuration, as in ``Settings.overridden``.
    config : Path, optional
        The configuration for all files, instead of the one nearest to each.
    skipped : list of (str, str), optional
        Receives the files of folders that are not linted, with reasons.

    Raises
    ------
    BadUsage
        A configuration does not follow the schema.
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
            # a scene that replaces a robot is linted once, even if both are named
            if place not in seen or (target.file == name and place not in mapped):
                found.append(target)
            seen.add(place)
            if target.file != file:
                mapped.add(place)
    return found


def _always(settings: Settings) -> Callable[[Path], Settings]:
    return lambda path: settings


def target_of(file: str, settings: Settings) -> Target:
    """Return the run for one file, or for the scene that replaces it in the settings."""
    scene = settings.scenes.get(real_path(file).as_posix())
    return Target(_seen_from_here(scene) if scene else file, settings)


def is_model(path: str) -> bool:
    """Return True if a file would be linted when found in a folder."""
    return is_candidate(path) and why_skipped(path) is None


def excluded(path: Path, settings: Settings) -> bool:
    """Return True if the configuration excludes a file found by searching."""
    text = real_path(path).as_posix()
    return any(fnmatchcase(text, pattern) for pattern in settings.exclude)


def _expanded(
    name: str, settings_for: Callable[[Path], Settings], skipped: list[tuple[str, str]]
) -> list[str]:
    # pathlib raises for names that are too long, and its glob takes no absolute patterns
    searched = name
    if os.path.isdir(name):  # noqa: PTH112
        found = files_below(name)
    elif not os.path.exists(name) and glob.has_magic(name):  # noqa: PTH110
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207
        folders = [match for match in matches if Path(match).is_dir()]
        found = [match for match in matches if match not in folders]
        found += [file for folder in folders for file in files_below(folder)]
        searched = str(Path(re.split(r"[*?[]", name, maxsplit=1)[0] + "x").parent)
    else:
        return [name]
    # return early: a name that is not a valid path has no repository
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
    described = _described([file for file in linted if file.endswith(".scene.toml")])
    skipped += [(file, DESCRIBED) for file in linted if real_path(file) in described]
    return [file for file in linted if real_path(file) not in described] or [name]


def _described(scenes: Iterable[str]) -> set[Path]:
    """Return the model files of scenes; such a robot is linted with its scene."""
    found = set()
    for scene in scenes:
        try:
            models = tomllib.loads(_head(scene)).get("model", [])
        except (tomllib.TOMLDecodeError, RecursionError):
            # linting the scene will report the error
            continue
        for model in models if isinstance(models, list) else ():
            name = model.get("file") if isinstance(model, dict) else None
            if isinstance(name, str) and "://" not in name and "\0" not in name:
                found.add(real_path(Path(scene).parent / name))
    return found


def files_below(folder: str) -> list[str]:
    """Return the files below a folder whose ending is one that may be linted, except in hidden folders."""
    return list(_below(folder))


def _below(folder: str) -> Iterator[str]:
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found = (os.path.normpath(Path(path) / name) for name in sorted(names) if is_candidate(name))
        # isfile skips pipes, which would block, and circular links
        yield from (file for file in found if os.path.isfile(file))  # noqa: PTH113


def _seen_from_here(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


# Selection of files in a folder: models of every format; files only used by other models are skipped.


def is_candidate(name: str) -> bool:
    """Return True if the ending of a file is one that may be linted."""
    return name.lower().endswith((*LINTED, *SEARCHED))


def why_skipped(path: str) -> str | None:
    """Return the reason why a file of a folder is not linted; None if it is linted.

    The reason is empty if it need not be reported.

    Parameters
    ----------
    path : str
        A file for which :func:`is_candidate` is True.
    """
    name = path.lower()
    if name.endswith(LINTED):
        return None
    text = _head(path)
    if name.endswith(".usda"):
        return None if _RIGID in text else ""
    root = root_name(text)
    if name.endswith(".xacro"):
        if root not in ("robot", "sdf") or name.endswith(_SEMANTICS):
            return ""
        text = _COMMENT.sub("", text)
        return None if _MAKES.search(_MACRO.sub("", text)) or _only_includes(text) else MACROS
    return None if root == "mujoco" else ""


def _only_includes(text: str) -> bool:
    """Return True if a xacro file includes others and defines no macros."""
    return "<xacro:include" in text and "<xacro:macro" not in text


def _head(path: str) -> str:
    if (data := read_instead(path)) is not None:
        return data[:_HEAD].decode("utf-8", errors="replace")
    try:
        # reading a pipe would block
        if not os.path.isfile(path):  # noqa: PTH113
            return ""
        with Path(path).open("rb") as stream:
            return stream.read(_HEAD).decode("utf-8", errors="replace")
    except OSError:
        return ""


def skipped_line(skipped: Iterable[tuple[str, str]]) -> str:
    """Return a line about the skipped files of folders, with reasons; empty if there are none.

    Parameters
    ----------
    skipped : iterable of (str, str)
        Files and reasons.
    """
    by_reason: dict[str, list[str]] = {}
    for file, reason in skipped:
        if reason:
            by_reason.setdefault(reason, []).append(file)
    parts = []
    for reason, files in by_reason.items():
        parts.append(f"{len(files)} {reason} ({listed(files, 3)})")
    return f"skipped: {'; '.join(parts)}" if parts else ""


# The baseline: the JSON report of an earlier lint, whose findings are not reported again.


def stated_baselines(targets: Iterable[Target], violation: Callable[[Any], str]) -> Known | None:
    """Return the count of each finding in the baselines that the configurations of files state; None without any.

    Raises
    ------
    BadUsage
        A baseline cannot be read, or is none.
    """
    known: Known | None = None
    for name in dict.fromkeys(target.settings.baseline for target in targets):
        if name:
            # files in it are seen from its folder, wherever the lint starts
            known = (known or Counter()) | read_baseline(Path(name), violation, Path(name).parent)
    return known


def read_baseline(path: Path, violation: Callable[[Any], str], folder: Path | None = None) -> Known:
    """Return the count of each finding in the JSON report of a lint.

    Parameters
    ----------
    path : Path
    folder : Path, optional
        From which relative names of files in the report are seen; default: the working folder.
    violation : callable
        Returns the first location at which a document violates its schema; empty if there is none.

    Raises
    ------
    BadUsage
        The file was not written by ``mbplugin lint --output-format json``.
    """
    try:
        document = parse_json(read_bounded(path))
        if violation(document):
            raise _no_baseline(path)
        runs = document.get("runs", [document])
        return Counter(
            _key((folder or Path.cwd()) / run["source"], finding["code"], element)
            for run in runs
            for finding in run["findings"]
            for element in finding.get("evidence", {}).get(ELEMENTS) or [finding["element"]]
        )
    except UnreadableFile as error:
        raise BadUsage(f"no baseline can be read: {error.what}", where=str(path)) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _no_baseline(path) from None


def _no_baseline(path: Path) -> BadUsage:
    return BadUsage(
        "this is not a baseline",
        where=str(path),
        expected="the output of mbplugin lint --output-format json writes",
        remedy="write it with --output-format json --output FILE",
    )


def without_known(reports: Sequence[Report], known: Known) -> list[Report]:
    """Return the reports without the findings of a baseline; unusable input is always reported."""
    left = Counter(known)
    return [
        replace(report, findings=tuple(f for f in report.findings if _new(report, f, left)))
        for report in reports
    ]


def _new(report: Report, finding: Finding, left: Known) -> bool:
    keys = [_key(report.source, finding.code, element) for element in finding.elements]
    if finding.code.startswith("MB9") or not all(left[key] for key in keys):
        return True
    # count down, so that the fifth equal finding is new if the baseline has four
    left.subtract(keys)
    return False


def _key(source: Any, code: Any, element: Any) -> tuple[str, str, str]:
    return seen_from(Path.cwd(), str(source)), str(code), str(element)


# A scene with the closed pose of a model whose format cannot state one.


def closed_scene(report: Report, target: Path) -> str:
    """Return a scene file with the model of a report and its joint coordinates at the closed pose.

    Parameters
    ----------
    report : Report
        Report on a URDF, xacro, SDF or MJCF file.
    target : Path
        Path of the scene; the model is named relative to its folder.

    Raises
    ------
    BadUsage
        The report is on a scene, stdin or a client, or its loops were not closed.
    """
    scene, analysis = report.scene, report.analysis
    if not target.name.endswith(".toml"):
        raise BadUsage(f"--write-scene is {str(target)!r}", expected="a file with the ending .scene.toml")
    if scene is None or analysis is None:
        raise BadUsage("no closed pose was found, so no scene is written", where=report.source)
    request = scene.request
    if request is None or request.text is not None or request.path.endswith(".toml"):
        raise BadUsage(
            "--write-scene needs a model file",
            where=report.source,
            remedy="store the closed pose (evidence q in the JSON) in [state] of the scene",
        )
    file = seen_from(target.absolute().parent, request.path)
    lines = ["[[model]]", f"file = {toml_text(file)}"]
    if request.base is not None:
        lines.append(f'base = "{request.base}"')
    moved = np.abs(analysis.q - scene.state.q) > _STILL
    pose = [
        f"{toml_text(name)} = {value!r}"
        for name, value, changed in zip(scene.mechanism.q_names, analysis.q.tolist(), moved, strict=True)
        if changed
    ]
    return "\n".join([*lines, *(["", "[state.q]", *pose] if pose else [])]) + "\n"


# The configuration of a file: the nearest ``mbplugin.toml`` or ``[tool.mbplugin]`` in its folder or above.


def settings_for(path: Path) -> Settings:
    """Return the settings for a file or folder, which need not exist.

    Raises
    ------
    BadUsage
        A configuration cannot be read or does not follow the schema; the message states its line.
    """
    return settings_finder()(path)


def settings_finder() -> Callable[[Path], Settings]:
    """Return a version of :func:`settings_for` for many files, which reads each configuration once."""

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
    """Return the settings of a configuration named by the caller.

    Raises
    ------
    BadUsage
        It cannot be read, contains no settings or does not follow the schema.
    """
    settings = read_config(path, named=True)
    if settings is None:
        raise BadUsage("the configuration holds no settings", where=str(path), expected="[tool.mbplugin]")
    return settings


def read_config(path: Path, *, named: bool = False) -> Settings | None:
    """Return the settings of a configuration; None if a ``pyproject.toml`` contains none.

    ``named`` is True if the caller named it; a configuration found by searching cannot grant permissions.

    Raises
    ------
    BadUsage
        It cannot be read or does not follow the schema; the message states the line.
    """
    try:
        text = read_bounded(path, _LONGEST).decode("utf-8")
    except UnreadableFile as error:
        raise BadUsage(f"no configuration can be read: {error.what}", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise BadUsage(f"the configuration cannot be read ({error})", where=str(path)) from None
    shared = path.name == SHARED_NAME
    if shared and "mbplugin" not in text:  # skip parsing a long file that only configures other tools
        return None
    data: Any = _parsed(text, path)
    for key in _TABLE if shared else ():
        data = data.get(key, {}) if isinstance(data, dict) else {}
    if shared and not data:
        return None
    if not isinstance(data, dict):
        raise BadUsage(f"{'.'.join(_TABLE)} is {data!r}", where=str(path), expected="a table")
    from mbplugin.linter.config_file import ConfigLines, settings_of

    return settings_of(path, data, ConfigLines.of(text, _TABLE if shared else ()), named=named)


@lru_cache(maxsize=16)
def _parsed(text: str, path: Path) -> Mapping[str, Any]:
    """Return the tables of a configuration, parsed once for each text: an editor asks at every key."""
    try:
        tables: Mapping[str, Any] = tomllib.loads(text)
        return tables
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        # in TOML a list and tables of the same name are a duplicate key
        both = "[[ignore]]" in text and re.search(r"^\s*ignore\s*=", text, re.MULTILINE)
        remedy = "rename the tables [[ignore]] to [[waive]]" if both else ""
        raise BadUsage(f"the configuration is not TOML: {error}", where=str(path), remedy=remedy) from None
