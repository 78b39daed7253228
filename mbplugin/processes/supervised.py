"""How the process of a command ends: supervised, interrupted, out of time, or at a limit of memory or files.

Plug-in rules may terminate a process without a result: ``os._exit(0)`` in a rule, or on its import, would end it
silently with exit code 0, which means "no findings". The command runs in a supervised process, which writes into shared
memory whose code it is running, and finally its exit code; the parent trusts only that. Ctrl-C and termination signals
are treated alike: child processes end, files stay.
"""

from __future__ import annotations

import _thread
import builtins
import contextlib
import faulthandler
import mmap
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.machinery import ModuleSpec, PathFinder
from time import monotonic
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from mbplugin.phrases import visible
from mbplugin.processes import LIBRARY

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    # importing this module would load a dozen others and slow down every command
    Loader = object

UNUSABLE, INTERRUPTED = 2, 130
_SIZE = 4096
_ENDED = "ended "
#: Time that an interrupted command may take to end, s.
_PATIENCE = 5
#: Limits of a third-party rule for one file: seconds, and bytes of memory in addition to those in use.
RULE_SECONDS, RULE_MEMORY = 60.0, 4 << 30
#: Additional time after which the process of a rule that cannot be stopped is ended, and interval of the attempts, s.
_GRACE, _AGAIN = 10.0, 1.0
_TIMED = "timed "
_board: mmap.mmap | None = None
#: Time limit of rules in this process, s; None if rules must not be stopped here.
_seconds: float | None = None
_timing = False
_interrupted = False
#: Assumed address space if the system does not report it, bytes.
_ADDRESSES = 1 << 30
#: Soft limits of file descriptors that nested blocks have replaced, outermost first.
_BEFORE: list[int] = []
T = TypeVar("T")
#: Default time limit of a run, s.
MAX_SECONDS = 900.0
#: Delay after which a process whose compiled code does not react to the interrupt is ended, s.
DEADLINE_GRACE = 10.0
#: Signal that no other part of a lint uses: rules have a separate alarm.
_DEADLINE_SIGNAL = getattr(signal, "SIGVTALRM", signal.SIGINT)
#: Termination signals of shells, job queues and closed terminals.
_NAMES = ("SIGTERM", "SIGHUP")
#: Signals received to interrupt the command.
_received: list[int] = []


class RuleTookTooLong(BaseException):
    """A rule did not end in time; as a BaseException, it is not caught by an ``except Exception`` in the rule."""


def confine() -> None:
    """Apply the limits of rules in this process, which must do nothing but lint."""
    set_rule_seconds(RULE_SECONDS, confined=True)


def set_rule_seconds(seconds: float, *, confined: bool = False) -> None:
    """Set the time limit of a rule, if this process is confined or ``confined`` is set."""
    global _seconds
    if confined or _seconds is not None:
        _seconds = seconds


def rule_seconds() -> float | None:
    """Return the time limit of a rule in this process, s; None if there is none."""
    return _seconds


@contextmanager
def running(whose: str) -> Iterator[None]:
    """Run third-party code in a block, with limits if this process is confined.

    Raises
    ------
    RuleTookTooLong
        Raised inside the block at the time limit. If the code does not stop, the process is ended a little later.
    """
    _write(whose)
    try:
        if _seconds is None:
            yield
        else:
            with _timed(whose, _seconds), memory_limited(RULE_MEMORY):
                yield
    finally:
        # again, because an alarm may have arrived while it was being switched off
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
        # a C thread, which works whatever Python code the rule is running
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
    """Run a command in a separate process and return its exit code.

    On Windows, where processes cannot be forked, it runs in this one.
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
    assert _board is not None
    answer = _board[:].rstrip(b"\0").decode("utf-8", "replace")
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
    """Return a phrase on how a command's process ended, and whose code it was running."""
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
    """Forward signals to the supervised command, so that stopping this process stops the command.

    A terminal interrupts both; a command that was not interrupted, or does not end, is terminated a little later.
    """
    # nothing is forked on Windows
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
        # a long name may be cut inside a character
        content = text.encode("utf-8", "replace")[: _SIZE - 1]
        _board[:] = content.ljust(_SIZE, b"\0")


# Process limits enforced by the operating system; without its support, nothing is limited.


@contextlib.contextmanager
def memory_limited(more: int) -> Iterator[None]:
    """Limit the address space of this process within a block.

    Parameters
    ----------
    more : int
        Bytes in addition to those in use; an allocation beyond that raises MemoryError.
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
    """Prevent this process, including its libraries, from opening files within a block; open files stay readable.

    Modules can still be imported, since they belong to this program and numpy loads some on first use. The block has
    an effect only where the system limits file descriptors, so not on Windows.
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
    """Allow this process to open files again, inside a block of :func:`no_more_files`."""
    with _descriptors(_BEFORE[0] if _BEFORE else None):
        yield


@contextlib.contextmanager
def _descriptors(most: int | None) -> Iterator[None]:
    if sys.platform == "win32" or most is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # must raise if the exact limit cannot be set, so that it is not assumed to hold
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    _BEFORE.append(soft)
    try:
        yield
    finally:
        set_soft(resource.RLIMIT_NOFILE, _BEFORE.pop())


def set_soft(kind: int, value: int) -> None:
    """Set a soft limit of this process, up to its hard limit; no effect on Windows."""
    if sys.platform == "win32":
        return
    import resource

    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY and (value == resource.RLIM_INFINITY or value > hard):
        value = hard
    # some systems refuse limits of the address space
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, hard))


def addresses() -> int:
    """Return the address space of this process, bytes, or an assumed size if the system does not report it."""
    if sys.platform == "win32":
        return _ADDRESSES
    import resource

    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return _ADDRESSES


def set_hard(kind: int, value: int) -> bool:
    """Set a hard limit, which this process cannot raise again; return True if it is in force."""
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


# The time limit of a whole run: the lint in progress is aborted, and no further file is started.


class OutOfTime(KeyboardInterrupt):
    """The time of the run is over; a KeyboardInterrupt, so that it ends whatever Ctrl-C ends."""


class Deadline:
    """Time limit of a run that starts now.

    Parameters
    ----------
    seconds : float or None
        None for a run without a time limit.
    """

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else monotonic() + seconds
        #: File being linted, which may be interrupted; empty if there is none.
        self._file = ""

    @property
    def left(self) -> float | None:
        """Remaining time, s, not less than zero; None without a time limit."""
        return None if self._end is None else max(0.0, self._end - monotonic())

    @property
    def passed(self) -> bool:
        """True if no time remains."""
        return self.left == 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch the time in a thread during a block, and interrupt :meth:`run` when it is over."""
        if self.left is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        done = threading.Event()
        before = signal.signal(_DEADLINE_SIGNAL, self._interrupt)
        thread = threading.Thread(target=self._watch, args=(done,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            signal.signal(_DEADLINE_SIGNAL, before)

    def run(self, file: str, function: Callable[[], T]) -> T | None:
        """Return the result of a function for a file; None if the time runs out first."""
        if self.passed:
            return None
        try:
            try:
                self._file = file
                return function()
            finally:
                self._file = ""
        except OutOfTime:
            return None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._file and self.passed:
            raise OutOfTime
        if _DEADLINE_SIGNAL == signal.SIGINT and not self.passed:
            raise KeyboardInterrupt

    def _watch(self, done: threading.Event) -> None:
        """Interrupt the main thread when the time is over; end the process if the thread does not react."""
        if done.wait(self.left):
            return
        if sys.platform == "win32":
            _thread.interrupt_main()
        else:
            signal.pthread_kill(threading.main_thread().ident or 0, _DEADLINE_SIGNAL)
        if done.wait(DEADLINE_GRACE) or not (file := self._file):
            return

        with suppress(OSError, ValueError):
            sys.stderr.write(
                f"mbplugin lint: the time of this run is over ({self.seconds:g} s), and {visible(file)} does not"
                " end; nothing is known about the models; lint it alone, with a longer --max-seconds.\n"
            )
            sys.stderr.flush()
        os._exit(2)


# Ctrl-C and termination signals, which are treated alike.


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


# Safe points: where a computation may be interrupted by an exception.

_asked: list[Callable[[], None]] = []


def safe_point() -> None:
    """Call the registered functions, which may raise."""
    for function in tuple(_asked):
        function()


@contextmanager
def at_safe_points(function: Callable[[], None]) -> Iterator[None]:
    """Call a function, which may raise, at every safe point within a block."""
    _asked.append(function)
    try:
        yield
    finally:
        _asked.remove(function)


# Settings of libraries in the working folder are not read: Matplotlib reads ``./matplotlibrc`` on import, which can
# make it run a program (LaTeX), and numba reads ``./.numba_config.yaml`` on import and at every compilation.

_WITH_SETTINGS = ("matplotlib", "numba")


def ignore_local_settings() -> None:
    """Make libraries that are imported from now on ignore settings in the working folder."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Change to the folder of Python's library within a block."""
    try:
        here = os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        # the working folder was removed, so it holds no settings
        yield
        return
    os.chdir(LIBRARY)
    try:
        yield
    finally:
        os.chdir(here)


class _Finder:
    """Finds the libraries as usual, but lets them be executed in another folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _WITH_SETTINGS:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """The loader of a library, which executes it in another folder."""

    def __init__(self, own: Loader) -> None:
        self._own = own

    def __getattr__(self, name: str) -> object:
        # resources of the library are read through its loader
        return getattr(self._own, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        with _elsewhere():
            self._own.exec_module(module)
        config = sys.modules.get("numba.core.config")
        if module.__name__ == "numba" and config is not None:
            # no settings file, or else the compiler would look for it again
            vars(config)["_config_fname"] = os.devnull
