"""A request to end a command is treated as Ctrl-C is: its processes end with it, its files stay."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

#: What shells, job queues and closed terminals send.
_NAMES = ("SIGTERM", "SIGHUP")
_INTERRUPTED = 130


class Terminated(KeyboardInterrupt):
    """The process received a signal to end.

    Parameters
    ----------
    number : int
        Of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


def exit_code_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code that shells give a command ended so."""
    return 128 + interrupt.number if isinstance(interrupt, Terminated) else _INTERRUPTED


@contextlib.contextmanager
def termination_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a block as Ctrl-C does, by :class:`Terminated`.

    Compiled code is waited for where it is for Ctrl-C. A signal that is ignored stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        heed = signal.getsignal(signal.SIGINT)
        # where Ctrl-C is ignored, as in the background of a shell, nothing waits for it either
        (heed if callable(heed) else signal.default_int_handler)(signal.SIGINT, None)

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is signal.SIG_DFL:
            signal.signal(number, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        if received:
            raise Terminated(received[0]) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
