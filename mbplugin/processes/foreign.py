"""Run third-party engines in child processes, with limits of time and memory.

An engine may crash its process, hang, or raise and become unusable. It therefore reads files in a child; the parent
reports what happened, and starts a new child for the next file if the old one may be damaged. A call is sent pickled
to the child's standard input, and the answer returns pickled on its former standard output; printed output of the
engine is discarded. The child sets up its sandbox (:mod:`walls <mbplugin.processes.walls>`) before it reads a file.
Its answers are not trusted either: they may contain only data, of plain classes and those of this package.
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
from mbplugin.files import note_reads
from mbplugin.processes import LIBRARY, isolated_command, python_path
from mbplugin.processes.walls import Raised, Walls

T = TypeVar("T")
#: The sandbox of an engine that reads files.
ENGINE = Walls()
#: Bytes of the length field of a message.
_HEAD = 8
#: Bytes by which an answer may exceed the memory limit of the call.
_ANSWER = 1 << 20
#: Modules of engines to import before the sandbox is set up: MuJoCo's start Python, xacro's are imported lazily.
_IMPORTS = {"MuJoCo": ("mujoco",), "xacro": ("xacro", "xacro.substitution_args", "yaml")}
#: Answers after which a process is not used again.
LAST = ("failed", "memory")
#: Environment variables that an interpreter needs to start; the others are sent with each call.
_SYSTEM = ("SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
#: Linear algebra needs no threads here, and they would take address space.
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
#: Python 3.10 has no setting to ignore the working folder.
_MUST_MOVE = sys.version_info < (3, 11)
#: Most processes, more than one machine has cores for; each takes memory for its imports.
MOST = 1024
#: Numbers from this size on are not printed in full.
_LONGEST = 10**12
#: Entry-point group of the rules of other distributions.
RULE_GROUP = "mbplugin.rules"


@dataclass(frozen=True)
class Purpose:
    """The purpose of a call, in words for messages.

    Parameters
    ----------
    done, what : str
        As in "has not read the file".
    expected, remedy : str
        For the error if a limit is exceeded.
    """

    done: str = "read"
    what: str = "the file"
    expected: str = "a model that takes less"
    remedy: str = "simplify it"


@dataclass(frozen=True)
class Limits:
    """Limits of one call.

    Parameters
    ----------
    seconds : float
        Time until the answer, s.
    cpu : int
        CPU time, s.
    memory : int
        Address space in addition to that of the started process, bytes.
    written : int
        Largest file that the process may write, bytes.
    purpose : Purpose
    """

    seconds: float = 60.0
    cpu: int = 60
    memory: int = 2 << 30
    written: int = 0
    purpose: Purpose = Purpose()


class Refusal(Exception):
    """A refusal by a served object; it is raised in the requesting process, as its own class."""


class LimitPassed(BrokenModel):
    """A call exceeded its limit of time or memory."""


class EngineFailed(BrokenModel):
    """An engine failed and can no longer be used; its process is not used again."""


def in_engine(engine: str, limits: Limits, where: str, function: Callable[..., T], /, *args: Any) -> T:
    """Run a function in the process of an engine, which stays alive for the next call, and return its result.

    Parameters
    ----------
    engine : str
        Its name, for messages; each engine has its own process.
    limits : Limits
    where : str
        The file, for messages.
    function : callable
        Function of a module of this package; arguments and result must be picklable.

    Raises
    ------
    MbPluginError
        The function raised it.
    BrokenModel
        The engine ended its process; :class:`LimitPassed` if a limit was exceeded.
    RuntimeError
        The function raised any other exception; the message has its traceback.
    """
    with _LOCK:
        child = _KEPT.get(engine)
        if child is None or not child.usable:
            child = _KEPT[engine] = Child(engine)
        try:
            answer: T = _result(child.ask(limits, where, os.environ, function, args), engine)
        except MbPluginError:
            raise
        except BaseException:
            # its state is unknown
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
    """Run a function in a process for this call only, and return its result; see :func:`in_engine`.

    Parameters
    ----------
    environment : mapping
        All environment variables of the process.
    walls : Walls, optional
        None for input that is trusted like a program. A process that may write files gets a temporary folder for them.
    served : object, optional
        Object whose public methods answer the requests of the function to :data:`PARENT`.
    """
    child = Child(engine)
    try:
        with contextlib.ExitStack() as stack:
            if walls is not None and limits.written:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mbplugin-"))
                walls = replace(walls, writable=os.path.realpath(folder))
                environment = {**environment, "TMPDIR": walls.writable}
            answer: T = _result(child.ask(limits, where, environment, function, args, walls, served), engine)
            # ended before the folder into which it writes is removed
            child.end()
    finally:
        child.end()
    return answer


@lru_cache(maxsize=1)
def walls_here() -> Raised:
    """Return the sandbox mechanisms that this system provides for a process that only computes, as for xacro files."""
    child = Child("a test of walls")
    try:
        answer: Raised = _result(child.ask(Limits(), "", {}, Raised, (), Walls(reads=False)), child.engine)
    finally:
        child.end()
    return answer


class Child:
    """A child process that answers calls.

    Parameters
    ----------
    engine : str
        Name for messages.
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
        """Whether the process is alive and was started by this process, not by one from which this was forked."""
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
        """Send a call and return its answer, a pair of kind and value.

        Raises
        ------
        BrokenModel
            There was no answer, or it was not valid.
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
            # a process that only computes gets no working folder
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
        """Return the next answer; None if the process has ended or the answer is too long."""
        assert self.process.stdout is not None
        message = received(self.process.stdout, limits.memory + _ANSWER)
        if message is None:
            return None
        try:
            kind, value = _Answer(message).load()
        # a process that a malicious file controls may send any bytes
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


#: The process of each engine, reused between files: importing an engine takes longer than reading most files.
_KEPT: dict[str, Child] = {}


@atexit.register
def _end_all() -> None:
    for child in _KEPT.values():
        if child.owner == os.getpid():
            child.end()


class _Answer(pickle.Unpickler):
    """Unpickles an answer, which may contain only numbers, texts, arrays, and data classes of this package.

    Parameters
    ----------
    also : set of (str, str)
        Module and name of what it may contain besides.
    """

    def __init__(self, message: bytes, also: frozenset[tuple[str, str]] = frozenset()) -> None:
        super().__init__(io.BytesIO(message))
        self._allowed = also | _PLAIN_CLASSES

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that is allowed in an answer."""
        if (module, name) in self._allowed:
            return super().find_class(module, name)
        if module.startswith("mbplugin."):
            found = super().find_class(module, name)
            own = isinstance(found, type) and found.__module__ == module
            if own and (is_dataclass(found) or issubclass(found, (Enum, MbPluginError, tuple))):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not data")


def load_data(content: bytes, also: frozenset[tuple[str, str]]) -> Any:
    """Return pickled numbers, texts, arrays, and data classes of this package.

    Parameters
    ----------
    also : set of (str, str)
        Module and name of other classes and functions that the data may name.

    Raises
    ------
    Exception
        The content is no such data; which error it is depends on the content.
    """
    return _Answer(content, also).load()


def _served(served: object, asked: Any) -> tuple[str, Any]:
    """Return the parent's answer to a request of a child; exceptions are passed on and raised in the child.

    They are errors of the package, common built-in exceptions, or a :class:`Refusal`; any other is a bug here.
    """
    try:
        method, args = asked
        if method.startswith("_") or not all(isinstance(arg, str) for arg in args):
            raise TypeError
        answer = getattr(served, method)
    # a process that a malicious file controls may send any request
    except (AttributeError, TypeError, ValueError):
        return "raise", (PermissionError, (1, "nobody answers this"))
    try:
        return "value", answer(*args)
    except MbPluginError as error:
        return "error", (type(error), fields_of(error))
    except (OSError, LookupError, TypeError, ValueError, Refusal) as error:
        # not pickled as a whole: some libraries make pickle include tracebacks, which the child could not load
        return "raise", error.__reduce__()[:2]


class Parent:
    """The process that started this one; methods of the object that it serves are called by name."""

    def __init__(self) -> None:
        self.questions: IO[bytes] | None = None
        self.answers: IO[bytes] | None = None

    def ask(self, method: str, *args: str) -> Any:
        """Call a method of the object that the parent serves, and return its answer.

        Raises
        ------
        Exception
            The method raised it in the parent.
        """
        assert self.questions is not None and self.answers is not None
        send(self.questions, pickle.dumps(("ask", (method, args))))
        answer = received(self.answers)
        if answer is None:
            os._exit(0)
        # the parent is trusted, and its answers come from its own methods
        kind, value = pickle.loads(answer)
        if kind == "raise":
            kind, args = value
            raise kind(*args)
        return _value((kind, value), "the parent")


#: The parent, if this process is a child.
PARENT = Parent()


def fields_of(error: MbPluginError) -> dict[str, Any]:
    """Return the fields of an error by name."""
    fields: dict[str, Any] = {name: getattr(error, name) for name in _FIELDS}
    if isinstance(error, BrokenModel) and error.correction:
        fields["correction"] = dict(error.correction)
    return fields


def _value(answer: tuple[str, Any], engine: str) -> Any:
    kind, value = answer
    if kind in ("error", "failed"):
        error_type, fields = value
        correction = fields.pop("correction", None)
        error = error_type(fields.pop("what"), **fields)
        if correction:
            error.correction = correction
        raise error
    if kind == "bug":
        raise RuntimeError(f"in the process of {engine}:\n{value}")
    return value


def _result(answer: tuple[str, Any], engine: str) -> Any:
    """Return the result of a call; the files that the process read for it count as read here."""
    result, reads = _value(answer, engine)
    note_reads(reads)
    return result


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
    """Send a message to the other process."""
    stream.write(len(data).to_bytes(_HEAD, "little"))
    stream.write(data)
    stream.flush()


def received(stream: IO[bytes], most: int | None = None) -> bytes | None:
    """Return the next message; None if the other process has ended or the message exceeds ``most`` bytes."""
    head = stream.read(_HEAD)
    if len(head) < _HEAD:
        return None
    length = int.from_bytes(head, "little")
    if most is not None and length > most:
        return None
    data = stream.read(length)
    return data if len(data) == length else None


# Processes that other libraries start must not import from the working folder either.


@contextmanager
def isolated_starts(move: bool = _MUST_MOVE) -> Iterator[None]:
    """Prevent processes that other libraries start in this block from importing from the working folder.

    Parameters
    ----------
    move : bool
        Change to the folder of Python's library meanwhile: for Python 3.10, and for libraries that pass
        on the working folder themselves.
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
    """Block Ctrl-C until the end of a block; processes started in it never receive it.

    A process interrupted during its start would print a traceback. The process that starts it must end it.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# The number of processes that a command may start.


def cores() -> int:
    """Return the number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def require_possible(number: int) -> int:
    """Return a checked number of processes, or −1 for all cores.

    Raises
    ------
    BadUsage
        The number is out of range.
    """
    if number == 0 or not -1 <= number <= MOST:
        count = str(number) if abs(number) < _LONGEST else f"{str(number)[:4]}…"
        raise BadUsage(f"{count} processes were requested", expected=f"1 to {MOST}, or -1 for all cores")
    return number


# Test whether other distributions provide rules, mostly without importing importlib.metadata.


@cache
def rules_are_announced() -> bool:
    """Return True if another distribution has an entry point for rules.

    Importing ``importlib.metadata`` takes longer than checking that no distribution mentions the group.
    """
    # other finders may find distributions elsewhere than in the folders of the search path
    others = any(hasattr(one, "find_distributions") and one is not PathFinder for one in sys.meta_path)
    if not others and not any(map(_may_announce, sys.path)):
        return False
    from importlib.metadata import entry_points

    return bool(entry_points(group=RULE_GROUP))


def _may_announce(entry: str) -> bool:
    """Return True if a distribution in an entry of the search path mentions the group, or the entry is an archive."""
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


# Suspension of the garbage collector while many objects are created and all are kept.


@contextmanager
def without_collections() -> Iterator[None]:
    """Disable the garbage collector in a block that creates many lasting objects, which it would scan repeatedly."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # the new objects now count as old, so that the next collections skip them; counting the frozen ones first
            # would walk through all of them
            gc.freeze()
            gc.unfreeze()
            gc.enable()
