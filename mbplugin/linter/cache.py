"""Reports kept between runs over folders: a file is linted again when anything that its report depends on changes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.dynamics.compiler import cache_root, private_folder
from mbplugin.errors import UnreadableFile
from mbplugin.files import Reads, read_bounded, version_of
from mbplugin.linter.run import Report
from mbplugin.linter.targets import Target
from mbplugin.processes.foreign import load_data, rules_are_announced
from mbplugin.readers.paths import package_of, search_folders
from mbplugin.readers.xml import is_ros_variable
from mbplugin.version import __version__

#: Environment variable that disables the cache.
OFF = "MBPLUGIN_NO_CACHE"
#: Version of the kept files.
_VERSION = 1
#: Most names below the folders of a model; with more, listing them could take longer than a lint.
_MOST_NAMES = 20_000
#: Largest kept report, and the largest sum of all, bytes.
_LONGEST, _MOST = 5_000_000, 200_000_000
#: Age from which the times of a file are trusted to change with its content, s.
_RECENT = 2.0
#: Values that an analysis computes at first use, in addition to the data of a report.
_LATER = frozenset(
    {
        ("functools", "partial"),
        ("mbplugin.analysis", "_cures"),
        ("mbplugin.analysis.mobility", "finite_mobility"),
        ("mbplugin.analysis.uniqueness", "self_stresses"),
    }
)
#: Folders in which a model's files are not looked for.
_NOT_LISTED = {".git", "__pycache__", ".venv", "node_modules"}
#: Prefixes of the environment variables, other than those of ROS, that name folders of models.
_VARIABLES = ("SDF_", "MBPLUGIN_", "HOME")


@dataclass(frozen=True)
class Kept:
    """The cache for one run.

    Parameters
    ----------
    folder : Path
        Where the reports are kept.
    keys : tuple of str
        One key per target, of everything but the contents of files; empty for a target that is always linted.
    """

    folder: Path
    keys: tuple[str, ...]

    def report(self, key: str) -> Report | None:
        """Return the kept report with a key if no file that it depends on has changed; else None."""
        if not key:
            return None
        try:
            kept = load_data(read_bounded(self.folder / key, _LONGEST), _LATER)
            unchanged = all(_is_unchanged(*file) for file in kept["files"])
            return kept["report"] if unchanged and isinstance(kept["report"], Report) else None
        # no entry, a truncated one, or one of another version
        except (
            UnreadableFile,
            pickle.PickleError,
            EOFError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
        ):
            return None


def kept_reports(targets: Sequence[Target], options: Mapping[str, Any]) -> Kept | None:
    """Return the cache for a run; None if reports cannot be kept.

    Rules of other distributions may depend on anything, and so may what a foreign program reads.
    """
    root = cache_root()
    if os.environ.get(OFF) or root is None or rules_are_announced():
        return None
    folder = root / "mbplugin" / "reports"
    if not private_folder(folder, "reports are"):
        return None
    common = _digest((_VERSION, __version__, _installed(), str(Path.cwd()), _environment(), options))
    # files of one folder have the same settings
    stated = {id(target.settings): target.settings for target in targets}
    settings = {number: _digest(one) for number, one in stated.items()}
    names: dict[tuple[Any, ...], str] = {}
    return Kept(
        folder, tuple(_key(target, common + settings[id(target.settings)], names) for target in targets)
    )


def store(folder: Path, key: str, report: Report, reads: Reads, start: float) -> None:
    """Keep a report of a lint that began at the time ``start``, s, together with the files that it read."""
    # what is missing or unusable today may be so for reasons that no file shows
    if not key or not reads.complete or report.scene is None:
        return
    if any(f.code.startswith("MB9") for f in (*report.findings, *(s.finding for s in report.suppressed))):
        return
    files = []
    for path, digest in reads.files.items():
        version = version_of(path)
        # a file that changed during the lint, or just before, may change again without a change of its times
        is_recent = not version or max(version[1:3]) > (start - _RECENT) * 1e9
        if is_recent and not digest:
            return
        files.append((path, digest, () if is_recent else version))
    content = pickle.dumps({"files": files, "report": report}, protocol=5)
    if len(content) > _LONGEST:
        return
    # a cache that cannot be written only costs time
    with contextlib.suppress(OSError):
        descriptor, temporary = tempfile.mkstemp(dir=folder)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        os.replace(temporary, folder / key)  # noqa: PTH105


def trim(folder: Path) -> None:
    """Remove the oldest entries while all together are too large."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        found = sorted((one.stat().st_mtime, one.stat().st_size, one.path) for one in entries)
        total = sum(size for _, size, _ in found)
        for _, size, path in found:
            if total <= _MOST:
                break
            os.unlink(path)  # noqa: PTH108
            total -= size


def _key(target: Target, common: str, names: dict[tuple[Any, ...], str]) -> str:
    """Return the key of a target; empty if it must be linted every time.

    ``names`` holds the digests of folders already listed in this run.
    """
    settings = target.settings
    if target.text is not None or settings.xacro_unsafe:
        return ""
    package = package_of(Path(os.path.realpath(target.file)).parent)
    around = (package, *settings.package_dirs)
    if around not in names:
        names[around] = _names_below(package, settings.package_dirs)
    return _digest((common, target.file, names[around])) if names[around] else ""


def _is_unchanged(path: str, digest: str, version: tuple[int, ...]) -> bool:
    """Return True if a file has the version that it had, or another one with the same content."""
    if version and version_of(path) == version:
        return True
    try:
        return bool(digest) and hashlib.sha256(read_bounded(Path(path))).hexdigest() == digest
    except UnreadableFile:
        return False


def _names_below(package: Path, package_dirs: tuple[str, ...]) -> str:
    """Return a digest of all names where a model's files are looked up; empty if there are too many.

    A new file may be found in place of another one, and a missing one may appear.
    """
    digest, count = hashlib.sha256(), 0
    for root in dict.fromkeys((str(package), *map(str, search_folders(package_dirs)))):
        digest.update(f"{root}\0".encode(errors="replace"))
        for name in _names(root):
            count += 1
            if count > _MOST_NAMES:
                return ""
            digest.update(f"{name}\0".encode(errors="replace"))
    return digest.hexdigest()


def _names(folder: str) -> Iterator[str]:
    """Yield the names below a folder; those of links with their targets, and folders with a slash."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in found:
        link = f"→{os.readlink(entry.path)}" if entry.is_symlink() else ""  # noqa: PTH115
        is_folder = not link and entry.is_dir(follow_symlinks=False)
        yield f"{entry.name}{link}{'/' * is_folder}"
        if is_folder and entry.name not in _NOT_LISTED:
            yield from _names(entry.path)
            yield ".."


def _environment() -> list[tuple[str, str]]:
    """Return the values of the variables that a model may read, and the names of all: a model may ask for those."""
    return sorted(
        (name, value if is_ros_variable(name) or name.startswith(_VARIABLES) else "")
        for name, value in os.environ.items()
    )


def _installed() -> list[Any]:
    """Return versions of the interpreter, the installed packages, and the files of this package."""
    own = Path(__file__).parents[1]
    files = (Path(folder, name) for folder, _, names in os.walk(own) for name in sorted(names))
    programs = (str(file) for file in files if file.suffix == ".py")
    return [sys.version, np.__version__, *((path, version_of(path)[1:2]) for path in (*sys.path, *programs))]


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(_plain(value)).encode(errors="replace")).hexdigest()


def _plain(value: Any) -> Any:
    """Return a value whose ``repr`` does not depend on the order of sets and mappings."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, [(one.name, _plain(getattr(value, one.name))) for one in fields(value)]
    if isinstance(value, Mapping):
        return sorted(((str(key), _plain(one)) for key, one in value.items()), key=lambda pair: pair[0])
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, map(_plain, value)))
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return repr(value)
