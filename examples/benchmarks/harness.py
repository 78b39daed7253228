"""What the benchmarks have in common: what a problem is, how long it takes, and its row on the page."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

HERE = Path(__file__).parent
T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """A published problem, where its numbers come from, and how far the answer may be off."""

    title: str
    parameters: str
    reference: str
    #: What the error is of, with its unit.
    quantity: str
    tolerance: str
    allowed: float
    others: str = ""


def scene(name: str) -> Path:
    """Return the scene of a problem."""
    return HERE / f"{name}.scene.toml"


def timed(run: Callable[[], T], count: int = 1) -> tuple[T, float]:
    """Return what a run returns, and its least processor time in two further rounds, s: the first run may compile.

    A round repeats a short run ``count`` times.
    """
    run()
    times = []
    for _ in range(2):
        start = time.process_time()
        for _ in range(count):
            result = run()
        times.append((time.process_time() - start) / count)
    return result, min(times)


def show(problem: Problem, solve: Callable[[], tuple[float, float]]) -> None:
    """Solve a problem and print how far the answer is from the reference."""
    error, seconds = solve()
    print(problem.title)
    print(f"  reference: {problem.reference}")
    print(
        f"  error, {problem.quantity}: {error:.1e}, allowed {problem.allowed:.0e}; tolerance {problem.tolerance}"
    )
    print(f"  processor time: {seconds:.2g} s" + (f"; published: {problem.others}" if problem.others else ""))
