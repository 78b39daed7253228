"""Foreign engines read files in a process of their own, with limits of time and memory.

An engine may end its process, never answer, or raise and leave itself unusable. What it reads is read in a
child; the parent says what happened, and the next file gets a new child where the old one may be damaged.
A call arrives pickled on the child's standard input, the answer leaves it pickled on what was its standard
output; what the engine prints is lost. The child raises :mod:`walls <mbplugin.processes.walls>` around itself
before it looks at a file. What comes out of it is not trusted either: an answer is data, of classes of this package.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import IO, Any, TypeVar

from mbplugin.errors import BadUsage, BrokenModel, MbPluginError
from mbplugin.processes.isolation import LIBRARY, isolated_command, python_path
from mbplugin.processes.walls import Raised, Walls

T = TypeVar("T")
#: What holds around an engine that reads files.
ENGINE = Walls()
#: Bytes of the number that says how long a message is.
_HEAD = 8
#: Bytes of an answer beyond those of memory that the call may take.
_ANSWER = 1 << 20
#: Modules of engines that are imported before there are walls: MuJoCo's start a Python, xacro's come late.
_IMPORTS = {"MuJoCo": ("mujoco",), "xacro": ("xacro", "xacro.substitution_args", "yaml")}
#: Answers after which a process is not used again.
LAST = ("failed", "memory")
#: What an interpreter needs to start; the rest of the environment comes with each call.
_SYSTEM = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
#: Threads of linear algebra take addresses, and there is nothing here for them to do.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
_LOCK = threading.RLock()
_ARRAYS = ("numpy.core.multiarray", "numpy._core.multiarray")
_PLAIN_CLASSES = {
    *((module, name) for module in _ARRAYS for name in ("_reconstruct", "scalar")),
    *((module, "_frombuffer") for module in ("numpy.core.numeric", "numpy._core.numeric")),
    *(("numpy", name) for name in ("ndarray", "dtype")),
    *(("builtins", name) for name in ("set", "frozenset", "complex", "bytearray", "slice", "range")),
    ("collections", "OrderedDict"),
    ("pathlib", "PosixPath"),
    ("pathlib", "WindowsPath"),
}
_FIELDS = ("what", "where", "expected", "remedy", "code")
#: Python 3.10 cannot be told not to look in the working folder.
_MUST_MOVE = sys.version_info < (3, 11)
#: More than any one machine has cores for; each costs memory for its imports.
MOST = 1024
#: Numbers from here on are not printed in full.
_LONGEST = 10**12
#: The entry points of rules of other distributions.
RULE_GROUP = "mbplugin.rules"


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


class Refusal(Exception):
    """What an object that is served refuses; it is raised in the process that asks, as its own class."""


class LimitPassed(BrokenModel):
    """A call took more time or memory than it may."""


class EngineFailed(BrokenModel):
    """An engine failed in a way after which it cannot be used; its process is not used again."""


def in_engine(engine: str, limits: Limits, where: str, function: Callable[..., T], /, *args: Any) -> T:
    """Return the result of a function that runs in an engine's process, which stays alive for the next call.

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
    walls: Walls | None = ENGINE,
    served: object = None,
) -> T:
    """Return the result of a function that runs in a process for this call only; see :func:`in_engine`.

    Parameters
    ----------
    environment : mapping
        All environment variables of the process.
    walls : Walls, optional
        None for what is trusted like a program. One that may write files has a folder for them, which is removed.
    served : object, optional
        Its public methods answer what the function asks of :data:`PARENT`.
    """
    child = Child(engine)
    try:
        with contextlib.ExitStack() as stack:
            if walls is not None and limits.written:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mbplugin-"))
                walls = replace(walls, writable=os.path.realpath(folder))
                environment = {**environment, "TMPDIR": walls.writable}
            answer: T = _value(child.ask(limits, where, environment, function, args, walls, served), engine)
            # before the folder goes that it writes into
            child.end()
    finally:
        child.end()
    return answer


@lru_cache(maxsize=1)
def walls_here() -> Raised:
    """Return which walls hold on this system around a process that only computes, as for xacro files."""
    child = Child("a test of walls")
    try:
        answer: Raised = _value(child.ask(Limits(), "", {}, Raised, (), Walls(reads=False)), child.engine)
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
        walls: Walls | None = ENGINE,
        served: object = None,
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
            # one that only computes stands in no folder
            folder = "" if walls is not None and not walls.reads else str(Path.cwd())
            call = pickle.dumps(
                (limits, folder, dict(environment), walls, _IMPORTS.get(self.engine, ()), function, args)
            )
            with contextlib.suppress(BrokenPipeError):
                send(self.process.stdin, call)
                while (answer := self._answer(limits)) is not None and answer[0] == "ask":
                    asked, answer = answer[1], None
                    send(self.process.stdin, pickle.dumps(_served(served, asked)))
        finally:
            clock.cancel()
            if answer is None:
                self.end()
        if answer is None:
            raise _without_answer(self.engine, limits, where, late.is_set(), self.process.returncode)
        kind, value = answer
        if kind in (*LAST, "odd"):
            self.end()
        if kind == "memory":
            raise _too_large(self.engine, limits, where)
        if kind == "odd":
            raise BrokenModel(
                f"the process in which {self.engine} {limits.purpose.done} {limits.purpose.what} gave an answer that"
                f" is none ({value})",
                where=where,
                remedy="do not trust the file",
            )
        return kind, value

    def _answer(self, limits: Limits) -> tuple[str, Any] | None:
        """Return the next answer, or None where the process has ended."""
        assert self.process.stdout is not None
        message = received(self.process.stdout, limits.memory + _ANSWER)
        if message is None:
            return None
        try:
            kind, value = _Answer(io.BytesIO(message)).load()
        # a process over which a file has won may send whatever bytes
        except Exception as error:
            return "odd", str(error)
        return str(kind), value

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


@atexit.register
def _end_all() -> None:
    for child in _KEPT.values():
        if child.owner == os.getpid():
            child.end()


class _Answer(pickle.Unpickler):
    """Reads an answer: numbers, texts, arrays, and classes of this package that hold data; nothing that acts."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that an answer may have."""
        if (module, name) in _PLAIN_CLASSES:
            return super().find_class(module, name)
        if module.startswith("mbplugin."):
            found = super().find_class(module, name)
            own = isinstance(found, type) and found.__module__ == module
            if own and (is_dataclass(found) or issubclass(found, (Enum, MbPluginError, tuple))):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no data")


def _served(served: object, asked: Any) -> tuple[str, Any]:
    """Return the parent's answer to a request of a child; an exception of it is raised in the child.

    That is an error of the package, one of the usual kinds, or a :class:`Refusal`; another is a bug here.
    """
    try:
        method, args = asked
        if method.startswith("_") or not all(isinstance(arg, str) for arg in args):
            raise TypeError
        answer = getattr(served, method)
    # a process over which a file has won asks whatever it likes
    except (AttributeError, TypeError, ValueError):
        return "raise", (PermissionError, (1, "nobody answers this"))
    try:
        return "value", answer(*args)
    except MbPluginError as error:
        return "error", (type(error), fields_of(error))
    except (OSError, LookupError, TypeError, ValueError, Refusal) as error:
        # not as pickle would do it: others teach it to send tracebacks, for which the child has no library
        return "raise", error.__reduce__()[:2]


class Parent:
    """Whoever started this process: what it serves is asked by the names of its methods."""

    def __init__(self) -> None:
        self.questions: IO[bytes] | None = None
        self.answers: IO[bytes] | None = None

    def ask(self, method: str, *args: str) -> Any:
        """Return the parent's answer.

        Raises
        ------
        Exception
            What the method raised there.
        """
        assert self.questions is not None and self.answers is not None
        send(self.questions, pickle.dumps(("ask", (method, args))))
        answer = received(self.answers)
        if answer is None:
            os._exit(0)
        # the parent is trusted, and what it serves comes from its own methods
        kind, value = pickle.loads(answer)
        if kind == "raise":
            kind, args = value
            raise kind(*args)
        return _value((kind, value), "the parent")


#: The parent of this process, where it is a child.
PARENT = Parent()


def fields_of(error: MbPluginError) -> dict[str, str]:
    """Return the fields of an error."""
    return {name: getattr(error, name) for name in _FIELDS}


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


def received(stream: IO[bytes], most: int | None = None) -> bytes | None:
    """Return the next message, or None where the other side has ended or sends more bytes than it may."""
    head = stream.read(_HEAD)
    if len(head) < _HEAD:
        return None
    length = int.from_bytes(head, "little")
    if most is not None and length > most:
        return None
    data = stream.read(length)
    return data if len(data) == length else None


# Processes that other libraries start: they import nothing from the working folder either.


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


# How many processes a command may start.


def require_possible(number: int) -> int:
    """Return a number of processes, or −1 for all cores.

    Raises
    ------
    BadUsage
        No number of processes that can be started.
    """
    if number == 0 or not -1 <= number <= MOST:
        count = str(number) if abs(number) < _LONGEST else f"{str(number)[:4]}…"
        raise BadUsage(f"{count} processes were requested", expected=f"1 to {MOST}, or -1 for all cores")
    return number


# Whether other distributions announce rules, mostly without the library that reads their metadata.


@cache
def rules_are_announced() -> bool:
    """Return whether an entry point of some distribution is a rule.

    To import the library takes longer than to see that no distribution mentions the group.
    """
    if not _has_other_finders() and not any(map(_may_announce, sys.path)):
        return False
    from importlib.metadata import entry_points

    return bool(entry_points(group=RULE_GROUP))


def _has_other_finders() -> bool:
    """Return whether distributions may be elsewhere than in the folders of the search path."""
    return any(hasattr(one, "find_distributions") and one is not PathFinder for one in sys.meta_path)


def _may_announce(entry: str) -> bool:
    """Return whether a distribution in an entry of the search path mentions the group; an archive may."""
    folder = Path(entry)
    try:
        return any(_mentions(one) for one in folder.iterdir() if one.name.lower().endswith("-info"))
    except OSError:
        return folder.is_file()


def _mentions(metadata: Path) -> bool:
    try:
        return RULE_GROUP.encode() in (metadata / "entry_points.txt").read_bytes()
    except OSError:
        return False


# The garbage collector at rest, where much is made and all of it is kept.


@contextmanager
def without_collections() -> Iterator[None]:
    """Let the garbage collector rest in a block: it would look through what is made again and again, to keep it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # what was made counts as old now, and the next collections leave it out
            gc.freeze()
            gc.unfreeze()
            gc.enable()
