"""Processes of engines that are forked from one that has imported what they import, half a second for each of them.

For tests of what an engine computes, in the rooms that ask engines most. Every process is still one of its own with
its own walls and limits; only its start is another one. That start itself is tested where processes are: in the
rooms ``safety`` and ``bullet``, and wherever the command line asks an engine.
"""

from __future__ import annotations

import atexit
import importlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache

from mbplugin.processes import LIBRARY, foreign, foreign_child, isolated_command
from mbplugin.processes.supervised import ignore_local_settings

#: The engines whose processes are forked; others import something else, or raise other walls.
ENGINES = ("PyBullet", "MuJoCo")
_IMPORTED = (
    "pybullet",
    "mujoco",
    "mbplugin.closing.commanded",
    "mbplugin.closing.drift",
    "mbplugin.comparison.run",
)
_IMPORTED += tuple(f"mbplugin.comparison.side_by_side.{name}" for name in ("bullet", "mujoco"))
_FORK, _POLL, _WAIT = b"f", b"p", b"w"
#: An answer: a number, and whether there is one.
_LONG = 16
_KEPT: dict[str, foreign.Child] = {}


class Forked:
    """What :class:`mbplugin.processes.foreign.Child` uses of a ``Popen``."""

    def __init__(self) -> None:
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        answer = _asked(_FORK, 0, [theirs_in, theirs_out])
        os.close(theirs_in)
        os.close(theirs_out)
        assert answer is not None
        self.pid = answer
        self.stdin, self.stdout = os.fdopen(ours_in, "wb"), os.fdopen(ours_out, "rb")
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = _asked(_POLL, self.pid)
        return self.returncode

    def wait(self) -> int | None:
        if self.returncode is None:
            self.returncode = _asked(_WAIT, self.pid)
        return self.returncode

    def kill(self) -> None:
        # not reaped until then, so that the number is still its own
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


@contextmanager
def forked_engines() -> Iterator[None]:
    """Fork the engines of this block; processes that are kept from call to call are not those of other tests."""
    start = foreign.Child.__init__

    def init(self: foreign.Child, engine: str) -> None:
        if engine in ENGINES:
            self.engine, self.owner, self.process = engine, os.getpid(), Forked()
        else:
            start(self, engine)

    if sys.platform != "linux":
        # libraries of other systems do not stand a fork
        yield
        return
    # not imported by the process that forks
    from pytest import MonkeyPatch

    with MonkeyPatch.context() as patch:
        patch.setattr(foreign.Child, "__init__", init)
        patch.setattr(foreign, "_KEPT", _KEPT)
        yield


@cache
def _source() -> socket.socket:
    """Start the process from which others are forked, as the product starts one."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        isolated_command("forked_engines"),
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in foreign._SYSTEM if name in os.environ} | foreign._ONE_THREAD,
    )
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _asked(what: bytes, number: int, files: list[int] | None = None) -> int | None:
    with foreign._LOCK:
        socket.send_fds(_source(), [what + number.to_bytes(_LONG, "little")], files or [])
        answer = _source().recv(_LONG, socket.MSG_WAITALL)
    assert len(answer) == _LONG, "the process from which engines are forked has ended"
    there, value = answer[0], int.from_bytes(answer[1:], "little", signed=True)
    return value if there else None


def _serve() -> None:
    """Fork as often as asked, and say how those ended; end with whoever asks."""
    ignore_local_settings()
    asking = socket.socket(fileno=os.dup(0))
    # MuJoCo starts a Python in the working folder
    os.chdir(LIBRARY)
    for name in _IMPORTED:
        with suppress(ImportError):
            importlib.import_module(name)
    while True:
        message, files, _, _ = socket.recv_fds(asking, _LONG + 1, 2)
        if not message:
            return
        what, number = message[:1], int.from_bytes(message[1:], "little")
        answer: int | None
        if what == _FORK:
            answer = os.fork()
            if answer == 0:
                asking.close()
                for place, file in enumerate(files):
                    os.dup2(file, place)
                    os.close(file)
                foreign_child.main()
                os._exit(0)
        else:
            pid, status = os.waitpid(number, 0 if what == _WAIT else os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        for file in files:
            os.close(file)
        asking.sendall(bytes([answer is not None]) + (answer or 0).to_bytes(_LONG - 1, "little", signed=True))


if __name__ == "__main__":
    _serve()
