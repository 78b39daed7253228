"""Ctrl-C waits for compiled code, which it would leave with what was computed lost or its error garbled."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator

from mbplugin.dynamics.compiler.safe_points import at_safe_points


@contextlib.contextmanager
def ctrl_c_waits() -> Iterator[Callable[[], None]]:
    """Let a Ctrl-C wait for the end of a block; a second one does not.

    What the block gets is called where an interruption loses nothing: a Ctrl-C takes effect there too. While
    functions are compiled in the block, which takes ten seconds in all, it waits for one of them only.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield _nothing
        return
    interrupted: list[int] = []

    def wait(number: int, frame: object) -> None:
        if interrupted:
            before(number, frame)  # type: ignore[arg-type]
        interrupted.append(number)

    def finish() -> None:
        if interrupted:
            before(interrupted.pop(), None)

    signal.signal(signal.SIGINT, wait)
    try:
        with at_safe_points(finish):
            yield finish
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        before(interrupted[0], None)


def _nothing() -> None:
    """Do nothing: outside of the main thread, Python itself sees to Ctrl-C."""
