"""Foreign engines read files in a process of their own, with limits of time and memory.

An engine may end its process, never answer, or raise and leave itself unusable. What it reads is read in a
child; the parent says what happened, and the next file gets a new child where the old one may be damaged.
A call arrives pickled on the child's standard input, the answer leaves it pickled on what was its standard
output; what the engine prints is lost.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from mbplugin.errors import BrokenModel, MbPluginError
from mbplugin.processes.isolation import isolated_command

T = TypeVar("T")

#: Bytes of the number that says how long a message is.
_HEAD = 8
#: Answers after which a process is not used again.
LAST = ("failed", "memory")
#: What an interpreter needs to start; the rest of the environment comes with each call.
_SYSTEM = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
#: Threads of linear algebra take addresses, and there is nothing here for them to do.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Purpose:
    """What a call is for, in words of messages.

    Parameters
    ----------
    done, what : str
        As in "has not read the file".
    expected, remedy : str
        Where it takes too much.
    """

    done: str = "read"
    what: str = "the file"
    expected: str = "a model that takes less"
    remedy: str = "simplify it"


@dataclass(frozen=True)
class Limits:
    """What one call may take.

    Parameters
    ----------
    seconds : float
        Until the answer.
    cpu : int
        Seconds of the processor.
    memory : int
        Bytes of addresses beyond those of the started process.
    written : int
        Bytes of a file that the process may write.
    purpose : Purpose
    """

    seconds: float = 60.0
    cpu: int = 60
    memory: int = 2 << 30
    written: int = 0
    purpose: Purpose = Purpose()


class LimitPassed(BrokenModel):
    """A call took more time or memory than it may."""


class EngineFailed(BrokenModel):
    """An engine failed in a way after which it cannot be used; its process is not used again."""


def in_engine(engine: str, limits: Limits, where: str, function: Callable[..., T], /, *args: Any) -> T:
    """Return what a function returns in the process of an engine, which is kept for the next call.

    Parameters
    ----------
    engine : str
        Its name, for messages; each has a process of its own.
    limits : Limits
    where : str
        The file, for messages.
    function : callable
        Of a module of this package; its arguments and answer can be pickled.

    Raises
    ------
    MbPluginError
        What the function raised.
    BrokenModel
        The engine ended its process; :class:`LimitPassed` where it took too much.
    RuntimeError
        Any other exception in the function, with its traceback.
    """
    with _LOCK:
        child = _KEPT.get(engine)
        if child is None or not child.usable:
            child = _KEPT[engine] = Child(engine)
        try:
            answer: T = _value(child.ask(limits, where, os.environ, function, args), engine)
        except MbPluginError:
            raise
        except BaseException:
            # in whatever state it is
            child.end()
            raise
        return answer


def in_own_child(
    engine: str,
    limits: Limits,
    where: str,
    environment: Mapping[str, str],
    function: Callable[..., T],
    /,
    *args: Any,
) -> T:
    """Return what a function returns in a process that lives for this call only; see :func:`in_engine`.

    Parameters
    ----------
    environment : mapping
        All environment variables of the process.
    """
    child = Child(engine)
    try:
        answer: T = _value(child.ask(limits, where, environment, function, args), engine)
    finally:
        child.end()
    return answer


class Child:
    """A process that answers calls.

    Parameters
    ----------
    engine : str
        For messages.
    """

    def __init__(self, engine: str) -> None:
        self.engine, self.owner = engine, os.getpid()
        self.process = subprocess.Popen(
            isolated_command("mbplugin.processes.foreign_child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _SYSTEM if name in os.environ} | _ONE_THREAD,
        )

    @property
    def usable(self) -> bool:
        """Whether it can be used: it is alive, and is no child of a process that this one was forked from."""
        return self.owner == os.getpid() and self.process.poll() is None

    def ask(
        self,
        limits: Limits,
        where: str,
        environment: Mapping[str, str],
        function: Callable[..., Any],
        args: tuple[Any, ...],
    ) -> tuple[str, Any]:
        """Return the pair of kind and value that answers a call.

        Raises
        ------
        BrokenModel
            There was no answer.
        """
        assert self.process.stdin is not None and self.process.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self.process.kill()

        clock = threading.Timer(limits.seconds, give_up)
        clock.daemon = True
        clock.start()
        answer = None
        try:
            call = pickle.dumps((limits, str(Path.cwd()), dict(environment), function, args))
            with contextlib.suppress(BrokenPipeError):
                send(self.process.stdin, call)
            answer = received(self.process.stdout)
        finally:
            clock.cancel()
            if answer is None:
                self.end()
        if answer is None:
            raise _without_answer(self.engine, limits, where, late.is_set(), self.process.returncode)
        kind, value = pickle.loads(answer)
        if kind in LAST:
            self.end()
        if kind == "memory":
            raise _too_large(self.engine, limits, where)
        return kind, value

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self.process.wait()


#: The process of each engine, kept between files: importing an engine takes longer than reading most files.
_KEPT: dict[str, Child] = {}
_LOCK = threading.RLock()


@atexit.register
def _end_all() -> None:
    for child in _KEPT.values():
        if child.owner == os.getpid():
            child.end()


def _value(answer: tuple[str, Any], engine: str) -> Any:
    kind, value = answer
    if kind in ("error", "failed"):
        error_type, fields = value
        raise error_type(fields.pop("what"), **fields)
    if kind == "bug":
        raise RuntimeError(f"in the process of {engine}:\n{value}")
    return value


def _without_answer(engine: str, limits: Limits, where: str, late: bool, code: int) -> BrokenModel:
    purpose = limits.purpose
    if late or (code < 0 and -code in (getattr(signal, "SIGXCPU", 0), getattr(signal, "SIGALRM", 0))):
        seconds = limits.seconds if late else limits.cpu
        return LimitPassed(
            f"{engine} has not {purpose.done} {purpose.what} within {seconds:.3g} s",
            where=where,
            expected=purpose.expected,
            remedy=purpose.remedy,
        )
    end = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code} without an answer"
    return BrokenModel(
        f"the process in which {engine} {purpose.done} {purpose.what} ended by {end}",
        where=where,
        remedy=f"simplify the model until {purpose.what} is {purpose.done}, and report what ended the"
        " process to the makers of the engine",
    )


def _too_large(engine: str, limits: Limits, where: str) -> BrokenModel:
    purpose = limits.purpose
    return LimitPassed(
        f"{engine} needs more than {limits.memory / 2**30:g} GiB of memory for {purpose.what}",
        where=where,
        expected=purpose.expected,
        remedy=purpose.remedy,
    )


def send(stream: IO[bytes], data: bytes) -> None:
    """Send a message to the other side."""
    stream.write(len(data).to_bytes(_HEAD, "little"))
    stream.write(data)
    stream.flush()


def received(stream: IO[bytes]) -> bytes | None:
    """Return the next message, or None where the other side has ended."""
    head = stream.read(_HEAD)
    if len(head) < _HEAD:
        return None
    length = int.from_bytes(head, "little")
    data = stream.read(length)
    return data if len(data) == length else None
