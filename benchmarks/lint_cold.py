"""How long does ``mbplugin lint`` take in a cold process, and how much of it is importing libraries?

    python benchmarks/lint_cold.py [FILE…] [--runs N]

Each row is the median wall time of N processes with compiled bytecode and a warm file cache. The first
row only imports the libraries that a lint of a scene needs; the ratio is to that row.
"""

from __future__ import annotations

import argparse
import compileall
import statistics
import subprocess
import sys
import time
from pathlib import Path

import mbplugin

ASSETS = Path(__file__).resolve().parent.parent / "assets"
LIBRARIES = "import numpy, scipy.linalg, scipy.sparse, lxml.etree, pydantic, typer"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time mbplugin lint in cold processes.")
    parser.add_argument("files", nargs="*", default=[str(ASSETS / "minitaur.scene.toml")])
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    compileall.compile_dir(str(Path(mbplugin.__file__).parent), quiet=2)
    commands = {"imports only": [sys.executable, "-c", LIBRARIES]}
    for file in arguments.files:
        commands[f"lint {Path(file).name}"] = [sys.executable, "-m", "mbplugin", "lint", file]
    print_table({name: timed(command, arguments.runs) for name, command in commands.items()})


def timed(command: list[str], runs: int) -> list[float]:
    """Return wall times, s, after one run that warms the file cache."""
    out = []
    for run in range(runs + 1):
        start = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        if run:
            out.append(time.perf_counter() - start)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    return out


def print_table(times: dict[str, list[float]]) -> None:
    base = statistics.median(next(iter(times.values())))
    width = max(map(len, times))
    print(f"{'':<{width}}  median s  fastest s  slowest s  ratio")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:<{width}}  {median:8.3f}  {min(values):9.3f}  {max(values):9.3f}  {median / base:5.2f}")


if __name__ == "__main__":
    main()
