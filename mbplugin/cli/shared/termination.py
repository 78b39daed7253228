"""Handling of Ctrl-C and of termination signals, which are treated alike: child processes end, files stay."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from mbplugin.processes.supervised import INTERRUPTED

#: Termination signals of shells, job queues and closed terminals.
_NAMES = ("SIGTERM", "SIGHUP")
#: Signals received to interrupt the command.
_received: list[int] = []


class Terminated(KeyboardInterrupt):
    """The process received a termination signal.

    Parameters
    ----------
    number : int
        Number of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


def note_interrupts() -> None:
    """Record each Ctrl-C from now on, because some of its exceptions are swallowed.

    Libraries do so during their import, and exceptions raised in a destructor are lost as well.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_DFL):
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    signal.default_int_handler(number, frame)


def exit_code_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code by which shells report this kind of interrupt."""
    return 128 + interrupt.number if isinstance(interrupt, Terminated) else INTERRUPTED


@contextlib.contextmanager
def termination_interrupts() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a block like Ctrl-C, by raising :class:`Terminated`.

    Compiled code delays these signals as it delays Ctrl-C. Ignored signals stay ignored. A signal that a library has
    swallowed, in the block or before it, takes effect at the end of the block.

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C ended the block.
    Terminated
        Another signal ended the block.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        _received.append(number)
        heed = signal.getsignal(signal.SIGINT)
        # if Ctrl-C is ignored, as in the background of a shell, no code defers it, so it can be raised at once
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
    # extension modules may turn an interrupt into another exception
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
