"""The command line: one command per file."""

from __future__ import annotations

import gc
import os
import sys

from mbplugin.isolation import forget_working_folder


def main() -> None:
    """Run ``mbplugin`` with the process's arguments and end the process with its exit code."""
    forget_working_folder()
    # what a short process imports lives until its end: looking for garbage in it costs a tenth of a lint
    gc.set_threshold(50_000)
    # or pydantic looks through every installed distribution for plugins
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    try:
        from mbplugin.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
