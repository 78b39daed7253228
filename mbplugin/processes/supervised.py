"""A command in a supervised process: rules of plug-ins can end it, and then there is no result.

``os._exit(0)`` in a rule, or at the import of one, would leave exit code 0 without a word, which reads as
"nothing found". The command's process says in shared memory whose code it runs, and at its end its exit code;
the process that started it believes nothing else.
"""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import mmap
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from types import FrameType
from typing import Any

from mbplugin.phrases import visible

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
_interrupted = False
#: Where the system does not tell, bytes.
_ADDRESSES = 1 << 30
#: The soft limits of descriptors that blocks have replaced, the outermost first.
_BEFORE: list[int] = []


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
    """Return the time that a rule may take in this process, s; None without a limit."""
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


# Limits of a process that the system keeps; where it has none, nothing is limited.


@contextlib.contextmanager
def memory_limited(more: int) -> Iterator[None]:
    """Limit the addresses of this process within a block.

    Parameters
    ----------
    more : int
        Bytes beyond those that it has; an allocation that needs more raises MemoryError.
    """
    if sys.platform == "win32":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)[0]
    set_soft(resource.RLIMIT_AS, addresses() + more)
    try:
        yield
    finally:
        set_soft(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def no_more_files() -> Iterator[None]:
    """Let this process open no file within a block, whatever library tries to; what is open can be read on.

    Modules can be imported: they are this program's, and numpy imports some when it first needs them. This holds
    where the system limits descriptors, thus not on Windows.
    """
    import_before = builtins.__import__

    def import_module(*args: Any, **kwargs: Any) -> Any:
        builtins.__import__ = import_before
        try:
            with files_allowed():
                return import_before(*args, **kwargs)
        finally:
            builtins.__import__ = import_module

    builtins.__import__ = import_module
    try:
        with _descriptors(0):
            yield
    finally:
        builtins.__import__ = import_before


@contextlib.contextmanager
def files_allowed() -> Iterator[None]:
    """Let this process open files again, within a block of :func:`no_more_files`."""
    with _descriptors(_BEFORE[0] if _BEFORE else None):
        yield


@contextlib.contextmanager
def _descriptors(most: int | None) -> Iterator[None]:
    if sys.platform == "win32" or most is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # not as far as possible but exactly: a limit that does not hold must not be taken for one that does
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    _BEFORE.append(soft)
    try:
        yield
    finally:
        set_soft(resource.RLIMIT_NOFILE, _BEFORE.pop())


def set_soft(kind: int, value: int) -> None:
    """Set a soft limit of this process, as far as its hard limit allows; on Windows there are none."""
    if sys.platform == "win32":
        return
    import resource

    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY and (value == resource.RLIM_INFINITY or value > hard):
        value = hard
    # some systems refuse limits of addresses
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, hard))


def addresses() -> int:
    """Return the bytes of addresses that this process has, or what it may have where nothing tells."""
    if sys.platform == "win32":
        return _ADDRESSES
    import resource

    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return _ADDRESSES


def set_hard(kind: int, value: int) -> bool:
    """Set a limit of this process that it cannot raise again, and return whether it holds."""
    if sys.platform == "win32":
        return False
    import resource

    soft, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    if soft == resource.RLIM_INFINITY or soft > value:
        soft = value
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, value))
    return resource.getrlimit(kind)[1] == value
