"""Linting of many files: each separately, so that an error in one does not stop the others; cached reports; changes."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import pickle
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import Reads, cache_root, private_folder, read_bounded, recording_reads, version_of
from mbplugin.formats import LINTED, SEARCHED
from mbplugin.linter.rule import Finding, find_rule
from mbplugin.linter.run import FRAGMENT, Report, by_severity, finding_of, lint, suppress, unused
from mbplugin.linter.targets import NAME, SHARED_NAME, Target, files_below
from mbplugin.phrases import listed
from mbplugin.processes import foreign
from mbplugin.processes.supervised import Deadline
from mbplugin.readers.meshes import mesh_paths
from mbplugin.readers.paths import package_of, real_path, search_folders
from mbplugin.readers.xml import is_ros_variable
from mbplugin.version import __version__

if TYPE_CHECKING:
    from mbplugin.linter.side_by_side import Work

#: Environment variable that disables the cache.
OFF = "MBPLUGIN_NO_CACHE"
#: Version of the cached files.
_VERSION = 1
#: Most names below the folders of a model; with more, listing them could take longer than a lint.
_MOST_NAMES = 20_000
#: Largest cached report, and the largest sum of all, bytes.
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
        The folder of the cached reports.
    keys : tuple of str
        One key per target, of everything but the contents of files; empty for a target that is always linted.
    """

    folder: Path
    keys: tuple[str, ...]

    def report(self, key: str) -> Report | None:
        """Return the cached report with a key if no file that it depends on has changed; else None."""
        if not key:
            return None
        try:
            kept = foreign.load_data(read_bounded(self.folder / key, _LONGEST), _LATER)
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
    """Return the cache for a run; None if reports cannot be cached.

    Rules of other distributions may depend on anything, and so may what a foreign program reads.
    """
    root = cache_root()
    if os.environ.get(OFF) or root is None or foreign.rules_are_announced():
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


UNUSABLE, UNREADABLE, CRASHED, UNUSED, NOT_LINTED = "MB900", "MB901", "MB912", "MB913", "MB915"
#: Windows can wait for at most this many processes at once.
_MOST_ON_WINDOWS = 61
#: Starting a process takes as long as linting about this many files.
_FILES_PER_PROCESS = 4


def lint_target(target: Target, options: Mapping[str, Any]) -> Report:
    """Lint one file with its settings and some options of ``lint``.

    Raises
    ------
    BadUsage
        The request is invalid.
    """
    settings = target.settings
    if os.path.isdir(target.file):  # noqa: PTH112
        endings = listed([*LINTED, *SEARCHED], most=len(LINTED) + len(SEARCHED))
        return without_verdict(target, UNREADABLE, f"no robot file in this folder; looked for {endings}")
    try:
        report = lint(
            target.file,
            text=target.text,
            select=settings.select,
            ignore=settings.ignore,
            extend_select=settings.extend_select,
            targets=settings.targets,
            fail_on=settings.fail_on,
            package_dirs=settings.package_dirs,
            xacro_unsafe=settings.xacro_unsafe,
            xacro_args=settings.xacro_args_of(target.file),
            default_tolerance=settings.tolerance,
            misfit_limit=settings.misfit_limit,
            **options,
        )
    except BadUsage:
        raise
    except UnreadableFile as error:
        # of several files, a missing one does not stop the others
        return Report(target.file, (finding_of(error, target.file),), None, None, settings.fail_on)
    # a bug: report it with its traceback, and lint the other files
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return without_verdict(target, CRASHED, reason, {"traceback": traceback.format_exc()})
    return suppress(report, settings.ignores)


def with_skipped(reports: Sequence[Report], targets: Sequence[Target]) -> list[Report]:
    """Return the reports, with notes instead of errors for files found by searching that are not complete models.

    If that would leave no verdict at all, the errors remain: a run that linted nothing has not passed.
    """
    models = {real_path(file): r.source for r in reports if r.scene for file in r.scene.files}
    seen = [
        skipped(report, models.get(real_path(report.source), "")) if target.searched else report
        for report, target in zip(reports, targets, strict=True)
    ]
    return list(reports) if all(report.skipped for report in seen) else seen


def skipped(report: Report, model: str = "") -> Report:
    """Return the report of a file found by searching, marked as skipped if it is not a complete model.

    Parameters
    ----------
    model : str
        The file that includes it, if any; if set and the file could not be read, any error is a reason to skip it.
    """
    included = bool(model) and report.scene is None
    found = [f for f in report.findings if f.evidence.get(FRAGMENT) or (included and _unusable(f))]
    why = f"skipped, because {model} includes it" if included else "skipped"
    notes = {id(f): replace(f, severity="note", message=f"{why}: {f.message}") for f in found}
    findings = tuple(notes.get(id(f), f) for f in report.findings)
    return replace(report, findings=findings, skipped=bool(notes) and not any(map(_unusable, findings)))


def _unusable(finding: Finding) -> bool:
    return finding.severity == "error" and finding.code != CRASHED


def lint_one_of_many(target: Target, options: Mapping[str, Any]) -> Report:
    """Lint one file; an invalid request becomes a finding, since it may be valid for other files."""
    try:
        return lint_target(target, options)
    except BadUsage as error:
        return without_verdict(target, UNUSABLE, error.sentence().rstrip("."))


def without_verdict(
    target: Target, code: str, reason: str, evidence: Mapping[str, Any] | None = None
) -> Report:
    """Return the report of a file that could not be linted."""
    rule = find_rule(code)
    finding = replace(rule.finding(f"{target.file}: {reason}.", evidence=evidence), file=target.file)
    return Report(target.file, (finding,), None, None, target.settings.fail_on)


def not_linted(target: Target, seconds: float) -> Report:
    """Return the report of a file that was not linted within the time limit of the run, s."""
    return without_verdict(target, NOT_LINTED, f"not linted, the time of this run is over ({seconds:g} s)")


def with_unused_ignores(reports: Sequence[Report], targets: Sequence[Target]) -> list[Report]:
    """Return the reports with findings for unused waivers.

    For several files they are in a report on the configuration, at the end; for a single file, in its own report.
    """
    labelled = list(reports)
    last = {target.settings.file: target for target in targets}
    for config, target in last.items():
        mine = [r for r, t in zip(reports, targets, strict=True) if t.settings.file == config]
        found = by_severity(unused_ignores(target, mine))
        if len(reports) == 1:
            labelled = [replace(labelled[0], findings=by_severity((*labelled[0].findings, *found)))]
        elif found:
            labelled.append(Report(config, found, None, None, target.settings.fail_on))
    return labelled


def unused_ignores(target: Target, reports: Sequence[Report]) -> Iterator[Finding]:
    """Yield findings for the ignores of a target's configuration that match nothing in the reports."""
    settings, left = target.settings, unused(target.settings.ignores, reports)
    # a run in which every report is cached imports no rules
    if not left or not settings.selection.includes(rule := find_rule(UNUSED)):
        return
    for ignore in left:
        if settings.selection.includes(find_rule(ignore.rule)):
            yield replace(
                rule.finding(
                    f"the waiver of {ignore.rule} for {ignore.element!r} matches nothing",
                    element=ignore.element,
                    evidence={"rule": ignore.rule, "reason": ignore.reason},
                ),
                file=ignore.config,
                line=ignore.line,
            )


# Several files, one after the other or in parallel processes.


def lint_targets(
    targets: Sequence[Target],
    options: Mapping[str, Any],
    jobs: int | None = None,
    max_seconds: float | None = None,
    kept: Kept | None = None,
) -> Iterator[Report]:
    """Yield the reports of files in order.

    Parameters
    ----------
    targets : sequence of Target
    options : mapping
        Options of ``lint``, the same for every file.
    jobs : int, optional
        Number of processes; default: the number of cores, but fewer for few files.
    max_seconds : float, optional
        Time limit for all files together, s. Files being linted at that time are aborted; these, and those not yet
        started, are reported as not linted (MB915).
    kept : Kept, optional
        Reports of earlier runs, which are used where nothing has changed; new ones are added.

    Raises
    ------
    BadUsage
        More processes than can be started, or an invalid request with a single file.
    """
    deadline = Deadline(max_seconds)
    if kept is None:
        one = lint_target if len(targets) == 1 else lint_one_of_many
        yield from _linted(targets, options, jobs, deadline, one, lint_and_send)
        return
    known = [kept.report(key) for key in kept.keys]
    left = [k for k, report in enumerate(known) if report is None]
    work = partial(lint_and_keep, kept.folder, {targets[k].file: kept.keys[k] for k in left})
    new = _linted([targets[k] for k in left], options, jobs, deadline, work, work)
    for report in known:
        yield report or next(new)
    if left:
        trim(kept.folder)


def _linted(
    targets: Sequence[Target],
    options: Mapping[str, Any],
    jobs: int | None,
    deadline: Deadline,
    here: Work,
    elsewhere: Work,
) -> Iterator[Report]:
    """Yield the reports of files in order, each linted ``here`` or, with several processes, ``elsewhere``."""
    workers = (
        foreign.require_possible(jobs) if jobs else min(foreign.cores(), len(targets) // _FILES_PER_PROCESS)
    )
    if sys.platform == "win32":
        workers = min(workers, _MOST_ON_WINDOWS)
    if workers >= 2 and len(targets) > 1:
        yield from _in_parallel(targets, options, min(workers, len(targets)), deadline, elsewhere)
        return
    with deadline.watched():
        for target in targets:
            report = deadline.run(target.file, partial(here, target, options))
            yield report if report is not None else not_linted(target, deadline.seconds or 0.0)


def _in_parallel(
    targets: Sequence[Target], options: Mapping[str, Any], workers: int, deadline: Deadline, work: Work
) -> Iterator[Report]:
    from mbplugin.linter.side_by_side import NoReport, side_by_side

    results = side_by_side(targets, options, work, workers, deadline)
    for target, result in zip(targets, results, strict=True):
        if not isinstance(result, NoReport):
            yield result
        elif result.reason:
            yield without_verdict(target, CRASHED, result.reason)
        else:
            yield not_linted(target, deadline.seconds or 0.0)


def lint_and_send(target: Target, options: Mapping[str, Any]) -> Report:
    """Return the report of :func:`lint_one_of_many` without the documents, for another process.

    Only rules need the documents, and sending them takes a fifth of the time of a lint.
    """
    report = lint_one_of_many(target, options)
    return replace(report, scene=report.scene and replace(report.scene, documents=()))


def lint_and_keep(
    folder: Path, keys: Mapping[str, str], target: Target, options: Mapping[str, Any]
) -> Report:
    """Return the report of :func:`lint_and_send`, cached in a folder under the key of its file."""
    start = time.time()
    with recording_reads() as reads:
        report = lint_and_send(target, options)
    store(folder, keys[target.file], report, reads, start)
    return report


#: Interval between two looks at the files, s; more if a look takes long: at most a tenth of the time is spent looking.
_EVERY, _SHARE = 0.25, 10.0
#: Time for which the files must stay as they are after a change, since programs write in several steps, s.
_SETTLED = 0.05
#: Modification time, size and file number; None for a file that is not there.
_State = tuple[int, int, int] | None


class Watch:
    """The files that a lint of some arguments depends on.

    Parameters
    ----------
    arguments : sequence of str
        Files, folders and patterns, as for ``lint``.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._files: set[str] = set()
        self._states: dict[str, _State] = {}
        self._begin = 0
        self._changed: set[str] = set()

    @property
    def number(self) -> int:
        """Number of files that are watched and exist."""
        return sum(state is not None for state in self._states.values())

    def begin(self) -> None:
        """Note that a lint begins now: what changes from now on is linted again."""
        self._begin = time.time_ns()

    def end(self, reports: Iterable[Report]) -> None:
        """Take note of the files that a lint has read.

        A file whose model could not be read names the others no longer: those of earlier lints stay.

        Parameters
        ----------
        reports : iterable of Report
        """
        for report in reports:
            self._files |= {os.path.abspath(file) for file in _files(report)}  # noqa: PTH100
        before, self._states = self._states, self._look()
        # compared with the state before too, since the time of a file may lie in the future
        self._changed = {
            file
            for file, state in self._states.items()
            if state and state[0] > self._begin and before.get(file) != state
        }

    def wait(self) -> tuple[str, ...]:
        """Return the files that have changed since the lint began, as soon as there is one."""
        interval = _EVERY
        changed = self._changed
        while not changed:
            time.sleep(interval)
            before = time.monotonic()
            now = self._look()
            interval = max(_EVERY, _SHARE * (time.monotonic() - before))
            changed = _different(self._states, now)
        while True:
            now = self._look()
            time.sleep(_SETTLED)
            if not (later := _different(now, self._look())):
                return tuple(sorted(changed))
            changed |= later

    def _look(self) -> dict[str, _State]:
        files = {*self._files, *self._searched()}
        return {file: _state(file) for file in files}

    def _searched(self) -> Iterator[str]:
        """Yield the files that the arguments name now, and the configurations that may apply to them."""
        for argument in self._arguments:
            found = [argument]
            if os.path.isdir(argument):  # noqa: PTH112
                found = files_below(argument)
            elif not os.path.exists(argument) and glob.has_magic(argument):  # noqa: PTH110
                found = glob.glob(argument, recursive=True)  # noqa: PTH207
            for file in found:
                yield os.path.abspath(file)  # noqa: PTH100
            folder = Path(os.path.abspath(argument))  # noqa: PTH100
            for above in (folder, *folder.parents):
                yield from (str(above / name) for name in (NAME, SHARED_NAME))


def _files(report: Report) -> Iterator[str]:
    yield report.source
    yield from (finding.file for finding in report.findings if finding.file)
    if report.scene is not None:
        yield from report.scene.files
        yield from mesh_paths(report.scene)


def _state(file: str) -> _State:
    try:
        status = os.stat(file)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _different(before: dict[str, _State], now: dict[str, _State]) -> set[str]:
    return {file for file in before.keys() | now.keys() if before.get(file) != now.get(file)}
