"""Subjects of a campaign of which inputs fail; a worker that starts anew imports this file to find them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

#: Bytes that an input may use where one uses twice as many.
HELD = 200 << 20
SPINS = "while True: pass"
HOLDS = f"""
import resource, time
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
held = b"1" * {2 * HELD}
time.sleep(60)
"""


class _Subject:
    def prepare(self) -> None: ...

    def again(self, seed: int, number: int) -> str:
        return ""


class Failing(_Subject):
    """Inputs fail, kill the process, and hang."""

    def failure(self, seed: int, number: int, place: Path) -> str:
        (place / "model").touch()
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        while number == 4:
            pass
        return "Traceback\nZeroDivisionError" if number in (1, 6) else ""


class Greedy(_Subject):
    """The children of inputs spin, and hold memory."""

    def failure(self, seed: int, number: int, place: Path) -> str:
        if script := {1: SPINS, 2: HOLDS}.get(number):
            # on a busy machine a second of processor time takes long
            subprocess.run([sys.executable, "-c", script], timeout=60)
        return ""
