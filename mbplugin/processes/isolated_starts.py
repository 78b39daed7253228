"""Processes that other libraries start: they import nothing from the working folder either."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mbplugin.processes.isolation import LIBRARY, python_path

#: Python 3.10 cannot be told not to look in the working folder.
_MUST_MOVE = sys.version_info < (3, 11)


@contextmanager
def isolated_starts(move: bool = _MUST_MOVE) -> Iterator[None]:
    """Let processes that other libraries start in this block not look in the working folder.

    Parameters
    ----------
    move : bool
        Stand in the folder of Python's library meanwhile: for Python 3.10, and for libraries that hand
        the working folder on by themselves.
    """
    changed = {"PYTHONSAFEPATH": "1", "PYTHONPATH": os.pathsep.join(filter(None, python_path()))}
    before = {name: os.environ.get(name) for name in changed}
    here = Path.cwd()
    os.environ.update(changed)
    try:
        if move:
            os.chdir(LIBRARY)
        yield
    finally:
        if move:
            os.chdir(here)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the end of a block; processes that are started in it never get one.

    One that is interrupted while it starts would print a traceback. Who starts it ends it.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
