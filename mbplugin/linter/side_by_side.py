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
from mbplugin.processes.local_settings import ignore_local_settings
from mbplugin.processes.supervised import rule_seconds, set_rule_seconds

if TYPE_CHECKING:
    from mbplugin.linter.deadline import Deadline
    from mbplugin.linter.run import Report
    from mbplugin.linter.targets import Target


#: Lints one file; it is found by its name in the process, after that has been prepared.
Work = Callable[["Target", Mapping[str, Any]], "Report"]


@dataclass(frozen=True)
class NoReport:
    """Why a file has no report: its process failed, or (no reason) the time was over before."""

    reason: str = ""


def side_by_side(
    targets: Sequence[Target], options: Mapping[str, Any], work: Work, workers: int, deadline: Deadline
) -> Iterator[Report | NoReport]:
    """Yield the reports of files in their order, from so many processes; options of ``lint``.

    At the deadline the processes are ended; what they have not linted by then has no report.
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
                        # from now on only what is there already
                        _end(pool)
                    yield _result(future, deadline)
                    done += 1
            except BrokenProcessPool:
                pass
            # who leaves early waits for nobody; at the end all are waited for, or Python's own exit may
            # wake a thread of the pool that is closing its pipe
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        # one file ended its process and the pool with it; most likely one of those that were under way
        yield from (_alone(target, options, work, deadline) for target in left[done : done + workers])
        left = left[done + workers :]


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool, which would not end before their files are linted."""
    for process in list((pool._processes or {}).values()):
        process.kill()


def _result(future: Future[Report], deadline: Deadline) -> Report | NoReport:
    try:
        return future.result(deadline.left)
    except (BrokenProcessPool, TimeoutError):
        if deadline.passed:
            return NoReport()
        raise
    # a report that cannot be sent, made by somebody's rule
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
    # forking a process whose linear algebra has threads is not safe everywhere
    # its queues start a process, which looks after semaphores
    with isolated_starts():
        return ProcessPoolExecutor(
            workers,
            mp_context=get_context("spawn"),
            initializer=_start,
            initargs=(str(here), rule_seconds()),
        )


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    """Start processes in this block: isolated from the working folder, and not to be interrupted yet.

    Interrupts are held back here until the block ends, and in a process until it is prepared: one that
    is interrupted while it starts would print a traceback.
    """
    with isolated_starts(), interrupts_held():
        yield


def _start(folder: str, seconds: float | None) -> None:
    """Prepare a process: set its folder, let an interrupt end it without a message, and use one core.

    Rules of plug-ins may take these seconds each, where there is a limit.
    """
    os.chdir(folder)
    ignore_local_settings()
    if seconds is not None:
        set_rule_seconds(seconds, confined=True)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # read when numpy is imported, which no import of this module has done
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"
