"""The files that a lint has read, and when one of them changes: what ``lint --watch`` waits for."""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mbplugin.linter.run import Report
from mbplugin.linter.targets import NAME, SHARED_NAME, files_below
from mbplugin.readers.meshes import mesh_paths

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
