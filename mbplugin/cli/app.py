"""The application: commands put together, and how errors leave the process."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

import mbplugin
from mbplugin.cli.shared.command_line import keep_arguments
from mbplugin.cli.shared.help import EXAMPLES, Command, make_app, named_command
from mbplugin.cli.shared.output import complain, emit, warnings_as_sentences
from mbplugin.cli.shared.output_format import with_force, with_format
from mbplugin.cli.shared.usage import usage_sentence
from mbplugin.cli.shared.working import working
from mbplugin.errors import MbPluginError
from mbplugin.processes.supervised import INTERRUPTED

#: The usage errors of typer, whichever click they come from (newer typers carry their own).
UsageError: Any = typer.BadParameter.__base__

#: The file of each command in this folder; its function is called like it, ``stop_table_command``.
FILES = {
    "lint": "lint",
    "config": "config",
    "rule": "rule",
    "schema": "schema",
    "matrix": "matrix",
    "reactions": "reactions",
    "simulate": "simulate",
    "estop": "stopping.estop",
    "stop-table": "stopping.stop_table",
    "calibrate": "stopping.calibrate",
    "worst-stop": "stopping.worst_stop",
    "sweep": "stopping.sweep",
    "distance": "stopping.distance",
    "crosscheck": "crosscheck",
    "diff": "diff",
    "engines": "engines",
    "close": "close",
    "view": "view",
    "warmup": "warmup",
}


def application(names: Iterable[str]) -> typer.Typer:
    """Return the application with some of the commands; only their files are imported."""
    app = make_app(mbplugin.__doc__)
    app.callback()(_options)
    for name in names:
        app.command(name, cls=Command)(with_format(with_force(_function(name))))
    return app


def _function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(
        import_module(f"mbplugin.cli.{FILES[name]}"), f"{name.replace('-', '_')}_command"
    )
    return function


def _print_version(interrupted: bool) -> None:
    if interrupted:
        emit(f"mbplugin {mbplugin.__version__}\n")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; every error is one sentence on stderr."""
    keep_arguments(arguments)
    try:
        with working(_shown_name(arguments)), warnings_as_sentences():
            name = named_command(arguments)
            app = application((name,)) if name in FILES else application(FILES)
            code = app(list(arguments), prog_name="mbplugin", standalone_mode=False)
    except UsageError as error:
        complain(usage_sentence(error, arguments))
        return 2
    except MbPluginError as error:
        complain(f"mbplugin: {error}")
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if _interrupted(error):
            return INTERRUPTED
        # 1 would mean findings; the traceback is what the report of a bug needs
        traceback.print_exc()
        # typer makes an Abort of EOFError too
        cause = error.__cause__ if isinstance(error, typer.Abort) else error
        complain(f"mbplugin: this is a bug in mbplugin ({type(cause).__name__}); please report it.")
        return 2
    return code if isinstance(code, int) else 0


def _shown_name(arguments: Sequence[str]) -> str:
    """Return the name of the command; empty where somebody may type what it reads, or a shell completes."""
    if "-" in arguments or "_MBPLUGIN_COMPLETE" in os.environ:
        return ""
    return f"mbplugin {arguments[0]}" if arguments and arguments[0] in EXAMPLES else "mbplugin"


def _interrupted(error: BaseException | None) -> bool:
    """Return whether an error comes of Ctrl-C: an extension module turns it into ImportError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None
