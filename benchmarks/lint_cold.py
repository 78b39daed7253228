"""How long do commands take that only look, and how much of it is the import of libraries?

    python benchmarks/lint_cold.py [FILE…] [--runs N]

Each row is the processor time of the quickest of N processes, with compiled bytecode and a warm file cache; the
processes of all rows take turns, each with one BLAS thread. The ratio is to the row that only imports libraries.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import subprocess
import sys
from pathlib import Path

from _models import table

import mbplugin

ASSETS = Path(__file__).resolve().parent.parent / "assets"
LIBRARIES = "import numpy, scipy.linalg, lxml, pydantic, typer"
#: What a lint of a robot with loops cannot do without, and nothing else.
LEAST = "import numpy, lxml.etree, typer; import mbplugin.model.spatial as l; l._lapack()"
#: One thread on all sides: those that OpenBLAS starts and never uses cost processor time.
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


def main() -> None:
    parser = argparse.ArgumentParser(description="Time commands in processes of their own.")
    parser.add_argument("files", nargs="*", default=[str(ASSETS / "minitaur.scene.toml")])
    parser.add_argument("--runs", type=int, default=15)
    arguments = parser.parse_args()
    compileall.compile_dir(str(Path(mbplugin.__file__).parent), quiet=2)
    module = (sys.executable, "-m", "mbplugin")
    commands = {LIBRARIES: ((sys.executable, "-c", LIBRARIES), "")}
    commands["the least that a lint imports"] = ((sys.executable, "-c", LEAST), "")
    for file in arguments.files:
        commands[f"lint {Path(file).name}"] = ((*module, "lint", file), "1.6 ×")
    commands["rule MB301"] = ((*module, "rule", "MB301"), "0.35 s")
    commands["--help"] = ((*module, "--help"), "0.35 s")
    times = quickest([command for command, _ in commands.values()], arguments.runs)
    rows = [
        [name, f"{time:.3f}", f"{time / times[0]:.2f}", limit]
        for (name, (_, limit)), time in zip(commands.items(), times, strict=True)
    ]
    table("Whole processes, processor time", ["command", "s", "ratio", "limit"], rows)


def quickest(commands: list[tuple[str, ...]], runs: int) -> list[float]:
    """Return the least processor time of each command, s, after one run that warms the file cache."""
    times = [[spent(command) for command in commands] for _ in range(runs + 1)]
    return [min(column) for column in zip(*times[1:], strict=True)]


def spent(command: tuple[str, ...]) -> float:
    """Return the processor time of a command, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # a lint with findings ends with 1, and so does Python after an exception
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
