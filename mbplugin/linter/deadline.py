"""The time of a whole run: what is being linted when it is over is ended, and the rest is not begun."""

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
#: What lints may take together, s.
MAX_SECONDS = 900.0
#: How much later a process is ended in which compiled code does not let itself be interrupted, s.
GRACE = 10.0
#: No other part of a lint uses it: rules have an alarm of their own.
_SIGNAL = getattr(signal, "SIGVTALRM", signal.SIGINT)


class OutOfTime(KeyboardInterrupt):
    """The time of the run is over: what ends for Ctrl-C ends for this."""


class Deadline:
    """The end of a run, from now on.

    Parameters
    ----------
    seconds : float or None
        None for a run without an end.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else monotonic() + seconds
        #: What is being linted and may be interrupted; empty for nothing.
        self._file = ""

    @property
    def left(self) -> float | None:
        """What is left, s, not less than zero; None without an end."""
        return None if self._end is None else max(0.0, self._end - monotonic())

    @property
    def passed(self) -> bool:
        """Whether nothing is left."""
        return self.left == 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Let a thread watch the time during a block, in which :meth:`run` is interrupted."""
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
        """Return the result of a function for a file; None where the time runs out first."""
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
        """Interrupt the main thread at the end, and end the process where it does not let itself be."""
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
                " end; nothing is known about the models; lint it by itself, with a longer --max-seconds.\n"
            )
            sys.stderr.flush()
        os._exit(2)
