"""Worker processes of a sweep end when the process that started them is gone.

Those of joblib wait some minutes for more work. A sweep that is killed would leave them behind, with their
memory and with its output open, for whose end a caller waits.
"""

from __future__ import annotations

import os
import threading
import time

#: How often a worker looks, s.
_INTERVAL = 0.5
_watched: set[int] = set()


def end_with(parent: int) -> None:
    """End this process when its parent has ended.

    Windows tells nobody that a parent has ended: there the worker waits as long as joblib lets it.

    Parameters
    ----------
    parent : int
        Its process id; nothing happens in this very process.
    """
    if parent == os.getpid() or parent in _watched:
        return
    _watched.add(parent)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_INTERVAL)
    os._exit(1)
