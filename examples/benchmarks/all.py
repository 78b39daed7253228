"""Solve all problems and print their table, or put it into docs/benchmarks.md.

    python examples/benchmarks/all.py [--write] [NAME …]

Errors and times on the page are of the machine that ran this; a test compares all but the times.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import Problem

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
NAMES = (
    "a01_pendulum",
    "a02_two_windows",
    "a02_forty_windows",
    "a03_squeezer",
    "a04_bricard",
    "a05_governor",
    "a05_governor_implicit",
    "ivp_squeezer",
    "double_four_bar",
    "slider_crank",
    "sundials_slider_crank",
    "spatial_four_bar",
    "parallelogram",
    "four_wheels",
    "bennett",
    "schatz",
    "rolling_disc",
    "rolling_coin",
    "sleigh",
    "heavy_top",
    "sliding_top",
    "free_body",
    "stick_slip",
    "forced_friction",
    "puma",
    "diagonal_spring",
)
HEADS = ("problem", "parameters", "reference", "error", "tolerance", "CPU time", "CPU time of others")


def load(name: str) -> tuple[Problem, Callable[[], tuple[float, float]]]:
    """Return a problem and what solves it."""
    module = importlib.import_module(name)
    return module.PROBLEM, module.solve


def row(name: str, problem: Problem, error: float, seconds: float) -> str:
    """Return the row of a problem."""
    cells = (
        f"{problem.title}: `{name}.py`",
        problem.parameters,
        problem.reference,
        f"**{format(error, '.0e') if error else 0}** ({problem.quantity})",
        problem.tolerance,
        f"{seconds:.2g} s",
        problem.others or "none found",
    )
    return f"| {' | '.join(cells)} |"


def table(names: tuple[str, ...] = NAMES) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| {' | '.join(HEADS)} |"
    yield "|" + "---|" * len(HEADS)
    for name in names:
        problem, solve = load(name)
        yield row(name, problem, *solve())


def write(lines: list[str]) -> None:
    """Replace the table of the page."""
    page = PAGE.read_text(encoding="utf-8").splitlines()
    first = page.index(lines[0])
    last = next(k for k in range(first, len(page)) if not page[k].startswith("|"))
    PAGE.write_text("\n".join([*page[:first], *lines, *page[last:]]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    chosen = tuple(name for name in sys.argv[1:] if name != "--write")
    if "--write" in sys.argv:
        write(list(table()))
    else:
        for line in table(chosen or NAMES):
            print(line, flush=True)
