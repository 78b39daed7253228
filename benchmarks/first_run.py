"""How long do the first motion, stop and stopping table take on a machine, and the next ones?

    python benchmarks/first_run.py

The first runs compile into an empty cache, the second ones find the machine code there. All are whole processes,
start-up included; times are those of the processor, children included, in seconds. On a machine
that is busy with other work processor time is up to twice as long.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from _models import table

ASSETS = Path(__file__).resolve().parent.parent / "assets"
#: Arguments, and the limits of the first and of the second run, s.
COMMANDS = {
    "simulate": ((str(ASSETS / "four_bar.scene.toml"), "--duration", "0.1"), 8.0, 1.2),
    "estop": ((str(ASSETS / "arm_6r.scene.toml"), "--qd", "j1=0.5"), 6.0, 1.5),
    "stop-table": ((str(ASSETS / "arm_6r.scene.toml"),), 6.0, 2.0),
}


def spent(command: str, cache: str) -> float:
    """Return the processor time of a command, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "mbplugin", command, *COMMANDS[command][0]],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "XDG_CACHE_HOME": cache},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        first = {command: spent(command, cache) for command in COMMANDS}
        second = {command: spent(command, cache) for command in COMMANDS}
    rows = [
        [command, f"{first[command]:.1f}", f"{cold:g}", f"{second[command]:.1f}", f"{warm:g}"]
        for command, (_, cold, warm) in COMMANDS.items()
    ]
    head = ["command", "first run, s", "limit, s", "next run, s", "limit, s"]
    table("Whole processes, in this order, processor time", head, rows)
    print(f"\ncompiled in all three: {sum(first.values()) - sum(second.values()):.1f} s (limit 20 s)")


if __name__ == "__main__":
    main()
