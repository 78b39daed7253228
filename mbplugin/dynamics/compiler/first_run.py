"""The message of the first motion on a machine, while the integrator is compiled."""

from __future__ import annotations

import sys

from mbplugin.dynamics.compiler.jit import cache_folder


def announce_compilation() -> None:
    """Tell a user at a terminal that machine code is made now, where none has been kept yet."""
    # a folder is looked into only for somebody who reads the answer
    if sys.stderr is None or not sys.stderr.isatty():
        return
    folder = cache_folder()
    if folder is None or not any(folder.iterdir()):
        print(
            "mbplugin: compiling the integrator for this machine, which takes five to ten seconds once …",
            file=sys.stderr,
            flush=True,
        )
