"""A bar with the time left, on stderr and only where somebody watches."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from mbplugin.cli.shared.options import on_terminal
from mbplugin.cli.shared.working import hidden

#: What the first motion after an installation waits for.
_PREPARING = "preparing (machine code is compiled once, which takes five to ten seconds)"
#: Number of a bar's one task.
_TASK = 0
#: Of what is counted without a total, the number after which the bar is drawn again.
_EVERY = 100


@contextlib.contextmanager
def time_bar() -> Iterator[Callable[[float, float], None] | None]:
    """Give a function that is called with (time, duration) of a motion, s; None without a terminal."""
    with _bar() as bar:

        def tell(time: float, duration: float) -> None:
            bar.update(_TASK, description=f"{time:.3g} of {duration:.3g} s", completed=time, total=duration)

        yield None if bar is None else tell


@contextlib.contextmanager
def count_bar(noun: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that is called with (number done, total number); None without a terminal."""
    with _bar() as bar:

        def tell(done: int, count: int) -> None:
            # what was there before says nothing about the time left
            if bar.tasks[_TASK].total is None:
                bar.reset(_TASK, total=count, completed=done)
            bar.update(_TASK, description=f"{done} of {count} {noun}", completed=done)

        yield None if bar is None else tell


@contextlib.contextmanager
def total_bar(noun: str) -> Iterator[Callable[[int], None] | None]:
    """Give a function that is called with the number of what has been done since; None without a terminal."""
    with _bar() as bar:
        done = shown = 0

        def tell(more: int) -> None:
            nonlocal done, shown
            done += more
            if done - shown >= _EVERY:
                shown = done
                bar.update(_TASK, description=f"{done} {noun}")

        yield None if bar is None else tell


@contextlib.contextmanager
def _bar() -> Iterator[Any]:
    """Give a bar of rich with its one task; None without a terminal."""
    if not on_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with hidden(), Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(_PREPARING, total=None)
        yield bar
