"""The application: commands put together, and how errors leave the process."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import mbplugin
from mbplugin.cli import (
    close,
    config,
    crosscheck,
    diff,
    engines,
    lint,
    matrix,
    reactions,
    rule,
    schema,
    simulate,
    view,
    warmup,
)
from mbplugin.cli.shared.command_line import keep_arguments
from mbplugin.cli.shared.output import complain, emit
from mbplugin.cli.shared.output_format import with_format
from mbplugin.cli.stopping import calibrate, distance, estop, stop_table, sweep, worst_stop
from mbplugin.errors import MbPluginError
from mbplugin.processes.supervised import INTERRUPTED

#: The usage errors of typer, whichever click they come from (newer typers carry their own).
UsageError: Any = typer.BadParameter.__base__

app = typer.Typer(
    name="mbplugin",
    help=mbplugin.__doc__,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("lint")(with_format(lint.lint_command))
app.command("config")(with_format(config.config_command))
app.command("rule")(with_format(rule.rule_command))
app.command("schema")(with_format(schema.schema_command))
app.command("matrix")(with_format(matrix.matrix_command))
app.command("reactions")(with_format(reactions.reactions_command))
app.command("simulate")(with_format(simulate.simulate_command))
app.command("estop")(with_format(estop.estop_command))
app.command("stop-table")(with_format(stop_table.stop_table_command))
app.command("calibrate")(with_format(calibrate.calibrate_command))
app.command("worst-stop")(with_format(worst_stop.worst_stop_command))
app.command("sweep")(with_format(sweep.sweep_command))
app.command("distance")(with_format(distance.distance_command))
app.command("crosscheck")(with_format(crosscheck.crosscheck_command))
app.command("diff")(with_format(diff.diff_command))
app.command("engines")(with_format(engines.engines_command))
app.command("close")(with_format(close.close_command))
app.command("view")(with_format(view.view_command))
app.command("warmup")(with_format(warmup.warmup_command))


def _print_version(interrupted: bool) -> None:
    if interrupted:
        emit(f"mbplugin {mbplugin.__version__}\n")
        raise typer.Exit


@app.callback()
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
        code = app(list(arguments), prog_name="mbplugin", standalone_mode=False)
    except UsageError as error:
        complain(_usage(error, arguments))
        return 2
    except MbPluginError as error:
        complain(f"mbplugin: {error}")
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        if _interrupted(error):
            return INTERRUPTED
        # 1 would mean findings; the traceback is what the report of a bug needs
        traceback.print_exc()
        complain(f"mbplugin: this is a bug in mbplugin ({type(error).__name__}); please report it.")
        return 2
    return code if isinstance(code, int) else 0


def _interrupted(error: BaseException | None) -> bool:
    """Return whether an error comes of Ctrl-C: an extension module turns it into ImportError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _usage(error: Any, arguments: Sequence[str]) -> str:
    # what the library puts before its reason says nothing to a user
    message = " ".join(error.format_message().split()).rstrip(".").replace(": Value error, ", ": ", 1)
    command = error.ctx.command_path if error.ctx else "mbplugin"
    if not message:  # no command at all: typer's help is the answer
        return str(error.ctx.get_help() if error.ctx else "")
    remedy = _joined_value(message, arguments) or f"see '{command} --help'"
    return f"{command}: {message[:1].lower()}{message[1:]}; {remedy}."


def _joined_value(message: str, arguments: Sequence[str]) -> str:
    """Return how to write a value that belongs to the option before it: ``--qd j0 1.5``, ``--qd j0=1 j1=2``."""
    if "unexpected extra argument" not in message:
        return ""
    for option, first, extra in zip(arguments, arguments[1:], arguments[2:], strict=False):
        if not option.startswith("--") or f"({extra}" not in message or first.startswith("--"):
            continue
        if "=" in extra:
            return f"write {option} {first} {option} {extra}"
        if "=" not in first and _is_number(extra):
            return f"write {option} {first}={extra}"
    return ""


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or (text[:1] in "+-." and text[1:2].isdigit())
