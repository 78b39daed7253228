"""``lint --watch``: lint again whenever a file that was read changes, until Ctrl-C."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.report import complain, emit
from mbplugin.errors import MbPluginError
from mbplugin.linter.watching import Watch
from mbplugin.phrases import counted, listed, visible

if TYPE_CHECKING:
    from mbplugin.linter.run import Report

#: Clears the screen and what has scrolled out of it, and goes to its top.
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def watch_files(once: Callable[[], list[Report]], files: Sequence[str], *, by_line: bool) -> NoReturn:
    """Lint now and after each change; Ctrl-C ends it.

    Parameters
    ----------
    once : callable
        Lints the files, writes the reports and returns them.
    files : sequence of str
        The arguments of the command.
    by_line : bool
        Whether stdout has text, which is separated by a line if it is no terminal.

    Raises
    ------
    MbPluginError
        The first lint is an invalid request; a later one is reported, and the next change awaited.
    """
    watch = Watch(files)
    on_screen = opt.on_terminal(sys.stdout)
    if on_screen:
        emit(_CLEAR)
    watch.begin()
    watch.end(once())
    while True:
        sys.stdout.flush()
        complain(f"mbplugin lint: watching {counted(watch.number, 'file')}; Ctrl-C ends")
        changed = watch.wait()
        names = visible(listed([*changed], 3))
        if on_screen:
            emit(_CLEAR)
        elif by_line:
            emit(f"\n--- {time.strftime('%H:%M:%S')} {names}\n\n")
        watch.begin()
        reports: list[Report] = []
        try:
            reports = once()
        except MbPluginError as error:
            # a configuration that is being written
            complain(f"mbplugin: {error}")
        watch.end(reports)
