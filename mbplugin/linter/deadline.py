"""Time limit of a whole run: when it is reached, the lint in progress is aborted and no further file is started."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from types import FrameType
from typing import TypeVar

T = TypeVar("T")
#: Default time limit of a run, s.
MAX_SECONDS = 900.0
#: Delay after which a process whose compiled code does not react to the interrupt is ended, s.
GRACE = 10.0
#: Signal that no other part of a lint uses: rules have a separate alarm.
_SIGNAL = getattr(signal, "SIGVTALRM", signal.SIGINT)


class OutOfTime(KeyboardInterrupt):
    """The time of the run is over; a KeyboardInterrupt, so that it ends whatever Ctrl-C ends."""


class Deadline:
    """Time limit of a run that starts now.

    Parameters
    ----------
    seconds : float or None
        None for a run without a time limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else monotonic() + seconds
        #: File being linted, which may be interrupted; empty if there is none.
        self._file = ""

    @property
    def left(self) -> float | None:
        """Remaining time, s, not less than zero; None without a time limit."""
        return None if self._end is None else max(0.0, self._end - monotonic())

    @property
    def passed(self) -> bool:
        """True if no time remains."""
        return self.left == 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the time in a thread during a block, and interrupt :meth:`run` when it is over."""
        if self.left is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        done = threading.Event()
        before = signal.signal(_SIGNAL, self._interrupt)
        thread = threading.Thread(target=self._watch, args=(done,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            signal.signal(_SIGNAL, before)

    def run(self, file: str, function: Callable[[], T]) -> T | None:
        """Return the result of a function for a file; None if the time runs out first."""
        if self.passed:
            return None
        try:
            try:
                self._file = file
                return function()
            finally:
                self._file = ""
        except OutOfTime:
            return None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._file and self.passed:
            raise OutOfTime
        if _SIGNAL == signal.SIGINT and not self.passed:
            raise KeyboardInterrupt

    def _watch(self, done: threading.Event) -> None:
        """Interrupt the main thread when the time is over; end the process if the thread does not react."""
        if done.wait(self.left):
            return
        if sys.platform == "win32":
            _thread.interrupt_main()
        else:
            signal.pthread_kill(threading.main_thread().ident or 0, _SIGNAL)
        if done.wait(GRACE) or not (file := self._file):
            return
        from mbplugin.phrases import visible

        with suppress(OSError, ValueError):
            sys.stderr.write(
                f"mbplugin lint: the time of this run is over ({self.seconds:g} s), and {visible(file)} does not"
                " end; nothing is known about the models; lint it alone, with a longer --max-seconds.\n"
            )
            sys.stderr.flush()
        os._exit(2)
