"""Ctrl-C, and requests to end a command, which are treated alike: processes end with it, files stay."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from mbplugin.processes.supervised import INTERRUPTED

#: What shells, job queues and closed terminals send.
_NAMES = ("SIGTERM", "SIGHUP")
#: Signals that were to interrupt the command.
_received: list[int] = []


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


def note_interrupts() -> None:
    """Remember each Ctrl-C from now on: libraries swallow some of the exceptions it raises.

    They do so while they are imported, and what a destructor raises is lost as well.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_DFL):
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    signal.default_int_handler(number, frame)


def exit_code_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code that shells give a command ended so."""
    return 128 + interrupt.number if isinstance(interrupt, Terminated) else INTERRUPTED


@contextlib.contextmanager
def termination_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a block as Ctrl-C does, by :class:`Terminated`.

    Compiled code is waited for where it is for Ctrl-C. A signal that is ignored stays ignored. A signal
    that arrived, in the block or before it, and that a library has swallowed ends the block at its end.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C has ended the block.
    Terminated
        Another signal has.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        _received.append(number)
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
        if _received:
            raise KeyboardInterrupt
    # extension modules make other exceptions of an interrupt
    except BaseException:
        if _received and _received[0] != signal.SIGINT:
            raise Terminated(_received[0]) from None
        if _received:
            raise KeyboardInterrupt from None
        raise
    finally:
        _received.clear()
        for number, handler in before.items():
            signal.signal(number, handler)
