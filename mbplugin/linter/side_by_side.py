"""Files linted in parallel, each in a separate process."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, TimeoutError, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbplugin.processes.foreign import interrupts_held, isolated_starts
from mbplugin.processes.supervised import Deadline, ignore_local_settings, rule_seconds, set_rule_seconds

if TYPE_CHECKING:
    from mbplugin.linter.run import Report
    from mbplugin.linter.targets import Target


#: Lints one file; the process imports it by name, after the process is prepared.
Work = Callable[["Target", Mapping[str, Any]], "Report"]


@dataclass(frozen=True)
class NoReport:
    """A file without a report: its process failed, or (empty reason) the time ran out before."""

    reason: str = ""


def side_by_side(
    targets: Sequence[Target], options: Mapping[str, Any], work: Work, workers: int, deadline: Deadline
) -> Iterator[Report | NoReport]:
    """Yield the reports of files in order, linted in ``workers`` processes with ``options`` of ``lint``.

    At the deadline the processes are killed; files not linted by then have no report.
    """
    left = list(targets)
    while left:
        done = 0
        with _pool(workers) as pool:
            with _starting():
                futures = [pool.submit(work, target, options) for target in left]
            try:
                for future in futures:
                    if not wait([future], deadline.left).done:
                        # from now on only finished results are returned
                        _end(pool)
                    yield _result(future, deadline)
                    done += 1
            except BrokenProcessPool:
                pass
            # after an exception do not wait for the processes; without one the pool waits for all, since otherwise
            # Python's exit may wake a thread of the pool that is closing its pipe
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        # a file killed its process and thereby the pool: lint those that were in progress alone
        yield from (_alone(target, options, work, deadline) for target in left[done : done + workers])
        left = left[done + workers :]


def _end(pool: ProcessPoolExecutor) -> None:
    """Kill the processes of a pool, which would otherwise finish linting their files first."""
    for process in list((pool._processes or {}).values()):
        process.kill()


def _result(future: Future[Report], deadline: Deadline) -> Report | NoReport:
    try:
        return future.result(deadline.left)
    except (BrokenProcessPool, TimeoutError):
        if deadline.passed:
            return NoReport()
        raise
    # a report that cannot be pickled, because of a foreign rule
    except Exception as error:
        return NoReport(f"{type(error).__name__}: {error}")


def _alone(target: Target, options: Mapping[str, Any], work: Work, deadline: Deadline) -> Report | NoReport:
    if deadline.passed:
        return NoReport()
    with _pool(1) as pool:
        with _starting():
            future = pool.submit(work, target, options)
        if not wait([future], deadline.left).done:
            _end(pool)
        try:
            return _result(future, deadline)
        except BrokenProcessPool:
            return NoReport("the process that linted it was killed")


def _pool(workers: int) -> ProcessPoolExecutor:
    here = Path.cwd()
    # spawn, because forking a process with threads in its linear algebra is not safe everywhere
    # isolated, because the queues of the pool start a process that tracks semaphores
    with isolated_starts():
        return ProcessPoolExecutor(
            workers,
            mp_context=get_context("spawn"),
            initializer=_start,
            initargs=(str(here), rule_seconds()),
        )


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    """Start processes in this block, isolated from the working folder and with interrupts blocked.

    Interrupts are blocked here until the block ends, and in a new process until it is prepared: a process
    interrupted while starting would print a traceback.
    """
    with isolated_starts(), interrupts_held():
        yield


def _start(folder: str, seconds: float | None) -> None:
    """Prepare a process: set its folder, let interrupts end it without a message, and use one core.

    ``seconds`` is the time limit of each plugin rule, or None.
    """
    os.chdir(folder)
    ignore_local_settings()
    if seconds is not None:
        set_rule_seconds(seconds, confined=True)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # numpy reads these variables when imported; no import of this module has imported it yet
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
