"""The command-line application: its commands, and the reporting of errors."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, Any

import typer

import mbplugin
from mbplugin.cli import help
from mbplugin.cli.report import complain, emit, forget_stdout, keep_arguments, warnings_as_sentences, working
from mbplugin.errors import MbPluginError
from mbplugin.phrases import visible
from mbplugin.processes.supervised import INTERRUPTED

#: The usage errors of typer, whichever click they come from (newer typers carry their own).
UsageError: Any = typer.BadParameter.__base__

#: Variable by which a shell asks for completions.
_COMPLETION = "_MBPLUGIN_COMPLETE"
#: Remedies for errors of the operating system.
_ROOM = "free some space, also for temporary files, or name another folder for them by TMPDIR"
_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EROFS: _ROOM,
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
    errno.ENFILE: "close other programs",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EIO: "look at the disk, or at the terminal",
}
_LONGEST_NAME = 200


def application(names: Iterable[str]) -> typer.Typer:
    """Return the application with the named commands; only their modules are imported."""
    app = _empty_application()
    for name in names:
        app.command(name, cls=help.Command)(help.with_format(help.with_force(_function(name))))
    return app


def _outline() -> typer.Typer:
    """Return the application with commands that do nothing, for the list of all commands and for wrong names."""
    app = _empty_application()
    for name in help.COMMANDS:
        app.command(name)(lambda: None)
    return app


def _empty_application() -> typer.Typer:
    app = help.make_app(mbplugin.__doc__)
    app.callback()(_options)
    return app


def _function(name: str) -> Callable[..., Any]:
    module = import_module(f"mbplugin.cli.{help.COMMANDS[name].module}")
    function: Callable[..., Any] = getattr(module, f"{name.replace('-', '_')}_command")
    return function


def _print_version(requested: bool) -> None:
    if requested:
        emit(f"mbplugin {mbplugin.__version__}\n")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every error is reported in one sentence on stderr."""
    keep_arguments(arguments)
    try:
        with working(_shown_name(arguments)), warnings_as_sentences():
            name = help.named_command(arguments)
            if name in help.COMMANDS:
                app = application((name,))
            else:
                # the completion of a shell needs the options of all commands
                app = application(help.COMMANDS) if _COMPLETION in os.environ else _outline()
            code = app(list(arguments), prog_name="mbplugin", standalone_mode=False)
    except UsageError as error:
        # few commands are wrong
        from mbplugin.cli.usage import usage_sentence

        complain(usage_sentence(error, arguments, partial(application, help.COMMANDS)))
        return 2
    except MbPluginError as error:
        complain(f"mbplugin: {error}")
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if _interrupted(error):
            return INTERRUPTED
        if sentence := _of_the_machine(error):
            # otherwise the flush of the buffer at exit would fail again
            forget_stdout()
            complain(sentence)
            return 2
        # exit code 1 would mean findings; the traceback is needed for a bug report
        traceback.print_exc()
        # typer converts EOFError to Abort
        cause = error.__cause__ if isinstance(error, typer.Abort) else error
        complain(f"mbplugin: this is a bug in mbplugin ({type(cause).__name__}); please report it.")
        return 2
    return code if isinstance(code, int) else 0


def _shown_name(arguments: Sequence[str]) -> str:
    """Return the command name for the progress line; empty if input may be typed, or for shell completion."""
    if "-" in arguments or _COMPLETION in os.environ:
        return ""
    return f"mbplugin {arguments[0]}" if arguments and arguments[0] in help.COMMANDS else "mbplugin"


def _of_the_machine(error: BaseException | None) -> str:
    """Return a sentence on an insufficient disk, temporary folder or system limit; empty for other errors."""
    while error is not None:
        # a missing file would be a bug, unless it is the folder for temporary files
        if isinstance(error, OSError) and (
            error.errno in _REMEDIES or (error.errno == errno.ENOENT and "temporary directory" in str(error))
        ):
            break
        error = error.__cause__ or error.__context__
    if not isinstance(error, OSError):
        return ""
    file = "" if error.filename is None else visible(os.fsdecode(error.filename))
    where = "" if not file else f"{file[:_LONGEST_NAME]}{'…' * (len(file) > _LONGEST_NAME)}: "
    reason = (error.strerror or "no reason given").lower()
    return f"mbplugin: {where}{reason}; {_REMEDIES.get(error.errno or 0, _ROOM)}."


def _interrupted(error: BaseException | None) -> bool:
    """Return True if Ctrl-C, which extension modules may turn into ImportErrors, or a quit debugger was the cause."""
    quits = getattr(sys.modules.get("bdb"), "BdbQuit", KeyboardInterrupt)
    while error is not None and not isinstance(error, (KeyboardInterrupt, quits)):
        error = error.__cause__ or error.__context__
    return error is not None
