"""A bar with the time left, on stderr and only where somebody watches."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from mbplugin.cli.shared.options import on_terminal

#: What the first motion after an installation waits for.
_PREPARING = "preparing (machine code is compiled once, which takes up to a minute)"


@contextlib.contextmanager
def time_bar() -> Iterator[Callable[[float, float], None] | None]:
    """Give a function that is called with (time, duration) of a motion, s; None without a terminal."""
    if not on_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(_PREPARING, total=None)

        def tell(time: float, duration: float) -> None:
            bar.update(task, description=f"{time:.3g} of {duration:.3g} s", completed=time, total=duration)

        yield tell


@contextlib.contextmanager
def count_bar(noun: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that is called with (number done, total number); None without a terminal."""
    if not on_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(_PREPARING, total=None)

        def tell(done: int, count: int) -> None:
            # what was there before says nothing about the time left
            if bar.tasks[task].total is None:
                bar.reset(task, total=count, completed=done)
            bar.update(task, description=f"{done} of {count} {noun}", completed=done)

        yield tell
