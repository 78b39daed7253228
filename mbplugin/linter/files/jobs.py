"""Several files, one after the other or in processes side by side."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
    targets: Sequence[Target], options: Mapping[str, Any], jobs: int | None = None
) -> Iterator[Report]:
    """Yield the reports of files in their order.

    Parameters
    ----------
    targets : sequence of Target
    options : mapping
        Of ``lint``, the same for every file.
    jobs : int, optional
        How many processes; as many as there are cores, but none that would not be worth its start.

    Raises
    ------
    BadUsage
        More processes than can be started, or a request that cannot be meant, where there is one file.
    """
    workers = require_possible(jobs) if jobs else min(cores(), len(targets) // _FILES_PER_PROCESS)
    if sys.platform == "win32":
        workers = min(workers, _MOST_ON_WINDOWS)
    if len(targets) == 1:
        from mbplugin.linter.files.batch import lint_target

        yield lint_target(targets[0], options)
    elif workers < 2:
        from mbplugin.linter.files.batch import lint_one_of_many

        yield from (lint_one_of_many(target, options) for target in targets)
    else:
        from mbplugin.linter.files.side_by_side import side_by_side

        yield from side_by_side(targets, options, min(workers, len(targets)))
