"""Several files, one after the other or in processes side by side."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mbplugin.linter.files.deadline import Deadline
from mbplugin.processes.number import require_possible

if TYPE_CHECKING:
    from mbplugin.linter.files.targets import Target
    from mbplugin.linter.run import Report

#: More processes than these cannot be waited for together on Windows.
_MOST_ON_WINDOWS = 61
#: A process takes as long to start as some files take to lint.
_FILES_PER_PROCESS = 4


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def lint_targets(
    targets: Sequence[Target],
    options: Mapping[str, Any],
    jobs: int | None = None,
    max_seconds: float | None = None,
) -> Iterator[Report]:
    """Yield the reports of files in their order.

    Parameters
    ----------
    targets : sequence of Target
    options : mapping
        Of ``lint``, the same for every file.
    jobs : int, optional
        How many processes; as many as there are cores, but none that would not be worth its start.
    max_seconds : float, optional
        What all files may take together, s. What is being linted then is ended, and reported as not linted
        as are those that were not reached (MB915).

    Raises
    ------
    BadUsage
        More processes than can be started, or a request that cannot be meant, where there is one file.
    """
    workers = require_possible(jobs) if jobs else min(cores(), len(targets) // _FILES_PER_PROCESS)
    if sys.platform == "win32":
        workers = min(workers, _MOST_ON_WINDOWS)
    deadline = Deadline(max_seconds)
    if workers >= 2 and len(targets) > 1:
        from mbplugin.linter.files.side_by_side import side_by_side

        yield from side_by_side(targets, options, min(workers, len(targets)), deadline)
        return
    from mbplugin.linter.files.batch import lint_one_of_many, lint_target, not_linted

    lint = lint_target if len(targets) == 1 else lint_one_of_many
    with deadline.watched():
        for target in targets:
            report = deadline.run(target.file, partial(lint, target, options))
            yield report if report is not None else not_linted(target, deadline.seconds or 0.0)
