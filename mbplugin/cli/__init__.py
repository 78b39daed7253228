"""The ``mbplugin`` command line; each file holds one or several commands."""

from __future__ import annotations

import gc
import os
import signal
import sys

from mbplugin.processes import forget_working_folder

#: The commands that load rules of other distributions.
_WITH_RULES = ("lint", "rule", "config")
_INTERRUPTED = 130


def main() -> None:
    """Run ``mbplugin`` with the process's arguments and end the process with its exit code."""
    # before the program handles interrupts, they end the process without a traceback, unless they are ignored
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        code = _prepared()
    except KeyboardInterrupt:
        code = _INTERRUPTED
    # the garbage collections at exit would scan every object, which takes a fifth of the time of a lint
    gc.freeze()
    sys.exit(code)


def _prepared() -> int:
    """Prepare the process, run the command and return its exit code."""
    forget_working_folder()
    # numpy's libraries read these when they are imported: the matrices here are small, and idle threads take a
    # fifth of the time of a lint
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    from mbplugin.processes.supervised import note_interrupts

    note_interrupts()
    from mbplugin.processes.supervised import ignore_local_settings

    ignore_local_settings()
    # imported objects live until the end of this short process; collecting them takes a tenth of the time of a lint
    gc.set_threshold(300_000)
    # prevents pydantic from searching all installed distributions for plugins
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    from mbplugin.processes.supervised import supervised

    # before numpy is imported, because a process with threads cannot be forked safely
    return supervised(_run) if _applies_plugins() else _run()


def _run() -> int:
    try:
        from mbplugin.cli.app import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return _INTERRUPTED


def _applies_plugins() -> bool:
    """Return True if the command may run rules of other distributions."""
    if not set(sys.argv[1:]).intersection(_WITH_RULES):
        return False
    from mbplugin.processes.foreign import rules_are_announced

    return rules_are_announced()
