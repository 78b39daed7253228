"""The command line: one command per file."""

from __future__ import annotations

import sys


def main() -> None:
    """Run ``mbplugin`` with the process's arguments and end the process with its exit code."""
    try:
        from mbplugin.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
