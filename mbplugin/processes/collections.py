"""The garbage collector at rest, where much is made and all of it is kept."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """Let the garbage collector rest in a block: it would look through what is made again and again, to keep it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            # what was made counts as old now, and the next collections leave it out
            gc.freeze()
            gc.unfreeze()
            gc.enable()
