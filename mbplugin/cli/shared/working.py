"""A line on stderr that says that a command still computes, where somebody watches and nothing else is shown."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from time import monotonic
from typing import Any

from mbplugin.cli.shared.options import on_terminal

#: Between two lines, and before the first one, s.
_EVERY = 0.3
#: Back to the beginning of the line, and nothing on it.
_CLEAR = "\r\x1b[2K"


class _Line:
    """The line, which a thread writes anew until the command ends."""

    def __init__(self, command: str) -> None:
        import threading

        self.command, self.begun, self.is_shown = command, monotonic(), False
        #: Held by who writes something else on the terminal.
        self.lock, self.ended = threading.RLock(), threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while not self.ended.wait(_EVERY):
            with self.lock:
                self._write(f"{_CLEAR}{self.command}: computing, {monotonic() - self.begun:.0f} s")
                self.is_shown = True

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away; the lock is held."""
        if self.is_shown:
            self._write(_CLEAR)
        self.is_shown = False

    def end(self) -> None:
        """Take the line away for good."""
        self.ended.set()
        self.thread.join()
        self.clear()


_lines: list[Any] = []


@contextlib.contextmanager
def working(command: str) -> Iterator[None]:
    """Show a line with the seconds while a command is silent, on a terminal only; none without a name."""
    if not command or not on_terminal(sys.stderr):
        yield
        return
    _lines.append(_Line(command))
    try:
        yield
    finally:
        _lines.pop().end()


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Hide the line while something else is written on the terminal."""
    if not _lines:
        yield
        return
    with _lines[-1].lock:
        _lines[-1].clear()
        yield
