"""``python -m mbplugin.watch SCRIPT``: run somebody's script unchanged, and watch every simulation in it."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import signal
import sys
import tokenize
from collections.abc import Sequence
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any

from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.watching.hooks import Hooks
from mbplugin.watching.log import Log
from mbplugin.watching.run import Watch, start, summary

_DESCRIPTION = """\
Run a script, and watch the forces of every PyBullet client and MuJoCo simulation in it: which are determined, and
which of the engine's numbers are not possible. The script is not changed, and its simulation neither.
"""
#: Signals that end a process unless it handles them: of ``kill``, and of a terminal that closes.
_ENDS = ("SIGTERM", "SIGHUP")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script that the command line names, and return its exit code; 2 if it cannot be run as asked."""
    options = _parser().parse_args(arguments)
    try:
        run = Run(options)
        code = _code(Path(options.script))
    except MbPluginError as error:
        print(f"mbplugin.watch: {error}", file=sys.stderr)
        return 2
    except SyntaxError as error:
        # as Python reports it
        sys.excepthook(SyntaxError, error, None)
        return 1
    atexit.register(run.finish)
    for name in _ENDS:
        # a script that handles the signal itself replaces this
        if (number := getattr(signal, name, None)) is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, run.end)
    return _execute(code, options.script, options.arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m mbplugin.watch", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument(
        "--every", type=int, default=1, metavar="N", help="update after every N steps (default 1)"
    )
    parser.add_argument("--log", metavar="FILE", help="write all forces to a .csv or .parquet file")
    parser.add_argument(
        "--plot", metavar="FILE", help="draw the forces over time to a .png, .svg or .pdf file"
    )
    parser.add_argument("--intervals", type=int, metavar="N", help="compute intervals at every N updates")
    parser.add_argument(
        "--tolerance", type=float, default=0.02, help="accepted deviation of a force, relative to the weight"
    )
    parser.add_argument("--drift", type=float, default=5e-3, help="accepted gap of a constraint, m and rad")
    parser.add_argument("--no-overlay", action="store_true", help="draw nothing into PyBullet's window")
    parser.add_argument("script", help="the Python script to run")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script")
    return parser


class Run:
    """The watches of a script: one for each simulation that takes a step.

    Parameters
    ----------
    options : argparse.Namespace

    Raises
    ------
    MbPluginError
        An option is impossible.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        if options.every < 1:
            raise BadUsage(f"--every is {options.every}", expected="a whole number from 1")
        self.options = options
        self.watches: list[Watch] = []
        self.refused: list[str] = []
        self._kept: list[Any] = []
        self.hooks = Hooks(self._new)
        for engine in ("pybullet", "mujoco"):
            # wrapped before the script imports its functions by name
            _import(engine)
        self.hooks.install()
        self.log = Log(Path(options.log)) if options.log else None
        self._process = os.getpid()
        if self.log is not None and hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork)

    def _new(self, kind: str, what: Any) -> None:
        """Watch a simulation that takes its first step."""
        o = self.options
        client, data = (what, None) if kind == "pybullet" else what
        try:
            made = start(
                client, data, every=o.every, log=None, intervals=o.intervals, tolerance=o.tolerance, drift=o.drift,
                overlay=False if o.no_overlay else None, hooks=self.hooks,
            )  # fmt: skip
        except Exception as error:
            self._refuse(str(error))
            return
        # one log for all of them, which closes with the last
        made.log = self.log
        self.watches.append(made)
        # an id of MuJoCo's data must not be given to others
        self._kept.append(what)

    def _refuse(self, sentence: str) -> None:
        if sentence not in self.refused:
            self.refused.append(sentence)

    def _before_fork(self) -> None:
        if self.log is not None and os.getpid() == self._process:
            # a closed log has nothing to write
            with contextlib.suppress(ValueError):
                self.log.flush()

    def end(self, number: int, frame: FrameType | None) -> None:
        """End the script as a shell says it, so that its log is written and no temporary file stays."""
        if os.getpid() == self._process:
            sys.exit(128 + number)
        # a child that the script has forked ends as it would without a watch
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def finish(self) -> None:
        """Close all watches, write log and plot, and say on stderr what was found; not in children of the script."""
        if os.getpid() != self._process:
            return
        for made in self.watches:
            made.log = None
            made.close()
        self.hooks.on_new = None
        self.hooks.remove()
        lines = [line for made in self.watches for line in summary(made)]
        lines += self.refused
        if not self.watches:
            lines.append("no simulation of PyBullet or MuJoCo took a step")
        try:
            if self.log is not None:
                self.log.close()
                lines.append(f"log: {self.log.path}")
            if self.options.plot:
                lines += self._plots(Path(self.options.plot))
        except MbPluginError as error:
            lines.append(str(error))
        try:
            print(*(f"mbplugin.watch: {line}" for line in lines), sep="\n", file=sys.stderr)
        except (OSError, ValueError):
            # nobody reads stderr any more
            return

    def _plots(self, path: Path) -> list[str]:
        """Draw each watch to a file, numbered from the second one on."""
        drawn: list[str] = []
        for made in self.watches:
            if made.kept:
                file = path if not drawn else path.with_stem(f"{path.stem}-{len(drawn) + 1}")
                made.plot(file)
                drawn.append(f"plot: {file}")
        return drawn


def _import(name: str) -> None:
    from contextlib import suppress
    from importlib import import_module

    with suppress(ImportError):
        if name == "pybullet":
            from mbplugin.bullet import engine

            engine()
        else:
            import_module(name)


def _code(script: Path) -> Any:
    """Return the compiled script.

    Raises
    ------
    BadUsage
        There is no such file, or it cannot be read.
    SyntaxError
        It is no Python.
    """
    try:
        with tokenize.open(script) as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is no text").lower()
        raise BadUsage(f"the script cannot be read ({reason})", where=str(script)) from None
    # as Python does, the name of the file is absolute
    return compile(text, str(script.absolute()), "exec", dont_inherit=True)


def _execute(code: Any, script: str, arguments: Sequence[str]) -> int:
    """Run the code as the main module, and return the exit code of Python."""
    module = ModuleType("__main__")
    module.__dict__.update(
        {
            "__file__": str(Path(script).absolute()),
            "__builtins__": __builtins__,
            "__spec__": None,
            "__cached__": None,
        }
    )
    sys.modules["__main__"] = module
    sys.argv = [script, *arguments]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(script))  # noqa: PTH120
    try:
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        trace: TracebackType | None = error.__traceback__
        # only the frames of the script and of what it calls
        own = error.with_traceback(trace.tb_next if trace else None)
        sys.excepthook(type(own), own, own.__traceback__)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0
