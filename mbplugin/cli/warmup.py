"""``mbplugin warmup``: compile everything that motions and stops need, before the first of them."""

from __future__ import annotations

import time

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.output import emit


def warmup_command(output: opt.OutputOption = None) -> None:
    """Compile what motions and stops need, and keep it, for images and CI; print how long that took."""
    begun = time.process_time()
    from mbplugin.dynamics.compiler.jit import cache_folder
    from mbplugin.stopping.warmup import compile_everything

    compile_everything()
    folder = cache_folder()
    kept = f"kept in {folder}" if folder is not None else "not kept: there is no folder for it"
    emit(f"machine code is compiled in {time.process_time() - begun:.1f} s and {kept}\n", output)
