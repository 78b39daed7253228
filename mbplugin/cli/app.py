"""The application: commands put together, and how errors leave the process."""

from __future__ import annotations

import os
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
from mbplugin.cli.shared.help import EXAMPLES, Command, make_app
from mbplugin.cli.shared.output import complain, emit
from mbplugin.cli.shared.output_format import with_format
from mbplugin.cli.shared.usage import usage_sentence
from mbplugin.cli.shared.working import working
from mbplugin.cli.stopping import calibrate, distance, estop, stop_table, sweep, worst_stop
from mbplugin.errors import MbPluginError
from mbplugin.processes.supervised import INTERRUPTED

#: The usage errors of typer, whichever click they come from (newer typers carry their own).
UsageError: Any = typer.BadParameter.__base__

app = make_app(mbplugin.__doc__)
app.command("lint", cls=Command)(with_format(lint.lint_command))
app.command("config", cls=Command)(with_format(config.config_command))
app.command("rule", cls=Command)(with_format(rule.rule_command))
app.command("schema", cls=Command)(with_format(schema.schema_command))
app.command("matrix", cls=Command)(with_format(matrix.matrix_command))
app.command("reactions", cls=Command)(with_format(reactions.reactions_command))
app.command("simulate", cls=Command)(with_format(simulate.simulate_command))
app.command("estop", cls=Command)(with_format(estop.estop_command))
app.command("stop-table", cls=Command)(with_format(stop_table.stop_table_command))
app.command("calibrate", cls=Command)(with_format(calibrate.calibrate_command))
app.command("worst-stop", cls=Command)(with_format(worst_stop.worst_stop_command))
app.command("sweep", cls=Command)(with_format(sweep.sweep_command))
app.command("distance", cls=Command)(with_format(distance.distance_command))
app.command("crosscheck", cls=Command)(with_format(crosscheck.crosscheck_command))
app.command("diff", cls=Command)(with_format(diff.diff_command))
app.command("engines", cls=Command)(with_format(engines.engines_command))
app.command("close", cls=Command)(with_format(close.close_command))
app.command("view", cls=Command)(with_format(view.view_command))
app.command("warmup", cls=Command)(with_format(warmup.warmup_command))


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
        with working(_shown_name(arguments)):
            code = app(list(arguments), prog_name="mbplugin", standalone_mode=False)
    except UsageError as error:
        complain(usage_sentence(error, arguments))
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
