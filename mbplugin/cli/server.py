"""``mbplugin server``: findings, hovers and fixes in editors."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.report import complain

#: Default and longest time limit of one lint, s.
LINT_SECONDS, _HOUR = 10.0, 3600.0
LintSeconds = Annotated[
    float, typer.Option("--lint-seconds", metavar="S", help="Time limit of one lint of a document, s.")
]


#: Editors pass it to every server; there is no other way.
Stdio = Annotated[bool, typer.Option("--stdio", hidden=True)]


def server_command(lint_seconds: LintSeconds = LINT_SECONDS, stdio: Stdio = True) -> int:
    """Serve an editor: findings while a model is written, what its parts are, and fixes.

    The server speaks the Language Server Protocol on stdin and stdout. An editor starts it.
    """
    from mbplugin.errors import BadUsage, MissingDependency

    if not 0 < lint_seconds <= _HOUR:
        raise BadUsage(f"--lint-seconds is {lint_seconds:g}", expected=f"a positive number up to {_HOUR:g}")
    try:
        import_module("pygls.lsp.server")
    except ModuleNotFoundError as error:
        raise MissingDependency.of("a language server", "pygls", "server") from error
    from mbplugin.editor.server import serve

    if opt.on_terminal(sys.stdin):
        complain("mbplugin server: waiting for the messages of an editor, which starts this command itself.")
    return serve(lint_seconds)
