"""A command in a process that is watched: rules of plug-ins can end it, and then there is no verdict.

``os._exit(0)`` in a rule, or at the import of one, would leave exit code 0 without a word, which reads as
"nothing found". The command's process says in shared memory whose code it runs, and at its end its exit code;
the process that started it believes nothing else.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from mbplugin.visible import visible

#: The entry points of rules of other distributions.
RULE_GROUP = "mbplugin.rules"
UNUSABLE, INTERRUPTED = 2, 130
_SIZE = 4096
_ENDED = "ended "
#: How long a command that was interrupted may take to end, s.
_PATIENCE = 5

_board: mmap.mmap | None = None


def running(whose: str) -> None:
    """Say whose code runs from now on; empty for our own."""
    _write(whose)


def supervised(command: Callable[[], int]) -> int:
    """Return the exit code of a command that runs in a process of its own.

    Where processes cannot be forked, it runs in this one.
    """
    global _board
    if not hasattr(os, "fork"):
        return command()
    _board = mmap.mmap(-1, _SIZE)
    child = os.fork()
    if child == 0:
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
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    whose = visible(answer) or "something"
    sentence = f"mbplugin: {whose} ended the process by {how}; nothing is known about the models.\n"
    with suppress(OSError, AttributeError):
        sys.stderr.write(sentence)
        sys.stderr.flush()
    return UNUSABLE


_interrupted = False


def _pass_signals_on(child: int) -> None:
    """Let a command be stopped by stopping the process that watches it.

    A terminal interrupts both; a command that was not, or does not end, is ended a little later.
    """

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
