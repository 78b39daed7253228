"""A command in a supervised process: rules of plug-ins can end it, and then there is no result.

``os._exit(0)`` in a rule, or at the import of one, would leave exit code 0 without a word, which reads as
"nothing found". The command's process says in shared memory whose code it runs, and at its end its exit code;
the process that started it believes nothing else.
"""

from __future__ import annotations

import faulthandler
import mmap
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from types import FrameType

from mbplugin.processes.rlimits import memory_limited
from mbplugin.visible import visible

UNUSABLE, INTERRUPTED = 2, 130
_SIZE = 4096
_ENDED = "ended "
#: How long a command that was interrupted may take to end, s.
_PATIENCE = 5

#: What somebody else's rule may take, for one file: seconds, and bytes of memory beyond what there is.
RULE_SECONDS, RULE_MEMORY = 60.0, 4 << 30
#: How much later a rule is ended that does not let itself be stopped, and how often it is stopped, s.
_GRACE, _AGAIN = 10.0, 1.0
_TIMED = "timed "

_board: mmap.mmap | None = None
#: What rules may take in this process, s; None where it may not be stopped or ended.
_seconds: float | None = None
_timing = False


class RuleTookTooLong(BaseException):
    """A rule did not end in time; no ``except Exception`` of its own keeps it going."""


def confine() -> None:
    """Let limits of rules hold in this process, which does nothing but lint."""
    set_rule_seconds(RULE_SECONDS, confined=True)


def set_rule_seconds(seconds: float, *, confined: bool = False) -> None:
    """Set what a rule may take, in a process that is confined."""
    global _seconds
    if confined or _seconds is not None:
        _seconds = seconds


def rule_seconds() -> float | None:
    """Return what a rule may take in this process, s; None where there is no limit."""
    return _seconds


@contextmanager
def running(whose: str) -> Iterator[None]:
    """Run somebody else's code in a block, for which limits hold where this process is confined.

    Raises
    ------
    RuleTookTooLong
        From within the block. Code that cannot be stopped so ends the process a little later.
    """
    _write(whose)
    try:
        if _seconds is None:
            yield
        else:
            with _timed(whose, _seconds), memory_limited(RULE_MEMORY):
                yield
    finally:
        # once more: an alarm may have rung while it was switched off
        _stop_timing()
        _write("")


@contextmanager
def _timed(whose: str, seconds: float) -> Iterator[None]:
    global _timing

    def stop(number: int, frame: FrameType | None) -> None:
        if _timing:
            raise RuleTookTooLong(f"it was stopped after {seconds:g} s")

    _timing = True
    _write(f"{_TIMED}{monotonic():.3f} {seconds + _GRACE:g} {whose}")
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        # a thread of C, which needs nothing of Python, whatever the rule is doing
        faulthandler.dump_traceback_later(seconds + _GRACE, exit=True, file=nowhere)
        if sys.platform != "win32":
            signal.signal(signal.SIGALRM, stop)
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        try:
            yield
        finally:
            _stop_timing()


def _stop_timing() -> None:
    global _timing
    if _timing:
        _timing = False
        if sys.platform != "win32":
            signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()


def supervised(command: Callable[[], int]) -> int:
    """Return the exit code of a command that runs in a process of its own.

    Where processes cannot be forked, it runs in this one.
    """
    global _board
    if sys.platform == "win32":
        return command()
    _board = mmap.mmap(-1, _SIZE)
    child = os.fork()
    if child == 0:
        confine()
        code = command()
        _write(f"{_ENDED}{code}")
        return code
    _pass_signals_on(child)
    _, status = os.waitpid(child, 0)
    return _judged(os.waitstatus_to_exitcode(status))


def _judged(code: int) -> int:
    """Return the exit code of a command whose process has ended."""
    answer = _read()
    if answer.startswith(_ENDED):
        return int(answer[len(_ENDED) :])
    if code == -signal.SIGTERM:
        return INTERRUPTED if _interrupted else 128 + signal.SIGTERM
    sentence = f"mbplugin: {_end(answer, code)}; nothing is known about the models.\n"
    with suppress(OSError, AttributeError):
        sys.stderr.write(sentence)
        sys.stderr.flush()
    return UNUSABLE


def _end(answer: str, code: int) -> str:
    """Return how a command's process has ended, and whose code it was running."""
    began, seconds = monotonic(), 0.0
    if answer.startswith(_TIMED):
        *numbers, answer = answer[len(_TIMED) :].split(" ", 2)
        began, seconds = map(float, numbers)
    whose = visible(answer) or "something"
    if 0 < seconds <= monotonic() - began:
        return f"{whose} had not ended after {seconds:g} s"
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return f"{whose} ended the process by {how}"


_interrupted = False


def _pass_signals_on(child: int) -> None:
    """Let a command be stopped by stopping the process that watches it.

    A terminal interrupts both; a command that was not, or does not end, is ended a little later.
    """
    # where nothing is forked, nothing is watched
    if sys.platform == "win32":
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        global _interrupted
        _interrupted = True
        signal.alarm(_PATIENCE)

    def end(number: int, frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, end)


def _write(text: str) -> None:
    if _board is not None:
        # a long name may be cut within a character
        content = text.encode("utf-8", "replace")[: _SIZE - 1]
        _board[:] = content.ljust(_SIZE, b"\0")


def _read() -> str:
    assert _board is not None
    return _board[:].rstrip(b"\0").decode("utf-8", "replace")
