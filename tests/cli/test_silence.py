"""A command that computes says so within half a second, on a terminal only, and leaves no trace."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time
from itertools import pairwise
from statistics import median

import pytest

from command_line import FOUR_BAR, ROOT

#: A command that takes some seconds before its output.
SLOW = f"""
import sys, time
from mbplugin import api
from mbplugin.cli.app import run
made = api.constraint_matrix
def slow(*arguments, **named):
    time.sleep(2.0)
    return made(*arguments, **named)
api.constraint_matrix = slow
sys.exit(run(["matrix", {FOUR_BAR!r}]))
"""


@pytest.mark.long
def test_a_terminal_is_not_silent() -> None:
    leader, follower = pty.openpty()
    seen: list[tuple[float, bytes]] = []

    def watch() -> None:
        try:
            while data := os.read(leader, 1000):
                seen.append((time.monotonic(), data))
        except OSError:
            return

    watcher = threading.Thread(target=watch)
    watcher.start()
    done = subprocess.run(
        [sys.executable, "-c", SLOW],
        stdout=subprocess.PIPE,
        stderr=follower,
        cwd=ROOT,
        timeout=60,
        check=True,
    )
    os.close(follower)
    watcher.join(10)
    os.close(leader)
    times, shown = [at for at, _ in seen], b"".join(data for _, data in seen)
    # of a busy machine, one line may be late
    assert len(times) >= 4 and median(b - a for a, b in pairwise(times)) <= 0.5
    assert b"mbplugin matrix: computing, 1 s" in shown
    assert shown.endswith(b"\r\x1b[2K")
    assert done.stdout.startswith(b"four_bar_4R: 20 rows")


@pytest.mark.long
def test_a_pipe_gets_no_progress() -> None:
    done = subprocess.run([sys.executable, "-c", SLOW], capture_output=True, cwd=ROOT, timeout=60, check=True)
    assert done.stderr == b""
